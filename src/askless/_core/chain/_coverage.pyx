"""Measure what each test covers in a set of cases, and keep track of what is left.

This module knows rows, codes and classes. It must not know what a test costs, nor why
one is taken.
"""

from libc.stdlib cimport free, qsort, realloc
from libc.string cimport memcpy

import numpy as np

from askless._core.base._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint8_t, uint16_t,
)


# Weights closer than this, relatively, are equal.
cdef float64_t TOLERANCE = 1e-12

# What a test covers is listed if it is at most one row in so many. A gain then costs
# the length of the list instead of that of U.
cdef intp_t SPARSE = 8


ctypedef fused cell_t:
    uint8_t
    uint16_t
    int32_t
    float64_t


cdef int compare_ints(const void* a, const void* b) noexcept nogil:
    cdef int32_t x = (<const int32_t*> a)[0]
    cdef int32_t y = (<const int32_t*> b)[0]
    return (x > y) - (x < y)


cdef inline intp_t code_in(
    const uint8_t* narrow, const uint16_t* wide, intp_t row
) noexcept nogil:
    # Which of the two columns there is does not change within a loop, so that
    # compilers take the question out of it.
    return wide[row] if wide != NULL else narrow[row]


cdef inline float64_t count_pairs(float64_t n, float64_t squares) noexcept nogil:
    """Return the pairs of different class among n cases, given the sum of n_k^2."""
    # Whole numbers below 2^53, so exact up to 90 million cases.
    return (n * n - squares) / 2


cdef void move_cells(
    cell_t* column, const int32_t* rows, intp_t first, intp_t n, cell_t* scratch
) noexcept nogil:
    """Put the cells of some rows into the range of a column that they come from."""
    cdef intp_t i
    for i in range(n):
        scratch[i] = column[rows[i]]
    memcpy(column + first, scratch, n * sizeof(cell_t))


cdef class Coverage:
    """One set of cases at a time, and the memory to measure tests in.

    Parameters
    ----------
    codes : ndarray of uint8 or uint16 of shape (n_tests, n_rows)
        Used up: rows are moved in it. So are those of the three that follow.
    class_of : ndarray of int32 of shape (n_rows,)
        The class of each row, ascending.
    weights : ndarray of shape (n_rows,)
        What a row counts for when tests are chosen by weight.
    prior : ndarray of shape (n_rows,)
        What a row weighs in the finished tree.
    """

    def __init__(
        self,
        codes not None,
        int32_t[::1] class_of not None,
        float64_t[::1] weights not None,
        float64_t[::1] prior not None,
    ):
        cdef:
            intp_t n_codes = np.max(codes) + 1
            intp_t n_tests = codes.shape[0]
            intp_t n_rows = codes.shape[1]
            uint8_t[:, ::1] narrow
            uint16_t[:, ::1] wide
        self.codes = codes
        self.narrow = NULL
        self.wide = NULL
        if codes.dtype == np.uint16:
            wide = codes
            self.wide = &wide[0, 0]
        else:
            narrow = codes
            self.narrow = &narrow[0, 0]
        self.n_tests = n_tests
        self.stride = n_rows
        self.class_of = class_of
        self.weights = weights
        self.prior = prior
        self.main_code = np.zeros(n_tests, dtype=np.int32)
        self.n_covered = np.zeros(n_tests, dtype=np.int64)
        self.pairs_covered = np.zeros(n_tests)
        self.weight_covered = np.zeros(n_tests)
        self.list_start = np.zeros(n_tests, dtype=np.int64)
        self.uncovered = np.zeros(n_rows, dtype=np.int32)
        self.is_uncovered = np.zeros(n_rows, dtype=np.uint8)
        self.class_uncovered = np.zeros(np.max(class_of) + 1, dtype=np.int64)
        self.placed = np.zeros(n_rows, dtype=np.int32)
        self.run_rows = np.zeros(n_codes, dtype=np.int64)
        self.run_codes = np.zeros(n_codes, dtype=np.int32)
        self.code_rows = np.zeros(n_codes, dtype=np.int64)
        self.code_squares = np.zeros(n_codes)
        self.code_weight = np.zeros(n_codes)
        self.codes_met = np.zeros(n_codes, dtype=np.int32)
        self.moved = np.zeros(8 * n_rows, dtype=np.uint8)

    def __dealloc__(self):
        free(self.listed)

    cdef intp_t code(self, intp_t test, intp_t row) noexcept nogil:
        return code_in(self.narrow, self.wide, test * self.stride + row)

    cdef void open(self, intp_t first, intp_t n_rows) noexcept nogil:
        self.first = first
        self.n_rows = n_rows
        self.n_placed = 0
        self.n_listed = 0
        self.uncover_all()
        self.pairs = self.uncovered_pairs

    cdef bint measure_test(self, intp_t test) except -1 nogil:
        cdef:
            const uint8_t* narrow = self.narrow
            const uint16_t* wide = self.wide
            intp_t row, code, n_run = 0, n_met = 0
            int32_t this_class = self.class_of[self.first]
        if wide != NULL:
            wide += test * self.stride
        else:
            narrow += test * self.stride
        for row in range(self.first, self.first + self.n_rows):
            if self.class_of[row] != this_class:
                self.close_run(n_run, &n_met)
                n_run = 0
                this_class = self.class_of[row]
            code = code_in(narrow, wide, row)
            if self.run_rows[code] == 0:
                self.run_codes[n_run] = <int32_t> code
                n_run += 1
            self.run_rows[code] += 1
            self.code_weight[code] += self.weights[row]
        self.close_run(n_run, &n_met)
        self.choose_main(test, n_met)
        self.list_start[test] = -1
        if 0 < self.n_covered[test] <= self.n_rows // SPARSE:
            self.list_covered(test)
        return n_met > 1

    cdef void close_run(self, intp_t n_run, intp_t* n_met) noexcept nogil:
        """Add the rows of one class to the counts by code."""
        cdef:
            intp_t i, code
            int64_t n
        for i in range(n_run):
            code = self.run_codes[i]
            n = self.run_rows[code]
            if self.code_rows[code] == 0:
                self.codes_met[n_met[0]] = <int32_t> code
                n_met[0] += 1
            self.code_rows[code] += n
            self.code_squares[code] += <float64_t> n * <float64_t> n
            self.run_rows[code] = 0

    cdef void choose_main(self, intp_t test, intp_t n_met) noexcept nogil:
        """Settle the main outcome: most pairs, then weight, cases, smallest code."""
        cdef:
            intp_t i, code, main_code = -1
            float64_t pairs, most_pairs = -1.0, most_weight = -1.0, covered = 0.0
        for i in range(n_met):
            code = self.codes_met[i]
            pairs = count_pairs(<float64_t> self.code_rows[code],
                                self.code_squares[code])
            # From here on the place of the squares is for the pairs.
            self.code_squares[code] = pairs
            if pairs > most_pairs:
                most_pairs = pairs
                most_weight = self.code_weight[code]
            elif pairs == most_pairs:
                most_weight = max(most_weight, self.code_weight[code])
        for i in range(n_met):
            code = self.codes_met[i]
            if self.code_squares[code] < most_pairs:
                continue
            if self.code_weight[code] < most_weight * (1 - TOLERANCE):
                continue
            if (
                main_code < 0
                or self.code_rows[code] > self.code_rows[main_code]
                or (self.code_rows[code] == self.code_rows[main_code] and code < main_code)
            ):
                main_code = code
        for i in range(n_met):
            code = self.codes_met[i]
            if code != main_code:
                covered += self.code_weight[code]
        self.main_code[test] = <int32_t> main_code
        self.n_covered[test] = self.n_rows - self.code_rows[main_code]
        self.pairs_covered[test] = self.pairs - most_pairs
        self.weight_covered[test] = covered
        for i in range(n_met):
            code = self.codes_met[i]
            self.code_rows[code] = 0
            self.code_squares[code] = 0.0
            self.code_weight[code] = 0.0

    cdef int list_covered(self, intp_t test) except -1 nogil:
        """List the rows that a test covers."""
        cdef:
            const uint8_t* narrow = self.narrow
            const uint16_t* wide = self.wide
            intp_t row, main_code = self.main_code[test]
            int32_t* larger
        if self.n_listed + self.n_covered[test] > self.list_room:
            self.list_room = max(1024, 2 * (self.n_listed + self.n_covered[test]))
            larger = <int32_t*> realloc(self.listed, self.list_room * sizeof(int32_t))
            if larger == NULL:
                with gil:
                    raise MemoryError("no memory left for the cases that tests cover")
            self.listed = larger
        if wide != NULL:
            wide += test * self.stride
        else:
            narrow += test * self.stride
        self.list_start[test] = self.n_listed
        for row in range(self.first, self.first + self.n_rows):
            if code_in(narrow, wide, row) != main_code:
                self.listed[self.n_listed] = <int32_t> row
                self.n_listed += 1
        return 0

    cdef float64_t count_coverable(
        self, const int32_t* tests, intp_t n_tests
    ) noexcept nogil:
        # All pairs of S, unless cases of different class show the same throughout and
        # every test has that as its main outcome.
        cdef:
            intp_t i, row, n = 0, n_run = 0
            float64_t squares = 0.0
            int32_t this_class = -1, test
        for row in range(self.first, self.first + self.n_rows):
            for i in range(n_tests):
                test = tests[i]
                if self.code(test, row) != self.main_code[test]:
                    break
            else:
                if self.class_of[row] != this_class:
                    squares += <float64_t> n_run * <float64_t> n_run
                    n_run = 0
                    this_class = self.class_of[row]
                n_run += 1
                n += 1
        squares += <float64_t> n_run * <float64_t> n_run
        return self.pairs - count_pairs(<float64_t> n, squares)

    cdef void uncover_all(self) noexcept nogil:
        cdef:
            intp_t row
            float64_t squares = 0.0
            float64_t n
        for row in range(self.first, self.first + self.n_rows):
            self.class_uncovered[self.class_of[row]] = 0
        for row in range(self.first, self.first + self.n_rows):
            self.uncovered[row - self.first] = <int32_t> row
            self.is_uncovered[row] = 1
            n = <float64_t> self.class_uncovered[self.class_of[row]]
            # (n + 1)^2 - n^2
            squares += 2 * n + 1
            self.class_uncovered[self.class_of[row]] += 1
        self.n_uncovered = self.n_rows
        self.uncovered_pairs = count_pairs(<float64_t> self.n_rows, squares)
        self.version += 1

    cdef float64_t gain(
        self, intp_t test, bint by_weight, int64_t* n_covered
    ) noexcept nogil:
        # By list and by scan the same terms are added in the same order.
        cdef:
            const uint8_t* narrow = self.narrow
            const uint16_t* wide = self.wide
            intp_t main_code = self.main_code[test]
            const int32_t* rows
            intp_t n, i, row
            bint is_listed = self.list_start[test] >= 0
            int64_t n_run = 0, n_all = 0
            int32_t this_class = -1
            float64_t total = 0.0
        n_covered[0] = 0
        if self.n_covered[test] == 0:
            return 0.0
        if wide != NULL:
            wide += test * self.stride
        else:
            narrow += test * self.stride
        if is_listed:
            rows = self.listed + self.list_start[test]
            n = self.n_covered[test]
        else:
            rows = &self.uncovered[0]
            n = self.n_uncovered
        for i in range(n):
            row = rows[i]
            if is_listed:
                if not self.is_uncovered[row]:
                    continue
            elif code_in(narrow, wide, row) == main_code:
                continue
            n_all += 1
            if by_weight:
                total += self.weights[row]
                continue
            if self.class_of[row] != this_class:
                if this_class >= 0:
                    total += n_run * (2 * self.class_uncovered[this_class] - n_run)
                n_run = 0
                this_class = self.class_of[row]
            n_run += 1
        n_covered[0] = n_all
        if by_weight or n_all == 0:
            return total
        total += n_run * (2 * self.class_uncovered[this_class] - n_run)
        # `total` is what the sum q of the squares in U falls by. With u cases in U and
        # s of them covered:  (u^2 - q)/2 - ((u - s)^2 - (q - total))/2
        return (<float64_t> (n_all * (2 * self.n_uncovered - n_all)) - total) / 2

    cdef bint splits_uncovered(self, intp_t test) noexcept nogil:
        cdef intp_t i, shown = self.code(test, self.uncovered[0])
        for i in range(1, self.n_uncovered):
            if self.code(test, self.uncovered[i]) != shown:
                return True
        return False

    cdef intp_t cover(self, intp_t test) noexcept nogil:
        cdef:
            const uint8_t* narrow = self.narrow
            const uint16_t* wide = self.wide
            intp_t main_code = self.main_code[test]
            intp_t i, row, n_kept = 0, n_left = 0
            float64_t fall = 0.0
            int64_t n
        if wide != NULL:
            wide += test * self.stride
        else:
            narrow += test * self.stride
        for i in range(self.n_uncovered):
            row = self.uncovered[i]
            if code_in(narrow, wide, row) == main_code:
                self.uncovered[n_kept] = <int32_t> row
                n_kept += 1
            else:
                self.placed[self.n_placed + n_left] = <int32_t> row
                n_left += 1
                self.is_uncovered[row] = 0
                # The pairs of this case with those that are not yet taken out.
                n = self.class_uncovered[self.class_of[row]]
                fall += <float64_t> (self.n_uncovered - n_left + 1 - n)
                self.class_uncovered[self.class_of[row]] = n - 1
        self.n_uncovered = n_kept
        self.uncovered_pairs -= fall
        if n_left > 0:
            self.version += 1
        return n_left

    cdef void sort_by_code(self, intp_t test, int32_t* rows, intp_t n) noexcept nogil:
        cdef:
            intp_t i, code, n_met = 0
            int64_t start = 0, count
            int32_t* sorted_rows = <int32_t*> &self.moved[0]
        for i in range(n):
            code = self.code(test, rows[i])
            if self.run_rows[code] == 0:
                self.codes_met[n_met] = <int32_t> code
                n_met += 1
            self.run_rows[code] += 1
        if n_met > 1:
            qsort(&self.codes_met[0], n_met, sizeof(int32_t), compare_ints)
            for i in range(n_met):
                count = self.run_rows[self.codes_met[i]]
                self.run_rows[self.codes_met[i]] = start
                start += count
            for i in range(n):
                code = self.code(test, rows[i])
                sorted_rows[self.run_rows[code]] = rows[i]
                self.run_rows[code] += 1
            memcpy(rows, sorted_rows, n * sizeof(int32_t))
        for i in range(n_met):
            self.run_rows[self.codes_met[i]] = 0

    cdef void move_rows(self, const int32_t* tests, intp_t n_tests) noexcept nogil:
        cdef:
            const int32_t* rows = &self.placed[0]
            intp_t first = self.first, n = self.n_rows, i, start
            void* scratch = <void*> &self.moved[0]
        for i in range(n_tests):
            start = tests[i] * self.stride
            if self.wide != NULL:
                move_cells(self.wide + start, rows, first, n, <uint16_t*> scratch)
            else:
                move_cells(self.narrow + start, rows, first, n, <uint8_t*> scratch)
        move_cells(&self.class_of[0], rows, first, n, <int32_t*> scratch)
        move_cells(&self.weights[0], rows, first, n, <float64_t*> scratch)
        move_cells(&self.prior[0], rows, first, n, <float64_t*> scratch)
