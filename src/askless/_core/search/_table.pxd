"""Contract of a table for the search: every outcome known, all numbers whole.

A table is never written once it is made, so that threads may share it.
"""

from askless._core.base._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint16_t, uint64_t,
)


cdef extern from *:
    """
    #define ASKLESS_TOO_DEAR ((int64_t) 1 << 60)
    #define ASKLESS_NO_LIMIT ((int64_t) 1 << 60)
    """
    const int64_t TOO_DEAR "ASKLESS_TOO_DEAR"  # more than any policy costs
    const int64_t NO_LIMIT "ASKLESS_NO_LIMIT"  # the worst case may cost anything


# The cases that the answers so far leave possible, and what else a value depends on.
cdef struct State:
    const uint16_t* cases  # ascending
    intp_t n
    uint64_t key           # the sum of the hashes of the cases
    int64_t weight         # the sum of their weights
    uint64_t open_groups   # a bit each
    int64_t limit          # what the worst case may still cost


# What holds for every set of cases inside a state: about the tests that split it.
cdef struct Inside:
    int64_t cheapest  # the least price
    float64_t rate    # the least price of a bit
    intp_t arity      # the most outcomes of a test, at least 2


cdef class KnownTable:
    cdef readonly intp_t n_cases
    cdef readonly intp_t n_tests
    cdef readonly intp_t n_classes
    cdef readonly intp_t most_codes
    cdef readonly bint has_groups
    cdef const uint16_t[:, ::1] codes    # (n_tests, n_cases)
    cdef const int32_t[::1] n_codes      # (n_tests,)
    cdef const int32_t[::1] class_id     # (n_cases,)
    cdef const int64_t[::1] weight       # (n_cases,) never rising: heaviest first
    cdef const int64_t[:, ::1] full      # (n_tests, most codes) price by outcome
    cdef const int64_t[::1] discounted   # (n_tests,)
    cdef const int32_t[::1] group        # (n_tests,) -1: none
    cdef const int64_t[::1] least        # (n_tests,) smallest price in any context
    cdef const uint64_t[::1] hash        # (n_cases,) random; a key is a sum of them

    # The open groups that matter: those with a test that still splits the cases.
    cdef uint64_t useful_groups(
        self, const uint16_t* cases, intp_t n, uint64_t open_groups
    ) noexcept nogil

    # Whether a test that shows nothing new can pay by the discount of its group.
    cdef bint may_open(self, intp_t test, const State* state) noexcept nogil


cdef inline int64_t price_of(
    KnownTable table, intp_t test, intp_t code, uint64_t open_groups
) noexcept nogil:
    """Return what a test charges if it shows a code."""
    if table.group[test] >= 0 and (open_groups >> table.group[test]) & 1:
        return table.discounted[test]
    return table.full[test, code]


cdef inline int64_t dearest_price(
    KnownTable table, intp_t test, const State* state
) noexcept nogil:
    """Return the most that any case of a state pays for a test itself."""
    cdef:
        intp_t i
        int64_t most = 0
    for i in range(state.n):
        most = max(most, price_of(
            table, test, table.codes[test, state.cases[i]], state.open_groups
        ))
    return most


cdef inline bint is_pure(
    KnownTable table, const uint16_t* cases, intp_t n
) noexcept nogil:
    """Return whether all cases are of one class."""
    cdef intp_t i
    for i in range(1, n):
        if table.class_id[cases[i]] != table.class_id[cases[0]]:
            return False
    return True


cdef inline bint splits(
    KnownTable table, intp_t test, const uint16_t* cases, intp_t n
) noexcept nogil:
    """Return whether a test shows more than one outcome for the cases."""
    cdef intp_t i
    for i in range(1, n):
        if table.codes[test, cases[i]] != table.codes[test, cases[0]]:
            return True
    return False


cdef inline intp_t list_part(
    KnownTable table, const State* state, intp_t test, uint16_t code, uint16_t* part
) noexcept nogil:
    """Write down the cases of a state that show a code; return how many there are."""
    cdef intp_t i, n_part = 0
    for i in range(state.n):
        part[n_part] = state.cases[i]
        n_part += table.codes[test, state.cases[i]] == code
    return n_part
