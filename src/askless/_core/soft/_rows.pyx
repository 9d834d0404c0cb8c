"""Count and divide sets of rows that have a share of every class.

The examples are those of a Workspace, but a workspace moves its rows in place and lists
the classes of a row. Here a set is a copy, because many candidates divide the same rows,
and a row is a stretch of numbers. Counting one test of 85 rows with shares of six
classes takes a workspace 0.80 us, and this module 0.23 us.

This module must not know which split is better than another, nor what it is charged.
"""

from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memset

import numpy as np

from askless._core.base._bits cimport lowest_bit
from askless._core.base._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint8_t, uint16_t, uint64_t,
)
from askless._core.cost._workspace cimport Workspace


cdef extern from "askless/_core/soft/rows.h" nogil:
    void add_narrow(
        const uint8_t* column, const int32_t* rows, Py_ssize_t n, const double* dense,
        Py_ssize_t stride, double* cells,
    )
    void add_wide(
        const uint16_t* column, const int32_t* rows, Py_ssize_t n, const double* dense,
        Py_ssize_t stride, double* cells,
    )


cdef enum:
    # Rows of more numbers are added class by class: most of the shares are zero.
    MOST_DENSE = 32


cdef class SoftRows:
    """Examples, and what leaves cost.

    Parameters
    ----------
    workspace : Workspace
    leaf_cost : float
        What every leaf costs beside its mistakes.
    use_floors : bool
        Whether floors are worked out; they are 0 otherwise, which bounds nothing.
    """

    def __init__(
        self, Workspace workspace not None, float64_t leaf_cost, bint use_floors
    ):
        cdef Workspace ws = workspace
        self.ws = ws
        self.n_rows = ws.n_rows
        self.n_tests = ws.n_tests
        self.n_classes = ws.n_classes
        self.narrow = NULL
        self.wide = NULL
        if ws.is_wide:
            self.wide = &ws.wide[0, 0]
        else:
            self.narrow = &ws.narrow[0, 0]
        self.n_levels = ws.n_levels
        self.is_ordered = ws.is_ordered
        self.n_codes = 2 + max(ws.n_levels, default=0)
        self.stride = (self.n_classes + 2 + 3) // 4 * 4
        self.leaf.n_classes = self.n_classes
        self.leaf.mistakes = &ws.mistakes[0, 0]
        self.leaf.by_class = NULL
        self.leaf.constant = leaf_cost
        self.by_class = find_even_mistakes(np.asarray(ws.mistakes))
        if self.by_class.shape[0]:
            self.leaf.by_class = &self.by_class[0]
        self.is_dense = False
        self.row_floor = np.zeros(self.n_rows)
        if use_floors:
            self.find_floors()
        self.dense = np.zeros((0, self.stride))
        if self.stride <= MOST_DENSE:
            self.fill_dense()

    cdef void find_floors(self):
        cdef:
            float64_t[::1] sums = np.zeros(self.stride)
            intp_t row
        for row in range(self.n_rows):
            sums[:] = 0.0
            self.add_entries(&sums[0], row)
            self.row_floor[row] = price_leaf(&self.leaf, &sums[0]) - self.leaf.constant

    cdef void fill_dense(self):
        cdef:
            float64_t[:, ::1] dense = np.zeros((self.n_rows, self.stride))
            intp_t row
        for row in range(self.n_rows):
            self.add_entries(&dense[row, 0], row)
        self.dense = dense
        self.is_dense = True

    cdef void add_entries(self, float64_t* sums, intp_t row) noexcept nogil:
        cdef int64_t entry
        for entry in range(self.ws.entry_start[row], self.ws.entry_start[row + 1]):
            sums[self.ws.entry_class[entry]] += self.ws.entry_weight[entry]
        sums[self.n_classes] += self.ws.row_weight[row]
        sums[self.n_classes + 1] += self.row_floor[row]


def find_even_mistakes(mistakes):
    """Return what a mistake on each class costs, if all decisions cost the same.

    Examples
    --------
    >>> find_even_mistakes(np.array([[0.0, 2.0], [9.0, 0.0]]))
    array([2., 9.])
    >>> find_even_mistakes(np.array([[0, 1, 2], [1, 0, 1], [1, 1, 0]]))
    array([], dtype=float64)
    """
    n = len(mistakes)
    by_class = np.array([np.delete(row, at) for at, row in enumerate(mistakes)])
    if n < 2:
        return np.zeros(n)
    if np.any(by_class != by_class[:, :1]):
        return np.zeros(0)
    return by_class[:, 0].astype(np.float64)


cdef inline intp_t count_words(intp_t n_levels) noexcept nogil:
    """Return how many words have a bit for each code of a test."""
    return (n_levels + 2 + 63) >> 6


cdef inline intp_t code_of(SoftRows examples, intp_t test, intp_t row) noexcept nogil:
    """Return the code of a row."""
    cdef intp_t at = test * examples.n_rows + row
    return examples.narrow[at] if examples.narrow != NULL else examples.wide[at]


cdef class RowSets:
    """Stacks of sets, and the counts of one test."""

    def __init__(self, SoftRows examples not None):
        cdef intp_t n_codes = examples.n_codes
        self.examples = examples
        self.stride = examples.stride
        self.row_room = 4 * examples.n_rows + 64
        self.sum_room = 64 * self.stride
        self.set_room = 64
        self.rows = <int32_t*> malloc(self.row_room * sizeof(int32_t))
        self.sums = <float64_t*> malloc(self.sum_room * sizeof(float64_t))
        self.sets = <RowSet*> malloc(self.set_room * sizeof(RowSet))
        self.cells = <float64_t*> malloc(n_codes * self.stride * sizeof(float64_t))
        self.met = <int32_t*> malloc((n_codes + 1) * sizeof(int32_t))
        self.seen = <uint64_t*> calloc((n_codes + 63) // 64, sizeof(uint64_t))
        self.branch_of = <int32_t*> malloc(n_codes * sizeof(int32_t))
        if not (
            self.rows and self.sums and self.sets and self.cells and self.met
            and self.seen and self.branch_of
        ):
            raise MemoryError("no memory left for sets of rows")

    def __dealloc__(self):
        free(self.rows)
        free(self.sums)
        free(self.sets)
        free(self.cells)
        free(self.met)
        free(self.seen)
        free(self.branch_of)

    cdef void clear(self) noexcept nogil:
        self.n_rows = self.n_sums = self.n_sets = 0

    cdef Fill fill(self) noexcept nogil:
        return Fill(self.n_rows, self.n_sums, self.n_sets)

    cdef void release(self, Fill fill) noexcept nogil:
        self.n_rows = fill.n_rows
        self.n_sums = fill.n_sums
        self.n_sets = fill.n_sets

    cdef RowSet push(self, const int32_t[::1] rows) noexcept:
        cdef:
            RowSet every
            intp_t n = rows.shape[0], i
            float64_t* sums
        every.start = self.n_rows
        every.n = n
        every.sums = self.n_sums
        every.weight = every.floor = 0.0
        if not self.reserve(n, 1):
            return every
        sums = self.sums + every.sums
        memset(sums, 0, self.stride * sizeof(float64_t))
        sums[self.examples.n_classes + 1] = self.examples.leaf.constant
        if n:
            memcpy(self.rows + every.start, &rows[0], n * sizeof(int32_t))
        for i in range(n):
            add_to(self.examples, sums, rows[i])
        every.weight = sums[self.examples.n_classes]
        every.floor = sums[self.examples.n_classes + 1]
        self.n_rows += n
        self.n_sums += self.stride
        return every

    cdef bint reserve(self, intp_t n_rows, intp_t n_sets) noexcept nogil:
        """Make sure that so many rows and sets fit."""
        cdef:
            intp_t need = self.n_rows + n_rows
            void* larger
        if need > self.row_room:
            larger = realloc(self.rows, 2 * need * sizeof(int32_t))
            if larger == NULL:
                self.failed = True
                return False
            self.rows = <int32_t*> larger
            self.row_room = 2 * need
        need = self.n_sums + n_sets * self.stride
        if need > self.sum_room:
            larger = realloc(self.sums, 2 * need * sizeof(float64_t))
            if larger == NULL:
                self.failed = True
                return False
            self.sums = <float64_t*> larger
            self.sum_room = 2 * need
        need = self.n_sets + n_sets
        if need > self.set_room:
            larger = realloc(self.sets, 2 * need * sizeof(RowSet))
            if larger == NULL:
                self.failed = True
                return False
            self.sets = <RowSet*> larger
            self.set_room = 2 * need
        return True

    # Counting.

    cdef void count(self, const RowSet* rows, intp_t test) noexcept nogil:
        cdef intp_t n_codes = self.examples.n_levels[test] + 1
        if not self.examples.is_ordered[test]:
            self.count_met(rows, test)
            memset(self.seen, 0, count_words(n_codes - 1) * sizeof(uint64_t))
        elif self.examples.is_dense and n_codes <= 2 * rows.n:
            self.count_number(rows, test, n_codes)
        else:
            self.count_met(rows, test)
            self.list_seen(test)

    cdef void count_number(
        self, const RowSet* rows, intp_t test, intp_t n_codes
    ) noexcept nogil:
        """Count in cells that are cleared before, so that nothing depends on a row."""
        cdef:
            const int32_t* listed = self.rows + rows.start
            const float64_t* dense = &self.examples.dense[0, 0]
            const float64_t* weights = self.cells + self.examples.n_classes
            intp_t first = test * self.examples.n_rows, code, n_met = 0
        memset(self.cells, 0, n_codes * self.stride * sizeof(float64_t))
        if self.examples.narrow != NULL:
            add_narrow(
                self.examples.narrow + first, listed, rows.n, dense, self.stride,
                self.cells,
            )
        else:
            add_wide(
                self.examples.wide + first, listed, rows.n, dense, self.stride,
                self.cells,
            )
        for code in range(n_codes):
            self.met[n_met] = <int32_t> code
            n_met += weights[code * self.stride] > 0
        self.n_met = n_met

    cdef void count_met(self, const RowSet* rows, intp_t test) noexcept nogil:
        """Count in cells that are cleared when they are met; list them as they come."""
        cdef:
            const int32_t* listed = self.rows + rows.start
            intp_t i, code
            uint64_t bit
            float64_t* cell
        self.n_met = 0
        for i in range(rows.n):
            code = code_of(self.examples, test, listed[i])
            cell = self.cells + code * self.stride
            bit = <uint64_t> 1 << (code & 63)
            if not self.seen[code >> 6] & bit:
                self.seen[code >> 6] |= bit
                self.met[self.n_met] = <int32_t> code
                self.n_met += 1
                memset(cell, 0, self.stride * sizeof(float64_t))
            add_to(self.examples, cell, listed[i])

    cdef void list_seen(self, intp_t test) noexcept nogil:
        """List the codes that were seen, ascending, and forget them."""
        cdef:
            intp_t n_words = count_words(self.examples.n_levels[test]), w, n = 0
            uint64_t word
        for w in range(n_words):
            word = self.seen[w]
            self.seen[w] = 0
            while word:
                self.met[n] = <int32_t> (64 * w + lowest_bit(word))
                word &= word - 1
                n += 1
        self.n_met = n

    # Dividing.

    cdef intp_t divide(
        self, const RowSet* rows, const Split* split, intp_t* n_branches
    ) noexcept nogil:
        cdef:
            intp_t first = self.n_sets, floor = self.examples.n_classes + 1
            intp_t n, i, place
            const int32_t* listed
            int32_t row
            RowSet* branch
        n_branches[0] = 0
        n = self.number_branches(rows, split)
        if not self.reserve(rows.n, n):
            return first
        listed = self.rows + rows.start
        memset(self.sums + self.n_sums, 0, n * self.stride * sizeof(float64_t))
        for i in range(n):
            branch = self.sets + first + i
            branch.n = 0
            branch.sums = self.n_sums + i * self.stride
            self.sums[branch.sums + floor] = self.examples.leaf.constant
        for i in range(rows.n):
            self.sets[first + branch_at(self, split, listed[i])].n += 1
        place = self.n_rows
        for i in range(n):
            branch = self.sets + first + i
            branch.start = place
            place += branch.n
            branch.n = 0
        for i in range(rows.n):
            row = listed[i]
            branch = self.sets + first + branch_at(self, split, row)
            self.rows[branch.start + branch.n] = row
            branch.n += 1
            add_to(self.examples, self.sums + branch.sums, row)
        for i in range(n):
            branch = self.sets + first + i
            branch.weight = self.sums[branch.sums + floor - 1]
            branch.floor = self.sums[branch.sums + floor]
        self.n_rows += rows.n
        self.n_sums += n * self.stride
        self.n_sets += n
        n_branches[0] = n
        return first

    cdef intp_t number_branches(
        self, const RowSet* rows, const Split* split
    ) noexcept nogil:
        """Find the branch of each code that occurs; return how many there are."""
        cdef:
            intp_t missing = self.examples.n_levels[split.test], code, i
        if split.cut >= 0:
            for code in range(missing):
                self.branch_of[code] = code > split.cut
            self.branch_of[missing] = split.missing_right
            return 2
        for i in range(rows.n):
            code = code_of(self.examples, split.test, self.rows[rows.start + i])
            self.seen[code >> 6] |= <uint64_t> 1 << (code & 63)
        self.list_seen(split.test)
        for i in range(self.n_met):
            self.branch_of[self.met[i]] = <int32_t> i
        return self.n_met


cdef inline intp_t branch_at(
    RowSets sets, const Split* split, intp_t row
) noexcept nogil:
    """Return the branch that a row goes to."""
    return sets.branch_of[code_of(sets.examples, split.test, row)]
