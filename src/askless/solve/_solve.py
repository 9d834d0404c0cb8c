"""Solve a table: choose the method, run it, price the policy, bound the cost."""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from askless._progress import Callback, Reporter
from askless.exceptions import (
    DegeneratePolicyWarning,
    IndistinctCasesWarning,
    InvalidOptionError,
    InvalidTableError,
    NoPolicyError,
    UnknownNameError,
    suggest_name,
)
from askless.policy import Policy, Tree
from askless.problem import Table
from askless.problem._jobs import count_threads
from askless.solve._own_methods import load_entry_points, method_of
from askless.solve._registry import METHODS, Method
from askless.solve._solution import Solution
from askless.solve._task import Limits, MethodResult, Priced, Task
from askless.solve.search._bounds import best_bound
from askless.solve.total._solutions import solve_exact_trade, solve_fronts
from askless.solve.total._tree import mistake_cost
from askless.solve.tradeoff._within_budget import solve_within_budget
from askless.solve.tradeoff._within_error import solve_within_error

__all__ = ["make_task", "solve"]

# Costs this close to the bound, relatively, have met it. A search works in whole
# numbers; where no scale makes costs and weights whole they are rounded down, which
# leaves the bound true and up to about 1e-7 below a cost that it has met.
TOLERANCE = 1e-6
OBJECTIVES = ("expected", "worst", "both", "total", "tradeoff")
STOPS = ("class", "case", "neighbourhood", "clique")


def solve(
    table: Table,
    *,
    objective: str = "expected",
    method: str | Callable[..., Policy] = "auto",
    budget: float | None = None,
    max_error: float = 0.0,
    stop: str = "class",
    time_limit: float | None = None,
    random_state: Any = None,
    n_jobs: int = 2,
    verbose: bool = False,
    callbacks: Callback | Iterable[Callback] | None = None,
    **method_options: Any,
) -> Solution:
    """Find a cheap policy for a known table, and say how far from the best it can be.

    Parameters
    ----------
    table : Table
        What each test shows for each case.
    objective : {"expected", "worst", "both", "total", "tradeoff"}, default="expected"
        Which cost is to be small. "both" gives every trade-off that no policy beats in
        both costs, in ``solution.pareto``. "total" counts mistakes as well, at the
        prices of ``Costs(mistakes=...)``: the policy stops when no test is worth its
        price, and tests may err. "tradeoff" gives what a smaller error costs, in
        ``solution.expected_front`` and ``solution.worst_front``.
    method : str or callable, default="auto"
        One of ``askless methods``, or a function that returns a policy for a table; see
        :func:`register_method`. "auto" proves the optimum when it can within the
        time limit, and else gives the best that it found.
    budget : float, optional
        The worst cost is never above this; the policy with the least error that is
        found within it is returned, with ``method="exact"`` one of the least error that
        there is, if it ends. With objective "both", the error-free policy of
        least expected cost within it.
    max_error : float, default=0.0
        The share of the weight that may be decided wrongly. Above 0, the cheapest
        policy that is found with at most this error is returned, with
        ``method="exact"`` and a lower bound.
    stop : {"class", "case", "neighbourhood", "clique"}, default="class"
        Stop when the class is known, or only when the case is. On a table whose cases
        cannot all be told apart for sure: when all that are left look alike to one
        case, or each to every other; see the concepts.
    time_limit : float, optional
        Seconds that an anytime method may take.
    random_state : int, optional
        Seed of the methods that draw at random: "non-adaptive" and "low-adaptive".
    n_jobs : int, default=2
        Threads of a search. Proved costs do not depend on it.
    verbose : bool, default=False
        Print how a search goes.
    callbacks : callable or several, optional
        Each is called with a :class:`~askless.solve.Progress` (seconds, best, bound)
        now and then while a search runs. One that returns True ends it with the best
        policy so far.
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
    >>> solution.worst_cost, solution.status, solution.gap
    (4.0, 'optimal', 0.0)
    >>> print(askless.show(solution.policy))
    cheap?  1
    ├─ 0  [66.7 %, spent 1]  dear?  3
    │  ├─ 0  [33.3 %, spent 4]  => a
    │  └─ 1  [33.3 %, spent 4]  => b
    └─ 1  [33.3 %, spent 1]  => c
    """
    _check_arguments(objective, budget, max_error, time_limit)
    chosen = _find_method(method)
    _check_options(chosen, method_options)
    task = make_task(table, objective, stop)
    _check_stop(chosen, stop)
    is_traded = objective == "tradeoff" or (
        method == "exact" and (budget is not None or max_error > 0)
    )
    _check_total(chosen, task, max_error, is_traded)
    if stop in ("neighbourhood", "clique") and (budget is not None or max_error > 0):
        raise InvalidOptionError(
            "A budget or a max_error trades error for cost until the class is known, "
            f"so stop must be 'class' or 'case'. Got stop={stop!r}. Leave out the "
            "stop, or the budget and the max_error."
        )
    _warn(table, task)
    # Two searches take turns where there is one core only.
    n_threads = n_jobs if n_jobs and n_jobs > 0 else count_threads(n_jobs)
    limits = Limits(time_limit, Reporter(callbacks, verbose=verbose), n_threads)
    if objective == "total":
        found = chosen.run(task, limits, {**method_options, "budget": budget})
        return _make_solution(task, found, found.winner or chosen.name, 1.0)
    if objective == "both":
        return _solve_both(task, limits, budget, max_error, method, method_options)
    if objective == "tradeoff":
        _check_tradeoff(method, budget, max_error, method_options)
        return solve_fronts(task, limits)
    if is_traded and not method_options:
        return solve_exact_trade(task, limits, budget, max_error)
    if budget is not None or max_error > 0:
        found = _trade(task, budget, max_error, method, method_options)
        return _make_solution(
            task, found, "greedy", max_error if budget is None else 1.0
        )
    if chosen.is_random:
        method_options = {**method_options, "random_state": random_state}
    found = chosen.run(task, limits, method_options)
    return _make_solution(task, found, found.winner or chosen.name, 0.0)


def _trade(
    task: Task, budget: Any, max_error: float, method: Any, options: dict[str, Any]
) -> MethodResult:
    """Trade error for cost; a portfolio of greedy trees does that."""
    if method not in ("auto", "greedy") or options:
        given = next(iter(options), method)
        raise InvalidOptionError(
            "With a budget or a max_error the method must be 'auto' or 'greedy', or "
            "'exact' for a proof, without options: all impurities are tried. Got "
            f"{given!r}. Leave it out."
        )
    if budget is not None:
        limit = max_error if max_error > 0 else 1.0
        tree, winner = solve_within_budget(task, float(budget), max_error=limit)
    else:
        tree, winner = solve_within_error(task, max_error)
    return MethodResult(tree, winner=f"greedy, {winner}")


def _solve_both(
    task: Task,
    limits: Limits,
    budget: float | None,
    max_error: float,
    method: Any,
    options: dict[str, Any],
) -> Solution:
    if method not in ("auto", "exact") or max_error > 0:
        raise InvalidOptionError(
            "objective='both' is for the exact search without error. Got "
            f"method={method!r} and max_error={max_error:g}. Use method='exact'."
        )
    found = METHODS["exact"].run(task, limits, options)
    if budget is not None and found.pareto:
        within = [p for p in found.pareto if p.worst_cost <= budget * (1 + 1e-12)]
        if not within:
            raise NoPolicyError(
                "No policy without error keeps to the budget. Got a budget of "
                f"{budget:g}, and the least worst cost is "
                f"{found.pareto[0].worst_cost:g}. Raise the budget, or allow an error."
            )
        # Points ascend in worst cost, so the last one has the least expected cost.
        found = found._replace(policy=within[-1].policy)
    return _make_solution(task, found, "exact", 0.0)


def _make_solution(
    task: Task, found: MethodResult, method: str, allowed_error: float
) -> Solution:
    policy, priced = found.policy, found.priced
    mistakes = 0.0
    if isinstance(policy, Tree) and priced is None:
        priced = Priced(policy.expected_cost, policy.worst_cost, _error(policy))
        if task.mistakes is not None:
            mistakes = mistake_cost(policy, task.mistakes)
    assert priced is not None
    mistakes = mistakes or priced.mistake_cost
    cost = priced.worst_cost if task.objective == "worst" else priced.expected_cost
    error = priced.error
    bound, name = found.lower_bound, found.bound_name
    is_total = task.objective == "total"
    if is_total:
        cost, name = cost + mistakes, name or "none"
    # Bounds are of policies without error (or with no more than cases that nothing
    # tells apart force on them); where error is allowed they prove nothing.
    if allowed_error > 0 and not is_total:
        bound, name = 0.0, "none"
    elif not name:
        bound, name = best_bound(task)
    is_free_of_choice = allowed_error == 0 and (error <= 1e-12 or name == "search")
    has_met = priced.is_exact and cost <= bound * (1 + TOLERANCE) + 1e-12
    is_optimal = (is_free_of_choice or is_total) and has_met
    return Solution(
        policy=policy,
        method=method,
        objective=task.objective,
        expected_cost=priced.expected_cost,
        worst_cost=priced.worst_cost,
        error=error,
        lower_bound=min(bound, cost),
        bound_name=name,
        status="optimal" if is_optimal else "feasible",
        notes=(*task.table.notes, *found.notes),
        pareto=found.pareto,
        is_exact=priced.is_exact,
        margin=priced.margin,
        mistake_cost=mistakes,
        _task=task,
    )


def _find_method(name: Any) -> Method:
    if not isinstance(name, str):
        return method_of(name)
    if name not in METHODS:
        # Only now, since looking at all packages takes its time.
        load_entry_points()
    if name not in METHODS:
        known = ", ".join(METHODS)
        raise UnknownNameError(
            f"method must be one of {known}, or a function that returns a policy for a "
            f"table. Got {name!r}. {suggest_name(name, METHODS)}See `askless methods`."
        )
    return METHODS[name]


def _check_options(method: Method, options: dict[str, Any]) -> None:
    known = [
        name
        for name, parameter in inspect.signature(method.solve).parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and name != "random_state"
    ]
    for name in options:
        if name not in known:
            raise UnknownNameError(
                f"The options of {method.name!r} are {', '.join(known) or 'none'}. Got "
                f"{name!r}. {suggest_name(name, known)}Leave it out."
            )


def _check_arguments(
    objective: str, budget: Any, max_error: Any, time_limit: Any
) -> None:
    if objective not in OBJECTIVES:
        raise InvalidOptionError(
            f"objective must be one of {', '.join(OBJECTIVES)}. Got {objective!r}. "
            f"{suggest_name(objective, OBJECTIVES)}Choose one of them."
        )
    for name, value in (("budget", budget), ("time_limit", time_limit)):
        if value is not None and not (_is_number(value) and value >= 0):
            raise InvalidOptionError(
                f"{name} must be a number >= 0, or None for none. Got {value!r}. Leave "
                "it out for no limit."
            )
    if not (_is_number(max_error) and 0 <= max_error <= 1):
        raise InvalidOptionError(
            f"max_error must be a share from 0 to 1. Got {max_error!r}. 0.05 allows "
            "one wrong decision in twenty."
        )


def _is_number(value: Any) -> bool:
    is_real = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    return is_real and not math.isnan(float(value))


def make_task(table: Table, objective: str, stop: str) -> Task:
    """Return what is to be solved: a table with what is to be found out."""
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
        return Task(table, table.cases, ids, None, objective, stop)
    if stop in STOPS:
        mistakes = table.costs.mistake_matrix(table.classes)
        return Task(table, table.classes, table.class_ids, mistakes, objective, stop)
    raise InvalidOptionError(
        f"stop must be one of {', '.join(STOPS)}. Got {stop!r}. "
        f"{suggest_name(stop, STOPS)}Choose one of them."
    )


def _check_stop(method: Method, stop: str) -> None:
    if stop in ("neighbourhood", "clique") and not method.has_stops:
        able = ", ".join(m.name for m in METHODS.values() if m.has_stops)
        raise InvalidOptionError(
            f"stop={stop!r} is for the methods {able}. Got method={method.name!r}. "
            "Choose one of them, or stop='class'."
        )


def _check_total(method: Method, task: Task, max_error: float, is_traded: bool) -> None:
    """Check what goes with the total cost, and what tests that may err go with."""
    if task.objective == "total":
        if method.solve_total is None:
            able = ", ".join(m.name for m in METHODS.values() if m.solve_total)
            raise InvalidOptionError(
                f"objective='total' is for the methods {able}. Got "
                f"method={method.name!r}. Choose one of them."
            )
        if task.mistakes is None:
            raise InvalidOptionError(
                "The total cost counts tests and mistakes, so mistakes must have a "
                "price. Got costs without mistakes. Give Costs(..., mistakes=...), or "
                "--mistakes on the command line."
            )
        if max_error > 0:
            raise InvalidOptionError(
                "With objective='total' the price of mistakes says how much error is "
                f"right. Got max_error={max_error:g}. Leave it out, or raise the price "
                "of mistakes."
            )
    elif task.table.has_likelihoods and not is_traded:
        raise InvalidOptionError(
            "Tests of this table can err, so a policy can be wrong, and what a mistake "
            f"costs says when to stop. Got objective={task.objective!r}. Use "
            "objective='total', with Costs(mistakes=...); on the command line, "
            "--objective total --mistakes COST."
        )


def _check_tradeoff(
    method: Any, budget: float | None, max_error: float, options: dict[str, Any]
) -> None:
    if (
        method not in ("auto", "exact")
        or budget is not None
        or max_error > 0
        or options
    ):
        raise InvalidOptionError(
            "objective='tradeoff' gives every error and what it costs, so it takes no "
            f"budget, max_error or options. Got method={method!r}, budget={budget} and "
            f"max_error={max_error:g}. Leave them out."
        )


def _warn(table: Table, task: Task) -> None:
    if len(task.classes) == 1:
        warnings.warn(
            f"A table should have at least two classes. Got only {task.classes[0]!r}, "
            "so the policy decides it at once and never tests.",
            DegeneratePolicyWarning,
            stacklevel=3,
        )
    elif table.has_likelihoods or task.objective in ("total", "tradeoff"):
        return
    elif table.indistinct and task.stop in ("class", "case"):
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
