"""Solve a table: choose the method, run it, price the policy exactly, bound the cost."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np

from askless.exceptions import (
    DegeneratePolicyWarning,
    IndistinctCasesWarning,
    InvalidOptionError,
    InvalidTableError,
    UnknownNameError,
    suggest_name,
)
from askless.policy import Tree
from askless.problem import Table
from askless.solve._bounds import pair_bound
from askless.solve._registry import METHODS, Method
from askless.solve._solution import Solution
from askless.solve._task import Task

__all__ = ["solve"]

# Costs this close to the bound, relatively, have met it.
TOLERANCE = 1e-9


def solve(
    table: Table,
    *,
    objective: str = "expected",
    method: str = "auto",
    budget: float | None = None,
    max_error: float = 0.0,
    stop: str = "class",
    time_limit: float | None = None,
    random_state: Any = None,
    **method_options: Any,
) -> Solution:
    """Find a cheap policy for a known table.

    Parameters
    ----------
    table : Table
        What each test shows for each case.
    objective : {"expected", "worst"}, default="expected"
        Which cost the lower bound is of.
    method : str, default="auto"
        One of ``askless methods``. "auto" takes the best method for the table.
    budget, max_error, time_limit
        Not supported by any method yet; leave them at their defaults.
    stop : {"class", "case"}, default="class"
        Stop when the class is known, or only when the case is.
    random_state : int, optional
        Seed of the methods that draw at random.
    **method_options
        Options of the method.

    Returns
    -------
    Solution
        The policy with its exact costs and a lower bound.

    Raises
    ------
    UnknownNameError
        If there is no such method.
    NoPolicyError
        If no policy exists within the limits.

    Warns
    -----
    IndistinctCasesWarning
        If no test tells two cases of different class apart.
    DegeneratePolicyWarning
        If there is nothing to find out, so that the policy never tests.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0, 0], [0, 1], [1, 1]], ["a", "b", "c"],
    ...                       costs=[1, 3], tests=["cheap", "dear"])
    >>> solution = askless.solve(table)
    >>> solution.method, solution.worst_cost
    ('greedy', 4.0)
    >>> print(askless.show(solution.policy))
    cheap?  1
    ├─ 0  [66.7 %, spent 1]  dear?  3
    │  ├─ 0  [33.3 %, spent 4]  => a
    │  └─ 1  [33.3 %, spent 4]  => b
    └─ 1  [33.3 %, spent 1]  => c
    """
    _check_limits(objective, budget, max_error, time_limit)
    chosen = _find_method("greedy" if method == "auto" else method)
    _check_options(chosen, method_options)
    task = _make_task(table, objective, stop)
    _warn(table, task)
    policy = chosen.solve(task, **method_options)
    assert isinstance(policy, Tree)
    is_exact = policy.n_leaves == 1 or not method_options.get("delta")
    bound = pair_bound(task) if is_exact and "max_depth" not in method_options else 0.0
    cost = policy.worst_cost if objective == "worst" else policy.expected_cost
    # The bound is of policies without error, so it proves nothing of one that has some.
    error = _error(policy)
    is_optimal = error <= TOLERANCE and cost <= bound * (1 + TOLERANCE)
    return Solution(
        policy=policy,
        method=chosen.name,
        objective=objective,
        expected_cost=policy.expected_cost,
        worst_cost=policy.worst_cost,
        error=error,
        lower_bound=min(bound, cost) if is_optimal else bound,
        bound_name="pairs",
        status="optimal" if is_optimal else "feasible",
        notes=tuple(table.notes),
    )


def _find_method(name: str) -> Method:
    if name not in METHODS:
        known = ", ".join(sorted(METHODS))
        raise UnknownNameError(
            f"method must be one of auto, {known}. Got {name!r}. "
            f"{suggest_name(name, METHODS)}See `askless methods`."
        )
    return METHODS[name]


def _check_options(method: Method, options: dict[str, Any]) -> None:
    known = [
        name
        for name, parameter in inspect.signature(method.solve).parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    ]
    for name in options:
        if name not in known:
            raise UnknownNameError(
                f"The options of {method.name!r} are {', '.join(known)}. Got {name!r}. "
                f"{suggest_name(name, known)}Leave it out."
            )


def _check_limits(
    objective: str, budget: Any, max_error: float, time_limit: Any
) -> None:
    if objective not in ("expected", "worst"):
        raise InvalidOptionError(
            f"objective must be 'expected' or 'worst'. Got {objective!r}. "
            f"{suggest_name(objective, ('expected', 'worst'))}Choose one of them."
        )
    if budget is not None or time_limit is not None or max_error != 0.0:
        given = next(
            name
            for name, value in (("budget", budget), ("time_limit", time_limit))
            if value is not None
        ) if (budget is not None or time_limit is not None) else "max_error"
        raise InvalidOptionError(
            f"{given} must be left at its default, since no method supports it yet. Got "
            "another value. To trade error for cost, use the option delta."
        )


def _make_task(table: Table, objective: str, stop: str) -> Task:
    if stop == "class":
        mistakes = table.costs.mistake_matrix(table.classes)
        return Task(table, table.classes, table.class_ids, mistakes, objective)
    if stop == "case":
        if len(set(table.cases)) != table.n_cases:
            raise InvalidTableError(
                "To find out the case, cases must have different names. Got the same "
                "name twice. Rename the cases."
            )
        ids = np.arange(table.n_cases, dtype=np.int32)
        return Task(table, table.cases, ids, None, objective)
    raise InvalidOptionError(
        f"stop must be 'class' or 'case'. Got {stop!r}. Choose one of them."
    )


def _warn(table: Table, task: Task) -> None:
    if len(task.labels) == 1:
        warnings.warn(
            f"A table should have at least two classes. Got only {task.labels[0]!r}, so "
            "the policy decides it at once and never tests.",
            DegeneratePolicyWarning,
            stacklevel=3,
        )
    elif table.indistinct:
        note = next(note for note in table.notes if note.startswith("No test"))
        warnings.warn(note, IndistinctCasesWarning, stacklevel=3)


def _error(tree: Tree) -> float:
    """Return the share of the weight that ends in a leaf that decides otherwise."""
    wrong = total = 0.0
    for leaf in np.flatnonzero(tree.test < 0):
        start, end = tree.weight_start[leaf], tree.weight_start[leaf + 1]
        weights = tree.weight[start:end]
        right = tree.weight_class[start:end] == tree.node_decision[leaf]
        wrong += float(weights[~right].sum())
        total += float(weights.sum())
    return wrong / total
