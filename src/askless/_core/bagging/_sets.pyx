"""Grow the small nodes of a bagged tree on sets of bits.

A row of weight w takes w of 128 places; a set of rows is a set of places. Splitting
makes two sets and moves nothing. This module must not know how a node came to be small.
"""

from libc.math cimport INFINITY
from libc.stdlib cimport free
from libc.string cimport memset

import numpy as np

from askless._core.bagging._rows cimport BagRows
from askless._core.bagging._task cimport (
    BagTask, Best, NodeRows, Place, child_place, no_split, offer,
)
from askless._core.greedy._impurity cimport mix_whole_weights
from askless._core.greedy._limits cimport is_leaf
from askless._core.base._arrays cimport extend_array
from askless._core.base._types cimport float64_t, int32_t, intp_t, uint8_t, uint64_t


cdef extern from "askless/_core/bagging/code_planes.h" nogil:
    void fill_planes(const uint8_t* codes, intp_t n, CodePlanes* out) noexcept
    void fill_plane(
        const uint8_t* codes, intp_t n, int bit, Bits all, CodePlanes* out
    ) noexcept
    int largest_code(const CodePlanes* codes, Bits among) noexcept
    int count_places(Bits set) noexcept


cdef extern from "askless/_core/bagging/small_sets.h" nogil:
    int32_t scan_set(
        const SmallSet* set, const CodePlanes* planes, SetScan* scan, SetCut* cut,
        int is_fast,
    ) noexcept
    intp_t list_set_classes(
        Bits set, const Bits* of_class, intp_t n_classes, Bits* of_set, int32_t* which,
        int32_t* counts, double* totals, int is_fast,
    ) noexcept


cdef enum:
    # Cells of a column for the places of a set; columns are read sixteen at a time.
    CELL_ROOM = SET_PLACES + 16


cdef inline int bit_of_mask(uint8_t mask) noexcept nogil:
    """Return which bit of a byte is set."""
    cdef int bit = 0
    while mask > 1:
        mask >>= 1
        bit += 1
    return bit


cdef class SetGrower:
    """The small node at hand, and the sets of it that are still to do."""

    def __init__(self, BagTask task not None, BagRows rows not None):
        cdef:
            uint64_t[::1] planes = np.empty(
                (task.n_tests + 1) * sizeof(CodePlanes) // 8 + 1, dtype=np.uint64
            )
            uint64_t[::1] of_class = np.empty(2 * SET_PLACES + 2, dtype=np.uint64)
            uint64_t[::1] of_set = np.empty(2 * SET_PLACES + 2, dtype=np.uint64)
        self.task = task
        self.rows = rows
        self.memory = (planes, of_class, of_set)
        self.planes = <CodePlanes*> &planes[0]
        self.of_class = <Bits*> &of_class[0]
        self.of_set = <Bits*> &of_set[0]
        self.which = np.empty(SET_PLACES + 1, dtype=np.int32)
        self.counts = np.empty(SET_PLACES + 1, dtype=np.int32)
        self.cells = np.zeros(
            rows.n_columns * <intp_t> CELL_ROOM + 1, dtype=np.uint8
        )
        self.is_copied = np.empty(rows.n_columns + 1, dtype=np.uint8)

    def __dealloc__(self):
        free(self.stack)

    cdef int push(self, const PendingSet* item) except -1 nogil:
        extend_array(
            <void**> &self.stack, &self.stack_room, self.n_pending + 1, sizeof(PendingSet)
        )
        self.stack[self.n_pending] = item[0]
        self.n_pending += 1
        return 0

    cdef int grow_node(
        self, const Place* place, const NodeRows* rows
    ) except -1 nogil:
        cdef:
            intp_t n, tests = max(
                place.tests + place.n_tests, rows.classes + 2 * rows.n_classes
            )
            int32_t[CELL_ROOM] source
            PendingSet item
        self.task.reserve(tests + place.n_tests)
        item.place = place[0]
        n = self.lay_out_rows(rows, source, &item.set)
        item.place.tests = tests
        item.place.n_tests = self.lay_out_tests(
            place, rows.start, source, n, item.set, tests
        )
        self.push(&item)
        while self.n_pending > 0:
            self.n_pending -= 1
            item = self.stack[self.n_pending]
            self.grow_set(&item, rows)
        return 0

    cdef intp_t lay_out_rows(
        self, const NodeRows* rows, int32_t* source, Bits* every
    ) noexcept nogil:
        """Give each row its places, and each class; return how many places there are.

        `source` gets the row of each place, `every` all places.
        """
        cdef:
            const int32_t* class_rows = (
                self.task.arena + rows.classes + rows.n_classes
            )
            intp_t k, n = 0, row = 0
        for k in range(rows.n_classes):
            self.of_class[k].places[0] = self.of_class[k].places[1] = 0
            for row in range(row, row + class_rows[k]):
                for _repeat in range(self.rows.weights[rows.start + row]):
                    source[n] = <int32_t> row
                    self.of_class[k].places[n >> 6] |= (<uint64_t> 1) << (n & 63)
                    n += 1
            row += 1
        every.places[0] = every.places[1] = 0
        for k in range(rows.n_classes):
            every.places[0] |= self.of_class[k].places[0]
            every.places[1] |= self.of_class[k].places[1]
        return n

    cdef intp_t lay_out_tests(
        self, const Place* place, intp_t start, const int32_t* source, intp_t n,
        Bits every, intp_t target,
    ) noexcept nogil:
        """Lay out the codes of the node's tests; list and count those that can split.

        The list goes to the arena, from `target` on.
        """
        cdef:
            const uint8_t* column
            uint8_t* cells
            intp_t i, j, at, n_kept = 0
            int32_t test
        memset(&self.is_copied[0], 0, self.rows.n_columns)
        for i in range(place.n_tests):
            test = self.task.arena[place.tests + i]
            at = self.rows.column[test]
            cells = &self.cells[0] + at * CELL_ROOM
            if not self.is_copied[at]:
                self.is_copied[at] = True
                column = self.rows.codes + at * self.rows.stride + start
                for j in range(n):
                    cells[j] = column[source[j]]
            if self.rows.bit[test]:
                fill_plane(
                    cells, n, bit_of_mask(self.rows.bit[test]), every,
                    &self.planes[test],
                )
            else:
                fill_planes(cells, n, &self.planes[test])
            if self.planes[test].n_planes > 0:
                self.task.arena[target + n_kept] = test
                n_kept += 1
        return n_kept

    cdef int grow_set(
        self, const PendingSet* item, const NodeRows* rows
    ) except -1 nogil:
        """Add the node of one set; make its two sides pending if it is split."""
        cdef:
            const Place* place = &item.place
            intp_t node = self.task.tree.add_node(place.parent, place.parent_branch)
            intp_t tests = place.tests + place.n_tests
            intp_t k, n_present, n_kept
            float64_t weight = 0.0
            SmallSet cases
            const CodePlanes* codes
            Best best
            Bits left
            PendingSet side
        n_present = list_set_classes(
            item.set, self.of_class, rows.n_classes, self.of_set, &self.which[0],
            &self.counts[0], &self.task.totals[0], self.rows.is_fast,
        )
        for k in range(n_present):
            weight += self.task.totals[k]
            self.task.tree.add_weight(
                self.task.arena[rows.classes + self.which[k]], self.task.totals[k]
            )
        cases.whole = mix_whole_weights(
            &self.task.totals[0], n_present, self.task.alpha
        )
        if is_leaf(&self.task.limits, place.depth, n_present, cases.whole, weight):
            return 0
        cases.alpha = self.task.alpha
        cases.n_classes = n_present
        cases.of_class = self.of_set
        cases.counts = &self.counts[0]
        cases.totals = &self.task.totals[0]
        cases.set = item.set
        n_kept = self.find_best(item, &cases, tests, &best, &left)
        if best.score.ratio == INFINITY:
            return 0
        codes = &self.planes[best.test]
        self.task.set_cut(
            node, best.test, largest_code(codes, left),
            largest_code(codes, item.set) == self.task.n_levels[best.test],
            <float64_t> count_places(left), weight,
        )
        side.set.places[0] = item.set.places[0] & ~left.places[0]
        side.set.places[1] = item.set.places[1] & ~left.places[1]
        side.place = child_place(place, node, 1, tests, n_kept)
        self.push(&side)
        side.set = left
        side.place = child_place(place, node, 0, tests, n_kept)
        self.push(&side)
        return 0

    cdef intp_t find_best(
        self, const PendingSet* item, const SmallSet* cases, intp_t tests, Best* best,
        Bits* left,
    ) except -1 nogil:
        """Find the best split and what goes left; return how many tests are kept."""
        cdef:
            SetScan scan
            SetCut found
            int32_t test
        best[0] = no_split(self.task)
        self.task.list_tests(&item.place, tests)
        scan.price = &self.task.price[0]
        scan.tests = self.task.arena + tests
        scan.n_tests = item.place.n_tests
        scan.next = scan.n_kept = scan.n_tried = 0
        scan.most_tried = self.task.max_tests
        scan.is_by_price = self.task.max_tests >= self.task.n_tests
        scan.ratio = scan.inverse = INFINITY
        while True:
            test = scan_set(cases, self.planes, &scan, &found, self.rows.is_fast)
            if test < 0:
                return scan.n_kept
            if offer(self.task, best, test, cases.whole, found.value):
                left[0] = found.left
                scan.ratio = best.score.ratio
                scan.inverse = 1 / scan.ratio if scan.ratio > 0 else INFINITY
