"""Choose for the user: prove when it can be proved, else the best of several."""

from __future__ import annotations

from dataclasses import replace

from askless.exceptions import InvalidOptionError, NoPolicyError
from askless.policy import Tree
from askless.solve._task import Limits, MethodResult, Task
from askless.solve.greedy._greedy import grow_ec2_tree, grow_gbs_tree, grow_greedy_tree
from askless.solve.search._integers import state_in_integers
from askless.solve.search._search import search_exactly
from askless.solve.unknown._rules import grow_rule
from askless.solve.unknown._search import can_search, search_unknown

__all__ = ["solve_automatically", "solve_unknown_automatically"]

# What a search gets when the user sets no limit.
DEFAULT_SECONDS = 10.0
# A search over more cells than this would not get beyond its first states.
MOST_CELLS = 3_000_000
MOST_UNKNOWN_CELLS = 1_000_000


def solve_automatically(task: Task, limits: Limits) -> MethodResult:
    """Search and prove if the table allows it; else take the best greedy tree.

    Parameters
    ----------
    task : Task
        What to solve.
    limits : Limits
        Time, threads and progress; ten seconds if there is no time limit.
    """
    table = task.table
    if table.n_cases * table.n_tests <= MOST_CELLS:
        try:
            state_in_integers(task)
        except InvalidOptionError:
            pass
        else:
            found = search_exactly(task, _limit_time(limits))
            return found._replace(winner="exact")
    return best_of_greedy(task)


def solve_unknown_automatically(task: Task, limits: Limits) -> MethodResult:
    """Search a table with unknown outcomes; one that is too large, by the best rule.

    Parameters
    ----------
    task, limits
        See :func:`solve_automatically`.
    """
    table = task.table
    if table.n_cases * table.n_tests <= MOST_UNKNOWN_CELLS and can_search(task):
        try:
            found = search_unknown(task, _limit_time(limits))
            return found._replace(winner="exact")
        except NoPolicyError:
            # Even a good tree is too large: the rule has to do without one.
            pass
    return grow_rule(task, "elimination")._replace(winner="elimination")


def _limit_time(limits: Limits) -> Limits:
    if limits.time_limit is None:
        return replace(limits, time_limit=DEFAULT_SECONDS)
    return limits


def best_of_greedy(task: Task) -> MethodResult:
    """Return the cheapest tree of the greedy methods; on a tie, the first of them."""
    trees = {
        "greedy": grow_greedy_tree(task),
        "greedy, powers of 3": grow_greedy_tree(task, impurity="powers", power=3),
        "ec2": grow_ec2_tree(task),
        "gbs": grow_gbs_tree(task),
    }
    return _cheapest(task, trees)


def _cheapest(task: Task, trees: dict[str, Tree]) -> MethodResult:
    if task.objective == "worst":
        costs = {name: tree.worst_cost for name, tree in trees.items()}
    else:
        costs = {name: tree.expected_cost for name, tree in trees.items()}
    winner = min(costs, key=lambda name: costs[name])
    return MethodResult(trees[winner], winner=winner)
