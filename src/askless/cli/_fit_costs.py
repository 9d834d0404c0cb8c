"""Fit a file of costs to the columns of a table: positions, and columns left out.

This module must not know where costs or columns come from.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from askless.problem import Costs

__all__ = ["fit_costs"]


def fit_costs(costs: Costs, tests: Sequence[str], drop: Collection[str]) -> Costs:
    """Return costs by name, without those of tests that are dropped.

    A file can name tests by position, 0 for the first column that is a test. It is
    read so if all its names are such numbers and none of them is a column.

    Parameters
    ----------
    costs : Costs
        As read from a file.
    tests : sequence of str
        The columns that are tests, those that are dropped included.
    drop : collection of str
        The columns to leave out.

    Examples
    --------
    >>> fit_costs(Costs({"0": 3, "1": 4}), ["lamp", "socket"], drop=["lamp"]).costs
    {'socket': 4.0}
    """
    priced = [str(key) for key in costs.costs]
    if all(key.isdecimal() for key in priced) and not set(priced) & set(tests):
        costs = _by_name(costs, tests)
        priced = [str(key) for key in costs.costs]
    kept = [name for name in priced if name not in drop]
    return costs if kept == priced else costs.subset(kept, all_names=priced)


def _by_name(costs: Costs, tests: Sequence[str]) -> Costs:
    def name(key: str | int) -> str:
        # A position beyond the last test is an error of the library.
        is_position = str(key).isdecimal() and int(key) < len(tests)
        return tests[int(key)] if is_position else str(key)

    return costs.renamed(name)
