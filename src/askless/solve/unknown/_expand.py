"""Write a policy over noisy states out as a tree, asking it at every state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import NoPolicyError
from askless.policy import Rule, Tree
from askless.policy._rule import Belief
from askless.solve._task import Task
from askless.solve.unknown._table import NoisyTask, group_labels, make_kernel

__all__ = ["Choice", "expand_beliefs", "expand_noisy"]

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
    kernel = make_kernel(task)
    lists = _open_lists()
    first = group_labels(task.label_ids)
    stack: list[tuple[Cases, Noise, tuple[int, ...], int]] = [
        (first, np.zeros(len(first), dtype=np.int64), (), -1)
    ]
    while stack:
        cases, noise, done, branch = stack.pop()
        labels, mass = _weigh(task, cases, noise)
        test = choose(*_merge(stated, cases, noise), done) if len(labels) > 1 else -1
        _add_node(lists, branch, labels, mass, test)
        if test < 0:
            continue
        parts = [
            (code, *kernel.advance(cases, noise, test, code))
            for code in _possible(task, test, cases)
        ]
        masses = [sum(_weigh(task, part, own)[1]) for _, part, own in parts]
        _add_branches(lists, [code for code, _, _ in parts], masses)
        start = len(lists["branch_code"]) - len(parts)
        for i in range(len(parts) - 1, -1, -1):
            _, part, part_noise = parts[i]
            stack.append((part, part_noise, (*done, test), start + i))
    return _close_lists(task, lists)


def expand_beliefs(task: Task, rule: Rule, max_nodes: int) -> Tree:
    """Return the tree of a rule with a memory, asking it at every belief.

    Raises
    ------
    NoPolicyError
        If the tree has too many nodes.
    """
    root = rule.initial_state()
    # A belief counts noise from its least; beside it stands what was taken off.
    stack: list[tuple[Belief, int, int]] = [(root, 0, -1)]
    lists = _open_lists()
    while stack:
        state, lost, branch = stack.pop()
        if len(lists["test"]) >= max_nodes:
            raise NoPolicyError(
                f"A tree must have at most {max_nodes:,} nodes. Got more: every "
                "unknown outcome doubles what may be seen. Ask the rule itself."
            )
        test = rule.next_test(state)
        labels, mass = _weigh(task, state.cases, state.noise + lost)
        _add_node(lists, branch, labels, mass, -1 if test is None else test)
        if test is None:
            continue
        parts, masses = [], []
        for code in _possible(task, test, state.cases):
            after = rule.advance(state, code)
            own = rule.kernel.advance(state.cases, state.noise, test, code)[1]
            off = lost + int(own.min())
            parts.append((code, after, off))
            masses.append(sum(_weigh(task, after.cases, after.noise + off)[1]))
        _add_branches(lists, [code for code, _, _ in parts], masses)
        start = len(lists["branch_code"]) - len(parts)
        for i in range(len(parts) - 1, -1, -1):
            stack.append((parts[i][1], parts[i][2], start + i))
    return _close_lists(task, lists)


def _open_lists() -> dict[str, list[Any]]:
    return {
        name: []
        for name in (
            "test", "cut", "branch_start", "branch_code", "branch_child",
            "default_branch", "weight_start", "weight_class", "weight",
        )
    }  # fmt: skip


def _add_node(
    lists: dict[str, list[Any]],
    branch: int,
    labels: list[int],
    mass: list[float],
    test: int,
) -> None:
    """Append a node; a leaf has the test -1."""
    if branch >= 0:
        lists["branch_child"][branch] = len(lists["test"])
    lists["weight_start"].append(len(lists["weight"]))
    lists["weight_class"].extend(labels)
    lists["weight"].extend(mass)
    lists["branch_start"].append(len(lists["branch_code"]))
    lists["cut"].append(-1)
    lists["test"].append(test)
    if test < 0:
        lists["default_branch"].append(-1)


def _add_branches(
    lists: dict[str, list[Any]], codes: list[int], masses: list[float]
) -> None:
    """Append the branches of the node that was added last; the heaviest is default."""
    heaviest = max(masses)
    lists["default_branch"].append(
        next(i for i, m in enumerate(masses) if m >= heaviest * (1 - 1e-12))
    )
    lists["branch_code"].extend(codes)
    lists["branch_child"].extend([-1] * len(codes))


def _close_lists(task: Task, lists: dict[str, list[Any]]) -> Tree:
    lists["branch_start"].append(len(lists["branch_code"]))
    lists["weight_start"].append(len(lists["weight"]))
    types: dict[str, Any] = {"weight": np.float64, "weight_start": np.int64}
    arrays = {
        name: np.array(values, dtype=types.get(name, np.int32))
        for name, values in lists.items()
    }
    table = task.table
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
