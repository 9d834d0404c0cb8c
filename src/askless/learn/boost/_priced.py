"""Grow a booster whose trees know what each row has bought.

A split charges the rows of its leaf that no tree has asked for the column before, as
LightGBM's lazy penalties do. But of several classes a round may add one tree, with a
value for each class in every leaf, so that all of them share what a split buys; and
rows that the trees so far are sure of are charged less, as they stop before they buy
what later trees ask for. This module must not know budgets, nor which of several
boosters is taken.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askless.learn.boost._booster_rows import BoosterRows
from askless.learn.boost._levels import LevelRows, choose_levels, list_marks
from askless.learn.boost._rounds import GrownTree, PricedPlan, grow_rounds
from askless.learn.sources import SetSplit, Source, SourceTree
from askless.policy import Output
from askless.problem import Outcome, Test

__all__ = ["grow_source"]


def grow_source(
    plan: PricedPlan,
    train: BoosterRows,
    valid: BoosterRows,
    classes: tuple[Outcome, ...],
    prices: NDArray[np.float64],
) -> tuple[Source, int]:
    """Return the trees of a booster, which part what rows hold, and its rounds.

    A tree with a value for each class becomes one for each class, alike but for values
    and weights: what is known of one class is then bounded apart from the others.

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
        lambda: choose_levels(train, n_classes, plan.n_leaves),
    )
    coded = train.keep(("codes", tests), lambda: LevelRows.of(train, tests))
    held_out = valid.keep(("codes", tests), lambda: LevelRows.of(valid, tests))
    start = _first_sums(coded, n_classes)
    grown, n_rounds = grow_rounds(plan, coded, held_out, start, prices)
    marks = list_marks(train, tests)
    trees = [part for tree in grown for part in _read_tree(tree, tests, marks)]
    categories = {
        i: test.outcomes for i, test in enumerate(tests) if test.kind == "category"
    }
    output = Output("logit" if n_classes == 2 else "softmax", tuple(start.tolist()))
    return Source(None, len(tests), classes, trees, output, categories), n_rounds


def _first_sums(coded: LevelRows, n_classes: int) -> NDArray[np.float64]:
    """Return where sums start: the log-odds of each class before anything is known."""
    totals = np.bincount(coded.class_ids, coded.weights, minlength=n_classes)
    # A class of which no row is left is next to impossible.
    logs = np.log(np.maximum(totals, 1e-9) / totals.sum())
    return np.asarray(logs[1:] - logs[0] if n_classes == 2 else logs)


def _read_tree(
    tree: GrownTree, tests: tuple[Test, ...], marks: list[NDArray[np.float64]]
) -> list[SourceTree]:
    """Return a tree for each sum that a tree adds to."""
    threshold, missing_left = np.zeros(len(tree.column)), tree.missing_left > 0
    sets = {}
    for node in np.flatnonzero(tree.column >= 0).tolist():
        test = tests[tree.column[node]]
        if test.kind == "category":
            levels = tree.goes_left[node] > 0
            missing_left[node] = levels[test.missing_code]
            sets[node] = SetSplit(_Levels(levels))
        else:
            threshold[node] = marks[tree.column[node]][tree.cut[node]]
    return [
        SourceTree(
            tree.column, threshold, tree.left, tree.right, missing_left,
            np.ascontiguousarray(tree.rate * tree.value[:, [k]]),
            np.ascontiguousarray(tree.weight[:, k]),
            output=k if tree.output is None else tree.output,
            sets=sets,
        )
        for k in range(tree.value.shape[1])
    ]  # fmt: skip


@dataclass(frozen=True)
class _Levels:
    """Which levels of a category go left."""

    goes_left: NDArray[np.bool_]

    def __call__(self, positions: NDArray[np.float64]) -> NDArray[np.bool_]:
        return self.goes_left[positions.astype(np.int64)]
