"""What the rows of a node are charged for a test, in context; asked by every learner.

`due` is 0, or below a delayed test the weight of the rows that reached that test: what
comes below it is bought together with it, for all of them.
"""

from askless._core.base._types cimport float64_t, int32_t, intp_t
from askless._core.price._prices cimport Path


cdef inline bint is_priced_by_outcome(Path path, intp_t test) noexcept nogil:
    """Return whether what a test charges depends on what it will show."""
    return (
        path.prices.has_outcome_prices
        and not path.paid[test]
        and path.prices.outcome_start[test] < path.prices.outcome_start[test + 1]
    )


cdef inline float64_t charge_alike(
    Path path, intp_t test, float64_t weight, float64_t due
) noexcept nogil:
    """Return what a test that is not priced by outcome charges rows of a weight."""
    return path.prices.price(test, -1, &path.paid[0], &path.is_open[0]) * (
        due if due > 0 else weight
    )


cdef inline float64_t charge_by_outcome(
    Path path,
    intp_t test,
    const int32_t* met,        # IN (n_met,) codes
    intp_t n_met,
    const float64_t* weights,  # IN weight of code c at c * stride
    intp_t stride,
) noexcept nogil:
    """Return what a test that is priced by outcome charges rows that were counted."""
    cdef:
        float64_t total = 0.0
        intp_t m
    for m in range(n_met):
        total += weights[met[m] * stride] * path.prices.price(
            test, met[m], &path.paid[0], &path.is_open[0]
        )
    return total


cdef inline float64_t due_below(
    Path path, intp_t test, float64_t weight, float64_t due
) noexcept nogil:
    """Return what is due below a test that is about to be bought."""
    if due <= 0 and path.prices.delayed[test] and not path.paid[test]:
        return weight
    return due
