"""How much each test of a policy matters: by what its splits tell, or by what it saves.

It must not know how a policy was found.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidOptionError, InvalidTableError
from askless.policy._base import Policy
from askless.policy._node_policy import NodePolicy
from askless.policy._nodes import Nodes
from askless.policy._number_tree import NumberTree
from askless.policy._walk_rows import walk_rows
from askless.policy.ensemble._ensemble import Ensemble
from askless.policy.ensemble._parts import EnsembleTrees
from askless.problem import as_costs
from askless.problem._column import clean_column

__all__ = ["gain_by_test", "saving_by_test"]

Floats = NDArray[np.float64]


def gain_by_test(policy: Policy) -> Floats:
    """Return, for each test, the share of the variance that its splits make.

    A leaf says a number, or the shares of the classes; a node says the mean of its
    leaves by their weights. A split makes as much variance as its branches differ from
    their mean. All zero where nothing is ever split.
    """
    if isinstance(policy, Ensemble):
        trees = policy.trees
        parent, ends = _ensemble_shape(trees)
        test, weight, value = trees.test, trees.weight * trees.is_leaf, trees.value
    elif isinstance(policy, NodePolicy):
        nodes = policy.nodes
        parent, ends, test = nodes.parent, nodes.subtree_end, nodes.test
        weight, value = _leaf_says(policy)
    else:
        raise InvalidOptionError(
            "by='gain' must have trees. Got a policy that is a "
            f"{type(policy).__name__}. Use by='saving', with rows of known class."
        )
    gains = np.zeros(len(policy.tests))
    inner = test >= 0
    np.add.at(gains, test[inner], _split_gains(parent, ends, weight, value)[inner])
    total = gains.sum()
    return np.asarray(gains / total) if total > 0 else gains


def _split_gains(
    parent: NDArray[Any], ends: NDArray[Any], weight: Floats, value: Floats
) -> Floats:
    """Return the variance that each split makes, times the weight that gets there."""
    sums = _sum_subtrees(weight[:, None] * value, ends)
    weights = _sum_subtrees(weight[:, None], ends)[:, 0]
    squares = (sums**2).sum(axis=1) / np.where(weights > 0, weights, 1.0)
    gains = -squares
    below = np.flatnonzero(parent >= 0)
    np.add.at(gains, parent[below], squares[below])
    # Rounding can leave a split that tells nothing a little below zero.
    return np.asarray(np.maximum(gains, 0.0))


def _sum_subtrees(values: Floats, ends: NDArray[Any]) -> Floats:
    """Return the sum of the values of the subtree of each node, in preorder."""
    before = np.vstack([np.zeros(values.shape[1]), np.cumsum(values, axis=0)])
    return np.asarray(before[ends] - before[:-1])


def _leaf_says(policy: NodePolicy) -> tuple[Floats, Floats]:
    """Return the weight of each leaf, and its number or the shares of its classes."""
    nodes = policy.nodes
    if isinstance(policy, NumberTree):
        weight = np.where(nodes.test < 0, nodes.total_weight, 0.0)
        return weight, policy.values[:, None]
    return _leaf_shares(nodes, len(policy.classes))


def _leaf_shares(nodes: Nodes, n_classes: int) -> tuple[Floats, Floats]:
    """Return the weight of each leaf, and the shares of the classes there."""
    owner = np.repeat(np.arange(nodes.n_nodes), np.diff(nodes.weight_start))
    value = np.zeros((nodes.n_nodes, n_classes))
    np.add.at(value, (owner, nodes.weight_class), nodes.weight)
    value[nodes.test >= 0] = 0.0
    weight = value.sum(axis=1)
    return weight, value / np.where(weight > 0, weight, 1.0)[:, None]


def _ensemble_shape(trees: EnsembleTrees) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the parent of each node, and one past the end of its subtree."""
    inner = np.flatnonzero(~trees.is_leaf)
    parent = np.full(trees.n_nodes, -1, dtype=np.int64)
    parent[inner + 1] = inner
    parent[trees.right[inner]] = inner
    ends = np.arange(1, trees.n_nodes + 1)
    # The subtree of a node ends with that of its right child, which comes later.
    for node in inner[::-1].tolist():
        ends[node] = ends[trees.right[node]]
    return parent, ends


def saving_by_test(
    policy: Policy, X: Any, y: Any, mistakes: Any, sample_weight: Any
) -> Floats:
    """Return what a row saves by each test on average, in mistakes less its price.

    Parameters
    ----------
    policy : Policy
        Of any kind that decides between classes.
    X, y, mistakes, sample_weight
        See :meth:`Policy.importances`.
    """
    matrix, true, weights = _check_rows(policy, X, y, mistakes, sample_weight)
    decisions: dict[int, int] = {}

    def decide(state: Any) -> int:
        # By identity: states that are alike may be asked again, which costs time only.
        if id(state) not in decisions:
            decisions[id(state)] = policy.decision(state)
        return decisions[id(state)]

    saved = np.zeros(len(policy.tests))
    kept = []
    for step in walk_rows(policy, X):
        kept.append(step)  # so that no identity is used twice
        before, after = decide(step.state), decide(step.after)
        of_rows = true[step.rows]
        gain = matrix[of_rows, before] - matrix[of_rows, after] - step.charged
        saved[step.test] += float(gain @ weights[step.rows])
    return saved


def _check_rows(
    policy: Policy, X: Any, y: Any, mistakes: Any, sample_weight: Any
) -> tuple[Floats, NDArray[np.int64], Floats]:
    if policy.answers_number:
        raise InvalidOptionError(
            "by='saving' must have decisions between classes. Got a policy that says "
            "numbers. Use by='gain'."
        )
    if X is None or y is None:
        raise InvalidOptionError(
            "by='saving' must have rows whose class is known. Got "
            f"{'no rows' if X is None else 'no classes'}. Give X and y."
        )
    matrix = policy.mistakes
    if mistakes is not None:
        priced = as_costs(None, len(policy.tests)).with_mistakes(mistakes)
        matrix = priced.mistake_matrix(policy.classes)
    if matrix is None:
        raise InvalidOptionError(
            "by='saving' must know what mistakes cost. Got no price of theirs, and the "
            "policy has none. Give mistakes, such as mistakes=100."
        )
    place = {known: i for i, known in enumerate(policy.classes)}
    known = clean_column(y, "y").tolist()
    true = np.array([place.get(label, -1) for label in known], dtype=np.int64)
    if not len(true) or (true < 0).any():
        strange = next((label for label in known if label not in place), None)
        raise InvalidTableError(
            "Every row must have a class that the policy knows, and there must be "
            f"rows. Got {strange!r} in {len(true)} rows. Leave such rows out."
        )
    weights = np.ones(len(true)) if sample_weight is None else sample_weight
    weights = np.asarray(weights, dtype=np.float64)
    return np.asarray(matrix), true, weights / weights.sum()
