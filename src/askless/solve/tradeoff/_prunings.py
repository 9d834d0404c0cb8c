"""Find the best pruning of a tree within limits.

A pruning of a tree is given by the nodes at which it is cut; each decides what it would
decide as a leaf. :class:`Prunings` finds the best of all prunings of one tree from the
leaves up: of least error within a worst-case budget, or nearly of least expected cost
within an error.

This module must not know how a tree was grown. It trusts the weights of its nodes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from askless.policy import Tree
from askless.solve.tradeoff._delayed_prunings import (
    DelayedPruning,
    find_delayed,
    list_delayed_prunings,
)
from askless.solve.tradeoff._last_test import LastTest, LastTests, graft_tests
from askless.solve.tradeoff._prune import is_kept, prune_tree, wrong_weights

__all__ = ["TOLERANCE", "Pruning", "Prunings"]

# Costs and errors this close, relatively, are the same: sums in another order differ.
TOLERANCE = 1e-12

Flags = NDArray[np.bool_]
Reals = NDArray[np.float64]


@dataclass(frozen=True)
class Pruning:
    """A pruning of a tree.

    Attributes
    ----------
    error : float
        Share of the weight that is decided wrongly.
    expected_cost : float
        Mean cost over the weights.
    is_cut : ndarray of bool of shape (n_nodes,)
        Which nodes become leaves.
    last_tests : dict of int to LastTest
        By node: what some of these leaves still ask before they decide.
    """

    error: float
    expected_cost: float
    is_cut: Flags
    last_tests: dict[int, LastTest] = field(default_factory=dict)


@dataclass(frozen=True)
class _Level:
    """The nodes of one depth, and the children of those that ask, one after another."""

    nodes: NDArray[np.int64]  # that ask a test
    children: NDArray[np.int32]
    starts: NDArray[np.int64]  # of the children of each node
    dearest: Reals  # what the dearest child of each node has spent
    every: NDArray[np.int64]  # node of the depth


class _BestBelow:
    """The best pruning of the subtree of each node, as far as it is known.

    Attributes
    ----------
    wrong, cost : ndarray of shape (n_nodes,)
        Weight that is decided wrongly, and cost times weight; of a leaf at first.
    is_cut : ndarray of bool of shape (n_nodes,)
        Which nodes are leaves.
    last_tests : dict of int to LastTest
        What some of these leaves still ask.
    """

    def __init__(self, wrong: Reals, cost: Reals) -> None:
        self.wrong = wrong
        self.cost = cost
        self.is_cut: Flags = np.ones(len(wrong), dtype=bool)
        self.last_tests: dict[int, LastTest] = {}


class Prunings:
    """All prunings of a tree, and the best of them within limits.

    Parameters
    ----------
    tree : Tree
    last_tests : LastTests, optional
        Lets :meth:`least_error` ask one more test at leaves.

    Notes
    -----
    Without delayed tests what a node has spent does not depend on the pruning, so costs
    and errors add up over the leaves and each answer here is the best of all prunings.
    With delayed tests see :mod:`._delayed_prunings`.

    Examples
    --------
    Within 1 only the first of two tests can be asked on any path:

    >>> import askless
    >>> table = askless.Table([[0, 0], [0, 1], [1, 1]], ["a", "b", "c"])
    >>> prunings = Prunings(askless.solve(table, method="greedy").policy)
    >>> [round(prunings.least_error(budget).error, 3) for budget in (0, 1, 2)]
    [0.667, 0.333, 0.0]
    """

    def __init__(self, tree: Tree, last_tests: LastTests | None = None) -> None:
        self.tree = tree
        self.last_tests = last_tests
        self.weight = tree.node_weight
        self.total = float(self.weight[0])
        self.wrong = wrong_weights(tree)
        self.spent = tree.spent
        # As a leaf, each node costs its weight times what was spent before.
        self.leaf_cost = self.weight * self.spent
        # Rounding of the sums; a saving of wrong weight below it is none.
        self.least = TOLERANCE * self.total / 10
        # By node of a delayed test: the ways to prune below it.
        self.delayed: dict[int, list[DelayedPruning]] = {
            node: list_delayed_prunings(tree, node, self.wrong, self.least)
            for node in find_delayed(tree)
        }

    # What is the same for all limits.

    @cached_property
    def is_delayed(self) -> Flags:
        """Whether a node is at or below a delayed test."""
        is_delayed = np.zeros(self.tree.n_nodes, dtype=bool)
        for node in self.delayed:
            is_delayed[node : self.tree.subtree_end[node]] = True
        return is_delayed

    @cached_property
    def _levels(self) -> list[_Level]:
        """The nodes by depth, deepest first, without those below a delayed test.

        A delayed test counts as a leaf: what is below it is settled by itself.
        """
        tree = self.tree
        asks = (tree.test >= 0) & ~self.is_delayed
        stands = ~self.is_delayed
        stands[list(self.delayed)] = True
        owner = np.repeat(np.arange(tree.n_nodes), np.diff(tree.branch_start))
        levels = []
        for depth in range(int(tree.node_depth.max()), -1, -1):
            is_here = tree.node_depth == depth
            nodes = np.flatnonzero(asks & is_here)
            children = tree.branch_child[(asks & is_here)[owner]]
            counts = np.diff(tree.branch_start)[nodes]
            starts = np.cumsum(counts) - counts
            dearest = _reduce(np.maximum, self.spent[children], starts)
            every = np.flatnonzero(stands & is_here)
            levels.append(_Level(nodes, children, starts, dearest, every))
        return levels

    @cached_property
    def budgets(self) -> Reals:
        """The worst costs of all prunings, ascending; some others may be among them."""
        reached = np.append(
            self.spent[~self.is_delayed], self.spent[list(self.delayed)]
        )
        paid = [reached]
        for node, ways in self.delayed.items():
            paid.append(self.spent[node] + np.array([way.price for way in ways]))
        if self.last_tests is not None:
            prices = self.tree.prices
            lists = [prices.full, prices.discounted, *prices.by_outcome.values()]
            some = np.unique(np.concatenate(lists))
            paid.append((np.unique(reached)[:, None] + some).ravel())
        return np.unique(np.concatenate(paid))

    # The best prunings.

    def least_error(self, budget: float = math.inf) -> Pruning:
        """Return the pruning of least error, then least expected cost, in a budget."""
        return self._settle(budget, math.inf)

    def least_budget(self, max_error: float) -> float | None:
        """Return the least worst cost of a pruning of at most this error, or None."""
        budgets = self.budgets
        low, high = 0, len(budgets) - 1
        if self._is_above(self.least_error(budgets[high]), max_error):
            return None
        while low < high:
            # Invariant: budgets[high] is enough, no budget before `low` is.
            middle = (low + high) // 2
            if self._is_above(self.least_error(budgets[middle]), max_error):
                low = middle + 1
            else:
                high = middle
        return float(budgets[high])

    def relax(self, max_error: float) -> tuple[Pruning, float] | None:
        """Return a cheap pruning of at most this error, and a bound for all of them.

        An error is given a price, and the price at which the limit is met is searched
        for, in the way of weakest-link pruning: the prunings that it passes are those
        that save most cost for the error they add. No pruning within the limit has an
        expected cost below the bound. None if no pruning is within the limit.
        """
        above = self._settle(math.inf, 0.0)
        if not self._is_above(above, max_error):
            return above, above.expected_cost
        below = self.least_error()
        if self._is_above(below, max_error):
            return None
        while True:
            price = (below.expected_cost - above.expected_cost) / (
                above.error - below.error
            )
            bound = above.expected_cost + price * (above.error - max_error)
            if price <= 0:
                return below, below.expected_cost
            found = self._settle(math.inf, price)
            value = found.expected_cost + price * found.error
            line = above.expected_cost + price * above.error
            if value >= line * (1 - TOLERANCE):
                # Both ends are best at this price, so the bound is tight.
                return below, bound - TOLERANCE * abs(line)
            if self._is_above(found, max_error):
                above = found
            else:
                below = found

    def make_tree(self, pruning: Pruning) -> Tree:
        """Return the tree, pruned."""
        if self.last_tests is None or not pruning.last_tests:
            return prune_tree(self.tree, pruning.is_cut)
        return graft_tests(self.last_tests, pruning.is_cut, pruning.last_tests)

    def _is_above(self, pruning: Pruning, max_error: float) -> bool:
        return pruning.error > max_error + TOLERANCE

    def _settle(self, budget: float, error_price: float) -> Pruning:
        """Return the best pruning in a budget when errors have a price.

        The price is of deciding everything wrongly; infinity stands for the least
        error, and among those the least cost.
        """
        limit = budget * (1 + TOLERANCE)
        best = _BestBelow(self.wrong.copy(), self.leaf_cost.copy())
        for node in self.delayed:
            self._settle_delayed(node, limit, error_price, best)
        for level in self._levels:
            nodes, starts = level.nodes, level.starts
            wrong_below = _reduce(np.add, best.wrong[level.children], starts)
            cost_below = _reduce(np.add, best.cost[level.children], starts)
            saved = self.wrong[nodes] - wrong_below
            asks = (level.dearest <= limit) & (saved > self.least)
            if error_price < math.inf:
                asks &= error_price * saved > cost_below - self.leaf_cost[nodes]
            best.wrong[nodes] = np.where(asks, wrong_below, self.wrong[nodes])
            best.cost[nodes] = np.where(asks, cost_below, self.leaf_cost[nodes])
            best.is_cut[nodes] = ~asks
            if error_price == math.inf and self.last_tests is not None:
                self._ask_last(level.every, limit, best)
        last_tests = best.last_tests
        if last_tests:
            stays = is_kept(self.tree, best.is_cut)
            last_tests = {
                node: last for node, last in last_tests.items() if stays[node]
            }
        error, expected = float(best.wrong[0]), float(best.cost[0])
        return Pruning(
            error / self.total, expected / self.total, best.is_cut, last_tests
        )

    def _ask_last(
        self, nodes: NDArray[np.int64], limit: float, best: _BestBelow
    ) -> None:
        """Ask a last test at those nodes where it beats what is below them."""
        assert self.last_tests is not None
        room = limit - self.spent
        is_worth = (best.wrong[nodes] > self.least) & (room[nodes] >= self._least_price)
        for node in nodes[is_worth].tolist():
            last = self.last_tests.find(node, room[node], self.least)
            if last is None:
                continue
            saved = best.wrong[node] - last.wrong
            last_cost = self.leaf_cost[node] + last.cost
            is_cheaper = last_cost < best.cost[node] * (1 - TOLERANCE)
            # What is asked must save something against asking nothing.
            if self.wrong[node] - last.wrong > self.least and (
                saved > self.least or (saved >= -self.least and is_cheaper)
            ):
                best.wrong[node], best.cost[node] = last.wrong, last_cost
                best.is_cut[node] = True
                best.last_tests[node] = last

    @cached_property
    def _least_price(self) -> float:
        """The least that any test can charge; nothing, if one can be asked again."""
        prices = self.tree.prices
        assert self.last_tests is not None
        if self.last_tests.task.table.is_ordered.any():
            return 0.0
        lists = [prices.full, prices.discounted, *prices.by_outcome.values()]
        return float(min(prices_of.min() for prices_of in lists))

    def _settle_delayed(
        self, node: int, limit: float, error_price: float, best: _BestBelow
    ) -> None:
        """Choose among the ways to prune below a delayed test."""
        for way in self.delayed[node]:
            if self.spent[node] + way.price > limit:
                break
            # They get dearer and less wrong.
            cost = self.weight[node] * (self.spent[node] + way.price)
            saved = best.wrong[node] - way.wrong
            if saved > self.least and error_price * saved > cost - best.cost[node]:
                best.wrong[node], best.cost[node] = way.wrong, cost
                best.is_cut[node : self.tree.subtree_end[node]] = way.is_cut


def _reduce(operation: np.ufunc, values: Reals, starts: NDArray[np.int64]) -> Reals:
    """Return the sums, or the like, of runs of values; of no runs, nothing."""
    return np.asarray(operation.reduceat(values, starts)) if starts.size else values[:0]
