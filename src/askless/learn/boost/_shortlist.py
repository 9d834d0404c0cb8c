"""Which boosters are worth growing again on folds: those that are best at some budget.

This module must not know how boosters are grown, nor what folds are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from askless.learn.boost._candidates import Candidates, Goal

__all__ = ["list_best", "rank_rows"]

# Budgets that boosters are compared at, evenly spread over the logarithm of costs.
N_BUDGETS = 20


def list_best(
    candidates: Candidates, goal: Goal, n_kept: int, n_ways: int
) -> list[int]:
    """Return which boosters come nearest to the least loss at some budget, ascending.

    At each of twenty budgets boosters are put in order. Those that are first at some
    budget are taken, then those that are second, and so on.

    Parameters
    ----------
    candidates : Candidates
        Each booster `n_ways` times in a row.
    goal : Goal
        What is to be least; its budget is not asked for.
    n_kept : int
        How many to return, at most.
    n_ways : int
        In how many ways each booster may stop.
    """
    goal = Goal(max_cost=goal.max_cost, mistakes=goal.mistakes)
    curves = candidates.curves(goal)
    paid = np.concatenate([costs[costs > 0] for costs, _ in curves])
    if not len(paid):
        return list(range(min(n_kept, len(curves) // n_ways)))
    budgets = np.geomspace(paid.min(), paid.max(), N_BUDGETS)
    losses = np.array([_best_within(*curve, budgets) for curve in curves])
    by_booster = losses.reshape(-1, n_ways, N_BUDGETS).min(axis=1)
    return sorted(rank_rows(by_booster)[:n_kept])


def _best_within(
    costs: NDArray[np.float64],
    losses: NDArray[np.float64],
    budgets: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the least loss within each budget; infinite if nothing is."""
    is_within = costs[None] <= budgets[:, None] * (1.0 + 1e-9)
    least = np.where(is_within, losses[None], np.inf).min(axis=1)
    return np.asarray(least, dtype=np.float64)


def rank_rows(losses: NDArray[np.float64]) -> list[int]:
    """Return rows by their best place in any column; alike, the first column counts.

    Of rows that are alike in a column, the first comes first.

    Examples
    --------
    >>> rank_rows(np.array([[3.0, 1.0, 1.0], [1.0, 2.0, 3.0], [2.0, 3.0, 2.0]]))
    [1, 0, 2]
    """
    order = np.argsort(losses, axis=0, kind="stable")
    return list(dict.fromkeys(order.ravel().tolist()))
