"""Contract of the rules by which learned trees choose a test, from counts and prices.

`judge` looks at one test of a node that was weighed; `choose` compares the tests of a
node. Gains are rounded to 2**-36 bits, so that equal gains are equal and a gain of
nothing is nothing, however the sums were added up.
"""

from askless._core.base._types cimport float64_t, int32_t, intp_t
from askless._core.cost._workspace cimport Workspace


cdef enum Rule:
    BY_GAIN = 0        # ID3
    BY_GAIN_RATIO = 1  # C4.5: among the tests of at least average gain
    BY_EG2 = 2         # (2**gain - 1) / (price + 1)**w
    BY_IDX = 3         # gain / price
    BY_CSID3 = 4       # gain**2 / price
    BY_DTMC = 5        # least price of the test and of deciding right after it


cdef struct Choice:
    intp_t test          # -1: none
    intp_t cut           # largest code that goes left; -1: a child for every code
    float64_t gain       # bits a row
    float64_t spread     # bits a row: the split's own information
    float64_t mistakes   # least mistakes of the parts, summed over rows
    float64_t price      # in context, summed over rows
    float64_t score      # larger is better
    bint fits            # at least two parts weigh `least_part` or more


# How to choose.
cdef struct Taste:
    Rule rule
    float64_t w            # how much EG2 minds the price
    float64_t least_part   # weight that at least two parts must have; 0: any
    bint with_penalty      # numbers pay log2(cuts) / weight of their gain (C4.5 R8)
    bint needs_gain        # a test that tells nothing is not chosen


# Judge a test at a node that was weighed, by its best cut if it is a number. False: all
# rows have one code, here and in every part of the node.
cdef bint judge(
    Workspace ws, intp_t start, intp_t n, intp_t test, const Taste* taste,
    float64_t ordering, Choice* choice,
) noexcept nogil

# The `most` cuts of highest gain of a number, best first; on a tie the smaller code.
# Returns how many there are.
cdef intp_t judge_cuts(
    Workspace ws, intp_t start, intp_t n, intp_t test, const Taste* taste,
    float64_t ordering, intp_t most, Choice* choices,
) noexcept nogil

# The best test among those listed at `active` on the stack of the workspace; those that
# can still part the node are listed at `kept`, `n_kept` of them, for its children. The
# list is on the stack: give it back.
cdef Choice choose(
    Workspace ws, intp_t start, intp_t n, intp_t active, intp_t n_active,
    const Taste* taste, float64_t ordering, intp_t* kept, intp_t* n_kept,
) noexcept nogil

# How good a judged test is.
cdef float64_t score_choice(
    const Choice* choice, const Taste* taste, float64_t weight
) noexcept nogil

# Whether one choice beats another that comes before it.
cdef bint beats(const Choice* choice, const Choice* best) noexcept nogil
