"""Calibrate the shares of a forest on rows that it has not seen.

How sure it may be of its classes, and how much class noise it leaves. This module
must not know how the forest was grown, nor what tests cost.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["measure_noise", "scale_classes", "sharpen_shares"]

Floats = NDArray[np.float64]

# Powers that may be taken, and how much more likely, in logarithms, classes must be for
# a power of e instead of 1: of few rows, the best power is mostly chance.
POWERS = np.arange(5, 41) / 10.0
RELUCTANCE = 2.0
# How much of the prior is mixed in first: a forest may not rule a class out.
PRIOR_SHARE = 0.02
# A forest that leaves this share of the error, or cost, of always deciding alike finds
# no less class noise than one that leaves all of it.
MOST_NOISE = 0.5


def scale_classes(mistakes: Floats) -> Floats:
    """Return how much a row of each class matters: by what a mistake on it costs.

    Examples
    --------
    >>> scale_classes(np.array([[0.0, 1.0], [4.0, 0.0]]))
    array([0.25, 1.  ])
    """
    by_class: Floats = mistakes.sum(axis=1)
    most = by_class.max()
    return by_class / most if most > 0 else np.ones(len(mistakes))


def sharpen_shares(
    shares: Floats, class_ids: NDArray[np.int32], weights: Floats
) -> Floats:
    """Return shares to the power that makes the classes of the rows most likely.

    The mean of many trees is less sure than it could be where classes are clear, and
    too sure where they are not.

    Parameters
    ----------
    shares : ndarray of shape (n_rows, n_classes)
        Of trees that have not seen the row.
    class_ids, weights : ndarray of shape (n_rows,)
        The class of each row, and how many rows it stands for.

    Examples
    --------
    Nine of ten rows are what the forest takes for a little more likely:

    >>> shares = np.array([[0.6, 0.4]] * 100 + [[0.4, 0.6]] * 100)
    >>> classes = np.array([0] * 90 + [1] * 100 + [0] * 10, dtype=np.int32)
    >>> sharpen_shares(shares, classes, np.ones(200))[0].round(2)
    array([0.83, 0.17])
    """
    prior = _class_prior(class_ids, weights, shares.shape[1])
    logs = np.log(shares + PRIOR_SHARE * prior + 1e-300)
    logs -= logs.max(axis=1, keepdims=True)
    own = weights @ logs[np.arange(len(logs)), class_ids]

    def log_likelihood(at: int) -> float:
        power = float(POWERS[at])
        rest = weights @ np.log(np.exp(power * logs).sum(axis=1))
        return float(power * own - rest - RELUCTANCE * np.log(power) ** 2)

    # The likelihood has one maximum: go up to it from the power that changes nothing.
    at = int(np.argmin(np.abs(POWERS - 1.0)))
    here = log_likelihood(at)
    for step in (1, -1):
        while 0 <= at + step < len(POWERS):
            there = log_likelihood(at + step)
            if there <= here:
                break
            at, here = at + step, there
    sharp: Floats = np.exp(POWERS[at] * logs)
    sharp /= sharp.sum(axis=1, keepdims=True)
    return sharp


def measure_noise(
    shares: Floats,
    class_ids: NDArray[np.int32],
    weights: Floats,
    mistakes: Floats,
) -> float:
    """Return how noisy the classes are, from 0 (all can be told) to 1 (as can be).

    It is the larger of two parts: of the share of wrong classes, and of what mistakes
    cost, that knowing nothing but the frequencies of the classes would leave.

    Parameters
    ----------
    shares : ndarray of shape (n_rows, n_classes)
        Of trees that have not seen the row.
    class_ids, weights : ndarray of shape (n_rows,)
        The class of each row, and how many rows it stands for.
    mistakes : ndarray of shape (n_classes, n_classes)
        ``mistakes[true][decision]``.

    Examples
    --------
    >>> classes, mistakes = np.array([0, 1], dtype=np.int32), 1.0 - np.eye(2)
    >>> shares = np.array([[0.875, 0.125], [0.125, 0.875]])
    >>> measure_noise(shares, classes, np.ones(2), mistakes)
    0.5
    >>> measure_noise(np.full((2, 2), 0.5), classes, np.ones(2), mistakes)
    1.0
    """
    total = weights.sum()
    prior = _class_prior(class_ids, weights, shares.shape[1])
    own = shares[np.arange(len(shares)), class_ids]
    decided = np.argmin(shares @ mistakes, axis=1)
    left = (
        (weights @ (1.0 - own) / total, prior @ (1.0 - prior)),
        (weights @ mistakes[class_ids, decided] / total, (prior @ mistakes).min()),
    )
    parts = [float(part / whole) for part, whole in left if whole > 0]
    return min(1.0, max(parts, default=1.0) / MOST_NOISE)


def _class_prior(
    class_ids: NDArray[np.int32], weights: Floats, n_classes: int
) -> Floats:
    counts = np.bincount(class_ids, weights=weights, minlength=n_classes)
    prior: Floats = counts / counts.sum()
    return prior
