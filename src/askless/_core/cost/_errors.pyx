"""Expect errors: a leaf that was never wrong on six rows will be wrong some day.

Two definitions: the exact upper limit of a binomial proportion, and the approximation
in the program of C4.5, which that learner is pruned by. This module must not know what
a mistake costs.
"""

from libc.math cimport INFINITY, exp, log, sqrt
from libc.string cimport memcpy

import numpy as np

from scipy.special.cython_special cimport betaincinv

from askless._core.base._types cimport float64_t, intp_t, uint64_t

cdef enum:
    # Powers of two; a slot is overwritten by whatever comes to it next.
    FEW_SLOTS = 256
    MOST_SLOTS = 16384

# Deviations of the normal distribution at some confidences, as in the program of C4.5.
cdef float64_t[9] CONFIDENCES = [0, 0.001, 0.005, 0.01, 0.05, 0.1, 0.2, 0.4, 1]
cdef float64_t[9] DEVIATIONS = [4, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0]


cdef float64_t expect_errors(
    float64_t m, float64_t s, float64_t confidence
) noexcept nogil:
    if m <= 0:
        return 0.0
    if s >= m:
        return m
    if s <= 0:
        return expect_of_none(m, confidence)
    # P(Binomial(m, p) <= s) is 1 minus the incomplete beta function of s + 1 and m - s.
    return m * betaincinv(s + 1.0, m - s, 1.0 - confidence)


cdef inline float64_t expect_of_none(float64_t m, float64_t confidence) noexcept nogil:
    """Return the errors to expect of m rows of which none was wrong."""
    return m * (1.0 - exp(log(confidence) / m))


cdef float64_t expect_errors_c45(
    float64_t m, float64_t s, float64_t confidence
) noexcept nogil:
    cdef:
        intp_t i = 1
        float64_t z, c, none, one
    if m <= 0:
        return 0.0
    if s < 1e-6:
        return expect_of_none(m, confidence)
    if s < 0.9999:
        none = expect_of_none(m, confidence)
        one = expect_errors_c45(m, 1.0, confidence)
        return none + s * (one - none)
    if s + 0.5 >= m:
        return s + 0.67 * (m - s)
    while confidence > CONFIDENCES[i]:
        i += 1
    z = DEVIATIONS[i - 1] + (DEVIATIONS[i] - DEVIATIONS[i - 1]) * (
        (confidence - CONFIDENCES[i - 1]) / (CONFIDENCES[i] - CONFIDENCES[i - 1])
    )
    c = z * z
    s += 0.5
    return m * (s + c / 2 + sqrt(c * (s * (1.0 - s / m) + c / 4))) / (m + c)


cdef class ErrorTable:
    """Expected errors at one confidence, each pair of counts worked out about once."""

    def __init__(
        self, float64_t confidence, bint is_c45=False, float64_t weight=INFINITY
    ):
        cdef intp_t n_slots = FEW_SLOTS
        # A short growth on few rows must not pay for a long table.
        while n_slots < MOST_SLOTS and n_slots < 8 * weight:
            n_slots *= 2
        self.mask = n_slots - 1
        self.confidence = confidence
        self.is_c45 = is_c45
        self.rows = np.full(n_slots, -1.0)
        self.wrong = np.zeros(n_slots)
        self.value = np.zeros(n_slots)

    cdef void forget(self, float64_t confidence) noexcept nogil:
        cdef intp_t slot
        self.confidence = confidence
        for slot in range(self.mask + 1):
            self.rows[slot] = -1.0

    cdef float64_t expect(self, float64_t m, float64_t s) noexcept nogil:
        cdef:
            uint64_t a, b
            intp_t slot
            float64_t value
        memcpy(&a, &m, 8)
        memcpy(&b, &s, 8)
        a = (a ^ (b * <uint64_t> 0x9E3779B97F4A7C15u)) * <uint64_t> 0xBF58476D1CE4E5B9u
        slot = <intp_t> ((a ^ (a >> 29)) & <uint64_t> self.mask)
        if self.rows[slot] == m and self.wrong[slot] == s:
            return self.value[slot]
        if self.is_c45:
            value = expect_errors_c45(m, s, self.confidence)
        else:
            value = expect_errors(m, s, self.confidence)
        self.rows[slot] = m
        self.wrong[slot] = s
        self.value[slot] = value
        return value

    def expected(self, float64_t m, float64_t s):
        """Return the errors to expect of m rows of which s were wrong."""
        return self.expect(m, s)


def expected_errors(float64_t m, float64_t s, float64_t confidence):
    """Return m times the upper limit of the error rate of s wrong rows in m."""
    return expect_errors(m, s, confidence)


def expected_errors_c45(float64_t m, float64_t s, float64_t confidence):
    """Return the same by the approximation in the program of C4.5."""
    return expect_errors_c45(m, s, confidence)
