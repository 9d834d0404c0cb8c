"""How large an error of a number is, and which number errs least.

This module must not know who learns.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from askless.learn._checks import check_choice

__all__ = ["LOSSES", "Loss", "find_loss"]

Floats = NDArray[np.float64]


class Loss(NamedTuple):
    """How large an error is.

    Attributes
    ----------
    name : {"squared", "absolute"}
        How to ask for it.
    objective : str
        What LightGBM calls it.

    Examples
    --------
    >>> absolute = LOSSES["absolute"]
    >>> absolute.errors(np.array([3.0]), np.array([5.0]))
    array([2.])
    >>> absolute.center(np.array([9.0, 1.0, 2.0])), LOSSES["squared"].center(
    ...     np.array([9.0, 1.0, 2.0]), np.array([0.0, 1.0, 3.0]))
    (2.0, 1.75)
    """

    name: str
    objective: str

    def errors(self, said: Any, true: Any) -> Floats:
        """Return how large each error is."""
        gap = np.abs(np.asarray(said, dtype=np.float64) - true)
        return np.asarray(gap**2 if self.name == "squared" else gap)

    def center(self, numbers: Floats, weights: Floats | None = None) -> float:
        """Return the number of least mean error: the mean, or the median."""
        if self.name == "squared":
            return float(np.average(numbers, weights=weights))
        order = np.argsort(numbers, kind="stable")
        ordered = numbers[order]
        each = np.ones(len(ordered)) if weights is None else weights[order]
        reached = np.cumsum(each)
        half = reached[-1] / 2
        # Between two numbers if just half of the weight lies on each side.
        low = int(np.searchsorted(reached, half, side="left"))
        high = int(np.searchsorted(reached, half, side="right"))
        return float(ordered[low] + ordered[min(high, len(ordered) - 1)]) / 2


LOSSES = {
    "squared": Loss("squared", "regression"),
    "absolute": Loss("absolute", "regression_l1"),
}


def find_loss(name: str) -> Loss:
    """Return a loss by its name.

    Examples
    --------
    >>> find_loss("squared").objective
    'regression'
    """
    check_choice("loss", name, tuple(LOSSES))
    return LOSSES[name]
