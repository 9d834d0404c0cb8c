"""Fold a tree that is too large to be looked at: what most cases pass stays open.

It chooses nodes, and must not know how they are drawn.
"""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidOptionError
from askless.export._labels import check_depth, children_of
from askless.policy import Tree

__all__ = ["MOST_NODES", "check_nodes", "find_folded", "fold_note"]

# Nodes that are drawn unless something else is asked for. Nobody looks at more, and a
# browser takes a second for each twenty thousand.
MOST_NODES = 10_000


def check_nodes(max_nodes: int | None) -> None:
    """Raise InvalidOptionError if ``max_nodes`` is no number of nodes."""
    if max_nodes is not None and max_nodes < 1:
        raise InvalidOptionError(
            f"max_nodes must be >= 1, or None for all. Got {max_nodes}. Leave it out "
            f"to show the {MOST_NODES:,} nodes that most cases pass."
        )


def find_folded(
    tree: Tree,
    shares: NDArray[np.float64],
    *,
    max_depth: int | None = None,
    max_nodes: int | None = MOST_NODES,
) -> NDArray[np.bool_] | None:
    """Return which nodes are shown without what is below them; None if none is.

    Nodes are opened in the order of the share of cases that gets there, until as many
    are shown as may be.

    Parameters
    ----------
    tree : Tree
        What to show.
    shares : ndarray of shape (n_nodes,)
        Which share of all cases gets to each node.
    max_depth : int, optional
        Open no node at this depth.
    max_nodes : int, optional
        How many nodes may be shown; at least the root and its children are.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0, 0], [0, 1], [1, 1]], ["a", "b", "c"])
    >>> tree = askless.solve(table).policy
    >>> find_folded(tree, np.array([1, 2 / 3, 1 / 3, 1 / 3, 1 / 3]), max_nodes=3)
    array([False,  True, False, False, False])
    """
    check_depth(max_depth)
    check_nodes(max_nodes)
    is_deep = max_depth is not None and tree.depth > max_depth
    if not is_deep and (max_nodes is None or tree.n_nodes <= max_nodes):
        return None
    folded = tree.test >= 0
    if max_nodes is None:
        return np.asarray(folded & (tree.node_depth >= (max_depth or 0)))
    queue, n_shown = [(-float(shares[0]), 0)], 1
    while queue:
        _, node = heapq.heappop(queue)
        if tree.test[node] < 0 or tree.node_depth[node] == max_depth:
            continue
        children = children_of(tree, node)
        # What does not fit is left out, and smaller nodes may still fit.
        if n_shown + len(children) > max_nodes and node != 0:
            continue
        folded[node] = False
        n_shown += len(children)
        for child in children:
            heapq.heappush(queue, (-float(shares[child]), child))
        if n_shown >= max_nodes:
            break
    return folded


def fold_note(tree: Tree, n_shown: int, max_nodes: int | None) -> str:
    """Return a sentence on what is not shown for its size, or nothing.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0, 0], [0, 1], [1, 1]], ["a", "b", "c"])
    >>> fold_note(askless.solve(table).policy, 3, 3)
    'Shown are 3 of 5 nodes, those that most cases pass (max_nodes).'
    """
    if max_nodes is None or tree.n_nodes <= max_nodes:
        return ""
    return (
        f"Shown are {n_shown:,} of {tree.n_nodes:,} nodes, those that most cases pass "
        "(max_nodes)."
    )
