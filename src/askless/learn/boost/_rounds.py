"""Grow the rounds of one booster of Askless: of a tree for all classes, or for each.

Rounds are added until validation rows are told no better. This module must not know
raw values, nor how a policy is made of trees.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askless._core.boost._grow import TreeGrower
from askless._core.boost._losses import log_loss, write_charges, write_derivatives
from askless.learn.boost._levels import LevelRows

__all__ = ["GrownTree", "PricedPlan", "grow_rounds"]

# Rows of a leaf, at least.
LEAST_ROWS = 5
# Rounds in which the loss of the validation rows does not fall by such a share, after
# which no more are tried. More of either changed costs and errors by less than 1 %.
PATIENCE, LEAST_FALL = 15, 5e-4
# Rounds in a row that part nothing, after which none will: by chance, if rows or
# columns are drawn.
MOST_IDLE = 10
# Where a split is not bought, a tree is taken at the mean of its sides. By second
# derivatives, that is what the leaf would say if it had not been parted; but rows that
# the booster is sure of then hardly count, though some of them are still to come:
# nursery errs 17.6 % instead of 9.8 at the same budgets. So some of a weight is what
# rows weigh: a share of it with one value a leaf, and another with one for each class.
# Beside rows alone, that errs 1 and 2 % less at the same budgets.
BY_ROWS_ONE, BY_ROWS_SEVERAL = 0.2, 0.5


@dataclass(frozen=True)
class PricedPlan:
    """How one booster is grown.

    Attributes
    ----------
    tradeoff : float
        How much costs count, in units of the mean cost.
    n_rounds : int
        The most rounds of boosting.
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
    is_apart : bool
        Whether a round adds a tree for each class, not one for all of them.
    row_share, column_share : float
        Of the rows, how many a round is grown on; of the columns, how many each split
        chooses from. Both are drawn.
    patience : int or None
        How many rounds may tell validation rows no better; None if these do not end it.
    """

    tradeoff: float
    n_rounds: int
    n_leaves: int
    learning_rate: float
    l2: float = 1.0
    columns: tuple[int, ...] | None = None
    n_jobs: int = 1
    is_apart: bool = False
    row_share: float = 1.0
    column_share: float = 1.0
    patience: int | None = PATIENCE

    @property
    def most_idle(self) -> int:
        """How many rounds in a row may part nothing."""
        return MOST_IDLE if min(self.row_share, self.column_share) < 1.0 else 1


@dataclass(frozen=True)
class GrownTree:
    """A tree as the grower has it.

    Attributes
    ----------
    column, cut, left, right : ndarray of shape (n_nodes,)
        A column of -1 is a leaf.
    missing_left : ndarray of shape (n_nodes,)
    goes_left : ndarray of shape (n_nodes, n_codes)
        Of categories: which codes go left.
    value, weight : ndarray of shape (n_nodes, n_outputs)
    output : int or None
        The one sum that it adds to; None if to all.
    rate : float
        How much of it is added.
    """

    column: NDArray[np.int32]
    cut: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    missing_left: NDArray[np.uint8]
    goes_left: NDArray[np.uint8]
    value: NDArray[np.float64]
    weight: NDArray[np.float64]
    output: int | None
    rate: float

    @classmethod
    def nothing(cls, n_outputs: int) -> GrownTree:
        """Return a tree that asks nothing and says nothing."""
        leaf, zero = np.array([-1], np.int32), np.zeros(1, np.uint8)
        value, weight = np.zeros((1, n_outputs)), np.ones((1, n_outputs))
        return cls(
            leaf, leaf, leaf, leaf, zero, zero[:, None], value, weight, None, 0.0
        )


def grow_rounds(
    plan: PricedPlan,
    coded: LevelRows,
    held_out: LevelRows,
    start: NDArray[np.float64],
    prices: NDArray[np.float64],
) -> tuple[list[GrownTree], int]:
    """Return the trees up to the round that tells the validation rows best.

    Without patience, of all rounds. The second is how many rounds these are.

    Parameters
    ----------
    plan : PricedPlan
        How to grow them.
    coded, held_out : LevelRows
        Rows to grow on, and validation rows.
    start : ndarray of shape (n_outputs,)
        Where sums start.
    prices : ndarray of shape (n_columns,)
        What each column costs.
    """
    booster = _Booster(plan, coded, held_out, start, prices)
    rounds: list[list[GrownTree]] = []
    best, n_kept, n_idle = booster.loss(), 0, 0
    for number in range(plan.n_rounds):
        rounds.append(booster.add_round(number))
        n_idle = 0 if rounds[-1] else n_idle + 1
        if n_idle == plan.most_idle:
            break  # no split is worth its price, nor will be
        loss = booster.loss()
        if plan.patience is None or loss < best * (1.0 - LEAST_FALL):
            best, n_kept = loss, len(rounds)
        elif len(rounds) - n_kept >= plan.patience:
            break
    kept = [tree for trees in rounds[:n_kept] for tree in trees]
    # One that buys nothing is a booster, too.
    return kept or [GrownTree.nothing(len(start))], n_kept


class _Booster:
    """The sums of rows, as trees are added to them."""

    def __init__(
        self,
        plan: PricedPlan,
        coded: LevelRows,
        held_out: LevelRows,
        start: NDArray[np.float64],
        prices: NDArray[np.float64],
    ) -> None:
        n_rows, n_outputs = len(coded.class_ids), len(start)
        is_apart = plan.is_apart and n_outputs > 1
        self.plan, self.coded, self.held_out = plan, coded, held_out
        # What each tree of a round adds to.
        self.outputs = list(range(n_outputs)) if is_apart else [None]
        has_one = is_apart or n_outputs == 1
        self.by_rows = BY_ROWS_ONE if has_one else BY_ROWS_SEVERAL
        self.grower = TreeGrower(
            coded.codes, coded.n_levels, coded.is_category, coded.weights,
            n_outputs=1 if is_apart else n_outputs, n_leaves=plan.n_leaves, l2=plan.l2,
            least_rows=LEAST_ROWS, n_threads=plan.n_jobs,
        )  # fmt: skip
        self.charged, self.per_row = _charge(plan.tradeoff, prices), np.empty(n_rows)
        self.sums = np.tile(start, (n_rows, 1))
        self.held_sums = np.tile(start, (len(held_out.class_ids), 1))
        self.derivatives = np.empty((n_rows, 2 * n_outputs))
        # A row that weighs nothing is as good as none.
        self.rows = np.flatnonzero(coded.weights > 0).astype(np.int32)
        self.columns = _allow(plan, len(coded.tests))
        n_columns = int(self.columns.sum())
        self.n_drawn = max(1, round(plan.column_share * n_columns))

    def loss(self) -> float:
        """Return the log loss of the validation rows."""
        known = self.held_out
        return log_loss(self.held_sums, known.class_ids, known.weights)

    def add_round(self, number: int) -> list[GrownTree]:
        """Add the trees of a round, and return those that part something."""
        coded = self.coded
        write_derivatives(self.sums, coded.class_ids, coded.weights, self.derivatives)
        write_charges(self.derivatives, coded.weights, self.per_row)
        rows = self._draw_rows(number)
        trees = [self._add_tree(output, rows, number) for output in self.outputs]
        return [tree for tree in trees if tree is not None]

    def _draw_rows(self, number: int) -> NDArray[np.int32]:
        if self.plan.row_share >= 1.0:
            return self.rows
        n_drawn = max(1, round(self.plan.row_share * len(self.rows)))
        drawn = np.random.default_rng([number, 0]).permutation(self.rows)[:n_drawn]
        return np.sort(drawn)

    def _add_tree(
        self, output: int | None, rows: NDArray[np.int32], number: int
    ) -> GrownTree | None:
        n_outputs, rate = self.sums.shape[1], self.plan.learning_rate
        derivatives = self.derivatives
        if output is not None:
            both = [output, n_outputs + output]
            derivatives = np.ascontiguousarray(derivatives[:, both])
        seed = number * n_outputs + (output or 0)
        n_nodes = self.grower.grow(
            derivatives, self.charged, self.per_row, rows, self.columns, self.n_drawn,
            seed,
        )  # fmt: skip
        if n_nodes == 1:
            return None
        told = slice(None) if output is None else [output]
        # Copies, of one class: the grower wants sums side by side.
        sums, held_sums = self.sums[:, told], self.held_sums[:, told]
        if len(rows) < len(self.rows):
            self.grower.add_walked(self.coded.codes, sums, rate)
        else:
            self.grower.add_grown(sums, rate)
        self.grower.add_walked(self.held_out.codes, held_sums, rate)
        self.sums[:, told], self.held_sums[:, told] = sums, held_sums
        return GrownTree(*self.grower.tree(self.by_rows), output, rate)


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
