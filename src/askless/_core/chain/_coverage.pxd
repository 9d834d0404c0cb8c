"""Contract of a set of cases and what tests cover of it, as DecTree sees them.

In a set S of cases every test has a main outcome: the one that keeps the most pairs of
cases of different class together. The test covers the cases that show another outcome.
U is what no test taken so far has covered. (The paper marks the main outcome by a star
and calls what a test covers sigma.)

S is a range of rows of every column, the rows of a class being one run. Rows are moved
within the range, and every move is stable, so that rows which leave S together still
have their classes in runs, ascending.
"""

from askless._core.base._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint8_t, uint16_t,
)


cdef class Coverage:
    cdef intp_t n_tests
    cdef intp_t stride               # rows of a column
    cdef object codes                # keeps the columns
    cdef uint8_t* narrow             # (n_tests, stride)
    cdef uint16_t* wide              # the same; NULL: codes are bytes
    cdef int32_t[::1] class_of       # (stride,) of each row
    cdef float64_t[::1] weights      # (stride,) what a row counts for
    cdef float64_t[::1] prior        # (stride,) what it weighs

    # S is the rows [first, first + n_rows[.
    cdef intp_t first
    cdef intp_t n_rows
    cdef readonly float64_t pairs
    cdef int32_t[::1] main_code         # (n_tests,)
    cdef int64_t[::1] n_covered         # (n_tests,) cases that each test covers
    cdef float64_t[::1] pairs_covered   # (n_tests,) pairs with a case that it covers
    cdef float64_t[::1] weight_covered  # (n_tests,)
    cdef int64_t[::1] list_start        # (n_tests,) of these cases in `listed`; -1: not
    cdef int32_t* listed
    cdef intp_t n_listed
    cdef intp_t list_room

    # U, and the rows that have left it, in their new order.
    cdef int32_t[::1] uncovered         # (stride,) ascending
    cdef intp_t n_uncovered
    cdef float64_t uncovered_pairs
    cdef uint8_t[::1] is_uncovered      # (stride,) by row
    cdef int64_t[::1] class_uncovered   # (n_classes,)
    cdef int32_t[::1] placed            # (stride,)
    cdef intp_t n_placed
    cdef int64_t version                # another one whenever U changes

    # Scratch; what is by code is zero between uses.
    cdef int64_t[::1] run_rows
    cdef int32_t[::1] run_codes
    cdef int64_t[::1] code_rows
    cdef float64_t[::1] code_squares
    cdef float64_t[::1] code_weight
    cdef int32_t[::1] codes_met
    cdef uint8_t[::1] moved             # (8 * stride,)

    # Make S a range of rows of more than one class, and U the whole of it.
    cdef void open(self, intp_t first, intp_t n_rows) noexcept nogil

    # Find the main outcome of a test on S and what it covers; return whether it splits S.
    cdef bint measure_test(self, intp_t test) except -1 nogil

    # What a test shows for a row.
    cdef intp_t code(self, intp_t test, intp_t row) noexcept nogil

    # The pairs that the tests cover together.
    cdef float64_t count_coverable(
        self, const int32_t* tests, intp_t n_tests
    ) noexcept nogil

    # Make U the whole of S.
    cdef void uncover_all(self) noexcept nogil

    # The weight or the pairs of U that a test covers, and how many cases. Both never rise
    # as U shrinks.
    cdef float64_t gain(
        self, intp_t test, bint by_weight, int64_t* n_covered
    ) noexcept nogil

    # Whether the cases of U show different outcomes.
    cdef bint splits_uncovered(self, intp_t test) noexcept nogil

    # Take what a test covers out of U; return how many rows. They stand in `placed` from
    # n_placed on, which is not moved.
    cdef intp_t cover(self, intp_t test) noexcept nogil

    # Sort rows by code, keeping the order of rows of the same code.
    cdef void sort_by_code(self, intp_t test, int32_t* rows, intp_t n) noexcept nogil

    # Move the rows of S into the order of `placed`, in some columns.
    cdef void move_rows(self, const int32_t* tests, intp_t n_tests) noexcept nogil

    cdef void close_run(self, intp_t n_run, intp_t* n_met) noexcept nogil
    cdef void choose_main(self, intp_t test, intp_t n_met) noexcept nogil
    cdef int list_covered(self, intp_t test) except -1 nogil


cdef int compare_ints(const void* a, const void* b) noexcept nogil
