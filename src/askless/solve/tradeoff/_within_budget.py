"""The least error within a budget: the best pruning of any tree of a portfolio.

One grown tree serves every budget, since each is kept by a pruning of it.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from askless.exceptions import (
    DegeneratePolicyWarning,
    InvalidOptionError,
    NoPolicyError,
)
from askless.policy import Tree
from askless.solve._task import Task
from askless.solve.greedy._greedy import grow_by_criterion
from askless.solve.greedy._impurities import make_criterion
from askless.solve.tradeoff._candidates import (
    TO_USER,
    Candidate,
    check_error,
    leave_out_same,
    make_prunings,
)
from askless.solve.tradeoff._last_test import Known
from askless.solve.tradeoff._portfolio import (
    grow_in_budget,
    grow_members,
    has_one_price,
    list_members,
)
from askless.solve.tradeoff._prunings import TOLERANCE

__all__ = ["solve_within_budget"]


def solve_within_budget(
    task: Task,
    budget: float,
    *,
    max_error: float = 1.0,
    grid: Sequence[float] | None = None,
) -> tuple[Tree, str]:
    """Return the tree of least error found whose worst cost is within a budget.

    Parameters
    ----------
    task : Task
        What to solve.
    budget : float
        The most that any case may pay.
    max_error : float, default=1.0
        The largest share of the weight that may be decided wrongly.
    grid : sequence of float, optional
        Thresholds of the hinges to try, as shares of the weight of all cases.

    Returns
    -------
    tree : Tree
        Of trees of the same error, the one of least expected cost.
    name : str
        How the tree was grown.

    Raises
    ------
    InvalidOptionError
        If the budget or `max_error` is not in its range.
    NoPolicyError
        If every tree that was found in the budget has a larger error.

    Warns
    -----
    DegeneratePolicyWarning
        If no test fits into the budget, or none that fits lowers the error.

    Notes
    -----
    Trees are grown by Pairs, by Powers 3 to 5 and by both hinges, with minimax and with
    expected splits. Of each the best pruning that fits is found, with the last test of
    each path chosen for the error that it leaves; where prices differ, some trees are
    also grown from tests that still fit. More budget never gives more error, unless a
    table has so many prices that not all trees of smaller budgets are tried.

    Examples
    --------
    >>> import askless
    >>> from askless.solve._solve import make_task
    >>> table = askless.Table([[0, 0], [0, 1], [1, 1]], ["a", "b", "c"],
    ...                       costs=[1, 3], prior=[2, 1, 1])
    >>> tree, name = solve_within_budget(make_task(table, "worst", "class"), 2)
    >>> tree.worst_cost, name
    (1.0, 'pairs')
    """
    budget = _check_budget(budget)
    max_error = check_error(max_error)
    best: Candidate | None = None
    known: Known = {}
    for name, tree in leave_out_same(_list_trees(task, budget, grid)):
        prunings = make_prunings(task, tree, known)
        found = Candidate(prunings.least_error(budget), prunings, name)
        if best is None or found.has_less_error(best):
            best = found
    assert best is not None
    if best.pruning.error > max_error + TOLERANCE:
        raise NoPolicyError(
            f"A policy must cost at most {budget:g} in the worst case and decide at "
            f"most {max_error:g} of the weight wrongly. The least error found within "
            f"the budget is {best.pruning.error:.4g}. Raise the budget or max_error."
        )
    tree = best.make_tree()
    if tree.n_nodes == 1 and best.pruning.error > TOLERANCE:
        _warn_idle(task, budget)
    return tree, best.full_name


def _check_budget(budget: Any) -> float:
    if not (isinstance(budget, (int, float, np.number)) and budget >= 0):
        raise InvalidOptionError(
            f"budget must be a number >= 0. Got {budget!r}. Give the most that any "
            "case may pay."
        )
    return float(budget)


def _list_trees(
    task: Task, budget: float, grid: Sequence[float] | None
) -> Iterator[tuple[str, Tree]]:
    """Yield what the best pruning in a budget is chosen from, at least one tree."""
    members = list_members(task, grid)
    n_trees = 0
    for name, tree in grow_members(task, members):
        n_trees += 1
        yield name, tree
    if n_trees and has_one_price(task):
        # Then a tree that leaves tests out is a pruning of one that does not.
        return
    for member in members:
        if member.is_regrown:
            for tree in grow_in_budget(task, member, budget):
                yield f"{member.name}, in the budget", tree
    if not n_trees:
        criterion = make_criterion(task.classes)
        yield "no test", grow_by_criterion(task, criterion, max_depth=0)


def _warn_idle(task: Task, budget: float) -> None:
    name, price = _cheapest_test(task)
    if price > budget * (1 + TOLERANCE):
        text = (
            f"A budget should pay for a test. Got {budget:g}, and the cheapest test "
            f"that tells cases apart, {name!r}, costs {price:g}, so the policy decides "
            f"at once. Raise the budget to {price:g} or more."
        )
    else:
        text = (
            f"A budget should pay for tests that lower the error. Got {budget:g}, and "
            "no tree that was found within it errs less than one that never tests, so "
            "the policy decides at once. Raise the budget."
        )
    warnings.warn(text, DegeneratePolicyWarning, stacklevel=TO_USER + 1)


def _cheapest_test(task: Task) -> tuple[str, float]:
    """Return the cheapest test that splits the cases, by its dearest outcome."""
    table = task.table
    cheapest = ("", math.inf)
    for i, test in enumerate(table.tests):
        codes = np.unique(table.codes[i])
        if len(codes) < 2:
            continue
        price = float(table.prices.full[i])
        by_outcome = table.prices.by_outcome.get(i)
        if by_outcome is not None:
            shown = table.possible.list_codes(i)
            prices = [float(by_outcome[c]) for c in shown if c < len(by_outcome)]
            price = max(prices + [price] * (test.missing_code in shown))
        if price < cheapest[1]:
            cheapest = (test.name, price)
    return cheapest
