"""Contract of following a rule: which test comes next, after which tests."""

from askless._core.base._types cimport float64_t, int32_t, intp_t, uint8_t
from askless._core.price._prices cimport Prices
from askless._core.unknown._parts cimport Scratch
from askless._core.unknown._settled cimport Settled
from askless._core.unknown._table cimport State, UnknownTable


cdef class RuleWalk:
    cdef readonly UnknownTable table
    cdef Prices prices
    cdef Settled settled
    cdef int rule
    cdef const int32_t[::1] order
    cdef bint has_order
    cdef bint skips
    cdef float64_t[::1] copy_bits  # (n_cases,) copies of each case, as a power of two
    cdef bint keys_all_done        # what was done matters beyond what it left

    # Where the walk stands.
    cdef uint8_t[::1] is_done      # (n_tests + 1,)
    cdef uint8_t[::1] is_open      # (n_groups + 1,)
    cdef int32_t[::1] path         # tests done, in any order
    cdef intp_t depth              # how many

    # What the rule gives each test in the state that was measured last.
    cdef float64_t[::1] scores
    cdef uint8_t[::1] effects
    cdef float64_t[::1] price_now
    cdef float64_t[::1] weights
    cdef float64_t[::1] copies
    cdef Scratch scratch

    # Forget what was done.
    cdef void restart(self) noexcept nogil

    # Mark a test as done; returns whether that opens its group.
    cdef bint enter(self, intp_t test) noexcept nogil

    # Take the mark of the last test back.
    cdef void leave(self, bint opened) noexcept nogil

    # Score all tests in a state, unless the order takes them as they come.
    cdef void measure(self, const State* state) noexcept nogil
    cdef void count_copies(self, const State* state) noexcept nogil

    # The next test, -1 to decide, for the state that was measured last. `position` is
    # that of the next test of a fixed order.
    cdef intp_t choose(self, intp_t* position) noexcept nogil
