"""Contract of what is searched: a table with unknown outcomes, and when to stop.

All searches over one task share it; it is never written once it is made.
"""

from askless._core.base._types cimport float64_t, int32_t, intp_t, uint64_t
from askless._core.price._prices cimport Prices
from askless._core.unknown._table cimport UnknownTable


# An outcome that was seen once is seen again. Which tests were done is not told by the
# cases left, except that a test that is sure to tell two of them apart cannot have been
# done. The others may have been, and there are three ways to deal with that; `Mode` for
# callers in Python.
cdef enum:
    # Buy only tests that are sure to tell something. What is found is a policy.
    SURE_ONLY = 0
    # Draw unknown outcomes afresh every time. What is proved is a lower bound; if the
    # best policy repeats no test on any path, it is the best policy in truth.
    FRESH_DRAWS = 1
    # Keep the tests done that matter as a part of the state. Exact, and slower.
    TRACKED = 2


cdef class UnknownProblem:
    cdef readonly UnknownTable table
    cdef readonly bint is_worst
    cdef const float64_t[::1] price    # (n_tests,) the least that each test may charge
    cdef float64_t cheapest            # of all tests
    cdef float64_t dearest
    cdef Prices prices
    cdef bint has_context              # prices differ by outcome or by open groups
    cdef const uint64_t[:, ::1] near   # (n_cases, n_words) bits of cases
    cdef bint has_near
    cdef bint stops_near
    cdef const int32_t[::1] block      # (n_cases,)
    cdef bint has_own_blocks           # every case is a block of its own
    # Least price of a test that is sure to tell two cases apart.
    cdef const float64_t[:, ::1] pair_price
    cdef bint has_pairs                # and whether that is all there is to know
    # Bits of the tests that may rule out y if x is true: (n_cases, n_cases, n_words).
    cdef const uint64_t[:, :, ::1] rules
    cdef bint can_certify
