"""Contract of a criterion: how good a split is, from class weights and prices alone.

A new criterion is a subclass with these methods and one line in the registry of
``askless.solve`` or ``askless.learn``.
"""

from askless._core.base._types cimport float64_t, int32_t, intp_t


cdef struct Score:
    float64_t ratio      # smaller is better; infinity: the split does not help
    float64_t reduction  # larger is better; decides between two ratios of zero


# A set of cases, as a criterion sees it.
cdef struct ClassWeights:
    const float64_t* weights  # (n,) of the classes present
    const int32_t* classes    # (n,) which classes they are, ascending
    intp_t n


# What a split makes of a set.
cdef struct Parts:
    const float64_t* impurities  # (n,)
    const float64_t* weights     # (n,)
    const float64_t* prices      # (n,) what the test charges in that part
    intp_t n


cdef class Criterion:
    # True iff impurity never rises when cases leave, and the score of a two-way split
    # gets better as the larger of its two impurities falls. The best cut of an ordered
    # test is then beside the crossing of the two impurities and need not be searched.
    cdef readonly bint best_cut_at_crossing

    # How mixed a set of cases is; never negative.
    cdef float64_t impurity(self, const ClassWeights* cases) noexcept nogil

    # How good it is to turn a set of impurity `whole` into parts.
    cdef Score combine(self, float64_t whole, const Parts* parts) noexcept nogil

    # The least ratio that a split can have which charges `price` and takes away no more
    # than `reduction`. A bound: it may save time and never changes an answer; zero is
    # always valid.
    cdef float64_t least_ratio(
        self, float64_t reduction, float64_t price
    ) noexcept nogil


cdef bint is_better(
    Score score, intp_t test, Score best, intp_t best_test
) noexcept nogil
