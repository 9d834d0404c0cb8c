"""Find the pruning of least expected cost within an error, by Pareto fronts.

Slower than the quick search of :meth:`Prunings.relax`, and for what that may miss.
"""

from __future__ import annotations

import numpy as np

from askless.solve.tradeoff._pareto_fronts import Front
from askless.solve.tradeoff._prunings import TOLERANCE, Pruning, Prunings

__all__ = ["find_cheapest"]


def find_cheapest(prunings: Prunings, max_error: float) -> Pruning | None:
    """Return the pruning of least expected cost of at most this error, or None.

    Every node gets the trade-offs of wrong weight against cost that its prunings offer;
    those of a parent are the sums of its children's. O(n^2) for n equal weights; for
    others the number of trade-offs of a node is capped, so that the best may be missed
    where a tree has very many.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0, 0], [0, 1], [1, 1]], ["a", "b", "c"], costs=[1, 3])
    >>> prunings = Prunings(askless.solve(table, method="greedy").policy)
    >>> find_cheapest(prunings, 0.4).expected_cost
    1.0
    """
    limit = (max_error + TOLERANCE) * prunings.total
    fronts: list[Front | None] = [None] * prunings.tree.n_nodes
    for node in range(prunings.tree.n_nodes - 1, -1, -1):
        # What is below a delayed test is settled at that test.
        if node in prunings.delayed or not prunings.is_delayed[node]:
            front = _find_front(prunings, node, fronts, limit)
            fronts[node] = front.thinned(prunings.total)
    root = fronts[0]
    assert root is not None
    if not len(root):
        return None
    point = len(root) - 1
    return Pruning(
        float(root.wrong[point]) / prunings.total,
        float(root.cost[point]) / prunings.total,
        _find_cuts(prunings, fronts, point),
    )


def _find_front(
    prunings: Prunings, node: int, fronts: list[Front | None], limit: float
) -> Front:
    """Return the trade-offs of a node, given those of its children."""
    tree = prunings.tree
    front = Front.of_leaf(prunings.wrong[node], prunings.leaf_cost[node], limit)
    if node in prunings.delayed:
        for i, way in enumerate(prunings.delayed[node]):
            cost = prunings.weight[node] * (prunings.spent[node] + way.price)
            front = front.with_point(way.wrong, cost, i, limit)
    elif tree.test[node] >= 0:
        start, end = tree.branch_start[node], tree.branch_start[node + 1]
        below = [fronts[child] for child in tree.branch_child[start:end]]
        front = front.with_sums([f for f in below if f is not None], limit)
    return front


def _find_cuts(
    prunings: Prunings, fronts: list[Front | None], point: int
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return where the pruning that a point of the root's front stands for is cut."""
    tree = prunings.tree
    is_cut = np.ones(tree.n_nodes, dtype=bool)
    pending = [(0, point)]
    while pending:
        node, chosen = pending.pop()
        front = fronts[node]
        assert front is not None
        choice = front.choices(chosen)
        if choice is None:
            continue
        if node in prunings.delayed:
            end = tree.subtree_end[node]
            is_cut[node:end] = prunings.delayed[node][choice[0]].is_cut
            continue
        is_cut[node] = False
        start, stop = tree.branch_start[node], tree.branch_start[node + 1]
        pending.extend(zip(tree.branch_child[start:stop], choice, strict=True))
    return is_cut
