"""Tests in a fixed order for tables with unknown outcomes.

The order is chosen greedily on drawn worlds: for every case, some draws of its unknown
outcomes. The test comes next that, on average over the worlds, rules out the largest
share of the opponents still left. When no test rules out any more, tests are appended
until every two cases are told apart for sure.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidOptionError
from askless.policy import Sequence, Tree
from askless.solve._task import MethodResult, Task
from askless.solve.unknown._rules import (
    RULES,
    check_task,
    follow_walk,
    make_rule,
    make_walk,
)

__all__ = ["count_hindsight", "find_order", "grow_low_adaptive", "grow_non_adaptive"]

# Worlds times cases that are kept as truth values.
MOST_CELLS = 200_000_000


def grow_non_adaptive(
    task: Task,
    *,
    samples: int = 10,
    threshold: float | None = None,
    random_state: Any = None,
) -> MethodResult:
    """Ask tests in one order for all cases, until the case at hand is settled.

    Parameters
    ----------
    task : Task
        What to solve.
    samples : int, default=10
        How often the unknown outcomes of each case are drawn.
    threshold : float, optional
        Stop choosing by score at less than this; m to the -5 by default, m the cases.
    random_state : int, optional
        Seed of the draws.
    """
    order = find_order(task, samples, threshold, random_state)
    walk = make_walk(task, RULES["elimination", "paper"], order=order, skips=False)
    return follow_walk(task, walk, lambda: _make_sequence(task, order))


def _make_sequence(task: Task, order: NDArray[np.int32]) -> Sequence:
    table = task.table
    return Sequence(
        table.tests,
        task.classes,
        table.prices,
        order=order,
        case_codes=table.codes[order],
        case_class=task.class_ids,
        case_weights=table.prior,
        mistakes=task.mistakes,
    )


def grow_low_adaptive(
    task: Task,
    *,
    samples: int = 10,
    threshold: float | None = None,
    random_state: Any = None,
) -> MethodResult:
    """Ask tests in one order, and leave out those that can rule out no case.

    Parameters
    ----------
    task, samples, threshold, random_state
        See :func:`grow_non_adaptive`.
    """
    order = find_order(task, samples, threshold, random_state)
    walk = make_walk(task, RULES["elimination", "paper"], order=order, skips=True)
    found = follow_walk(task, walk, lambda: make_rule(task, "order", order=order))
    if isinstance(found.policy, Tree):
        count = count_hindsight(task, found.policy)
        note = (
            f"A diagnostic: only {count:.6g} tests on average turn out to rule out a "
            "case. Counting these alone, as the paper's table does, takes hindsight."
        )
        found = found._replace(notes=(note,))
    return found


def find_order(
    task: Task, samples: int, threshold: float | None, random_state: Any
) -> NDArray[np.int32]:
    """Return the tests in the order in which to ask them."""
    check_task(task)
    if samples < 1 or (threshold is not None and not threshold >= 0):
        raise InvalidOptionError(
            "samples must be at least 1 and threshold at least 0. Got "
            f"{samples} and {threshold}. Leave them out for the usual ones."
        )
    table = task.table
    n, n_tests = table.n_cases, table.n_tests
    samples = max(1, min(samples, MOST_CELLS // (n * n)))
    rng = np.random.default_rng(random_state)
    worlds = np.repeat(np.arange(n), samples)
    seen = _draw_worlds(task, worlds, rng)
    weight = table.prior[worlds] / samples
    alive = task.class_ids[worlds][:, None] != task.class_ids[None, :]
    least = float(n) ** -5 if threshold is None else threshold
    lows = np.maximum(table.prices.full, 1e-300)
    order: list[int] = []
    left = list(range(n_tests))
    while left:
        counts = alive.sum(axis=1)
        open_worlds = np.flatnonzero(counts)
        if open_worlds.size == 0:
            break
        opponents = alive[open_worlds].astype(np.float32)
        scores = np.zeros(len(left))
        for i, test in enumerate(left):
            gone = _count_gone(task, test, opponents, seen[test, open_worlds])
            shares = gone / counts[open_worlds]
            scores[i] = float((weight[open_worlds] * shares).sum())
        ratios = scores / lows[left]
        best = float(ratios.max())
        if best <= 0 or scores[int(np.argmax(ratios))] < least:
            break
        chosen = left.pop(int(np.argmax(ratios >= best * (1 - 1e-12))))
        order.append(chosen)
        alive &= ~_rules_out(task, chosen, seen[chosen])
    order.extend(_separate(task, order))
    return np.array(order, dtype=np.int32)


def _draw_worlds(
    task: Task, worlds: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return what every test shows in every world, unknown outcomes drawn."""
    possible = task.table.possible
    return np.stack(
        [possible.draw_all(test, worlds, rng) for test in range(task.table.n_tests)]
    )


def _count_gone(
    task: Task, test: int, opponents: NDArray[np.float32], seen: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Return how many of the opponents in each world an outcome rules out."""
    cannot_show = ~task.table.possible.can_show_each(test)
    by_code = opponents @ cannot_show.T.astype(np.float32)
    gone: NDArray[np.float32] = by_code[np.arange(len(seen)), seen]
    return gone


def _rules_out(task: Task, test: int, seen: NDArray[np.int64]) -> NDArray[np.bool_]:
    gone: NDArray[np.bool_] = ~task.table.possible.can_show_each(test)[seen]
    return gone


def _separate(task: Task, order: list[int]) -> list[int]:
    """Return further tests, so that every two cases are sure to be told apart.

    In the order of the table, each that tells a pair which is still together; pairs
    that no test tells ask for nothing.
    """
    table = task.table
    together = task.class_ids[:, None] != task.class_ids
    for test in order:
        together &= ~task.table.possible.tells(test)
    added: list[int] = []
    for test in range(table.n_tests):
        if test in order or not together.any():
            continue
        told = together & task.table.possible.tells(test)
        if told.any():
            added.append(test)
            together &= ~told
    return added


def count_hindsight(task: Task, tree: Tree) -> float:
    """Return the mean number of tests that turn out to rule out a case."""
    total = 0.0
    can_show = {
        test: task.table.possible.can_show_each(test)
        for test in {int(t) for t in tree.test if t >= 0}
    }
    alive = {0: np.ones(task.table.n_cases, dtype=bool)}
    for node in range(tree.n_nodes):
        mine = alive.pop(node)
        test = int(tree.test[node])
        if test < 0:
            continue
        for branch in range(tree.branch_start[node], tree.branch_start[node + 1]):
            child = int(tree.branch_child[branch])
            kept = mine & can_show[test][int(tree.branch_code[branch])]
            alive[child] = kept
            if kept.sum() < mine.sum():
                start, end = tree.weight_start[child], tree.weight_start[child + 1]
                total += float(tree.weight[start:end].sum())
    return total
