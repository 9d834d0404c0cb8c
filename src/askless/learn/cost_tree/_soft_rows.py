"""Turn coded examples into rows that have a share of every class.

Equal rows are merged, numbers are cut into few levels, and the class of each row is
smoothed by a forest that has not seen it. This module must not know what tests cost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless._core.soft._out_of_bag import OutOfBag
from askless.learn._examples import CodedExamples, CodedTests
from askless.learn.trees._row_weights import scale_weights, settle_weights
from askless.problem import Test
from askless.problem._tests import CodeArray, code_dtype

__all__ = [
    "MergedRows",
    "SoftRows",
    "estimate_shares",
    "merge_rows",
    "soften",
    "take_rows",
]

# Rows that whole weights may stand for. The forest draws each of them.
MOST_COUNTED = 1e8
# A share below this is noise, and every share that is kept costs time.
LEAST_SHARE = 0.01


@dataclass(frozen=True)
class MergedRows(CodedTests):
    """Distinct rows of codes and class, sorted, whatever the order of the examples.

    Attributes
    ----------
    tests : tuple of Test
    codes : ndarray of uint16 of shape (n_tests, n_rows)
    class_ids : ndarray of int32 of shape (n_rows,)
    weights : ndarray of shape (n_rows,)
        How many examples each row stands for.
    pattern_start : ndarray
        Where each set of rows with the same codes begins.
    n_classes : int
    """

    tests: tuple[Test, ...]
    codes: NDArray[np.uint16]
    class_ids: NDArray[np.int32]
    weights: NDArray[np.float64]
    pattern_start: NDArray[np.intp]
    n_classes: int


@dataclass(frozen=True)
class SoftRows:
    """Distinct rows of codes, each with the weight of every class.

    Attributes
    ----------
    codes : ndarray of uint8 or uint16 of shape (n_tests, n_rows)
    entry_start : ndarray of int64 of shape (n_rows + 1,)
    entry_class : ndarray of int32
    entry_weight : ndarray of float64
    """

    codes: CodeArray
    entry_start: NDArray[np.int64]
    entry_class: NDArray[np.int32]
    entry_weight: NDArray[np.float64]


def merge_rows(examples: CodedExamples, max_levels: int) -> MergedRows:
    """Merge rows that are equal once numbers have at most so many levels.

    Weights that are whole count rows, up to a hundred million in all. Others say only
    how rows compare, and are scaled to one a row.
    """
    class_ids = examples.class_ids
    weights = settle_weights(examples.weights, len(class_ids))
    if weights.sum() > MOST_COUNTED or np.any(weights != np.floor(weights)):
        weights = scale_weights(weights)
    coarse = [
        coarsen(test, codes, weights, max_levels)
        for test, codes in zip(examples.tests, examples.codes, strict=True)
    ]
    codes = np.array([column for _, column in coarse], dtype=np.uint16)
    rows = np.empty((codes.shape[1], len(codes) + 2), dtype=np.uint16)
    rows[:, :-2] = codes.T
    rows[:, -2] = class_ids >> 16
    rows[:, -1] = class_ids & 0xFFFF
    whole = rows.view(np.dtype((np.void, rows.shape[1] * 2))).ravel()
    _, first, where = np.unique(whole, return_index=True, return_inverse=True)
    merged = np.ascontiguousarray(codes[:, first])
    return MergedRows(
        tests=tuple(test for test, _ in coarse),
        codes=merged,
        class_ids=class_ids[first],
        weights=np.bincount(where.ravel(), weights=weights).astype(np.float64),
        pattern_start=_find_patterns(merged),
        n_classes=len(examples.class_rows),
    )


def take_rows(rows: MergedRows, part: NDArray[np.bool_]) -> MergedRows:
    """Return some of the rows, in the same order."""
    codes = np.ascontiguousarray(rows.codes[:, part])
    return replace(
        rows,
        codes=codes,
        class_ids=rows.class_ids[part],
        weights=rows.weights[part],
        pattern_start=_find_patterns(codes),
    )


def _find_patterns(codes: NDArray[np.uint16]) -> NDArray[np.intp]:
    """Return where each set of equal codes begins in rows that are sorted."""
    is_new = np.append(True, np.any(codes[:, 1:] != codes[:, :-1], axis=0))
    return np.flatnonzero(is_new)


def coarsen(
    test: Test, codes: NDArray[Any], weights: NDArray[np.float64], max_levels: int
) -> tuple[Test, NDArray[Any]]:
    """Merge neighbouring levels of a number until there are few, equally heavy.

    Examples
    --------
    >>> test = Test("age", "number", cuts=(10.0, 20.0, 30.0))
    >>> fewer, codes = coarsen(test, np.array([0, 1, 2, 3, 4]), np.ones(5), 2)
    >>> fewer.cuts, codes
    ((20.0,), array([0, 0, 1, 1, 2]))
    """
    if test.kind != "number" or test.n_levels <= max_levels:
        return test, codes
    by_level = np.bincount(codes, weights=weights, minlength=test.n_levels)
    by_level = by_level[: test.n_levels]
    before = np.cumsum(by_level) - by_level
    total = max(float(by_level.sum()), 1e-300)
    level = np.floor(before / total * max_levels + 1e-9)
    kept = np.flatnonzero(np.diff(level) > 0)
    new_code = np.append(0, np.cumsum(np.diff(level) > 0))
    # "Missing" and "never seen" follow the last level.
    table = np.append(new_code, [new_code[-1] + 1, new_code[-1] + 2])
    cuts = tuple(test.cuts[i] for i in kept)
    return Test(test.name, "number", cuts=cuts), table[codes]


def estimate_shares(
    rows: MergedRows,
    class_scale: NDArray[np.float64],
    *,
    n_trees: int,
    min_leaf: float,
    tried: float,
    seed: int,
    n_jobs: int,
    is_over: Callable[[int], bool] = lambda n_grown: False,
) -> NDArray[np.float64]:
    """Return the shares of the classes of each row, by trees that have not seen it.

    Parameters
    ----------
    rows : MergedRows
        The examples.
    class_scale : ndarray of shape (n_classes,)
        How much a row of each class matters in choosing a cut.
    n_trees : int
        How many trees to grow; fewer if it is over before.
    min_leaf : float
        The least number of examples in a leaf.
    tried : float
        The share of tests that is tried for each cut.
    seed : int
        Source of the random numbers.
    n_jobs : int
        Threads; the shares do not depend on it.
    is_over : callable
        Whether to stop, asked with the number of trees so far.
    """
    forest = OutOfBag(
        rows.codes,
        rows.n_levels,
        rows.is_ordered,
        rows.class_ids,
        rows.weights,
        class_scale,
        float(min_leaf),
        max(1, int(np.ceil(tried * len(rows.tests) - 1e-9))),
        seed,
    )
    while forest.n_trees < n_trees:
        forest.add_trees(n_trees - forest.n_trees, n_jobs)
        if is_over(forest.n_trees):
            break
    shares: NDArray[np.float64] = forest.shares()
    return shares


def soften(
    rows: MergedRows, shares: NDArray[np.float64] | None, smoothing: float
) -> SoftRows:
    """Mix each row's own class with its shares, and merge rows of the same codes."""
    n = len(rows.class_ids)
    own = np.zeros((n, rows.n_classes))
    own[np.arange(n), rows.class_ids] = 1.0
    if shares is not None and smoothing > 0:
        own = smoothing * shares + (1.0 - smoothing) * own
        own[own < LEAST_SHARE] = 0.0
        own /= own.sum(axis=1, keepdims=True)
    own *= rows.weights[:, None]
    pattern = np.add.reduceat(own, rows.pattern_start, axis=0)
    where, classes = np.nonzero(pattern)
    counts = np.bincount(where, minlength=len(pattern))
    return SoftRows(
        codes=rows.codes[:, rows.pattern_start].astype(
            code_dtype(max(rows.n_levels, default=0)), order="C"
        ),
        entry_start=np.append(0, np.cumsum(counts)).astype(np.int64),
        entry_class=classes.astype(np.int32),
        entry_weight=pattern[where, classes],
    )
