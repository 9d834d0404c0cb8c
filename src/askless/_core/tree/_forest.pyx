"""Walk blocks of coded rows down many trees, and charge each row once for each test.

Every tree walks the whole block before the next one starts, so that a tree is read once
for each block. Two walks give the same leaves: one for trees that only compare, eight
rows side by side without a branch, and one for any mix of tests.

Payments are made in the order of the trees, and within a tree from the root down. Where
prices add up exactly in any order, the sum is read off the set of tests instead.

This module must not know how a forest was grown, nor where the rows come from.
"""

cimport cython
from libc.stdlib cimport calloc, free, malloc

import numpy as np

from askless._core.price._prices cimport Prices
from askless._core.base._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint8_t, uint16_t, uint32_t, uint64_t,
)


cdef extern from "askless/_core/tree/walk.h" nogil:
    uint64_t pack_node(
        uint32_t right, uint16_t column, uint8_t bound, uint8_t shift
    ) noexcept
    uint64_t NODE_COLUMN(uint64_t node) noexcept
    uint8_t NODE_BOUND(uint64_t node) noexcept
    uint8_t NODE_SHIFT(uint64_t node) noexcept
    uint32_t next_node_missing(uint64_t node, uint32_t at, uint8_t code) noexcept
    void walk_eight(
        const uint64_t* nodes, const uint8_t* group, uint32_t root, int32_t* leaf,
        int has_missing,
    ) noexcept
    void walk_eight_sets(
        const uint64_t* nodes, const uint8_t* group, uint32_t root, int32_t* leaf,
        uint64_t* sets, intp_t n_words,
    ) noexcept


# A node of a tree that only compares is packed into one word. Left is the next node,
# right is stored; a leaf leads to itself, and its shift is its decision if there are at
# most 256 classes. "Missing" is code 255; where it should go left the shift is 1.


# What the rows of a block have met and paid for.
cdef struct Bills:
    uint64_t* sets   # (n_rows, n_words) the columns that a row has met
    uint8_t* marks   # (n_rows, n_marks) tests paid, groups open; NULL if sums are exact
    intp_t n_words
    intp_t n_marks


cdef int open_bills(Bills* bills, ForestWalker walker, intp_t n_rows) noexcept nogil:
    """Make room for the bills of a block; -1 if there is none."""
    bills.n_words = walker.n_words
    bills.n_marks = walker.prices.n_tests + walker.prices.n_groups + 1
    bills.marks = NULL
    bills.sets = <uint64_t*> calloc(n_rows * bills.n_words + 1, sizeof(uint64_t))
    if bills.sets == NULL:
        return -1
    if not walker.sums_exactly:
        bills.marks = <uint8_t*> calloc(n_rows * bills.n_marks + 1, 1)
        if bills.marks == NULL:
            free(bills.sets)
            return -1
    return 0


@cython.final
cdef class ForestWalker:
    """The nodes of a forest, ready to be walked; arrays were checked before."""

    def __cinit__(self):
        self.packed = NULL
        self.way = NULL

    def __dealloc__(self):
        free(self.packed)
        free(self.way)

    def __init__(
        self,
        Prices prices not None,
        arrays not None,                       # the arrays of a forest, by name
        const int32_t[::1] n_levels not None,
        const int32_t[::1] used not None,
        intp_t n_classes,
        bint sums_exactly,
    ):
        column = np.full(prices.n_tests + 1, -1, dtype=np.int32)
        column[np.asarray(used)] = np.arange(used.shape[0], dtype=np.int32)
        self.prices = prices
        self.n_levels = n_levels
        self.used = used
        self.column = column
        self.n_columns = used.shape[0]
        # One more than the columns: a leaf reads a column that costs nothing.
        self.n_words = (self.n_columns + 1 + 63) // 64
        self.n_classes = n_classes
        self.tree_start = arrays["tree_start"]
        self.test = arrays["test"]
        self.cut = arrays["cut"]
        self.branch_start = arrays["branch_start"]
        self.branch_code = arrays["branch_code"]
        self.branch_child = arrays["branch_child"]
        self.default_branch = arrays["default_branch"]
        self.subtree_end = arrays["subtree_end"]
        self.decision = arrays["decision"]
        self.weight_start = arrays["weight_start"]
        self.weight_class = arrays["weight_class"]
        self.weight = arrays["weight"]
        self.n_trees = self.tree_start.shape[0] - 1
        self.sums_exactly = sums_exactly
        self.is_fast = (
            self.n_columns < 65535
            and bool(np.all((arrays["cut"] >= 0) | (arrays["test"] < 0)))
            and (self.n_columns == 0 or
                 int(np.max(np.asarray(n_levels)[np.asarray(used)])) <= 254)
            and not prices.has_delays
            and not prices.has_outcome_prices
        )
        if self.is_fast:
            self.pack()
            if self.n_words == 1:
                self.list_ways()
        self.price_bytes()

    cdef int pack(self) except -1:
        """Pack every node into a word."""
        cdef:
            intp_t n_nodes = self.test.shape[0], node
            uint64_t* packed = <uint64_t*> malloc((n_nodes + 1) * sizeof(uint64_t))
        if packed == NULL:
            raise MemoryError("no memory left to walk a forest")
        for node in range(n_nodes):
            if self.test[node] < 0:
                packed[node] = pack_node(
                    <uint32_t> node, <uint16_t> self.n_columns, 0,
                    <uint8_t> self.decision[node],
                )
            else:
                packed[node] = pack_node(
                    <uint32_t> self.branch_child[self.branch_start[node] + 1],
                    <uint16_t> self.column[self.test[node]],
                    <uint8_t> (self.cut[node] + 1),
                    self.default_branch[node] == 0,
                )
        self.packed = packed
        return 0

    cdef int list_ways(self) except -1:
        """List the columns that are read on the way to each node, as bits of a word."""
        cdef:
            intp_t n_nodes = self.test.shape[0], node
            int32_t branch
        self.way = <uint64_t*> calloc(n_nodes + 1, sizeof(uint64_t))
        if self.way == NULL:
            raise MemoryError("no memory left to walk a forest")
        for node in range(n_nodes):
            # Children come after their parents.
            if self.test[node] >= 0:
                for branch in range(
                    self.branch_start[node], self.branch_start[node + 1]
                ):
                    self.way[self.branch_child[branch]] = self.way[node] | (
                        (<uint64_t> 1) << self.column[self.test[node]]
                    )
        return 0

    cdef void price_bytes(self) except *:
        """Add up the prices of each eight columns, for every set of them."""
        cdef intp_t c
        table = np.zeros((8 * self.n_words, 256))
        bits = (np.arange(256)[:, None] >> np.arange(8)) & 1
        for c in range(self.n_columns):
            table[c // 8] += bits[:, c % 8] * self.prices.full[self.used[c]]
        self.byte_price = table.ravel()

    cdef int32_t follow(self, int32_t node, intp_t code) noexcept nogil:
        """Return the child that a code leads to."""
        cdef:
            int32_t start = self.branch_start[node]
            int32_t low = start, high = self.branch_start[node + 1], middle
            int32_t branch = start + self.default_branch[node]
        if self.cut[node] >= 0:
            if code < self.n_levels[self.test[node]]:
                branch = start + (code > self.cut[node])
            return self.branch_child[branch]
        while low < high:
            middle = (low + high) >> 1
            if self.branch_code[middle] < code:
                low = middle + 1
            else:
                high = middle
        if low < self.branch_start[node + 1] and self.branch_code[low] == code:
            branch = low
        return self.branch_child[branch]

    def settle(
        self,
        const int32_t[::1] known not None,  # IN      (n_tests,) codes seen, -1: none
        int32_t[::1] at not None,           # IN/OUT  (n_trees,) where each tree stands
    ):
        """Walk every tree as far as what is known takes it.

        Returns the first tree that has not ended, or their number if all have.
        """
        cdef:
            intp_t tree, first = self.n_trees
            int32_t node
        with nogil:
            for tree in range(self.n_trees):
                node = at[tree]
                while self.test[node] >= 0 and known[self.test[node]] >= 0:
                    node = self.follow(node, known[self.test[node]])
                at[tree] = node
                if self.test[node] >= 0 and first == self.n_trees:
                    first = tree
        return first

    # Leaves and decisions of a block.

    cdef void add_leaf(
        self, intp_t row, intp_t tree, int32_t leaf, Outputs* out
    ) noexcept nogil:
        cdef int64_t w
        if out.leaf != NULL:
            out.leaf[row * self.n_trees + tree] = leaf
        if out.tally != NULL:
            out.tally[row * self.n_classes + self.decision[leaf]] += 1
        if out.weights != NULL:
            for w in range(self.weight_start[leaf], self.weight_start[leaf + 1]):
                out.weights[row * self.n_classes + self.weight_class[w]] += (
                    self.weight[w]
                )

    cdef void decide(self, intp_t n, Outputs* out) noexcept nogil:
        """Give each row the class of most votes; on a tie, the first."""
        cdef:
            intp_t row, k
            int32_t best
            const int32_t* tally
        for row in range(n):
            tally = out.tally + row * self.n_classes
            best = 0
            for k in range(1, self.n_classes):
                if tally[k] > tally[best]:
                    best = <int32_t> k
            out.decision[row] = best

    # Rows of bytes, eight side by side.

    cdef int walk_bytes(
        self, const uint8_t* rows, intp_t n, bint has_missing, Outputs* out
    ) noexcept nogil:
        cdef:
            intp_t n_groups = (n + N_LANES - 1) // N_LANES
            intp_t tree, group, row, end
            uint32_t root
            int32_t[N_LANES] leaf
            const uint8_t* codes
            bint charges = out.cost != NULL
            bint only_votes = (
                out.tally != NULL and out.leaf == NULL and out.weights == NULL
                and self.n_classes <= 256
            )
            Bills bills
        bills.sets = NULL
        bills.marks = NULL
        if charges and open_bills(&bills, self, n_groups * N_LANES) < 0:
            return -1
        for tree in range(self.n_trees):
            root = <uint32_t> self.tree_start[tree]
            for group in range(n_groups):
                row = group * N_LANES
                end = min(<intp_t> N_LANES, n - row)
                codes = rows + row * (self.n_columns + 1)
                if charges and self.way == NULL:
                    walk_eight_sets(
                        self.packed, codes, root, leaf,
                        bills.sets + row * bills.n_words, bills.n_words,
                    )
                else:
                    walk_eight(self.packed, codes, root, leaf, has_missing)
                add_leaves(self, row, end, tree, leaf, only_votes, out)
                if charges:
                    charge_group(self, codes, row, end, tree, leaf, &bills, out)
            if out.path_cost != NULL:
                for row in range(n):
                    out.path_cost[tree * out.path_stride + row] = (
                        out.cost[row] if bills.marks != NULL
                        else self.price_set(bills.sets + row * bills.n_words)
                    )
        if charges and bills.marks == NULL:
            for row in range(n):
                out.cost[row] = self.price_set(bills.sets + row * bills.n_words)
        if out.decision != NULL:
            self.decide(n, out)
        free(bills.sets)
        free(bills.marks)
        return 0

    cdef float64_t price_set(self, const uint64_t* columns) noexcept nogil:
        cdef:
            intp_t byte
            float64_t total = 0.0
        for byte in range((self.n_columns + 7) // 8):
            total += self.byte_price[
                256 * byte + ((columns[byte >> 3] >> (8 * (byte & 7))) & 255)
            ]
        return total

    cdef void pay(
        self, const uint8_t* row, intp_t tree, uint8_t* marks, float64_t* spent
    ) noexcept nogil:
        """Charge a row of byte codes, N_LANES apart, for its way down a tree."""
        cdef:
            uint32_t at = <uint32_t> self.tree_start[tree]
            uint64_t node = self.packed[at]
        while NODE_BOUND(node) > 0:
            spent[0] += self.prices.charge(
                self.test[at], -1, marks, marks + self.prices.n_tests
            )
            at = next_node_missing(node, at, row[NODE_COLUMN(node) * N_LANES])
            node = self.packed[at]

    # Rows of two bytes a code, one at a time.

    cdef int walk_any(
        self, const uint16_t* rows, intp_t n, Outputs* out
    ) noexcept nogil:
        cdef:
            intp_t stride = self.n_columns + 1
            intp_t n_marks = self.prices.n_tests + self.prices.n_groups + 1
            intp_t tree, row
            int32_t at, test
            uint8_t* marks = <uint8_t*> calloc(n * n_marks + 1, 1)
            uint8_t* paid
            uint8_t* is_open
            intp_t code
        if marks == NULL:
            return -1
        for tree in range(self.n_trees):
            for row in range(n):
                paid = marks + row * n_marks
                is_open = paid + self.prices.n_tests
                at = self.tree_start[tree]
                while self.test[at] >= 0:
                    test = self.test[at]
                    code = rows[row * stride + self.column[test]]
                    if out.cost == NULL or paid[test]:
                        pass
                    elif self.prices.delayed[test]:
                        self.buy_below(at, paid, is_open, &out.cost[row])
                    else:
                        out.cost[row] += self.prices.charge(test, code, paid, is_open)
                    at = self.follow(at, code)
                self.add_leaf(row, tree, at, out)
                if out.path_cost != NULL:
                    out.path_cost[tree * out.path_stride + row] = out.cost[row]
        if out.decision != NULL:
            self.decide(n, out)
        free(marks)
        return 0

    cdef void buy_below(
        self, int32_t node, uint8_t* paid, uint8_t* is_open, float64_t* spent
    ) noexcept nogil:
        """Charge for a delayed test and all below it, added up before they are paid."""
        cdef:
            intp_t below
            float64_t together = 0.0
        for below in range(node, self.subtree_end[node]):
            if self.test[below] >= 0:
                together += self.prices.charge(self.test[below], -1, paid, is_open)
        spent[0] += together


cdef inline void add_leaves(
    ForestWalker walker, intp_t row, intp_t n, intp_t tree, const int32_t* leaf,
    bint only_votes, Outputs* out,
) noexcept nogil:
    """Count the leaves of some rows that follow one another."""
    cdef intp_t lane
    if only_votes:
        # The leaf is at hand; its decision would be one more far read.
        for lane in range(n):
            out.tally[
                (row + lane) * walker.n_classes + NODE_SHIFT(walker.packed[leaf[lane]])
            ] += 1
    else:
        for lane in range(n):
            walker.add_leaf(row + lane, tree, leaf[lane], out)


cdef inline void charge_group(
    ForestWalker walker, const uint8_t* codes, intp_t row, intp_t n, intp_t tree,
    const int32_t* leaf, Bills* bills, Outputs* out,
) noexcept nogil:
    """Note what the rows of a group have met in a tree; charge it, if order matters."""
    cdef:
        intp_t lane
        uint64_t seen, new
    for lane in range(n):
        new = 1
        if walker.way != NULL:
            # The columns on the way to a leaf were listed before.
            seen = walker.way[leaf[lane]]
            new = seen & ~bills.sets[row + lane]
            bills.sets[row + lane] |= seen
        if bills.marks != NULL and new != 0:
            walker.pay(
                codes + lane, tree, bills.marks + (row + lane) * bills.n_marks,
                &out.cost[row + lane],
            )
