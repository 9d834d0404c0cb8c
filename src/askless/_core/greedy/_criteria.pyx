"""Score a split from the class weights of its parts and the price in context.

A criterion must not know where the weights come from, nor what is done with its score.
"""

from libc.math cimport INFINITY, fabs

import numpy as np

from askless._core.greedy._impurity cimport (
    BOUND_SLACK, SCORE_TOLERANCE, count_pairs, count_pairs_beyond, pairs_from_sums,
)
from askless._core.base._types cimport float64_t, int32_t, intp_t


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
    if fabs(difference) > SCORE_TOLERANCE * best.ratio:
        return difference < 0
    if score.ratio == 0 and best.ratio == 0:
        difference = score.reduction - best.reduction
        if fabs(difference) > SCORE_TOLERANCE * fabs(best.reduction):
            return difference > 0
    return test < best_test


cdef class Criterion:
    """Base of all criteria."""

    cdef float64_t impurity(self, const ClassWeights* cases) noexcept nogil:
        return 0.0

    cdef Score combine(self, float64_t whole, const Parts* parts) noexcept nogil:
        return Score(INFINITY, 0.0)

    cdef float64_t least_ratio(
        self, float64_t reduction, float64_t price
    ) noexcept nogil:
        return 0.0


cdef class ImpurityCriterion(Criterion):
    """The price of what a split takes off an impurity, in its worst part or on average.

    Subclasses give the impurity: never negative, zero on sets of one class, never
    rising when cases leave, and supermodular. By minimax a test scores the largest,
    over its parts, of price divided by reduction; by expectation, its mean price
    divided by its mean reduction.
    """

    cdef readonly bint is_expected

    def __init__(self, bint is_expected=False):
        self.is_expected = is_expected
        self.best_cut_at_crossing = not is_expected

    cdef Score combine(self, float64_t whole, const Parts* parts) noexcept nogil:
        if self.is_expected:
            return combine_expected(whole, parts)
        return combine_worst(whole, parts)

    cdef float64_t least_ratio(
        self, float64_t reduction, float64_t price
    ) noexcept nogil:
        return price / reduction * BOUND_SLACK if reduction > 0 else INFINITY


cdef Score combine_worst(float64_t whole, const Parts* parts) noexcept nogil:
    cdef:
        Score score = Score(0.0, INFINITY)
        float64_t reduction
        intp_t i
    for i in range(parts.n):
        reduction = whole - parts.impurities[i]
        if reduction <= SCORE_TOLERANCE * whole:
            return Score(INFINITY, 0.0)
        score.ratio = max(score.ratio, parts.prices[i] / reduction)
        score.reduction = min(score.reduction, reduction)
    return score


cdef Score combine_expected(float64_t whole, const Parts* parts) noexcept nogil:
    cdef:
        float64_t total = 0.0, left = 0.0, price = 0.0
        intp_t i
    for i in range(parts.n):
        total += parts.weights[i]
        left += parts.weights[i] * parts.impurities[i]
        price += parts.weights[i] * parts.prices[i]
    if total <= 0 or whole - left / total <= SCORE_TOLERANCE * whole:
        return Score(INFINITY, 0.0)
    return Score(price / (whole * total - left), whole - left / total)


cdef class Pairs(ImpurityCriterion):
    """Pairs of cases of different class: the sum of n_i * n_j over i < j."""

    cdef float64_t impurity(self, const ClassWeights* cases) noexcept nogil:
        return count_pairs(cases.weights, cases.n)


cdef class Powers(ImpurityCriterion):
    """The sum of all weights to a power, less the sum of their powers."""

    cdef readonly int power

    def __init__(self, int power, bint is_expected=False):
        ImpurityCriterion.__init__(self, is_expected)
        self.power = power

    cdef float64_t impurity(self, const ClassWeights* cases) noexcept nogil:
        cdef:
            float64_t total = 0.0
            float64_t powers = 0.0
            intp_t k
        for k in range(cases.n):
            total += cases.weights[k]
            powers += raise_to(cases.weights[k], self.power)
        return max(0.0, raise_to(total, self.power) - powers)


cdef float64_t raise_to(float64_t value, int power) noexcept nogil:
    """Return a whole power by multiplication: exact as long as the result is."""
    cdef:
        float64_t result = 1.0
        int _i
    for _i in range(power):
        result *= value
    return result


cdef class Hinged(ImpurityCriterion):
    """Pairs of what each class has beyond a threshold alpha.

    The sum over i < j of [ [n_i - alpha]+ [n_j - alpha]+ - alpha^2 ]+, by the equation
    of the papers; without the "- alpha^2", by the numbers of their worked example
    (``is_product``).
    """

    cdef readonly float64_t alpha
    cdef readonly bint is_product

    def __init__(self, float64_t alpha, bint is_product=False, bint is_expected=False):
        ImpurityCriterion.__init__(self, is_expected)
        self.alpha = alpha
        self.is_product = is_product

    cdef float64_t impurity(self, const ClassWeights* cases) noexcept nogil:
        cdef:
            float64_t total = 0.0, squares = 0.0, beyond
            intp_t k
        if not self.is_product and self.alpha != 0:
            return count_pairs_beyond(cases.weights, cases.n, self.alpha)
        # Pairs of what is beyond the threshold, in one pass.
        for k in range(cases.n):
            beyond = max(0.0, cases.weights[k] - self.alpha)
            total += beyond
            squares += beyond * beyond
        return pairs_from_sums(total, squares)


cdef class Polynomial(ImpurityCriterion):
    """A sum of products of powers of class weights.

    Term q is coefficients[q] times the product over the classes of the weight to the
    power exponents[q, class]. Whether it is admissible was checked before.
    """

    cdef const float64_t[::1] coefficients   # (n_terms,)
    cdef const int32_t[:, ::1] exponents     # (n_terms, n_classes)

    def __init__(
        self,
        const float64_t[::1] coefficients not None,
        const int32_t[:, ::1] exponents not None,
        bint is_expected=False,
    ):
        ImpurityCriterion.__init__(self, is_expected)
        self.coefficients = coefficients
        self.exponents = exponents

    cdef float64_t impurity(self, const ClassWeights* cases) noexcept nogil:
        cdef:
            float64_t total = 0.0, term
            intp_t q, which, k
        for q in range(self.coefficients.shape[0]):
            term = self.coefficients[q]
            k = 0
            for which in range(self.exponents.shape[1]):
                # The classes present ascend, so one pass over both lists pairs them up.
                while k < cases.n and cases.classes[k] < which:
                    k += 1
                if self.exponents[q, which] == 0:
                    continue
                if k < cases.n and cases.classes[k] == which:
                    term *= raise_to(cases.weights[k], self.exponents[q, which])
                else:
                    term = 0.0
                    break
            total += term
        return total


cdef class WeightRemoved(Criterion):
    """Generalised binary search: the expected weight that an outcome rules out.

    A test scores its price divided by  w - sum of w_i^2 / w,  for the weights w_i of
    its parts. The impurity is only asked whether more than one class is left.
    """

    cdef float64_t impurity(self, const ClassWeights* cases) noexcept nogil:
        cdef:
            float64_t total = 0.0
            intp_t k, n_present = 0
        for k in range(cases.n):
            total += cases.weights[k]
            n_present += cases.weights[k] > 0
        return total if n_present > 1 else 0.0

    cdef Score combine(self, float64_t whole, const Parts* parts) noexcept nogil:
        cdef:
            float64_t total = 0.0, squares = 0.0, price = 0.0, removed
            intp_t i
        for i in range(parts.n):
            total += parts.weights[i]
            squares += parts.weights[i] * parts.weights[i]
            price += parts.weights[i] * parts.prices[i]
        removed = total - squares / total if total > 0 else 0.0
        if removed <= SCORE_TOLERANCE * total:
            return Score(INFINITY, 0.0)
        return Score(price / total / removed, removed)


def measure_impurity(
    Criterion criterion not None, const float64_t[::1] class_weights not None
):
    """Return the impurity of class weights; the door to a criterion for tests."""
    cdef:
        int32_t[::1] classes = np.arange(class_weights.shape[0], dtype=np.int32)
        ClassWeights cases
    if class_weights.shape[0] == 0:
        return 0.0
    cases = ClassWeights(&class_weights[0], &classes[0], class_weights.shape[0])
    return criterion.impurity(&cases)


def score_split(
    Criterion criterion not None,
    const float64_t[:, ::1] part_weights not None,
    const float64_t[::1] prices not None,
):
    """Return (ratio, reduction) of a split given the class weights of its parts."""
    cdef:
        intp_t n_parts = part_weights.shape[0]
        float64_t[::1] sizes = np.sum(part_weights, axis=1)
        float64_t[::1] impurities = np.zeros(n_parts)
        Parts parts = Parts(&impurities[0], &sizes[0], &prices[0], n_parts)
        Score score
        intp_t i
    for i in range(n_parts):
        impurities[i] = measure_impurity(criterion, part_weights[i])
    whole = measure_impurity(criterion, np.sum(part_weights, axis=0))
    score = criterion.combine(whole, &parts)
    return score.ratio, score.reduction
