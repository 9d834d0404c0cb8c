"""Contract of expansion: the tests that may come next in a state, and their bounds."""

from askless._core.base._types cimport float64_t, int32_t, intp_t, uint8_t
from askless._core.total._bound cimport Segment
from askless._core.total._problem cimport Belief, TotalProblem


# A test that may come next.
cdef struct Candidate:
    float64_t lower  # what policies that start with it cost at least
    float64_t price  # what the test charges, by weight, counted as the problem does
    float64_t bits   # what it tells about the case, by weight
    int32_t test


cdef class Expander:
    cdef TotalProblem problem
    cdef bint use_information
    cdef uint8_t[::1] nothing_paid    # (n_tests + 1,) no test is bought twice
    cdef uint8_t[::1] is_met          # (n_tests + 1,) whose bits are in a sum
    cdef uint8_t[::1] is_wanted       # (n_groups + 1,) has a test that may tell
    cdef float64_t[::1] by_class      # (n_classes,)
    cdef float64_t[::1] bits          # (n_tests,) what each test tells
    cdef float64_t[:, ::1] parts      # (n_tests, n_slopes) bits by slope
    cdef float64_t[::1] logs          # (most codes,) of a mixture
    cdef float64_t[::1] height        # (n_slopes + 1,) of the lines above a test
    cdef float64_t[::1] by_code       # (most codes,) weight by what a test shows
    cdef Segment* segments            # (n_tests * n_slopes,)
    cdef readonly intp_t n_leaves     # at most so many parts of a state, see `join`
    cdef float64_t[:, ::1] leaves     # (2 * n_leaves, n_cases) weights of each part

    # Mark the tests that are not done and may still tell something, or open a group for
    # a test that does.
    cdef void mark_useful(
        self, const Belief* state, const uint8_t* is_done, const uint8_t* is_open,
        uint8_t* is_useful,
    ) noexcept nogil

    # Fill the candidates (room for n_tests); return how many there are. `bound` becomes
    # a lower bound of every policy that tests at all.
    cdef intp_t expand(
        self, const Belief* state, const uint8_t* is_useful, const uint8_t* is_done,
        const uint8_t* is_open, Candidate* candidates, float64_t* bound,
    ) noexcept nogil

    # Cut segments to what tests tell together: the state is split by the tests of the
    # cheapest bits, up to n_leaves parts.
    cdef void join(self, const Belief* state, intp_t n_segments) noexcept nogil
    cdef float64_t told_by_leaves(
        self, const Belief* state, intp_t test, intp_t n_leaves, intp_t begin
    ) noexcept nogil
    cdef intp_t split_leaves(
        self, const Belief* state, intp_t test, intp_t n_leaves, intp_t begin
    ) noexcept nogil

    # What a test charges if it shows a code, and the most that it charges.
    cdef float64_t charge(
        self, intp_t test, intp_t code, const uint8_t* is_open
    ) noexcept nogil
    cdef float64_t most_charged(
        self, intp_t test, const uint8_t* is_open
    ) noexcept nogil
    cdef float64_t open_bits(self, const Belief* state, intp_t* n_classes) noexcept nogil
    cdef void count_codes(self, const Belief* state, intp_t test) noexcept nogil
    cdef float64_t told_bits(self, const Belief* state, intp_t test) noexcept nogil
    # Fill `parts` of a test whose codes are counted.
    cdef void cut_bits(self, const Belief* state, intp_t test) noexcept nogil
    cdef void lower_lines(
        self, const Belief* state, intp_t test, float64_t share_now
    ) noexcept nogil
    cdef float64_t mean_charge(
        self, const Belief* state, intp_t test, const uint8_t* is_open
    ) noexcept nogil
