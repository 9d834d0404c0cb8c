"""Write a policy over noisy states out as a tree, asking it at every state."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import NoPolicyError
from askless.policy import NodesBuilder, Rule, Tree
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
    builder = NodesBuilder()
    first = group_labels(task.label_ids)
    stack: list[tuple[Cases, Noise, tuple[int, ...]]] = [
        (first, np.zeros(len(first), dtype=np.int64), ())
    ]
    while stack:
        cases, noise, done = stack.pop()
        weights = _weigh(task, cases, noise)
        test = choose(*_merge(stated, cases, noise), done) if len(weights) > 1 else -1
        if test < 0:
            builder.add_leaf(weights)
            continue
        parts = [
            (code, *kernel.advance(cases, noise, test, code))
            for code in _possible(task, test, cases)
        ]
        masses = [sum(_weigh(task, part, own).values()) for _, part, own in parts]
        codes = [code for code, _, _ in parts]
        builder.add_test(test, codes, weights, default=_heaviest(masses))
        stack.extend((part, own, (*done, test)) for _, part, own in reversed(parts))
    return _make_tree(task, builder)


def expand_beliefs(task: Task, rule: Rule, max_nodes: int) -> Tree:
    """Return the tree of a rule with a memory, asking it at every belief.

    Raises
    ------
    NoPolicyError
        If the tree has too many nodes.
    """
    root = rule.initial_state()
    # A belief counts noise from its least; beside it stands what was taken off.
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
        weights = _weigh(task, state.cases, state.noise + lost)
        if test is None:
            builder.add_leaf(weights)
            continue
        parts, masses = [], []
        for code in _possible(task, test, state.cases):
            after = rule.advance(state, code)
            own = rule.kernel.advance(state.cases, state.noise, test, code)[1]
            off = lost + int(own.min())
            parts.append((code, after, off))
            masses.append(sum(_weigh(task, after.cases, after.noise + off).values()))
        codes = [code for code, _, _ in parts]
        builder.add_test(test, codes, weights, default=_heaviest(masses))
        stack.extend((after, off) for _, after, off in reversed(parts))
    return _make_tree(task, builder)


def _heaviest(masses: list[float]) -> int:
    """Return the heaviest part; on a tie, the first."""
    heaviest = max(masses)
    return next(i for i, m in enumerate(masses) if m >= heaviest * (1 - 1e-12))


def _make_tree(task: Task, builder: NodesBuilder) -> Tree:
    table = task.table
    return Tree(
        table.tests,
        task.labels,
        table.prices,
        nodes=builder.build(),
        mistakes=task.mistakes,
    )


def _possible(task: Task, test: int, cases: Cases) -> list[int]:
    """Return the codes that a test may show for some cases, ascending."""
    codes = task.table.codes[test, cases]
    unknown = task.table.tests[test].unknown_code
    may_come = set(codes[codes != unknown].tolist())
    if np.any(codes == unknown):
        may_come |= set(np.flatnonzero(task.table.chances[test] > 0).tolist())
    return sorted(may_come)


def _weigh(task: Task, cases: Cases, noise: Noise) -> dict[int, float]:
    weights = task.table.prior[cases] * np.exp2(-noise / UNIT)
    labels, where = np.unique(task.label_ids[cases], return_inverse=True)
    summed = np.bincount(where, weights=weights)
    return dict(zip(labels.tolist(), summed.tolist(), strict=True))


def _merge(stated: NoisyTask, cases: Cases, noise: Noise) -> tuple[Cases, Noise]:
    """Return a state by the merged cases, in their order."""
    merged, where = np.unique(stated.merged[cases], return_index=True)
    # The order of the search: by label, as its list of all cases has them.
    rank = np.empty(len(stated.cases), dtype=np.int64)
    rank[stated.cases] = np.arange(len(stated.cases))
    order = np.argsort(rank[merged], kind="stable")
    return merged[order].astype(np.int32), np.ascontiguousarray(noise[where[order]])
