"""Contract of the rows of a bootstrap sample: copied once, then moved in place.

    codes      [ column of a test of its own   ]   rows sorted by class, one byte each
               [ ...                           ]
               [ bundle: a bit for each test   ]
    weights    [ how often each row was drawn  ]
"""

cimport cython
from askless._core.base._types cimport int32_t, int64_t, intp_t, uint8_t


@cython.final
cdef class BagRows:
    cdef const int32_t[::1] column     # (n_tests,) see Bundles
    cdef const uint8_t[::1] bit        # (n_tests,) see Bundles; 0: a column of its own
    cdef readonly intp_t n_columns
    cdef readonly intp_t n_rows
    cdef int64_t[::1] class_rows       # (n_classes,) rows of each class in the sample
    cdef readonly int is_fast          # bytes are shuffled, bits are counted

    cdef uint8_t* codes                # (n_columns, stride)
    cdef uint8_t* weights              # (stride,)
    cdef intp_t stride
    cdef object memory                 # keeps what the pointers point to
    cdef uint8_t[::1] marks            # a bit for each row of a node: whether it is left
    cdef uint8_t[::1] spare
    cdef uint8_t[::1] is_moved         # (n_columns,) by the split at hand

    # Copy the marked rows of every column.
    cdef int keep_rows(
        self, const uint8_t[:, ::1] codes, const uint8_t[::1] counts,
        const int32_t[::1] whole, const uint8_t[:, ::1] packed,
    ) except -1

    # Mark the rows [start, start + n[ that go left: those whose code is at most the cut,
    # or whose bit is not set.
    cdef void mark_left(
        self, intp_t test, uint8_t cut, intp_t start, intp_t n
    ) noexcept nogil

    # How many of n rows are marked, from the given one of those that were looked at.
    cdef intp_t count_left(self, intp_t first, intp_t n) noexcept nogil

    # Move the marked rows to the front, the others behind them, both in order.
    cdef void divide(
        self, const int32_t* tests, intp_t n_tests, intp_t start, intp_t n
    ) noexcept nogil


# The column that a test is in, from its first row on.
cdef inline const uint8_t* bag_column(BagRows rows, intp_t test) noexcept nogil:
    return rows.codes + rows.column[test] * rows.stride
