"""What the best trade-off is chosen from: prunings of the trees of a portfolio.

This module must not know the limits that a tree has to keep.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from askless.exceptions import InvalidOptionError
from askless.policy import Tree
from askless.solve._task import Task
from askless.solve.tradeoff._last_test import Known, LastTests
from askless.solve.tradeoff._prunings import TOLERANCE, Pruning, Prunings

__all__ = [
    "TO_USER",
    "Candidate",
    "check_error",
    "leave_out_same",
    "make_prunings",
]

# Calls between a function that solves within limits and who called `solve`.
TO_USER = 4


@dataclass(frozen=True)
class Candidate:
    """A pruning of a tree of the portfolio."""

    pruning: Pruning
    prunings: Prunings
    name: str

    def make_tree(self) -> Tree:
        """Return the tree, pruned."""
        return self.prunings.make_tree(self.pruning)

    @property
    def full_name(self) -> str:
        """How the tree was grown, and whether its last tests were chosen anew."""
        return self.name + ", last tests by error" * bool(self.pruning.last_tests)

    def has_less_error(self, other: Candidate) -> bool:
        """Return whether it has less error, or the same at less expected cost."""
        difference = self.pruning.error - other.pruning.error
        if abs(difference) > TOLERANCE:
            return difference < 0
        cost = other.pruning.expected_cost
        return self.pruning.expected_cost < cost * (1 - TOLERANCE)

    def costs_less(self, other: Candidate) -> bool:
        """Return whether it costs less, or the same with less error."""
        cost, least = self.pruning.expected_cost, other.pruning.expected_cost
        if abs(cost - least) > TOLERANCE * least:
            return cost < least
        return self.pruning.error < other.pruning.error - TOLERANCE


def leave_out_same(trees: Iterable[tuple[str, Tree]]) -> Iterator[tuple[str, Tree]]:
    """Yield trees without those that ask the same as an earlier one."""
    seen: set[tuple[bytes, ...]] = set()
    for name, tree in trees:
        asks = (tree.test.tobytes(), tree.cut.tobytes(), tree.branch_code.tobytes())
        if asks not in seen:
            seen.add(asks)
            yield name, tree


def make_prunings(task: Task, tree: Tree, known: Known) -> Prunings:
    """Return the prunings of a tree, with last tests if all outcomes are known."""
    if task.table.has_unknown:
        return Prunings(tree)
    return Prunings(tree, LastTests(task, tree, known))


def check_error(max_error: Any) -> float:
    """Return the largest error allowed, or raise InvalidOptionError."""
    if not (isinstance(max_error, (int, float, np.number)) and 0 <= max_error <= 1):
        raise InvalidOptionError(
            f"max_error must be a share from 0 to 1. Got {max_error!r}. 0.05 allows "
            "one wrong decision in twenty."
        )
    return float(max_error)
