"""Contract of rules: how they score a test in a state, and which test they take.

Every rule scores a test from what it does to the state at hand: how many cases each
outcome would rule out, and how likely it is. One pass over a column of codes gives all
of it, so a decision costs the cases left times the tests.
"""

from askless._core.base._types cimport float64_t, intp_t, uint8_t
from askless._core.unknown._parts cimport Scratch, Weighed
from askless._core.unknown._table cimport UnknownTable


# The score of a test by a rule; `effect` gets what the test can do.
cdef float64_t score_test(
    UnknownTable table, intp_t test, const Weighed* state, int rule, Scratch* scratch,
    uint8_t* effect,
) noexcept nogil

# The test of the largest score for its price, the first on a tie. Free tests come
# first, by score. If nothing scores, the first test that is sure to tell something; -1
# if no test is.
cdef intp_t choose_best(
    const float64_t* scores, const float64_t* prices, const uint8_t* effects,
    const uint8_t* is_done, intp_t n_tests,
) noexcept nogil
