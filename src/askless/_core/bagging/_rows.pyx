"""Copy the rows of a bootstrap sample, and divide them in place, column by column.

This module knows memory and order. It must not know why rows are divided as they are.
"""

from libc.string cimport memset

import numpy as np

from askless._core.base._types cimport int32_t, int64_t, intp_t, uint8_t


cdef extern from "askless/_core/bagging/moving.h" nogil:
    int has_fast_bytes() noexcept
    void set_fast_bytes(int use) noexcept
    void fill_move_tables() noexcept
    void mark_at_most_u8(
        const uint8_t* codes, intp_t n, uint8_t cut, uint8_t* marks
    ) noexcept
    void mark_unset_u8(
        const uint8_t* codes, intp_t n, uint8_t bit, uint8_t* marks
    ) noexcept
    intp_t count_marks(const uint8_t* marks, intp_t start, intp_t n) noexcept
    intp_t keep_u8(
        const uint8_t* column, const uint8_t* marks, intp_t n, uint8_t* kept,
        int is_fast,
    ) noexcept
    void divide_u8(
        uint8_t* column, const uint8_t* marks, intp_t n, uint8_t* spare, int is_fast
    ) noexcept


fill_move_tables()


def use_fast_bytes(bint use):
    """Switch the paths for newer processors off or on; return whether they are on."""
    set_fast_bytes(use)
    return bool(has_fast_bytes())


cdef class BagRows:
    """The rows of one sample."""

    def __init__(
        self,
        const uint8_t[:, ::1] codes not None,    # IN   (n_tests, n_rows)
        const int64_t[::1] class_rows not None,  # IN   (n_classes,)
        const uint8_t[::1] counts,               # IN   (n_rows,) None: each row once
        bundles not None,
    ):
        cdef:
            intp_t n_rows = codes.shape[1], n = n_rows, i, k, row = 0
            uint8_t[::1] sample_codes, sample_weights
        self.column = bundles.column
        self.bit = bundles.bit
        self.n_columns = len(bundles.whole) + len(bundles.codes)
        self.is_fast = has_fast_bytes()
        # First the rows that are kept are marked, later the rows of a node that go left.
        self.marks = np.full(n_rows // 8 + 64, 255, dtype=np.uint8)
        if counts is not None and n_rows:
            mark_at_most_u8(&counts[0], n_rows, 0, &self.marks[0])
            for i in range((n_rows + 7) // 8):
                self.marks[i] = ~self.marks[i]
            n = count_marks(&self.marks[0], 0, n_rows)
        self.n_rows = n
        self.stride = (n + 15) // 16 * 16 + 64
        self.spare = np.empty(n + 64, dtype=np.uint8)
        self.is_moved = np.empty(self.n_columns + 1, dtype=np.uint8)
        sample_codes = np.empty(self.n_columns * self.stride + 64, dtype=np.uint8)
        sample_weights = np.zeros(self.stride, dtype=np.uint8)
        self.memory = (sample_codes, sample_weights)
        self.codes = &sample_codes[0]
        self.weights = &sample_weights[0]
        # The rows that are kept are sorted by class, as all rows are.
        self.class_rows = np.zeros(class_rows.shape[0], dtype=np.int64)
        for k in range(class_rows.shape[0]):
            self.class_rows[k] = count_marks(&self.marks[0], row, class_rows[k])
            row += class_rows[k]
        if n_rows:
            self.keep_rows(codes, counts, bundles.whole, bundles.codes)

    cdef int keep_rows(
        self, const uint8_t[:, ::1] codes, const uint8_t[::1] counts,
        const int32_t[::1] whole, const uint8_t[:, ::1] packed,
    ) except -1:
        cdef:
            intp_t n_rows = codes.shape[1], n_whole = whole.shape[0], i
            const uint8_t* source
        with nogil:
            for i in range(self.n_columns):
                if i < n_whole:
                    source = &codes[whole[i], 0]
                else:
                    source = &packed[i - n_whole, 0]
                keep_u8(
                    source, &self.marks[0], n_rows, self.codes + i * self.stride,
                    self.is_fast,
                )
            if counts is None:
                memset(self.weights, 1, self.n_rows)
            else:
                keep_u8(
                    &counts[0], &self.marks[0], n_rows, self.weights, self.is_fast
                )
        return 0

    cdef void mark_left(
        self, intp_t test, uint8_t cut, intp_t start, intp_t n
    ) noexcept nogil:
        cdef const uint8_t* column = bag_column(self, test) + start
        if self.bit[test]:
            mark_unset_u8(column, n, self.bit[test], &self.marks[0])
        else:
            mark_at_most_u8(column, n, cut, &self.marks[0])

    cdef intp_t count_left(self, intp_t first, intp_t n) noexcept nogil:
        return count_marks(&self.marks[0], first, n)

    cdef void divide(
        self, const int32_t* tests, intp_t n_tests, intp_t start, intp_t n
    ) noexcept nogil:
        cdef:
            const uint8_t* marks = &self.marks[0]
            uint8_t* spare = &self.spare[0]
            intp_t i, place
        memset(&self.is_moved[0], 0, self.n_columns)
        for i in range(n_tests):
            place = self.column[tests[i]]
            if not self.is_moved[place]:
                self.is_moved[place] = True
                divide_u8(
                    self.codes + place * self.stride + start, marks, n, spare,
                    self.is_fast,
                )
        divide_u8(self.weights + start, marks, n, spare, self.is_fast)
