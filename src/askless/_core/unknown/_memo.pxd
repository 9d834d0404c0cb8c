"""Contract of remembering states of a table with unknown outcomes.

A state is spelt as words, everything that its value depends on, and looked up in a
table of states, which compares the words themselves. Values are real numbers; they are
kept bit by bit where the table keeps whole ones.

    words    [ 2n + d | cases ... | surprisals ... | numbers ... ]

d is 1 if any surprisal is above 0; only then they are there. The numbers are what the
caller adds: tests that were done, groups that are open.
"""

from libc.string cimport memcpy

from askless._core.base._types cimport float64_t, int64_t, intp_t, uint16_t, uint64_t
from askless._core.engine._states cimport Entry, StateTable
from askless._core.unknown._table cimport State


# A state as words. Those of a memo last until the next state is spelt.
cdef struct Spelling:
    uint64_t key
    uint16_t* words
    intp_t n_words


cdef class StateMemo:
    cdef readonly StateTable states
    cdef bint has_whole_bits
    cdef bint has_wide_numbers     # numbers take two words
    cdef const uint64_t[::1] hash  # (n_cases,) random; a key begins as a sum of them
    cdef uint16_t[::1] words
    cdef Spelling spelling         # of the state that was spelt last

    # Spell a state; numbers are added afterwards.
    cdef void spell(self, const State* state) noexcept nogil
    cdef void add_number(self, intp_t number) noexcept nogil

    # The entry of the state that was spelt last, or NULL. Valid until the next insert.
    cdef Entry* find(self) noexcept nogil

    # A copy of the words of the state that was spelt last; free its words.
    cdef int copy(self, Spelling* spelling) except -1 nogil

    # The entry of a state, made if it is new.
    cdef Entry* insert(self, const Spelling* spelling) except NULL nogil


cdef inline float64_t real_of(int64_t bits) noexcept nogil:
    """Return the real number that is kept in the place of a whole one."""
    cdef float64_t value
    memcpy(&value, &bits, sizeof(float64_t))
    return value


cdef inline int64_t bits_of(float64_t value) noexcept nogil:
    """Return the whole number that keeps a real one."""
    cdef int64_t bits
    memcpy(&bits, &value, sizeof(float64_t))
    return bits
