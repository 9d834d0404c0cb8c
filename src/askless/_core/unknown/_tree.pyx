"""Write a rule on a table with unknown outcomes out as a tree.

A case whose outcome is unknown goes on in every branch that it may be drawn into,
lighter by the chance of that.
"""

from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memset

import numpy as np

from askless._core.base._types cimport float64_t, int32_t, int64_t, intp_t, uint8_t
from askless._core.tree._store cimport TreeBuffer
from askless._core.unknown._table cimport State, UnknownTable, power_of_half
from askless._core.unknown._walk cimport RuleWalk


# A node still to do: its state, and the branch that leads to it.
cdef struct Pending:
    int32_t* cases
    int64_t* surprisal
    intp_t n
    intp_t parent
    intp_t branch
    intp_t position  # of the next test, for a fixed order


def write_tree(
    RuleWalk walk not None,
    const int32_t[::1] cases not None,
    intp_t max_nodes,
):
    """Return the arrays of the tree of a rule.

    `cases` are all cases, those of one class together. OverflowError if the tree has
    too many nodes.
    """
    cdef TreeWriter writer = TreeWriter(walk, max_nodes)
    return writer.write(cases)


cdef class TreeWriter:
    """A tree that is being written, and the nodes that are still to do."""

    cdef RuleWalk walk
    cdef UnknownTable table
    cdef TreeBuffer tree
    cdef intp_t max_nodes
    cdef uint8_t[::1] may_show  # (most codes,)
    cdef Pending* stack
    cdef intp_t n_pending
    cdef intp_t room

    def __init__(self, RuleWalk walk not None, intp_t max_nodes):
        self.walk = walk
        self.table = walk.table
        self.tree = TreeBuffer()
        self.max_nodes = max_nodes
        self.may_show = np.zeros(walk.table.most_codes, dtype=np.uint8)

    def __dealloc__(self):
        cdef intp_t i
        for i in range(self.n_pending):
            free(self.stack[i].cases)
            free(self.stack[i].surprisal)
        free(self.stack)

    def write(self, const int32_t[::1] cases not None):
        """Return the arrays of the whole tree."""
        cdef:
            Pending item
            int32_t* first
        self.push(cases.shape[0], -1, 0, 0)
        first = self.stack[0].cases
        memcpy(first, &cases[0], cases.shape[0] * sizeof(int32_t))
        memset(self.stack[0].surprisal, 0, cases.shape[0] * sizeof(int64_t))
        with nogil:
            while self.n_pending > 0:
                self.n_pending -= 1
                item = self.stack[self.n_pending]
                try:
                    if self.tree.n_nodes >= self.max_nodes:
                        with gil:
                            raise OverflowError(f"more than {self.max_nodes} nodes")
                    self.write_node(&item)
                finally:
                    free(item.cases)
                    free(item.surprisal)
        return self.tree.to_arrays()

    cdef int push(
        self, intp_t n, intp_t parent, intp_t branch, intp_t position
    ) except -1 nogil:
        """Push a node of up to n cases; they are filled in by the caller."""
        cdef:
            Pending* larger
            Pending* item
        if self.n_pending == self.room:
            larger = <Pending*> realloc(
                self.stack, max(64, 2 * self.room) * sizeof(Pending)
            )
            if larger == NULL:
                with gil:
                    raise MemoryError("no memory left to write a rule out")
            self.stack = larger
            self.room = max(64, 2 * self.room)
        item = &self.stack[self.n_pending]
        item.cases = <int32_t*> malloc((n + 1) * sizeof(int32_t))
        item.surprisal = <int64_t*> malloc((n + 1) * sizeof(int64_t))
        item.n = n
        item.parent = parent
        item.branch = branch
        item.position = position
        self.n_pending += 1
        if item.cases == NULL or item.surprisal == NULL:
            with gil:
                raise MemoryError("no memory left to write a rule out")
        return 0

    cdef int write_node(self, const Pending* item) except -1 nogil:
        cdef:
            intp_t node = self.tree.add_node(item.parent, item.branch)
            intp_t test, position = item.position
            State state
        state.cases = item.cases
        state.surprisal = item.surprisal
        state.n = item.n
        self.add_weights(&state)
        if self.walk.settled.holds(state.cases, state.n):
            return 0
        self.set_path(node)
        self.walk.measure(&state)
        test = self.walk.choose(&position)
        if test < 0:
            return 0
        self.tree.test[node] = <int32_t> test
        self.add_branches(node, test, &state, position)
        return 0

    cdef int add_weights(self, const State* state) except -1 nogil:
        """Add the weight of each class to the node that was added last."""
        cdef:
            intp_t i, x
            float64_t weight = 0.0
        for i in range(state.n):
            x = state.cases[i]
            weight += self.table.prior[x] * power_of_half(state.surprisal[i])
            if i + 1 == state.n or (
                self.table.class_id[x] != self.table.class_id[state.cases[i + 1]]
            ):
                self.tree.add_weight(self.table.class_id[x], weight)
                weight = 0.0
        return 0

    cdef void set_path(self, intp_t node) noexcept nogil:
        """Let the walk stand at a node of the tree."""
        self.walk.restart()
        node = self.tree.parent[node]
        while node >= 0:
            self.walk.enter(self.tree.test[node])
            node = self.tree.parent[node]

    cdef int add_branches(
        self, intp_t node, intp_t test, const State* state, intp_t position
    ) except -1 nogil:
        """Add a branch for each code that a test may show; the heaviest is default."""
        cdef:
            intp_t code, first = self.n_pending, last, n_branches = 0
            float64_t weight, heaviest = -1.0
            Pending* item
            State part
            Pending swapped
        self.table.mark_codes(test, state, &self.may_show[0])
        for code in range(self.table.n_levels[test] + 1):
            if not self.may_show[code]:
                continue
            self.tree.add_branch(code)
            self.push(state.n, node, n_branches, position)
            item = &self.stack[self.n_pending - 1]
            item.n = self.table.list_part(
                test, code, state, item.cases, item.surprisal
            )
            part.cases = item.cases
            part.surprisal = item.surprisal
            part.n = item.n
            weight = self.table.weigh_all(&part)
            if weight > heaviest * (1 + 1e-12):
                heaviest = weight
                self.tree.default_branch[node] = <int32_t> n_branches
            n_branches += 1
        # The first branch must come off the stack first.
        last = self.n_pending - 1
        while first < last:
            swapped = self.stack[first]
            self.stack[first] = self.stack[last]
            self.stack[last] = swapped
            first += 1
            last -= 1
        return 0
