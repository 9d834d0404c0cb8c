"""The least cost within an error: the best pruning of any tree of a portfolio.

One grown tree serves every error, since each is kept by a pruning of it.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from askless.exceptions import DegeneratePolicyWarning, NoPolicyError
from askless.policy import Tree
from askless.problem._identical import group_identical
from askless.solve._task import Task
from askless.solve.tradeoff._candidates import (
    TO_USER,
    Candidate,
    check_error,
    leave_out_same,
    make_prunings,
)
from askless.solve.tradeoff._cheapest import find_cheapest
from askless.solve.tradeoff._last_test import Known
from askless.solve.tradeoff._portfolio import grow_members, list_members
from askless.solve.tradeoff._prunings import TOLERANCE, Prunings

__all__ = ["solve_within_error"]


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
        How the tree was grown.

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
    The portfolio is that of
    :func:`~askless.solve.tradeoff._within_budget.solve_within_budget`. More error
    allowed never gives more cost.

    Examples
    --------
    >>> import askless
    >>> from askless.solve._solve import make_task
    >>> table = askless.Table([[0, 0], [0, 1], [1, 1]], ["a", "b", "c"],
    ...                       costs=[1, 3], prior=[2, 1, 1])
    >>> task = make_task(table, "expected", "class")
    >>> [solve_within_error(task, e)[0].expected_cost for e in (0, 0.25)]
    [3.25, 1.0]
    """
    max_error = check_error(max_error)
    known: Known = {}
    trees = leave_out_same(grow_members(task, list_members(task, grid)))
    prunings = {name: make_prunings(task, tree, known) for name, tree in trees}
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
) -> Candidate | None:
    budgets = {name: p.least_budget(max_error) for name, p in prunings.items()}
    budget = min((b for b in budgets.values() if b is not None), default=None)
    if budget is None:
        return None
    best: Candidate | None = None
    for name, own in prunings.items():
        # The budgets of others are higher, but may be so by rounding only.
        found = Candidate(own.least_error(budget), own, name)
        if best is None or found.has_less_error(best):
            best = found
    return best


def _cheapest_expected(
    prunings: dict[str, Prunings], max_error: float
) -> Candidate | None:
    best: Candidate | None = None
    bounds: dict[str, float] = {}
    for name, own in prunings.items():
        relaxed = own.relax(max_error)
        if relaxed is not None:
            bounds[name] = relaxed[1]
            found = Candidate(relaxed[0], own, name)
            best = found if best is None or found.costs_less(best) else best
    if best is None:
        return None
    # What the quick search has missed can be no cheaper than the bound.
    for name in sorted(bounds, key=bounds.__getitem__):
        if bounds[name] < best.pruning.expected_cost * (1 - TOLERANCE):
            exact = find_cheapest(prunings[name], max_error)
            if exact is not None:
                found = Candidate(exact, prunings[name], name)
                best = found if found.costs_less(best) else best
    return best


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
