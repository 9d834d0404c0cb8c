"""Contract of expansion: the tests that split a state, what they leave, and bounds."""

from askless._core.base._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint8_t, uint16_t, uint64_t,
)
from askless._core.engine._breadth cimport Rank
from askless._core.search._code_words cimport CodeWords
from askless._core.engine._states cimport StateTable
from askless._core.search._table cimport Inside, KnownTable, State


# A part of a state that holds more than one class.
cdef struct Child:
    uint64_t key
    int64_t weight
    int64_t price   # what its cases pay for the test
    int64_t lower   # what its policies cost at least
    int32_t n_cases
    uint16_t code


# A test that may come next.
cdef struct Candidate:
    Rank rank
    int64_t lower   # what policies that start with the test cost at least
    # By expectation: what all cases pay for the test; by the worst case: the dearest
    # outcome that is already settled.
    int64_t base
    int32_t first_child
    int32_t n_children


# What the cases of a state that show one code amount to; of one test at a time.
cdef struct Summary:
    uint64_t key
    int64_t weight
    int64_t opponents  # twice the pairs of different class
    int32_t n_cases
    int32_t n_classes  # 1, or 2 for more than one
    int32_t first_class


cdef class Expander:
    cdef KnownTable table
    cdef StateTable states
    cdef CodeWords code_words
    cdef bint is_worst
    cdef intp_t breadth
    cdef bint rank_by_entropy
    cdef bint use_entropy
    cdef bint use_children
    cdef bint use_additivity

    # Scratch of one expansion, empty between expansions.
    cdef uint8_t[::1] is_marked   # (n_cases,) the cases of the state
    cdef uint8_t[::1] summaries   # (most codes,) of Summary
    cdef int64_t[::1] by_class    # (n_classes,), then (most codes, n_classes, 2)

    # An upper limit of the children of all tests of a state of n cases.
    cdef intp_t count_children(self, intp_t n) noexcept nogil

    # List the tests that split the cases, with their children and lower bounds; return
    # how many there are. `additive` gets a lower bound of the state itself: the parts
    # of any one test together cost no more than the whole, test or no test.
    cdef intp_t expand(
        self, const State* state, Candidate* candidates, Child* children,
        int64_t* additive,
    ) noexcept nogil

    cdef void look_inside(self, const State* state, Inside* inside) noexcept nogil
    cdef intp_t count_outcomes(self, intp_t test, const State* state) noexcept nogil
    cdef intp_t summarise(self, intp_t test, const State* state) noexcept nogil
    cdef bint describe(
        self, intp_t test, const State* state, Candidate* candidate, Child* children
    ) noexcept nogil
    cdef bint bound(
        self, const State* state, const Inside* inside, Candidate* candidate,
        Child* children, int64_t* additive,
    ) noexcept nogil
    cdef int64_t bound_child(
        self, const Child* child, intp_t test, const State* state, const Inside* inside
    ) noexcept nogil
    cdef float64_t score(self, intp_t test, const State* state) noexcept nogil
    cdef float64_t gain_worst(
        self, intp_t test, const State* state, float64_t* price
    ) noexcept nogil
    cdef float64_t gain_expected(
        self, intp_t test, const State* state, float64_t* price
    ) noexcept nogil
