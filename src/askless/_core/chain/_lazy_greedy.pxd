"""Contract of a lazy greedy choice: always the test of most gain for its price.

Gains never rise as U shrinks. So a gain that was worked out for an earlier U bounds the
gain now, and need not be worked out again unless it is the largest of all bounds.
"""

from askless._core.chain._coverage cimport Coverage
from askless._core.base._types cimport float64_t, int32_t, int64_t, intp_t


cdef class LazyGreedy(Coverage):
    cdef readonly bint use_laziness    # switch: changes time, never the answer
    cdef readonly int64_t n_gains      # how many gains were worked out since the start
    cdef const float64_t[::1] prices   # (n_tests,)
    cdef bint by_weight                  # gains are masses; False: pairs
    cdef bint skip_useless             # leave out tests that cover nothing of U

    # bound[t] is the gain of t by its price, at the U of version seen_at[t]; -1: the
    # test is out.
    cdef float64_t[::1] bound          # (n_tests,)
    cdef int64_t[::1] seen_at          # (n_tests,)
    cdef int32_t[::1] heap             # (n_tests,) largest bound, then smallest test
    cdef intp_t n_heap
    cdef int32_t[::1] to_visit         # (n_tests + 1,) scratch

    # Start choosing among some tests, those of at most a price.
    cdef void fill_heap(
        self, const int32_t* tests, intp_t n_tests, float64_t most, bint by_weight
    ) noexcept nogil

    # Take out the test of most gain for its price among those of at most a price, which
    # must not rise from one choice to the next. Gains closer than a relative 1e-12 tie
    # and go to the smallest test. -1: no test is left.
    cdef intp_t pick(self, float64_t most) noexcept nogil

    cdef bint is_above(self, intp_t test, intp_t other) noexcept nogil
    cdef void sift_down(self, intp_t place) noexcept nogil
    cdef void order_heap(self) noexcept nogil
    cdef void refresh(self, intp_t test) noexcept nogil
    cdef void refresh_all(self) noexcept nogil
    cdef bint settle_top(self, float64_t most) noexcept nogil
    cdef intp_t visit_next(self, intp_t* n, float64_t least) noexcept nogil
    cdef bint refresh_ties(self, float64_t most) noexcept nogil
    cdef intp_t take_winner(self, float64_t most) noexcept nogil
