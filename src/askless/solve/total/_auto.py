"""Choose for the user how the least total cost is found."""

from __future__ import annotations

from dataclasses import replace

from askless.exceptions import InvalidOptionError
from askless.solve._task import Limits, MethodResult, Task
from askless.solve.total._rules import grow_information_total, grow_value_total
from askless.solve.total._search import search_total
from askless.solve.total._tree import mistake_cost

__all__ = ["solve_total_automatically"]

DEFAULT_SECONDS = 10.0
# A search over more chances than this would not get beyond its first states.
MOST_CHANCES = 3_000_000


def solve_total_automatically(
    task: Task, limits: Limits, *, budget: float | None = None
) -> MethodResult:
    """Search and prove if the table allows it; else take the better of two rules.

    Parameters
    ----------
    task : Task
        What to solve.
    limits : Limits
        Time, threads and progress; ten seconds if there is no time limit.
    budget : float, optional
        No path spends more.
    """
    table = task.table
    if limits.time_limit is None:
        limits = replace(limits, time_limit=DEFAULT_SECONDS)
    if table.n_cases * sum(t.n_levels + 1 for t in table.tests) <= MOST_CHANCES:
        try:
            found = search_total(task, limits, budget=budget)
        except InvalidOptionError:
            pass
        else:
            return found._replace(winner="exact")
    trees = {
        "information": grow_information_total(task, budget=budget),
        "value": grow_value_total(task, budget=budget),
    }
    assert task.mistakes is not None
    mistakes = task.mistakes
    winner = min(
        trees, key=lambda n: trees[n].expected_cost + mistake_cost(trees[n], mistakes)
    )
    return MethodResult(trees[winner], winner=winner)
