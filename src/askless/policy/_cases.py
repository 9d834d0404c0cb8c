"""Check the cases that a policy carries: their codes, classes and weights.

It must not know how the policy uses them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidPolicyError
from askless.policy._base import MOST
from askless.problem import Test

__all__ = ["check_cases", "check_order"]


def check_order(order: Any, n_tests: int) -> NDArray[np.int32]:
    """Return the tests in order as an array, each at most once."""
    listed = [int(test) for test in order]
    if len(set(listed)) != len(listed) or not all(0 <= t < n_tests for t in listed):
        raise InvalidPolicyError(
            f"An order must ask tests 0 to {n_tests - 1}, each at most once. Got "
            f"{listed[:12]}. List every test once."
        )
    return np.array(listed, dtype=np.int32)


def check_cases(
    kind: str,
    tests: list[Test],
    codes: NDArray[Any],
    classes: NDArray[np.int32],
    weights: NDArray[np.float64],
    n_classes: int,
) -> None:
    """Check what a kind of policy knows of its cases: a row of codes for each test."""
    n_cases = len(classes)
    if n_cases == 0 or codes.shape != (len(tests), n_cases):
        raise InvalidPolicyError(
            f"A {kind} must have a code for each of its tests and cases. Got the shape "
            f"{codes.shape} for {len(tests)} tests and {n_cases} cases. Give a row for "
            "each test."
        )
    if codes.dtype not in (np.uint8, np.uint16):
        raise InvalidPolicyError(
            f"Codes must be uint8 or uint16. Got {codes.dtype}. Convert them."
        )
    for test, own in zip(tests, codes, strict=True):
        if np.any(own > test.unknown_code):
            raise InvalidPolicyError(
                f"Codes of {test.name!r} must be at most {test.unknown_code}. Got "
                f"{own.max()}. Code the cases by these tests."
            )
    if np.any((classes < 0) | (classes >= n_classes)):
        raise InvalidPolicyError(
            f"Cases must be of one of {n_classes} classes. Got another. Number the "
            "classes from 0."
        )
    is_right = weights.shape == classes.shape and bool(np.all(weights >= 0))
    if not is_right or not 0 < sum(weights.tolist()) <= MOST:
        raise InvalidPolicyError(
            "Every case must have a weight >= 0, and their sum must be positive and at "
            f"most {MOST:g}. Got other weights. Give each case one."
        )
