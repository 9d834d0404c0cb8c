"""Grow a booster of several classes whose trees know what each row has bought.

A split charges the rows of its leaf that no tree has asked for the column before, as
LightGBM's lazy penalties do. But a round adds one tree, with a value for each class in
every leaf, so that all classes share what a split buys; and rows that the trees so far
are sure of are charged less, as they stop before they buy what later trees ask for.
This module must not know budgets, nor which of several boosters is taken.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless._core.boost._grow import TreeGrower
from askless._core.boost._losses import log_loss, write_charges, write_derivatives
from askless.learn._examples import code_rows
from askless.learn.boost._booster_rows import BoosterRows
from askless.learn.boost._coded_rows import CodedRows
from askless.learn.sources import SetSplit, Source, SourceTree
from askless.policy import Output
from askless.problem import Outcome, Test
from askless.problem._coding import quantile_test

__all__ = ["PricedPlan", "can_grow", "grow_source"]

# Levels of a number, and how many sums over levels there are at most: they are added up
# for each leaf, column, level and class.
LEVELS, LEAST_LEVELS, MOST_CELLS = 128, 8, 32_000_000
# Codes of two bytes have room for so many levels, a missing value and an unknown one.
MOST_LEVELS = 65_533
# Rows of a leaf, at least.
LEAST_ROWS = 5
# Rounds in which the loss of the validation rows does not fall by such a share, after
# which no more are tried. More of either changed costs and errors by less than 1 %.
PATIENCE, LEAST_FALL = 15, 5e-4


@dataclass(frozen=True)
class PricedPlan:
    """How one booster is grown.

    Attributes
    ----------
    tradeoff : float
        How much costs count, in units of the mean cost.
    n_rounds : int
        The most rounds of boosting, each of which adds a tree.
    n_leaves : int
        The most leaves of a tree.
    learning_rate : float
        How much of each tree is added.
    l2 : float
        Shrinks leaves of little weight.
    columns : tuple of int or None
        The only columns that it may use; None for all.
    n_jobs : int
        Threads; trees do not depend on it.
    """

    tradeoff: float
    n_rounds: int
    n_leaves: int
    learning_rate: float
    l2: float = 1.0
    columns: tuple[int, ...] | None = None
    n_jobs: int = 1


@dataclass(frozen=True)
class _Codes:
    """Rows by the levels of their values, as the kernel wants them."""

    tests: tuple[Test, ...]
    codes: NDArray[np.uint16]
    class_ids: NDArray[np.int32]
    weights: NDArray[np.float64]

    @classmethod
    def of(cls, rows: BoosterRows, tests: tuple[Test, ...]) -> _Codes:
        """Return rows of known classes by the levels of tests."""
        is_known = rows.rows.class_ids >= 0
        known = rows if is_known.all() else rows.take(is_known)
        codes = np.ascontiguousarray(_code(known, tests), dtype=np.uint16)
        ids, weights = known.rows.class_ids, known.rows.weights
        return cls(
            tests,
            codes,
            np.ascontiguousarray(ids, dtype=np.int32),
            np.ones(len(ids)) if weights is None else np.asarray(weights, dtype=float),
        )

    @cached_property
    def n_levels(self) -> NDArray[np.int32]:
        return np.array([test.n_levels for test in self.tests], dtype=np.int32)

    @cached_property
    def is_category(self) -> NDArray[np.uint8]:
        return np.array([t.kind == "category" for t in self.tests], dtype=np.uint8)


def _code(rows: BoosterRows, tests: tuple[Test, ...]) -> NDArray[Any]:
    if not isinstance(rows, CodedRows):
        return code_rows(rows.rows.values, tests)
    # Rows of a store do not tell a missing category from an unknown one: both are taken
    # for unknown ones, which go right.
    nothing = [test.missing_code + (test.kind == "category") for test in tests]
    return np.where(np.isnan(rows.matrix), np.array(nothing), rows.matrix).T


def _choose_levels(
    rows: BoosterRows, n_classes: int, n_leaves: int
) -> tuple[Test, ...]:
    """Return the columns with the levels that trees part by."""
    if isinstance(rows, CodedRows):
        return rows.tests
    n_sums = n_leaves * len(rows.tests) * (2 * n_classes + 1)
    most = min(LEVELS, max(LEAST_LEVELS, MOST_CELLS // max(n_sums, 1)))
    return tuple(
        quantile_test(test.name, rows.matrix[:, i], most, rows.rows.weights)
        if test.kind == "number"
        else test
        for i, test in enumerate(rows.tests)
    )


def can_grow(rows: BoosterRows, n_classes: int, n_leaves: int) -> bool:
    """Return whether the levels of all columns are few enough to be summed up.

    Parameters
    ----------
    rows : BoosterRows
        Rows to grow on.
    n_classes, n_leaves : int
        Classes, and the most leaves of a tree.
    """
    is_coded = isinstance(rows, CodedRows)
    levels = [
        test.n_levels if is_coded or test.kind == "category" else LEAST_LEVELS
        for test in rows.tests
    ]
    n_sums = (sum(levels) + 2 * len(levels)) * n_leaves * (2 * n_classes + 1)
    return n_sums <= MOST_CELLS and max(levels, default=0) <= MOST_LEVELS


def grow_source(
    plan: PricedPlan,
    train: BoosterRows,
    valid: BoosterRows,
    classes: tuple[Outcome, ...],
    prices: NDArray[np.float64],
) -> Source:
    """Return the trees of a booster, which part what rows hold.

    A tree of the booster becomes one for each class, alike but for the values of its
    leaves: what is known of one class is then bounded apart from the others.

    Parameters
    ----------
    plan : PricedPlan
        How to grow it.
    train, valid : BoosterRows
        Rows to grow on, and validation rows that say when to stop adding trees.
    classes : tuple
        The classes, at least two.
    prices : ndarray of shape (n_columns,)
        What each column costs.
    """
    n_classes = len(classes)
    tests = train.keep(
        ("levels", plan.n_leaves),
        lambda: _choose_levels(train, n_classes, plan.n_leaves),
    )
    coded = train.keep(("codes", tests), lambda: _Codes.of(train, tests))
    held_out = valid.keep(("codes", tests), lambda: _Codes.of(valid, tests))
    start = _first_sums(coded, n_classes)
    grown = _boost(plan, coded, held_out, start, prices)
    marks = _list_marks(train, tests)
    trees = [part for tree in grown for part in tree.apart(tests, marks)]
    categories = {
        i: test.outcomes for i, test in enumerate(tests) if test.kind == "category"
    }
    output = Output("logit" if n_classes == 2 else "softmax", tuple(start.tolist()))
    return Source(None, len(tests), classes, trees, output, categories)


def _list_marks(
    rows: BoosterRows, tests: tuple[Test, ...]
) -> list[NDArray[np.float64]]:
    """Return, for each level of each number, the largest value that rows hold of it.

    Rows of a store hold levels in place of values.
    """
    if isinstance(rows, CodedRows):
        return [np.arange(test.n_levels, dtype=float) for test in tests]
    # Beyond the last cut there are missing values only.
    return [np.array([*test.cuts, np.inf]) for test in tests]


def _first_sums(coded: _Codes, n_classes: int) -> NDArray[np.float64]:
    """Return where sums start: the log-odds of each class before anything is known."""
    totals = np.bincount(coded.class_ids, coded.weights, minlength=n_classes)
    # A class of which no row is left is next to impossible.
    logs = np.log(np.maximum(totals, 1e-9) / totals.sum())
    return np.asarray(logs[1:] - logs[0] if n_classes == 2 else logs)


def _boost(
    plan: PricedPlan,
    coded: _Codes,
    held_out: _Codes,
    start: NDArray[np.float64],
    prices: NDArray[np.float64],
) -> list[_Tree]:
    """Return the trees up to the round that tells the validation rows best."""
    n_rows, n_outputs = len(coded.class_ids), len(start)
    grower = TreeGrower(
        coded.codes, coded.n_levels, coded.is_category, coded.weights,
        n_outputs=n_outputs, n_leaves=plan.n_leaves, l2=plan.l2, least_rows=LEAST_ROWS,
        n_threads=plan.n_jobs,
    )  # fmt: skip
    charged, per_row = _charge(plan.tradeoff, prices), np.empty(n_rows)
    sums = np.tile(start, (n_rows, 1))
    held_sums = np.tile(start, (len(held_out.class_ids), 1))
    derivatives = np.empty((n_rows, 2 * n_outputs))
    # A row that weighs nothing is as good as none.
    some = np.flatnonzero(coded.weights > 0).astype(np.int32)
    columns = _allow(plan, len(coded.tests))
    trees: list[_Tree] = []
    best = log_loss(held_sums, held_out.class_ids, held_out.weights)
    n_kept = 0
    for _ in range(plan.n_rounds):
        write_derivatives(sums, coded.class_ids, coded.weights, derivatives)
        write_charges(derivatives, coded.weights, per_row)
        if grower.grow(derivatives, charged, per_row, some, columns) == 1:
            break  # no split is worth its price, nor will be
        grower.add_grown(sums, plan.learning_rate)
        grower.add_walked(held_out.codes, held_sums, plan.learning_rate)
        trees.append(_Tree(*grower.tree(), plan.learning_rate))
        loss = log_loss(held_sums, held_out.class_ids, held_out.weights)
        if loss < best * (1.0 - LEAST_FALL):
            best, n_kept = loss, len(trees)
        elif len(trees) - n_kept >= PATIENCE:
            break
    # One that buys nothing is a booster, too.
    return trees[:n_kept] or [_Tree.nothing(n_outputs)]


def _charge(tradeoff: float, prices: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what a row is charged for each column, in units of the loss."""
    largest = float(prices.max(initial=0.0))
    if not largest > 0.0:
        return np.zeros(len(prices))
    relative = prices / largest
    return tradeoff * relative / float(relative.mean())


def _allow(plan: PricedPlan, n_columns: int) -> NDArray[np.uint8]:
    """Return which columns trees may ask for."""
    if plan.columns is None:
        return np.ones(n_columns, dtype=np.uint8)
    return np.isin(np.arange(n_columns), plan.columns).astype(np.uint8)


@dataclass(frozen=True)
class _Tree:
    """A tree as the grower has it, and how much of it is added."""

    column: NDArray[np.int32]
    cut: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    missing_left: NDArray[np.uint8]
    goes_left: NDArray[np.uint8]
    value: NDArray[np.float64]
    weight: NDArray[np.float64]
    rate: float

    @classmethod
    def nothing(cls, n_outputs: int) -> _Tree:
        """Return a tree that asks nothing and says nothing."""
        leaf, zero = np.array([-1], np.int32), np.zeros(1, np.uint8)
        value, weight = np.zeros((1, n_outputs)), np.ones(1)
        return cls(leaf, leaf, leaf, leaf, zero, zero[:, None], value, weight, 0.0)

    def apart(
        self, tests: tuple[Test, ...], marks: list[NDArray[np.float64]]
    ) -> list[SourceTree]:
        """Return a tree for each class."""
        threshold, missing_left = np.zeros(len(self.column)), self.missing_left > 0
        sets = {}
        for node in np.flatnonzero(self.column >= 0).tolist():
            test = tests[self.column[node]]
            if test.kind == "category":
                levels = self.goes_left[node] > 0
                missing_left[node] = levels[test.missing_code]
                sets[node] = SetSplit(_Levels(levels))
            else:
                threshold[node] = marks[self.column[node]][self.cut[node]]
        whole = SourceTree(
            self.column, threshold, self.left, self.right, missing_left,
            self.rate * self.value, self.weight, sets=sets,
        )  # fmt: skip
        return [
            replace(whole, value=np.ascontiguousarray(whole.value[:, [k]]), output=k)
            for k in range(self.value.shape[1])
        ]


@dataclass(frozen=True)
class _Levels:
    """Which levels of a category go left."""

    goes_left: NDArray[np.bool_]

    def __call__(self, positions: NDArray[np.float64]) -> NDArray[np.bool_]:
        return self.goes_left[positions.astype(np.int64)]
