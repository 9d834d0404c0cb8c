"""Estimate the classes of rows by a forest that has not seen them.

A bootstrap forest of Gini trees; what a tree says counts only for rows that it was not
grown on. Classes may matter more or less where cuts are chosen, so that rare ones are
not passed over; the shares in a leaf are plain. The learner uses the shares in place of
the one class that each row happened to show.

A row may stand for several equal ones by its weight w. It is then drawn Poisson(w)
times, as w rows would be, and the share of its w copies that stayed out of a bag with c
draws is taken as (1 - 1/w)^c: for one row, 1 if it was not drawn and else 0.

This module must not know what the shares are used for.
"""

from cython.parallel import prange
from libc.math cimport exp, pow
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

import numpy as np

from askless._core.base._keys cimport draw_share, mix_with
from askless._core.base._types cimport (
    float64_t, int32_t, intp_t, uint8_t, uint16_t, uint64_t,
)


# Trees grown at a time. Their votes are added in order, so the number changes memory
# and time only.
cdef enum:
    BLOCK = 8


# A tree: `test` is -1 at a leaf. A row goes left if its code is at most `code` (a
# number) or equal to it (a category).
cdef struct Tree:
    intp_t n_nodes
    int32_t* test
    int32_t* code
    int32_t* left       # the right child is the next node; at a leaf, its number
    float64_t* shares   # (n_leaves, n_classes)
    intp_t n_leaves
    # What growing needs.
    int32_t* rows       # the rows in the bag, node by node
    int32_t* moved
    int32_t* drawn      # (n_rows,) how often each row is in the bag
    float64_t* counts   # (n_codes, n_classes)
    float64_t* totals   # (n_codes,)
    int32_t* present    # codes that occur, in order of occurrence
    int32_t* order      # tests, in order of trial
    float64_t* node_counts
    float64_t* left_counts
    int32_t* stack


cdef struct Cut:
    float64_t score
    int32_t test
    int32_t code


cdef class OutOfBag:
    """A forest under way: block after block of trees, and the sums they leave.

    Parameters
    ----------
    codes : uint16 array of shape (n_tests, n_rows)
    n_levels : int32 array of shape (n_tests,)
    is_ordered : uint8 array of shape (n_tests,)
        Whether codes are compared (the code of "missing" is the largest) or matched.
    class_ids : int32 array of shape (n_rows,)
    weights : float64 array of shape (n_rows,)
        How many rows each row stands for.
    class_scale : float64 array of shape (n_classes,)
        How much a row of each class matters in choosing a cut, at least 0.
    min_leaf : float
        The least number of drawn rows on either side of a cut.
    n_tried : int
        How many tests that can part a node are tried there.
    seed : int
    """

    cdef const uint16_t[:, ::1] codes
    cdef const int32_t[::1] n_levels
    cdef const uint8_t[::1] is_ordered
    cdef const int32_t[::1] class_ids
    cdef const float64_t[::1] weights
    cdef const float64_t[::1] class_scale
    cdef readonly intp_t n_trees
    cdef intp_t n_tests
    cdef intp_t n_rows
    cdef intp_t n_classes
    cdef intp_t n_codes
    cdef intp_t n_tried
    cdef float64_t min_leaf
    cdef uint64_t seed
    cdef float64_t[:, ::1] sums
    cdef float64_t[::1] votes
    cdef Tree trees[BLOCK]

    def __cinit__(self):
        memset(self.trees, 0, BLOCK * sizeof(Tree))

    def __init__(
        self,
        const uint16_t[:, ::1] codes not None,
        const int32_t[::1] n_levels not None,
        const uint8_t[::1] is_ordered not None,
        const int32_t[::1] class_ids not None,
        const float64_t[::1] weights not None,
        const float64_t[::1] class_scale not None,
        float64_t min_leaf,
        intp_t n_tried,
        uint64_t seed,
    ):
        self.codes = codes
        self.n_levels = n_levels
        self.is_ordered = is_ordered
        self.class_ids = class_ids
        self.weights = weights
        self.class_scale = class_scale
        self.n_tests = codes.shape[0]
        self.n_rows = codes.shape[1]
        self.n_classes = class_scale.shape[0]
        self.n_codes = 2 + (max(n_levels) if self.n_tests else 0)
        self.min_leaf = min_leaf
        self.n_tried = n_tried
        self.seed = seed
        self.n_trees = 0
        self.sums = np.zeros((self.n_rows, self.n_classes))
        self.votes = np.zeros(self.n_rows)
        for block in range(BLOCK):
            self.allocate(&self.trees[block])

    cdef int allocate(self, Tree* tree) except -1:
        cdef:
            intp_t n = self.n_rows + 1
            intp_t k = self.n_classes
        # A leaf holds a row at least, and a tree of n leaves has n - 1 inner nodes.
        tree.test = <int32_t*> malloc(2 * n * sizeof(int32_t))
        tree.code = <int32_t*> malloc(2 * n * sizeof(int32_t))
        tree.left = <int32_t*> malloc(2 * n * sizeof(int32_t))
        tree.shares = <float64_t*> malloc(n * k * sizeof(float64_t))
        tree.rows = <int32_t*> malloc(n * sizeof(int32_t))
        tree.moved = <int32_t*> malloc(n * sizeof(int32_t))
        tree.drawn = <int32_t*> malloc(n * sizeof(int32_t))
        tree.counts = <float64_t*> calloc(self.n_codes * k, sizeof(float64_t))
        tree.totals = <float64_t*> calloc(self.n_codes, sizeof(float64_t))
        tree.present = <int32_t*> malloc(self.n_codes * sizeof(int32_t))
        tree.order = <int32_t*> malloc((self.n_tests + 1) * sizeof(int32_t))
        tree.node_counts = <float64_t*> malloc(k * sizeof(float64_t))
        tree.left_counts = <float64_t*> malloc(k * sizeof(float64_t))
        tree.stack = <int32_t*> malloc(3 * n * sizeof(int32_t))
        if not (
            tree.test and tree.code and tree.left and tree.shares and tree.rows
            and tree.moved and tree.drawn and tree.counts and tree.totals
            and tree.present and tree.order and tree.node_counts and tree.left_counts
            and tree.stack
        ):
            raise MemoryError("no memory left for the trees of a forest")
        return 0

    def __dealloc__(self):
        cdef intp_t block
        for block in range(BLOCK):
            free(self.trees[block].test)
            free(self.trees[block].code)
            free(self.trees[block].left)
            free(self.trees[block].shares)
            free(self.trees[block].rows)
            free(self.trees[block].moved)
            free(self.trees[block].drawn)
            free(self.trees[block].counts)
            free(self.trees[block].totals)
            free(self.trees[block].present)
            free(self.trees[block].order)
            free(self.trees[block].node_counts)
            free(self.trees[block].left_counts)
            free(self.trees[block].stack)

    def add_trees(self, intp_t n_more, int n_jobs=1):
        """Grow more trees, at most a block of them, and return how many."""
        cdef:
            intp_t n = min(n_more, <intp_t> BLOCK)
            intp_t block, row
        with nogil:
            for block in prange(n, schedule="dynamic", chunksize=1, num_threads=n_jobs):
                self.grow(&self.trees[block], self.n_trees + block)
            for row in prange(self.n_rows, schedule="static", num_threads=n_jobs):
                self.vote(row, n)
        self.n_trees += n
        return n

    def shares(self):
        """Return the mean share of each class for each row.

        A row that was in every bag has nothing but its own class.
        """
        votes = np.asarray(self.votes)
        shares = np.asarray(self.sums) / np.where(votes > 0, votes, 1.0)[:, None]
        never = np.flatnonzero(votes <= 0)
        shares[never, np.asarray(self.class_ids)[never]] = 1.0
        return shares

    cdef void vote(self, intp_t row, intp_t n) noexcept nogil:
        """Add what the trees of a block say of a row, in their order."""
        cdef:
            intp_t block, k
            int32_t at
            float64_t outside
            Tree* tree
            float64_t* said
            float64_t weight = self.weights[row]
        for block in range(n):
            tree = &self.trees[block]
            if tree.drawn[row] == 0:
                outside = 1.0
            elif weight > 1.0:
                outside = pow(1.0 - 1.0 / weight, tree.drawn[row])
            else:
                continue
            at = 0
            while tree.test[at] >= 0:
                at = tree.left[at] + (
                    not self.goes_left(tree.test[at], tree.code[at], row)
                )
            said = tree.shares + tree.left[at] * self.n_classes
            for k in range(self.n_classes):
                self.sums[row, k] += outside * said[k]
            self.votes[row] += outside

    cdef inline bint goes_left(
        self, intp_t test, intp_t code, intp_t row
    ) noexcept nogil:
        if self.is_ordered[test]:
            return self.codes[test, row] <= code
        return self.codes[test, row] == code

    cdef void grow(self, Tree* tree, intp_t number) noexcept nogil:
        """Draw a bag and grow a tree on it, children of a node side by side."""
        cdef:
            uint64_t key = mix_with(self.seed, number)
            intp_t n_drawn = 0
            intp_t row, n_stack, node, start, end, middle
            Cut cut
        for row in range(self.n_rows):
            tree.drawn[row] = draw_poisson(self.weights[row], mix_with(key, row))
            if tree.drawn[row]:
                tree.rows[n_drawn] = <int32_t> row
                n_drawn += 1
        tree.n_nodes = 1
        tree.n_leaves = 0
        tree.stack[0] = 0
        tree.stack[1] = 0
        tree.stack[2] = <int32_t> n_drawn
        n_stack = 1
        while n_stack:
            n_stack -= 1
            node = tree.stack[3 * n_stack]
            start = tree.stack[3 * n_stack + 1]
            end = tree.stack[3 * n_stack + 2]
            cut = self.find_cut(tree, start, end, mix_with(~key, node))
            if cut.test < 0:
                self.close_leaf(tree, node)
                continue
            middle = self.part(tree, start, end, cut)
            tree.test[node] = cut.test
            tree.code[node] = cut.code
            tree.left[node] = <int32_t> tree.n_nodes
            tree.stack[3 * n_stack] = <int32_t> tree.n_nodes
            tree.stack[3 * n_stack + 1] = <int32_t> start
            tree.stack[3 * n_stack + 2] = <int32_t> middle
            n_stack += 1
            tree.stack[3 * n_stack] = <int32_t> tree.n_nodes + 1
            tree.stack[3 * n_stack + 1] = <int32_t> middle
            tree.stack[3 * n_stack + 2] = <int32_t> end
            n_stack += 1
            tree.n_nodes += 2

    cdef void close_leaf(self, Tree* tree, intp_t node) noexcept nogil:
        """Make a leaf of the node whose classes were counted last."""
        cdef:
            float64_t* shares = tree.shares + tree.n_leaves * self.n_classes
            float64_t total = 0.0
            intp_t k
        for k in range(self.n_classes):
            total += tree.node_counts[k]
        for k in range(self.n_classes):
            # A bag may be empty, of a few rows of little weight.
            shares[k] = (
                tree.node_counts[k] / total if total > 0 else 1.0 / self.n_classes
            )
        tree.test[node] = -1
        tree.code[node] = -1
        tree.left[node] = <int32_t> tree.n_leaves
        tree.n_leaves += 1

    cdef intp_t part(
        self, Tree* tree, intp_t start, intp_t end, Cut cut
    ) noexcept nogil:
        """Move the rows that go right behind the others; return where they begin."""
        cdef:
            intp_t i
            intp_t n_left = start
            intp_t n_right = 0
            int32_t row
        for i in range(start, end):
            row = tree.rows[i]
            if self.goes_left(cut.test, cut.code, row):
                tree.rows[n_left] = row
                n_left += 1
            else:
                tree.moved[n_right] = row
                n_right += 1
        for i in range(n_right):
            tree.rows[n_left + i] = tree.moved[i]
        return n_left

    cdef Cut find_cut(
        self, Tree* tree, intp_t start, intp_t end, uint64_t key
    ) noexcept nogil:
        """Return the cut of least Gini impurity; none if nothing is gained."""
        cdef:
            intp_t i, k, test, swap, n_parting
            float64_t total = 0.0
            float64_t scaled = 0.0
            float64_t squares = 0.0
            float64_t here
            bint is_pure = False
            Cut best
        memset(tree.node_counts, 0, self.n_classes * sizeof(float64_t))
        for i in range(start, end):
            tree.node_counts[self.class_ids[tree.rows[i]]] += tree.drawn[tree.rows[i]]
        for k in range(self.n_classes):
            here = self.class_scale[k] * tree.node_counts[k]
            total += tree.node_counts[k]
            scaled += here
            squares += here * here
        best.test = -1
        best.code = -1
        best.score = 0.0
        for k in range(self.n_classes):
            is_pure = is_pure or tree.node_counts[k] == total
        if is_pure or scaled <= 0 or total < 2 * self.min_leaf:
            return best
        best.score = squares / scaled * (1.0 + 1e-9)
        for i in range(self.n_tests):
            tree.order[i] = <int32_t> i
        n_parting = 0
        for i in range(self.n_tests):
            if n_parting == self.n_tried:
                break
            key = mix_with(key, i)
            swap = i + <intp_t> (draw_share(mix_with(key, 0)) * (self.n_tests - i))
            test = tree.order[swap]
            tree.order[swap] = tree.order[i]
            tree.order[i] = <int32_t> test
            n_parting += self.try_test(tree, start, end, test, total, &best)
        return best

    cdef bint try_test(
        self, Tree* tree, intp_t start, intp_t end, intp_t test, float64_t total,
        Cut* best,
    ) noexcept nogil:
        """Try every cut of a test; return whether it parts the node at all."""
        cdef:
            const uint16_t* column = &self.codes[test, 0]
            intp_t n_classes = self.n_classes
            intp_t n_present = 0
            intp_t i, k, code
            int32_t row
            float64_t in_left, score
            float64_t* counts
        for i in range(start, end):
            row = tree.rows[i]
            code = column[row]
            if tree.totals[code] == 0:
                tree.present[n_present] = <int32_t> code
                n_present += 1
            tree.totals[code] += tree.drawn[row]
            tree.counts[code * n_classes + self.class_ids[row]] += tree.drawn[row]
        if n_present > 1 and self.is_ordered[test]:
            memset(tree.left_counts, 0, n_classes * sizeof(float64_t))
            in_left = 0.0
            for code in range(self.n_levels[test] + 1):
                if tree.totals[code] == 0:
                    continue
                counts = tree.counts + code * n_classes
                for k in range(n_classes):
                    tree.left_counts[k] += counts[k]
                in_left += tree.totals[code]
                if total - in_left < self.min_leaf:
                    break
                if in_left >= self.min_leaf:
                    score = self.score(tree, tree.left_counts)
                    if score > best.score:
                        best.score = score * (1.0 + 1e-9)
                        best.test = <int32_t> test
                        best.code = <int32_t> code
        elif n_present > 1:
            for i in range(n_present):
                code = tree.present[i]
                in_left = tree.totals[code]
                if in_left < self.min_leaf or total - in_left < self.min_leaf:
                    continue
                score = self.score(tree, tree.counts + code * n_classes)
                if score > best.score:
                    best.score = score * (1.0 + 1e-9)
                    best.test = <int32_t> test
                    best.code = <int32_t> code
        for i in range(n_present):
            tree.totals[tree.present[i]] = 0.0
            memset(
                tree.counts + tree.present[i] * n_classes, 0,
                n_classes * sizeof(float64_t),
            )
        return n_present > 1

    cdef inline float64_t score(
        self, const Tree* tree, const float64_t* in_left
    ) noexcept nogil:
        """Return how pure the sides of a cut are, the more the better."""
        cdef:
            float64_t left = 0.0
            float64_t right = 0.0
            float64_t n_left = 0.0
            float64_t n_right = 0.0
            float64_t here, there
            intp_t k
        for k in range(self.n_classes):
            here = self.class_scale[k] * in_left[k]
            there = self.class_scale[k] * (tree.node_counts[k] - in_left[k])
            n_left += here
            n_right += there
            left += here * here
            right += there * there
        # A side of classes that do not matter is worth nothing.
        return (left / n_left if n_left > 0 else 0.0) + (
            right / n_right if n_right > 0 else 0.0
        )


cdef int32_t draw_poisson(float64_t mean, uint64_t key) noexcept nogil:
    """Return a Poisson number, by counting down its distribution.

    A large mean is drawn in parts, of which e to the power is no tiny number.
    """
    cdef:
        float64_t part, chance, left
        int32_t n = 0
        int32_t step
    while mean > 0:
        part = min(mean, 16.0)
        mean -= part
        key = mix_with(key, 0)
        left = draw_share(mix_with(key, 0))
        chance = exp(-part)
        step = 0
        while left >= chance and step < 200:
            left -= chance
            step += 1
            chance *= part / step
        n += step
    return n
