"""Walk many rows down many trees at once, and charge each row once for each test.

Rows are coded in blocks, and every tree walks the whole block before the next one
starts, so that a tree is read once for each block. Two walks give the same leaves: one
for trees that only compare, eight rows side by side without a branch, and one for any
mix of tests.

Payments are made in the order of the trees, and within a tree from the root down. Where
prices add up exactly in any order, the sum is read off the set of tests instead.

This module must not know how a forest was grown.
"""

from cython.parallel import prange
from libc.stdlib cimport calloc, free, malloc

import numpy as np

from askless._core.code._codes cimport CutColumn, CutIndex, find_level
from askless._core.price._prices cimport Prices
from askless._core.base._types cimport (
    code_t, float64_t, int32_t, int64_t, intp_t, real_t, uint8_t, uint16_t, uint32_t,
    uint64_t,
)


cdef extern from "askless/_core/tree/walk.h" nogil:
    # Rows walked side by side, so that their reads do not wait for one another.
    enum: N_LANES
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


cdef enum:
    # Rows walked together: many, since each block reads all trees from far away, while
    # its rows are read in order. Multiples of N_LANES.
    LEAST_ROWS = 2048
    MOST_ROWS = 32768
    # Bytes of codes of a block, at about which rows of many columns are fewer.
    BLOCK_BYTES = 1 << 22
    # Rows coded together. A multiple of N_LANES.
    CODED_ROWS = 64


# A node of a tree that only compares is packed into one word. Left is the next node,
# right is stored; a leaf leads to itself, and its shift is its decision if there are at
# most 256 classes. "Missing" is code 255; where it should go left the shift is 1.
#
# Codes of a block are interleaved by groups of rows:
#
#     [group of N_LANES rows][column][row of the group]


cdef inline intp_t code_place(intp_t row, intp_t column, intp_t stride) noexcept nogil:
    return (row // N_LANES * stride + column) * N_LANES + row % N_LANES


cdef struct Outputs:
    int32_t* leaf        # (n_rows, n_trees) or NULL
    int32_t* tally       # (n_rows, n_classes) or NULL
    float64_t* weights   # (n_rows, n_classes) or NULL
    int32_t* decision    # (n_rows,) or NULL
    float64_t* cost      # (n_rows,) or NULL
    # What was paid after each tree, (n_trees, n_rows) or NULL; then `cost` is given too
    float64_t* path_cost
    intp_t path_stride


cdef class ForestWalker:
    """The nodes of a forest, ready to be walked; arrays were checked before."""

    cdef readonly Prices prices
    cdef readonly bint is_fast         # every node compares, and codes are bytes
    cdef readonly bint sums_exactly    # prices add up to the same in any order
    cdef intp_t n_trees
    cdef intp_t n_classes
    cdef intp_t n_columns              # tests that some node asks for
    cdef intp_t n_words                # of a set of columns
    cdef const int32_t[::1] tree_start
    cdef const int32_t[::1] test
    cdef const int32_t[::1] cut
    cdef const int32_t[::1] branch_start
    cdef const int32_t[::1] branch_code
    cdef const int32_t[::1] branch_child
    cdef const int32_t[::1] default_branch
    cdef const int32_t[::1] subtree_end
    cdef const int32_t[::1] decision
    cdef const int64_t[::1] weight_start
    cdef const int32_t[::1] weight_class
    cdef const float64_t[::1] weight
    cdef const int32_t[::1] n_levels   # (n_tests,)
    cdef const int32_t[::1] column     # (n_tests,) where the codes of a test are
    cdef const int32_t[::1] used       # (n_columns,) the tests in order of column
    cdef float64_t[::1] byte_price     # (8 * n_words, 256) of each byte of a set
    cdef uint64_t* packed              # NULL unless is_fast
    cdef uint64_t* way                 # (n_nodes,) columns above a node, of one word

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
        cdef intp_t c
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
        self.subtree_end = find_subtree_ends(arrays["branch_start"],
                                             arrays["branch_child"])
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
        table = np.zeros((8 * self.n_words, 256))
        bits = (np.arange(256)[:, None] >> np.arange(8)) & 1
        for c in range(self.n_columns):
            table[c // 8] += bits[:, c % 8] * prices.full[self.used[c]]
        self.byte_price = table.ravel()

    cdef int pack(self) except -1:
        cdef:
            intp_t n_nodes = self.test.shape[0], node
            int32_t branch
            uint8_t shift
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
                shift = self.default_branch[node] == 0
                packed[node] = pack_node(
                    <uint32_t> self.branch_child[self.branch_start[node] + 1],
                    <uint16_t> self.column[self.test[node]],
                    <uint8_t> (self.cut[node] + 1), shift,
                )
        self.packed = packed
        if self.n_words > 1:
            return 0
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

    cdef inline int32_t follow(self, int32_t node, intp_t code) noexcept nogil:
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

    # Blocks of rows.

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

    cdef int run_fast(
        self, const uint8_t* rows, intp_t n, bint has_missing, Outputs* out
    ) noexcept nogil:
        """Walk a block of byte codes, n_columns + 1 for each row.

        The block has room up to the next multiple of N_LANES rows.
        """
        cdef:
            intp_t stride = self.n_columns + 1, n_words = self.n_words
            intp_t n_padded = (n + N_LANES - 1) // N_LANES * N_LANES
            intp_t tree, group, row, lane, end
            int32_t[N_LANES] leaf
            uint64_t seen, new
            uint64_t* sets = <uint64_t*> calloc(n_padded * n_words, sizeof(uint64_t))
            const uint8_t* codes
            bint in_order = out.cost != NULL and not self.sums_exactly
            bint only_votes = (
                out.tally != NULL and out.leaf == NULL and out.weights == NULL
                and self.n_classes <= 256
            )
            intp_t n_marks = self.prices.n_tests + self.prices.n_groups + 1
            uint8_t* marks = NULL
        if in_order:
            marks = <uint8_t*> calloc(n_padded * n_marks, 1)
        if sets == NULL or (in_order and marks == NULL):
            free(sets)
            free(marks)
            return -1
        for tree in range(self.n_trees):
            for group in range(n_padded // N_LANES):
                row = group * N_LANES
                codes = rows + row * stride
                if n_words == 1:
                    # The columns on the way to a leaf were listed before.
                    walk_eight(
                        self.packed, codes, <uint32_t> self.tree_start[tree], leaf,
                        has_missing,
                    )
                else:
                    walk_eight_sets(
                        self.packed, codes, <uint32_t> self.tree_start[tree], leaf,
                        sets + row * n_words, n_words,
                    )
                end = min(<intp_t> N_LANES, n - row)
                if only_votes:
                    # The leaf is at hand; its decision would be one more far read.
                    for lane in range(end):
                        out.tally[
                            (row + lane) * self.n_classes
                            + NODE_SHIFT(self.packed[leaf[lane]])
                        ] += 1
                else:
                    for lane in range(end):
                        self.add_leaf(row + lane, tree, leaf[lane], out)
                if n_words > 1:
                    if in_order:
                        for lane in range(end):
                            self.pay(
                                codes + lane, tree, marks + (row + lane) * n_marks,
                                &out.cost[row + lane],
                            )
                    continue
                for lane in range(end):
                    seen = self.way[leaf[lane]]
                    new = seen & ~sets[row + lane]
                    sets[row + lane] |= seen
                    if in_order and new != 0:
                        self.pay(
                            codes + lane, tree, marks + (row + lane) * n_marks,
                            &out.cost[row + lane],
                        )
            if out.path_cost != NULL:
                for row in range(n):
                    out.path_cost[tree * out.path_stride + row] = (
                        out.cost[row] if in_order
                        else self.price_set(sets + row * n_words)
                    )
        if out.cost != NULL and not in_order:
            for row in range(n):
                out.cost[row] = self.price_set(sets + row * n_words)
        if out.decision != NULL:
            self.decide(n, out)
        free(sets)
        free(marks)
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

    cdef int run_any(
        self, const uint16_t* rows, intp_t n, Outputs* out
    ) noexcept nogil:
        """Walk a block of codes of two bytes, whatever the nodes ask."""
        cdef:
            intp_t stride = self.n_columns + 1
            intp_t n_marks = self.prices.n_tests + self.prices.n_groups + 1
            intp_t tree, row, below
            int32_t at, test
            uint8_t* marks = <uint8_t*> calloc(n * n_marks + 1, 1)
            uint8_t* paid
            uint8_t* is_open
            float64_t together
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
                        # Ordered together, so added up before they are paid.
                        together = 0.0
                        for below in range(at, self.subtree_end[at]):
                            if self.test[below] >= 0:
                                together += self.prices.charge(
                                    self.test[below], -1, paid, is_open
                                )
                        out.cost[row] += together
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

    cdef Outputs outputs_at(self, Outputs* whole, intp_t row) noexcept nogil:
        cdef Outputs out
        out.leaf = NULL if whole.leaf == NULL else whole.leaf + row * self.n_trees
        out.weights = (
            NULL if whole.weights == NULL else whole.weights + row * self.n_classes
        )
        out.decision = NULL if whole.decision == NULL else whole.decision + row
        out.cost = NULL if whole.cost == NULL else whole.cost + row
        out.path_cost = NULL if whole.path_cost == NULL else whole.path_cost + row
        out.path_stride = whole.path_stride
        out.tally = NULL
        return out

    cdef intp_t rows_of_block(self, intp_t n_rows, int n_jobs) noexcept nogil:
        """Return how many rows are walked together: each thread has some."""
        cdef:
            intp_t most = min(
                <intp_t> MOST_ROWS, <intp_t> BLOCK_BYTES // (self.n_columns + 1)
            )
            intp_t share = (n_rows + n_jobs - 1) // max(n_jobs, 1)
            intp_t size = min(max(most, <intp_t> LEAST_ROWS), max(share, 1))
        return (size + N_LANES - 1) // N_LANES * N_LANES

    def run_codes(
        self,
        const code_t[:, ::1] codes not None,  # IN   (n_columns, n_rows)
        intp_t n_rows,
        int n_jobs,
        *,
        int32_t[:, ::1] leaf=None,            # OUT  (n_rows, n_trees)
        int32_t[:, ::1] tally=None,           # OUT  (n_rows, n_classes) zeros
        float64_t[:, ::1] weights=None,       # OUT  (n_rows, n_classes) zeros
        int32_t[::1] decision=None,           # OUT  (n_rows,)
        float64_t[::1] cost=None,             # OUT  (n_rows,) zeros
        float64_t[:, ::1] path_cost=None,     # OUT  (n_trees, n_rows); cost is too
    ):
        """Walk coded rows and fill whichever outputs are given."""
        cdef:
            Outputs out
            intp_t size = self.rows_of_block(n_rows, n_jobs)
            intp_t n_blocks = (n_rows + size - 1) // size
            intp_t block
            int failed = 0
        if n_rows == 0:
            return
        fill_outputs(&out, leaf, tally, weights, decision, cost, path_cost)
        for block in prange(
            n_blocks, nogil=True, schedule="static", num_threads=n_jobs
        ):
            failed |= run_code_block(
                self, codes, block * size, min(n_rows, (block + 1) * size), &out,
            )
        if failed:
            raise MemoryError("no memory left to walk a forest")

    def run_matrix(
        self,
        const real_t[:, ::1] values not None,   # IN   (n_rows, n_tests) NaN is missing
        CutIndex index not None,                # IN   the cuts of the used tests
        int n_jobs,
        *,
        int32_t[:, ::1] leaf=None,
        int32_t[:, ::1] tally=None,
        float64_t[:, ::1] weights=None,
        int32_t[::1] decision=None,
        float64_t[::1] cost=None,
        float64_t[:, ::1] path_cost=None,
    ):
        """Walk rows of numbers, coding a block at a time; only if ``is_fast``."""
        cdef:
            Outputs out
            intp_t n_rows = values.shape[0]
            intp_t size = self.rows_of_block(n_rows, n_jobs)
            intp_t n_blocks = (n_rows + size - 1) // size
            intp_t block
            int failed = 0
        if n_rows == 0:
            return
        fill_outputs(&out, leaf, tally, weights, decision, cost, path_cost)
        for block in prange(
            n_blocks, nogil=True, schedule="static", num_threads=n_jobs
        ):
            failed |= run_matrix_block(
                self, values, index, block * size, min(n_rows, (block + 1) * size),
                &out,
            )
        if failed:
            raise MemoryError("no memory left to walk a forest")


cdef void fill_outputs(
    Outputs* out, int32_t[:, ::1] leaf, int32_t[:, ::1] tally,
    float64_t[:, ::1] weights, int32_t[::1] decision, float64_t[::1] cost,
    float64_t[:, ::1] path_cost,
):
    out.leaf = NULL if leaf is None else &leaf[0, 0]
    out.tally = NULL if tally is None else &tally[0, 0]
    out.weights = NULL if weights is None else &weights[0, 0]
    out.decision = NULL if decision is None else &decision[0]
    out.cost = NULL if cost is None else &cost[0]
    out.path_cost = NULL if path_cost is None else &path_cost[0, 0]
    out.path_stride = 0 if path_cost is None else path_cost.shape[1]


cdef int run_block(
    ForestWalker walker, void* rows, bint is_fast, bint has_missing, intp_t start,
    intp_t n, Outputs* whole,
) noexcept nogil:
    """Run a coded block; where only decisions are asked for, votes live here."""
    cdef:
        Outputs out = walker.outputs_at(whole, start)
        int32_t* votes = NULL
        int failed
    if whole.tally != NULL:
        out.tally = whole.tally + start * walker.n_classes
    elif whole.decision != NULL:
        votes = <int32_t*> calloc(n * walker.n_classes, sizeof(int32_t))
        if votes == NULL:
            return 1
        out.tally = votes
    if is_fast:
        failed = walker.run_fast(<const uint8_t*> rows, n, has_missing, &out)
    else:
        failed = walker.run_any(<const uint16_t*> rows, n, &out)
    free(votes)
    return failed != 0


cdef int run_code_block(
    ForestWalker walker, const code_t[:, ::1] codes, intp_t start, intp_t end,
    Outputs* whole,
) noexcept nogil:
    cdef:
        intp_t n = end - start, stride = walker.n_columns + 1, c, i
        intp_t n_levels
        uint8_t* narrow
        uint16_t* wide
        void* rows = calloc((n + N_LANES) * stride, sizeof(uint16_t))
        int failed
    if rows == NULL:
        return 1
    narrow = <uint8_t*> rows
    wide = <uint16_t*> rows
    for c in range(walker.n_columns):
        n_levels = walker.n_levels[walker.used[c]]
        if walker.is_fast:
            for i in range(n):
                narrow[code_place(i, c, stride)] = (
                    <uint8_t> codes[c, start + i]
                    if codes[c, start + i] < n_levels else 255
                )
        else:
            for i in range(n):
                wide[i * stride + c] = codes[c, start + i]
    failed = run_block(walker, rows, walker.is_fast, True, start, n, whole)
    free(rows)
    return failed


cdef int run_matrix_block(
    ForestWalker walker, const real_t[:, ::1] values, CutIndex index, intp_t start,
    intp_t end, Outputs* whole,
) noexcept nogil:
    cdef:
        intp_t n = end - start, stride = walker.n_columns + 1, c, i, test
        intp_t part, first, last
        CutColumn column
        float64_t value, cut
        bint has_missing = False
        uint8_t* rows = <uint8_t*> calloc((n + N_LANES) * stride, 1)
        int failed
    if rows == NULL:
        return 1
    # Few rows at a time, whose columns stay in the nearest cache while they are read.
    for part in range((n + CODED_ROWS - 1) // CODED_ROWS):
        first, last = part * CODED_ROWS, min(n, (part + 1) * CODED_ROWS)
        for c in range(walker.n_columns):
            test = walker.used[c]
            column = index.columns[c]
            if column.n_cuts == 1:
                cut = column.cuts[0]
                for i in range(first, last):
                    value = values[start + i, test]
                    has_missing |= value != value
                    rows[code_place(i, c, stride)] = (
                        <uint8_t> (cut < value) if value == value else 255
                    )
            else:
                for i in range(first, last):
                    value = values[start + i, test]
                    has_missing |= value != value
                    rows[code_place(i, c, stride)] = (
                        <uint8_t> find_level(&column, value) if value == value else 255
                    )
    failed = run_block(walker, rows, True, has_missing, start, n, whole)
    free(rows)
    return failed


def find_subtree_ends(
    const int32_t[::1] branch_start not None,  # IN   (n_nodes + 1,)
    const int32_t[::1] branch_child not None,
):
    """Return one past the last node of the subtree of each node; nodes in preorder."""
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


def find_misplaced(
    const int32_t[::1] branch_start not None,  # IN   (n_nodes + 1,) checked
    const int32_t[::1] branch_child not None,
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
