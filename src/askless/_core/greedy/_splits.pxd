"""Contract of the splits by one test: the best cut, or a child for every outcome."""

from askless._core.greedy._criteria cimport Score
from askless._core.greedy._node cimport SplitNode
from askless._core.base._types cimport code_t, float64_t, intp_t


cdef struct Split:
    intp_t test   # -1: nothing helps
    intp_t cut    # largest code that goes left; -1: a child for every outcome
    Score score


# A test at a node, with what the search for its best cut may leave out.
cdef struct Trial:
    intp_t test
    float64_t price       # before the outcome is known
    float64_t best_ratio  # of the best split so far: a worse one need not be found
    bint use_crossing     # switch: changes time, never the score
    bint use_bounds       # switch: changes time, never the answer


# Find the best split by one test, given its column; False: it can split nothing below.
cdef bint score_test(
    SplitNode node, const Trial* trial, const code_t* column, Split* split
) noexcept nogil

# How many thresholds are drawn in a node of so much weight.
cpdef intp_t count_draws(float64_t weight) noexcept nogil
