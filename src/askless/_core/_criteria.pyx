"""Score a split from the class weights of its parts and the price in context.

A criterion must not know where the weights come from, nor what is done with its score.
"""

from libc.math cimport INFINITY, fabs

import numpy as np

from askless._core._types cimport float64_t, int32_t, intp_t


# Scores closer than this, relatively, are a tie: rounding must not decide.
cdef float64_t TOLERANCE = 1e-12


cdef bint is_better(
    Score score, intp_t test, Score best, intp_t best_test
) noexcept nogil:
    """Return whether a test's score beats the best so far.

    The tie rule: smaller ratio; if both ratios are zero, larger reduction; then the
    smaller index of the test.
    """
    cdef float64_t difference
    if score.ratio == INFINITY:
        return False
    if best.ratio == INFINITY:
        return True
    difference = score.ratio - best.ratio
    if fabs(difference) > TOLERANCE * best.ratio:
        return difference < 0
    if score.ratio == 0 and best.ratio == 0:
        difference = score.reduction - best.reduction
        if fabs(difference) > TOLERANCE * fabs(best.reduction):
            return difference > 0
    return test < best_test


cdef class Criterion:
    """Base of all criteria."""

    cdef float64_t impurity(
        self,
        const float64_t* class_weights,
        const int32_t* classes,
        intp_t n_classes,
    ) noexcept nogil:
        return 0.0

    cdef Score combine(
        self,
        float64_t whole,
        const float64_t* parts,
        const float64_t* weights,
        const float64_t* prices,
        intp_t n_parts,
    ) noexcept nogil:
        return Score(INFINITY, 0.0)

    cdef float64_t least_ratio(
        self, float64_t reduction, float64_t price
    ) noexcept nogil:
        return 0.0


cdef class MinimaxPairs(Criterion):
    """Pairs of cases of different class, and the price of the worst reduction.

    The impurity of class weights n_1 .. n_k is the sum of n_i * n_j over the unordered
    pairs of classes. A test scores the largest, over its outcomes, of its price divided
    by the pairs that the outcome removes.
    """

    def __cinit__(self):
        self.best_cut_at_crossing = True

    cdef float64_t impurity(
        self,
        const float64_t* class_weights,
        const int32_t* classes,
        intp_t n_classes,
    ) noexcept nogil:
        cdef:
            float64_t total = 0.0
            float64_t squares = 0.0
            intp_t k
        if n_classes == 2:
            return class_weights[0] * class_weights[1]
        for k in range(n_classes):
            total += class_weights[k]
            squares += class_weights[k] * class_weights[k]
        # With weights that are not integers a pure set may leave a rounding error.
        return max(0.0, (total * total - squares) / 2)

    cdef Score combine(
        self,
        float64_t whole,
        const float64_t* parts,
        const float64_t* weights,
        const float64_t* prices,
        intp_t n_parts,
    ) noexcept nogil:
        cdef:
            Score score = Score(0.0, INFINITY)
            float64_t reduction
            intp_t i
        for i in range(n_parts):
            reduction = whole - parts[i]
            if reduction <= TOLERANCE * whole:
                return Score(INFINITY, 0.0)
            score.ratio = max(score.ratio, prices[i] / reduction)
            score.reduction = min(score.reduction, reduction)
        return score

    cdef float64_t least_ratio(
        self, float64_t reduction, float64_t price
    ) noexcept nogil:
        # Slightly less than the quotient, so that a tie is never cut off.
        return price / reduction * (1 - 4 * TOLERANCE) if reduction > 0 else INFINITY


def measure_impurity(Criterion criterion not None,
                     const float64_t[::1] class_weights not None):
    """Return the impurity of class weights; the door to a criterion for tests."""
    cdef int32_t[::1] classes = np.arange(class_weights.shape[0], dtype=np.int32)
    if class_weights.shape[0] == 0:
        return 0.0
    return criterion.impurity(&class_weights[0], &classes[0], class_weights.shape[0])


def score_split(Criterion criterion not None,
                const float64_t[:, ::1] part_weights not None,
                const float64_t[::1] prices not None):
    """Return (ratio, reduction) of a split given the class weights of its parts."""
    cdef:
        intp_t n_parts = part_weights.shape[0]
        intp_t n_classes = part_weights.shape[1]
        int32_t[::1] classes = np.arange(n_classes, dtype=np.int32)
        float64_t[::1] whole = np.sum(part_weights, axis=0)
        float64_t[::1] sizes = np.sum(part_weights, axis=1)
        float64_t[::1] parts = np.zeros(n_parts)
        Score score
        intp_t i
    for i in range(n_parts):
        parts[i] = criterion.impurity(&part_weights[i, 0], &classes[0], n_classes)
    score = criterion.combine(
        criterion.impurity(&whole[0], &classes[0], n_classes),
        &parts[0], &sizes[0], &prices[0], n_parts,
    )
    return score.ratio, score.reduction
