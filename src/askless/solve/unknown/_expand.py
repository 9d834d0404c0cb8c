"""Write a policy for unknown outcomes out as a tree, asking it at every state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import NoPolicyError
from askless.policy import Rule, Tree
from askless.policy._rule import Belief
from askless.solve._task import Task
from askless.solve.unknown._table import UnknownTask, group_classes, make_kernel

__all__ = ["Choice", "expand_beliefs", "expand_unknown"]

Cases = NDArray[np.int32]
Surprisal = NDArray[np.int64]
# The next test, or -1 to decide.
Choice = int
UNIT = 2.0**40


def expand_unknown(
    task: Task,
    stated: UnknownTask,
    choose: Callable[[Cases, Surprisal, tuple[int, ...]], Choice],
) -> Tree:
    """Return the tree of a policy that is found by the merged cases of a task.

    Parameters
    ----------
    task : Task
    stated : UnknownTask
    choose : callable
        Takes the merged cases that are left, their surprisals, and the tests done;
        returns the next test, or -1 to decide.
    """
    kernel = make_kernel(task)
    lists = _open_lists()
    first = group_classes(task.class_ids)
    stack: list[tuple[Cases, Surprisal, tuple[int, ...], int]] = [
        (first, np.zeros(len(first), dtype=np.int64), (), -1)
    ]
    while stack:
        cases, surprisal, done, branch = stack.pop()
        classes, weight = _weigh(task, cases, surprisal)
        test = (
            choose(*_merge(stated, cases, surprisal), done) if len(classes) > 1 else -1
        )
        _add_node(lists, branch, classes, weight, test)
        if test < 0:
            continue
        parts = [
            (code, *kernel.advance(cases, surprisal, test, code))
            for code in task.table.possible.list_codes(test, cases)
        ]
        weights = [sum(_weigh(task, part, own)[1]) for _, part, own in parts]
        _add_branches(lists, [code for code, _, _ in parts], weights)
        start = len(lists["branch_code"]) - len(parts)
        for i in range(len(parts) - 1, -1, -1):
            _, part, part_surprisal = parts[i]
            stack.append((part, part_surprisal, (*done, test), start + i))
    return _close_lists(task, lists)


def expand_beliefs(task: Task, rule: Rule, max_nodes: int) -> Tree:
    """Return the tree of a rule with a memory, asking it at every belief.

    Raises
    ------
    NoPolicyError
        If the tree has too many nodes.
    """
    root = rule.initial_state()
    # A belief counts surprisals from the least; beside it stands what was taken off.
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
        classes, weight = _weigh(task, state.cases, state.surprisal + lost)
        _add_node(lists, branch, classes, weight, -1 if test is None else test)
        if test is None:
            continue
        parts, weights = [], []
        for code in task.table.possible.list_codes(test, state.cases):
            after = rule.advance(state, code)
            own = rule.kernel.advance(state.cases, state.surprisal, test, code)[1]
            off = lost + int(own.min())
            parts.append((code, after, off))
            weights.append(sum(_weigh(task, after.cases, after.surprisal + off)[1]))
        _add_branches(lists, [code for code, _, _ in parts], weights)
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
    classes: list[int],
    weight: list[float],
    test: int,
) -> None:
    """Append a node; a leaf has the test -1."""
    if branch >= 0:
        lists["branch_child"][branch] = len(lists["test"])
    lists["weight_start"].append(len(lists["weight"]))
    lists["weight_class"].extend(classes)
    lists["weight"].extend(weight)
    lists["branch_start"].append(len(lists["branch_code"]))
    lists["cut"].append(-1)
    lists["test"].append(test)
    if test < 0:
        lists["default_branch"].append(-1)


def _add_branches(
    lists: dict[str, list[Any]], codes: list[int], weights: list[float]
) -> None:
    """Append the branches of the node that was added last; the heaviest is default."""
    heaviest = max(weights)
    lists["default_branch"].append(
        next(i for i, m in enumerate(weights) if m >= heaviest * (1 - 1e-12))
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
        arrays, table.tests, task.classes, table.prices, task.mistakes
    )


def _weigh(
    task: Task, cases: Cases, surprisal: Surprisal
) -> tuple[list[int], list[float]]:
    weights = task.table.prior[cases] * np.exp2(-surprisal / UNIT)
    classes, where = np.unique(task.class_ids[cases], return_inverse=True)
    return classes.tolist(), np.bincount(where, weights=weights).tolist()


def _merge(
    stated: UnknownTask, cases: Cases, surprisal: Surprisal
) -> tuple[Cases, Surprisal]:
    """Return a state by the merged cases, in their order."""
    merged, where = np.unique(stated.merged.place[cases], return_index=True)
    # The order of the search: by class, as its list of all cases has them.
    rank = np.empty(len(stated.cases), dtype=np.int64)
    rank[stated.cases] = np.arange(len(stated.cases))
    order = np.argsort(rank[merged], kind="stable")
    return merged[order].astype(np.int32), np.ascontiguousarray(surprisal[where[order]])
