"""Repeat tests that show fresh noise each time: each repeat is a test of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidTableError, suggest_name
from askless.problem._costs import Costs
from askless.problem._tests import Test

__all__ = ["Plan", "plan_repeats", "repeat_costs"]


class Plan(NamedTuple):
    """Where the repeats of tests stand: each one after the test that it repeats.

    Attributes
    ----------
    tests : tuple of Test
    order : list of int
        For each of them, the test that it was before.
    repeats : tuple of int
        For each of them, the index of the test that it repeats; -1 if it is none.
    """

    tests: tuple[Test, ...]
    order: list[int]
    repeats: tuple[int, ...]


def plan_repeats(
    tests: Sequence[Test], can_err: NDArray[np.bool_], repeatable: Mapping[str, int]
) -> Plan:
    """Return where the repeats of tests go.

    Parameters
    ----------
    tests : sequence of Test
    can_err : ndarray of bool of shape (n_tests,)
        Which tests have an outcome that is not a fact.
    repeatable : mapping of str to int
        Test to how often it can be run.
    """
    names = [test.name for test in tests]
    for name, times in repeatable.items():
        _check_repeat(name, times, names, can_err)
    planned: list[Test] = []
    order: list[int] = []
    repeats: list[int] = []
    for i, test in enumerate(tests):
        first = len(planned)
        for time in range(1, repeatable.get(test.name, 1) + 1):
            named = test if time == 1 else replace(test, name=f"{test.name} ({time})")
            planned.append(named)
            order.append(i)
            repeats.append(-1 if time == 1 else first)
    seen: set[str] = set()
    for test in planned:
        if test.name in seen:
            raise InvalidTableError(
                "A repeat must have a name of its own. Got a test that is called "
                f"{test.name!r} already. Rename that test."
            )
        seen.add(test.name)
    return Plan(tuple(planned), order, tuple(repeats))


def _check_repeat(
    name: str, times: int, names: Sequence[str], can_err: NDArray[np.bool_]
) -> None:
    if name not in names:
        raise InvalidTableError(
            f"repeatable must name tests. Got {name!r}. {suggest_name(name, names)}"
            "Leave out what is not a test."
        )
    is_whole = isinstance(times, (int, np.integer)) and not isinstance(times, bool)
    if not is_whole or times < 1:
        raise InvalidTableError(
            "A test must be repeatable a whole number of times, at least once. Got "
            f"{times!r} for {name!r}. Say how often it can be run at most."
        )
    if times > 1 and not can_err[names.index(name)]:
        raise InvalidTableError(
            "Only a test that can err is worth repeating. Got "
            f"{name!r}, whose outcomes are facts for every case. Leave it out of "
            "repeatable."
        )


def repeat_costs(costs: Costs, plan: Plan) -> Costs:
    """Return costs in which a repeat costs what the first time does.

    It is in the same group and as late. So once a test has been bought, a repeat pays
    the discounted price of the group, if there is one.
    """
    names = [
        test.name for test, i in zip(plan.tests, plan.repeats, strict=True) if i < 0
    ]
    named = costs.subset(names, all_names=names)
    times: dict[object, list[str]] = {name: [] for name in names}
    for test, old in zip(plan.tests, plan.order, strict=True):
        times[names[old]].append(test.name)

    def of_each(values: Mapping[Any, Any]) -> dict[str, Any]:
        return {one: value for key, value in values.items() for one in times[key]}

    return Costs(
        of_each(named.costs),
        groups={g: [o for t in ts for o in times[t]] for g, ts in named.groups.items()},
        discounted=of_each(named.discounted),
        delayed=[one for key in named.delayed for one in times[key]],
        by_outcome=of_each(named.by_outcome),
        mistakes=named.mistakes,
    )
