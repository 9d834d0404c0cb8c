"""Find the best pruning of a tree within limits.

A pruning of a tree is given by the nodes at which it is cut; each decides what it would
decide as a leaf. :class:`Prunings` finds the best of all prunings of one tree from the
leaves up: of least error within a worst-case budget, or of least expected cost within
an error.

This module must not know how a tree was grown. It trusts the weights of its nodes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from askless.policy import Tree
from askless.solve.tradeoff._delayed_prunings import Order, find_orders, list_orders
from askless.solve.tradeoff._last_test import LastTest, LastTests, graft_tests
from askless.solve.tradeoff._pareto_fronts import Front
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
    lasts : dict of int to LastTest
        Tests that some of these leaves ask all the same, before they decide.
    """

    error: float
    expected_cost: float
    is_cut: Flags
    lasts: dict[int, LastTest] = field(default_factory=dict)


@dataclass(frozen=True)
class _Level:
    """The nodes of one depth, and the children of those that ask, one after another."""

    nodes: NDArray[np.int64]  # that ask a test
    children: NDArray[np.int32]
    starts: NDArray[np.int64]  # of the children of each node
    dearest: Reals  # what the dearest child of each node has spent
    every: NDArray[np.int64]  # node of the depth


class Prunings:
    """All prunings of a tree, and the best of them within limits.

    Parameters
    ----------
    tree : Tree
    asked : LastTests, optional
        Lets :meth:`least_error` ask one more test at leaves.

    Notes
    -----
    Without delayed tests what a node has spent does not depend on the pruning, so costs
    and errors add up over the leaves and each answer here is the best of all prunings;
    :meth:`cheapest` may miss it where a tree has very many trade-offs. With delayed
    tests see :mod:`._orders`.

    Examples
    --------
    Within 1 only the first of two tests can be asked on any path:

    >>> import askless
    >>> table = askless.Table([[0, 0], [0, 1], [1, 1]], ["a", "b", "c"])
    >>> prunings = Prunings(askless.solve(table, method="greedy").policy)
    >>> [round(prunings.least_error(budget).error, 3) for budget in (0, 1, 2)]
    [0.667, 0.333, 0.0]
    """

    def __init__(self, tree: Tree, asked: LastTests | None = None) -> None:
        self.tree = tree
        self.asked = asked
        self.weight = tree.node_weight
        self.total = float(self.weight[0])
        self.wrong = wrong_weights(tree)
        self.spent = tree.spent
        # As a leaf, each node costs its weight times what was spent before.
        self.leaf_cost = self.weight * self.spent
        # Rounding of the sums; a saving of wrong weight below it is none.
        self.least = TOLERANCE * self.total / 10
        self.orders: dict[int, list[Order]] = {
            node: list_orders(tree, node, self.wrong, self.least)
            for node in find_orders(tree)
        }

    # What is the same for all limits.

    @cached_property
    def _is_ordered(self) -> Flags:
        """Whether a node is at or below a delayed test."""
        is_ordered = np.zeros(self.tree.n_nodes, dtype=bool)
        for node in self.orders:
            is_ordered[node : self.tree.subtree_end[node]] = True
        return is_ordered

    @cached_property
    def _levels(self) -> list[_Level]:
        """The nodes by depth, deepest first, without those below a delayed test.

        A delayed test counts as a leaf: what is below it is settled by itself.
        """
        tree = self.tree
        asks = (tree.test >= 0) & ~self._is_ordered
        stands = ~self._is_ordered
        stands[list(self.orders)] = True
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
            self.spent[~self._is_ordered], self.spent[list(self.orders)]
        )
        paid = [reached]
        for node, orders in self.orders.items():
            paid.append(self.spent[node] + np.array([o.price for o in orders]))
        if self.asked is not None:
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

    def cheapest(self, max_error: float) -> Pruning | None:
        """Return the pruning of least expected cost of at most this error, or None.

        Every node gets the trade-offs of wrong weight against cost that its prunings
        offer; those of a parent are the sums of its children's. O(n^2) for n equal
        weights; for others the number of trade-offs of a node is capped.
        """
        tree = self.tree
        limit = (max_error + TOLERANCE) * self.total
        fronts: list[Front | None] = [None] * tree.n_nodes
        for node in range(tree.n_nodes - 1, -1, -1):
            if self._is_ordered[node] and node not in self.orders:
                continue
            front = Front.of_leaf(self.wrong[node], self.leaf_cost[node], limit)
            if node in self.orders:
                for i, order in enumerate(self.orders[node]):
                    cost = self.weight[node] * (self.spent[node] + order.price)
                    front = front.with_point(order.wrong, cost, i, limit)
            elif tree.test[node] >= 0:
                start, end = tree.branch_start[node], tree.branch_start[node + 1]
                below = [fronts[child] for child in tree.branch_child[start:end]]
                front = front.with_sums([f for f in below if f is not None], limit)
            fronts[node] = front.thinned(self.total)
        root = fronts[0]
        assert root is not None
        if not len(root):
            return None
        return self._trace(fronts, len(root) - 1)

    def _trace(self, fronts: list[Front | None], point: int) -> Pruning:
        """Return the pruning that a point of the root's front stands for."""
        tree = self.tree
        root = fronts[0]
        assert root is not None
        is_cut = np.ones(tree.n_nodes, dtype=bool)
        pending = [(0, point)]
        while pending:
            node, chosen = pending.pop()
            front = fronts[node]
            assert front is not None
            choice = front.choices(chosen)
            if choice is None:
                continue
            if node in self.orders:
                end = tree.subtree_end[node]
                is_cut[node:end] = self.orders[node][choice[0]].is_cut
                continue
            is_cut[node] = False
            start, stop = tree.branch_start[node], tree.branch_start[node + 1]
            pending.extend(zip(tree.branch_child[start:stop], choice, strict=True))
        return Pruning(
            float(root.wrong[point]) / self.total,
            float(root.cost[point]) / self.total,
            is_cut,
        )

    def make_tree(self, pruning: Pruning) -> Tree:
        """Return the tree, pruned."""
        if self.asked is None or not pruning.lasts:
            return prune_tree(self.tree, pruning.is_cut)
        return graft_tests(self.asked, pruning.is_cut, pruning.lasts)

    def _is_above(self, pruning: Pruning, max_error: float) -> bool:
        return pruning.error > max_error + TOLERANCE

    def _settle(self, budget: float, error_price: float) -> Pruning:
        """Return the best pruning in a budget when errors have a price.

        The price is of deciding everything wrongly; infinity stands for the least
        error, and among those the least cost.
        """
        limit = budget * (1 + TOLERANCE)
        wrong, cost = self.wrong.copy(), self.leaf_cost.copy()
        is_cut = np.ones(len(wrong), dtype=bool)
        lasts: dict[int, LastTest] = {}
        for node, orders in self.orders.items():
            self._settle_order(node, orders, limit, error_price, wrong, cost, is_cut)
        for level in self._levels:
            nodes, starts = level.nodes, level.starts
            wrong_below = _reduce(np.add, wrong[level.children], starts)
            cost_below = _reduce(np.add, cost[level.children], starts)
            saved = self.wrong[nodes] - wrong_below
            asks = (level.dearest <= limit) & (saved > self.least)
            if error_price < math.inf:
                asks &= error_price * saved > cost_below - self.leaf_cost[nodes]
            wrong[nodes] = np.where(asks, wrong_below, self.wrong[nodes])
            cost[nodes] = np.where(asks, cost_below, self.leaf_cost[nodes])
            is_cut[nodes] = ~asks
            if error_price == math.inf and self.asked is not None:
                self._ask_last(level.every, limit, wrong, cost, is_cut, lasts)
        if lasts:
            stays = is_kept(self.tree, is_cut)
            lasts = {node: last for node, last in lasts.items() if stays[node]}
        error, expected = float(wrong[0]) / self.total, float(cost[0]) / self.total
        return Pruning(error, expected, is_cut, lasts)

    def _ask_last(
        self,
        nodes: NDArray[np.int64],
        limit: float,
        wrong: Reals,
        cost: Reals,
        is_cut: Flags,
        lasts: dict[int, LastTest],
    ) -> None:
        """Ask a last test at those nodes where it beats what is below them."""
        assert self.asked is not None
        room = limit - self.spent
        worth = (wrong[nodes] > self.least) & (room[nodes] >= self._least_price)
        for node in nodes[worth].tolist():
            last = self.asked.find(node, room[node], self.least)
            if last is None:
                continue
            saved = wrong[node] - last.wrong
            last_cost = self.leaf_cost[node] + last.cost
            is_cheaper = last_cost < cost[node] * (1 - TOLERANCE)
            # What is asked must save something against asking nothing.
            if self.wrong[node] - last.wrong > self.least and (
                saved > self.least or (saved >= -self.least and is_cheaper)
            ):
                wrong[node], cost[node] = last.wrong, last_cost
                is_cut[node] = True
                lasts[node] = last

    @cached_property
    def _least_price(self) -> float:
        """The least that any test can charge; nothing, if one can be asked again."""
        prices = self.tree.prices
        assert self.asked is not None
        if self.asked.task.table.is_ordered.any():
            return 0.0
        lists = [prices.full, prices.discounted, *prices.by_outcome.values()]
        return float(min(prices_of.min() for prices_of in lists))

    def _settle_order(
        self,
        node: int,
        orders: list[Order],
        limit: float,
        error_price: float,
        wrong: Reals,
        cost: Reals,
        is_cut: Flags,
    ) -> None:
        """Choose among the ways to prune below a delayed test."""
        for order in orders:
            if self.spent[node] + order.price > limit:
                break
            # Orders get dearer and less wrong.
            order_cost = self.weight[node] * (self.spent[node] + order.price)
            saved = wrong[node] - order.wrong
            if saved > self.least and error_price * saved > order_cost - cost[node]:
                wrong[node], cost[node] = order.wrong, order_cost
                is_cut[node : self.tree.subtree_end[node]] = order.is_cut


def _reduce(operation: np.ufunc, values: Reals, starts: NDArray[np.int64]) -> Reals:
    """Return the sums, or the like, of runs of values; of no runs, nothing."""
    return np.asarray(operation.reduceat(values, starts)) if starts.size else values[:0]
