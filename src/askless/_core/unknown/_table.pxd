"""Contract of tables with unknown outcomes: states, and what a test does to one.

A state is the cases that the answers so far leave possible, with how unlikely those
answers made each of them. An unknown outcome is drawn once and then fixed: a case whose
outcome was unknown and has been seen weighs less by the chance of what was seen.

    weight of a case = prior * 2 ** -(surprisal / UNIT)

A surprisal is a whole number, so that the order of the draws never matters and equal
states are equal to the last bit. Divided by UNIT it is exact for chances that are
powers of two, and within 1e-12 of a bit for others.
"""

from libc.math cimport exp2, log2

from askless._core.base._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint8_t, uint16_t,
)


# What a test can do to a state; `Effect` for callers in Python.
cdef enum:
    TELLS_NOTHING = 0  # whatever it shows, no case is ruled out
    MAY_TELL = 1       # it may rule out cases, and it may not
    SURE_TO_TELL = 2   # it is sure to tell some case from an opponent


# The cases that are left, those of one class together, and their surprisals.
cdef struct State:
    const int32_t* cases
    const int64_t* surprisal
    intp_t n


cdef class UnknownTable:
    cdef readonly intp_t n_cases
    cdef readonly intp_t n_tests
    cdef readonly intp_t n_classes
    cdef readonly intp_t most_codes
    cdef readonly bint has_own_classes  # every case has a class of its own
    cdef readonly bint is_in_order      # cases as they stand have ascending classes
    cdef readonly bint has_whole_bits   # every chance is a power of two
    cdef object codes_owner
    cdef const uint8_t* narrow            # (n_tests, n_cases)
    cdef const uint16_t* wide             # the same; NULL: codes are bytes
    cdef const int32_t[::1] n_levels      # (n_tests,)
    cdef const float64_t[::1] chances     # of each level, by test
    cdef const int64_t[::1] chance_start  # (n_tests + 1,)
    cdef int64_t[::1] bits                # surprisal of each level; -1: never drawn
    cdef int32_t[::1] n_support           # (n_tests,) levels that may be drawn
    cdef float64_t[:, ::1] sums           # (n_tests, 3) of c^2, c^3 and c log2 c
    cdef const int32_t[::1] class_id      # (n_cases,)
    cdef const float64_t[::1] prior       # (n_cases,)

    # Weights of the cases of a state, divided by that of the least surprisal.
    cdef void weigh(self, const State* state, float64_t* weights) noexcept nogil

    # The weight of a whole state.
    cdef float64_t weigh_all(self, const State* state) noexcept nogil

    # The part of a state that may show a code; returns its size.
    cdef intp_t list_part(
        self, intp_t test, intp_t code, const State* state, int32_t* cases,
        int64_t* surprisal,
    ) noexcept nogil

    # Mark the codes that a test may show in a state; `may_show` has n_levels + 2.
    cdef void mark_codes(
        self, intp_t test, const State* state, uint8_t* may_show
    ) noexcept nogil

    # Whether a test is sure to tell two cases apart.
    cdef bint tells(self, intp_t test, intp_t x, intp_t y) noexcept nogil


cdef inline intp_t code_of(
    UnknownTable table, intp_t test, intp_t case
) noexcept nogil:
    """Return what a test shows for a case."""
    if table.wide != NULL:
        return table.wide[test * table.n_cases + case]
    return table.narrow[test * table.n_cases + case]


cdef inline const uint8_t* narrow_column(
    UnknownTable table, intp_t test
) noexcept nogil:
    """Return the codes of a test as bytes, NULL if they are wider."""
    if table.narrow == NULL:
        return NULL
    return table.narrow + test * table.n_cases


cdef inline const uint16_t* wide_column(
    UnknownTable table, intp_t test
) noexcept nogil:
    """Return the codes of a test in two bytes each, NULL if they are bytes."""
    if table.wide == NULL:
        return NULL
    return table.wide + test * table.n_cases


cdef inline float64_t chance_of(
    UnknownTable table, intp_t test, intp_t code
) noexcept nogil:
    """Return the chance of a code where the outcome is unknown."""
    if code >= table.n_levels[test]:
        return 0.0
    return table.chances[table.chance_start[test] + code]


cdef inline float64_t power_of_half(int64_t surprisal) noexcept nogil:
    """Return how much lighter a surprisal makes a case; 2^40 of them are a bit."""
    return exp2(-(<float64_t> surprisal) / <float64_t> (<int64_t> 1 << 40))


cdef inline float64_t plogp(float64_t p) noexcept nogil:
    return p * log2(p) if p > 0 else 0.0
