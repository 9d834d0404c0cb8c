"""Collect the nodes of a tree while it grows, and hand them over as arrays.

This module must not know how the tree is grown, nor what becomes of it.
"""

from libc.stdlib cimport free, realloc
from libc.string cimport memcpy

import numpy as np

from askless._core.base._types cimport float64_t, int32_t, int64_t, intp_t


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
        self.release()

    cdef int release(self) except -1:
        """Give all memory back and have no nodes."""
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
        self.test = self.cut = self.parent = self.parent_branch = NULL
        self.default_branch = self.branch_start = NULL
        self.branch_code = self.branch_child = self.weight_class = NULL
        self.weight_start = NULL
        self.weight = NULL
        self.n_nodes = self.n_branches = self.n_weights = 0
        self.node_room = self.branch_room = self.weight_room = 0
        return 0

    cdef int resize(
        self, intp_t node_room, intp_t branch_room, intp_t weight_room
    ) except -1 nogil:
        """Make room for so many, at least for what there is.

        Room that is not used takes no memory, but arrays that grow leave holes behind.
        """
        self.resize_nodes(max(node_room, self.n_nodes, 1))
        self.resize_branches(max(branch_room, self.n_branches, 1))
        self.resize_weights(max(weight_room, self.n_weights, 1))
        return 0

    cdef int resize_nodes(self, intp_t room) except -1 nogil:
        self.node_room = room
        extend(<void**> &self.test, room, sizeof(int32_t))
        extend(<void**> &self.cut, room, sizeof(int32_t))
        extend(<void**> &self.parent, room, sizeof(int32_t))
        extend(<void**> &self.parent_branch, room, sizeof(int32_t))
        extend(<void**> &self.default_branch, room, sizeof(int32_t))
        extend(<void**> &self.branch_start, room, sizeof(int32_t))
        extend(<void**> &self.weight_start, room, sizeof(int64_t))
        return 0

    cdef int resize_branches(self, intp_t room) except -1 nogil:
        self.branch_room = room
        extend(<void**> &self.branch_code, room, sizeof(int32_t))
        extend(<void**> &self.branch_child, room, sizeof(int32_t))
        return 0

    cdef int resize_weights(self, intp_t room) except -1 nogil:
        self.weight_room = room
        extend(<void**> &self.weight_class, room, sizeof(int32_t))
        extend(<void**> &self.weight, room, sizeof(float64_t))
        return 0

    cdef intp_t add_node(self, intp_t parent, intp_t parent_branch) except -1 nogil:
        cdef intp_t node = self.n_nodes
        if node == self.node_room:
            self.resize_nodes(max(64, 2 * self.node_room))
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
            self.resize_branches(max(64, 2 * self.branch_room))
        self.branch_code[branch] = <int32_t> code
        self.branch_child[branch] = -1
        self.n_branches += 1
        return branch

    cdef intp_t add_weight(self, intp_t class_index, float64_t weight) except -1 nogil:
        cdef intp_t entry = self.n_weights
        if entry == self.weight_room:
            self.resize_weights(max(256, 2 * self.weight_room))
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

    Each node is decided for its heaviest class, the first of a tie. The trees are used
    up: what is copied is given back at once, so that the forest never takes its memory
    twice.
    """
    cdef:
        TreeBuffer tree
        intp_t n_nodes = 0, n_branches = 0, n_weights = 0
        intp_t node = 0, branch = 0, entry = 0, i
        int32_t[::1] branch_start, branch_child
        int64_t[::1] weight_start
    for tree in trees:
        free(tree.parent)
        free(tree.parent_branch)
        tree.parent = tree.parent_branch = NULL
        n_nodes += tree.n_nodes
        n_branches += tree.n_branches
        n_weights += tree.n_weights
    if n_nodes >= 2**31 - 1 or n_branches >= 2**31 - 1:
        raise OverflowError("a forest must have fewer than 2**31 nodes")
    joined = {
        "tree_start": start_trees(trees),
        "decision": decide_nodes(trees, n_nodes),
    }
    for name in ("test", "cut", "default_branch"):
        joined[name] = join_nodes(trees, name, np.empty(n_nodes, dtype=np.int32))
    joined["branch_code"] = join_nodes(
        trees, "branch_code", np.empty(n_branches, dtype=np.int32)
    )
    joined["weight_class"] = join_nodes(
        trees, "weight_class", np.empty(n_weights, dtype=np.int32)
    )
    joined["weight"] = join_weights(trees, np.empty(n_weights))

    branch_start = np.zeros(n_nodes + 1, dtype=np.int32)
    branch_child = np.empty(n_branches, dtype=np.int32)
    weight_start = np.zeros(n_nodes + 1, dtype=np.int64)
    for tree in trees:
        for i in range(tree.n_nodes):
            branch_start[node + i] = <int32_t> (branch + tree.branch_start[i])
            weight_start[node + i] = entry + tree.weight_start[i]
        for i in range(tree.n_branches):
            branch_child[branch + i] = <int32_t> (node + tree.branch_child[i])
        node += tree.n_nodes
        branch += tree.n_branches
        entry += tree.n_weights
        tree.release()
    branch_start[n_nodes] = <int32_t> n_branches
    weight_start[n_nodes] = n_weights
    joined["branch_start"] = np.asarray(branch_start)
    joined["branch_child"] = np.asarray(branch_child)
    joined["weight_start"] = np.asarray(weight_start)
    return joined


cdef object start_trees(list trees):
    """Return where the nodes of each tree begin, and where the last one ends."""
    cdef:
        TreeBuffer tree
        intp_t node = 0, t = 0
        int32_t[::1] tree_start = np.zeros(len(trees) + 1, dtype=np.int32)
    for tree in trees:
        node += tree.n_nodes
        t += 1
        tree_start[t] = <int32_t> node
    return np.asarray(tree_start)


cdef object decide_nodes(list trees, intp_t n_nodes):
    """Return the heaviest class of each node of all trees."""
    cdef:
        TreeBuffer tree
        intp_t node = 0, i
        int32_t[::1] decision = np.empty(n_nodes, dtype=np.int32)
    for tree in trees:
        for i in range(tree.n_nodes):
            decision[node + i] = heaviest_class(tree, i)
        node += tree.n_nodes
    return np.asarray(decision)


cdef object join_nodes(list trees, str name, int32_t[::1] joined):
    """Copy one array of every tree, and give its memory back."""
    cdef:
        TreeBuffer tree
        int32_t** source
        intp_t at = 0, n
    for tree in trees:
        n = tree.n_nodes
        if name == "test":
            source = &tree.test
        elif name == "cut":
            source = &tree.cut
        elif name == "default_branch":
            source = &tree.default_branch
        elif name == "branch_code":
            source, n = &tree.branch_code, tree.n_branches
        else:
            source, n = &tree.weight_class, tree.n_weights
        if n:
            memcpy(&joined[at], source[0], n * sizeof(int32_t))
        free(source[0])
        source[0] = NULL
        at += n
    return np.asarray(joined)


cdef object join_weights(list trees, float64_t[::1] joined):
    cdef:
        TreeBuffer tree
        intp_t at = 0
    for tree in trees:
        if tree.n_weights:
            memcpy(&joined[at], tree.weight, tree.n_weights * sizeof(float64_t))
        free(tree.weight)
        tree.weight = NULL
        at += tree.n_weights
    return np.asarray(joined)


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
