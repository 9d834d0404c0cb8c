"""Bound the least total cost of a state by the price of information."""

from libc.math cimport log2

from askless._core.base._types cimport float64_t, intp_t
from askless._core.total._problem cimport Belief, TotalProblem


cdef float64_t least_loss(
    TotalProblem problem, intp_t n_classes, float64_t bits
) noexcept nogil:
    """Return the least loss of a unit of weight with so many bits open.

    The table is of a convex function; beyond a point of it the function lies above the
    line through this point and the one before.
    """
    cdef:
        intp_t n_steps = problem.wrong.shape[1] - 1
        float64_t place = bits / log2(<float64_t> n_classes) * n_steps
        intp_t step
        const float64_t* wrong = &problem.wrong[n_classes, 0]
    if place <= 1.0:
        return 0.0
    step = <intp_t> place
    if step >= n_steps:
        return wrong[n_steps]
    return wrong[step] + (wrong[step] - wrong[step - 1]) * (place - step)


cdef float64_t bound_loss(
    TotalProblem problem, const Belief* state, intp_t n_classes,
    float64_t open_bits, const Segment* segments, intp_t n, intp_t left_out,
    float64_t left,
) noexcept nogil:
    cdef:
        float64_t bits = open_bits / state.total
        float64_t paid = 0.0, bought, goal, slack = 0.0, rate
        intp_t s
    if n_classes < 2 or bits <= 0:
        return 0.0
    for s in range(n):
        if segments[s].test == left_out:
            continue
        goal = problem.enough[n_classes, segments[s].number]
        slack = max(slack, problem.slack[n_classes, segments[s].number])
        if bits <= goal:
            break
        rate = problem.rate[segments[s].number]
        bought = min(segments[s].bits / state.total, bits - goal)
        if rate * bought > left - paid:
            # A path has no more to spend, so neither have all paths on average.
            if left > paid:
                bits -= (left - paid) / rate
                paid = left
            break
        paid += rate * bought
        bits -= bought
        if bits <= goal:
            break
    return state.total * max(
        0.0,
        problem.cost_weight * paid + least_loss(problem, n_classes, bits) - slack,
    )
