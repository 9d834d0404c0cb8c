"""Write a rule out as a tree: ask the rule at every set of cases that it can meet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.policy import Tree
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
    arrays: dict[str, list[Any]] = {
        name: []
        for name in (
            "test", "cut", "branch_start", "branch_code", "branch_child",
            "default_branch", "weight_start", "weight_class", "weight",
        )
    }  # fmt: skip
    # A node still to do: its cases, the rule's note, and the branch that leads to it.
    stack: list[tuple[Cases, Any, int]] = [(np.arange(table.n_cases), None, -1)]
    while stack:
        cases, note, branch = stack.pop()
        node = len(arrays["test"])
        if branch >= 0:
            arrays["branch_child"][branch] = node
        labels, weights = _weigh(task, cases)
        arrays["weight_start"].append(len(arrays["weight"]))
        arrays["weight_class"].extend(labels)
        arrays["weight"].extend(weights)
        arrays["branch_start"].append(len(arrays["branch_code"]))
        arrays["cut"].append(-1)
        test, below = choose(cases, note) if len(labels) > 1 else (-1, None)
        arrays["test"].append(test)
        if test < 0:
            arrays["default_branch"].append(-1)
            continue
        codes = table.codes[test, cases]
        present, where = np.unique(codes, return_inverse=True)
        parts = [cases[where == i] for i in range(len(present))]
        mass = np.array([table.prior[part].sum() for part in parts])
        arrays["default_branch"].append(int(np.argmax(mass)))
        first = len(arrays["branch_code"])
        arrays["branch_code"].extend(present.tolist())
        arrays["branch_child"].extend([-1] * len(present))
        stack.extend(
            (parts[i], below(parts[i]) if below else None, first + i)
            for i in range(len(present) - 1, -1, -1)
        )
    arrays["branch_start"].append(len(arrays["branch_code"]))
    arrays["weight_start"].append(len(arrays["weight"]))
    types = {"weight": np.float64, "weight_start": np.int64}
    return Tree.from_arrays(
        {
            name: np.array(v, dtype=types.get(name, np.int32))
            for name, v in arrays.items()
        },
        table.tests,
        task.classes,
        table.prices,
        task.mistakes,
    )


def _weigh(task: Task, cases: Cases) -> tuple[list[int], list[float]]:
    labels, where = np.unique(task.class_ids[cases], return_inverse=True)
    weights = np.bincount(where, weights=task.table.prior[cases])
    return labels.tolist(), weights.tolist()
