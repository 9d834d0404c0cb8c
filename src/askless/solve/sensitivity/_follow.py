"""Follow the cases of a table through a tree to its leaves, with all that it costs.

The tree stays as it is while prices, priors and chances of the table move: so its cost
is linear in each of them. It must not know what is moved or why.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from askless._core.price._prices import Bill
from askless.policy import Tree
from askless.solve._task import Task

__all__ = ["End", "cost_of", "follow", "stakes_of"]

Floats = NDArray[np.float64]


class End(NamedTuple):
    """A leaf, with how the cases get there.

    Attributes
    ----------
    leaf : int
    reach : ndarray of shape (n_cases,)
        How likely each case gets there.
    spent : float
    shown : dict of int to ndarray of bool
        For each test on the way, the codes that lead here.
    """

    leaf: int
    reach: Floats
    spent: float
    shown: dict[int, NDArray[np.bool_]]


class _Visit(NamedTuple):
    node: int
    reach: Floats
    bill: Bill
    shown: dict[int, NDArray[np.bool_]]


def follow(tree: Tree, task: Task) -> Iterator[End]:
    """Yield where the cases of a task end, at the prices of its table."""
    table = task.table
    chances = [table.possible.outcome_chances(t) for t in range(table.n_tests)]
    bill = table.prices.open_bill()
    stack = [_Visit(0, np.ones(table.n_cases), bill, {})]
    while stack:
        visit = stack.pop()
        test = int(tree.test[visit.node])
        if test < 0:
            yield End(visit.node, visit.reach, visit.bill.spent, visit.shown)
            continue
        for child, codes in _branches(tree, visit, len(chances[test]), table.prices):
            seen = visit.shown.get(test)
            shown = codes if seen is None else codes & seen
            reach = _reach(chances, {**visit.shown, test: shown}, table.n_cases)
            if reach.any():
                after = _pay(tree, visit, test, shown)
                stack.append(_Visit(child, reach, after, {**visit.shown, test: shown}))


def _branches(
    tree: Tree, visit: _Visit, n_codes: int, prices: object
) -> list[tuple[int, NDArray[np.bool_]]]:
    """Return the children of a node with their codes.

    The codes of a test that is priced by outcome come one by one, as each has a price.
    """
    test = int(tree.test[visit.node])
    by_child: dict[int, list[int]] = {}
    for code in range(n_codes):
        by_child.setdefault(tree.advance(visit.node, code), []).append(code)
    found = []
    for child, codes in by_child.items():
        is_apart = test in tree.prices.by_outcome
        for some in [[code] for code in codes] if is_apart else [codes]:
            mask = np.zeros(n_codes, dtype=bool)
            mask[some] = True
            found.append((child, mask))
    return found


def _reach(
    chances: list[Floats], shown: dict[int, NDArray[np.bool_]], n_cases: int
) -> Floats:
    reach = np.ones(n_cases)
    for test, codes in shown.items():
        reach *= chances[test][codes].sum(axis=0)
    return reach


def _pay(tree: Tree, visit: _Visit, test: int, shown: NDArray[np.bool_]) -> Bill:
    """Return the bill after a test has shown one of some codes."""
    bill = visit.bill.copy()
    if tree.prices.delayed[test] and not bill.has_paid(test):
        bill.charge_together(tree.tests_ahead(visit.node))
    else:
        bill.charge(test, int(shown.argmax()))
    return bill


def stakes_of(task: Task) -> Floats:
    """Return what each decision costs each case in mistakes; 0 if they do not count."""
    n = len(task.classes)
    if task.objective != "total" or task.mistakes is None:
        return np.zeros((task.table.n_cases, n))
    return np.asarray(task.mistakes[task.class_ids])


def cost_of(tree: Tree, task: Task) -> float:
    """Return what a tree costs on average: its tests, and mistakes if they count."""
    stakes, prior = stakes_of(task), task.table.prior
    return float(
        sum(
            (prior * end.reach)
            @ (end.spent + stakes[:, int(tree.node_decision[end.leaf])])
            for end in follow(tree, task)
        )
        / prior.sum()
    )
