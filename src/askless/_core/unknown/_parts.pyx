"""Count the cases of a state by what a test shows for them."""

from libc.stdlib cimport calloc, free

from askless._core.base._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint8_t, uint16_t,
)
from askless._core.unknown._table cimport UnknownTable, narrow_column, wide_column


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
    """Count the cases of a state by what a test shows for them."""
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
