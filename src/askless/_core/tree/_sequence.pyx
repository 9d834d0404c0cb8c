"""Narrow down which cases are still possible, outcome by outcome, for many rows.

This module knows codes, classes and weights of cases. It must not know why the tests
come in the order in which they come.
"""

from libc.stdlib cimport free, malloc

import numpy as np

from askless._core.price._prices cimport Prices
from askless._core.base._types cimport (
    code_t, float64_t, int32_t, intp_t, uint8_t,
)


cdef intp_t keep_matching(
    const code_t* case_codes, intp_t code, intp_t unknown_code,
    const int32_t* alive, intp_t n_alive, int32_t* kept,
) noexcept nogil:
    """Keep the cases that can show the code: theirs is the same, or unknown."""
    cdef intp_t i, n = 0
    for i in range(n_alive):
        kept[n] = alive[i]
        n += case_codes[alive[i]] == code or case_codes[alive[i]] == unknown_code
    return n


cdef bint is_pure(
    const int32_t* case_class, const int32_t* alive, intp_t n_alive
) noexcept nogil:
    cdef intp_t i
    for i in range(1, n_alive):
        if case_class[alive[i]] != case_class[alive[0]]:
            return False
    return True


def walk_sequence(
    const code_t[:, ::1] codes not None,         # IN   (n_steps, n_rows)
    const code_t[:, ::1] case_codes not None,    # IN   (n_steps, n_cases)
    const int32_t[::1] unknown_code not None,    # IN   (n_steps,)
    const int32_t[::1] case_class not None,      # IN   (n_cases,)
    const float64_t[::1] case_weights not None,  # IN   (n_cases,)
    bint stops_early,
    float64_t[:, ::1] class_weights not None,    # OUT  (n_rows, n_classes)
):
    """Run a fixed sequence of tests on rows; return how many tests each row took.

    A row stops as soon as all cases that are left have one class, if it
    ``stops_early``, else after the last test. An outcome that no case left can show, or
    that is missing or never seen before, rules nothing out. ``class_weights`` receives
    the weights of the cases left, by class; it must come in filled with zeros.
    """
    cdef:
        intp_t n_steps = codes.shape[0]
        intp_t n_rows = codes.shape[1]
        intp_t n_cases = case_codes.shape[1]
        intp_t row, step, i, n_alive, n_kept
        int32_t[::1] n_tests = np.zeros(n_rows, dtype=np.int32)
        int32_t* alive = <int32_t*> malloc((n_cases + 1) * sizeof(int32_t))
        int32_t* kept = <int32_t*> malloc((n_cases + 1) * sizeof(int32_t))
    if alive == NULL or kept == NULL:
        free(alive)
        free(kept)
        raise MemoryError("no memory left to run a sequence")
    with nogil:
        for row in range(n_rows):
            for i in range(n_cases):
                alive[i] = <int32_t> i
            n_alive = n_cases
            for step in range(n_steps):
                if stops_early and is_pure(&case_class[0], alive, n_alive):
                    break
                n_tests[row] += 1
                if codes[step, row] >= unknown_code[step]:
                    continue
                n_kept = keep_matching(
                    &case_codes[step, 0], codes[step, row], unknown_code[step],
                    alive, n_alive, kept,
                )
                if n_kept > 0:
                    alive, kept = kept, alive
                    n_alive = n_kept
            for i in range(n_alive):
                class_weights[row, case_class[alive[i]]] += case_weights[alive[i]]
    free(alive)
    free(kept)
    return np.asarray(n_tests)


def charge_prefixes(
    Prices prices not None,
    const int32_t[::1] tests not None,     # IN   (n_steps,) the sequence
    const code_t[:, ::1] codes not None,   # IN   (n_steps, n_rows)
    const int32_t[::1] n_taken not None,   # IN   (n_rows,) tests that a row took
):
    """Return what each row pays for the first tests of a sequence.

    A delayed test orders every test after it as well, since its result comes too late
    to stop by.
    """
    cdef:
        intp_t n_rows = codes.shape[1]
        intp_t n_steps = tests.shape[0]
        intp_t row, step, later
        float64_t amount
        float64_t[::1] totals = np.zeros(n_rows)
        uint8_t[::1] paid = np.zeros(prices.n_tests + 1, dtype=np.uint8)
        uint8_t[::1] is_open = np.zeros(prices.n_groups + 1, dtype=np.uint8)
    for row in range(n_rows):
        paid[:] = 0
        is_open[:] = 0
        for step in range(n_taken[row]):
            if prices.delayed[tests[step]] and not paid[tests[step]]:
                amount = 0.0
                for later in range(step, n_steps):
                    amount += prices.charge(tests[later], -1, &paid[0], &is_open[0])
                totals[row] += amount
            else:
                totals[row] += prices.charge(
                    tests[step], codes[step, row], &paid[0], &is_open[0]
                )
    return np.asarray(totals)
