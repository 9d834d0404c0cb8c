"""Contract of the criteria by which learned trees choose a test.

`score_test` looks at one test of a node that was weighed; `choose` compares the tests
of a node. Gains are rounded to 2**-36 bits, so that equal gains are equal and a gain of
nothing is nothing, however the sums were added up.
"""

from askless._core.base._types cimport float64_t, int32_t, intp_t
from askless._core.cost._workspace cimport Node, Workspace


cdef enum CriterionKind:
    BY_GAIN = 0        # ID3
    BY_GAIN_RATIO = 1  # C4.5: among the tests of at least average gain
    BY_EG2 = 2         # (2**gain - 1) / (price + 1)**w
    BY_IDX = 3         # gain / price
    BY_CSID3 = 4       # gain**2 / price
    BY_DTMC = 5        # least price of the test and of deciding right after it


cdef struct Criterion:
    CriterionKind kind
    float64_t w            # how much prices matter to EG2
    float64_t least_part   # weight that at least two parts must have; 0: any
    bint with_penalty      # numbers pay log2(cuts) / weight of their gain (C4.5 R8)
    bint needs_gain        # a test that tells nothing is not chosen


# A criterion for callers in Python.
cdef class SplitCriterion:
    cdef Criterion settings


cdef struct Choice:
    intp_t test          # -1: none
    intp_t cut           # largest code that goes left; -1: a child for every code
    float64_t gain       # bits a row
    float64_t spread     # bits a row: the split's own information
    float64_t mistakes   # least mistakes of the parts, summed over rows
    float64_t price      # in context, summed over rows
    float64_t score      # larger is better
    bint fits            # at least two parts weigh `least_part` or more


# The first of n choices at the node that was weighed after which every part is of one
# class; -1 if there is none.
cdef intp_t find_decisive(
    Workspace ws, const Choice* choices, intp_t n
) noexcept nogil

# Score a test at a node that was weighed, by its best cut if it is a number. False: all
# rows have one code, here and in every part of the node.
cdef bint score_test(
    Workspace ws, const Node* node, intp_t test, const Criterion* criterion,
    Choice* choice,
) noexcept nogil

# The `most` cuts of highest gain of a number, best first; on a tie the smaller code.
# Returns how many there are.
cdef intp_t score_cuts(
    Workspace ws, const Node* node, intp_t test, const Criterion* criterion,
    intp_t most, Choice* choices,
) noexcept nogil

# The best of the node's active tests; those that can still split it are listed at
# `kept` on the stack, `n_kept` of them, for its children. The list is on the stack:
# give it back.
cdef Choice choose(
    Workspace ws, const Node* node, const Criterion* criterion, intp_t* kept,
    intp_t* n_kept,
) noexcept nogil
