"""Contract of the bound by information.

A test that is asked with a chance q tells at most x(q) bits: those of the best part of
the weights, of a total of q, that it may be asked in. This is a concave function, and
lies below lines (Bounds of a test):

    x <= capacity q
    x <= sum over cases of  weight (D - slope)+  +  slope q     for every slope
    x <= what the test would tell now

where D is the divergence of a case's chances from a mixture, any mixture. So the cheapest
way to so many bits is a list of segments, cheapest bits first. What stays open about
the class is priced by Fano's inequality.
"""

from askless._core.base._types cimport float64_t, int32_t, intp_t
from askless._core.total._problem cimport Belief, TotalProblem


# Bits that a test can tell at most, at the least price of a bit.
cdef struct Segment:
    float64_t bits
    int32_t number  # of the problem's segments
    int32_t test


# The least loss of a state from which so many bits of the class are open.
cdef float64_t bound_loss(
    TotalProblem problem, const Belief* state, intp_t n_classes,
    float64_t open_bits, const Segment* segments, intp_t n, intp_t left_out,
    float64_t left,
) noexcept nogil
