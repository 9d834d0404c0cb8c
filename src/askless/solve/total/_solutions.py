"""Solutions in which error is traded for cost, with what is proved of them."""

from __future__ import annotations

from askless.exceptions import InvalidOptionError
from askless.solve._solution import Solution
from askless.solve._task import FrontPoint, Limits, Task
from askless.solve.total._front import (
    cheapest_within_error,
    least_error_within,
    trace_expected,
    trace_worst,
)

__all__ = ["solve_exact_trade", "solve_fronts"]

DEFAULT_SECONDS = 10.0


def solve_exact_trade(
    task: Task, limits: Limits, budget: float | None, max_error: float
) -> Solution:
    """Return the least error within a budget, or the least cost within an error.

    Parameters
    ----------
    task : Task
        Its objective says which cost is to be small.
    limits : Limits
        Time, threads and progress.
    budget : float, optional
        No path spends more.
    max_error : float
        Without a budget: the largest error that is allowed.
    """
    if budget is not None and max_error > 0:
        raise InvalidOptionError(
            "method='exact' finds the least error within a budget, or the least cost "
            f"within an error. Got budget={budget:g} and max_error={max_error:g}. "
            "Leave one of them out, or use method='auto'."
        )
    if budget is not None:
        point = least_error_within(task, limits, budget)
        return _solution(task, point, error_bound=point.lower_bound)
    point = cheapest_within_error(task, limits, max_error)
    return _solution(task, point, lower_bound=point.lower_bound)


def solve_fronts(task: Task, limits: Limits) -> Solution:
    """Return what a smaller error costs, in expected and in worst cost.

    Parameters
    ----------
    task, limits
        See :func:`solve_exact_trade`; half of the time is for each of the fronts, ten
        seconds if there is no limit.
    """
    seconds = DEFAULT_SECONDS if limits.time_limit is None else limits.time_limit
    expected = trace_expected(task, Limits(seconds / 2, None, limits.n_jobs))
    worst = trace_worst(task, Limits(seconds / 2, None, limits.n_jobs))
    return _solution(
        task,
        expected[-1],
        lower_bound=expected[-1].lower_bound,
        expected_front=tuple(expected),
        worst_front=tuple(worst),
    )


def _solution(
    task: Task,
    point: FrontPoint,
    *,
    lower_bound: float = 0.0,
    error_bound: float = 0.0,
    expected_front: tuple[FrontPoint, ...] = (),
    worst_front: tuple[FrontPoint, ...] = (),
) -> Solution:
    return Solution(
        policy=point.policy,
        method="exact",
        objective=task.objective,
        expected_cost=point.expected_cost,
        worst_cost=point.worst_cost,
        error=point.error,
        lower_bound=lower_bound,
        bound_name="search" if lower_bound > 0 else "none",
        status="optimal" if point.is_proved else "feasible",
        notes=tuple(task.table.notes),
        error_bound=error_bound,
        expected_front=expected_front,
        worst_front=worst_front,
    )
