"""Where a tree stops to grow, as kernels read it; see GrowthLimits in _options."""

from askless._core.base._types cimport float64_t, intp_t


cdef struct Limits:
    intp_t max_depth
    intp_t max_nodes
    float64_t max_impurity
    float64_t min_weight
    float64_t budget  # INFINITY: none


cdef inline Limits read_limits(limits):
    """Return the limits of a GrowthLimits."""
    return Limits(
        2**31 if limits.max_depth is None else limits.max_depth,
        limits.max_nodes, limits.max_impurity, limits.min_weight, limits.budget,
    )


cdef inline bint is_leaf(
    const Limits* limits, intp_t depth, intp_t n_classes, float64_t impurity,
    float64_t weight,
) noexcept nogil:
    """Return whether a node of these classes and this weight must not be split."""
    return (
        n_classes < 2
        or impurity <= limits.max_impurity
        or depth >= limits.max_depth
        or weight < limits.min_weight
    )
