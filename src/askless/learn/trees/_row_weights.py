"""Bring the weights of rows into a range in which they can be added and compared.

Learners count rows by their weights: two rows of weight 1 are a row of weight 2. Beyond
a safe range weights only say how rows compare. This module must not know who learns.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from askless.learn._examples import CodedExamples

__all__ = ["scale_weights", "settle_examples", "settle_weights"]

Floats = NDArray[np.float64]

# A total beyond these is not told apart from that of one row more, or from nothing.
MOST_TOTAL = 2.0**53
LEAST_TOTAL = 2.0**-53
# Of the largest weight: no sum of rows can show a smaller one.
LEAST_SHARE = 2.0**-200


def settle_weights(weights: Floats | None, n_rows: int) -> Floats:
    """Return weights as they are if they are in a safe range, else scaled to one a row.

    Parameters
    ----------
    weights : ndarray of shape (n_rows,) or None
        Positive; None for one each.
    n_rows : int
        How many rows there are.

    Examples
    --------
    >>> settle_weights(np.array([0.5, 3.0]), 2)
    array([0.5, 3. ])
    >>> settle_weights(np.array([1e300, 3e300]), 2)
    array([0.5, 1.5])
    >>> settle_weights(np.array([1e-300, 3e-300]), 2)
    array([0.5, 1.5])
    """
    if weights is None:
        return np.ones(n_rows)
    return weights if _is_safe(weights) else scale_weights(weights)


def settle_examples(examples: CodedExamples) -> CodedExamples:
    """Return examples whose weights are in a safe range."""
    if examples.weights is None:
        return examples
    weights = settle_weights(examples.weights, len(examples.weights))
    return replace(examples, weights=weights)


def scale_weights(weights: Floats) -> Floats:
    """Return weights that are one a row on average, and compare as the given ones do.

    Examples
    --------
    >>> scale_weights(np.array([1.0, 3.0]))
    array([0.5, 1.5])
    """
    if not _is_safe(weights):
        # Neither the sum nor a quotient may leave the range of numbers.
        weights = np.maximum(weights / weights.max(), LEAST_SHARE)
    scaled: Floats = weights / weights.mean()
    return scaled


def _is_safe(weights: Floats) -> bool:
    if not len(weights):
        return True
    with np.errstate(over="ignore"):
        total = float(weights.sum())
    return bool(
        LEAST_TOTAL <= total <= MOST_TOTAL
        and weights.min() >= LEAST_SHARE * weights.max()
    )
