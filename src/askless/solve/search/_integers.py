"""State a task in whole numbers, so that a search proves things exactly.

Costs and weights become integers by one scale each. Where no scale makes them whole,
they are rounded down: then what is proved is still a lower bound of the true cost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from askless._core.search._table import KnownTable
from askless.exceptions import InvalidOptionError
from askless.problem._identical import group_identical
from askless.solve._task import Task, part_of_task

__all__ = ["IntegerTable", "state_in_integers"]

# Values of a search are sums of weight times cost: these keep them below 2**60.
MOST_WEIGHT = 2**28
MOST_COST = 2**26
MOST_CASES = 65_535
MOST_GROUPS = 60
# A rounded value must be this close, relatively, to count as what was meant.
CLOSE = Fraction(1, 10**12)


@dataclass(frozen=True)
class IntegerTable:
    """A task as the search wants it.

    Cases that show the same are one, of a class of its own if theirs differ; cases come
    heaviest first.

    Attributes
    ----------
    codes : ndarray of uint16 of shape (n_tests, n_merged)
    n_codes : ndarray of int32 of shape (n_tests,)
    class_id, weight : ndarray of shape (n_merged,)
    full : ndarray of int64 of shape (n_tests, most codes)
    discounted : ndarray of int64 of shape (n_tests,)
    group : ndarray of int32 of shape (n_tests,)
    merged : ndarray of int64 of shape (n_cases,)
        Which merged case each case of the table is.
    cost_scale, weight_scale : float
        A true cost is a whole one divided by these.
    is_exact : bool
        Whether nothing was rounded.
    """

    codes: NDArray[np.uint16]
    n_codes: NDArray[np.int32]
    class_id: NDArray[np.int32]
    weight: NDArray[np.int64]
    full: NDArray[np.int64]
    discounted: NDArray[np.int64]
    group: NDArray[np.int32]
    merged: NDArray[np.int64]
    cost_scale: float
    weight_scale: float
    is_exact: bool

    @property
    def n_cases(self) -> int:
        """How many different cases there are."""
        return len(self.class_id)

    @cached_property
    def kernel(self) -> KnownTable:
        """The table for the kernels."""
        return KnownTable(
            self.codes, self.n_codes, self.class_id, self.weight, self.full,
            self.discounted, self.group,
        )  # fmt: skip

    @cached_property
    def case_prices(self) -> NDArray[np.int64]:
        """What each case pays at least for each test, of shape (n_merged, n_tests)."""
        prices = np.empty((self.n_cases, len(self.codes)), dtype=np.int64)
        for test, codes in enumerate(self.codes):
            own = self.full[test, codes]
            prices[:, test] = (
                np.minimum(own, self.discounted[test]) if self.group[test] >= 0 else own
            )
        return prices

    def true_cost(self, value: int, *, is_worst: bool) -> float:
        """Return a whole value as a cost."""
        return value / (
            self.cost_scale if is_worst else self.cost_scale * self.weight_scale
        )


@part_of_task
def state_in_integers(task: Task) -> IntegerTable:
    """Return a task in whole numbers.

    Raises
    ------
    InvalidOptionError
        If the search cannot carry the task: unknown outcomes, delayed tests, too many
        cases or groups.
    """
    table = task.table
    _check(task)
    together = group_identical(table.codes)
    _, first, merged = np.unique(together, return_index=True, return_inverse=True)
    weights = np.bincount(merged, weights=table.prior).astype(np.float64)
    whole, weight_scale, exact_weights = _whole_weights(weights)
    # Heaviest first; equals in the order of the table.
    order = np.lexsort((first, -whole))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    first = first[order]
    codes = np.empty((table.n_tests, len(first)), dtype=np.uint16)
    levels = []
    for test in range(table.n_tests):
        present, dense = np.unique(table.codes[test, first], return_inverse=True)
        codes[test] = dense
        levels.append(present)
    full, discounted, cost_scale, exact_costs = _whole_prices(task, levels)
    groups = {name: i for i, name in enumerate(table.prices.groups)}
    return IntegerTable(
        codes=codes,
        n_codes=np.array([len(present) for present in levels], dtype=np.int32),
        class_id=_number_classes(task.class_ids, merged)[order],
        weight=whole[order],
        full=full,
        discounted=discounted,
        group=np.array(
            [-1 if g is None else groups[g] for g in table.prices.group], dtype=np.int32
        ),
        merged=rank[merged],
        cost_scale=cost_scale,
        weight_scale=weight_scale,
        is_exact=exact_weights and exact_costs,
    )


def _number_classes(
    class_ids: NDArray[np.int32], merged: NDArray[np.intp]
) -> NDArray[np.int32]:
    """Return the class of each merged case; of its own where its cases differ in class.

    No test tells such cases apart, but each of them is to be told from the others: the
    merged case is no end together with any other one.
    """
    lowest = np.full(merged.max() + 1, np.iinfo(np.int64).max)
    highest = np.full(len(lowest), -1)
    np.minimum.at(lowest, merged, class_ids)
    np.maximum.at(highest, merged, class_ids)
    own = np.flatnonzero(lowest != highest)
    lowest[own] = class_ids.max() + 1 + np.arange(len(own))
    return np.unique(lowest, return_inverse=True)[1].astype(np.int32)


def _check(task: Task) -> None:
    table = task.table
    if table.has_unknown:
        raise InvalidOptionError(
            "This search needs every outcome to be known. Got "
            f"{int(table.is_unknown.sum())} unknown outcomes. Use a greedy method, or "
            "settle them."
        )
    if table.prices.delayed.any():
        late = table.test_names[int(np.flatnonzero(table.prices.delayed)[0])]
        raise InvalidOptionError(
            "This search cannot carry delayed tests, whose cost depends on all that is "
            f"asked after them. Got {late!r} delayed. Use a greedy method."
        )
    if table.is_ordered.any():
        name = table.test_names[int(np.flatnonzero(table.is_ordered)[0])]
        raise InvalidOptionError(
            "This search gives every outcome a branch and knows no thresholds. Got "
            f"{name!r} to be compared with thresholds. Use a greedy method, or cut "
            "numbers into levels."
        )
    if table.n_cases > MOST_CASES or len(table.prices.groups) > MOST_GROUPS:
        raise InvalidOptionError(
            f"This search takes at most {MOST_CASES:,} cases and {MOST_GROUPS} groups. "
            f"Got {table.n_cases:,} and {len(table.prices.groups)}. Use a greedy "
            "method."
        )


def _whole_weights(
    weights: NDArray[np.float64],
) -> tuple[NDArray[np.int64], float, bool]:
    """Return whole weights, their sum (1 in truth), and whether they are exact.

    Weights are ratios: if all are close to small multiples of one unit, they are these.
    """
    with np.errstate(over="ignore"):
        multiples = (weights / weights[weights > 0].min()).tolist()
    if not max(multiples) <= MOST_WEIGHT:
        # Beyond any whole weight, or beyond any number.
        return _rounded_weights(weights)
    ratios = [Fraction(multiple).limit_denominator(720) for multiple in multiples]
    close = all(
        abs(ratio - Fraction(multiple)) <= CLOSE * max(ratio, Fraction(1))
        for ratio, multiple in zip(ratios, multiples, strict=True)
    )
    if close:
        unit = math.lcm(*(ratio.denominator for ratio in ratios))
        whole = np.array([int(ratio * unit) for ratio in ratios], dtype=object)
        if sum(whole) <= MOST_WEIGHT:
            return whole.astype(np.int64), float(sum(whole)), True
    return _rounded_weights(weights)


def _rounded_weights(
    weights: NDArray[np.float64],
) -> tuple[NDArray[np.int64], float, bool]:
    """Return weights rounded down to whole parts of the most that can be counted."""
    return np.floor(weights * MOST_WEIGHT).astype(np.int64), float(MOST_WEIGHT), False


def _whole_prices(
    task: Task, levels: list[NDArray[np.uint16]]
) -> tuple[NDArray[np.int64], NDArray[np.int64], float, bool]:
    prices = task.table.prices
    most = max(len(present) for present in levels)
    full = np.zeros((len(levels), most))
    for test, present in enumerate(levels):
        full[test, : len(present)] = prices.full[test]
        by_outcome = prices.by_outcome.get(test)
        if by_outcome is not None:
            for i, code in enumerate(present):
                if code < len(by_outcome):
                    full[test, i] = by_outcome[code]
    every = np.concatenate([full.ravel(), prices.discounted])
    # Decimals as they are written: 7.27 is 727 hundredths.
    fractions = [Fraction(repr(float(price))) for price in np.unique(every)]
    unit = math.lcm(*(f.denominator for f in fractions))
    # The dearest path buys every test once.
    total = sum((Fraction(repr(float(p))) for p in full.max(axis=1)), Fraction(0))
    if total * unit <= MOST_COST:
        scale = float(unit)
        return (
            np.rint(full * scale).astype(np.int64),
            np.rint(prices.discounted * scale).astype(np.int64),
            scale,
            True,
        )
    scale = MOST_COST / float(total)
    return (
        np.floor(full * scale).astype(np.int64),
        np.floor(prices.discounted * scale).astype(np.int64),
        scale,
        False,
    )
