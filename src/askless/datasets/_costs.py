"""Invent test costs for examples that come without any.

The generator of Esmeir and Markovitch: costs that follow how much a test tells, groups
that share a part of their costs, delayed tests. It knows columns and classes only, and
no learner.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.datasets._rng import RandomState, make_rng
from askless.exceptions import InvalidOptionError
from askless.problem import Costs, as_columns
from askless.problem._column import is_number

__all__ = ["discount_group", "make_costs"]

# Numbers are compared in this many equal steps between their least and their greatest.
_N_LEVELS = 10
# The spread of a drawn cost, as a part of the cost range.
_SPREAD = 1 / 5


def discount_group(costs: Sequence[float], discount: float = 0.8) -> list[float]:
    """Return what each test of a group costs once the group is open.

    All members share one fixed part: `discount` times the cheapest cost.

    Parameters
    ----------
    costs : sequence of float
        The full costs of the members.
    discount : float, default=0.8
        The shared part, as a share of the cheapest cost, in [0, 1].

    Returns
    -------
    list of float
        The discounted costs, in the same order.

    Examples
    --------
    Costs 10, 20 and 50 share 0.8 * 10 = 8. Whichever comes first, all three together
    cost 80 - 2 * 8 = 64.

    >>> discount_group([10, 20, 50])
    [2.0, 12.0, 42.0]
    """
    shared = discount * min(costs)
    return [cost - shared for cost in costs]


def _to_levels(column: NDArray[Any]) -> NDArray[np.intp]:
    """Return small integers: equal steps for numbers, one a value for the rest."""
    if column.dtype.kind in "biuf" or is_number(column):
        values = column.astype(np.float64)
        is_missing = np.isnan(values)
        distinct, levels = np.unique(values, return_inverse=True)
        if len(distinct) <= _N_LEVELS:
            return levels.reshape(-1)
        low, high = np.nanmin(values), np.nanmax(values)
        steps = np.where(is_missing, low, values) - low
        levels = np.minimum(
            _N_LEVELS - 1, (_N_LEVELS * steps / (high - low)).astype(int)
        )
        return np.where(is_missing, _N_LEVELS, levels)
    seen: dict[Any, int] = {}
    return np.array(
        [
            # NaN is not equal to itself and would become a new level each time.
            seen.setdefault(None if value != value else value, len(seen))
            for value in column.tolist()
        ],
        dtype=np.intp,
    )


def _entropy(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the entropy in bits of each row of class counts, times its total."""
    totals = counts.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        bits = np.where(counts > 0, counts * np.log2(totals / counts), 0.0)
    return np.asarray(bits.sum(axis=1), dtype=np.float64)


def _information_gain(levels: NDArray[np.intp], classes: NDArray[np.intp]) -> float:
    n_classes = int(classes.max()) + 1
    counts = np.bincount(
        levels * n_classes + classes, minlength=(int(levels.max()) + 1) * n_classes
    ).reshape(-1, n_classes)
    before = _entropy(counts.sum(axis=0, keepdims=True))[0]
    gain = (before - _entropy(counts).sum()) / len(classes)
    # Rounding can leave a hair below zero.
    return max(0.0, float(gain))


def _draw_costs(
    gains: NDArray[np.float64],
    low: float,
    high: float,
    gain_correlation: float,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Return a cost for each test, between low and high."""
    # Here, since it takes longer to import than everything else in this package.
    from scipy.special import ndtr, ndtri

    follows_gain = rng.random(len(gains)) < gain_correlation
    at = rng.random(len(gains))
    greatest = gains.max()
    shares = gains / greatest if greatest > 0 else np.zeros_like(gains)
    # A normal around the share, truncated to [0, 1], by its inverse distribution: one
    # uniform number a test, so that a cost does not depend on the other tests' draws.
    below, above = ndtr((0 - shares) / _SPREAD), ndtr((1 - shares) / _SPREAD)
    truncated = shares + _SPREAD * ndtri(below + at * (above - below))
    costs = low + (high - low) * np.where(follows_gain, truncated, at)
    clipped: NDArray[np.float64] = np.clip(costs, low, high)
    return clipped


def _draw_groups(
    names: Sequence[str], group_share: float, rng: np.random.Generator
) -> dict[str, list[str]]:
    """Return groups of two tests or more; by chance, a test joins one or none."""
    n_groups = round(group_share * len(names))
    drawn = rng.integers(n_groups + 1, size=len(names))
    groups: dict[str, list[str]] = {f"g{g}": [] for g in range(1, n_groups + 1)}
    for name, group in zip(names, drawn.tolist(), strict=True):
        if group:
            groups[f"g{group}"].append(name)
    # Nothing is shared by a single test.
    return {group: members for group, members in groups.items() if len(members) > 1}


def _check_shares(**shares: float) -> None:
    for name, share in shares.items():
        if not 0 <= share <= 1:
            raise InvalidOptionError(
                f"{name} must be in [0, 1]. Got {share}. Give a share, 0.2 for a fifth."
            )


def make_costs(
    X: Any,
    y: Any,
    *,
    low: float = 1,
    high: float = 100,
    group_share: float = 0.2,
    delayed_share: float = 0.0,
    discount: float = 0.8,
    gain_correlation: float = 1.0,
    random_state: RandomState = None,
) -> Costs:
    """Draw costs for the columns of X: tests that tell more tend to cost more.

    Parameters
    ----------
    X : mapping of str to array, dataframe, or array of shape (n_cases, n_tests)
        The columns. Those of an array are called t0, t1, ...
    y : array-like of shape (n_cases,)
        The class of each case.
    low, high : float, default=1 and 100
        The range of the costs.
    group_share : float, default=0.2
        The number of groups, as a share of the number of tests. Each test joins one of
        them, or none, with equal chances; a group of one test is dissolved.
    delayed_share : float, default=0.0
        The share of tests that are delayed.
    discount : float, default=0.8
        What the tests of a group share, as a share of the cheapest of them.
    gain_correlation : float, default=1.0
        The chance that the cost of a test follows its information gain; otherwise it is
        uniform over the range. 1 and 0 are the two kinds of the paper.
    random_state : int, Generator, RandomState or None, default=None
        The same seed gives the same costs.

    Returns
    -------
    Costs
        With groups, discounted costs and delayed tests; no mistakes.

    Raises
    ------
    InvalidOptionError
        If a share is outside [0, 1], or the range is not 0 <= low <= high.

    Notes
    -----
    A cost that follows the gain is normal around ``low + (high - low) * gain / greatest
    gain`` with a standard deviation of a fifth of the range, truncated to the range.
    The paper gives no deviation; this is our choice. Numbers with more than ten
    different values are cut into ten equal steps to compute the gain. A missing value
    counts as a value of its own.

    References
    ----------
    .. [1] S. Esmeir, S. Markovitch, "Anytime Induction of Low-cost, Low-error
       Classifiers: a Sampling-based Approach", JAIR 33, 2008.

    Examples
    --------
    ``tells`` decides the class and ``idle`` says nothing about it:

    >>> import numpy as np
    >>> y = np.array([0, 1] * 50)
    >>> columns = {"tells": y, "idle": np.zeros(100, dtype=int)}
    >>> costs = make_costs(columns, y, random_state=0)
    >>> costs.costs["tells"] > costs.costs["idle"]
    True
    """
    if not 0 <= low <= high:
        raise InvalidOptionError(
            "The range of costs must be 0 <= low <= high. Got "
            f"low={low} and high={high}. Exchange or raise them."
        )
    _check_shares(
        group_share=group_share,
        delayed_share=delayed_share,
        discount=discount,
        gain_correlation=gain_correlation,
    )
    rng = make_rng(random_state)
    columns = as_columns(X)
    names = list(columns)
    classes = _to_levels(np.asarray(y).astype(object))
    gains = np.array(
        [_information_gain(_to_levels(column), classes) for column in columns.values()]
    )
    drawn = _draw_costs(gains, low, high, gain_correlation, rng)
    costs = dict(zip(names, drawn.tolist(), strict=True))
    groups = _draw_groups(names, group_share, rng)
    discounted: dict[str, float] = {}
    for members in groups.values():
        later = discount_group([costs[name] for name in members], discount)
        discounted.update(zip(members, later, strict=True))
    n_delayed = round(delayed_share * len(names))
    delayed = rng.choice(len(names), size=n_delayed, replace=False)
    return Costs(
        costs,
        groups=groups,
        discounted=discounted,
        delayed=[names[test] for test in sorted(delayed.tolist())],
    )
