"""Rows where policies go wrong: on thresholds, beside them, missing, never seen."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.policy import Policy
from askless.problem import Test

__all__ = ["make_hard_rows"]

# A category that no policy knows.
UNSEEN = "\N{SNOWMAN} never seen"


def make_hard_rows(
    policy: Policy,
    n_rows: int = 50,
    *,
    unseen: bool = True,
    infinite: bool = False,
    random_state: Any = 0,
) -> dict[str, NDArray[Any]]:
    """Return rows made from a policy's own thresholds and outcomes.

    Numbers lie on a threshold, one step above or below it in double or in single
    precision, at zero of either sign, or far out; categories are known, or never seen.
    Any value may be missing.

    Parameters
    ----------
    policy : Policy
        Whose thresholds and outcomes to use.
    n_rows : int, default=50
    unseen : bool, default=True
        Whether to make up categories that the policy does not know.
    infinite : bool, default=False
        Whether to use infinite numbers too.
    random_state : int or Generator, default=0

    Returns
    -------
    dict of str to ndarray of object
        A column for each test.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table({"age": [30.0, 50.0]}, ["young", "old"], thresholds=True)
    >>> rows = make_hard_rows(askless.solve(table).policy, 6)
    >>> list(rows), len(rows["age"])
    (['age'], 6)
    """
    rng = np.random.default_rng(random_state)
    return {
        test.name: _numbers(rng, test, n_rows, infinite)
        if test.kind == "number"
        else _categories(rng, test, n_rows, unseen)
        for test in policy.tests
    }


def _numbers(
    rng: np.random.Generator, test: Test, n_rows: int, infinite: bool
) -> NDArray[Any]:
    odd = [*test.cuts, 0.0, -0.0, 1.0, 5e-324, 1e-40, 1e30, -1e30]
    if infinite:
        odd += [np.inf, -np.inf]
    values = rng.choice(odd, n_rows)
    side = rng.choice([-np.inf, np.inf], n_rows)
    with np.errstate(over="ignore", under="ignore"):
        single = np.nextafter(values.astype(np.float32), side.astype(np.float32))
    step = rng.integers(4, size=n_rows)
    values = np.where(step == 1, np.nextafter(values, side), values)
    values = np.where(step == 2, single.astype(np.float64), values)
    if not infinite:
        values = np.nan_to_num(values, posinf=1e300, neginf=-1e300)
    column = values.astype(object)
    column[rng.random(n_rows) < 0.15] = None
    return column


def _categories(
    rng: np.random.Generator, test: Test, n_rows: int, unseen: bool
) -> NDArray[Any]:
    known: list[Any] = [*test.outcomes, None]
    if unseen:
        known.append(UNSEEN)
    column = np.empty(n_rows, dtype=object)
    column[:] = [known[i] for i in rng.integers(len(known), size=n_rows)]
    return column
