"""Look at every number of a solved table: its effect, and when a choice changes."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from askless.exceptions import InvalidOptionError
from askless.policy import Policy, Tree
from askless.solve._task import Task
from askless.solve.sensitivity._fixed import FixedPolicy
from askless.solve.sensitivity._parameters import (
    Parameter,
    list_parameters,
    list_probabilities,
)
from askless.solve.sensitivity._report import Influence, Sensitivity
from askless.solve.sensitivity._resolve import (
    Found,
    NoTime,
    Resolver,
    first_test_of,
)

__all__ = ["analyse"]


def analyse(
    policy: Policy,
    task: Task,
    *,
    is_proved: bool,
    swing: float,
    span: float,
    time_limit: float,
    most_probabilities: int,
    how: dict[str, Any],
) -> Sensitivity:
    """Return what a solution hangs on; see :meth:`Solution.sensitivity`."""
    tree = _check(policy, task, swing=swing, span=span, time_limit=time_limit, how=how)
    fixed = FixedPolicy(tree, task)
    listed = list_parameters(task, span)
    rows = [(one, _influence(one, fixed, swing)) for one in listed]
    cells = [(one, _influence(one, fixed, swing)) for one in list_probabilities(task)]
    cells.sort(key=lambda pair: -pair[1].effect)
    kept = {id(one) for one, _ in cells[:most_probabilities]}
    cells = [(one, row) for one, row in cells if id(one) in kept or row.slack <= swing]
    pairs = sorted([*rows, *cells], key=lambda pair: -pair[1].effect)
    resolver = Resolver(time_limit, how)
    start = Found(tree, is_proved)
    found = [_searched(one, row, start, task, resolver) for one, row in pairs]
    return Sensitivity(fixed.cost, first_test_of(tree, task), swing, tuple(found))


def _influence(parameter: Parameter, fixed: FixedPolicy, swing: float) -> Influence:
    low, high = parameter.swung(swing)
    return Influence(
        parameter.kind,
        parameter.name,
        parameter.value,
        low,
        high,
        fixed.cost_at(parameter, low),
        fixed.cost_at(parameter, high),
        decision=fixed.decision_changes(parameter),
    )


def _searched(
    parameter: Parameter, row: Influence, start: Found, task: Task, resolver: Resolver
) -> Influence:
    """Return a row with where the first test changes, if there is time to look."""
    below = above = None
    try:
        if not _is_settled(parameter, start.tree, task, parameter.low):
            below = resolver.find_change(parameter, start, parameter.low)
        if not _is_settled(parameter, start.tree, task, parameter.high):
            above = resolver.find_change(parameter, start, parameter.high)
    except NoTime:
        return row
    return replace(row, first_test=(below, above), is_searched=True)


def _is_settled(parameter: Parameter, tree: Tree, task: Task, far: float) -> bool:
    """Return whether the first test stays the best for sure.

    The first test is paid for in every case, so if it gets cheaper no other policy
    gains more. A test that is not asked can get dearer.
    """
    if parameter.kind != "price":
        return False
    copies = [t for t, of in enumerate(task.table.repeats) if of == parameter.test]
    if far < parameter.value:
        return int(tree.test[0]) == parameter.test and not copies
    return not {parameter.test, *copies} & set(tree.used_tests)


def _check(
    policy: Policy,
    task: Task,
    *,
    swing: float,
    span: float,
    time_limit: float,
    how: dict[str, Any],
) -> Tree:
    if not isinstance(policy, Tree):
        raise InvalidOptionError(
            "The sensitivity is worked out for a tree. Got a policy that is a "
            f"{policy.kind}. Solve without online=True, by a method that gives a tree."
        )
    if task.objective not in ("expected", "total") or "max_error" in how:
        got = "max_error" if "max_error" in how else f"objective={task.objective!r}"
        raise InvalidOptionError(
            "The sensitivity is that of the expected or the total cost. Got "
            f"{got}. Solve with objective='expected' or 'total'."
        )
    if not 0 < swing <= 1:
        raise InvalidOptionError(
            f"swing must be a share above 0 and at most 1. Got {swing!r}. 0.2 moves "
            "each number by a fifth."
        )
    if not span > 1:
        raise InvalidOptionError(
            "span must be above 1: how many times larger a price may get. Got "
            f"{span!r}. Use 10, for example."
        )
    if math.isnan(time_limit) or time_limit < 0:
        raise InvalidOptionError(
            f"time_limit must be a number of seconds >= 0. Got {time_limit!r}. Use 0 "
            "to leave the first test out."
        )
    return policy
