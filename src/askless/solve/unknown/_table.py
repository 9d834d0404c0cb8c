"""State a task with unknown outcomes as the kernels want it.

Cases that no test is sure to tell apart are *near*; so are cases of one class. A set of
cases is settled when nothing more is sure to be told: every two of its cases are near
(a clique), or, if one asks for less, all are near one and the same case (a
neighbourhood).

Everything here is a part of its task, made when it is first asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from askless._core.unknown._table import UnknownTable
from askless._core.unknown_search._problem import UnknownProblem
from askless.exceptions import InvalidOptionError
from askless.problem import PriceList, Table
from askless.problem._tests import CodeArray
from askless.solve._task import Task, find_blocks, part_of_task, take_cases
from askless.solve.search._bounds import least_prices

__all__ = [
    "MergedCases",
    "UnknownTask",
    "find_neighbourhoods",
    "find_pair_prices",
    "group_classes",
    "has_flat_prices",
    "make_kernel",
    "merge_cases",
    "pack_bits",
    "state_unknown",
]

# Beyond so many comparisons of two cases by a test, pairs are not compared.
MOST_COMPARISONS = 3_000_000_000
# The tests that may rule out each case for each other take a bit each.
MOST_RULES = 2_000
# The neighbourhood of every case takes a bit for every other one.
MOST_NEAR = 20_000


class MergedCases(NamedTuple):
    """The cases of a task, with those that show the same and are of one class merged.

    Attributes
    ----------
    kept : ndarray of int64 of shape (n_kept,)
        The first case of each kind, ascending.
    place : ndarray of int64 of shape (n_cases,)
        Which of them stands for each case.
    """

    kept: NDArray[np.int64]
    place: NDArray[np.int64]


@dataclass(frozen=True)
class UnknownTask:
    """A task for the search.

    Attributes
    ----------
    problem : UnknownProblem
        What is searched, by merged cases.
    cases : ndarray of int32 of shape (n_kept,)
        All merged cases, those of one block together, and there those of one class.
    merged : MergedCases
    weight_scale : float
        The weights of the problem sum to this instead of one.
    """

    problem: UnknownProblem
    cases: NDArray[np.int32]
    merged: MergedCases
    weight_scale: float


@part_of_task
def make_kernel(task: Task) -> UnknownTable:
    """Return the table of a task for the kernels."""
    return _make_table(task.table, task.table.codes, task.class_ids, task.table.prior)


def _make_table(
    table: Table,
    codes: CodeArray,
    class_ids: NDArray[np.int32],
    weights: NDArray[np.float64],
) -> UnknownTable:
    """Return a table for the kernels, of some cases of a table."""
    return UnknownTable(
        codes,
        np.array([test.n_levels for test in table.tests], dtype=np.int32),
        *table.possible.flat_chances,
        np.ascontiguousarray(class_ids),
        np.ascontiguousarray(weights),
    )


def group_classes(
    class_ids: NDArray[np.int32], blocks: NDArray[np.int32] | None = None
) -> NDArray[np.int32]:
    """Return all cases, those of one block together, and there those of one class."""
    if blocks is None:
        return np.argsort(class_ids, kind="stable").astype(np.int32)
    return np.lexsort((class_ids, blocks)).astype(np.int32)


@part_of_task
def merge_cases(task: Task) -> MergedCases:
    """Merge cases that show the same and are of one class."""
    keys = np.concatenate([task.table.codes.astype(np.int64), task.class_ids[None, :]])
    _, kept, place = np.unique(keys, axis=1, return_index=True, return_inverse=True)
    # In the order of the table.
    order = np.argsort(kept)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return MergedCases(kept[order], rank[place.ravel()])


@part_of_task
def find_pair_prices(task: Task) -> NDArray[np.float64]:
    """Return the least price of a test that is sure to tell two merged cases apart.

    Infinite if none is.
    """
    kept = merge_cases(task).kept
    lows = least_prices(task.table)
    prices = np.full((len(kept), len(kept)), np.inf)
    # The cheapest is written last.
    for test in np.argsort(-lows, kind="stable").tolist():
        prices[task.table.possible.tells(test, kept)] = lows[test]
    return prices


@part_of_task
def find_neighbourhoods(task: Task) -> NDArray[np.uint64]:
    """Return the bits of the cases that each case need not be told from.

    Raises
    ------
    InvalidOptionError
        If there are too many cases.
    """
    n_cases = task.table.n_cases
    if n_cases > MOST_NEAR:
        raise InvalidOptionError(
            f"stop='neighbourhood' takes at most {MOST_NEAR:,} cases, since it "
            f"compares every two. Got {n_cases:,}. Use stop='clique'."
        )
    place = merge_cases(task).place
    is_near = ~np.isfinite(find_pair_prices(task))[np.ix_(place, place)]
    is_near |= task.class_ids[:, None] == task.class_ids
    return pack_bits(is_near)


@part_of_task
def state_unknown(task: Task) -> UnknownTask:
    """Return a task for the search: equal cases merged, pairs compared.

    Raises
    ------
    InvalidOptionError
        If the search cannot carry the task.
    """
    table = task.table
    merged = merge_cases(task)
    kept = merged.kept
    if len(kept) ** 2 * table.n_tests > MOST_COMPARISONS:
        raise InvalidOptionError(
            "To search a table with unknown outcomes, every two cases are compared by "
            f"every test, which is too much for {len(kept):,} cases and "
            f"{table.n_tests:,} tests. Use a rule such as 'elimination'."
        )
    class_ids = task.class_ids[kept]
    blocks = np.ascontiguousarray(find_blocks(task)[kept])
    weights, scale = _scale(
        np.bincount(merged.place, weights=table.prior).astype(np.float64)
    )
    problem = UnknownProblem(
        _make_table(table, take_cases(table.codes, kept), class_ids, weights),
        least_prices(table),
        is_worst=task.objective == "worst",
        prices=None if has_flat_prices(table.prices) else table.prices.engine,
        near=_find_near(task, class_ids),
        stops_near=task.stop == "neighbourhood",
        block=blocks,
        pair_price=find_pair_prices(task),
        rules=_find_rules(task) if len(kept) <= MOST_RULES else None,
    )
    return UnknownTask(problem, group_classes(class_ids, blocks), merged, scale)


def _find_near(task: Task, class_ids: NDArray[np.int32]) -> NDArray[np.uint64] | None:
    """Return the bits of the merged cases that each need not be told from.

    None if these are just the cases of its class.
    """
    is_near = ~np.isfinite(find_pair_prices(task))
    is_same = class_ids[:, None] == class_ids
    if task.stop != "neighbourhood" and not is_near[~is_same].any():
        return None
    return pack_bits(is_near | is_same)


def _find_rules(task: Task) -> NDArray[np.uint64]:
    """Return the bits of the tests that may rule out one case if another is true."""
    table, kept = task.table, merge_cases(task).kept
    n_words = (table.n_tests + 63) // 64
    bits = np.zeros((len(kept), len(kept), n_words), dtype=np.uint64)
    for test in range(table.n_tests):
        may = table.possible.rules_out(test, kept)
        bits[:, :, test >> 6] |= may.astype(np.uint64) << np.uint64(test & 63)
    return bits


def has_flat_prices(prices: PriceList) -> bool:
    """Return whether every test has one price, whatever it shows and goes with."""
    return not prices.by_outcome and all(group is None for group in prices.group)


def pack_bits(is_set: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return rows of truth values as words of 64 bits.

    Examples
    --------
    >>> pack_bits(np.array([[True, False, True]])).tolist()
    [[5]]
    """
    n = is_set.shape[1]
    words = (n + 63) // 64
    padded = np.zeros((len(is_set), 64 * words), dtype=bool)
    padded[:, :n] = is_set
    packed = np.packbits(padded, axis=1, bitorder="little")
    return np.ascontiguousarray(packed).view("<u8").astype(np.uint64)


def _scale(weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Return weights, as whole numbers if that is what they are, and their sum."""
    ratios = weights / weights[weights > 0].min()
    whole = np.rint(ratios)
    if np.all(np.abs(ratios - whole) <= 1e-12 * np.maximum(whole, 1.0)):
        return whole, float(whole.sum())
    return weights.astype(np.float64), float(weights.sum())
