"""Check what every policy has: names, classes, prices, and costs of mistakes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidPolicyError
from askless.problem import Outcome, PriceList

__all__ = ["MOST", "check_parts"]

# Costs and weights add up to at most this, so that no sum of them is infinite.
MOST = 1e300


def check_parts(
    names: tuple[str, ...],
    classes: tuple[Outcome, ...],
    prices: PriceList,
    mistakes: NDArray[np.float64] | None,
    answers_number: bool,
) -> None:
    """Raise InvalidPolicyError unless the parts of a policy fit together.

    Parameters
    ----------
    names : tuple of str
        The names of the tests.
    classes, prices, mistakes
        See :class:`Policy`.
    answers_number : bool
        Whether the policy decides on a number, and must have no classes.
    """
    _check_names(names, classes, answers_number)
    if prices.n_tests != len(names):
        raise InvalidPolicyError(
            f"A policy must have a price for each test. Got {prices.n_tests} "
            f"prices for {len(names)} tests. Settle the prices of these very tests."
        )
    shape = (len(classes), len(classes))
    if mistakes is not None and np.shape(mistakes) != shape:
        raise InvalidPolicyError(
            f"mistakes must have the shape {shape}. Got {np.shape(mistakes)}. Give "
            "a row and a column for each class."
        )
    _check_prices(prices)
    if mistakes is not None:
        _check_mistakes(mistakes)


def _check_prices(prices: PriceList) -> None:
    by_outcome = [p for listed in prices.by_outcome.values() for p in listed.tolist()]
    every = [*prices.full.tolist(), *prices.discounted.tolist(), *by_outcome]
    # A sum of Python's floats that is too large is infinite, without a warning.
    if not all(price >= 0 for price in every) or not sum(every) <= MOST:
        raise InvalidPolicyError(
            f"Prices must be >= 0, and all together at most {MOST:g}. Got others. "
            "Measure costs in a larger unit."
        )
    if np.any(prices.discounted > prices.full):
        test = int(np.flatnonzero(prices.discounted > prices.full)[0])
        raise InvalidPolicyError(
            "A discounted cost must not be above the cost. Got "
            f"{prices.discounted[test]:g} for test {test}, which costs "
            f"{prices.full[test]:g}. Swap the two."
        )


def _check_mistakes(mistakes: NDArray[np.float64]) -> None:
    is_price = (mistakes >= 0) & (mistakes <= MOST)
    if not is_price.all() or np.diag(mistakes).any():
        raise InvalidPolicyError(
            f"mistakes must be from 0 to {MOST:g}, with a diagonal of zeros. Got "
            "others. A right decision costs nothing."
        )


def _check_names(
    names: tuple[str, ...], classes: tuple[Outcome, ...], answers_number: bool
) -> None:
    if len(set(names)) != len(names) or not all(names):
        raise InvalidPolicyError(
            "Tests must have different names, none of them empty. Got "
            f"{names[:8]}. Rename the tests."
        )
    if bool(classes) == answers_number or len(set(classes)) != len(classes):
        raise InvalidPolicyError(
            f"Classes must be different, and at least one. Got {classes[:8]}. List "
            "each class once."
        )
