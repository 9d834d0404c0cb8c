"""Turn sums into probabilities and numbers with the functions of the C library.

LightGBM and XGBoost call these functions for one number at a time. numpy works out the
same functions with vector instructions where the processor has some, and then differs
in the last bit; so what must equal these libraries' predictions is worked out here, step
by step as they do it: LightGBM in double precision, XGBoost in single precision.

This module must not know what the sums are sums of.
"""

from libc.math cimport exp, expf, log, logf

import numpy as np

from askless._core.base._types cimport float32_t, float64_t, intp_t


# XGBoost keeps its sigmoid from dividing by zero, and its exponential finite.
cdef float32_t TINY = 1e-16
cdef float32_t MOST_EXPONENT = 88.7


def exp_each(const float64_t[::1] scores not None, bint is_single=False):
    """Return e to the power of each score."""
    cdef:
        intp_t i
        float64_t[::1] out = np.empty(scores.shape[0])
    with nogil:
        for i in range(scores.shape[0]):
            if is_single:
                out[i] = expf(<float32_t> scores[i])
            else:
                out[i] = exp(scores[i])
    return np.asarray(out)


def log_each(const float64_t[::1] values not None, bint is_single=False):
    """Return the natural logarithm of each value."""
    cdef:
        intp_t i
        float64_t[::1] out = np.empty(values.shape[0])
    with nogil:
        for i in range(values.shape[0]):
            if is_single:
                out[i] = logf(<float32_t> values[i])
            else:
                out[i] = log(values[i])
    return np.asarray(out)


cdef inline float32_t sigmoid_single(float32_t score) noexcept nogil:
    cdef float32_t exponent = -score
    if exponent > MOST_EXPONENT:
        exponent = MOST_EXPONENT
    return (<float32_t> 1.0) / (expf(exponent) + <float32_t> 1.0 + TINY)


def sigmoid_each(
    const float64_t[::1] scores not None,
    float64_t slope=1.0,    # 1 in single precision, where it is not looked at
    bint is_single=False,
):
    """Return the probability that each score, log-odds by ``1 / slope``, stands for."""
    cdef:
        intp_t i
        float64_t[::1] out = np.empty(scores.shape[0])
    with nogil:
        for i in range(scores.shape[0]):
            if is_single:
                out[i] = sigmoid_single(<float32_t> scores[i])
            else:
                out[i] = 1.0 / (1.0 + exp(-slope * scores[i]))
    return np.asarray(out)


def softmax_rows(const float64_t[:, ::1] scores not None, bint is_single=False):
    """Return the probability of each class, from a row of scores; rows have a class.

    In single precision the total is added in double precision and then rounded.
    """
    cdef:
        intp_t n_rows = scores.shape[0]
        intp_t n_classes = scores.shape[1]
        intp_t row, q
        float64_t largest, total
        float64_t[:, ::1] out = np.empty((n_rows, n_classes))
    with nogil:
        for row in range(n_rows):
            largest = scores[row, 0]
            for q in range(1, n_classes):
                largest = max(largest, scores[row, q])
            total = 0.0
            for q in range(n_classes):
                if is_single:
                    out[row, q] = expf(
                        <float32_t> scores[row, q] - <float32_t> largest
                    )
                else:
                    out[row, q] = exp(scores[row, q] - largest)
                total += out[row, q]
            for q in range(n_classes):
                if is_single:
                    out[row, q] = <float32_t> out[row, q] / <float32_t> total
                else:
                    out[row, q] /= total
    return np.asarray(out)
