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
        # Largest weight minus cost, so that both rules take the first maximum.
        gains = -(class_weights @ mistakes)
    best = gains.max(axis=1, keepdims=True)
    slack = TOLERANCE * np.maximum(np.abs(best), class_weights.sum(1, keepdims=True))
    return np.argmax(gains >= best - slack, axis=1).astype(np.int32)
