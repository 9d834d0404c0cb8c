"""Measure a forest as its trees are added: error and cost on rows of known class.

This module must not know how the forest was grown, nor what is chosen by the curve.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from askless.policy import Forest, decide_classes

__all__ = ["ForestPoint", "Judges", "measure_path"]

# Rows measured at a time, which bounds the memory whatever the number of rows.
CHUNK = 8192


class ForestPoint(NamedTuple):
    """The first trees of a forest, measured.

    Attributes
    ----------
    alpha : float
        The threshold that the trees were grown with.
    n_trees : int
        How many trees.
    cost : float
        Mean cost of the rows that were measured.
    cost_spread : float
        Standard deviation of the cost from row to row.
    cost_error : float
        Standard error of the mean cost.
    error : float
        Share of these rows that is decided wrongly.
    """

    alpha: float
    n_trees: int
    cost: float
    cost_spread: float
    cost_error: float
    error: float


@dataclass(frozen=True)
class Judges:
    """The rows that a forest is measured on.

    Attributes
    ----------
    rows : callable
        Given a slice, the raw values of these rows.
    class_ids : ndarray of shape (n_rows,)
        The true class of each row.
    weights : ndarray of shape (n_rows,) or None
        What each row counts for.
    out_of_bag : callable or None
        Given the number of a tree, whether each row was left out of its sample. Then
        only those trees vote on a row, and rows without any are not judged.
    """

    rows: Callable[[slice], Any]
    class_ids: NDArray[Any]
    weights: NDArray[np.float64] | None = None
    out_of_bag: Callable[[int], NDArray[np.bool_]] | None = None


def measure_path(
    forest: Forest, judges: Judges, alpha: float, n_jobs: int
) -> list[ForestPoint]:
    """Return a point for the first tree, the first two, and so on."""
    n_rows, n_trees = len(judges.class_ids), forest.n_trees
    weights = np.ones(n_rows) if judges.weights is None else judges.weights
    cost, square = np.zeros(n_trees), np.zeros(n_trees)
    wrong, judged = np.zeros(n_trees), np.zeros(n_trees)
    absent = None
    if judges.out_of_bag is not None:
        absent = np.stack([judges.out_of_bag(tree) for tree in range(n_trees)])
    for start in range(0, n_rows, CHUNK):
        part = slice(start, min(n_rows, start + CHUNK))
        leaf, paid = forest.walk_path(judges.rows(part), n_jobs=n_jobs)
        cost += paid @ weights[part]
        square += paid**2 @ weights[part]
        votes = np.zeros((len(leaf), len(forest.classes)))
        for tree in range(n_trees):
            says = None if absent is None else absent[tree, part]
            _vote(forest, votes, leaf[:, tree], says)
            has_vote = votes.any(axis=1) if absent is not None else np.True_
            is_wrong = _decide(forest, votes) != judges.class_ids[part]
            wrong[tree] += weights[part] @ (is_wrong & has_vote)
            judged[tree] += (weights[part] * has_vote).sum()
    total = weights.sum()
    mean = cost / total
    spread = np.sqrt(np.maximum(square / total - mean**2, 0.0))
    # The number of rows of equal weight that would say as much.
    n_effective = total**2 / (weights**2).sum()
    return [
        ForestPoint(
            alpha,
            tree + 1,
            float(mean[tree]),
            float(spread[tree]),
            float(spread[tree] / np.sqrt(n_effective)),
            float(wrong[tree] / judged[tree]) if judged[tree] > 0 else 1.0,
        )
        for tree in range(n_trees)
    ]


def _vote(forest: Forest, votes: Any, leaf: Any, says: Any) -> None:
    """Add what a tree says about each row, if it says anything."""
    rows = np.arange(len(leaf))
    if says is not None:
        rows, leaf = rows[says], leaf[says]
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
