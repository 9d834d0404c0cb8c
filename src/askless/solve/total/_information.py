"""What bits are worth: capacities of tests, and losses that open bits force.

It knows chances and mistakes, and nothing of tables or tests.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["find_capacity", "find_enough", "least_losses", "least_stakes"]

Floats = NDArray[np.float64]
ROUNDS = 200
MOST_STEPS = 4096
# Tables of losses take no more room than this many numbers.
MOST_NUMBERS = 4_000_000


def find_capacity(chances: Floats) -> tuple[float, Floats]:
    """Return an upper bound of the bits that a test tells about a case, for any prior.

    Blahut's and Arimoto's rounds; whatever the weights of the cases, the largest
    divergence of a case from the mixture is an upper bound.

    Parameters
    ----------
    chances : ndarray of shape (n_outcomes, n_cases)
        The chance of each outcome for each case.

    Returns
    -------
    bits : float
    mixture : ndarray of shape (n_outcomes,)
        The chance of each outcome where cases are as likely as tells most.

    Examples
    --------
    >>> bits, mixture = find_capacity(np.array([[0.9, 0.1], [0.1, 0.9]]))
    >>> round(bits, 3), mixture.round(3).tolist()
    (0.531, [0.5, 0.5])
    """
    chances = np.unique(chances, axis=1)
    weights = np.full(chances.shape[1], 1.0 / chances.shape[1])
    logs = np.zeros_like(chances)
    np.log2(chances, out=logs, where=chances > 0)
    own = (chances * logs).sum(axis=0)
    best = np.inf
    for _ in range(ROUNDS):
        mixture = chances @ weights
        spread = np.zeros_like(mixture)
        np.log2(mixture, out=spread, where=mixture > 0)
        divergence = own - spread @ chances
        best = min(best, float(divergence.max()))
        if best - float(divergence @ weights) < 1e-9:
            break
        weights = weights * np.exp2(divergence - divergence.max())
        weights /= weights.sum()
    return max(0.0, best) * (1 + 1e-12), np.asarray(chances @ weights)


def least_stakes(mistakes: Floats) -> float:
    """Return what being wrong about the class costs at least, beyond deciding best.

    Whatever is decided, at most one class loses less than this.

    Examples
    --------
    >>> least_stakes(np.array([[0.0, 5.0], [20.0, 0.0]]))
    5.0
    """
    excess = mistakes - mistakes.min(axis=1, keepdims=True)
    if len(excess) < 2:
        return 0.0
    return float(np.partition(excess, 1, axis=0)[1].min())


def least_losses(n_classes: int, stakes: float) -> tuple[Floats, Floats]:
    """Return the least loss that open bits force, by the number of classes left.

    Fano's inequality: with k classes and the chance e to be wrong, at most
    ``H(e) + e log2(k - 1)`` bits are open.

    Returns
    -------
    wrong : ndarray of shape (n_classes + 1, n_steps + 1)
        Row k: the loss for 0, 1, 2, ... steps of open bits.
    widths : ndarray of shape (n_classes + 1,)
        The bits of a step.
    """
    n_steps = max(64, min(MOST_STEPS, MOST_NUMBERS // (n_classes + 1)))
    wrong = np.zeros((n_classes + 1, n_steps + 1))
    widths = np.zeros(n_classes + 1)
    for k in range(2, n_classes + 1):
        widths[k] = np.log2(k) / n_steps
        wrong[k] = stakes * _least_error(widths[k] * np.arange(n_steps + 1), k)
    return wrong, widths


def _least_error(bits: Floats, k: int) -> Floats:
    """Return the least chance to be wrong with so many bits open, by bisection."""
    low = np.zeros_like(bits)
    high = np.full_like(bits, 1.0 - 1.0 / k)
    for _ in range(48):
        middle = (low + high) / 2
        inside = np.clip(middle, 1e-300, 1 - 1e-16)
        most = -(inside * np.log2(inside) + (1 - inside) * np.log2(1 - inside))
        most += inside * np.log2(max(1, k - 1))
        is_low = most < bits
        low = np.where(is_low, middle, low)
        high = np.where(is_low, high, middle)
    return low


def find_enough(wrong: Floats, widths: Floats, rate: Floats) -> tuple[Floats, Floats]:
    """Return at how many open bits a test is no longer worth its rate.

    Returns
    -------
    enough, slack : ndarray of shape (n_classes + 1, n_tests)
        The bits, a whole number of steps; and how much less than there the least sum
        of price and loss may be, between two steps.
    """
    enough = np.zeros((len(wrong), len(rate)))
    slack = np.zeros_like(enough)
    for k in range(2, len(wrong)):
        width = widths[k]
        slopes = np.diff(wrong[k]) / width
        slopes = np.maximum.accumulate(slopes)
        step = np.searchsorted(slopes, rate)
        enough[k] = step * width
        left = np.where(step > 0, rate - slopes[np.maximum(step - 1, 0)], rate)
        right = slopes[np.minimum(step, len(slopes) - 1)] - rate
        slack[k] = width * np.maximum(
            0.0, np.where(step < len(slopes), np.maximum(left, right), 0.0)
        )
    return enough, slack
