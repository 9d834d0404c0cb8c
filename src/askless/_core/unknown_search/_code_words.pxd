"""Contract of bounds by code words, where outcomes may be unknown.

Take each case's luckiest draws: the outcomes that it shows until its block is known are
code words, none the beginning of another. So Huffman's bound and the entropy hold for
the weights of the blocks.
"""

from askless._core.base._types cimport float64_t, int32_t, intp_t
from askless._core.unknown_search._problem cimport UnknownProblem


# What rounding may take from a bound, relatively. Bounds are lowered by it, so that a
# policy is never cut for a rounding error.
cdef extern from *:
    """
    #define ASKLESS_ROUNDING 1e-12
    """
    const float64_t ROUNDING "ASKLESS_ROUNDING"


# What holds for every set of cases inside a state: about the tests that may be bought.
cdef struct Inside:
    float64_t cheapest  # the least price
    float64_t rate      # the least price of a bit
    intp_t arity        # the most outcomes of a test, at least 2


cdef class CodeWords:
    cdef UnknownProblem problem
    cdef bint use_huffman
    cdef bint use_entropy
    cdef float64_t[::1] words   # (4 * n_cases + 8,) weights of the words

    # A lower bound of a state that is not settled; cases of one block stand together.
    cdef float64_t bound(
        self, const int32_t* cases, const float64_t* weights, intp_t n,
        const Inside* inside,
    ) noexcept nogil
