"""Contract of the certificate bound: what it takes to tell a case from its opponents.

On its way down any tree without error, a case must be told from each case of another
class, so the tests on its path are a hitting set: for every opponent they contain one
that tells the two apart. The least cost of such a set is a lower bound of what the case
pays.
"""

from askless._core.base._types cimport (
    int32_t, int64_t, intp_t, uint16_t, uint64_t,
)


cdef class Cover:
    cdef readonly intp_t n_cases
    cdef readonly intp_t n_tests
    cdef readonly intp_t n_words      # of 64 tests each
    cdef readonly intp_t depth        # how many tests of a set are searched exactly
    cdef uint64_t[:, :, ::1] tells    # (n_cases, n_cases, n_words) bits of tests
    cdef int64_t[:, ::1] cheapest     # (n_cases, n_cases) price of the cheapest of them
    cdef const int64_t[:, ::1] price  # (n_cases, n_tests) what the case pays for a test
    cdef int64_t[:, ::1] two_least    # (n_cases, 2) its two smallest prices
    cdef const int32_t[::1] class_id

    # List the opponents of a case that some test tells it from; return how many.
    cdef intp_t list_opponents(
        self, intp_t case, const uint16_t* cases, intp_t n_cases, uint16_t* opponents
    ) noexcept nogil

    # A lower bound of what `case` pays to be told from all its opponents among `cases`.
    # The cover itself is never written, so threads may share it; each brings its own
    # scratch of (depth + 1) * n_cases.
    cdef int64_t bound_case(
        self, intp_t case, const uint16_t* cases, intp_t n_cases, uint16_t* scratch
    ) noexcept nogil

    # The same, with sets of up to `depth` tests searched exactly.
    cdef int64_t bound_at(
        self, intp_t case, const uint16_t* cases, intp_t n_cases, intp_t depth,
        uint16_t* scratch,
    ) noexcept nogil

    cdef int64_t bound_rest(
        self, intp_t case, const uint16_t* rest, intp_t n_rest, intp_t depth,
        uint16_t* scratch,
    ) noexcept nogil
