"""Find where another first test becomes better, by solving the table again.

The least cost is concave in every price, prior and probability: it is the least of the
lines of all policies. So two policies tell where to look next: where their lines cross.
If nothing is cheaper there, that is the point where the choice changes, exactly.
"""

from __future__ import annotations

import time
import warnings
from typing import Any, NamedTuple

from askless.policy import Tree
from askless.solve._task import Task
from askless.solve.sensitivity._follow import cost_of
from askless.solve.sensitivity._parameters import Parameter
from askless.solve.sensitivity._report import Change

__all__ = ["NoTime", "Resolver", "first_test_of"]

MOST_ROUNDS = 20
# Costs this close, relatively, are equal.
TIE = 1e-7


class NoTime(Exception):
    """There is no time to solve again."""


class Found(NamedTuple):
    """A policy that was found for a value."""

    tree: Tree
    is_proved: bool


def first_test_of(tree: Tree, task: Task) -> str:
    """Return the test that a tree asks first, or that it asks none."""
    test = int(tree.test[0])
    return "decide at once" if test < 0 else task.table.test_names[test]


class Resolver:
    """Solves a task again, as it was solved, until there is no time left.

    Parameters
    ----------
    seconds : float
        For everything.
    how : dict
        Options of ``solve``.
    """

    def __init__(self, seconds: float, how: dict[str, Any]) -> None:
        self.seconds, self.how = seconds, how
        self.end = time.monotonic() + seconds

    def solve(self, task: Task) -> Found:
        """Return a policy for a task.

        Raises
        ------
        NoTime
            If the time is over.
        """
        from askless.solve._solve import solve

        left = self.end - time.monotonic()
        if left <= 0:
            raise NoTime
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            solution = solve(
                task.table,
                objective=task.objective,
                stop=task.stop,
                time_limit=min(left, self.seconds / 10),
                **self.how,
            )
        assert isinstance(solution.policy, Tree)
        return Found(solution.policy, solution.status == "optimal")

    def find_change(
        self, parameter: Parameter, start: Found, far: float
    ) -> Change | None:
        """Return a value on the way to `far` where another first test becomes better.

        None if the first test is still the best at `far`.
        """
        near, here = parameter.value, start
        there = self.solve(parameter.at(far))
        task = parameter.at(far)
        if _same_first(here.tree, there.tree) or not _is_cheaper(task, there, here):
            return None
        is_proved = here.is_proved and there.is_proved
        for _ in range(MOST_ROUNDS):
            middle = _cross(parameter, here, there, near, far)
            if middle == far:
                # The last policy with this first test is as good there as any.
                return None
            if abs(middle - near) <= 1e-12 * max(abs(near), abs(far)):
                break
            task = parameter.at(middle)
            found = self.solve(task)
            is_proved &= found.is_proved
            if not _is_cheaper(task, found, here):
                break
            if _same_first(here.tree, found.tree):
                here, near = found, middle
            else:
                there, far = found, middle
        else:
            is_proved = False
        return Change(middle, first_test_of(there.tree, task), is_proved=is_proved)


def _same_first(one: Tree, other: Tree) -> bool:
    return int(one.test[0]) == int(other.test[0])


def _is_cheaper(task: Task, one: Found, other: Found) -> bool:
    mine, theirs = cost_of(one.tree, task), cost_of(other.tree, task)
    return mine < theirs - TIE * max(abs(mine), abs(theirs))


def _cross(
    parameter: Parameter, here: Found, there: Found, near: float, far: float
) -> float:
    """Return where two policies cost the same, between two values."""
    at_near, at_far = parameter.at(near), parameter.at(far)
    ahead = cost_of(there.tree, at_near) - cost_of(here.tree, at_near)
    behind = cost_of(here.tree, at_far) - cost_of(there.tree, at_far)
    if ahead <= 0:
        return near
    if behind <= TIE * abs(ahead):
        return far
    return near + (far - near) * ahead / (ahead + behind)
