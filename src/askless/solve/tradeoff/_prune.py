"""Prune a tree: make some of its nodes leaves.

This module must not know how a tree was grown, nor why it is cut where it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.policy import Nodes, Tree

__all__ = ["is_kept", "prune_tree", "wrong_weights"]

Flags = NDArray[np.bool_]


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
    stays = is_kept(tree, is_cut)
    is_inner = (tree.test >= 0) & stays & ~is_cut
    number = (np.cumsum(stays) - 1).astype(np.int32)
    n_branches = np.diff(tree.branch_start)
    has_branch = np.repeat(is_inner, n_branches)
    n_weights = np.diff(tree.weight_start)
    has_weight = np.repeat(stays, n_weights)
    return Tree(
        tree.tests,
        tree.classes,
        tree.prices,
        mistakes=tree.mistakes,
        nodes=Nodes(
            tree_start=np.array([0, np.count_nonzero(stays)], dtype=np.int32),
            test=np.where(is_inner, tree.test, -1)[stays].astype(np.int32),
            cut=np.where(is_inner, tree.cut, -1)[stays].astype(np.int32),
            default_branch=np.where(is_inner, tree.default_branch, -1)[stays].astype(
                np.int32
            ),
            branch_start=_starts(np.where(is_inner, n_branches, 0)[stays], np.int32),
            branch_code=tree.branch_code[has_branch],
            branch_child=number[tree.branch_child[has_branch]],
            weight_start=_starts(n_weights[stays], np.int64),
            weight_class=tree.weight_class[has_weight],
            weight=tree.weight[has_weight],
            decision=tree.node_decision[stays],
        ),
    )


def is_kept(tree: Tree, is_cut: Flags) -> Flags:
    """Return which nodes a pruning keeps: those with no cut above them."""
    cut = np.flatnonzero(is_cut & (tree.test >= 0))
    # One step up where the nodes below a cut begin, one down where they end.
    steps = np.zeros(tree.n_nodes + 1, dtype=np.int64)
    np.add.at(steps, cut + 1, 1)
    np.add.at(steps, tree.subtree_end[cut], -1)
    return np.asarray(np.cumsum(steps[:-1]) == 0)


def _starts(counts: NDArray[Any], dtype: type) -> NDArray[Any]:
    return np.concatenate([[0], np.cumsum(counts)]).astype(dtype)


def wrong_weights(tree: Tree) -> NDArray[np.float64]:
    """Return the weight that each node would decide wrongly as a leaf."""
    owner_decides = np.repeat(tree.node_decision, np.diff(tree.weight_start))
    wrong = np.where(tree.weight_class == owner_decides, 0.0, tree.weight)
    return np.asarray(np.add.reduceat(wrong, tree.weight_start[:-1]))
