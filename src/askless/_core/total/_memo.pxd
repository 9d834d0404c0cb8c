"""Contract of remembering states of a problem of least total cost."""

from askless._core.base._types cimport intp_t, uint8_t, uint16_t, uint64_t
from askless._core.engine._states cimport Entry, StateTable
from askless._core.total._problem cimport Belief


# A state as words: what its value depends on.
cdef struct Words:
    uint64_t key
    uint16_t* words
    intp_t n


cdef class TotalMemo:
    cdef readonly StateTable states
    cdef uint16_t[::1] room

    # Spell a state, the tests that may still tell something, the groups that are open
    # (of these tests), and what is left to spend. The words last until the next call.
    cdef Words spell(
        self, const Belief* state, const uint8_t* is_useful, intp_t n_tests,
        const uint8_t* is_open, intp_t n_groups, bint is_limited,
    ) noexcept nogil

    cdef int keep(self, Words* words) except -1 nogil
    cdef Entry* find(self, const Words* words) noexcept nogil
    cdef Entry* insert(self, const Words* words) except NULL nogil
