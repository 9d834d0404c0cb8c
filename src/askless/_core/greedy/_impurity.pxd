"""Impurities and ties in C, which the criteria and bagged trees share."""

from askless._core.base._types cimport float64_t, intp_t


cdef extern from "askless/_core/greedy/impurity.h" nogil:
    const float64_t SCORE_TOLERANCE
    const float64_t BOUND_SLACK
    float64_t pairs_from_sums(float64_t total, float64_t squares) noexcept
    float64_t count_pairs(const float64_t* weights, intp_t n) noexcept
    float64_t count_pairs_beyond(
        const float64_t* weights, intp_t n, float64_t alpha
    ) noexcept
    # Of whole weights only.
    float64_t mix_whole_weights(
        const float64_t* weights, intp_t n, float64_t alpha
    ) noexcept
