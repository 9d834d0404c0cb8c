"""Contract of many rows: where their codes come from, and running each on its own."""

from askless._core.code._codes cimport count_cuts_below
from askless._core.ensemble._case cimport Case
from askless._core.ensemble._trees cimport Model
from askless._core.price._prices cimport Prices
from askless._core.base._types cimport float64_t, int32_t, int64_t, intp_t


cdef struct Rows:
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


# Run every row until it is settled or sure enough, `chunk` rows at a time to a thread.
# Every step is written down too, unless `steps` is None.
cdef int run_each(
    const Model* m, const Case* root, Prices prices, const float64_t[::1] inverse,
    const Rows* rows, float64_t threshold, bint is_complete, bint has_means,
    const float64_t* offset, bint is_single, int n_jobs, int chunk,
    float64_t[:, ::1] raw,        # OUT (n_rows, n_outputs)
    float64_t[::1] cost,          # OUT (n_rows,)
    int32_t[::1] n_bought,        # OUT (n_rows,)
    float64_t[:, :, ::1] steps,   # OUT (n_rows, 3, n_tests + 1) cost, z and answer
) except -1
