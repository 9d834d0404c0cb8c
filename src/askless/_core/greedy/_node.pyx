"""Weigh the classes of one node at a time, whole and by code.

This module knows rows and codes. It must not know which split is the best.
"""

from libc.string cimport memset

import numpy as np

from askless._core.greedy._rows cimport Rows
from askless._core.greedy._criteria cimport Criterion
from askless._core.price._prices cimport Prices
from askless._core.base._types cimport (
    code_t, float64_t, int32_t, intp_t, uint8_t, uint16_t,
)


cdef class SplitNode:
    """One node at a time, and the memory to weigh it in."""

    def __init__(
        self,
        rows,
        Criterion criterion not None,
        Prices prices not None,
        intp_t n_classes,
    ):
        cdef intp_t n_codes = np.max(rows.n_levels) + 2
        # A node has no more codes than rows, and no more classes than rows.
        cdef intp_t n_slots = min(n_codes, <intp_t> rows.codes.shape[1]) + 1
        self.criterion = criterion
        self.prices = prices
        self.is_wide = rows.codes.dtype == np.uint16
        self.n_levels = rows.n_levels
        self.is_ordered = rows.is_ordered
        if rows.chances is None:
            self.chances = np.zeros(0)
            self.chance_start = np.zeros(prices.n_tests + 1, dtype=np.int64)
        else:
            self.chances = rows.chances
            self.chance_start = rows.chance_start
        self.totals = np.zeros(n_classes)
        self.left = np.zeros(n_classes)
        self.right = np.zeros(n_classes)
        self.unknown = np.zeros(n_classes)
        self.part_impurities = np.zeros(n_codes)
        self.part_weights = np.zeros(n_codes)
        self.part_prices = np.zeros(n_codes)
        self.parts.impurities = &self.part_impurities[0]
        self.parts.weights = &self.part_weights[0]
        self.parts.prices = &self.part_prices[0]
        self.histogram = np.zeros(n_slots * n_classes)
        self.slot_of_code = np.full(n_codes, -1, dtype=np.int32)
        self.codes_met = np.zeros(n_codes, dtype=np.int32)
        self.is_wanted = np.zeros(n_codes + 1, dtype=np.uint8)

    cdef float64_t open(self, Rows* rows) noexcept nogil:
        cdef:
            intp_t k, i, row = 0
            float64_t total
        self.rows = rows
        self.row_weights = NULL
        if rows.block.weights != NULL:
            self.row_weights = rows.block.weights + rows.start
        for k in range(rows.n_classes):
            if self.row_weights == NULL:
                self.totals[k] = <float64_t> rows.class_rows[k]
            else:
                total = 0.0
                for i in range(row, row + rows.class_rows[k]):
                    total += self.row_weights[i]
                self.totals[k] = total
            row += rows.class_rows[k]
        self.tried.classes = rows.classes
        self.tried.n = rows.n_classes
        self.whole = measure(self, &self.totals[0])
        return self.whole

    cdef intp_t list_outcomes(self, intp_t test) noexcept nogil:
        cdef:
            intp_t n_levels = self.n_levels[test]
            intp_t code, n = 0
            const void* column = column_of(self, test)
            bint has_unknown
        if self.is_wide:
            fill_histogram(self, <const uint16_t*> column, <const float64_t*> NULL)
        else:
            fill_histogram(self, <const uint8_t*> column, <const float64_t*> NULL)
        has_unknown = self.slot_of_code[n_levels + 1] >= 0
        # Ascending, without a sort: mark what counts, then read the marks in order.
        for code in range(n_levels):
            if self.slot_of_code[code] < 0 and has_unknown and (
                self.chances[self.chance_start[test] + code] > 0
            ):
                self.slot_of_code[code] = 0
        for code in range(n_levels + 2):
            if self.slot_of_code[code] >= 0:
                self.slot_of_code[code] = -1
                if code <= n_levels:
                    self.codes_met[n] = <int32_t> code
                    n += 1
        return n


cdef void fill_histogram(
    SplitNode node, const code_t* column, const float64_t* weights
) noexcept nogil:
    # Slots keep the work proportional to the rows of the node, however many levels the
    # test has. The caller empties the slots again.
    cdef:
        intp_t k, i, start = 0, end, n_classes = node.rows.n_classes
        int32_t slot, n_met = 0
        float64_t* histogram = &node.histogram[0]
        int32_t* slot_of_code = &node.slot_of_code[0]
    for k in range(n_classes):
        end = start + node.rows.class_rows[k]
        for i in range(start, end):
            slot = slot_of_code[column[i]]
            if slot < 0:
                slot = n_met
                slot_of_code[column[i]] = slot
                node.codes_met[slot] = column[i]
                memset(
                    histogram + slot * n_classes, 0, n_classes * sizeof(float64_t)
                )
                n_met += 1
            histogram[slot * n_classes + k] += 1.0 if weights == NULL else weights[i]
        start = end
    node.n_met = n_met
