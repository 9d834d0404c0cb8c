"""Contract of batches: a delayed test comes with all the tests that follow it.

The result of a delayed test is too late to choose the next test by, so whatever is to
follow it is ordered with it and paid for at once. Then all of it is known, and the
policy decides. So a batch is a set of tests with a delayed one among them.
"""

from askless._core.base._types cimport float64_t, int32_t, intp_t, uint8_t
from askless._core.engine._stoppable cimport Stoppable
from askless._core.total._expand cimport Expander
from askless._core.total._problem cimport Belief, TotalProblem


cdef class Batches:
    cdef TotalProblem problem
    cdef Expander expander
    cdef Stoppable clock
    cdef bint is_patient           # go on though the clock says that time is out
    cdef int32_t[::1] useful       # (n_tests,) the tests that may be in a batch
    cdef intp_t n_useful
    cdef uint8_t[::1] is_in        # (n_tests + 1,) the batch that is being tried
    cdef uint8_t[::1] best_in      # (n_tests + 1,) the best batch
    cdef uint8_t[::1] opened       # (n_groups + 1,)
    cdef float64_t[::1] by_class
    cdef float64_t best
    cdef float64_t least_loss      # of the state, whatever is known
    cdef int32_t best_first
    cdef int32_t first             # of the batch priced last: what to order first

    # The least cost of a batch if it is below `enough`, else something of at least
    # that. `best_in` and `best_first` say which one it is.
    cdef float64_t find(
        self, const Belief* state, const uint8_t* is_useful, const uint8_t* is_open,
        float64_t enough,
    ) except -1 nogil

    cdef float64_t price(self, const uint8_t* is_open) noexcept nogil
    cdef float64_t price_after(
        self, intp_t first, const uint8_t* is_open
    ) noexcept nogil
    cdef int extend(
        self, const Belief* state, const uint8_t* is_open, intp_t begin,
        float64_t least_price, const float64_t* leaves, intp_t n_leaves,
    ) except -1 nogil
    cdef float64_t decide_all(
        self, const Belief* state, const float64_t* leaves, intp_t n_leaves
    ) noexcept nogil
