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
from libc.math cimport pow
from libc.string cimport memset

import numpy as np

from askless._core.base._keys cimport draw_share, mix_with
from askless._core.base._types cimport (
    float64_t, int32_t, intp_t, uint8_t, uint16_t, uint64_t,
)
from askless._core.soft._bag_tree cimport (
    BagTree, allocate_tree, draw_poisson, free_tree, push_node,
)


# Trees grown at a time. Their votes are added in order, so the number changes memory
# and time only.
cdef enum:
    BLOCK = 8


# Scores closer than this, relatively, tie: rounding must not decide.
cdef float64_t TIE = 1e-9


cdef struct Cut:
    float64_t score     # what another one must be better than
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
        How many tests that can split a node are tried there.
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
    cdef BagTree trees[BLOCK]

    def __cinit__(self):
        memset(self.trees, 0, BLOCK * sizeof(BagTree))

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
            allocate_tree(
                &self.trees[block], self.n_rows, self.n_classes, self.n_tests,
                self.n_codes,
            )

    def __dealloc__(self):
        cdef intp_t block
        for block in range(BLOCK):
            free_tree(&self.trees[block])

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
            BagTree* tree
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

    cdef void grow(self, BagTree* tree, intp_t number) noexcept nogil:
        """Draw a bag and grow a tree on it, children of a node side by side."""
        cdef:
            uint64_t key = mix_with(self.seed, number)
            intp_t n_drawn = 0
            intp_t row, node, start, end, middle
            Cut cut
        for row in range(self.n_rows):
            tree.drawn[row] = draw_poisson(self.weights[row], mix_with(key, row))
            if tree.drawn[row]:
                tree.rows[n_drawn] = <int32_t> row
                n_drawn += 1
        tree.n_nodes = 1
        tree.n_leaves = 0
        tree.n_stack = 0
        push_node(tree, 0, 0, n_drawn)
        while tree.n_stack:
            tree.n_stack -= 1
            node = tree.stack[3 * tree.n_stack]
            start = tree.stack[3 * tree.n_stack + 1]
            end = tree.stack[3 * tree.n_stack + 2]
            cut = self.find_cut(tree, start, end, mix_with(~key, node))
            if cut.test < 0:
                self.close_leaf(tree, node)
                continue
            middle = self.divide(tree, start, end, cut)
            tree.test[node] = cut.test
            tree.code[node] = cut.code
            tree.left[node] = <int32_t> tree.n_nodes
            push_node(tree, tree.n_nodes, start, middle)
            push_node(tree, tree.n_nodes + 1, middle, end)
            tree.n_nodes += 2

    cdef void close_leaf(self, BagTree* tree, intp_t node) noexcept nogil:
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

    cdef intp_t divide(
        self, BagTree* tree, intp_t start, intp_t end, Cut cut
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
        self, BagTree* tree, intp_t start, intp_t end, uint64_t key
    ) noexcept nogil:
        """Return the cut of least Gini impurity; none if nothing is gained."""
        cdef:
            intp_t i, test, swap, n_splitting = 0
            float64_t total = 0.0
            Cut best
        best.test = -1
        best.code = -1
        best.score = self.count_node(tree, start, end, &total)
        if best.score < 0:
            return best
        best.score *= 1.0 + TIE
        for i in range(self.n_tests):
            tree.order[i] = <int32_t> i
        for i in range(self.n_tests):
            if n_splitting == self.n_tried:
                break
            key = mix_with(key, i)
            swap = i + <intp_t> (draw_share(mix_with(key, 0)) * (self.n_tests - i))
            test = tree.order[swap]
            tree.order[swap] = tree.order[i]
            tree.order[i] = <int32_t> test
            self.count_test(tree, start, end, test)
            if tree.n_met > 1:
                n_splitting += 1
                if self.is_ordered[test]:
                    self.try_cuts(tree, test, total, &best)
                else:
                    self.try_codes(tree, test, total, &best)
            self.clear_test(tree)
        return best

    cdef float64_t count_node(
        self, BagTree* tree, intp_t start, intp_t end, float64_t* total
    ) noexcept nogil:
        """Count the classes of a node; return how pure it is, -1 if it is to be a leaf.
        """
        cdef:
            float64_t scaled = 0.0, squares = 0.0, here
            bint is_pure = False
            intp_t i, k
        memset(tree.node_counts, 0, self.n_classes * sizeof(float64_t))
        for i in range(start, end):
            tree.node_counts[self.class_ids[tree.rows[i]]] += tree.drawn[tree.rows[i]]
        for k in range(self.n_classes):
            here = self.class_scale[k] * tree.node_counts[k]
            total[0] += tree.node_counts[k]
            scaled += here
            squares += here * here
        for k in range(self.n_classes):
            is_pure = is_pure or tree.node_counts[k] == total[0]
        if is_pure or scaled <= 0 or total[0] < 2 * self.min_leaf:
            return -1.0
        return squares / scaled

    cdef void count_test(
        self, BagTree* tree, intp_t start, intp_t end, intp_t test
    ) noexcept nogil:
        """Count the classes of a node by the codes of a test."""
        cdef:
            const uint16_t* column = &self.codes[test, 0]
            intp_t i, code
            int32_t row
        tree.n_met = 0
        for i in range(start, end):
            row = tree.rows[i]
            code = column[row]
            if tree.totals[code] == 0:
                tree.met[tree.n_met] = <int32_t> code
                tree.n_met += 1
            tree.totals[code] += tree.drawn[row]
            tree.counts[code * self.n_classes + self.class_ids[row]] += tree.drawn[row]

    cdef void clear_test(self, BagTree* tree) noexcept nogil:
        cdef intp_t i
        for i in range(tree.n_met):
            tree.totals[tree.met[i]] = 0.0
            memset(
                tree.counts + tree.met[i] * self.n_classes, 0,
                self.n_classes * sizeof(float64_t),
            )

    cdef void try_cuts(
        self, BagTree* tree, intp_t test, float64_t total, Cut* best
    ) noexcept nogil:
        """Try every threshold of a number that was counted."""
        cdef:
            intp_t code, k
            float64_t in_left = 0.0
            const float64_t* counts
        memset(tree.left_counts, 0, self.n_classes * sizeof(float64_t))
        for code in range(self.n_levels[test] + 1):
            if tree.totals[code] == 0:
                continue
            counts = tree.counts + code * self.n_classes
            for k in range(self.n_classes):
                tree.left_counts[k] += counts[k]
            in_left += tree.totals[code]
            if total - in_left < self.min_leaf:
                break
            if in_left >= self.min_leaf:
                keep_better(best, self.score(tree, tree.left_counts), test, code)

    cdef void try_codes(
        self, BagTree* tree, intp_t test, float64_t total, Cut* best
    ) noexcept nogil:
        """Try every outcome of a category that was counted, against all others."""
        cdef:
            intp_t i, code
            float64_t in_left, score
        for i in range(tree.n_met):
            code = tree.met[i]
            in_left = tree.totals[code]
            if in_left >= self.min_leaf and total - in_left >= self.min_leaf:
                score = self.score(tree, tree.counts + code * self.n_classes)
                keep_better(best, score, test, code)

    cdef inline float64_t score(
        self, const BagTree* tree, const float64_t* in_left
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


cdef inline void keep_better(
    Cut* best, float64_t score, intp_t test, intp_t code
) noexcept nogil:
    """Take a cut if its score is better than the best one, and no tie."""
    if score > best.score:
        best.score = score * (1.0 + TIE)
        best.test = <int32_t> test
        best.code = <int32_t> code
