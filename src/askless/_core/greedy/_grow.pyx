"""Grow a tree greedily from the root, one best split at a time.

The grower decides which node is next and when a node stops; what a good split is, is
the criterion's business, and what a test costs, the prices'. It must not know whether
the rows are cases of a known table or examples to learn from.
"""

from libc.math cimport INFINITY
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memset

import numpy as np

from askless._core.greedy._columns cimport (
    Block, Rows, copy_rows, cut_rows, part_rows, release_rows,
)
from askless._core.greedy._criteria cimport Criterion
from askless._core.base._keys cimport mix_with
from askless._core.price._prices cimport Prices
from askless._core.greedy._splits cimport Split, SplitSearch
from askless._core.tree._store cimport TreeBuffer
from askless._core.base._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint8_t, uint16_t, uint64_t,
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
    cdef intp_t max_depth
    cdef intp_t max_nodes
    cdef float64_t max_impurity
    cdef float64_t min_weight
    cdef float64_t budget  # INFINITY: none
    cdef bint free_reuse
    cdef bint keeps_counts

    cdef Pending* stack
    cdef intp_t n_pending
    cdef intp_t room
    # Tests that may still split, shared by all pending nodes: a node uses a prefix and
    # permutes only inside it, so every prefix keeps its set.
    cdef int32_t[::1] active
    cdef uint8_t[::1] paid
    cdef uint8_t[::1] is_open
    cdef int32_t[::1] child_of_code  # (n_codes,) -1: no child
    cdef float64_t[::1] shares      # (n_codes,) of a row of unknown code, by child
    cdef int32_t[::1] settled_code  # (n_codes,)
    cdef uint8_t[::1] scratch

    def __dealloc__(self):
        cdef intp_t i
        for i in range(self.n_pending):
            release_rows(&self.stack[i].rows)
        free(self.stack)

    cdef int push(
        self, Rows* rows, intp_t parent, intp_t branch, intp_t depth, float64_t spent,
        intp_t n_active, uint64_t key,
    ) except -1 nogil:
        cdef Pending* larger
        if self.n_pending == self.room:
            self.room = max(64, 2 * self.room)
            larger = <Pending*> realloc(self.stack, self.room * sizeof(Pending))
            if larger == NULL:
                with gil:
                    raise MemoryError("no memory left for the nodes to grow")
            self.stack = larger
        self.stack[self.n_pending].rows = rows[0]
        self.stack[self.n_pending].parent = parent
        self.stack[self.n_pending].parent_branch = branch
        self.stack[self.n_pending].depth = depth
        self.stack[self.n_pending].spent = spent
        self.stack[self.n_pending].n_active = n_active
        self.stack[self.n_pending].key = key
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
        if self.tree.n_nodes >= self.max_nodes:
            with gil:
                raise OverflowError(f"the tree has more than {self.max_nodes} nodes")
        node = self.tree.add_node(item.parent, item.parent_branch)
        impurity = self.search.weigh(rows)
        self.record_weights(rows)
        for k in range(rows.n_classes):
            weight += self.search.totals[k]
        if (
            rows.n_classes < 2
            or impurity <= self.max_impurity
            or item.depth >= self.max_depth
            or weight < self.min_weight
        ):
            return 0
        self.retrace(node)
        if self.budget < INFINITY:
            self.search.room = self.budget - item.spent
        self.search.key = item.key
        split = self.search.find_best(
            rows, &self.active[0], &item.n_active, &self.paid[0], &self.is_open[0]
        )
        if split.test < 0:
            return 0
        if split.cut >= 0:
            self.split_at_cut(item, node, split)
        else:
            self.split_by_outcome(item, node, split)
        return 0

    cdef int record_weights(self, Rows* rows) except -1 nogil:
        """Add the mass of each class of the node, or what was weighed, to the tree."""
        cdef:
            intp_t k, i, row = rows.start
            float64_t total
        for k in range(rows.n_classes):
            if self.keeps_counts or rows.block.mass == NULL:
                total = self.search.totals[k]
            else:
                total = 0.0
                for i in range(row, row + rows.class_rows[k]):
                    total += rows.block.mass[i]
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
        if self.budget < INFINITY:
            memcpy(&self.search.bought[0], &self.paid[0], self.prices.n_tests)
        if not self.free_reuse:
            memset(&self.paid[0], 0, self.prices.n_tests)

    cdef void find_share(
        self, intp_t node, Split split, float64_t* left, float64_t* right
    ) noexcept nogil:
        """Share a row of unknown level between the two sides of a cut.

        Its level is one of those that earlier cuts of the same test on this path have
        left open, with the given chances.
        """
        cdef:
            intp_t low = 0, high = self.search.n_levels[split.test] - 1, level
            int32_t child = <int32_t> node, up = self.tree.parent[node]
            int64_t start = self.search.chance_start[split.test]
            float64_t total
        while up >= 0:
            if self.tree.test[up] == split.test:
                if self.tree.parent_branch[child] == 0:
                    high = min(high, <intp_t> self.tree.cut[up])
                else:
                    low = max(low, <intp_t> self.tree.cut[up] + 1)
            child = up
            up = self.tree.parent[up]
        left[0] = right[0] = 0.0
        for level in range(low, high + 1):
            if level <= split.cut:
                left[0] += self.search.chances[start + level]
            else:
                right[0] += self.search.chances[start + level]
        total = left[0] + right[0]
        if total > 0:
            left[0] /= total
            right[0] /= total

    cdef bint has_unknown(self, Rows* rows, intp_t test) noexcept nogil:
        cdef:
            intp_t i, offset = test * rows.block.stride + rows.start
            intp_t unknown_code = self.search.n_levels[test] + 1
        if self.search.chances.shape[0] == 0:
            return False
        if self.search.is_wide:
            for i in range(rows.n_rows):
                if (<uint16_t*> rows.block.codes)[offset + i] == unknown_code:
                    return True
        else:
            for i in range(rows.n_rows):
                if (<uint8_t*> rows.block.codes)[offset + i] == unknown_code:
                    return True
        return False

    cdef int split_at_cut(
        self, Pending* item, intp_t node, Split split
    ) except -1 nogil:
        cdef:
            Rows[2] children
            intp_t n_levels = self.search.n_levels[split.test]
            intp_t code, default_branch
            bint has_missing = False
        memset(children, 0, 2 * sizeof(Rows))
        has_missing = self.meets_code(&item.rows, split.test, n_levels)
        if self.has_unknown(&item.rows, split.test):
            for code in range(n_levels + 1):
                self.child_of_code[code] = code > split.cut
            self.settled_code[0] = self.settled_code[1] = -1
            self.find_share(node, split, &self.shares[0], &self.shares[1])
            copy_rows(
                &item.rows, self.search.is_wide, split.test, self.prices.n_tests,
                n_levels + 1, &self.child_of_code[0], &self.shares[0],
                &self.settled_code[0], 2, children,
            )
        else:
            cut_rows(
                &item.rows, self.search.is_wide, split.test, split.cut,
                &self.active[0], item.n_active, &self.scratch[0], children,
            )
        self.tree.test[node] = <int32_t> split.test
        self.tree.cut[node] = <int32_t> split.cut
        self.tree.add_branch(0)
        self.tree.add_branch(1)
        # Missing is the last code, so it went right; if the node met none, a missing
        # value follows the heavier side.
        default_branch = 1 if has_missing else self.heaviest(children, 2)
        self.tree.default_branch[node] = <int32_t> default_branch
        self.push_children(item, node, children, 2)
        return 0

    cdef int split_by_outcome(
        self, Pending* item, intp_t node, Split split
    ) except -1 nogil:
        cdef:
            intp_t n_levels = self.search.n_levels[split.test]
            intp_t n_children = self.search.list_outcomes(&item.rows, split.test)
            Rows* children = <Rows*> calloc(n_children, sizeof(Rows))
            const int32_t* codes = &self.search.codes_met[0]
            intp_t j
            int64_t start
        if children == NULL:
            with gil:
                raise MemoryError("no memory left for the children of a node")
        for j in range(n_levels + 1):
            self.child_of_code[j] = -1
        for j in range(n_children):
            self.child_of_code[codes[j]] = <int32_t> j
        try:
            if self.has_unknown(&item.rows, split.test):
                start = self.search.chance_start[split.test]
                for j in range(n_children):
                    self.settled_code[j] = codes[j]
                    self.shares[j] = (
                        self.search.chances[start + codes[j]]
                        if codes[j] < n_levels else 0.0
                    )
                copy_rows(
                    &item.rows, self.search.is_wide, split.test, self.prices.n_tests,
                    n_levels + 1, &self.child_of_code[0], &self.shares[0],
                    &self.settled_code[0], n_children, children,
                )
            else:
                part_rows(
                    &item.rows, self.search.is_wide, split.test,
                    n_children, &self.child_of_code[0],
                    &self.active[0], item.n_active, &self.scratch[0], children,
                )
            self.tree.test[node] = <int32_t> split.test
            for j in range(n_children):
                self.tree.add_branch(codes[j])
            self.tree.default_branch[node] = (
                <int32_t> self.heaviest(children, n_children)
            )
            self.push_children(item, node, children, n_children)
        finally:
            free(children)
        return 0

    cdef bint meets_code(self, Rows* rows, intp_t test, intp_t code) noexcept nogil:
        cdef intp_t i, offset = test * rows.block.stride + rows.start
        if self.search.is_wide:
            for i in range(rows.n_rows):
                if (<uint16_t*> rows.block.codes)[offset + i] == code:
                    return True
        else:
            for i in range(rows.n_rows):
                if (<uint8_t*> rows.block.codes)[offset + i] == code:
                    return True
        return False

    cdef intp_t heaviest(self, const Rows* children, intp_t n_children) noexcept nogil:
        """Return the child with the most mass; on a tie, the first."""
        cdef:
            intp_t j, i, best = 0
            float64_t mass, most = -1.0
            const float64_t* weights
        for j in range(n_children):
            weights = children[j].block.mass
            if weights == NULL:
                weights = children[j].block.weights
            if weights == NULL:
                mass = <float64_t> children[j].n_rows
            else:
                mass = 0.0
                for i in range(children[j].n_rows):
                    mass += weights[children[j].start + i]
            if mass > most:
                most = mass
                best = j
        return best

    cdef int push_children(
        self, Pending* item, intp_t node, Rows* children, intp_t n_children
    ) except -1 nogil:
        """Make the children pending, the last one first, so that the first is next."""
        cdef:
            intp_t j, test = self.tree.test[node], code = -1
            const int32_t* codes = self.tree.branch_code + self.tree.branch_start[node]
            float64_t spent = 0.0
        for j in range(n_children - 1, -1, -1):
            if self.budget < INFINITY:
                if self.tree.cut[node] < 0:
                    code = codes[j]
                spent = item.spent + self.prices.price(
                    test, code, &self.search.bought[0], &self.is_open[0]
                )
            self.push(
                &children[j], node, j, item.depth + 1, spent, item.n_active,
                mix_with(item.key, <uint64_t> j),
            )
        return 0


def grow_greedy(
    codes not None,                            # IN/OUT (n_tests, n_rows) is used up
    const int64_t[::1] class_rows not None,    # IN   (n_classes,) rows sorted by class
    Criterion criterion not None,
    Prices prices not None,
    const int32_t[::1] n_levels not None,      # IN   (n_tests,)
    const uint8_t[::1] is_ordered not None,    # IN   (n_tests,)
    *,
    float64_t[::1] weights=None,               # IN/OUT (n_rows,) is used up
    float64_t[::1] mass=None,                  # IN/OUT (n_rows,) is used up
    const float64_t[::1] chances=None,         # IN   of each level of each test
    const int64_t[::1] chance_start=None,      # IN   (n_tests + 1,)
    intp_t max_depth,
    float64_t max_impurity,
    float64_t min_weight,
    intp_t max_nodes,
    bint free_reuse,
    float64_t budget=INFINITY,
    bint keeps_counts=False,
    bint use_crossing=True,
    bint use_bounds=True,
    intp_t max_tests=0,
    const float64_t[::1] cut_values=None,      # IN   the thresholds of all tests
    const int64_t[::1] cut_value_start=None,   # IN   (n_tests + 1,)
    uint64_t key=0,
):
    """Grow a tree on coded rows and return its arrays.

    ``codes`` holds a column for each test, as unsigned bytes or two-byte words, with
    rows sorted by class; it is rearranged while the tree grows, and so are ``weights``
    and ``mass``. ``free_reuse`` scores a test that was bought on the way down as free;
    otherwise it is scored at its price again, though a case never pays twice. A node
    leaves out the tests whose dearest outcome would take a case beyond the ``budget``,
    as if no test were delayed. The nodes of the tree hold the mass of each class, or
    with ``keeps_counts`` the weights that the criterion saw. Peak memory beyond these
    is one column and the tree itself, unless outcomes are unknown (``chances`` given):
    then each child gets its own copy.

    Forests leave a part to chance, drawn by the ``key`` and the way to a node: a node
    tries ``max_tests`` of the tests that can split it (0: all), and where
    ``cut_values`` are given, thresholds drawn between the least and the largest value
    instead of every cut.
    """
    cdef:
        bint is_wide = codes.dtype == np.uint16
        uint8_t[:, ::1] narrow
        uint16_t[:, ::1] wide
        intp_t n_tests = codes.shape[0]
        intp_t n_rows = codes.shape[1]
        intp_t n_classes = class_rows.shape[0]
        intp_t n_codes = np.max(n_levels) + 2
        intp_t k, n_present = 0
        Block* block
        Rows rows
        GreedyGrower grower = GreedyGrower()

    if chances is None:
        chances = np.zeros(0)
        chance_start = np.zeros(n_tests + 1, dtype=np.int64)
    for k in range(n_classes):
        n_present += class_rows[k] > 0
    grower.search = SplitSearch(
        criterion, prices, n_levels, is_ordered, chances, chance_start,
        n_rows=n_rows, n_classes=n_present, is_wide=is_wide,
        use_crossing=use_crossing, use_bounds=use_bounds,
    )
    if max_tests > 0:
        grower.search.max_tests = min(max_tests, n_tests)
    if cut_values is not None:
        grower.search.draws_cuts = True
        grower.search.cut_values = cut_values
        grower.search.cut_value_start = cut_value_start
    grower.tree = TreeBuffer()
    grower.prices = prices
    grower.max_depth = max_depth
    grower.max_nodes = max_nodes
    grower.max_impurity = max_impurity
    grower.min_weight = min_weight
    grower.budget = budget
    grower.free_reuse = free_reuse
    grower.keeps_counts = keeps_counts
    grower.active = np.arange(n_tests, dtype=np.int32)
    grower.paid = np.zeros(n_tests + 1, dtype=np.uint8)
    grower.is_open = np.zeros(prices.n_groups + 1, dtype=np.uint8)
    grower.child_of_code = np.zeros(n_codes, dtype=np.int32)
    grower.shares = np.zeros(n_codes)
    grower.settled_code = np.zeros(n_codes, dtype=np.int32)
    # Room for a mark of four bytes and a moved cell of up to eight for each row; two
    # bytes are enough where every test is ordered and no row has a weight.
    grower.scratch = np.zeros(
        scratch_bytes(
            n_rows, codes.dtype.itemsize, not np.all(is_ordered),
            # Copies of rows of unknown outcome have a mass in any case.
            weights is not None or mass is not None or chances.shape[0] > 0,
        ),
        dtype=np.uint8,
    )

    block = <Block*> calloc(1, sizeof(Block))
    memset(&rows, 0, sizeof(Rows))
    rows.classes = <int32_t*> malloc((n_present + 1) * sizeof(int32_t))
    rows.class_rows = <int64_t*> malloc((n_present + 1) * sizeof(int64_t))
    if block == NULL or rows.classes == NULL or rows.class_rows == NULL:
        free(block)
        release_rows(&rows)
        raise MemoryError("no memory left to start a tree")
    if is_wide:
        wide = codes
        block.codes = &wide[0, 0]
    else:
        narrow = codes
        block.codes = &narrow[0, 0]
    block.weights = NULL if weights is None else &weights[0]
    block.mass = NULL if mass is None else &mass[0]
    block.stride = n_rows
    block.n_users = 1
    rows.block = block
    rows.n_rows = n_rows
    for k in range(n_classes):
        if class_rows[k] > 0:
            rows.classes[rows.n_classes] = <int32_t> k
            rows.class_rows[rows.n_classes] = class_rows[k]
            rows.n_classes += 1
    grower.push(&rows, -1, -1, 0, 0.0, n_tests, key)
    with nogil:
        grower.grow()
    return grower.tree.to_arrays()


def scratch_bytes(n_rows, code_size, has_outcome_splits, has_weights):
    """Return how much scratch memory moving the rows of the root takes."""
    mark = 4 if has_outcome_splits else 1
    cell = 8 if has_weights else code_size
    return (mark + cell) * n_rows + 64
