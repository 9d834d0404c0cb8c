"""Trade error against cost: the least error in a budget, the least cost for an error.

Both take the best pruning of any tree of a portfolio. One grown tree serves every
budget and every error, since each is a pruning of it.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless._core.greedy._criteria import Criterion, measure_impurity
from askless.exceptions import (
    DegeneratePolicyWarning,
    InvalidOptionError,
    NoPolicyError,
)
from askless.policy import Tree
from askless.problem._identical import group_identical
from askless.solve._task import Task
from askless.solve.greedy._greedy import grow_by_criterion
from askless.solve.greedy._impurities import make_criterion
from askless.solve.tradeoff._last_test import Known, LastTests
from askless.solve.tradeoff._portfolio import (
    grow_in_budget,
    grow_members,
    has_one_price,
    list_members,
)
from askless.solve.tradeoff._prune import prune_tree, wrong_weights
from askless.solve.tradeoff._prunings import TOLERANCE, Pruning, Prunings

__all__ = [
    "CurvePoint",
    "error_cost_curve",
    "solve_within_budget",
    "solve_within_error",
]

# Calls between a function here and who called `solve`.
TO_USER = 4


@dataclass(frozen=True)
class _Candidate:
    """A pruning of a tree of the portfolio."""

    pruning: Pruning
    prunings: Prunings
    name: str

    def make_tree(self) -> Tree:
        return self.prunings.make_tree(self.pruning)

    @property
    def full_name(self) -> str:
        return self.name + ", last tests by error" * bool(self.pruning.lasts)


def _check_budget(budget: Any) -> float:
    if not (isinstance(budget, (int, float, np.number)) and budget >= 0):
        raise InvalidOptionError(
            f"budget must be a number >= 0. Got {budget!r}. Give the most that any "
            "case may pay."
        )
    return float(budget)


def _check_error(max_error: Any) -> float:
    if not (isinstance(max_error, (int, float, np.number)) and 0 <= max_error <= 1):
        raise InvalidOptionError(
            f"max_error must be a share from 0 to 1. Got {max_error!r}. 0.05 allows "
            "one wrong decision in twenty."
        )
    return float(max_error)


# Within a budget.


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
        The rule that the tree was grown by.

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
    >>> from askless.solve._solve import _make_task
    >>> table = askless.Table([[0, 0], [0, 1], [1, 1]], ["a", "b", "c"],
    ...                       costs=[1, 3], prior=[2, 1, 1])
    >>> tree, name = solve_within_budget(_make_task(table, "worst", "class"), 2)
    >>> tree.worst_cost, name
    (1.0, 'pairs')
    """
    budget = _check_budget(budget)
    max_error = _check_error(max_error)
    best: _Candidate | None = None
    known: Known = {}
    for name, tree in _leave_out_same(_list_trees(task, budget, grid)):
        prunings = _list_prunings(task, tree, known)
        found = _Candidate(prunings.least_error(budget), prunings, name)
        if best is None or _is_better(found, best):
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


def _leave_out_same(trees: Iterable[tuple[str, Tree]]) -> Iterator[tuple[str, Tree]]:
    """Yield trees without those that ask the same as an earlier one."""
    seen: set[tuple[bytes, ...]] = set()
    for name, tree in trees:
        asks = (tree.test.tobytes(), tree.cut.tobytes(), tree.branch_code.tobytes())
        if asks not in seen:
            seen.add(asks)
            yield name, tree


def _list_prunings(task: Task, tree: Tree, known: Known) -> Prunings:
    """Return the prunings of a tree, with last tests if all outcomes are known."""
    if task.table.has_unknown:
        return Prunings(tree)
    return Prunings(tree, LastTests(task, tree, known))


def _is_better(found: _Candidate, best: _Candidate) -> bool:
    """Return whether a pruning has less error, or the same at less expected cost."""
    difference = found.pruning.error - best.pruning.error
    if abs(difference) > TOLERANCE:
        return difference < 0
    cost = best.pruning.expected_cost
    return found.pruning.expected_cost < cost * (1 - TOLERANCE)


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
    """Return the test that parts cases for the least price, by its dearest outcome."""
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


# Within an error.


def solve_within_error(
    task: Task, max_error: float, *, grid: Sequence[float] | None = None
) -> tuple[Tree, str]:
    """Return the cheapest tree found that errs no more than allowed.

    Parameters
    ----------
    task : Task
        What to solve; its objective says which cost is to be small.
    max_error : float
        The largest share of the weight that may be decided wrongly.
    grid : sequence of float, optional
        Thresholds of the hinges to try, as shares of the weight of all cases.

    Returns
    -------
    tree : Tree
        Of trees of the same worst cost the one of least error, then of least expected
        cost; of trees of the same expected cost the one of least error.
    name : str
        The rule that the tree was grown by.

    Raises
    ------
    InvalidOptionError
        If `max_error` is not in [0, 1].
    NoPolicyError
        If every tree that was found has a larger error.

    Warns
    -----
    DegeneratePolicyWarning
        If deciding at once errs little enough.

    Notes
    -----
    The portfolio is that of :func:`solve_within_budget`. More error allowed never gives
    more cost.

    Examples
    --------
    >>> import askless
    >>> from askless.solve._solve import _make_task
    >>> table = askless.Table([[0, 0], [0, 1], [1, 1]], ["a", "b", "c"],
    ...                       costs=[1, 3], prior=[2, 1, 1])
    >>> task = _make_task(table, "expected", "class")
    >>> [solve_within_error(task, e)[0].expected_cost for e in (0, 0.25)]
    [3.25, 1.0]
    """
    max_error = _check_error(max_error)
    known: Known = {}
    trees = _leave_out_same(grow_members(task, list_members(task, grid)))
    prunings = {name: _list_prunings(task, tree, known) for name, tree in trees}
    if not prunings:
        raise NoPolicyError(
            "A table must have a tree of moderate size. Got trees without end: every "
            "unknown outcome doubles what may be seen. Give a budget, or settle some "
            "unknown outcomes."
        )
    find = _cheapest_worst if task.objective == "worst" else _cheapest_expected
    best = find(prunings, max_error)
    if best is None:
        least = min(p.least_error().error for p in prunings.values())
        raise NoPolicyError(_explain_error(task, max_error, least))
    tree = best.make_tree()
    if tree.n_nodes == 1 and best.pruning.error > TOLERANCE:
        warnings.warn(
            f"max_error should be below the error of never testing. Got {max_error:g}, "
            f"and always deciding {tree.classes[tree.node_decision[0]]!r} errs in "
            f"{best.pruning.error:.4g} of the weight, so the policy decides at once. "
            "Lower max_error.",
            DegeneratePolicyWarning,
            stacklevel=TO_USER,
        )
    return tree, best.full_name


def _cheapest_worst(
    prunings: dict[str, Prunings], max_error: float
) -> _Candidate | None:
    budgets = {name: p.least_budget(max_error) for name, p in prunings.items()}
    budget = min((b for b in budgets.values() if b is not None), default=None)
    if budget is None:
        return None
    best: _Candidate | None = None
    for name, own in prunings.items():
        # The budgets of others are higher, but may be so by rounding only.
        found = _Candidate(own.least_error(budget), own, name)
        if best is None or _is_better(found, best):
            best = found
    return best


def _cheapest_expected(
    prunings: dict[str, Prunings], max_error: float
) -> _Candidate | None:
    best: _Candidate | None = None
    bounds: dict[str, float] = {}
    for name, own in prunings.items():
        relaxed = own.relax(max_error)
        if relaxed is not None:
            bounds[name] = relaxed[1]
            found = _Candidate(relaxed[0], own, name)
            best = found if best is None or _is_cheaper(found, best) else best
    if best is None:
        return None
    # What the quick search has missed can be no cheaper than the bound.
    for name in sorted(bounds, key=bounds.__getitem__):
        if bounds[name] < best.pruning.expected_cost * (1 - TOLERANCE):
            exact = prunings[name].cheapest(max_error)
            if exact is not None:
                found = _Candidate(exact, prunings[name], name)
                best = found if _is_cheaper(found, best) else best
    return best


def _is_cheaper(found: _Candidate, best: _Candidate) -> bool:
    """Return whether a pruning costs less, or the same with less error."""
    cost, least = found.pruning.expected_cost, best.pruning.expected_cost
    if abs(cost - least) > TOLERANCE * least:
        return cost < least
    return found.pruning.error < best.pruning.error - TOLERANCE


def _explain_error(task: Task, max_error: float, least: float) -> str:
    rule = f"A policy must decide at most {max_error:g} of the weight wrongly."
    if not task.table.has_unknown and least <= _least_possible(task) + 1e-9:
        return (
            f"{rule} The least error that any policy reaches is {least:.4g}, because "
            "no test tells some cases of different class apart. Raise max_error, or "
            "add a test."
        )
    cause = "unknown outcomes" if task.table.has_unknown else "the costs of mistakes"
    return (
        f"{rule} The least error found is {least:.4g}, because of {cause}. Raise "
        "max_error, or change these."
    )


def _least_possible(task: Task) -> float:
    """Return the error that remains when every outcome of every test is seen."""
    group = group_identical(task.table.codes)
    pairs = np.stack([group, task.class_ids])
    kinds, where = np.unique(pairs, axis=1, return_inverse=True)
    weight = np.bincount(where.ravel(), weights=task.table.prior)
    right = np.zeros(int(group.max()) + 1)
    np.maximum.at(right, kinds[0], weight)
    return 1.0 - float(right.sum())


# The whole curve.


@dataclass(frozen=True)
class CurvePoint:
    """What stopping at an impurity costs.

    Attributes
    ----------
    worst_cost, error : float
        Of the tree.
    delta : float
        The largest impurity at which growth stops.
    """

    worst_cost: float
    error: float
    delta: float


def error_cost_curve(
    task: Task,
    *,
    impurity: str = "pairs",
    split: str = "minimax",
    power: int = 2,
    alpha: float = 0.0,
    terms: Any = (),
) -> list[CurvePoint]:
    """Return the trade-off of early stopping: a point for each delta that matters.

    An impurity never rises along a path, so the tree that stops at delta is the whole
    tree cut at the first nodes of at most that impurity: one grown tree has the whole
    curve.

    Parameters
    ----------
    task : Task
        What to solve.
    impurity, split, power, alpha, terms
        See :func:`askless.solve.greedy._impurities.make_criterion`.

    Returns
    -------
    list of CurvePoint
        By falling delta: from deciding at once to the whole tree.

    Examples
    --------
    >>> from askless.datasets import make_synthetic_1024
    >>> from askless.solve._solve import _make_task
    >>> task = _make_task(make_synthetic_1024(), "worst", "class")
    >>> for point in error_cost_curve(task)[:3]:
    ...     print(point.worst_cost, 1024 * point.error, point.delta)
    0.0 768.0 393216.0
    1.0 512.0 ...
    """
    criterion = make_criterion(
        task.classes,
        impurity=impurity,
        split=split,
        power=power,
        alpha=alpha,
        terms=terms,
    )
    tree = grow_by_criterion(task, criterion)
    impurities = _node_impurities(task, criterion)
    above = np.where(tree.parent < 0, np.inf, impurities[tree.parent])
    wrong = wrong_weights(tree)
    points = []
    for delta in [*np.unique(impurities[tree.test >= 0])[::-1].tolist(), 0.0]:
        is_leaf = (above > delta) & ((impurities <= delta) | (tree.test < 0))
        worst = float(tree.spent[is_leaf].max())
        if tree.prices.delayed.any():
            worst = prune_tree(tree, impurities <= delta).worst_cost
        error = float(wrong[is_leaf].sum()) / float(tree.node_weight[0])
        points.append(CurvePoint(worst, error, delta))
    return points


def _node_impurities(task: Task, criterion: Criterion) -> NDArray[np.float64]:
    """Return the impurity of each node of a tree, never above that of its parent."""
    tree = grow_by_criterion(task, criterion, keeps_counts=True)
    impurities = np.array(
        [
            measure_impurity(criterion, tree.class_weights(v))
            for v in range(tree.n_nodes)
        ]
    )
    for node in range(1, tree.n_nodes):
        # Only rounding could make it so.
        impurities[node] = min(impurities[node], impurities[tree.parent[node]])
    return impurities
