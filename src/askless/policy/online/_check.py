"""Check what a posterior is worked out from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidPolicyError
from askless.policy._parts import MOST
from askless.problem import PriceList, Test

__all__ = ["check_posterior", "check_prices"]

# How far the chances of a case may be from a sum of 1.
TOLERANCE = 1e-9


def check_posterior(
    tests: tuple[Test, ...],
    n_classes: int,
    prices: PriceList,
    mistakes: NDArray[np.float64] | None,
    *,
    factor: float,
    chances: Sequence[NDArray[np.float64]],
    case_class: NDArray[np.int32],
    case_weights: NDArray[np.float64],
) -> None:
    """Raise InvalidPolicyError unless a posterior can be worked out from these."""
    if mistakes is None:
        raise InvalidPolicyError(
            "A posterior stops where no test is worth its price, so mistakes must have "
            "one. Got none. Give mistakes."
        )
    if not 0 <= factor <= MOST:
        raise InvalidPolicyError(
            f"factor must be a number from 0 to {MOST:g}. Got {factor!r}. 1 takes what "
            "a test saves as it is."
        )
    check_prices(tests, prices)
    _check_cases(n_classes, case_class, case_weights)
    if not tests or len(chances) != len(tests):
        raise InvalidPolicyError(
            "A posterior must have a test, and chances for each. Got "
            f"{len(chances)} for {len(tests)} tests. Give a list for each test."
        )
    for test, rows in zip(tests, chances, strict=True):
        _check_chances(test, rows, len(case_class))


def check_prices(tests: tuple[Test, ...], prices: PriceList) -> None:
    """Raise InvalidPolicyError if a test is delayed."""
    if prices.delayed.any():
        late = tests[int(np.flatnonzero(prices.delayed)[0])].name
        raise InvalidPolicyError(
            "A posterior chooses every test by what was seen before, and takes no "
            f"delays. Got {late!r}. Use a tree."
        )


def _check_cases(
    n_classes: int, case_class: NDArray[np.int32], case_weights: NDArray[np.float64]
) -> None:
    is_class = (case_class >= 0) & (case_class < n_classes)
    if case_class.ndim != 1 or len(case_class) == 0 or not is_class.all():
        raise InvalidPolicyError(
            f"A posterior must have cases, each of one of {n_classes} classes. Got "
            "others. Number the classes from 0."
        )
    is_weight = case_weights.shape == case_class.shape and bool(
        np.all((case_weights >= 0) & (case_weights <= MOST))
    )
    if not is_weight or not 0 < sum(case_weights.tolist()) <= MOST:
        raise InvalidPolicyError(
            "Every case must have a weight >= 0, and their sum must be positive and at "
            f"most {MOST:g}. Got other weights. Give each case one."
        )


def _check_chances(test: Test, rows: NDArray[np.float64], n_cases: int) -> None:
    n_codes = test.n_levels + 1
    if rows.ndim != 2 or rows.shape[1] != n_cases or not 1 <= len(rows) <= n_codes:
        raise InvalidPolicyError(
            f"The chances of {test.name!r} must have a number for each of {n_cases} "
            f"cases in each of 1 to {n_codes} rows. Got the shape {rows.shape}. Give a "
            "row for each code."
        )
    is_chance = bool(np.all((rows >= 0) & (rows <= 1)))
    sums = rows.sum(axis=0)
    is_whole = len(rows) == 1 or bool(np.all(np.abs(sums - 1.0) <= TOLERANCE))
    if not is_chance or not is_whole:
        raise InvalidPolicyError(
            f"The chances of {test.name!r} must be from 0 to 1, and sum to 1 for each "
            "case if there are several rows. Got others. Divide them by their sum."
        )
