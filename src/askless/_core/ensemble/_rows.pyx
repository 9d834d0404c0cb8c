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
from askless._core.ensemble._choice cimport (
    NOT_ASKED, TOGETHER, View, choose, find_z, finish, is_over, look, most_charged,
    pay,
)
from askless._core.ensemble._joint cimport begin_memo
from askless._core.ensemble._trees cimport Model, NUMBER
from askless._core.price._prices cimport Prices
from askless._core.base._types cimport float64_t, int32_t, intp_t, uint8_t


cdef enum:
    # Fewer rows than this share too little to be worth remembering, and more bytes of
    # states than this, of each thread, are forgotten.
    FEWEST_REMEMBERED = 8
    MOST_REMEMBERED = 268435456


cdef int run_each(
    const Model* m, const Case* root, Prices prices, const float64_t[::1] inverse,
    const Rows* rows, const Terms* terms, const Results* results, int n_threads,
    int chunk,
) except -1:
    cdef:
        intp_t row
        Case* c
        uint8_t[::1] failed = np.zeros(1, dtype=np.uint8)
    with nogil, parallel(num_threads=n_threads):
        c = begin_case(m, root, prices.n_groups, terms, rows.n_rows)
        for row in prange(rows.n_rows, schedule="dynamic", chunksize=chunk):
            if c == NULL or (c.memo != NULL and c.memo.has_failed):
                failed[0] = 1
            else:
                run_row(m, c, root, prices, &inverse[0], rows, row, terms, results)
        if c != NULL and c.memo != NULL and c.memo.has_failed:
            failed[0] = 1
        free_case(c)
    if failed[0]:
        raise MemoryError("no memory left to run an ensemble")
    return 0


cdef Case* begin_case(
    const Model* m, const Case* root, intp_t n_groups, const Terms* terms,
    intp_t n_rows,
) noexcept nogil:
    """Return a case in the first state, or NULL if there is no memory for it."""
    cdef Case* c = make_case(m, n_groups)
    if c == NULL:
        return NULL
    c.has_means = terms.has_means
    copy_deep(m, c, root)
    if terms.is_remembered and m.word_bytes and n_rows >= FEWEST_REMEMBERED:
        if not begin_memo(m, c, root):
            free_case(c)
            return NULL
    return c


cdef void run_row(
    const Model* m, Case* c, const Case* root, Prices prices, const float64_t* inverse,
    const Rows* rows, intp_t row, const Terms* terms, const Results* results,
) noexcept nogil:
    cdef:
        intp_t test, code
        float64_t spent = 0.0
        int32_t step = 0
        View view
        float64_t* steps = NULL
        int varies = NOT_ASKED
    if terms.threshold < INFINITY or results.steps != NULL:
        varies = terms.varies
    if results.steps != NULL:
        steps = results.steps + row * 4 * (m.n_tests + 1)
    reset(m, c, root, prices.n_groups)
    if c.memo != NULL and c.memo.n_bytes > MOST_REMEMBERED:
        begin_memo(m, c, root)
    while True:
        look(m, c, varies, &view)
        if steps != NULL:
            note_step(m, c, &view, spent, steps + step)
        if is_over(c, &view, terms.threshold, terms.is_complete):
            break
        test = choose(m, c, prices, inverse, &view)
        if test < 0:
            break
        if terms.most < INFINITY and (
            spent + most_charged(m, c, prices, test) > terms.most
        ):
            break
        code = code_of(m, rows, row, test)
        spent = spent + pay(m, c, prices, test, code)
        buy(m, c, test, code)
        step = step + 1
    finish(m, c, results.raw + row * m.n_outputs)
    results.cost[row] = spent
    results.n_bought[row] = step


cdef void note_step(
    const Model* m, const Case* c, const View* view, float64_t spent, float64_t* step
) noexcept nogil:
    """Write down a step: what was spent, how sure it is, what would be decided."""
    cdef intp_t n_wide = m.n_tests + 1
    step[0] = spent
    step[n_wide] = view.z
    step[3 * n_wide] = find_z(m, c, TOGETHER, view)
    if m.target == NUMBER:
        step[2 * n_wide] = <float64_t> c.total[0] / m.unit
    else:
        step[2 * n_wide] = <float64_t> view.first
