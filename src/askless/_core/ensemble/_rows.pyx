"""Run many rows, each on its own: look, choose, pay, buy, until there is no need.

This module must not know how a state is kept, nor how a test is chosen.
"""

from cython.parallel import parallel, prange
from libc.math cimport INFINITY
from libc.string cimport memcpy

import numpy as np

from askless._core.ensemble._bounds cimport buy, go_along
from askless._core.ensemble._case cimport (
    Case, HELD, copy_deep, free_case, make_case, reset,
)
from askless._core.ensemble._choice cimport (
    NOT_ASKED, View, choose, finish, is_over, look, look_apart,
    most_charged, pay,
)
from askless._core.ensemble._deep cimport begin_memo
from askless._core.ensemble._joint cimport is_near, lead_apart, leads_all
from askless._core.ensemble._small cimport begin_tables, write_tops
from askless._core.ensemble.settle._rows cimport run_by_leaves
from askless._core.ensemble._trees cimport DEEP, FULL_SHARE, Model, VOTE
from askless._core.price._prices cimport Prices
from askless._core.base._types cimport (
    float32_t, float64_t, int32_t, int64_t, intp_t, uint8_t,
)


cdef enum:
    # Fewer rows than this share too little to be worth remembering, and more bytes of
    # states than this, of each thread, are forgotten.
    FEWEST_REMEMBERED = 8
    MOST_REMEMBERED = 268435456


cdef struct Held:
    # Where a row stood at a step; its sums are kept by the case.
    int32_t step
    float64_t spent
    intp_t first      # who led
    intp_t n_waiting
    intp_t n_moves


cdef int run_each(
    const Model* m, const Case* root, Prices prices, const float64_t[::1] inverse,
    const Rows* rows, const Terms* terms, const Results* results, int n_threads,
    int chunk,
) except -1:
    cdef:
        intp_t row
        Case* c
        bint is_held = (
            m.is_joint and terms.is_remembered and results.steps == NULL
            and not terms.is_complete and not terms.threshold < INFINITY
            and not terms.most < INFINITY
        )
        uint8_t[::1] failed = np.zeros(1, dtype=np.uint8)
    with nogil, parallel(num_threads=n_threads):
        c = begin_case(
            m, root, prices.n_groups, terms, rows.n_rows,
            terms.threshold < INFINITY or results.steps != NULL,
        )
        for row in prange(rows.n_rows, schedule="dynamic", chunksize=chunk):
            if c == NULL or (c.memo != NULL and c.memo.has_failed):
                failed[0] = 1
            elif is_held and (c.memo != NULL or c.tables != NULL):
                run_held(m, c, root, prices, &inverse[0], rows, row, results)
            elif m.by_leaves:
                reset(m, c, root, prices.n_groups)
                run_by_leaves(m, c, prices, &inverse[0], rows, row, terms, results)
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
    intp_t n_rows, bint has_spread,
) noexcept nogil:
    """Return a case in the first state, or NULL if there is no memory for it."""
    cdef Case* c = make_case(m, n_groups)
    cdef bint is_ready
    if c == NULL:
        return NULL
    c.has_means = terms.has_means
    copy_deep(m, c, root)
    c.has_spread = has_spread
    if m.mode != DEEP:
        return c
    if terms.is_remembered and m.word_bytes and n_rows >= FEWEST_REMEMBERED:
        if m.word_bytes == 1:
            is_ready = begin_tables(m, c, n_rows)
        else:
            is_ready = begin_memo(m, c, root)
        if not is_ready:
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
        int varies = NOT_ASKED
    if terms.threshold < INFINITY or results.steps != NULL:
        varies = terms.varies
    restart(m, c, root, prices.n_groups)
    while True:
        look(m, c, varies, &view)
        if results.steps != NULL:
            note_step(m, c, &view, spent, results, row, step)
        if results.sums != NULL:
            note_sums(
                m, c, results.sums + (row * (m.n_tests + 1) + step) * m.n_outputs
            )
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
        c.n_moves = 0
        buy(m, c, test, code)
        step = step + 1
    write_result(m, c, results, row, spent, step)


cdef inline void restart(
    const Model* m, Case* c, const Case* root, intp_t n_groups
) noexcept nogil:
    reset(m, c, root, n_groups)
    if c.memo != NULL and c.memo.n_bytes > MOST_REMEMBERED:
        begin_memo(m, c, root)


cdef inline void write_result(
    const Model* m, Case* c, const Results* results, intp_t row, float64_t spent,
    int32_t step,
) noexcept nogil:
    if c.tables != NULL and c.n_waiting == 0:
        write_tops(m, c)
    finish(m, c, results.raw + row * m.n_outputs)
    results.cost[row] = spent
    results.n_bought[row] = step


cdef void run_held(
    const Model* m, Case* c, const Case* root, Prices prices, const float64_t* inverse,
    const Rows* rows, intp_t row, const Results* results,
) noexcept nogil:
    """Run a row until it is settled, and look whether it is a few steps at a time.

    What is bought next does not depend on bounds, and a row that is settled stays so
    while the same class leads: where the last of such steps is not, none of them is. Else
    the row goes back to the first that is. Who leads is a matter of means, which trees
    keep apart: another class may come to lead a row that was settled. So a step with
    another leader is the last that is held, and those before it are looked at too.

    Joint bounds are looked at when they would do if they still gained as much upon bounds
    tree by tree as they did the last time: mostly they gain less and less.
    """
    cdef:
        intp_t test, code, n_near
        intp_t n = 0
        intp_t at = -1
        intp_t looked_at = -1
        float64_t spent = 0.0
        int32_t step = 0
        bint is_end = False
        bint is_due = False
        View view
        Held[HELD] held
    restart(m, c, root, prices.n_groups)
    while True:
        look_apart(m, c, &view)
        is_end = view.is_settled or c.n_waiting == 0
        test = -1 if is_end else choose(m, c, prices, inverse, &view)
        is_end = test < 0
        n_near = n + (view.is_settled or is_near(m, c, view.first))
        if is_end or n_near > n:
            held[n] = Held(step, spent, view.first, c.n_waiting, c.n_moves)
            hold_sums(m, c, n)
            n = n + 1
            is_due = (
                is_end or n == HELD or view.first != looked_at
                or lead_apart(c, c.leader, c.rival) + c.gain > m.slack
            )
        if is_due:
            at = find_settled(m, c, held, n_near, n - 1, view.is_settled)
            if at >= 0:
                break
            at = n - 1
            if is_end:
                break
            n = 0
            is_due = False
            looked_at = view.first
        if n == 0:
            c.n_moves = 0
        code = code_of(m, rows, row, test)
        spent = spent + pay(m, c, prices, test, code)
        buy(m, c, test, code)
        step = step + 1
        if c.memo != NULL and c.memo.has_failed:
            return
    write_result(m, c, results, row, held[at].spent, held[at].step)


cdef intp_t find_settled(
    const Model* m, Case* c, const Held* held, intp_t n_near, intp_t last,
    bint is_known,
) noexcept nogil:
    """Go back to the first step that is settled, of those that may be; -1 if none is.

    The case stands at the last step, and stays there if none is. `is_known` says that
    the last one is settled. All steps have the same leader, but perhaps the last.
    """
    cdef:
        intp_t here = last
        intp_t low = 0
        intp_t high = n_near - 1
        intp_t middle
    if n_near == 0:
        return -1
    if held[high].first != held[0].first:
        low = high
        if not is_known:
            # If it is known, nobody else can have been sure to lead.
            stand_at(m, c, held, &here, high - 1)
            if leads_all(m, c, held[high - 1].first):
                low, high = 0, high - 1
                is_known = True
    if not is_known:
        stand_at(m, c, held, &here, high)
        if not leads_all(m, c, held[high].first):
            stand_at(m, c, held, &here, last)
            return -1
    while low < high:
        middle = (low + high) // 2
        stand_at(m, c, held, &here, middle)
        if leads_all(m, c, held[middle].first):
            high = middle
        else:
            low = middle + 1
    stand_at(m, c, held, &here, high)
    return high


cdef inline void hold_sums(const Model* m, Case* c, intp_t at) noexcept nogil:
    cdef int64_t* sums = c.held_sums + 3 * at * m.n_outputs
    memcpy(sums, c.total, m.n_outputs * 8)
    memcpy(sums + m.n_outputs, c.low, m.n_outputs * 8)
    memcpy(sums + 2 * m.n_outputs, c.high, m.n_outputs * 8)


cdef inline void take_sums(const Model* m, Case* c, intp_t at) noexcept nogil:
    cdef const int64_t* sums = c.held_sums + 3 * at * m.n_outputs
    memcpy(c.total, sums, m.n_outputs * 8)
    memcpy(c.low, sums + m.n_outputs, m.n_outputs * 8)
    memcpy(c.high, sums + 2 * m.n_outputs, m.n_outputs * 8)


cdef inline void stand_at(
    const Model* m, Case* c, const Held* held, intp_t* here, intp_t there
) noexcept nogil:
    """Let a case stand where it stood at one of the steps that are held."""
    if here[0] != there:
        go_along(m, c, held[here[0]].n_moves, held[there].n_moves)
        take_sums(m, c, there)
        c.n_waiting = held[there].n_waiting
        here[0] = there


cdef void note_sums(const Model* m, const Case* c, float32_t* sums) noexcept nogil:
    """Write down the sums of a step, what is open averaged over."""
    cdef:
        intp_t q
        float64_t unit = FULL_SHARE if m.mode == VOTE else m.unit
        const int64_t* total = c.total
    if m.mode == VOTE and (c.n_waiting == 0 or not c.has_means):
        total, unit = c.low, 1.0
    for q in range(m.n_outputs):
        sums[q] = <float32_t> (<float64_t> total[q] / unit)
