"""Write a rule out as a tree: ask the rule at every set of cases that it can meet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.policy import NodesBuilder, Tree
from askless.solve._task import Task

__all__ = ["expand_rule"]

Cases = NDArray[np.int64]


Choice = tuple[int, Callable[[Cases], Any] | None]


def expand_rule(task: Task, choose: Callable[[Cases, Any], Choice]) -> Tree:
    """Return the tree that a rule stands for, on a table without unknown outcomes.

    Parameters
    ----------
    task : Task
        The table and what is to be decided.
    choose : callable
        Takes the cases that are left and a note of its own (None at the root); returns
        the next test, or -1 to decide, and a function from the cases of a branch to
        their note.
    """
    table = task.table
    builder = NodesBuilder()
    # A node still to do: its cases, and the rule's note.
    stack: list[tuple[Cases, Any]] = [(np.arange(table.n_cases), None)]
    while stack:
        cases, note = stack.pop()
        weights = _weigh(task, cases)
        test, below = choose(cases, note) if len(weights) > 1 else (-1, None)
        if test < 0:
            builder.add_leaf(weights)
            continue
        codes = table.codes[test, cases]
        present, where = np.unique(codes, return_inverse=True)
        parts = [cases[where == i] for i in range(len(present))]
        sums = np.array([table.prior[part].sum() for part in parts])
        builder.add_test(test, present, weights, default=int(np.argmax(sums)))
        stack.extend((part, below(part) if below else None) for part in reversed(parts))
    return task.make_tree(builder.build())


def _weigh(task: Task, cases: Cases) -> dict[int, float]:
    classes, where = np.unique(task.class_ids[cases], return_inverse=True)
    weights = np.bincount(where, weights=task.table.prior[cases])
    return dict(zip(classes.tolist(), weights.tolist(), strict=True))
