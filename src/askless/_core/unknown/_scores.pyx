"""Score tests by a rule on tables with unknown outcomes, and choose the best.

This module knows arrays; it must not know names, nor what becomes of its choices.
"""

from cython.parallel cimport parallel, prange
from libc.stdlib cimport calloc, free

import numpy as np

from askless._core.base._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint8_t,
)
from askless._core.unknown._parts cimport (
    Part, Runs, Scratch, View, Weighed, add_case, bits_of_cases, bits_of_classes,
    clear_parts, close_scratch, count_gone, draw_logs, edges_of_cases,
    edges_of_classes, look_at, may_rule_out, open_scratch, score_gbs, EC2, ELIMINATION,
    GBS, INFORMATION, ODTN_H, ODTN_H_RELEASED, ODTN_R_RELEASED,
)
from askless._core.unknown._table cimport (
    UnknownTable, chance_of, code_of, plogp, MAY_TELL, SURE_TO_TELL, TELLS_NOTHING,
)


# Scores and numbers of copies closer than this, relatively, tie.
cdef float64_t TOLERANCE = 1e-12


cdef float64_t score_test(
    UnknownTable table, intp_t test, const Weighed* state, int rule, Scratch* scratch,
    uint8_t* effect,
) noexcept nogil:
    cdef:
        View view
        float64_t value
    effect[0] = TELLS_NOTHING
    if table.n_levels[test] == 0:
        return 0.0
    view.test = test
    view.rule = rule
    view.n = state.n
    view.unknown = table.n_levels[test] + 1
    view.met = scratch.met
    view.parts = scratch.parts
    look_at(table, state, scratch, &view)
    if table.has_own_classes:
        value = score_cases(table, &view, effect)
    else:
        value = score_classes(table, &view, state, scratch, effect)
    clear_parts(scratch.parts, scratch.met, view.n_met)
    return value


cdef float64_t score_cases(
    UnknownTable table, const View* view, uint8_t* effect
) noexcept nogil:
    """Score a test where every case has a class of its own."""
    cdef:
        intp_t j, code
        int64_t gone
        float64_t c, gain = 0.0, expected_gone = <float64_t> (view.n - view.n_unknown)
    for j in range(view.n_met):
        code = view.met[j]
        if code == view.unknown:
            continue
        c = chance_of(table, view.test, code)
        gone = count_gone(view, code, c)
        if gone > 0:
            effect[0] = SURE_TO_TELL
        gain += view.parts[code].weight * gone
        expected_gone -= c * view.parts[code].count
    if effect[0] == TELLS_NOTHING and may_rule_out(table, view):
        effect[0] = MAY_TELL
    if view.rule <= ELIMINATION:
        return score_by_gain(
            table, view, gain / (view.n - 1),
            view.unknown_weight * expected_gone / (view.n - 1),
        )
    if view.total <= 0:
        return 0.0
    if view.rule == INFORMATION:
        return bits_of_cases(table, view)
    if view.rule == GBS:
        return score_gbs(table, view)
    return edges_of_cases(table, view)


cdef float64_t score_classes(
    UnknownTable table, const View* view, const Weighed* state, Scratch* scratch,
    uint8_t* effect,
) noexcept nogil:
    """Score a test where classes have several cases, which stand together."""
    cdef:
        intp_t i = 0, j, code
        Runs runs
    runs.known_gain = runs.unknown_gain = runs.joint = 0.0
    runs.squares = runs.unknown_squares = 0.0
    runs.expected_gone = <float64_t> (view.n - view.n_unknown)
    for j in range(view.n_met):
        code = view.met[j]
        if view.rule != ODTN_H and view.rule != ODTN_H_RELEASED:
            view.parts[code].extra = 0.0
        if code != view.unknown:
            runs.expected_gone -= (
                chance_of(table, view.test, code) * view.parts[code].count
            )
    while i < view.n:
        i = add_run(table, view, state, i, scratch, &runs, effect)
    if effect[0] == TELLS_NOTHING:
        # Not sure to tell classes apart; it may rule out a case all the same.
        for j in range(view.n_met):
            code = view.met[j]
            if code != view.unknown and count_gone(
                view, code, chance_of(table, view.test, code)
            ) > 0:
                effect[0] = MAY_TELL
        if may_rule_out(table, view):
            effect[0] = MAY_TELL
    if view.rule <= ELIMINATION:
        return score_by_gain(table, view, runs.known_gain, runs.unknown_gain)
    if view.total <= 0:
        return 0.0
    if view.rule == INFORMATION:
        return bits_of_classes(table, view, &runs)
    if view.rule == GBS:
        return score_gbs(table, view)
    return edges_of_classes(table, view, &runs)


cdef inline intp_t count_run(
    UnknownTable table, const View* view, const Weighed* state, intp_t first,
    Scratch* scratch, intp_t* n_run,
) noexcept nogil:
    """Count a run of cases of one class by code; return where the next run begins."""
    cdef intp_t end = first
    n_run[0] = 0
    while end < view.n and (
        table.class_id[state.cases[end]] == table.class_id[state.cases[first]]
    ):
        n_run[0] = add_case(
            scratch.run, scratch.run_met, n_run[0],
            code_of(table, view.test, state.cases[end]), state.weights[end], 0.0,
        )
        end += 1
    return end


cdef intp_t add_run(
    UnknownTable table, const View* view, const Weighed* state, intp_t first,
    Scratch* scratch, Runs* runs, uint8_t* effect,
) noexcept nogil:
    """Add a run of cases of one class to the sums; return where the next one begins."""
    cdef:
        intp_t j, code, n_run = 0
        intp_t end = count_run(table, view, state, first, scratch, &n_run)
        Part* run = scratch.run
        const Part* drawn = &run[view.unknown]
        int64_t size = end - first, gone
        float64_t c, m, gain = 0.0, whole = drawn.weight
        float64_t expected_gone = <float64_t> (size - drawn.count)
        # Of the levels that only unknown outcomes show: chance, and sum of c log c.
        float64_t unseen = 1.0, unseen_logs = table.sums[view.test, 2]
    for j in range(n_run):
        code = scratch.run_met[j]
        if code == view.unknown:
            continue
        c = chance_of(table, view.test, code)
        # Opponents that the outcome would rule out.
        gone = count_gone(view, code, c) - (
            size - run[code].count - (drawn.count if c > 0 else 0)
        )
        if gone > 0:
            effect[0] = SURE_TO_TELL
        gain += run[code].weight * gone
        expected_gone -= c * run[code].count
        whole += run[code].weight
        m = run[code].weight + c * drawn.weight
        if view.rule == EC2:
            view.parts[code].extra += m * m - c * c * drawn.weight * drawn.weight
        elif view.rule == INFORMATION:
            runs.joint += plogp(m / view.total) if view.total > 0 else 0.0
            unseen -= c
            unseen_logs -= plogp(c)
    if view.n > size:
        runs.known_gain += gain / (view.n - size)
        runs.unknown_gain += (
            drawn.weight * (runs.expected_gone - expected_gone) / (view.n - size)
        )
    runs.unknown_squares += drawn.weight * drawn.weight
    runs.squares += whole * whole
    if view.rule == INFORMATION and view.total > 0:
        runs.joint += draw_logs(drawn.weight / view.total, unseen_logs, unseen)
        runs.joint -= plogp(whole / view.total)
    clear_parts(run, scratch.run_met, n_run)
    return end


cdef float64_t score_by_gain(
    UnknownTable table, const View* view, float64_t known_gain, float64_t unknown_gain
) noexcept nogil:
    """Score by the share of opponents ruled out, and by how evenly cases are split."""
    cdef float64_t score = known_gain
    if view.rule == ODTN_R_RELEASED or view.rule == ODTN_H_RELEASED:
        score += view.unknown_weight / 2 - unknown_gain
    else:
        score += unknown_gain
    if view.rule != ELIMINATION:
        score += balance(table, view)
    return score


cdef inline bint is_larger(
    float64_t size, intp_t code, float64_t most, intp_t largest
) noexcept nogil:
    """Return whether a part counts as larger than the largest one so far.

    Numbers of copies are powers that were rounded, so that equal ones may differ.
    """
    if largest < 0 or size > most * (1 + TOLERANCE):
        return True
    return size >= most * (1 - TOLERANCE) and code < largest


cdef float64_t balance(UnknownTable table, const View* view) noexcept nogil:
    """Return the weight of all but the largest part, by cases or by copies.

    Of equally large parts the one of the smallest code counts as the largest.
    """
    cdef:
        intp_t j, code, largest = -1
        const Part* parts = view.parts
        float64_t size, most = -1.0, known = 0.0, share = 0.0
        bint by_copies = view.rule == ODTN_H or view.rule == ODTN_H_RELEASED
    if view.rule == ODTN_H and table.n_support[view.test] > 0:
        share = parts[view.unknown].extra / table.n_support[view.test]
    for j in range(view.n_met):
        code = view.met[j]
        if code == view.unknown:
            continue
        known += parts[code].weight
        size = parts[code].extra if by_copies else <float64_t> parts[code].count
        if chance_of(table, view.test, code) > 0:
            size += share
        if is_larger(size, code, most, largest):
            most = size
            largest = code
    if view.rule == ODTN_H and share >= most * (1 - TOLERANCE):
        # A level that only unknown outcomes show may be the largest part.
        for code in range(table.n_levels[view.test]):
            if chance_of(table, view.test, code) <= 0 or parts[code].count > 0:
                continue
            if is_larger(share, code, most, largest):
                most = share
                largest = code
    if largest < 0:
        return 0.0
    if view.rule == ODTN_H:
        return known + view.unknown_weight - (
            parts[largest].weight
            + chance_of(table, view.test, largest) * view.unknown_weight
        )
    return known - parts[largest].weight


# Choosing.


cdef intp_t choose_best(
    const float64_t* scores, const float64_t* prices, const uint8_t* effects,
    const uint8_t* is_done, intp_t n_tests,
) noexcept nogil:
    cdef:
        intp_t test, best = -1, first = -1
        float64_t value, most = 0.0
        bint is_free, best_is_free = False
    for test in range(n_tests):
        if effects[test] == SURE_TO_TELL and first < 0:
            first = test
        if effects[test] == TELLS_NOTHING or is_done[test] or scores[test] <= 0:
            continue
        is_free = prices[test] <= 0
        value = scores[test] if is_free else scores[test] / prices[test]
        if is_free != best_is_free:
            if best_is_free:
                continue
        elif value <= most * (1 + TOLERANCE):
            continue
        best = test
        most = value
        best_is_free = is_free
    if first < 0:
        return -1
    return best if best >= 0 else first


# For callers in Python.


def choose_test(
    const float64_t[::1] scores not None,
    const float64_t[::1] prices not None,
    const uint8_t[::1] effects not None,
    const uint8_t[::1] is_done not None,
):
    """Return the test that a rule takes, -1 if it decides; see ``choose_best``."""
    return choose_best(
        &scores[0], &prices[0], &effects[0], &is_done[0], scores.shape[0]
    )


def score_tests(
    UnknownTable table not None,
    const int32_t[::1] cases not None,
    const float64_t[::1] weights not None,
    int rule,
    const float64_t[::1] copies=None,
    int n_threads=1,
):
    """Return (scores, effects): what a rule gives each test in a state."""
    cdef:
        float64_t[::1] scores = np.zeros(table.n_tests)
        uint8_t[::1] effects = np.zeros(table.n_tests, dtype=np.uint8)
        intp_t test, most = table.most_codes
        Weighed state
        Scratch* scratch
    state.cases = &cases[0]
    state.weights = &weights[0]
    state.extra = NULL
    if copies is not None:
        state.extra = &copies[0]
    state.n = cases.shape[0]
    with nogil, parallel(num_threads=n_threads):
        scratch = <Scratch*> calloc(1, sizeof(Scratch))
        open_scratch(scratch, most)
        for test in prange(table.n_tests, schedule="dynamic"):
            scores[test] = score_test(
                table, test, &state, rule, scratch, &effects[test]
            )
        close_scratch(scratch)
        free(scratch)
    return np.asarray(scores), np.asarray(effects)
