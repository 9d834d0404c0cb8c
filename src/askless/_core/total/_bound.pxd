"""Contract of the bound by information.

No policy learns more about the case by a test than the chance of asking it times the
test's capacity, nor more than the test would tell now: tests are independent given the
case, so that they tell less the more is known. The cheapest way to so many bits is
therefore a list of segments, cheapest bits first. What stays open about the class is
priced by Fano's inequality.
"""

from askless._core.base._types cimport float64_t, int32_t, intp_t
from askless._core.total._problem cimport Belief, TotalProblem


# Bits that a test can tell at most, at the least price of a bit.
cdef struct Segment:
    float64_t rate
    float64_t bits
    int32_t test


# The least loss of a state from which so many bits of the class are open.
cdef float64_t bound_loss(
    TotalProblem problem, const Belief* state, intp_t n_classes,
    float64_t open_bits, const Segment* segments, intp_t n, intp_t left_out,
    float64_t left,
) noexcept nogil
