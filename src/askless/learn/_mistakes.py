"""Settle what tests and mistakes cost a learner.

This module must not know who learns.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidOptionError
from askless.learn._class_weight import class_factors
from askless.problem import Costs, PriceList, as_costs

__all__ = [
    "UNPRICED",
    "average_mistake",
    "settle_costs",
    "settle_mistakes",
    "settle_number_costs",
    "weigh_mistakes",
]

# A mistake that nobody has priced costs this many times all tests together.
UNPRICED = 10.0


def settle_costs(costs: Any, n_tests: int, mistakes: Any = None) -> Costs:
    """Return the costs of tests, 1 each if none are given, and of mistakes.

    Parameters
    ----------
    costs : Costs, mapping, sequence or None
        What an estimator was given for its tests.
    n_tests : int
        How many tests there are.
    mistakes : number, matrix, mapping or None
        What it was given for mistakes; those of `costs` count if this is None.

    Examples
    --------
    >>> settle_costs(None, 2).costs
    {0: 1.0, 1: 1.0}
    >>> settle_costs(Costs([1], mistakes=5), 1).mistakes
    5.0
    >>> settle_costs(Costs([1], mistakes=5), 1, mistakes=7).mistakes
    7.0
    """
    settled = as_costs(costs, n_tests)
    return settled if mistakes is None else settled.with_mistakes(mistakes)


def settle_number_costs(costs: Any, n_tests: int) -> Costs:
    """Return the costs of the tests of a learner of numbers.

    Parameters
    ----------
    costs, n_tests
        See :func:`settle_costs`. Mistakes between classes are refused.

    Examples
    --------
    >>> settle_number_costs([2, 3], 2).costs
    {0: 2.0, 1: 3.0}
    """
    settled = as_costs(costs, n_tests)
    if settled.mistakes is not None:
        raise InvalidOptionError(
            "A learner of numbers must be told what an error of 1 costs, as its own "
            "parameter mistakes. Got costs that say what mistakes between classes "
            "cost. Leave them out of the costs."
        )
    return settled


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


def weigh_mistakes(
    mistakes: NDArray[np.float64],
    class_weight: Any,
    classes: tuple[Hashable, ...],
    class_totals: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return ``mistakes[true][decision]`` times the weight of the true class.

    A learner that weighs tests against mistakes needs no other meaning for the weights
    of classes.

    Parameters
    ----------
    mistakes : ndarray of shape (n_classes, n_classes)
        What mistakes cost.
    class_weight : mapping, "balanced" or None
        The factor of each class, 1 for those left out; "balanced" makes all classes
        count the same, however frequent they are.
    classes : tuple
        The classes, ascending.
    class_totals : ndarray of shape (n_classes,)
        The weight of all rows of each class.

    Examples
    --------
    >>> wrong = 1 - np.eye(2)
    >>> weigh_mistakes(wrong, {"a": 5}, ("a", "b"), np.ones(2))
    array([[0., 5.],
           [1., 0.]])
    >>> weigh_mistakes(wrong, "balanced", ("a", "b"), np.array([3.0, 1.0]))[:, ::-1]
    array([[0.66666667, 0.        ],
           [0.        , 2.        ]])
    """
    if class_weight is None:
        return mistakes
    factors = class_factors(class_weight, classes, class_totals)
    return np.ascontiguousarray(mistakes * factors[:, None])
