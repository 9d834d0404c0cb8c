"""Contract of measuring: what each outcome of a test amounts to, for bounds."""

from askless._core.base._types cimport float64_t, int32_t, int64_t, intp_t, uint8_t
from askless._core.unknown_search._problem cimport UnknownProblem
from askless._core.unknown._table cimport UnknownTable


# What one outcome of a test amounts to.
cdef struct Sum:
    int64_t n
    float64_t weight
    float64_t logs     # sum of w log2 w over blocks
    int32_t n_blocks   # of cases of one's own blocks: 2 for more than one


cdef class Measure:
    cdef UnknownTable table
    cdef const int32_t[::1] block
    cdef bint has_own_blocks
    cdef Sum* sums  # (most codes + 1,) of the test that was measured last
    cdef Sum* run   # (most codes + 1,) of one block

    # Fill ``sums`` with what each outcome of a test amounts to; returns its Effect.
    # `weights` are n weights and behind them w log2 w of each. If they are NULL, or if
    # the test tells nothing, cases whose outcome is unknown are counted by themselves;
    # else they are counted in every sum that they may be drawn into.
    cdef uint8_t measure(
        self, intp_t test, const int32_t* cases, intp_t n, const float64_t* weights
    ) noexcept nogil

    cdef void sum_cases(
        self, intp_t test, const int32_t* cases, intp_t n, const float64_t* weights
    ) noexcept nogil
    cdef void sum_blocks(
        self, intp_t test, const int32_t* cases, intp_t n, const float64_t* weights
    ) noexcept nogil
    cdef void add_block(self, intp_t test, bint is_weighed) noexcept nogil
    cdef uint8_t find_effect(self, intp_t test, intp_t n) noexcept nogil
    cdef void spread_unknown(self, intp_t test) noexcept nogil
