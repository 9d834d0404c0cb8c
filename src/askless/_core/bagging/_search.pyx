"""Find the best split of a large node of a bagged tree, by counting passes.

Tests are tried in order of price, so that the search ends at the first test too dear to
win, unless only some are tried. This module must not know what is done with the split.
"""

from libc.string cimport memmove

import numpy as np

from askless._core.bagging._rows cimport BagRows, bag_column
from askless._core.bagging._task cimport (
    BagTask, NodeRows, is_too_dear, no_split, offer,
)
from askless._core.greedy._counting cimport (
    min_max_u8, weigh_at_most_u8, weigh_bits_u8,
)
from askless._core.greedy._impurity cimport mix_whole_weights
from askless._core.base._types cimport float64_t, int32_t, int64_t, intp_t, uint8_t


cdef class BagSearch:
    """One node at a time, and the memory to weigh its splits in."""

    def __init__(self, BagTask task not None, BagRows rows not None):
        self.task = task
        self.rows = rows
        self.n_classes = rows.class_rows.shape[0]
        self.left = np.empty(self.n_classes + 1)
        self.right = np.empty(self.n_classes + 1)
        self.last_cut = np.full(task.n_tests + 1, -1, dtype=np.int32)
        self.set_weights = np.empty(
            self.n_classes * <intp_t> GROUP + 1, dtype=np.int64
        )

    cdef intp_t find_best(
        self, const NodeRows* node, int32_t* listed, intp_t n_tests, float64_t whole,
        BestCut* best,
    ) noexcept nogil:
        cdef:
            intp_t i, n_kept = 0, n_tried = 0
            bint is_by_price = self.task.max_tests >= self.task.n_tests
            bint can_split
        best.best = no_split(self.task)
        self.listed = listed
        self.n_listed = n_tests
        self.n_group = 0
        for i in range(n_tests):
            if n_tried >= self.task.max_tests or (
                # Tests are in order of price: no later one can win either.
                is_by_price
                and is_too_dear(self.task.price[listed[i]], whole, &best.best)
            ):
                memmove(listed + n_kept, listed + i, (n_tests - i) * sizeof(int32_t))
                return n_kept + n_tests - i
            if self.rows.bit[listed[i]]:
                can_split = self.search_bit(node, i, whole, best)
            else:
                can_split = self.search_column(node, listed[i], whole, best)
            if can_split:
                listed[n_kept] = listed[i]
                n_kept += 1
                n_tried += 1
        return n_kept

    cdef void weigh_group(self, const NodeRows* node, intp_t i) noexcept nogil:
        """Weigh a test of two outcomes, and those next to it in the same bundle."""
        cdef:
            const int32_t* listed = self.listed
            intp_t test = listed[i], end = self.n_listed, k, row = 0
            const uint8_t* column = bag_column(self.rows, test) + node.start
            const uint8_t* weights = self.rows.weights + node.start
            const int32_t* class_rows = (
                self.task.arena + node.classes + node.n_classes
            )
            uint8_t[GROUP] bits
            int64_t[GROUP] found
            int n_bits = 0
        if self.task.max_tests < self.task.n_tests:
            # In random order, and few are tried.
            end = i + 1
        for i in range(i, min(end, i + GROUP)):
            if self.rows.column[listed[i]] != self.rows.column[test]:
                break
            bits[n_bits] = self.rows.bit[listed[i]]
            self.group[n_bits] = listed[i]
            n_bits += 1
        self.n_group = n_bits
        for i in range(n_bits, GROUP):
            bits[i] = 0
        for k in range(node.n_classes):
            weigh_bits_u8(
                column + row, weights + row, class_rows[k], bits, n_bits, found
            )
            row += class_rows[k]
            for i in range(n_bits):
                self.set_weights[i * self.n_classes + k] = found[i]

    cdef bint search_bit(
        self, const NodeRows* node, intp_t i, float64_t whole, BestCut* best
    ) noexcept nogil:
        """Offer the one cut of a test of two outcomes; return whether there is one."""
        cdef:
            intp_t test = self.listed[i], place = 0, k, n_classes = node.n_classes
            const int64_t* set_weights
            float64_t all_left = 0.0, all_right = 0.0
        while place < self.n_group and self.group[place] != test:
            place += 1
        if place == self.n_group:
            self.weigh_group(node, i)
            place = 0
        set_weights = &self.set_weights[0] + place * self.n_classes
        for k in range(n_classes):
            self.right[k] = <float64_t> set_weights[k]
            self.left[k] = self.task.totals[k] - self.right[k]
            all_left += self.left[k]
            all_right += self.right[k]
        if all_left == 0 or all_right == 0:
            return False
        if offer(
            self.task, &best.best, test, whole,
            max(
                mix_whole_weights(&self.left[0], n_classes, self.task.alpha),
                mix_whole_weights(&self.right[0], n_classes, self.task.alpha),
            ),
        ):
            best.cut = 0
            # A column of one value and of missing ones, which are the last code.
            best.has_missing = self.task.n_levels[test] == 1
        return True

    cdef bint search_column(
        self, const NodeRows* node, intp_t test, float64_t whole, BestCut* best
    ) noexcept nogil:
        """Offer the best cut of a test; return whether it has more than one code."""
        cdef:
            const uint8_t* column = bag_column(self.rows, test) + node.start
            uint8_t low, high
            intp_t cut, n_steps = 0
            float64_t left, right
            Crossing at
        min_max_u8(column, node.n_rows, &low, &high)
        if low == high:
            return False
        at = Crossing(<intp_t> low - 1, high, 0.0, whole, whole, 0.0)
        while at.above - at.below > 1:
            if is_too_dear(
                self.task.price[test], whole - max(at.below_left, at.above_right),
                &best.best,
            ):
                return True
            cut = self.guess_cut(&at, test, n_steps)
            n_steps += 1
            self.weigh_cut(node, column, <uint8_t> cut, &left, &right)
            if left <= right:
                at.below, at.below_left, at.below_right = cut, left, right
            else:
                at.above, at.above_left, at.above_right = cut, left, right
        self.last_cut[test] = <int32_t> at.below
        if offer(
            self.task, &best.best, test, whole, min(at.below_right, at.above_left)
        ):
            best.cut = at.below if at.below_right <= at.above_left else at.above
            best.has_missing = high == self.task.n_levels[test]
        return True

    cdef intp_t guess_cut(
        self, const Crossing* at, intp_t test, intp_t n_steps
    ) noexcept nogil:
        """Return where to look for the crossing next."""
        cdef intp_t cut
        if n_steps == 0 and at.below < self.last_cut[test] < at.above:
            # The crossing is often where it was in the node before.
            return self.last_cut[test]
        if n_steps % 3 != 0 and at.above - at.below > 8:
            # A straight line through the two known differences.
            cut = at.below + <intp_t> (
                (at.above - at.below) * (at.below_right - at.below_left)
                / ((at.below_right - at.below_left) + (at.above_left - at.above_right))
            )
            return min(max(cut, at.below + 1), at.above - 1)
        return (at.below + at.above) >> 1

    cdef void weigh_cut(
        self, const NodeRows* node, const uint8_t* column, uint8_t cut,
        float64_t* left, float64_t* right,
    ) noexcept nogil:
        """Work out the impurities of the two sides of a cut."""
        cdef:
            const uint8_t* weights = self.rows.weights + node.start
            intp_t k, row = 0, n_classes = node.n_classes
            const int32_t* class_rows = self.task.arena + node.classes + n_classes
        for k in range(n_classes):
            self.left[k] = <float64_t> weigh_at_most_u8(
                column + row, weights + row, class_rows[k], cut
            )
            self.right[k] = self.task.totals[k] - self.left[k]
            row += class_rows[k]
        left[0] = mix_whole_weights(&self.left[0], n_classes, self.task.alpha)
        right[0] = mix_whole_weights(&self.right[0], n_classes, self.task.alpha)
