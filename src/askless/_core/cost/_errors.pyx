"""Expect errors: a leaf that was never wrong on six rows will be wrong some day.

Two definitions: the exact upper limit of a binomial proportion, and the approximation
in the program of C4.5, which that learner is pruned by. This module must not know what
a mistake costs.
"""

from libc.math cimport INFINITY, exp, fabs, lgamma, log, log1p, sqrt
from libc.string cimport memcpy

import numpy as np

from askless._core.base._types cimport float64_t, intp_t, uint64_t

cdef enum:
    # Powers of two; a slot is overwritten by whatever comes to it next.
    FEW_SLOTS = 256
    MOST_SLOTS = 16384
    MAX_STEPS = 200

# Deviations of the normal distribution at some confidences, as in the program of C4.5.
cdef float64_t[9] CONFIDENCES = [0, 0.001, 0.005, 0.01, 0.05, 0.1, 0.2, 0.4, 1]
cdef float64_t[9] DEVIATIONS = [4, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0]


cdef float64_t continue_fraction(
    float64_t a, float64_t b, float64_t x
) noexcept nogil:
    """Return the continued fraction of the incomplete beta function, by Lentz."""
    cdef:
        float64_t tiny = 1e-300
        float64_t c = 1.0
        float64_t d = 1.0 - (a + b) * x / (a + 1.0)
        float64_t h, k, change
        intp_t i
    if fabs(d) < tiny:
        d = tiny
    d = 1.0 / d
    h = d
    for i in range(1, 10 * MAX_STEPS):
        k = i * (b - i) * x / ((a + 2 * i - 1.0) * (a + 2 * i))
        d = 1.0 + k * d
        c = 1.0 + k / c
        if fabs(d) < tiny:
            d = tiny
        if fabs(c) < tiny:
            c = tiny
        d = 1.0 / d
        h *= d * c
        k = -(a + i) * (a + b + i) * x / ((a + 2 * i) * (a + 2 * i + 1.0))
        d = 1.0 + k * d
        c = 1.0 + k / c
        if fabs(d) < tiny:
            d = tiny
        if fabs(c) < tiny:
            c = tiny
        d = 1.0 / d
        change = d * c
        h *= change
        if fabs(change - 1.0) < 1e-15:
            break
    return h


cdef float64_t share_below(
    float64_t a, float64_t b, float64_t log_beta, float64_t x
) noexcept nogil:
    """Return the regularised incomplete beta function."""
    cdef float64_t front = exp(a * log(x) + b * log1p(-x) - log_beta)
    if x < (a + 1.0) / (a + b + 2.0):
        return front * continue_fraction(a, b, x) / a
    return 1.0 - front * continue_fraction(b, a, 1.0 - x) / b


cdef float64_t expect_errors(
    float64_t m, float64_t s, float64_t confidence
) noexcept nogil:
    cdef:
        float64_t a, b, log_beta, target, low = 0.0, high = 1.0, p, off, slope, step
        intp_t _i
    if m <= 0:
        return 0.0
    if s >= m:
        return m
    if s <= 0:
        return m * (1.0 - exp(log(confidence) / m))
    a = s + 1.0
    b = m - s
    log_beta = lgamma(a) + lgamma(b) - lgamma(a + b)
    target = 1.0 - confidence
    # Newton's steps from the mean, kept inside a bracket that always holds the root.
    p = a / (a + b)
    for _i in range(MAX_STEPS):
        off = share_below(a, b, log_beta, p) - target
        if off > 0:
            high = p
        else:
            low = p
        slope = exp((a - 1.0) * log(p) + (b - 1.0) * log1p(-p) - log_beta)
        step = off / slope if slope > 0 else 0.0
        if slope <= 0 or p - step <= low or p - step >= high:
            step = p - 0.5 * (low + high)
        p -= step
        if fabs(step) <= 1e-15 * p:
            break
    return m * p


cdef float64_t expect_errors_c45(
    float64_t m, float64_t s, float64_t confidence
) noexcept nogil:
    cdef:
        intp_t i = 1
        float64_t z, c, none, one
    if m <= 0:
        return 0.0
    if s < 1e-6:
        return m * (1.0 - exp(log(confidence) / m))
    if s < 0.9999:
        none = m * (1.0 - exp(log(confidence) / m))
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
