"""Contract of the expected number of errors of a leaf, from what it was seen to do."""

from askless._core.base._types cimport float64_t, intp_t


# Errors to expect of m rows of which s were wrong: m times the upper limit of the
# error rate, the p with P(Binomial(m, p) <= s) = confidence. m and s need not be whole.
cdef float64_t expect_errors(
    float64_t m, float64_t s, float64_t confidence
) noexcept nogil

# The same by the approximation of C4.5's program, with its table of deviations.
cdef float64_t expect_errors_c45(
    float64_t m, float64_t s, float64_t confidence
) noexcept nogil


# Remembers what was worked out; one for each thread. It saves time and changes nothing.
cdef class ErrorTable:
    cdef readonly float64_t confidence
    cdef readonly bint is_c45
    cdef intp_t mask             # n_slots - 1
    cdef float64_t[::1] rows     # (n_slots,) the m of each slot; -1: empty
    cdef float64_t[::1] wrong    # (n_slots,) its s
    cdef float64_t[::1] value

    cdef float64_t expect(self, float64_t m, float64_t s) noexcept nogil

    # Begin again at another confidence.
    cdef void forget(self, float64_t confidence) noexcept nogil
