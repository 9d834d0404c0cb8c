"""Write a policy for unknown outcomes out as a tree, asking it at every state."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import NoPolicyError
from askless.policy import NodesBuilder, Rule, Tree
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
    builder = NodesBuilder()
    first = group_classes(task.class_ids)
    stack: list[tuple[Cases, Surprisal, tuple[int, ...]]] = [
        (first, np.zeros(len(first), dtype=np.int64), ())
    ]
    while stack:
        cases, surprisal, done = stack.pop()
        weights = _weigh(task, cases, surprisal)
        test = (
            choose(*_merge(stated, cases, surprisal), done) if len(weights) > 1 else -1
        )
        if test < 0:
            builder.add_leaf(weights)
            continue
        parts = [
            (code, *kernel.advance(cases, surprisal, test, code))
            for code in task.table.possible.list_codes(test, cases)
        ]
        sums = [sum(_weigh(task, part, own).values()) for _, part, own in parts]
        codes = [code for code, _, _ in parts]
        builder.add_test(test, codes, weights, default=_heaviest(sums))
        stack.extend((part, own, (*done, test)) for _, part, own in reversed(parts))
    return task.make_tree(builder.build())


def expand_beliefs(task: Task, rule: Rule, max_nodes: int) -> Tree:
    """Return the tree of a rule with a memory, asking it at every belief.

    Raises
    ------
    NoPolicyError
        If the tree has too many nodes.
    """
    root = rule.initial_state()
    # A belief counts surprisals from the least; beside it stands what was taken off.
    stack: list[tuple[Belief, int]] = [(root, 0)]
    builder = NodesBuilder()
    while stack:
        state, lost = stack.pop()
        if builder.n_nodes >= max_nodes:
            raise NoPolicyError(
                f"A tree must have at most {max_nodes:,} nodes. Got more: every "
                "unknown outcome doubles what may be seen. Ask the rule itself."
            )
        test = rule.next_test(state)
        weights = _weigh(task, state.cases, state.surprisal + lost)
        if test is None:
            builder.add_leaf(weights)
            continue
        parts, sums = [], []
        for code in task.table.possible.list_codes(test, state.cases):
            after = rule.advance(state, code)
            own = rule.kernel.advance(state.cases, state.surprisal, test, code)[1]
            off = lost + int(own.min())
            parts.append((code, after, off))
            sums.append(sum(_weigh(task, after.cases, after.surprisal + off).values()))
        codes = [code for code, _, _ in parts]
        builder.add_test(test, codes, weights, default=_heaviest(sums))
        stack.extend((after, off) for _, after, off in reversed(parts))
    return task.make_tree(builder.build())


def _heaviest(weights: list[float]) -> int:
    """Return the heaviest part; on a tie, the first."""
    heaviest = max(weights)
    return next(i for i, w in enumerate(weights) if w >= heaviest * (1 - 1e-12))


def _weigh(task: Task, cases: Cases, surprisal: Surprisal) -> dict[int, float]:
    weights = task.table.prior[cases] * np.exp2(-surprisal / UNIT)
    classes, where = np.unique(task.class_ids[cases], return_inverse=True)
    summed = np.bincount(where, weights=weights)
    return dict(zip(classes.tolist(), summed.tolist(), strict=True))


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
