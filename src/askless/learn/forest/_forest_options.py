"""Check the options of a forest, and read the ones that may be left open."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

from askless.exceptions import InvalidOptionError, suggest_name

__all__ = ["ALPHA_GRID", "alphas_of", "check_forest_options", "count_features"]

# The thresholds that the paper on budgeted forests chooses from.
ALPHA_GRID = (0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 15.0, 25.0, 35.0, 45.0)

CHOICES = {
    "split": ("minimax", "expected"),
    "thresholds": ("all", "random"),
    "rule": ("votes", "counts"),
}


def check_forest_options(model: Any) -> None:
    """Raise InvalidOptionError unless the options of a budget forest make sense."""
    for name, allowed in CHOICES.items():
        value = getattr(model, name)
        if value not in allowed:
            raise InvalidOptionError(
                f"{name} must be {' or '.join(map(repr, allowed))}. Got {value!r}. "
                f"{suggest_name(str(value), allowed)}Choose one of them."
            )
    if not _is_whole(model.n_estimators) or model.n_estimators < 1:
        raise InvalidOptionError(
            "n_estimators must be a whole number >= 1. Got "
            f"{model.n_estimators!r}. A forest has at least one tree."
        )
    if model.budget is not None and not _is_at_least(model.budget, 0):
        raise InvalidOptionError(
            f"budget must be a number >= 0, or None for no limit. Got "
            f"{model.budget!r}. It is in the unit of the costs."
        )
    if not _is_at_least(model.min_weight, 0):
        raise InvalidOptionError(
            f"min_weight must be >= 0. Got {model.min_weight!r}. With 0 it has no "
            "effect."
        )
    if model.max_depth is not None and (
        not _is_whole(model.max_depth) or model.max_depth < 0
    ):
        raise InvalidOptionError(
            f"max_depth must be >= 0, or None for no limit. Got {model.max_depth!r}. "
            "A tree of depth 0 decides at once."
        )
    alphas_of(model)
    _check_validation(model)


def _check_validation(model: Any) -> None:
    share = model.validation
    if share == "oob":
        if not model.bootstrap:
            raise InvalidOptionError(
                "validation='oob' needs trees that do not see all rows. Got "
                "bootstrap=False. Set rows aside instead, by a share such as 0.3."
            )
    elif isinstance(share, str) or not _is_at_least(share, 0) or not 0 < share < 1:
        raise InvalidOptionError(
            f"validation must be a share between 0 and 1, or 'oob'. Got {share!r}. "
            "0.3 sets three rows in ten aside."
        )


def alphas_of(model: Any) -> list[float]:
    """Return the thresholds to choose from, each once, ascending."""
    alpha = model.alpha
    if alpha is None:
        return [0.0] if model.budget is None else list(ALPHA_GRID)
    listed = (
        list(alpha)
        if isinstance(alpha, Iterable) and not isinstance(alpha, str)
        else [alpha]
    )
    if not listed or not all(_is_at_least(value, 0) for value in listed):
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
    elif _is_at_least(max_features, 0) and 0 < max_features <= 1:
        return max(1, int(max_features * n_features))
    raise InvalidOptionError(
        "max_features must be a whole number >= 1, a share from 0 to 1, 'sqrt' or "
        f"None. Got {max_features!r}. None tries all tests."
    )


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_at_least(value: Any, least: float) -> bool:
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    return is_number and math.isfinite(value) and value >= least
