"""One name, two engines: tables with unknown outcomes go to the noisy one."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any

from askless.policy import Tree
from askless.solve._answer import Answer, Limits
from askless.solve._task import Task
from askless.solve.greedy._greedy import grow_ec2_tree, grow_gbs_tree
from askless.solve.search._search import search_exactly, search_restricted
from askless.solve.unknown._rules import grow_noisy_ec2, grow_noisy_gbs
from askless.solve.unknown._search import (
    is_noisy,
    search_noisy,
    search_noisy_restricted,
)

__all__ = ["grow_ec2", "grow_gbs", "solve_exactly", "solve_restricted"]


def grow_gbs(task: Task) -> Answer | Tree:
    """Generalised binary search: buy what rules out most weight for its price."""
    if is_noisy(task) and not task.table.is_ordered.any():
        return grow_noisy_gbs(task)
    return grow_gbs_tree(task)


def grow_ec2(task: Task) -> Answer | Tree:
    """EC2: buy what cuts most pairs of different class, by weight, for its price."""
    if is_noisy(task) and not task.table.is_ordered.any():
        return grow_noisy_ec2(task)
    return grow_ec2_tree(task)


@wraps(search_exactly)
def solve_exactly(task: Task, limits: Limits, **options: Any) -> Answer:
    if is_noisy(task):
        return search_noisy(task, limits, **_known_to(search_noisy, options))
    return search_exactly(task, limits, **options)


@wraps(search_restricted)
def solve_restricted(task: Task, limits: Limits, **options: Any) -> Answer:
    if is_noisy(task):
        known = _known_to(search_noisy_restricted, options)
        return search_noisy_restricted(task, limits, **known)
    return search_restricted(task, limits, **options)


def _known_to(search: Callable[..., Answer], options: dict[str, Any]) -> dict[str, Any]:
    """Leave out the switches of bounds that a search does not have."""
    names = signature(search).parameters
    return {name: value for name, value in options.items() if name in names}
