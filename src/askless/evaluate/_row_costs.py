"""What rows pay at prices of their own, where a test does not cost every row the same.

A policy buys by one price list; here it is only charged otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidCostsError, suggest_name
from askless.policy import Policy
from askless.policy._walk_rows import walk_rows
from askless.problem._frames import clean_columns, is_frame

__all__ = ["charge_rows"]

Floats = NDArray[np.float64]


def charge_rows(policy: Policy, X: Any, row_costs: Any, n_rows: int) -> Floats:
    """Return what each row pays at its own prices for what the policy buys.

    A price takes the place of the full price of a test; where a group or an outcome
    makes it less or more, it does so in proportion.

    Parameters
    ----------
    policy : Policy
        What is asked, by its own prices.
    X : frame, mapping of columns, or array-like of shape (n_rows, n_tests)
        Rows of raw values.
    row_costs : frame, mapping, or array-like of shape (n_rows, n_tests)
        What each test costs each row; a test that is left out costs what it always
        does.
    n_rows : int
        How many rows there are.
    """
    prices = _read_prices(policy, row_costs, n_rows)
    paid = np.zeros(n_rows)
    full = policy.prices.full
    for step in walk_rows(policy, X):
        for test, charge in zip(step.bought, step.charges, strict=True):
            if test not in prices:
                paid[step.rows] += charge
            else:
                share = charge / full[test] if full[test] > 0 else 1.0
                paid[step.rows] += share * prices[test][step.rows]
    return paid


def _read_prices(policy: Policy, row_costs: Any, n_rows: int) -> dict[int, Floats]:
    names = policy.test_names
    if not isinstance(row_costs, Mapping) and not is_frame(row_costs):
        matrix = np.asarray(row_costs, dtype=object)
        if matrix.shape != (n_rows, len(names)):
            raise InvalidCostsError(
                f"row_costs must have a row for each of the {n_rows} rows and a column "
                f"for each of the {len(names)} tests. Got the shape {matrix.shape}. "
                "Pass a frame to name some tests only."
            )
        row_costs = dict(zip(names, matrix.T, strict=True))
    found: dict[int, Floats] = {}
    for name, column in clean_columns(row_costs).items():
        if name not in names:
            raise InvalidCostsError(
                f"row_costs must name tests of the policy. Got {name!r}. "
                f"{suggest_name(name, names)}Leave out other columns."
            )
        try:
            values = np.asarray(column, dtype=np.float64)
        except (TypeError, ValueError):
            values = np.full(len(column), np.nan)
        is_right = len(values) == n_rows and bool(np.all(values >= 0))
        if not is_right or not np.isfinite(values).all():
            raise InvalidCostsError(
                f"row_costs must have {n_rows} finite prices >= 0 for each test. Got "
                f"others for {name!r}. Fill in what is missing."
            )
        found[names.index(name)] = values
    return found
