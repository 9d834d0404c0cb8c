"""Collect the nodes of a tree while it grows, and hand them over as arrays.

This module must not know how the tree is grown, nor what becomes of it.
"""

from libc.stdlib cimport free, realloc
from libc.string cimport memcpy

import numpy as np

from askless._core._types cimport float64_t, int32_t, int64_t, intp_t


# Weights closer than this, relatively, tie, as wherever a class is decided.
cdef float64_t TOLERANCE = 1e-12


cdef int extend(void** array, intp_t room, size_t size) except -1 nogil:
    cdef void* larger = realloc(array[0], room * size)
    if larger == NULL:
        with gil:
            raise MemoryError("no memory left for the nodes of a tree")
    array[0] = larger
    return 0


cdef class TreeBuffer:
    """Growing arrays of nodes, branches and class weights."""

    def __dealloc__(self):
        free(self.test)
        free(self.cut)
        free(self.parent)
        free(self.parent_branch)
        free(self.default_branch)
        free(self.branch_start)
        free(self.branch_code)
        free(self.branch_child)
        free(self.weight_start)
        free(self.weight_class)
        free(self.weight)

    cdef intp_t add_node(self, intp_t parent, intp_t parent_branch) except -1 nogil:
        cdef intp_t node = self.n_nodes
        if node == self.node_room:
            self.node_room = max(64, 2 * self.node_room)
            extend(<void**> &self.test, self.node_room, sizeof(int32_t))
            extend(<void**> &self.cut, self.node_room, sizeof(int32_t))
            extend(<void**> &self.parent, self.node_room, sizeof(int32_t))
            extend(<void**> &self.parent_branch, self.node_room, sizeof(int32_t))
            extend(<void**> &self.default_branch, self.node_room, sizeof(int32_t))
            extend(<void**> &self.branch_start, self.node_room, sizeof(int32_t))
            extend(<void**> &self.weight_start, self.node_room, sizeof(int64_t))
        self.test[node] = -1
        self.cut[node] = -1
        self.parent[node] = <int32_t> parent
        self.parent_branch[node] = <int32_t> parent_branch
        self.default_branch[node] = -1
        self.branch_start[node] = <int32_t> self.n_branches
        self.weight_start[node] = self.n_weights
        if parent >= 0:
            self.branch_child[self.branch_start[parent] + parent_branch] = (
                <int32_t> node
            )
        self.n_nodes += 1
        return node

    cdef intp_t add_branch(self, intp_t code) except -1 nogil:
        cdef intp_t branch = self.n_branches
        if branch == self.branch_room:
            self.branch_room = max(64, 2 * self.branch_room)
            extend(<void**> &self.branch_code, self.branch_room, sizeof(int32_t))
            extend(<void**> &self.branch_child, self.branch_room, sizeof(int32_t))
        self.branch_code[branch] = <int32_t> code
        self.branch_child[branch] = -1
        self.n_branches += 1
        return branch

    cdef intp_t add_weight(self, intp_t class_index, float64_t weight) except -1 nogil:
        cdef intp_t entry = self.n_weights
        if entry == self.weight_room:
            self.weight_room = max(256, 2 * self.weight_room)
            extend(<void**> &self.weight_class, self.weight_room, sizeof(int32_t))
            extend(<void**> &self.weight, self.weight_room, sizeof(float64_t))
        self.weight_class[entry] = <int32_t> class_index
        self.weight[entry] = weight
        self.n_weights += 1
        return entry

    def to_arrays(self):
        """Return the finished tree as a dict of arrays."""
        return {
            "test": copy_ints(self.test, self.n_nodes),
            "cut": copy_ints(self.cut, self.n_nodes),
            "default_branch": copy_ints(self.default_branch, self.n_nodes),
            "branch_start": np.append(
                copy_ints(self.branch_start, self.n_nodes), self.n_branches
            ).astype(np.int32),
            "branch_code": copy_ints(self.branch_code, self.n_branches),
            "branch_child": copy_ints(self.branch_child, self.n_branches),
            "weight_start": np.append(
                copy_longs(self.weight_start, self.n_nodes), self.n_weights
            ).astype(np.int64),
            "weight_class": copy_ints(self.weight_class, self.n_weights),
            "weight": copy_reals(self.weight, self.n_weights),
        }


cdef object copy_ints(const int32_t* values, intp_t n):
    cdef int32_t[::1] copy = np.zeros(n, dtype=np.int32)
    if n:
        memcpy(&copy[0], values, n * sizeof(int32_t))
    return np.asarray(copy)


cdef object copy_longs(const int64_t* values, intp_t n):
    cdef int64_t[::1] copy = np.zeros(n, dtype=np.int64)
    if n:
        memcpy(&copy[0], values, n * sizeof(int64_t))
    return np.asarray(copy)


cdef object copy_reals(const float64_t* values, intp_t n):
    cdef float64_t[::1] copy = np.zeros(n)
    if n:
        memcpy(&copy[0], values, n * sizeof(float64_t))
    return np.asarray(copy)


def join_trees(list trees not None):
    """Return the arrays of a forest: the nodes of all trees, one tree after another.

    Each node is decided for its heaviest class, the first of a tie.
    """
    cdef:
        TreeBuffer tree
        intp_t n_nodes = 0, n_branches = 0, n_weights = 0
        intp_t node = 0, branch = 0, entry = 0, i, t = 0
        int32_t[::1] tree_start, test, cut, default_branch, branch_start, decision
        int32_t[::1] branch_code, branch_child, weight_class
        int64_t[::1] weight_start
        float64_t[::1] weight
    for tree in trees:
        n_nodes += tree.n_nodes
        n_branches += tree.n_branches
        n_weights += tree.n_weights
    if n_nodes >= 2**31 - 1 or n_branches >= 2**31 - 1:
        raise OverflowError("a forest must have fewer than 2**31 nodes")
    tree_start = np.zeros(len(trees) + 1, dtype=np.int32)
    test = np.empty(n_nodes, dtype=np.int32)
    cut = np.empty(n_nodes, dtype=np.int32)
    default_branch = np.empty(n_nodes, dtype=np.int32)
    decision = np.empty(n_nodes, dtype=np.int32)
    branch_start = np.zeros(n_nodes + 1, dtype=np.int32)
    branch_code = np.empty(n_branches, dtype=np.int32)
    branch_child = np.empty(n_branches, dtype=np.int32)
    weight_start = np.zeros(n_nodes + 1, dtype=np.int64)
    weight_class = np.empty(n_weights, dtype=np.int32)
    weight = np.empty(n_weights)
    for tree in trees:
        memcpy(&test[node], tree.test, tree.n_nodes * sizeof(int32_t))
        memcpy(&cut[node], tree.cut, tree.n_nodes * sizeof(int32_t))
        memcpy(
            &default_branch[node], tree.default_branch, tree.n_nodes * sizeof(int32_t)
        )
        memcpy(&weight_class[entry], tree.weight_class,
               tree.n_weights * sizeof(int32_t))
        memcpy(&weight[entry], tree.weight, tree.n_weights * sizeof(float64_t))
        for i in range(tree.n_nodes):
            branch_start[node + i] = <int32_t> (branch + tree.branch_start[i])
            weight_start[node + i] = entry + tree.weight_start[i]
            decision[node + i] = heaviest_class(tree, i)
        for i in range(tree.n_branches):
            branch_code[branch + i] = tree.branch_code[i]
            branch_child[branch + i] = <int32_t> (node + tree.branch_child[i])
        node += tree.n_nodes
        branch += tree.n_branches
        entry += tree.n_weights
        t += 1
        tree_start[t] = <int32_t> node
    branch_start[n_nodes] = <int32_t> n_branches
    weight_start[n_nodes] = n_weights
    return {
        "tree_start": np.asarray(tree_start),
        "test": np.asarray(test),
        "cut": np.asarray(cut),
        "default_branch": np.asarray(default_branch),
        "branch_start": np.asarray(branch_start),
        "branch_code": np.asarray(branch_code),
        "branch_child": np.asarray(branch_child),
        "weight_start": np.asarray(weight_start),
        "weight_class": np.asarray(weight_class),
        "weight": np.asarray(weight),
        "decision": np.asarray(decision),
    }


cdef int32_t heaviest_class(TreeBuffer tree, intp_t node) noexcept:
    cdef:
        int64_t start = tree.weight_start[node], entry
        int64_t end = tree.n_weights
        float64_t best = 0.0, total = 0.0
    if node + 1 < tree.n_nodes:
        end = tree.weight_start[node + 1]
    for entry in range(start, end):
        total += tree.weight[entry]
        if tree.weight[entry] > best:
            best = tree.weight[entry]
    for entry in range(start, end):
        if tree.weight[entry] >= best - TOLERANCE * max(best, total):
            return tree.weight_class[entry]
    return 0
