"""Contract of a problem of least total cost: tests that may err, mistakes with prices.

A state is the cases that the answers so far leave possible and how unlikely these
answers made each of them (its surprisal, a whole number of parts of a bit, so that the
order of the answers does not matter). Tests are independent given the case.
"""

from askless._core.base._types cimport float64_t, int32_t, int64_t, intp_t, uint8_t
from askless._core.price._prices cimport Prices


# A state, and how much of everything it is.
cdef struct Belief:
    int32_t* cases        # ascending
    int64_t* surprisal    # of each, counted from the least
    float64_t* weight     # prior * 2 ** -surprisal
    intp_t n
    float64_t total       # of the weights
    float64_t scale       # a unit of weight here, in the state that it came from
    float64_t share       # a unit of weight here, in the first state
    float64_t left        # what a path may still spend


cdef class TotalProblem:
    cdef readonly intp_t n_cases
    cdef readonly intp_t n_tests
    cdef readonly intp_t n_classes
    cdef readonly float64_t cost_weight       # what a unit of price counts
    cdef Prices prices
    cdef const int64_t[::1] first             # (n_tests + 1,) first row of each test
    cdef const float64_t[:, ::1] chance       # (n_rows, n_cases) of each code
    cdef const int64_t[:, ::1] surprisal      # the same; -1: never seen
    cdef const int32_t[:, ::1] kind           # (n_tests, n_cases) equal: same chances
    cdef const float64_t[:, ::1] doubt        # (n_tests, n_cases) bits of the outcome
    #                                           that are open though the case is known
    cdef const float64_t[::1] prior           # (n_cases,) all above 0
    cdef const int32_t[::1] class_id          # (n_cases,)
    cdef const float64_t[:, ::1] mistakes     # (n_classes, n_classes)
    cdef const int32_t[::1] earlier           # (n_tests,) the test it repeats; -1: none
    cdef const float64_t[::1] capacity        # (n_tests,) bits that it tells at most
    cdef const float64_t[::1] mixture         # (n_rows,) chances of the codes if cases
    #                                           are as likely as tells most
    cdef const float64_t[::1] slope           # (n_slopes,) shares of the capacity,
    #                                           falling from 1
    # Bits are bought in segments: a slope of a test, number test * n_slopes + slope.
    cdef const int32_t[::1] order             # (n_segments,) cheapest bits first
    cdef const float64_t[::1] rate            # (n_segments,) least price of a bit
    cdef const float64_t[::1] least_loss      # (n_classes,) of a class, decided best
    cdef const float64_t[:, ::1] wrong        # (n_classes + 1, n_steps + 1) least loss
    #                                           of a bit count, by classes left
    cdef const float64_t[:, ::1] enough       # (n_classes + 1, n_segments) open bits at
    #                                           which it is no longer worth its rate
    cdef const float64_t[:, ::1] slack        # the same: what rounding may add there

    # Least expected loss of deciding now. `by_class` is room for n_classes weights.
    cdef float64_t decide(self, const Belief* state, float64_t* by_class) noexcept nogil

    # Whether a test may show different things for cases of a state.
    cdef bint varies(self, const Belief* state, intp_t test) noexcept nogil

    # Fill a state with what is left once a test has shown a code (row: first + code).
    # Arrays need room for state.n; returns the number of cases left.
    cdef intp_t advance(
        self, const Belief* state, intp_t row, Belief* after
    ) noexcept nogil
