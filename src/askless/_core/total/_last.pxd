"""Contract of last tests: what a path may still spend pays for one test at most."""

from askless._core.base._types cimport float64_t, int32_t, intp_t, uint8_t
from askless._core.total._expand cimport Expander
from askless._core.total._problem cimport Belief, TotalProblem


cdef class LastTests:
    cdef TotalProblem problem
    cdef Expander expander
    cdef float64_t least           # what any test charges at least
    cdef float64_t even            # what every mistake costs; -1: it depends
    cdef int32_t[::1] present      # (n_classes,) the classes of a state
    cdef float64_t[::1] by_class   # (n_classes,) weight

    # How many tests a path may buy: 0, 1, or 2 for all that is above one. Never fewer
    # than it can. With delays it is always 2.
    cdef intp_t count(self, const Belief* state) noexcept nogil

    # The least cost of a state where one test may be bought, `stop` being the cost of
    # deciding now; `test` becomes the test to buy, -1 for none.
    cdef float64_t find(
        self, const Belief* state, const uint8_t* is_useful, const uint8_t* is_done,
        const uint8_t* is_open, float64_t stop, int32_t* test,
    ) noexcept nogil

    cdef float64_t lost_after(
        self, const Belief* state, intp_t test, intp_t n_present, float64_t enough
    ) noexcept nogil
    cdef float64_t decide(self, intp_t n_present, float64_t total) noexcept nogil
