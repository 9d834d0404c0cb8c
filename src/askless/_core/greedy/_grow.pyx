"""Grow a tree greedily from the root, one best split at a time.

The grower decides which node is next and when a node stops; what a good split is, is
the criterion's business, and what a test costs, the prices'. It must not know whether
the rows are cases of a known table or examples to learn from.
"""

from libc.math cimport INFINITY
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

import numpy as np

from askless._core.greedy._columns cimport (
    Columns, Copies, copy_rows, cut_rows, divide_rows,
)
from askless._core.greedy._criteria cimport Criterion
from askless._core.greedy._limits cimport Limits, is_leaf, read_limits
from askless._core.greedy._options import GrowthLimits, RandomDraws
from askless._core.greedy._rows cimport (
    Rows, code_at, find_heaviest, open_rows, release_rows,
)
from askless._core.greedy._search cimport SplitSearch
from askless._core.greedy._splits cimport Split
from askless._core.base._keys cimport mix_with
from askless._core.price._prices cimport Prices
from askless._core.tree._store cimport TreeBuffer
from askless._core.base._arrays cimport extend_array
from askless._core.base._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint8_t, uint64_t,
)


cdef struct Pending:
    Rows rows
    intp_t parent
    intp_t parent_branch
    intp_t depth
    float64_t spent  # on the way to the node; kept only where there is a budget
    intp_t n_active  # the node's tests are the first n_active of the shared list
    uint64_t key     # what is left to chance here is drawn by it


cdef class GreedyGrower:
    """One growth: the nodes still to do, and the tree so far."""

    cdef SplitSearch search
    cdef TreeBuffer tree
    cdef Prices prices
    cdef Limits limits
    cdef bint free_reuse
    cdef bint keeps_counts
    cdef bint has_unknown            # whether some outcome of the table is unknown

    cdef Pending* stack
    cdef intp_t n_pending
    cdef intp_t room
    # Tests that may still split, shared by all pending nodes: a node uses a prefix and
    # permutes only inside it, so every prefix keeps its set.
    cdef int32_t[::1] active
    cdef uint8_t[::1] paid
    cdef uint8_t[::1] is_open
    cdef int32_t[::1] child_of_code  # (n_codes,) -1: no child
    cdef float64_t[::1] shares       # (n_codes,) of a row of unknown code, by child
    cdef int32_t[::1] settled_code   # (n_codes,)
    cdef uint8_t[::1] scratch

    def __init__(self, rows, Prices prices not None, limits):
        cdef intp_t n_codes = np.max(rows.n_levels) + 2
        self.tree = TreeBuffer()
        self.prices = prices
        self.limits = read_limits(limits)
        self.has_unknown = rows.chances is not None
        self.active = np.arange(prices.n_tests, dtype=np.int32)
        self.paid = np.zeros(prices.n_tests + 1, dtype=np.uint8)
        self.is_open = np.zeros(prices.n_groups + 1, dtype=np.uint8)
        self.child_of_code = np.zeros(n_codes, dtype=np.int32)
        self.shares = np.zeros(n_codes)
        self.settled_code = np.zeros(n_codes, dtype=np.int32)
        self.scratch = np.zeros(scratch_bytes(rows), dtype=np.uint8)

    def __dealloc__(self):
        cdef intp_t i
        for i in range(self.n_pending):
            release_rows(&self.stack[i].rows)
        free(self.stack)

    cdef int push(self, const Pending* item) except -1 nogil:
        extend_array(<void**> &self.stack, &self.room, self.n_pending + 1, sizeof(Pending))
        self.stack[self.n_pending] = item[0]
        self.n_pending += 1
        return 0

    cdef int grow(self) except -1 nogil:
        """Grow until no node is pending, depth first, children in order of code."""
        cdef Pending item
        while self.n_pending > 0:
            self.n_pending -= 1
            item = self.stack[self.n_pending]
            try:
                self.grow_node(&item)
            finally:
                release_rows(&item.rows)
        return 0

    cdef int grow_node(self, Pending* item) except -1 nogil:
        cdef:
            Rows* rows = &item.rows
            intp_t node, k
            float64_t impurity, weight = 0.0
            Split split
        if self.tree.n_nodes >= self.limits.max_nodes:
            with gil:
                raise OverflowError(
                    f"the tree has more than {self.limits.max_nodes} nodes"
                )
        node = self.tree.add_node(item.parent, item.parent_branch)
        impurity = self.search.open(rows)
        self.record_weights(rows)
        for k in range(rows.n_classes):
            weight += self.search.totals[k]
        if is_leaf(&self.limits, item.depth, rows.n_classes, impurity, weight):
            return 0
        self.retrace(node)
        if self.limits.budget < INFINITY:
            self.search.room = self.limits.budget - item.spent
        self.search.key = item.key
        split = self.search.find_best(&self.active[0], &item.n_active)
        if split.test < 0:
            return 0
        if split.cut >= 0:
            self.split_at_cut(item, node, split)
        else:
            self.split_by_outcome(item, node, split)
        return 0

    cdef int record_weights(self, Rows* rows) except -1 nogil:
        """Add the prior of each class of the node, or what was weighed, to the tree."""
        cdef:
            intp_t k, i, row = rows.start
            float64_t total
        for k in range(rows.n_classes):
            if self.keeps_counts or rows.block.prior == NULL:
                total = self.search.totals[k]
            else:
                total = 0.0
                for i in range(row, row + rows.class_rows[k]):
                    total += rows.block.prior[i]
            row += rows.class_rows[k]
            self.tree.add_weight(rows.classes[k], total)
        return 0

    cdef void retrace(self, intp_t node) noexcept nogil:
        """Mark what a case at the node has paid for, and which groups it has opened."""
        cdef int32_t up = self.tree.parent[node]
        memset(&self.paid[0], 0, self.prices.n_tests)
        memset(&self.is_open[0], 0, self.prices.n_groups)
        while up >= 0:
            self.prices.charge(self.tree.test[up], -1, &self.paid[0], &self.is_open[0])
            up = self.tree.parent[up]
        if self.limits.budget < INFINITY:
            memcpy(&self.search.bought[0], &self.paid[0], self.prices.n_tests)
        if not self.free_reuse:
            memset(&self.paid[0], 0, self.prices.n_tests)

    cdef bint meets_code(self, Rows* rows, intp_t test, intp_t code) noexcept nogil:
        cdef intp_t i
        for i in range(rows.n_rows):
            if code_at(rows, test, i) == code:
                return True
        return False

    cdef bint meets_unknown(self, Rows* rows, intp_t test) noexcept nogil:
        return self.has_unknown and self.meets_code(
            rows, test, self.search.n_levels[test] + 1
        )

    cdef Columns moved_columns(self, const Pending* item) noexcept nogil:
        return Columns(&self.active[0], item.n_active, &self.scratch[0])

    cdef Copies copies_of(self, intp_t test, intp_t n_children) noexcept nogil:
        return Copies(
            n_children, self.search.n_levels[test] + 1, &self.child_of_code[0],
            &self.shares[0], &self.settled_code[0],
        )

    # Two children.

    cdef int split_at_cut(
        self, Pending* item, intp_t node, Split split
    ) except -1 nogil:
        cdef:
            Rows[2] children
            intp_t n_levels = self.search.n_levels[split.test]
            intp_t code, default_branch
            bint has_missing = self.meets_code(&item.rows, split.test, n_levels)
            Copies copies
            Columns moved
        memset(children, 0, 2 * sizeof(Rows))
        if self.meets_unknown(&item.rows, split.test):
            for code in range(n_levels + 1):
                self.child_of_code[code] = code > split.cut
            self.settled_code[0] = self.settled_code[1] = -1
            self.find_shares(node, split)
            copies = self.copies_of(split.test, 2)
            copy_rows(
                &item.rows, split.test, self.prices.n_tests, &copies, children
            )
        else:
            moved = self.moved_columns(item)
            cut_rows(&item.rows, split.test, split.cut, &moved, children)
        self.tree.test[node] = <int32_t> split.test
        self.tree.cut[node] = <int32_t> split.cut
        self.tree.add_branch(0)
        self.tree.add_branch(1)
        # Missing is the last code, so it went right; if the node met none, a missing
        # value follows the heavier side.
        default_branch = 1 if has_missing else find_heaviest(children, 2)
        self.tree.default_branch[node] = <int32_t> default_branch
        self.push_children(item, node, children, 2)
        return 0

    cdef void find_shares(self, intp_t node, Split split) noexcept nogil:
        """Share a row of unknown level between the two sides of a cut.

        Its level is one of those that earlier cuts of the same test on this path have
        left open, with the given chances.
        """
        cdef:
            intp_t low = 0, high = self.search.n_levels[split.test] - 1, level
            int32_t child = <int32_t> node, up = self.tree.parent[node]
            int64_t start = self.search.chance_start[split.test]
            float64_t left = 0.0, right = 0.0, total
        while up >= 0:
            if self.tree.test[up] == split.test:
                if self.tree.parent_branch[child] == 0:
                    high = min(high, <intp_t> self.tree.cut[up])
                else:
                    low = max(low, <intp_t> self.tree.cut[up] + 1)
            child = up
            up = self.tree.parent[up]
        for level in range(low, high + 1):
            if level <= split.cut:
                left += self.search.chances[start + level]
            else:
                right += self.search.chances[start + level]
        total = left + right
        self.shares[0] = left / total if total > 0 else left
        self.shares[1] = right / total if total > 0 else right

    # A child for every outcome.

    cdef int split_by_outcome(
        self, Pending* item, intp_t node, Split split
    ) except -1 nogil:
        cdef:
            intp_t n_children = self.search.list_outcomes(split.test)
            Rows* children = <Rows*> calloc(n_children, sizeof(Rows))
            const int32_t* codes = &self.search.codes_met[0]
            intp_t j
        if children == NULL:
            with gil:
                raise MemoryError("no memory left for the children of a node")
        for j in range(self.search.n_levels[split.test] + 1):
            self.child_of_code[j] = -1
        for j in range(n_children):
            self.child_of_code[codes[j]] = <int32_t> j
        try:
            self.move_to_outcomes(item, split.test, codes, n_children, children)
            self.tree.test[node] = <int32_t> split.test
            for j in range(n_children):
                self.tree.add_branch(codes[j])
            self.tree.default_branch[node] = (
                <int32_t> find_heaviest(children, n_children)
            )
            self.push_children(item, node, children, n_children)
        finally:
            free(children)
        return 0

    cdef int move_to_outcomes(
        self, Pending* item, intp_t test, const int32_t* codes, intp_t n_children,
        Rows* children,
    ) except -1 nogil:
        """Move or copy the rows of a node to the children of their codes."""
        cdef:
            Copies copies
            Columns moved
            intp_t j, n_levels = self.search.n_levels[test]
            int64_t start = self.search.chance_start[test]
        if not self.meets_unknown(&item.rows, test):
            moved = self.moved_columns(item)
            return divide_rows(
                &item.rows, test, n_children, &self.child_of_code[0], &moved, children
            )
        for j in range(n_children):
            self.settled_code[j] = codes[j]
            self.shares[j] = 0.0
            if codes[j] < n_levels:
                self.shares[j] = self.search.chances[start + codes[j]]
        copies = self.copies_of(test, n_children)
        return copy_rows(&item.rows, test, self.prices.n_tests, &copies, children)

    cdef int push_children(
        self, const Pending* item, intp_t node, Rows* children, intp_t n_children
    ) except -1 nogil:
        """Make the children pending, the last one first, so that the first is next."""
        cdef:
            intp_t j, test = self.tree.test[node], code = -1
            const int32_t* codes = self.tree.branch_code + self.tree.branch_start[node]
            Pending child = item[0]
        child.parent = node
        child.depth = item.depth + 1
        for j in range(n_children - 1, -1, -1):
            if self.limits.budget < INFINITY:
                if self.tree.cut[node] < 0:
                    code = codes[j]
                child.spent = item.spent + self.prices.price(
                    test, code, &self.search.bought[0], &self.is_open[0]
                )
            child.rows = children[j]
            child.parent_branch = j
            child.key = mix_with(item.key, <uint64_t> j)
            self.push(&child)
        return 0


def scratch_bytes(rows):
    """Return how much scratch memory moving the rows of the root takes.

    A mark of four bytes and a moved cell of up to eight for each row; two bytes are
    enough where every test is ordered and no row has a weight.
    """
    mark = 1 if np.all(rows.is_ordered) else 4
    # Copies of rows of unknown outcome have a prior in any case.
    has_weights = not (rows.weights is None and rows.prior is None)
    cell = rows.codes.dtype.itemsize
    if has_weights or rows.chances is not None:
        cell = 8
    return (mark + cell) * rows.codes.shape[1] + 64


def grow_greedy(
    rows not None,
    Criterion criterion not None,
    Prices prices not None,
    *,
    limits=GrowthLimits(),
    draws=RandomDraws(),
    bint free_reuse=False,
    bint keeps_counts=False,
    bint use_crossing=True,
    bint use_bounds=True,
):
    """Grow a tree on coded rows and return its arrays.

    ``rows`` are GrowthRows; their codes, weights and prior are used up: they are
    rearranged while the tree grows. ``free_reuse`` scores a test that was bought on the
    way down as free; otherwise it is scored at its price again, though a case never
    pays twice. The nodes of the tree hold the prior of each class, or with
    ``keeps_counts`` the weights that the criterion saw. ``use_crossing`` and
    ``use_bounds`` are switches that change time only. Peak memory beyond the rows is
    one column and the tree itself, unless outcomes are unknown: then each child gets
    its own copy.
    """
    cdef:
        GreedyGrower grower = GreedyGrower(rows, prices, limits)
        Pending root
    memset(&root, 0, sizeof(Pending))
    root.parent = root.parent_branch = -1
    root.n_active = prices.n_tests
    root.key = draws.key
    open_rows(rows, &root.rows)
    grower.push(&root)
    grower.search = SplitSearch(
        rows, criterion, prices, root.rows.n_classes, draws=draws,
        use_crossing=use_crossing, use_bounds=use_bounds,
    )
    grower.search.paid = &grower.paid[0]
    grower.search.is_open = &grower.is_open[0]
    grower.free_reuse = free_reuse
    grower.keeps_counts = keeps_counts
    with nogil:
        grower.grow()
    return grower.tree.to_arrays()
