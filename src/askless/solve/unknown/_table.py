"""State a task with unknown outcomes as the noisy kernels want it.

Cases that no test is sure to tell apart are *near*; so are cases of one label. A set of
cases is settled when nothing more is sure to be told: every two of its cases are near
(a clique), or, if one asks for less, all are near one and the same case (a
neighbourhood).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askless._core.unknown._table import UnknownTable
from askless.exceptions import InvalidOptionError
from askless.solve._task import Task, find_blocks, take_cases

__all__ = [
    "NoisyTask",
    "count_copies",
    "make_kernel",
    "pack_bits",
    "pair_prices",
    "state_noisy",
]

# Beyond so many comparisons of two cases by a test, pairs are not compared.
MOST_COMPARISONS = 3_000_000_000
# The tests that may rule out each case for each other take a bit each.
MOST_RULES = 2_000


@dataclass(frozen=True)
class NoisyTask:
    """A task for the noisy kernels.

    Attributes
    ----------
    kernel : UnknownTable
    cases : ndarray of int32 of shape (n_kept,)
        All cases, those of one label together.
    merged : ndarray of int64 of shape (n_cases,)
        Which case of the kernel each case of the table is.
    prices : ndarray of shape (n_kept, n_kept) or None
        The least price of a test that is sure to tell two cases apart; infinite if
        none is. None if there are too many cases.
    near : ndarray of uint64 of shape (n_kept, n_words) or None
        Bits of the cases that each need not be told from; None if these are just the
        cases of its label.
    blocks : ndarray of int32 of shape (n_kept,)
        Cases that a policy may leave together are alike; see :func:`find_blocks`.
    rules : ndarray of uint64 of shape (n_kept, n_kept, n_words) or None
        Bits of the tests that may rule out the second case if the first is true; None
        if there are too many cases.
    weight_scale : float
        The weights of the kernel sum to this instead of one.
    """

    kernel: UnknownTable
    cases: NDArray[np.int32]
    merged: NDArray[np.int64]
    prices: NDArray[np.float64] | None
    near: NDArray[np.uint64] | None
    blocks: NDArray[np.int32]
    rules: NDArray[np.uint64] | None
    weight_scale: float


def make_kernel(
    task: Task,
    *,
    keep: NDArray[np.int64] | None = None,
    prior: NDArray[np.float64] | None = None,
) -> UnknownTable:
    """Return the table of a task for the kernels; of some cases and weights only."""
    table = task.table
    codes, labels = table.codes, task.label_ids
    if keep is not None:
        codes, labels = take_cases(codes, keep), labels[keep]
    starts = np.cumsum([0] + [len(c) for c in table.chances]).astype(np.int64)
    return UnknownTable(
        codes,
        np.array([test.n_levels for test in table.tests], dtype=np.int32),
        np.concatenate(table.chances),
        starts,
        np.ascontiguousarray(labels),
        np.ascontiguousarray(table.prior if prior is None else prior),
    )


def group_labels(
    labels: NDArray[np.int32], blocks: NDArray[np.int32] | None = None
) -> NDArray[np.int32]:
    """Return all cases, those of one block together, and there those of one label."""
    if blocks is None:
        return np.argsort(labels, kind="stable").astype(np.int32)
    return np.lexsort((labels, blocks)).astype(np.int32)


def count_copies(task: Task) -> NDArray[np.float64]:
    """Return, for each case, the logarithm of how many ways its coins can fall."""
    table = task.table
    bits = np.zeros(table.n_cases)
    for test, chances in enumerate(table.chances):
        support = np.count_nonzero(chances)
        if support > 1:
            bits += np.log2(support) * table.is_unknown[test]
    return bits


def state_noisy(task: Task) -> NoisyTask:
    """Return a task for the search: equal cases merged, pairs compared.

    Raises
    ------
    InvalidOptionError
        If the search cannot carry the task.
    """
    table = task.table
    keys = np.concatenate([table.codes.astype(np.int64), task.label_ids[None, :]])
    _, keep, merged = np.unique(keys, axis=1, return_index=True, return_inverse=True)
    merged = merged.ravel()
    # In the order of the table.
    order = np.argsort(keep)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    keep, merged = keep[order], rank[merged]
    mass = np.bincount(merged, weights=table.prior).astype(np.float64)
    weights, scale = _scale(mass)
    if len(keep) ** 2 * table.n_tests > MOST_COMPARISONS:
        raise InvalidOptionError(
            "To search a table with unknown outcomes, every two cases are compared by "
            f"every test, which is too much for {len(keep):,} cases and "
            f"{table.n_tests:,} tests. Use a rule such as 'elimination'."
        )
    prices = pair_prices(task, keep)
    labels = task.label_ids[keep]
    is_near = ~np.isfinite(prices)
    near = None
    if task.stop == "neighbourhood" or is_near[labels[:, None] != labels].any():
        is_near |= labels[:, None] == labels
        near = pack_bits(is_near)
    blocks = np.ascontiguousarray(find_blocks(task)[keep])
    return NoisyTask(
        make_kernel(task, keep=keep, prior=weights),
        group_labels(labels, blocks),
        merged,
        prices,
        near,
        blocks,
        _rule_bits(task, keep) if len(keep) <= MOST_RULES else None,
        scale,
    )


def pair_prices(task: Task, keep: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the least price of a test that is sure to tell each two cases apart."""
    table = task.table
    lows = np.minimum(table.prices.full, table.prices.discounted)
    for test, by_outcome in table.prices.by_outcome.items():
        lows[test] = min(lows[test], float(by_outcome.min()))
    prices = np.full((len(keep), len(keep)), np.inf)
    # The cheapest is written last.
    for test in np.argsort(-lows, kind="stable"):
        codes = table.codes[test, keep]
        unknown = table.is_unknown[test, keep]
        tells = codes[:, None] != codes
        tells &= ~unknown[:, None] & ~unknown
        # A known outcome that no unknown one can be tells the two apart as well.
        chances = np.zeros(table.tests[test].n_levels + 2)
        chances[: len(table.chances[test])] = table.chances[test]
        outside = ~unknown & (chances[codes] <= 0)
        if outside.any():
            tells |= outside[:, None] & unknown
            tells |= unknown[:, None] & outside
        prices[tells] = lows[test]
    return prices


def _rule_bits(task: Task, keep: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return which tests may rule out one case if another is true."""
    table = task.table
    n_words = (table.n_tests + 63) // 64
    bits = np.zeros((len(keep), len(keep), n_words), dtype=np.uint64)
    for test in range(table.n_tests):
        codes = table.codes[test, keep]
        unknown = table.is_unknown[test, keep]
        chances = np.zeros(table.tests[test].n_levels + 2)
        chances[: len(table.chances[test])] = table.chances[test]
        # True case first: a known outcome rules out others, and an unknown one may
        # unless it is sure to show just that; an unknown case is ruled out by what its
        # coin never shows.
        may = (codes[:, None] != codes) & ~unknown[:, None] & ~unknown
        may |= unknown[:, None] & ~unknown & (chances[codes] < 1)
        may |= (~unknown & (chances[codes] <= 0))[:, None] & unknown
        bits[:, :, test >> 6] |= may.astype(np.uint64) << np.uint64(test & 63)
    return bits


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


def _scale(mass: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Return weights, as whole numbers if that is what they are, and their sum."""
    ratios = mass / mass[mass > 0].min()
    whole = np.rint(ratios)
    if np.all(np.abs(ratios - whole) <= 1e-12 * np.maximum(whole, 1.0)):
        return whole, float(whole.sum())
    return mass.astype(np.float64), float(mass.sum())
