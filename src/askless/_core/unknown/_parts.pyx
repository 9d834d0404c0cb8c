"""Count the cases of a state by what a test shows for them, and weigh them."""

from libc.stdlib cimport calloc, free

from askless._core.base._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint8_t, uint16_t,
)
from askless._core.unknown._table cimport (
    UnknownTable, chance_of, narrow_column, plogp, wide_column,
)


cdef extern from "askless/_core/unknown/counting.h" nogil:
    void count_few_codes(
        const uint8_t* column, const int32_t* cases, intp_t n,
        const float64_t* weights, int n_codes, int64_t* counts, float64_t* sums,
    )

# Codes below this are counted by a loop without a table of codes that were met.
cdef intp_t FEW = 8


cdef int open_scratch(Scratch* scratch, intp_t most_codes) except -1 nogil:
    scratch.parts = <Part*> calloc(most_codes + 1, sizeof(Part))
    scratch.run = <Part*> calloc(most_codes + 1, sizeof(Part))
    scratch.met = <int32_t*> calloc(most_codes + 1, sizeof(int32_t))
    scratch.run_met = <int32_t*> calloc(most_codes + 1, sizeof(int32_t))
    if (
        scratch.parts == NULL or scratch.run == NULL
        or scratch.met == NULL or scratch.run_met == NULL
    ):
        close_scratch(scratch)
        with gil:
            raise MemoryError("no memory left to score tests")
    return 0


cdef void close_scratch(Scratch* scratch) noexcept nogil:
    free(scratch.parts)
    free(scratch.run)
    free(scratch.met)
    free(scratch.run_met)
    scratch.parts = scratch.run = NULL
    scratch.met = scratch.run_met = NULL


cdef inline intp_t count_few(
    UnknownTable table, const uint8_t* column, const Weighed* state, intp_t unknown,
    Scratch* scratch,
) noexcept nogil:
    """Count the cases of a test of few codes; return how many codes are met."""
    cdef:
        intp_t code, n_met = 0
        int64_t counts[8]
        float64_t sums[8]
        const int32_t* cases = state.cases
    if state.n == table.n_cases and table.is_in_order:
        # All of them, as they stand.
        cases = NULL
    count_few_codes(
        column, cases, state.n, state.weights, <int> unknown + 1, counts, sums
    )
    for code in range(unknown + 1):
        if counts[code]:
            scratch.parts[code].count = counts[code]
            scratch.parts[code].weight = sums[code]
            scratch.met[n_met] = <int32_t> code
            n_met += 1
    return n_met


cdef void look_at(
    UnknownTable table, const Weighed* state, Scratch* scratch, View* view
) noexcept nogil:
    """Count the cases of a state by what a test shows for them, and weigh them."""
    cdef:
        intp_t i, j, code, n_met = 0
        const uint8_t* narrow = narrow_column(table, view.test)
        const uint16_t* wide = wide_column(table, view.test)
        bint is_few = wide == NULL and view.unknown < FEW
    if is_few and state.extra == NULL and view.rule != EC2:
        n_met = count_few(table, narrow, state, view.unknown, scratch)
    else:
        for i in range(state.n):
            code = wide[state.cases[i]] if wide != NULL else narrow[state.cases[i]]
            n_met = add_case(
                scratch.parts, scratch.met, n_met, code, state.weights[i],
                state.extra[i] if state.extra != NULL
                else state.weights[i] * state.weights[i],
            )
    view.n_met = n_met
    view.n_unknown = view.parts[view.unknown].count
    view.unknown_weight = view.parts[view.unknown].weight
    view.total = view.unknown_weight
    for j in range(view.n_met):
        if view.met[j] != view.unknown:
            view.total += view.parts[view.met[j]].weight


# Scores by weight.


cdef inline float64_t weight_seen(
    const View* view, intp_t code, float64_t chance
) noexcept nogil:
    """Return the weight that shows a code, that of unknown outcomes included."""
    return view.parts[code].weight + chance * view.unknown_weight


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
            logs += plogp(weight_seen(view, code, c) / view.total)
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
            logs += plogp(weight_seen(view, code, c) / view.total)
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
            m = weight_seen(view, code, c)
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
            m = weight_seen(view, code, c)
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
            m = weight_seen(view, code, c)
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
