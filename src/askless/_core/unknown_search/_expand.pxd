"""Contract of expansion: the tests worth trying in a state, and what they cost."""

from askless._core.base._types cimport float64_t, intp_t, uint8_t
from askless._core.engine._breadth cimport Rank
from askless._core.unknown_search._code_words cimport CodeWords, Inside
from askless._core.unknown_search._done cimport DoneTests
from askless._core.unknown_search._measure cimport Measure
from askless._core.unknown._parts cimport Scratch
from askless._core.unknown_search._problem cimport UnknownProblem
from askless._core.unknown._table cimport State, UnknownTable


# A test that may come next.
cdef struct Candidate:
    Rank rank
    float64_t base   # what the test itself charges, at least
    float64_t lower  # what policies that start with it cost at least
    uint8_t effect


# A state that is being expanded.
cdef struct Expansion:
    float64_t* weights       # (2 * n,) of the cases, and w log2 w of each behind them
    float64_t total          # the sum of the weights
    Candidate* candidates    # (n_tests,)
    intp_t n_candidates
    Inside inside
    float64_t lower          # of the state


cdef class Expander:
    cdef UnknownProblem problem
    cdef UnknownTable table
    cdef DoneTests done
    cdef Measure measure
    cdef CodeWords code_words
    cdef Scratch scratch
    cdef readonly int mode
    cdef readonly intp_t breadth
    cdef readonly bint by_information
    cdef bint use_entropy

    # List the tests worth trying with their bounds, and bound the state. No candidate
    # means that nothing is sure to tell the cases apart: the policy decides here.
    cdef void expand(self, const State* state, Expansion* expansion) noexcept nogil

    cdef void add_opener(self, intp_t test, Expansion* expansion) noexcept nogil
    cdef void add_candidate(
        self, intp_t test, uint8_t effect, const State* state, Expansion* expansion
    ) noexcept nogil
    cdef float64_t score(
        self, intp_t test, const State* state, const Expansion* expansion,
        float64_t base,
    ) noexcept nogil
    cdef void bound(self, const State* state, Expansion* expansion) noexcept nogil
