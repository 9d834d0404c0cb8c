"""Let some classes count more than others: ``class_weight``.

This module must not know who learns.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidOptionError
from askless.learn._examples import Examples

__all__ = ["class_factors", "weigh_classes"]


def weigh_classes(examples: Examples, class_weight: Any) -> Examples:
    """Return examples whose rows weigh as much more as their class does.

    Validation rows that were given weigh more likewise, so that what is chosen on them
    is chosen by the same weights. Rows of a class that weighs nothing are left out.

    Parameters
    ----------
    examples : Examples
        The rows, with weights of their own or without.
    class_weight : mapping, "balanced" or None
        See :func:`class_factors`.
    """
    if class_weight is None:
        return examples
    rows, valid = examples.rows, examples.valid
    weights = np.ones(rows.n_rows) if rows.weights is None else rows.weights
    totals = np.bincount(rows.class_ids, weights, minlength=len(examples.classes))
    factors = class_factors(class_weight, examples.classes, totals.astype(np.float64))
    weighed = replace(rows, weights=weights * factors[rows.class_ids])
    if (factors == 0).any():
        weighed = weighed.take(factors[rows.class_ids] > 0)
    if valid is not None:
        # A class that the learner has not met weighs as it is.
        by_class = np.append(factors, 1.0)[valid.class_ids]
        valid = replace(valid, weights=by_class)
    return replace(examples, rows=weighed, valid=valid)


def class_factors(
    class_weight: Any,
    classes: tuple[Hashable, ...],
    class_totals: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the factor of each class.

    Parameters
    ----------
    class_weight : mapping or "balanced"
        The factor of each class, 1 for those left out; "balanced" makes all classes
        count the same, however frequent they are.
    classes : tuple
        The classes, ascending.
    class_totals : ndarray of shape (n_classes,)
        The weight of all rows of each class.

    Examples
    --------
    >>> class_factors("balanced", ("a", "b"), np.array([3.0, 1.0]))
    array([0.66666667, 2.        ])
    """
    if isinstance(class_weight, str) and class_weight == "balanced":
        return np.asarray(class_totals.sum() / (len(classes) * class_totals))
    return _factors(class_weight, classes)


def _factors(class_weight: Any, classes: tuple[Hashable, ...]) -> NDArray[np.float64]:
    if not isinstance(class_weight, Mapping):
        raise InvalidOptionError(
            "class_weight must be a mapping of class to factor, or 'balanced'. Got "
            f"{class_weight!r}. Leave it out for equal classes."
        )
    unknown = [given for given in class_weight if given not in classes]
    if unknown:
        raise InvalidOptionError(
            f"class_weight must name classes. Got {unknown[0]!r}, which is none of "
            f"{list(classes)[:8]}. Leave out what is not a class."
        )
    factors = np.array([float(class_weight.get(known, 1.0)) for known in classes])
    if not np.all((factors >= 0) & np.isfinite(factors)):
        raise InvalidOptionError(
            "class_weight must have finite factors >= 0. Got others. Leave out what "
            "needs no factor."
        )
    return factors
