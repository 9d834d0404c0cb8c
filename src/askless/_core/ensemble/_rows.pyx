"""Run many rows, each on its own: look, choose, pay, buy, until there is no need.

This module must not know how a state is kept, nor how a test is chosen.
"""

from cython.parallel import parallel, prange
from libc.math cimport INFINITY

import numpy as np

from askless._core.ensemble._bounds cimport buy
from askless._core.ensemble._case cimport (
    Case, copy_deep, free_case, make_case, reset,
)
from askless._core.ensemble._choice cimport View, choose, finish, look, pay
from askless._core.ensemble._trees cimport Model, NUMBER
from askless._core.price._prices cimport Prices
from askless._core.base._types cimport float64_t, int32_t, intp_t, uint8_t


cdef int run_each(
    const Model* m, const Case* root, Prices prices, const float64_t[::1] inverse,
    const Rows* rows, float64_t threshold, bint is_complete, bint has_means,
    const float64_t* offset, bint is_single, int n_jobs, int chunk,
    float64_t[:, ::1] raw, float64_t[::1] cost, int32_t[::1] n_bought,
    float64_t[:, :, ::1] steps,
) except -1:
    cdef:
        intp_t n_rows = rows.n_rows
        intp_t n_noted = 3 * (m.n_tests + 1)
        intp_t row
        Case* c
        float64_t* step = NULL
        uint8_t[::1] failed = np.zeros(1, dtype=np.uint8)
    if steps is not None and n_rows:
        step = &steps[0, 0, 0]
    with nogil, parallel(num_threads=n_jobs):
        c = make_case(m, prices.n_groups)
        if c != NULL:
            c.has_means = has_means
            copy_deep(m, c, root)
        for row in prange(n_rows, schedule="dynamic", chunksize=chunk):
            if c == NULL:
                failed[0] = 1
            else:
                run_row(
                    m, c, root, prices, &inverse[0], rows, row,
                    threshold, is_complete, offset, is_single,
                    &raw[row, 0], &cost[row], &n_bought[row],
                    step + row * n_noted if step != NULL else NULL,
                )
        free_case(c)
    if failed[0]:
        raise MemoryError("no memory left to run an ensemble")
    return 0


cdef void run_row(
    const Model* m, Case* c, const Case* root, Prices prices, const float64_t* inverse,
    const Rows* rows, intp_t row,
    float64_t threshold, bint is_complete,
    const float64_t* offset, bint is_single,
    float64_t* raw,             # OUT (n_outputs,)
    float64_t* cost,            # OUT
    int32_t* n_bought,          # OUT
    float64_t* steps,           # OUT (3, n_tests + 1) cost, z and answer; or NULL
) noexcept nogil:
    cdef:
        intp_t n_wide = m.n_tests + 1
        intp_t test, code
        float64_t spent = 0.0
        int32_t step = 0
        View view
        bint wants_z = threshold < INFINITY or steps != NULL
    reset(m, c, root, prices.n_groups)
    while True:
        look(m, c, wants_z, &view)
        if steps != NULL:
            steps[step] = spent
            steps[n_wide + step] = view.z
            if m.rule == NUMBER:
                steps[2 * n_wide + step] = <float64_t> c.total[0] / m.unit
            else:
                steps[2 * n_wide + step] = <float64_t> view.first
        if c.n_waiting == 0 or (view.is_settled and not is_complete):
            break
        if threshold < INFINITY and view.z >= threshold:
            break
        test = choose(m, c, prices, inverse, &view)
        if test < 0:
            break
        code = code_of(m, rows, row, test)
        spent = spent + pay(m, c, prices, test, code)
        buy(m, c, test, code)
        step = step + 1
    finish(m, c, offset, is_single, raw)
    cost[0] = spent
    n_bought[0] = step
