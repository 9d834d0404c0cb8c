"""Decide: the class to answer, given how much weight each class has left."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["decide_classes"]

# Weights closer than this, relatively, tie: rounding must not decide.
TOLERANCE = 1e-12


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
