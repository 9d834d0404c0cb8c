"""Contract of many rows: where their codes come from, and running each on its own."""

from askless._core.code._codes cimport count_cuts_below
from askless._core.ensemble._case cimport Case
from askless._core.ensemble._choice cimport TOGETHER, View, find_z
from askless._core.ensemble._trees cimport Model, NUMBER
from askless._core.price._prices cimport Prices
from askless._core.base._types cimport (
    float32_t, float64_t, int32_t, int64_t, intp_t,
)


cdef struct Rows:
    # Where the codes of rows come from.
    intp_t n_rows
    const float64_t* values    # (n_rows, n_tests) numbers, or NULL
    const int32_t* codes       # (n_rows, n_tests) else
    const float64_t* cuts      # of all tests
    const int64_t* cut_start   # (n_tests + 1,)


cdef inline intp_t code_of(
    const Model* m, const Rows* rows, intp_t row, intp_t test
) noexcept nogil:
    cdef float64_t value
    if rows.values == NULL:
        return rows.codes[row * m.n_tests + test]
    value = rows.values[row * m.n_tests + test]
    if value != value:
        return m.n_levels[test]
    return count_cuts_below(
        rows.cuts + rows.cut_start[test],
        rows.cut_start[test + 1] - rows.cut_start[test], value,
    )


cdef struct Terms:
    # When a row stops, and what must be kept up for it.
    float64_t threshold   # once the lead is so many deviations; infinite for never
    int varies            # how deviations add up: INDEPENDENT or TOGETHER
    float64_t most        # before a purchase that may bring what is spent above this
    bint is_complete      # go on until every tree has ended
    bint has_means        # of votes: whether sums must be good for probabilities
    bint is_remembered    # deep: look up what trees amount to, which changes no answer


cdef struct Results:
    # What is written of each row.
    float64_t* raw        # (n_rows, n_outputs) the sums where it stopped
    float64_t* cost       # (n_rows,)
    int32_t* n_bought     # (n_rows,)
    # (n_rows, 4, n_tests + 1) cost, z, decision, and z if all vary together; or NULL
    float64_t* steps
    # (n_rows, n_tests + 1, n_outputs) the sums at each step; or NULL
    float32_t* sums


cdef inline void note_step(
    const Model* m, const Case* c, const View* view, float64_t spent,
    const Results* results, intp_t row, intp_t step,
) noexcept nogil:
    """Write down a step: what was spent, how sure it is, what would be decided."""
    cdef intp_t n_wide = m.n_tests + 1
    cdef float64_t* out = results.steps + row * 4 * n_wide + step
    out[0] = spent
    out[n_wide] = view.z
    out[3 * n_wide] = find_z(m, c, TOGETHER, view)
    if m.target == NUMBER:
        out[2 * n_wide] = <float64_t> c.total[0] / m.unit
    else:
        out[2 * n_wide] = <float64_t> view.first


# Run every row until it is settled or sure enough, `chunk` rows at a time to a thread.
cdef int run_each(
    const Model* m, const Case* root, Prices prices, const float64_t[::1] inverse,
    const Rows* rows, const Terms* terms, const Results* results, int n_threads,
    int chunk,
) except -1
