"""Grow a bagged tree from counts: rows that lie in parts are counted, and never moved.

A part of the rows is routed through the tree so far and counted by node, test, code and
class; counts of parts are added up; a split is found from counts alone. It is the split
that the grower of rows in memory finds, to the last bit. This module must not know
where parts are, nor who adds counts up.

    counts    [node][test][code][class]     codes 0 to n_levels, the last one is missing
"""

cimport cython
from libc.math cimport INFINITY
from libc.string cimport memset

import numpy as np

from askless._core.bagging._task cimport BagTask, Best, no_split, offer
from askless._core.greedy._draws cimport sort_by_keys
from askless._core.greedy._impurity cimport mix_whole_weights
from askless._core.base._keys cimport mix_with
from askless._core.base._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint8_t, uint32_t, uint64_t,
)
from askless._core.greedy._options import GrowthLimits, RandomDraws


def child_key(uint64_t key, intp_t branch):
    """Return the random key of a child of a node."""
    return mix_with(key, <uint64_t> branch)


def route_rows(
    const uint8_t[:, :] codes not None,   # IN   (n_tests, n_rows)
    const uint8_t[::1] counts not None,   # IN   (n_rows,) how often each row counts
    const int32_t[::1] test not None,     # IN   (n_nodes,) -1: the tree ends here
    const int32_t[::1] cut not None,      # IN   (n_nodes,)
    const int32_t[:, ::1] child not None,  # IN  (n_nodes, 2)
    const int32_t[::1] place not None,    # IN   (n_nodes,) what is wanted of a node
):
    """Return the place of the node that each row gets to, -1 for rows left out."""
    cdef:
        intp_t n_rows = codes.shape[1], i
        int32_t node
        int32_t[::1] found = np.empty(n_rows, dtype=np.int32)
    with nogil:
        for i in range(n_rows):
            if counts[i] == 0:
                found[i] = -1
                continue
            node = 0
            while test[node] >= 0:
                node = child[node, codes[test[node], i] > cut[node]]
            found[i] = place[node]
    return np.asarray(found)


def list_places(
    const int32_t[::1] place not None,  # IN   (n_rows,) -1: not listed
    intp_t n_places,
    uint32_t first=0,                   # IN   the number of the first row
):
    """Return the numbers of rows, place by place, and how many each place has."""
    cdef:
        intp_t n_rows = place.shape[0], i
        int64_t[::1] ends = np.zeros(n_places + 1, dtype=np.int64)
        uint32_t[::1] listed
    for i in range(n_rows):
        ends[place[i] + 1] += 1
    lengths = np.asarray(ends)[1:].copy()
    ends[0] = 0
    for i in range(n_places):
        ends[i + 1] += ends[i]
    listed = np.empty(ends[n_places], dtype=np.uint32)
    with nogil:
        for i in range(n_rows):
            if place[i] >= 0:
                listed[ends[place[i]]] = first + <uint32_t> i
                ends[place[i]] += 1
    return np.asarray(listed), lengths


def take_columns(
    const uint8_t[:, :] codes not None,   # IN   (n_columns, n_rows)
    const int32_t[::1] columns not None,  # IN   which columns
    const uint32_t[::1] rows not None,    # IN   which rows, ascending
):
    """Return some rows of some columns."""
    cdef:
        intp_t n_columns = columns.shape[0], n = rows.shape[0], c, i
        uint8_t[:, ::1] taken = np.empty((n_columns, n), dtype=np.uint8)
        const uint8_t* source
    if n and codes.strides[1] != 1:
        raise ValueError("codes of a test must lie beside each other")
    if n:
        with nogil:
            for c in range(n_columns):
                source = &codes[columns[c], 0]
                for i in range(n):
                    taken[c, i] = source[rows[i]]
    return np.asarray(taken)


cdef struct Listed:
    int64_t at       # the first cell of the place and the class of a row
    uint32_t row
    uint32_t times   # how often it counts


def count_codes(
    const uint8_t[:, :] codes not None,      # IN   (n_tests, n_rows), rows by class
    const uint8_t[:, :] packed not None,     # IN   (n_bundles, n_rows) bits of tests
    const int64_t[::1] bits not None,        # IN   the tests that are bits, in order
    const int32_t[::1] whole not None,       # IN   the other tests
    const uint8_t[::1] counts not None,      # IN   (n_rows,) how often each row counts
    const int32_t[::1] place not None,       # IN   (n_rows,) -1: not counted
    const int64_t[::1] class_rows not None,  # IN   (n_classes,) rows of each class
    const int64_t[::1] start not None,       # IN   (n_tests + 1,) cells of each test
    uint32_t[:, ::1] found not None,         # OUT  (n_places, n_cells * n_classes)
):
    """Add rows to the counts of their places, by test, code and class."""
    cdef:
        intp_t n_rows = codes.shape[1], n_places = found.shape[0]
        intp_t n_classes = class_rows.shape[0], width = found.shape[1]
        intp_t i, where, n
        uint8_t[::1] memory = np.empty((n_rows + 1) * sizeof(Listed), dtype=np.uint8)
        Listed* listed = <Listed*> &memory[0]
        uint32_t[::1] met = np.empty(n_places * 256 * n_classes + 1, dtype=np.uint32)
    if n_rows == 0 or n_places == 0:
        return
    if codes.strides[1] != 1 or packed.strides[1] != 1:
        raise ValueError("codes of a test must lie beside each other")
    with nogil:
        n = list_rows(&counts[0], &place[0], class_rows, width, listed)
        for i in range(whole.shape[0]):
            count_column(
                &codes[whole[i], 0], listed, n, n_classes,
                &found[0, 0] + start[whole[i]] * n_classes,
            )
        # Bits are counted eight at a time, as bytes.
        list_rows(&counts[0], &place[0], class_rows, 256 * n_classes, listed)
        for i in range(packed.shape[0]):
            memset(&met[0], 0, met.shape[0] * sizeof(uint32_t))
            count_column(&packed[i, 0], listed, n, n_classes, &met[0])
            for where in range(n_places):
                spread_bytes(
                    &met[where * 256 * n_classes], n_classes, &bits[8 * i],
                    min(<intp_t> 8, bits.shape[0] - 8 * i), &start[0],
                    &found[where, 0],
                )


cdef intp_t list_rows(
    const uint8_t* counts, const int32_t* place, const int64_t[::1] class_rows,
    intp_t width, Listed* listed,
) noexcept nogil:
    """List the rows to be counted, in places of so many cells; return how many."""
    cdef intp_t k, i = 0, end = 0, n = 0
    for k in range(class_rows.shape[0]):
        end += class_rows[k]
        while i < end:
            if place[i] >= 0:
                listed[n] = Listed(place[i] * width + k, <uint32_t> i, counts[i])
                n += 1
            i += 1
    return n


cdef void count_column(
    const uint8_t* column, const Listed* listed, intp_t n, intp_t n_classes,
    uint32_t* out,
) noexcept nogil:
    cdef intp_t i
    for i in range(n):
        out[listed[i].at + <intp_t> column[listed[i].row] * n_classes] += (
            listed[i].times
        )


cdef void spread_bytes(
    const uint32_t* met, intp_t n_classes, const int64_t* bits, intp_t n_bits,
    const int64_t* start, uint32_t* found,
) noexcept nogil:
    """Add counts of bytes to those of the tests whose bits they are."""
    cdef:
        intp_t byte, bit, k
        const uint32_t* times
        uint32_t* out
    for byte in range(256):
        times = met + byte * n_classes
        for k in range(n_classes):
            if times[k]:
                break
        else:
            continue
        for bit in range(n_bits):
            out = found + (start[bits[bit]] + (byte >> bit & 1)) * n_classes
            for k in range(n_classes):
                out[k] += times[k]


@cython.final
cdef class CountSearch:
    """Find the best split of nodes from their counts."""

    cdef BagTask task
    cdef const int64_t[::1] start
    cdef intp_t n_classes
    cdef int32_t[::1] by_price
    cdef int32_t[::1] order
    cdef int32_t[::1] present
    cdef float64_t[::1] left
    cdef float64_t[::1] right

    def __init__(
        self, rows, const float64_t[::1] price not None, *, float64_t alpha,
        intp_t max_tests, const int64_t[::1] start not None, intp_t n_classes,
    ):
        self.task = BagTask(
            rows, price, alpha, GrowthLimits(), RandomDraws(max_tests=max_tests),
            n_classes + 1,
        )
        self.start = start
        self.n_classes = n_classes
        self.by_price = np.argsort(price, kind="stable").astype(np.int32)
        self.order = np.empty(price.shape[0] + 1, dtype=np.int32)
        self.present = np.empty(n_classes + 1, dtype=np.int32)
        self.left = np.empty(n_classes + 1)
        self.right = np.empty(n_classes + 1)

    def impurity(self, const float64_t[::1] totals not None):
        """Return how mixed class weights are, given those of the classes present."""
        return mix_whole_weights(&totals[0], totals.shape[0], self.task.alpha)

    def find(self, const uint32_t[::1] counts not None, uint64_t key):
        """Return the test, the cut, and whether some are missing; None for no split.

        The cut is the largest code that occurs on the left.
        """
        cdef:
            intp_t i, n_tried = 0, n_tests = self.task.n_tests, n_present = 0, k, cell
            float64_t whole
            Best best = no_split(self.task)
            intp_t[3] found
        for k in range(self.n_classes):
            self.task.totals[n_present] = 0.0
            for cell in range(self.start[0], self.start[1]):
                self.task.totals[n_present] += counts[cell * self.n_classes + k]
            if self.task.totals[n_present] > 0:
                self.present[n_present] = <int32_t> k
                n_present += 1
        whole = mix_whole_weights(&self.task.totals[0], n_present, self.task.alpha)
        self.order[:n_tests] = self.by_price
        if self.task.max_tests < n_tests:
            sort_by_keys(&self.order[0], n_tests, key, &self.task.drawn[0])
        for i in range(n_tests):
            if n_tried >= self.task.max_tests:
                break
            n_tried += self.search_test(
                &counts[0], self.order[i], n_present, whole, &best, found
            )
        if best.score.ratio == INFINITY:
            return None
        return best.test, found[0], bool(found[1])

    cdef bint search_test(
        self, const uint32_t* counts, intp_t test, intp_t n_present, float64_t whole,
        Best* best, intp_t* found,
    ) noexcept nogil:
        """Offer the best cut of a test; return whether it has more than one code."""
        cdef:
            intp_t n_cells = self.start[test + 1] - self.start[test], cell, k
            intp_t low = -1, high = -1, below = -1, above = -1
            float64_t below_right = whole, above_left = whole, left, right
            const uint32_t* at = counts + self.start[test] * self.n_classes
        for cell in range(n_cells):
            if self.is_met(at, cell, n_present):
                low = cell if low < 0 else low
                high = cell
        if low == high:
            return False
        for k in range(n_present):
            self.left[k] = 0.0
        above = high
        for cell in range(low, high):
            if not self.is_met(at, cell, n_present):
                continue
            for k in range(n_present):
                self.left[k] += at[cell * self.n_classes + self.present[k]]
                self.right[k] = self.task.totals[k] - self.left[k]
            left = mix_whole_weights(&self.left[0], n_present, self.task.alpha)
            right = mix_whole_weights(&self.right[0], n_present, self.task.alpha)
            if left > right:
                above, above_left = cell, left
                break
            below, below_right = cell, right
        if offer(self.task, best, test, whole, min(below_right, above_left)):
            found[0] = below if below_right <= above_left else above
            found[1] = high == self.task.n_levels[test]
        return True

    cdef bint is_met(
        self, const uint32_t* at, intp_t cell, intp_t n_present
    ) noexcept nogil:
        cdef intp_t k
        for k in range(n_present):
            if at[cell * self.n_classes + self.present[k]]:
                return True
        return False
