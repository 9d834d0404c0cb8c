"""Write a policy over noisy states out as a tree, asking it at every state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.policy import Tree
from askless.solve._noisy_table import NoisyTask, group_labels, make_kernel
from askless.solve._task import Task

__all__ = ["Choice", "expand_noisy"]

Cases = NDArray[np.int32]
Noise = NDArray[np.int64]
# The next test, or -1 to decide.
Choice = int
UNIT = 2.0**40


def expand_noisy(
    task: Task,
    stated: NoisyTask,
    choose: Callable[[Cases, Noise, tuple[int, ...]], Choice],
) -> Tree:
    """Return the tree of a policy that is found by the merged cases of a task.

    Parameters
    ----------
    task : Task
    stated : NoisyTask
    choose : callable
        Takes the merged cases that are left, their noise, and the tests done; returns
        the next test, or -1 to decide.
    """
    table = task.table
    kernel = make_kernel(task)
    lists: dict[str, list[Any]] = {
        name: []
        for name in (
            "test", "cut", "branch_start", "branch_code", "branch_child",
            "default_branch", "weight_start", "weight_class", "weight",
        )
    }  # fmt: skip
    first = group_labels(task.label_ids)
    stack: list[tuple[Cases, Noise, tuple[int, ...], int]] = [
        (first, np.zeros(len(first), dtype=np.int64), (), -1)
    ]
    while stack:
        cases, noise, done, branch = stack.pop()
        node = len(lists["test"])
        if branch >= 0:
            lists["branch_child"][branch] = node
        labels, mass = _weigh(task, cases, noise)
        lists["weight_start"].append(len(lists["weight"]))
        lists["weight_class"].extend(labels)
        lists["weight"].extend(mass)
        lists["branch_start"].append(len(lists["branch_code"]))
        lists["cut"].append(-1)
        test = -1
        if len(labels) > 1:
            test = choose(*_merge(stated, cases, noise), done)
        lists["test"].append(test)
        if test < 0:
            lists["default_branch"].append(-1)
            continue
        parts = []
        for code in _possible(task, test, cases):
            part, part_noise = kernel.advance(cases, noise, test, code)
            parts.append((code, part, part_noise))
        masses = [sum(_weigh(task, part, own)[1]) for _, part, own in parts]
        heaviest = max(masses)
        lists["default_branch"].append(
            next(i for i, m in enumerate(masses) if m >= heaviest * (1 - 1e-12))
        )
        start = len(lists["branch_code"])
        lists["branch_code"].extend(code for code, _, _ in parts)
        lists["branch_child"].extend([-1] * len(parts))
        for i in range(len(parts) - 1, -1, -1):
            _, part, part_noise = parts[i]
            stack.append((part, part_noise, (*done, test), start + i))
    lists["branch_start"].append(len(lists["branch_code"]))
    lists["weight_start"].append(len(lists["weight"]))
    types: dict[str, Any] = {"weight": np.float64, "weight_start": np.int64}
    arrays = {
        name: np.array(values, dtype=types.get(name, np.int32))
        for name, values in lists.items()
    }
    return Tree.from_arrays(
        arrays, table.tests, task.labels, table.prices, task.mistakes
    )


def _possible(task: Task, test: int, cases: Cases) -> list[int]:
    """Return the codes that a test may show for some cases, ascending."""
    codes = task.table.codes[test, cases]
    unknown = task.table.tests[test].unknown_code
    may_come = set(codes[codes != unknown].tolist())
    if np.any(codes == unknown):
        may_come |= set(np.flatnonzero(task.table.chances[test] > 0).tolist())
    return sorted(may_come)


def _weigh(task: Task, cases: Cases, noise: Noise) -> tuple[list[int], list[float]]:
    weights = task.table.prior[cases] * np.exp2(-noise / UNIT)
    labels, where = np.unique(task.label_ids[cases], return_inverse=True)
    return labels.tolist(), np.bincount(where, weights=weights).tolist()


def _merge(stated: NoisyTask, cases: Cases, noise: Noise) -> tuple[Cases, Noise]:
    """Return a state by the merged cases, in their order."""
    merged, where = np.unique(stated.merged[cases], return_index=True)
    # The order of the search: by label, as its list of all cases has them.
    rank = np.empty(len(stated.cases), dtype=np.int64)
    rank[stated.cases] = np.arange(len(stated.cases))
    order = np.argsort(rank[merged], kind="stable")
    return merged[order].astype(np.int32), np.ascontiguousarray(noise[where[order]])
