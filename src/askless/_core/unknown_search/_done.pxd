"""Contract of the way to a state: the tests done, and what tests charge there."""

from askless._core.base._types cimport float64_t, intp_t, uint8_t
from askless._core.unknown_search._problem cimport UnknownProblem


cdef class DoneTests:
    cdef UnknownProblem problem
    cdef uint8_t[::1] is_done   # (n_tests + 1,)
    cdef uint8_t[::1] is_open   # (n_groups + 1,)
    cdef uint8_t[::1] is_paid   # (n_tests + 1,) none: no test is bought twice

    # What a test charges if it shows a code, as things stand; -1: whatever it shows.
    cdef float64_t price_now(self, intp_t test, intp_t code) noexcept nogil

    # Whether buying a test would open its group.
    cdef bint may_open(self, intp_t test) noexcept nogil

    # The group of a test, -1 if prices do not depend on groups.
    cdef intp_t group_of(self, intp_t test) noexcept nogil
