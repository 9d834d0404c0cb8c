"""Contract of scores by weight: bits, weight and pairs that a test takes away."""

from libc.math cimport log2

from askless._core.base._types cimport float64_t
from askless._core.unknown._parts cimport View
from askless._core.unknown._table cimport UnknownTable


# What the runs of cases of one class add up to.
cdef struct Runs:
    float64_t known_gain       # share of opponents ruled out where outcomes are known
    float64_t unknown_gain     # and where they are unknown, on average
    float64_t expected_gone    # known cases that the draw of an unknown one rules out
    float64_t squares          # of the weights of classes
    float64_t unknown_squares  # of the weights of their unknown cases
    float64_t joint            # sum of p log p of outcome and class, less that of class


# Of a test whose cases are counted, and whose weight is above 0.
cdef float64_t bits_of_cases(UnknownTable table, const View* view) noexcept nogil
cdef float64_t bits_of_classes(
    UnknownTable table, const View* view, const Runs* runs
) noexcept nogil
cdef float64_t score_gbs(UnknownTable table, const View* view) noexcept nogil
cdef float64_t edges_of_cases(UnknownTable table, const View* view) noexcept nogil
cdef float64_t edges_of_classes(
    UnknownTable table, const View* view, const Runs* runs
) noexcept nogil


cdef inline float64_t draw_logs(
    float64_t weight, float64_t logs, float64_t chance
) noexcept nogil:
    """Return the sum of p log p over levels that only unknown outcomes show.

    `logs` is the sum of c log c of these levels, `chance` that of c.
    """
    if weight <= 0 or chance <= 1e-15:
        return 0.0
    return weight * (logs + chance * log2(weight))
