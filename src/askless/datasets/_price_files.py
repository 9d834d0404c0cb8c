"""Read the costs that lie beside a public data set, whichever way they are written.

Three layouts are known: prices with groups and delays; measured seconds of steps; and
prices with gaps. It knows files and :class:`~askless.problem.Costs`, not the data.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import DatasetNotFoundError, UnknownNameError
from askless.problem import Costs, read_columns
from askless.problem._column import is_missing

__all__ = ["LEVELS", "MISTAKES_FILE", "check_level", "read_mistakes", "read_prices"]

MISTAKES_FILE = "streed_misclassification_costs.json"
LEVELS = ("low", "middle", "high")


def _text(value: Any) -> str | None:
    """Return a group's name, or None; a number read from a file becomes its text."""
    if is_missing(value) or value == "":
        return None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _as_floats(column: NDArray[Any]) -> list[float]:
    """Return numbers, NaN for an empty cell."""
    return [np.nan if value is None else float(value) for value in column.tolist()]


def read_prices(
    path: Path, tests: Sequence[str], *, unpriced: float | None = None
) -> tuple[Costs | None, list[str]]:
    r"""Read the costs of the given tests, and name those that have no price.

    Parameters
    ----------
    path : Path
        A CSV file with columns ``test``, ``cost`` and possibly ``discounted_cost``,
        ``group`` and ``delayed``; or ``test``, ``step`` and ``mean_step_seconds``,
        where the first test of a step pays for the step and the others come free.
    tests : sequence of str
        The tests whose costs are wanted.
    unpriced : float, default=None
        The cost of a test without a price. If None, such a test is left out.

    Returns
    -------
    costs : Costs or None
        Of all tests that are priced; None if none is.
    left_out : list of str
        The tests that have no price.

    Notes
    -----
    A step may require others to have run before. That cannot be said in costs and is
    left aside, so those prices are a little low.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "two.costs.csv"
    >>> _ = path.write_text("test,cost\nfever,1\nmood,\n")
    >>> costs, left_out = read_prices(path, ["fever", "mood"])
    >>> left_out
    ['mood']
    >>> folder.cleanup()
    """
    columns = read_columns(path)
    rows = [str(name) for name in columns["test"].tolist()]
    cost_column = "mean_step_seconds" if "step" in columns else "cost"
    prices = dict(zip(rows, _as_floats(columns[cost_column]), strict=True))
    priced = [test for test in tests if not np.isnan(prices.get(test, np.nan))]
    left_out = [test for test in tests if test not in set(priced)]
    costs = {test: prices[test] for test in priced}
    if unpriced is not None:
        costs |= dict.fromkeys(left_out, float(unpriced))
        # Costs in the order of the tests, whichever of them had a price.
        costs = {test: costs[test] for test in tests}
        left_out = []
    if not costs:
        return None, left_out
    groups = _read_groups(columns, rows, priced)
    grouped = [test for members in groups.values() for test in members]
    return (
        Costs(
            costs,
            groups=groups,
            discounted=_read_discounted(columns, rows, grouped),
            delayed=_read_delayed(columns, rows, priced),
        ),
        left_out,
    )


def _read_groups(
    columns: dict[str, NDArray[Any]], rows: list[str], priced: list[str]
) -> dict[str, list[str]]:
    name = "step" if "step" in columns else "group"
    if name not in columns or ("discounted_cost" not in columns and name == "group"):
        # Without discounted costs a group has no meaning (nhanes numbers its tests).
        return {}
    groups: dict[str, list[str]] = {}
    for test, value in zip(rows, columns[name].tolist(), strict=True):
        group = _text(value)
        if group is not None and test in priced:
            groups.setdefault(group, []).append(test)
    # Nothing is shared by a single test.
    return {group: members for group, members in groups.items() if len(members) > 1}


def _read_discounted(
    columns: dict[str, NDArray[Any]], rows: list[str], grouped: list[str]
) -> dict[str, float]:
    if "step" in columns:
        return dict.fromkeys(grouped, 0.0)
    if "discounted_cost" not in columns:
        return {}
    prices = zip(rows, _as_floats(columns["discounted_cost"]), strict=True)
    return {test: cost for test, cost in prices if test in grouped}


def _read_delayed(
    columns: dict[str, NDArray[Any]], rows: list[str], priced: list[str]
) -> list[str]:
    if "delayed" not in columns:
        return []
    flags = zip(rows, _as_floats(columns["delayed"]), strict=True)
    return [test for test, flag in flags if flag == 1 and test in priced]


def check_level(name: str, level: str) -> None:
    """Refuse a level of mistakes for a set that has none, or an unknown level.

    Parameters
    ----------
    name : str
        The name of the set.
    level : str
        How much mistakes cost.

    Raises
    ------
    UnknownNameError
        If the set has no mistakes or the level is unknown.

    Examples
    --------
    >>> check_level("iris", "low")
    Traceback (most recent call last):
    ...
    askless.exceptions.UnknownNameError: Only the streed_ sets come with mistakes. Got
    level='low' for 'iris'. Leave out `level`, and give Costs your own mistakes.
    """
    if not name.startswith("streed_"):
        raise UnknownNameError(
            f"Only the streed_ sets come with mistakes. Got level={level!r} for "
            f"{name!r}. Leave out `level`, and give Costs your own mistakes."
        )
    if level not in LEVELS:
        raise UnknownNameError(
            f"level must be one of {', '.join(LEVELS)}. Got {level!r} for {name!r}. "
            "Take one of them, or None for no mistakes."
        )


def read_mistakes(folder: Path, name: str, level: str) -> list[list[float]]:
    """Read what mistakes cost for a ``streed_`` set.

    Parameters
    ----------
    folder : Path
        The folder with the file of mistakes.
    name : str
        The name of the set.
    level : {"low", "middle", "high"}
        How much mistakes cost.

    Returns
    -------
    list of list of float
        Read ``[true class][decision]``, in the order of the sorted classes.

    Raises
    ------
    DatasetNotFoundError
        If the file is not there, or does not know the set.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / MISTAKES_FILE
    >>> _ = path.write_text('{"coin": {"low": [[0, 5], [9, 0]]}}')
    >>> read_mistakes(Path(folder.name), "streed_coin", "low")
    [[0, 5], [9, 0]]
    >>> folder.cleanup()
    """
    path = folder / MISTAKES_FILE
    known = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    levels: dict[str, list[list[float]]] = known.get(name.removeprefix("streed_"), {})
    if level not in levels:
        raise DatasetNotFoundError(
            f"The mistakes of {name!r} must be in a file {MISTAKES_FILE}. Looked in "
            f"{folder} and found no {level!r} ones. Put them there, or leave out "
            "`level`."
        )
    return levels[level]
