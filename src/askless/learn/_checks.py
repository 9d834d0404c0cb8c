"""Check the parameters of estimators: what must hold, what was got, what to do."""

from __future__ import annotations

import math
from numbers import Integral, Real

from askless.exceptions import InvalidOptionError

__all__ = ["check_count", "check_number", "check_share"]


def check_number(name: str, value: object, *, least: float) -> float:
    """Return a finite number that is at least so large.

    Examples
    --------
    >>> check_number("w", 1, least=0.0)
    1.0
    """
    number = float(value) if isinstance(value, Real) else math.nan
    if math.isfinite(number) and number >= least:
        return number
    raise InvalidOptionError(
        f"{name} must be a finite number >= {least:g}. Got {value!r}. Leave it out for "
        "its default."
    )


def check_share(name: str, value: object) -> float:
    """Return a number between 0 and 1, both excluded.

    Examples
    --------
    >>> check_share("confidence", 0.25)
    0.25
    """
    number = float(value) if isinstance(value, Real) else math.nan
    if 0 < number < 1:
        return number
    raise InvalidOptionError(
        f"{name} must be between 0 and 1. Got {value!r}. 0.25 is a usual value."
    )


def check_count(name: str, value: object, *, least: int) -> int:
    """Return a whole number that is at least so large.

    Examples
    --------
    >>> check_count("samples", 5, least=0)
    5
    """
    if isinstance(value, Integral) and not isinstance(value, bool):
        count = int(value)
        if count >= least:
            return count
    raise InvalidOptionError(
        f"{name} must be a whole number >= {least}. Got {value!r}. Leave it out for "
        "its default."
    )
