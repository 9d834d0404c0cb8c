"""The trade-off of early stopping: cost and error for each impurity to stop at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from askless._core.greedy._criteria import Criterion, measure_impurity
from askless.solve._task import Task
from askless.solve.greedy._greedy import grow_by_criterion
from askless.solve.greedy._impurities import CriterionOptions, make_criterion
from askless.solve.tradeoff._prune import prune_tree, wrong_weights

__all__ = ["CurvePoint", "error_cost_curve"]


@dataclass(frozen=True)
class CurvePoint:
    """What stopping at an impurity costs.

    Attributes
    ----------
    worst_cost, error : float
        Of the tree.
    delta : float
        The largest impurity at which growth stops.
    """

    worst_cost: float
    error: float
    delta: float


def error_cost_curve(
    task: Task, **options: Unpack[CriterionOptions]
) -> list[CurvePoint]:
    """Return the trade-off of early stopping: a point for each delta that matters.

    An impurity never rises along a path, so the tree that stops at delta is the whole
    tree cut at the first nodes of at most that impurity: one grown tree has the whole
    curve.

    Parameters
    ----------
    task : Task
        What to solve.
    **options
        ``impurity``, ``split``, ``power``, ``alpha`` and ``terms``; see
        :func:`askless.solve.greedy._impurities.make_criterion`.

    Returns
    -------
    list of CurvePoint
        By falling delta: from deciding at once to the whole tree.

    Examples
    --------
    >>> from askless.datasets import make_synthetic_1024
    >>> from askless.solve._solve import make_task
    >>> task = make_task(make_synthetic_1024(), "worst", "class")
    >>> for point in error_cost_curve(task)[:3]:
    ...     print(point.worst_cost, 1024 * point.error, point.delta)
    0.0 768.0 393216.0
    1.0 512.0 ...
    """
    criterion = make_criterion(task.classes, **options)
    tree = grow_by_criterion(task, criterion)
    impurities = _node_impurities(task, criterion)
    above = np.where(tree.parent < 0, np.inf, impurities[tree.parent])
    wrong = wrong_weights(tree)
    points = []
    for delta in [*np.unique(impurities[tree.test >= 0])[::-1].tolist(), 0.0]:
        is_leaf = (above > delta) & ((impurities <= delta) | (tree.test < 0))
        worst = float(tree.spent[is_leaf].max())
        if tree.prices.delayed.any():
            worst = prune_tree(tree, impurities <= delta).worst_cost
        error = float(wrong[is_leaf].sum()) / float(tree.node_weight[0])
        points.append(CurvePoint(worst, error, delta))
    return points


def _node_impurities(task: Task, criterion: Criterion) -> NDArray[np.float64]:
    """Return the impurity of each node of a tree, never above that of its parent."""
    tree = grow_by_criterion(task, criterion, keeps_counts=True)
    impurities = np.array(
        [
            measure_impurity(criterion, tree.class_weights(v))
            for v in range(tree.n_nodes)
        ]
    )
    for node in range(1, tree.n_nodes):
        # Only rounding could make it so.
        impurities[node] = min(impurities[node], impurities[tree.parent[node]])
    return impurities
