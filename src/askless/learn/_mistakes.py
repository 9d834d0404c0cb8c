"""Settle what a mistake costs a learner that must weigh tests against mistakes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.problem import Costs, PriceList

__all__ = ["average_mistake", "merge_mistakes", "settle_mistakes"]

# A mistake that nobody has priced costs this many times all tests together.
UNPRICED = 10.0


def merge_mistakes(costs: Costs, mistakes: Any) -> Costs:
    """Return the costs with the estimator's own mistakes, if it was given any.

    Examples
    --------
    >>> merge_mistakes(Costs([1], mistakes=5), None).mistakes
    5.0
    >>> merge_mistakes(Costs([1], mistakes=5), 7).mistakes
    7.0
    """
    return costs if mistakes is None else costs.with_mistakes(mistakes)


def settle_mistakes(
    stated: NDArray[np.float64] | None, prices: PriceList, n_classes: int
) -> NDArray[np.float64]:
    """Return ``mistakes[true][decision]``; if none are stated, ten times all tests.

    Parameters
    ----------
    stated : ndarray of shape (n_classes, n_classes) or None
        What the user said.
    prices : PriceList
        What the tests charge.
    n_classes : int
        How many classes there are.

    Examples
    --------
    >>> settle_mistakes(None, PriceList.plain([2, 3]), 2)
    array([[ 0., 50.],
           [50.,  0.]])
    """
    if stated is not None:
        return np.ascontiguousarray(stated, dtype=np.float64)
    price = UNPRICED * prices.cost_of_all() or 1.0
    return price * (1.0 - np.eye(n_classes))


def average_mistake(mistakes: NDArray[np.float64]) -> float:
    """Return the mean cost of a mistake over all pairs of different classes.

    Examples
    --------
    >>> average_mistake(np.array([[0.0, 10.0], [30.0, 0.0]]))
    20.0
    """
    n = len(mistakes)
    return float(mistakes.sum() / (n * (n - 1))) if n > 1 else 0.0
