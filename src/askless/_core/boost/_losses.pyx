"""The log loss of boosted sums, and its derivatives. Sums are log-odds.

With one sum there are two classes, else one for each sum. This module must not know
trees.
"""

from libc.math cimport exp, fabs, log, log1p, sqrt

from askless._core.base._types cimport float64_t, int32_t, intp_t


def write_derivatives(
    const float64_t[:, ::1] sums,
    const int32_t[::1] class_ids,
    const float64_t[::1] weights,
    float64_t[:, ::1] out,
):
    """Write the first and then the second derivatives of each row's loss by each sum.

    Those of several classes are multiplied by K / (K - 1), as if each were told by how
    far it is from the others.
    """
    with nogil:
        if sums.shape[1] == 1:
            derive_logit(sums, class_ids, weights, out)
        else:
            derive_softmax(sums, class_ids, weights, out)


cdef void derive_logit(
    const float64_t[:, ::1] sums,
    const int32_t[::1] class_ids,
    const float64_t[::1] weights,
    float64_t[:, ::1] out,
) noexcept nogil:
    cdef:
        intp_t i
        float64_t share
    for i in range(sums.shape[0]):
        share = 1.0 / (1.0 + exp(-sums[i, 0]))
        out[i, 0] = (weights[i] * (share - class_ids[i]))
        out[i, 1] = (weights[i] * share * (1.0 - share))


cdef void derive_softmax(
    const float64_t[:, ::1] sums,
    const int32_t[::1] class_ids,
    const float64_t[::1] weights,
    float64_t[:, ::1] out,
) noexcept nogil:
    cdef:
        intp_t i
        int32_t k, n = <int32_t>sums.shape[1]
        float64_t most, total, share, factor = n / (n - 1.0)
    for i in range(sums.shape[0]):
        most = largest(&sums[i, 0], n)
        total = 0.0
        for k in range(n):
            share = exp(sums[i, k] - most)
            out[i, k] = share
            total += share
        for k in range(n):
            share = out[i, k] / total
            out[i, k] = (weights[i] * (share - (class_ids[i] == k)))
            out[i, n + k] = (weights[i] * factor * share * (1.0 - share))


cdef inline float64_t largest(const float64_t* sums, int32_t n) noexcept nogil:
    cdef:
        float64_t most = sums[0]
        int32_t k
    for k in range(1, n):
        if sums[k] > most:
            most = sums[k]
    return most


def write_charges(
    const float64_t[:, ::1] derivatives,
    const float64_t[::1] weights,
    float64_t[::1] out,
):
    """Write what each row counts when it is charged: the less, the surer it is.

    A row that is sure stops before it buys what later trees ask for. It counts as the
    square root of how open it is: 1 - sum of squared shares, over the most that can be.
    Second derivatives add up to that times its weight, but for two classes to a quarter.
    """
    cdef:
        intp_t i
        int32_t k, n = <int32_t>derivatives.shape[1] // 2
        float64_t factor = 4.0 if n == 1 else 1.0, open_weight
    with nogil:
        for i in range(derivatives.shape[0]):
            open_weight = 0.0
            for k in range(n, 2 * n):
                open_weight += derivatives[i, k]
            out[i] = sqrt(weights[i] * factor * open_weight)


def log_loss(
    const float64_t[:, ::1] sums,
    const int32_t[::1] class_ids,
    const float64_t[::1] weights,
):
    """Return the mean log loss of rows, by their weights."""
    cdef:
        float64_t total = 0.0, weight = 0.0
        intp_t i
    with nogil:
        for i in range(sums.shape[0]):
            weight += weights[i]
            total += weights[i] * loss_of(
                &sums[i, 0], <int32_t>sums.shape[1], class_ids[i]
            )
    return total / weight if weight > 0.0 else 0.0


cdef inline float64_t loss_of(
    const float64_t* sums, int32_t n, int32_t class_id
) noexcept nogil:
    cdef:
        float64_t most, total = 0.0
        int32_t k
    if n == 1:
        most = sums[0] if class_id == 0 else -sums[0]
        return (most if most > 0.0 else 0.0) + log1p(exp(-fabs(most)))
    most = largest(sums, n)
    for k in range(n):
        total += exp(sums[k] - most)
    return log(total) + most - sums[class_id]
