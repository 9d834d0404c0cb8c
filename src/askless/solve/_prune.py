"""Prune a tree: cut it back where the cost of asking on is not worth the error saved.

A pruning of a tree is given by the nodes at which it is cut; each decides what it would
decide as a leaf. :class:`Prunings` finds the best of all prunings of one tree from the
leaves up: of least error within a worst-case budget, or of least expected cost within
an error.

This module must not know how a tree was grown. It trusts the weights of its nodes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.policy import Tree
from askless.solve._fronts import Front
from askless.solve._orders import Order, find_orders, list_orders

__all__ = ["TOLERANCE", "Pruning", "Prunings", "prune_tree", "wrong_weights"]

# Costs and errors this close, relatively, are the same: sums in another order differ.
TOLERANCE = 1e-12

Flags = NDArray[np.bool_]
Reals = NDArray[np.float64]


def prune_tree(tree: Tree, is_cut: Flags) -> Tree:
    """Return the tree with some nodes made leaves and all below them left out.

    Parameters
    ----------
    tree : Tree
    is_cut : ndarray of bool of shape (n_nodes,)
        Which nodes become leaves; whether a node below one of these is cut, or a leaf
        is, changes nothing.

    Returns
    -------
    Tree
        Its nodes keep their class weights and decisions.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0, 0], [0, 1], [1, 1]], ["a", "b", "c"])
    >>> tree = askless.solve(table, method="greedy").policy
    >>> tree.n_leaves, prune_tree(tree, tree.node_depth == 1).n_leaves
    (3, 2)
    """
    is_inner = tree.test >= 0
    cut = np.flatnonzero(is_cut & is_inner)
    # One step up where the nodes below a cut begin, one down where they end.
    steps = np.zeros(tree.n_nodes + 1, dtype=np.int64)
    np.add.at(steps, cut + 1, 1)
    np.add.at(steps, tree.subtree_end[cut], -1)
    is_kept = np.cumsum(steps[:-1]) == 0
    is_inner = is_inner & is_kept & ~is_cut
    number = (np.cumsum(is_kept) - 1).astype(np.int32)
    n_branches = np.diff(tree.branch_start)
    has_branch = np.repeat(is_inner, n_branches)
    n_weights = np.diff(tree.weight_start)
    has_weight = np.repeat(is_kept, n_weights)
    return Tree(
        tree.tests,
        tree.classes,
        tree.prices,
        mistakes=tree.mistakes,
        test=np.where(is_inner, tree.test, -1)[is_kept].astype(np.int32),
        cut=np.where(is_inner, tree.cut, -1)[is_kept].astype(np.int32),
        default_branch=np.where(is_inner, tree.default_branch, -1)[is_kept].astype(
            np.int32
        ),
        branch_start=_starts(np.where(is_inner, n_branches, 0)[is_kept], np.int32),
        branch_code=tree.branch_code[has_branch],
        branch_child=number[tree.branch_child[has_branch]],
        weight_start=_starts(n_weights[is_kept], np.int64),
        weight_class=tree.weight_class[has_weight],
        weight=tree.weight[has_weight],
        decision=tree.node_decision[is_kept],
    )


def _starts(counts: NDArray[Any], dtype: type) -> NDArray[Any]:
    return np.concatenate([[0], np.cumsum(counts)]).astype(dtype)


def wrong_weights(tree: Tree) -> Reals:
    """Return the weight that each node would decide wrongly as a leaf."""
    owner_decides = np.repeat(tree.node_decision, np.diff(tree.weight_start))
    wrong = np.where(tree.weight_class == owner_decides, 0.0, tree.weight)
    return np.asarray(np.add.reduceat(wrong, tree.weight_start[:-1]))


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
    """

    error: float
    expected_cost: float
    is_cut: Flags


@dataclass(frozen=True)
class _Level:
    """The nodes of one depth that ask a test, and their children, one after another."""

    nodes: NDArray[np.int64]
    children: NDArray[np.int32]
    starts: NDArray[np.int64]  # of the children of each node
    dearest: Reals  # what the dearest child of each node has spent


class Prunings:
    """All prunings of a tree, and the best of them within limits.

    Parameters
    ----------
    tree : Tree

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

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
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
        """The nodes that ask a test, deepest first; none at or below a delayed one."""
        tree = self.tree
        asks = (tree.test >= 0) & ~self._is_ordered
        owner = np.repeat(np.arange(tree.n_nodes), np.diff(tree.branch_start))
        levels = []
        for depth in range(int(tree.node_depth.max()), -1, -1):
            nodes = np.flatnonzero(asks & (tree.node_depth == depth))
            if not nodes.size:
                continue
            children = tree.branch_child[np.isin(owner, nodes)]
            counts = np.diff(tree.branch_start)[nodes]
            starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
            dearest = np.maximum.reduceat(self.spent[children], starts)
            levels.append(_Level(nodes, children, starts, dearest))
        return levels

    @cached_property
    def budgets(self) -> Reals:
        """The worst costs of all prunings, ascending."""
        paid = [self.spent[~self._is_ordered], self.spent[list(self.orders)]]
        for node, orders in self.orders.items():
            paid.append(self.spent[node] + np.array([o.price for o in orders]))
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
        for node, orders in self.orders.items():
            self._settle_order(node, orders, limit, error_price, wrong, cost, is_cut)
        for level in self._levels:
            nodes, starts = level.nodes, level.starts
            wrong_below = np.add.reduceat(wrong[level.children], starts)
            cost_below = np.add.reduceat(cost[level.children], starts)
            saved = self.wrong[nodes] - wrong_below
            asks = (level.dearest <= limit) & (saved > self.least)
            if error_price < math.inf:
                asks &= error_price * saved > cost_below - self.leaf_cost[nodes]
            wrong[nodes] = np.where(asks, wrong_below, self.wrong[nodes])
            cost[nodes] = np.where(asks, cost_below, self.leaf_cost[nodes])
            is_cut[nodes] = ~asks
        return Pruning(
            float(wrong[0]) / self.total, float(cost[0]) / self.total, is_cut
        )

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
