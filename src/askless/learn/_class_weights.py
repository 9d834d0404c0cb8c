"""Class weights as factors of what mistakes on a class cost.

A learner that weighs tests against mistakes needs no other meaning for them. This
module must not know who learns.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidOptionError

__all__ = ["weigh_mistakes"]


def weigh_mistakes(
    mistakes: NDArray[np.float64],
    class_weight: Any,
    classes: tuple[Hashable, ...],
    class_totals: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return ``mistakes[true][decision]`` times the weight of the true class.

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
        How much of each class there is.

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
    if isinstance(class_weight, str) and class_weight == "balanced":
        factors = class_totals.sum() / (len(classes) * class_totals)
    else:
        factors = _factors(class_weight, classes)
    return np.ascontiguousarray(mistakes * factors[:, None])


def _factors(class_weight: Any, classes: tuple[Hashable, ...]) -> NDArray[np.float64]:
    if not isinstance(class_weight, Mapping):
        raise InvalidOptionError(
            "class_weight must be a mapping of class to factor, or 'balanced'. Got "
            f"{class_weight!r}. Leave it out for equal classes."
        )
    unknown = [label for label in class_weight if label not in classes]
    if unknown:
        raise InvalidOptionError(
            f"class_weight must name classes. Got {unknown[0]!r}, which is none of "
            f"{list(classes)[:8]}. Leave out what is not a class."
        )
    factors = np.array([float(class_weight.get(label, 1.0)) for label in classes])
    if not np.all((factors >= 0) & np.isfinite(factors)):
        raise InvalidOptionError(
            "class_weight must have finite factors >= 0. Got others. Leave out what "
            "needs no factor."
        )
    return factors
