"""The impurities that a greedy tree can be grown by, checked and made by name.

An impurity is admissible if it is never negative, zero on sets of one class, never
rises when cases leave, and is supermodular; the guarantee of the greedy tree needs all
four. Entropy and Gini are not: they can rise when cases leave.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypedDict

import numpy as np

from askless._core.greedy._criteria import Criterion, Hinged, Pairs, Polynomial, Powers
from askless.exceptions import InvalidOptionError, UnknownNameError, suggest_name

__all__ = ["IMPURITIES", "CriterionOptions", "make_criterion"]

# A term of a polynomial: its coefficient, and the exponent of each class in it.
Term = tuple[float, Mapping[Any, int]]

IMPURITIES = ("pairs", "powers", "hinged", "product-hinge", "polynomial")
MOST_POWER = 16


class CriterionOptions(TypedDict, total=False):
    """The options of :func:`make_criterion`, for those who pass them on."""

    impurity: str
    split: str
    power: int
    alpha: float
    terms: Sequence[Term]


def make_criterion(
    labels: Sequence[Hashable],
    *,
    impurity: str = "pairs",
    split: str = "minimax",
    power: int = 2,
    alpha: float = 0.0,
    terms: Sequence[Term] = (),
) -> Criterion:
    """Return the criterion of an impurity.

    Parameters
    ----------
    labels : sequence
        The classes, in order.
    impurity : {"pairs", "powers", "hinged", "product-hinge", "polynomial"}
        What is measured; "pairs" by default.
    split : {"minimax", "expected"}, default="minimax"
        Whether a test is judged by its worst outcome or on average.
    power : int, default=2
        Of "powers": the power of the class weights.
    alpha : float, default=0.0
        Of the two hinges: what each class may have before it counts.
    terms : sequence of (coefficient, mapping of class to exponent)
        Of "polynomial".

    Examples
    --------
    >>> from askless._core.greedy._criteria import measure_impurity
    >>> powers = make_criterion(["a", "b"], impurity="powers", power=3)
    >>> measure_impurity(powers, np.array([30.0, 30.0]))
    162000.0
    """
    if split not in ("minimax", "expected"):
        raise InvalidOptionError(
            f"split must be 'minimax' or 'expected'. Got {split!r}. "
            f"{suggest_name(split, ('minimax', 'expected'))}Choose one of them."
        )
    is_expected = split == "expected"
    if impurity == "pairs":
        return Pairs(is_expected)
    if impurity == "powers":
        return Powers(_check_power(power), is_expected)
    if impurity in ("hinged", "product-hinge"):
        return Hinged(_check_alpha(alpha), impurity == "product-hinge", is_expected)
    if impurity == "polynomial":
        return _make_polynomial(labels, terms, is_expected)
    raise UnknownNameError(
        f"impurity must be one of {', '.join(IMPURITIES)}. Got {impurity!r}. "
        f"{suggest_name(impurity, IMPURITIES)}Choose one of them."
    )


def _check_power(power: Any) -> int:
    is_whole = isinstance(power, (int, np.integer)) and not isinstance(power, bool)
    if not is_whole or not 2 <= power <= MOST_POWER:
        raise InvalidOptionError(
            f"power must be a whole number from 2 to {MOST_POWER}. Got {power!r}. With "
            "1 nothing is ever impure; 2 is twice the pairs."
        )
    return int(power)


def _check_alpha(alpha: Any) -> float:
    if not (isinstance(alpha, (int, float, np.number)) and 0 <= alpha < np.inf):
        raise InvalidOptionError(
            f"alpha must be a finite number >= 0. Got {alpha!r}. With 0 every pair "
            "counts."
        )
    return float(alpha)


def _make_polynomial(
    labels: Sequence[Hashable], terms: Sequence[Term], is_expected: bool
) -> Polynomial:
    index = {label: i for i, label in enumerate(labels)}
    if not terms:
        raise InvalidOptionError(
            "A polynomial must have terms. Got none. Pass terms=[(coefficient, {class: "
            "exponent, ...}), ...]."
        )
    coefficients = np.zeros(len(terms))
    exponents = np.zeros((len(terms), len(labels)), dtype=np.int32)
    for q, (coefficient, powers) in enumerate(terms):
        if not 0 <= coefficient < np.inf:
            raise InvalidOptionError(
                "A polynomial is admissible only if no coefficient is negative, or it "
                f"may fall when cases come in. Got {coefficient!r} in term {q}. Drop "
                "the term."
            )
        coefficients[q] = coefficient
        for label, exponent in powers.items():
            if label not in index:
                raise InvalidOptionError(
                    f"The terms of a polynomial must name classes. Got {label!r} in "
                    f"term {q}. {suggest_name(str(label), map(str, labels))}"
                    "Leave it out."
                )
            is_whole = isinstance(exponent, (int, np.integer))
            if not is_whole or not 0 <= exponent <= MOST_POWER:
                raise InvalidOptionError(
                    "A polynomial is admissible only if its exponents are whole "
                    f"numbers from 0 to {MOST_POWER}. Got {exponent!r} for {label!r} "
                    f"in term {q}. Round it."
                )
            exponents[q, index[label]] = exponent
        if np.count_nonzero(exponents[q]) < 2:
            raise InvalidOptionError(
                "A polynomial is admissible only if every term has at least two "
                f"classes, or it would not be zero on a set of one class. Got "
                f"{np.count_nonzero(exponents[q])} in term {q}. Drop the term."
            )
    return Polynomial(coefficients, exponents, is_expected)
