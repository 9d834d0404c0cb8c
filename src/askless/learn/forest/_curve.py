"""Measure a forest as its trees are added: error and cost on rows of known class.

This module must not know how the forest was grown, nor what is chosen on the curve.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.learn._validation import ValidationPoint, standard_error
from askless.policy import Forest, decide_classes
from askless.problem._tests import CodeArray

__all__ = ["CodedRows", "ForestPoint", "best_within", "measure_path"]

# Rows measured at a time, which bounds the memory whatever the number of rows.
CHUNK = 8192


@dataclass(frozen=True, kw_only=True)
class ForestPoint(ValidationPoint):
    """The first trees of a forest, measured on validation rows.

    Attributes
    ----------
    alpha : float
        The threshold that the trees were grown with.
    n_estimators : int
        How many trees.
    cost, cost_spread, cost_stderr, error, n_rows
        See :class:`ValidationPoint`. Out-of-bag errors are those of the rows that some
        tree has not seen.

    Examples
    --------
    >>> from askless import BudgetForestClassifier
    >>> X, y = [[1], [2], [8], [9]] * 9, ["low", "low", "high", "high"] * 9
    >>> forest = BudgetForestClassifier([3], budget=3, alpha=0, random_state=0)
    >>> point = forest.fit(X, y).path()[0]
    >>> point.alpha, point.n_estimators, point.cost
    (0.0, 1, 3.0)
    """

    alpha: float
    n_estimators: int


@dataclass(frozen=True)
class CodedRows:
    """The rows that forests are measured on, coded once for all of them.

    Attributes
    ----------
    codes : ndarray of shape (n_tests, n_rows)
        The rows, coded by the tests of the forests.
    class_ids : ndarray of shape (n_rows,)
        The true class of each row; -1 for one that was never seen.
    weights : ndarray of shape (n_rows,) or None
        The weight of each row.
    is_out_of_bag : ndarray of bool of shape (n_trees, n_rows) or None
        Whether each row was left out of the sample of each tree. Then only those trees
        vote on a row, and rows without any vote are not judged.
    taken : ndarray of int of shape (n_rows,) or None
        Which of the coded rows these are; None for all of them.
    """

    codes: CodeArray
    class_ids: NDArray[Any]
    weights: NDArray[np.float64] | None = None
    is_out_of_bag: NDArray[np.bool_] | None = None
    taken: NDArray[np.intp] | None = None

    def take_codes(self, part: slice) -> CodeArray:
        """Return the codes of some rows."""
        return self.codes[:, part if self.taken is None else self.taken[part]]


def measure_path(
    forest: Forest, rows: CodedRows, alpha: float, n_jobs: int
) -> list[ForestPoint]:
    """Return a point for the first tree, the first two, and so on."""
    n_rows, n_trees = len(rows.class_ids), forest.n_trees
    weights = np.ones(n_rows) if rows.weights is None else rows.weights
    cost, square = np.zeros(n_trees), np.zeros(n_trees)
    wrong, judged = np.zeros(n_trees), np.zeros(n_trees)
    out_of_bag = rows.is_out_of_bag
    for start in range(0, n_rows, CHUNK):
        part = slice(start, min(n_rows, start + CHUNK))
        leaf, paid = forest.walk_path_codes(rows.take_codes(part), n_jobs=n_jobs)
        cost += paid @ weights[part]
        square += paid**2 @ weights[part]
        votes = np.zeros((len(leaf), len(forest.classes)))
        for tree in range(n_trees):
            left_out = None if out_of_bag is None else out_of_bag[tree, part]
            _vote(forest, votes, leaf[:, tree], left_out)
            has_vote = np.True_ if left_out is None else votes.any(axis=1)
            is_wrong = _decide(forest, votes) != rows.class_ids[part]
            wrong[tree] += weights[part] @ (is_wrong & has_vote)
            judged[tree] += (weights[part] * has_vote).sum()
    mean = cost / weights.sum()
    spread = np.sqrt(np.maximum(square / weights.sum() - mean**2, 0.0))
    return [
        ForestPoint(
            alpha=alpha,
            n_estimators=tree + 1,
            cost=float(mean[tree]),
            cost_spread=float(spread[tree]),
            cost_stderr=standard_error(float(spread[tree]), n_rows, weights),
            error=float(wrong[tree] / judged[tree]) if judged[tree] > 0 else 1.0,
            n_rows=n_rows,
        )
        for tree in range(n_trees)
    ]


def _vote(forest: Forest, votes: Any, leaf: Any, left_out: Any) -> None:
    """Add the vote of a tree on each row, or on those that are left out of its bag."""
    rows = np.arange(len(leaf))
    if left_out is not None:
        rows, leaf = rows[left_out], leaf[left_out]
    if forest.voting == "votes":
        votes[rows, forest.node_decision[leaf]] += 1.0
        return
    counts = np.diff(forest.weight_start)[leaf]
    entry = np.repeat(forest.weight_start[leaf], counts) + _within(counts)
    np.add.at(
        votes,
        (np.repeat(rows, counts), forest.weight_class[entry]),
        forest.weight[entry],
    )


def _within(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return 0, 1, ... within each run of the given lengths."""
    ends = np.cumsum(counts)
    return np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - counts, counts)


def _decide(forest: Forest, votes: NDArray[np.float64]) -> NDArray[Any]:
    if forest.voting == "counts" and forest.mistakes is not None:
        return decide_classes(votes, forest.mistakes)
    return np.asarray(np.argmax(votes, axis=1))


def best_within(path: list[ForestPoint], budget: float | None) -> ForestPoint | None:
    """Return the point of least error within a budget; None if there is none.

    For each alpha, trees are added while the mean cost is within the budget.

    Examples
    --------
    >>> def point(alpha, n_estimators, cost, error):
    ...     return ForestPoint(
    ...         alpha=alpha, n_estimators=n_estimators, cost=cost, cost_spread=0.0,
    ...         cost_stderr=0.0, error=error, n_rows=9)
    >>> path = [point(0.0, 1, 2.0, 0.3), point(0.0, 2, 8.0, 0.1), point(4.0, 1, 1, 0.4)]
    >>> [best_within(path, budget).error for budget in (8.0, 7.9, 1.9)]
    [0.1, 0.3, 0.4]
    """
    limit = np.inf if budget is None else budget
    last: dict[float, ForestPoint] = {}
    is_over: set[float] = set()
    for point in path:
        if point.cost > limit:
            is_over.add(point.alpha)
        elif point.alpha not in is_over:
            last[point.alpha] = point
    return min(last.values(), key=lambda p: (p.error, p.cost), default=None)
