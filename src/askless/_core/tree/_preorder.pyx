"""Walk the nodes of trees that are written down in preorder: a node, then its children.

This module must not know what nodes ask, nor what they decide.
"""

import numpy as np

from askless._core.base._types cimport int32_t, intp_t


def find_subtree_ends(
    const int32_t[::1] branch_start not None,  # IN   (n_nodes + 1,)
    const int32_t[::1] branch_child not None,  # IN   (n_branches,)
):
    """Return one past the last node of the subtree of each node."""
    cdef:
        intp_t n_nodes = branch_start.shape[0] - 1, node
        int32_t[::1] end = np.empty(n_nodes, dtype=np.int32)
    with nogil:
        for node in range(n_nodes - 1, -1, -1):
            if branch_start[node + 1] > branch_start[node]:
                end[node] = end[branch_child[branch_start[node + 1] - 1]]
            else:
                end[node] = <int32_t> (node + 1)
    return np.asarray(end)


def find_depths(
    const int32_t[::1] parent not None,  # IN   (n_nodes,) -1 for a root
):
    """Return how many nodes are above each node."""
    cdef:
        intp_t n_nodes = parent.shape[0], node
        int32_t[::1] depth = np.zeros(n_nodes, dtype=np.int32)
    with nogil:
        for node in range(n_nodes):
            # Parents come before their children.
            if parent[node] >= 0:
                depth[node] = depth[parent[node]] + 1
    return np.asarray(depth)


def find_misplaced(
    const int32_t[::1] branch_start not None,  # IN   (n_nodes + 1,) checked
    const int32_t[::1] branch_child not None,  # IN   (n_branches,)
    const int32_t[::1] tree_start not None,    # IN   (n_trees + 1,) checked
):
    """Return the first node that is not where a walk in preorder comes by.

    Walking is itself the check: a stack of the children still to come must name the
    next node each time. A cycle, a second parent or a branch to nowhere breaks it.

    Returns
    -------
    node : int
        -1 if every node is in its place.
    found : int or None
        What the walk names instead; None for nothing.
    """
    cdef:
        intp_t tree, node, branch, n_pending = 0
        int32_t[::1] pending = np.empty(branch_child.shape[0] + 1, dtype=np.int32)
    for tree in range(tree_start.shape[0] - 1):
        pending[0] = tree_start[tree]
        n_pending = 1
        for node in range(tree_start[tree], tree_start[tree + 1]):
            if n_pending == 0:
                return node, None
            n_pending -= 1
            if pending[n_pending] != node:
                return node, pending[n_pending]
            for branch in range(branch_start[node + 1] - 1, branch_start[node] - 1, -1):
                pending[n_pending] = branch_child[branch]
                n_pending += 1
        if n_pending > 0:
            return tree_start[tree + 1], pending[n_pending - 1]
    return -1, None
