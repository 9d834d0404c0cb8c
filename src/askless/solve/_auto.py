"""Choose for the user: prove when it can be proved, else the best of several."""

from __future__ import annotations

from askless.exceptions import InvalidOptionError, NoPolicyError
from askless.policy import Tree
from askless.solve._answer import Answer, Limits
from askless.solve._task import Task
from askless.solve.greedy._greedy import grow_ec2_tree, grow_gbs_tree, grow_greedy_tree
from askless.solve.search._integers import state_in_integers
from askless.solve.search._search import search_exactly
from askless.solve.unknown._rules import grow_rule
from askless.solve.unknown._search import can_search, is_noisy, search_noisy

__all__ = ["solve_automatically"]

# What a search gets when the user sets no limit.
DEFAULT_SECONDS = 10.0
# A search over more cells than this would not get beyond its first states.
MOST_CELLS = 3_000_000
MOST_NOISY_CELLS = 1_000_000


def solve_automatically(task: Task, limits: Limits) -> Answer:
    """Search and prove if the table allows it; else take the best greedy tree.

    Parameters
    ----------
    task : Task
        What to solve.
    limits : Limits
        Time, threads and progress; ten seconds if there is no time limit.
    """
    table = task.table
    if limits.time_limit is None:
        limits = Limits(DEFAULT_SECONDS, limits.progress, limits.n_jobs, limits.started)
    if is_noisy(task) and not table.is_ordered.any():
        return solve_noisy(task, limits)
    if table.n_cases * table.n_tests <= MOST_CELLS:
        try:
            state_in_integers(task)
        except InvalidOptionError:
            pass
        else:
            return search_exactly(task, limits)._replace(winner="exact")
    return best_of_greedy(task)


def solve_noisy(task: Task, limits: Limits) -> Answer:
    """Search a table with unknown outcomes; one that is too large, by the best rule."""
    table = task.table
    if table.n_cases * table.n_tests <= MOST_NOISY_CELLS and can_search(task):
        try:
            return search_noisy(task, limits)._replace(winner="exact")
        except NoPolicyError:
            # Even a good tree is too large: the rule has to do without one.
            pass
    return grow_rule(task, "elimination")._replace(winner="elimination")


def best_of_greedy(task: Task) -> Answer:
    """Return the cheapest tree of the greedy methods; on a tie, the first of them."""
    trees = {
        "greedy": grow_greedy_tree(task),
        "greedy, powers of 3": grow_greedy_tree(task, impurity="powers", power=3),
        "ec2": grow_ec2_tree(task),
        "gbs": grow_gbs_tree(task),
    }
    return _cheapest(task, trees)


def _cheapest(task: Task, trees: dict[str, Tree]) -> Answer:
    if task.objective == "worst":
        costs = {name: tree.worst_cost for name, tree in trees.items()}
    else:
        costs = {name: tree.expected_cost for name, tree in trees.items()}
    winner = min(costs, key=lambda name: costs[name])
    return Answer(trees[winner], winner=winner)
