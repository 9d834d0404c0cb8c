"""Score tests by weight: the bits they tell, the weight and the pairs they rule out."""

from askless._core.base._types cimport float64_t, intp_t
from askless._core.unknown._table cimport UnknownTable, chance_of, plogp


cdef float64_t bits_of_cases(UnknownTable table, const View* view) noexcept nogil:
    """Return the bits that a test tells about the case."""
    cdef:
        intp_t j, code
        float64_t c, logs = 0.0, seen_logs = 0.0, unseen = 1.0
        float64_t share = view.unknown_weight / view.total
    for j in range(view.n_met):
        code = view.met[j]
        if code != view.unknown:
            c = chance_of(table, view.test, code)
            logs += plogp(
                (view.parts[code].weight + c * view.unknown_weight) / view.total
            )
            seen_logs += plogp(c)
            unseen -= c
    logs += draw_logs(share, table.sums[view.test, 2] - seen_logs, unseen)
    # What draws tell by themselves is not about the case.
    return -logs + share * table.sums[view.test, 2]


cdef float64_t bits_of_classes(
    UnknownTable table, const View* view, const Runs* runs
) noexcept nogil:
    """Return the bits that a test tells about the class."""
    cdef:
        intp_t j, code
        float64_t c, logs = 0.0, unseen = 1.0
        float64_t unseen_logs = table.sums[view.test, 2]
    for j in range(view.n_met):
        code = view.met[j]
        if code != view.unknown:
            c = chance_of(table, view.test, code)
            logs += plogp(
                (view.parts[code].weight + c * view.unknown_weight) / view.total
            )
            unseen -= c
            unseen_logs -= plogp(c)
    logs += draw_logs(view.unknown_weight / view.total, unseen_logs, unseen)
    return runs.joint - logs


cdef float64_t score_gbs(UnknownTable table, const View* view) noexcept nogil:
    """Return the weight that a test rules out on average."""
    cdef:
        intp_t j, code
        float64_t c, m, left = 0.0, seen = 0.0
    for j in range(view.n_met):
        code = view.met[j]
        if code != view.unknown:
            c = chance_of(table, view.test, code)
            m = view.parts[code].weight + c * view.unknown_weight
            left += m * m
            seen += c * c
    left += view.unknown_weight * view.unknown_weight * max(
        0.0, table.sums[view.test, 0] - seen
    )
    return view.total - left / view.total


cdef float64_t edges_of_cases(UnknownTable table, const View* view) noexcept nogil:
    """Return the pairs of cases, by weight, that a test cuts on average."""
    cdef:
        intp_t j, code
        float64_t c, m, squares = 0.0, left = 0.0, seen = 0.0
        float64_t unknown_squares = view.parts[view.unknown].extra
    for j in range(view.n_met):
        code = view.met[j]
        if code != view.unknown:
            c = chance_of(table, view.test, code)
            m = view.parts[code].weight + c * view.unknown_weight
            squares += view.parts[code].extra
            left += m * (
                m * m - view.parts[code].extra - c * c * unknown_squares
            ) / 2
            seen += c * c * c
    squares += unknown_squares
    return edges_cut(table, view, squares, unknown_squares, left, seen)


cdef float64_t edges_of_classes(
    UnknownTable table, const View* view, const Runs* runs
) noexcept nogil:
    """Return the pairs of different class, by weight, that a test cuts on average."""
    cdef:
        intp_t j, code
        float64_t c, m, left = 0.0, seen = 0.0
    for j in range(view.n_met):
        code = view.met[j]
        if code != view.unknown:
            c = chance_of(table, view.test, code)
            m = view.parts[code].weight + c * view.unknown_weight
            left += m * (
                m * m - view.parts[code].extra - c * c * runs.unknown_squares
            ) / 2
            seen += c * c * c
    return edges_cut(table, view, runs.squares, runs.unknown_squares, left, seen)


cdef inline float64_t edges_cut(
    UnknownTable table, const View* view, float64_t squares,
    float64_t unknown_squares, float64_t left, float64_t seen,
) noexcept nogil:
    """Return all pairs less those that are left, those of unseen levels included."""
    cdef float64_t w = view.unknown_weight
    left += max(0.0, table.sums[view.test, 1] - seen) * w * (
        w * w - unknown_squares
    ) / 2
    return (view.total * view.total - squares) / 2 - left / view.total
