"""Check the parameters of estimators: what must hold, what was got, what to do.

Parameters that may be left open are read here as well. It must not know how a learner
uses them.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from numbers import Integral, Real
from typing import Any

from askless.exceptions import InvalidOptionError, suggest_name

__all__ = [
    "ALPHA_GRID",
    "check_budget",
    "check_choice",
    "check_confidence",
    "check_count",
    "check_max_cost",
    "check_max_depth",
    "check_number",
    "check_share",
    "count_features",
    "list_alphas",
]

# The thresholds that the paper on budgeted forests chooses from.
ALPHA_GRID = (0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 15.0, 25.0, 35.0, 45.0)


def check_number(name: str, value: object, *, least: float) -> float:
    """Return a finite number that is at least so large.

    Examples
    --------
    >>> check_number("w", 1, least=0.0)
    1.0
    """
    if _is_number(value, least):
        return float(value)  # type: ignore[arg-type]
    raise InvalidOptionError(
        f"{name} must be a finite number >= {least:g}. Got {value!r}. Leave it out for "
        "its default."
    )


def check_share(name: str, value: object, usual: float = 0.25) -> float:
    """Return a number between 0 and 1, both excluded.

    Examples
    --------
    >>> check_share("confidence", 0.25)
    0.25
    """
    if _is_number(value, 0.0) and 0 < float(value) < 1:  # type: ignore[arg-type]
        return float(value)  # type: ignore[arg-type]
    raise InvalidOptionError(
        f"{name} must be between 0 and 1. Got {value!r}. {usual:g} is a usual value."
    )


def check_count(name: str, value: object, *, least: int) -> int:
    """Return a whole number that is at least so large.

    Examples
    --------
    >>> check_count("samples", 5, least=0)
    5
    """
    if _is_whole(value) and int(value) >= least:  # type: ignore[call-overload]
        return int(value)  # type: ignore[call-overload,no-any-return]
    raise InvalidOptionError(
        f"{name} must be a whole number >= {least}. Got {value!r}. Leave it out for "
        "its default."
    )


def check_choice(name: str, value: object, allowed: Collection[str]) -> str:
    """Return one of a few words.

    Examples
    --------
    >>> check_choice("voting", "votes", ("votes", "counts"))
    'votes'
    """
    if isinstance(value, str) and value in allowed:
        return value
    raise InvalidOptionError(
        f"{name} must be {' or '.join(map(repr, allowed))}. Got {value!r}. "
        f"{suggest_name(str(value), allowed)}Choose one of them."
    )


def check_budget(value: object) -> float | None:
    """Return what a row may cost on average; None for no limit.

    Examples
    --------
    >>> check_budget(3), check_budget(None)
    (3.0, None)
    """
    if value is None:
        return None
    if _is_number(value, 0.0):
        return float(value)  # type: ignore[arg-type]
    raise InvalidOptionError(
        f"budget must be a number >= 0, or None for no limit. Got {value!r}. It is in "
        "the unit of the costs."
    )


def check_max_cost(value: object) -> float | None:
    """Return what any row may cost; None for no limit.

    Examples
    --------
    >>> check_max_cost(3), check_max_cost(None)
    (3.0, None)
    """
    if value is None:
        return None
    if _is_number(value, 0.0):
        return float(value)  # type: ignore[arg-type]
    raise InvalidOptionError(
        f"max_cost must be >= 0. Got {value!r}. Leave it out for no limit."
    )


def check_confidence(value: object) -> float | None:
    """Return how sure a budget must be to hold; None for the rows to choose on only.

    Examples
    --------
    >>> check_confidence(0.95), check_confidence(None)
    (0.95, None)
    """
    if value is None:
        return None
    if _is_number(value, 0.5) and float(value) < 1:  # type: ignore[arg-type]
        return float(value)  # type: ignore[arg-type]
    raise InvalidOptionError(
        "budget_confidence must be at least 0.5 and below 1. Got "
        f"{value!r}. Leave it out for 0.95, or give None to keep the budget on the "
        "rows to choose on only."
    )


def check_max_depth(value: object) -> int | None:
    """Return how many tests may be asked on a path; None for no limit.

    Examples
    --------
    >>> check_max_depth(3), check_max_depth(None)
    (3, None)
    """
    if value is None:
        return None
    if _is_whole(value) and int(value) >= 0:  # type: ignore[call-overload]
        return int(value)  # type: ignore[call-overload,no-any-return]
    raise InvalidOptionError(
        f"max_depth must be >= 0, or None for no limit. Got {value!r}. A tree of depth "
        "0 decides at once."
    )


def list_alphas(alpha: Any, budget: float | None) -> list[float]:
    """Return the alphas that a forest chooses from, each once, ascending.

    Examples
    --------
    >>> list_alphas([4, 0, 4], 3.0), list_alphas(None, None)
    ([0.0, 4.0], [0.0])
    """
    if alpha is None:
        return [0.0] if budget is None else list(ALPHA_GRID)
    is_several = isinstance(alpha, Iterable) and not isinstance(alpha, str)
    listed = list(alpha) if is_several else [alpha]
    if not listed or not all(_is_number(value, 0.0) for value in listed):
        raise InvalidOptionError(
            f"alpha must be a finite number >= 0, or several. Got {alpha!r}. With 0 "
            "every pair of rows counts."
        )
    return sorted({float(value) for value in listed})


def count_features(max_features: Any, n_features: int) -> int:
    """Return how many tests are tried at a node; 0 for all of them.

    Examples
    --------
    >>> count_features("sqrt", 54), count_features(0.5, 54), count_features(None, 54)
    (7, 27, 0)
    """
    if max_features is None:
        return 0
    if isinstance(max_features, str):
        if max_features == "sqrt":
            return max(1, math.isqrt(n_features))
    elif _is_whole(max_features):
        if max_features >= 1:
            return min(int(max_features), n_features)
    elif _is_number(max_features, 0.0) and 0 < max_features <= 1:
        return max(1, int(max_features * n_features))
    raise InvalidOptionError(
        "max_features must be a whole number >= 1, a share from 0 to 1, 'sqrt' or "
        f"None. Got {max_features!r}. None tries all tests."
    )


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_number(value: object, least: float) -> bool:
    """Return whether a value is a finite number that is at least so large."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    return math.isfinite(value) and float(value) >= least
