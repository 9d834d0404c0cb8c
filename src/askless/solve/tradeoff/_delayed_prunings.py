"""Prune below delayed tests, where all tests are bought together.

Without delays, what a case spends on reaching a node does not depend on what lies below
it. Below a delayed test it does: every test that any branch asks is due there, so all
leaves below cost the same, and cutting a branch saves something only where a test is
asked no more. What there is to choose is a set of tests; for each set the best pruning
is to ask all of them wherever the tree does. Small sets are all tried; larger ones lose
one test at a time, the one that adds the least error for what it saves.

This module must not know where the tree comes from, nor what limits it is to keep.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from askless._core.price._prices import Bill
from askless.policy import Tree

__all__ = ["DelayedPruning", "find_delayed", "list_delayed_prunings", "open_bill"]

# Beyond this many tests that may be left out, not every set is tried.
MOST_TRIED = 6


@dataclass(frozen=True)
class DelayedPruning:
    """One way to prune the subtree of a delayed test.

    Attributes
    ----------
    price : float
        What its tests charge when bought together, beyond what was spent before.
    wrong : float
        The weight that its leaves decide wrongly.
    is_cut : ndarray of bool
        Of each node of the subtree, in preorder: whether it becomes a leaf.
    """

    price: float
    wrong: float
    is_cut: NDArray[np.bool_]


def find_delayed(tree: Tree) -> list[int]:
    """Return the nodes of delayed tests that have no delayed test above them."""
    is_delayed = (tree.test >= 0) & tree.prices.delayed[tree.test]
    nodes: list[int] = []
    end = 0
    for node in np.flatnonzero(is_delayed).tolist():
        if node >= end:
            nodes.append(node)
            end = int(tree.subtree_end[node])
    return nodes


def list_delayed_prunings(
    tree: Tree, node: int, wrong: NDArray[np.float64], least: float
) -> list[DelayedPruning]:
    """Return the ways to prune below a delayed test that are worth their price.

    Parameters
    ----------
    tree : Tree
    node : int
        One of :func:`find_delayed`.
    wrong : ndarray of shape (n_nodes,)
        The weight that each node would decide wrongly as a leaf.
    least : float
        A test must save more wrong weight than this to be asked.

    Returns
    -------
    list of DelayedPruning
        Dearer and dearer, less and less wrong; all ask the delayed test itself.
    """
    subtree = _Subtree(tree, node, wrong, least)
    tried = sorted(subtree.try_sets(), key=lambda way: (way.price, way.wrong))
    worth: list[DelayedPruning] = []
    for way in tried:
        if way.is_cut[0]:
            continue
        if not worth or way.wrong < worth[-1].wrong - least:
            worth.append(way)
    return worth


class _Subtree:
    """The nodes from a delayed test down, numbered from 0."""

    def __init__(
        self, tree: Tree, node: int, wrong: NDArray[np.float64], least: float
    ) -> None:
        end = int(tree.subtree_end[node])
        self.test: list[int] = tree.test[node:end].tolist()
        self.parent: list[int] = (tree.parent[node:end] - node).tolist()
        self.end: list[int] = (tree.subtree_end[node:end] - node).tolist()
        self.wrong: list[float] = wrong[node:end].tolist()
        self.least = least
        self.bill = open_bill(tree, node)

    def try_sets(self) -> Iterator[DelayedPruning]:
        """Yield the best pruning for each set of tests that is tried."""
        first, _ = self.prune(set(self.test) - {-1})
        others = [test for test in self.list_used(first.is_cut) if test != self.test[0]]
        if len(others) > MOST_TRIED:
            yield from self.leave_out(first)
            return
        for n in range(len(others) + 1):
            for some in combinations(others, n):
                yield self.prune({self.test[0], *some})[0]

    def leave_out(self, way: DelayedPruning) -> Iterator[DelayedPruning]:
        """Yield prunings of fewer and fewer tests."""
        while True:
            yield way
            used = self.list_used(way.is_cut)
            if len(used) < 2:
                return
            losses = self.prune(set(used))[1]
            prices = {t: self.price([u for u in used if u != t]) for t in used[1:]}
            saved = {t: way.price - price for t, price in prices.items()}

            # A test that opens a group may save nothing: it goes last.
            def loss_for_saving(
                test: int,
                saved: dict[int, float] = saved,
                losses: dict[int, float] = losses,
            ) -> tuple[float, int]:
                ratio = losses[test] / saved[test] if saved[test] > 0 else np.inf
                return ratio, test

            worst = min(saved, key=loss_for_saving)
            way, _ = self.prune({test for test in used if test != worst})

    def prune(self, allowed: set[int]) -> tuple[DelayedPruning, dict[int, float]]:
        """Return the best pruning that asks allowed tests, and what each of them saves.

        A test saves the wrong weight that its nodes would add as leaves; of a test that
        is asked again below itself, about that.
        """
        n_nodes = len(self.test)
        best = list(self.wrong)
        below = [0.0] * n_nodes
        is_cut = np.ones(n_nodes, dtype=bool)
        for node in range(n_nodes - 1, -1, -1):
            if self.test[node] in allowed and (
                below[node] < self.wrong[node] - self.least
            ):
                best[node] = below[node]
                is_cut[node] = False
            if node:
                below[self.parent[node]] += best[node]
        losses = dict.fromkeys(allowed, 0.0)
        for node in self.list_kept(is_cut):
            losses[self.test[node]] += self.wrong[node] - best[node]
        price = self.price(self.list_used(is_cut))
        return DelayedPruning(price, best[0], is_cut), losses

    def list_kept(self, is_cut: NDArray[np.bool_]) -> list[int]:
        """Return the nodes that still ask a test, in preorder."""
        kept = []
        node = 0
        while node < len(self.test):
            if is_cut[node]:
                node = self.end[node]
            else:
                kept.append(node)
                node += 1
        return kept

    def list_used(self, is_cut: NDArray[np.bool_]) -> list[int]:
        """Return the tests that are still asked, as they are paid for."""
        kept = self.list_kept(is_cut)
        return list(dict.fromkeys(self.test[node] for node in kept))

    def price(self, tests: list[int]) -> float:
        """Return what tests charge that are bought together at the delayed test."""
        return float(self.bill.copy().charge_together(tests))


def open_bill(tree: Tree, node: int) -> Bill:
    """Return the bill of a case that has come to a node with no delay above it."""
    above: list[int] = []
    up = int(tree.parent[node])
    while up >= 0:
        above.append(int(tree.test[up]))
        up = int(tree.parent[up])
    bill = tree.prices.open_bill()
    for test in reversed(above):
        bill.charge(test)
    return bill
