"""Grow a booster whose trees know what each row has bought.

A split charges the rows of its leaf that no tree has asked for the column before, as
LightGBM's lazy penalties do. But a tree has a value for each class in every leaf, so
that all classes share what one split buys, and there is one tree a round however many
classes there are. This module must not know budgets, nor which of several boosters is
taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless._core.boost._grow import TreeGrower
from askless._core.boost._losses import log_loss, write_derivatives
from askless.learn._examples import code_rows
from askless.learn.boost._booster_rows import BoosterRows
from askless.learn.boost._coded_rows import CodedRows
from askless.learn.sources import SetSplit, Source, SourceTree
from askless.policy import Ensemble, Output
from askless.problem import Costs, Outcome, Test
from askless.problem._coding import quantile_test

__all__ = ["PricedPlan", "grow_source"]

# Levels of a number: with several classes, sums over levels take most of the time.
LEVELS, SEVERAL_LEVELS = 254, 64
# Rows of a leaf, at least.
LEAST_ROWS = 5
# Rounds without a gain on the validation rows, after which no more are tried.
PATIENCE = 30
# Of bagged boosters: the share of rows and of columns that a tree sees, how much slower
# they learn, for how many times as many rounds, and how much more leaves are shrunk.
BAGGING, COLUMNS, SLOWER, LONGER, BAGGED_L2 = 0.7, 0.4, 0.5, 2, 3.0


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
    l2 : float or None
        Shrinks leaves of little weight; None for 0 of two classes and 1 of more.
    is_bagged : bool
        Whether each tree sees some of the rows and some of the columns; such a booster
        learns half as fast, for twice as many rounds, and shrinks its leaves.
    columns : tuple of int or None
        The only columns that it may use; None for all.
    seed : int
        Draws rows and columns of bagged boosters.
    n_jobs : int
        Threads; trees do not depend on it.
    """

    tradeoff: float
    n_rounds: int = 300
    n_leaves: int = 8
    learning_rate: float = 0.1
    l2: float | None = None
    is_bagged: bool = False
    columns: tuple[int, ...] | None = None
    seed: int = 0
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
    missing = np.array([test.missing_code for test in tests])
    return np.where(np.isnan(rows.matrix), missing, rows.matrix).T


def _choose_levels(rows: BoosterRows, n_classes: int) -> tuple[Test, ...]:
    """Return the columns with the levels that trees part by."""
    if isinstance(rows, CodedRows):
        return rows.tests
    most = LEVELS if n_classes == 2 else SEVERAL_LEVELS
    return tuple(
        quantile_test(test.name, rows.matrix[:, i], most)
        if test.kind == "number"
        else test
        for i, test in enumerate(rows.tests)
    )


def grow_source(
    plan: PricedPlan,
    train: BoosterRows,
    valid: BoosterRows,
    classes: tuple[Outcome, ...],
    prices: NDArray[np.float64],
) -> Source:
    """Return the trees of a booster, which part raw values.

    Parameters
    ----------
    plan : PricedPlan
        How to grow it.
    train, valid : BoosterRows
        Rows to grow on, and validation rows that say when to stop adding trees.
    classes : tuple
        The classes.
    prices : ndarray of shape (n_columns,)
        What each column costs.
    """
    n_classes = len(classes)
    coded = train.keep(
        "codes", lambda: _Codes.of(train, _choose_levels(train, n_classes))
    )
    held_out = train.keep(
        ("codes", id(valid)), lambda: (valid, _Codes.of(valid, coded.tests))
    )[1]
    start = _first_sums(coded, n_classes)
    trees = _boost(plan, coded, held_out, start, prices)
    categories = {
        i: test.outcomes
        for i, test in enumerate(coded.tests)
        if test.kind == "category"
    }
    link = "logit" if n_classes == 2 else "softmax"
    return Source(
        None, len(coded.tests), classes, trees, Output(link, tuple(start.tolist())),
        categories,
    )  # fmt: skip


def _first_sums(coded: _Codes, n_classes: int) -> NDArray[np.float64]:
    """Return where sums start: the log-odds of each class before anything is known."""
    totals = np.bincount(coded.class_ids, coded.weights, minlength=n_classes)
    # A class of which no row is left is one row's worth of unlikely.
    shares = np.log(np.maximum(totals, 1e-9) / totals.sum())
    return shares[1:] - shares[0] if n_classes == 2 else shares


def _boost(
    plan: PricedPlan,
    coded: _Codes,
    held_out: _Codes,
    start: NDArray[np.float64],
    prices: NDArray[np.float64],
) -> list[SourceTree]:
    """Return the trees up to the round that tells the validation rows best."""
    n_rows, n_outputs = len(coded.class_ids), len(start)
    grower = TreeGrower(
        coded.codes, coded.n_levels, coded.is_category, coded.weights,
        n_outputs=n_outputs, n_leaves=plan.n_leaves, l2=_l2(plan, n_outputs),
        least_rows=LEAST_ROWS, n_threads=plan.n_jobs,
    )  # fmt: skip
    charged = _charge(plan.tradeoff, prices)
    sums = np.tile(start, (n_rows, 1))
    held_sums = np.tile(start, (len(held_out.class_ids), 1))
    derivatives = np.empty((n_rows, 2 * n_outputs), dtype=np.float32)
    samples = _Samples(plan, n_rows, len(coded.tests))
    rate = plan.learning_rate * (SLOWER if plan.is_bagged else 1.0)
    trees: list[SourceTree] = []
    best = log_loss(held_sums, held_out.class_ids, held_out.weights)
    n_kept = 0
    for number in range(plan.n_rounds * (LONGER if plan.is_bagged else 1)):
        write_derivatives(sums, coded.class_ids, coded.weights, derivatives)
        rows, columns = samples.draw(number)
        if grower.grow(derivatives, charged, rows, columns) == 1 and not plan.is_bagged:
            break  # no split is worth its price, nor will be
        if len(rows) == n_rows:
            grower.add_grown(sums, rate)
        else:
            grower.add_walked(coded.codes, sums, rate, buys=True)
        grower.add_walked(held_out.codes, held_sums, rate)
        trees.append(_read_tree(grower, coded.tests, rate))
        loss = log_loss(held_sums, held_out.class_ids, held_out.weights)
        if loss < best:
            best, n_kept = loss, len(trees)
        elif len(trees) - n_kept >= PATIENCE:
            break
    # One that buys nothing is a booster, too.
    return trees[:n_kept] or [_constant_tree(len(start))]


def _l2(plan: PricedPlan, n_outputs: int) -> float:
    if plan.l2 is not None:
        return plan.l2
    if plan.is_bagged:
        return BAGGED_L2
    # Single leaves of many classes would otherwise grow without bound.
    return 1.0 if n_outputs > 1 else 0.0


def _charge(tradeoff: float, prices: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what a row is charged for each column, in units of the loss."""
    largest = float(prices.max(initial=0.0))
    if not largest > 0.0:
        return np.zeros(len(prices))
    relative = prices / largest
    return tradeoff * relative / float(relative.mean())


class _Samples:
    """The rows and columns that each tree sees."""

    def __init__(self, plan: PricedPlan, n_rows: int, n_columns: int) -> None:
        self.plan = plan
        self.every_row = np.arange(n_rows, dtype=np.int32)
        self.allowed = np.arange(n_columns)
        if plan.columns is not None:
            self.allowed = np.array(plan.columns)
        self.every_column = np.zeros(n_columns, dtype=np.uint8)
        self.every_column[self.allowed] = 1

    def draw(self, number: int) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        """Return the rows, ascending, and which columns, of a round."""
        if not self.plan.is_bagged:
            return self.every_row, self.every_column
        rng = np.random.default_rng([self.plan.seed, number])
        n_rows = max(1, round(BAGGING * len(self.every_row)))
        rows = np.sort(rng.permutation(len(self.every_row))[:n_rows])
        n_columns = max(1, round(COLUMNS * len(self.allowed)))
        columns = np.zeros_like(self.every_column)
        columns[rng.permutation(self.allowed)[:n_columns]] = 1
        return rows.astype(np.int32), columns


def _read_tree(grower: TreeGrower, tests: tuple[Test, ...], rate: float) -> SourceTree:
    """Return the tree that was grown last, by raw values."""
    column, cut, left, right, missing_left, goes_left, value, weight = grower.tree()
    threshold = np.zeros(len(column))
    sets = {}
    for node in np.flatnonzero(column >= 0).tolist():
        test = tests[column[node]]
        if test.kind == "category":
            levels = goes_left[node].astype(bool)
            missing_left[node] = levels[test.missing_code]
            sets[node] = SetSplit(_Levels(levels))
        else:
            # Beyond the last cut there are missing values only.
            cuts = test.cuts
            threshold[node] = cuts[cut[node]] if cut[node] < len(cuts) else np.inf
    return SourceTree(
        column, threshold, left, right, missing_left.astype(bool), rate * value, weight,
        sets=sets,
    )  # fmt: skip


@dataclass(frozen=True)
class _Levels:
    """Which levels of a category go left."""

    goes_left: NDArray[np.bool_]

    def __call__(self, positions: NDArray[np.float64]) -> NDArray[np.bool_]:
        return self.goes_left[positions.astype(np.int64)]


def _constant_tree(n_outputs: int) -> SourceTree:
    leaf = np.array([-1], dtype=np.int32)
    return SourceTree(
        leaf, np.zeros(1), leaf, leaf, np.zeros(1, dtype=bool),
        np.zeros((1, n_outputs)), np.ones(1),
    )  # fmt: skip
