"""Decide: the class to answer, given how much weight each class has left."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["decide_classes", "decide_nodes"]

# Weights closer than this, relatively, tie: rounding must not decide.
TOLERANCE = 1e-12
# Nodes decided at a time where their weights are laid out class by class.
CHUNK = 16_384


def decide_classes(
    class_weights: NDArray[np.float64], mistakes: NDArray[np.float64] | None = None
) -> NDArray[np.int32]:
    """Return the class of least expected mistake cost; on a tie, the first.

    Parameters
    ----------
    class_weights : ndarray of shape (n, n_classes)
        Weight of each class.
    mistakes : ndarray of shape (n_classes, n_classes), optional
        ``mistakes[true][decision]``; equal for all mistakes by default.

    Examples
    --------
    >>> weights = np.array([[3.0, 1.0], [2.0, 2.0]])
    >>> decide_classes(weights)
    array([0, 0], dtype=int32)
    >>> decide_classes(weights, np.array([[0.0, 1.0], [9.0, 0.0]]))
    array([1, 1], dtype=int32)
    """
    if mistakes is None:
        gains = class_weights
    else:
        # Scaled, so that large weights times large costs stay finite; negative, so that
        # both rules take the first maximum.
        largest = class_weights.max(axis=1, keepdims=True)
        gains = -(class_weights / np.where(largest > 0, largest, 1.0) @ mistakes)
    best = gains.max(axis=1, keepdims=True)
    # Gains are sums of terms of one sign, so their rounding is relative to themselves.
    is_best = gains >= best - TOLERANCE * np.abs(best)
    return np.asarray(np.argmax(is_best, axis=1), dtype=np.int32)


def decide_nodes(
    weight_start: NDArray[np.int64],
    weight_class: NDArray[np.int32],
    weight: NDArray[np.float64],
    mistakes: NDArray[np.float64] | None = None,
) -> NDArray[np.int32]:
    """Return what ``decide_classes`` would for each node, given sparse weights.

    Where no class of a node has a weight, all that are listed count the same.

    Parameters
    ----------
    weight_start : ndarray of shape (n_nodes + 1,)
        Where the weights of each node begin; every node has one.
    weight_class, weight : ndarray
        Classes, ascending within a node, and their weights.
    mistakes : ndarray of shape (n_classes, n_classes), optional
        ``mistakes[true][decision]``.

    Examples
    --------
    >>> starts = np.array([0, 2, 3])
    >>> decide_nodes(starts, np.array([0, 2, 1], np.int32), np.array([1.0, 3.0, 5.0]))
    array([2, 1], dtype=int32)
    """
    counts = np.diff(weight_start)
    n_nodes = len(counts)
    owner = np.repeat(np.arange(n_nodes), counts)
    if mistakes is None:
        best = np.maximum.reduceat(weight, weight_start[:-1])
        total = np.add.reduceat(weight, weight_start[:-1])
        least = best - TOLERANCE * np.maximum(best, total)
        ties = np.flatnonzero(weight >= least[owner])
        # Classes ascend within a node, so the first of a tie is the smallest class.
        is_first = np.append(True, owner[ties[1:]] != owner[ties[:-1]])
        return np.asarray(weight_class[ties[is_first]], dtype=np.int32)
    decision = np.empty(n_nodes, dtype=np.int32)
    for first in range(0, n_nodes, CHUNK):
        last = min(n_nodes, first + CHUNK)
        entries = slice(weight_start[first], weight_start[last])
        place = (owner[entries] - first, weight_class[entries])
        dense = np.zeros((last - first, len(mistakes)))
        dense[place] = weight[entries]
        listed = np.zeros_like(dense)
        listed[place] = 1.0
        empty = ~dense.any(axis=1)
        dense[empty] = listed[empty]
        decision[first:last] = decide_classes(dense, mistakes)
    return decision
