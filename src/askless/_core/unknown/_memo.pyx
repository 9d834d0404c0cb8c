"""Remember states of a table with unknown outcomes."""

from libc.stdlib cimport malloc
from libc.string cimport memcpy

import numpy as np

from askless._core.base._keys cimport mix, scatter
from askless._core.base._types cimport intp_t, uint16_t, uint64_t
from askless._core.engine._states cimport Entry, StateTable
from askless._core.unknown._table cimport State, UnknownTable


cdef class StateMemo:
    """States and what is known of them.

    Parameters
    ----------
    table : UnknownTable
    n_numbers : int
        At most so many numbers are added to a state, all of them smaller.
    max_bytes : int
        What remembering may take.
    """

    def __init__(
        self, UnknownTable table not None, intp_t n_numbers, intp_t max_bytes
    ):
        self.states = StateTable(max_bytes)
        self.has_whole_bits = table.has_whole_bits
        self.has_wide_numbers = n_numbers > 1 << 16
        self.hash = np.random.default_rng(20190101).integers(
            0, 2**64, table.n_cases, dtype=np.uint64
        )
        self.words = np.zeros(5 * table.n_cases + 2 * n_numbers + 8, dtype=np.uint16)
        self.spelling.words = &self.words[0]

    cdef void spell(self, const State* state) noexcept nogil:
        cdef:
            intp_t i, k, at = 1
            uint64_t key = 0
            bint is_surprising = False
            uint16_t* words = &self.words[0]
        for i in range(state.n):
            words[at] = <uint16_t> state.cases[i]
            at += 1
            if state.surprisal[i]:
                is_surprising = True
                key += scatter(
                    self.hash[state.cases[i]] ^ <uint64_t> state.surprisal[i]
                )
            else:
                key += self.hash[state.cases[i]]
        words[0] = <uint16_t> (2 * state.n + is_surprising)
        if is_surprising:
            for i in range(state.n):
                if self.has_whole_bits:
                    words[at] = <uint16_t> (state.surprisal[i] >> 40)
                    at += 1
                else:
                    for k in range(4):
                        words[at] = <uint16_t> (
                            (state.surprisal[i] >> (16 * k)) & 0xFFFF
                        )
                        at += 1
        self.spelling.key = key
        self.spelling.n_words = at

    cdef void add_number(self, intp_t number) noexcept nogil:
        self.words[self.spelling.n_words] = <uint16_t> number
        self.spelling.n_words += 1
        if self.has_wide_numbers:
            self.words[self.spelling.n_words] = <uint16_t> (number >> 16)
            self.spelling.n_words += 1
        self.spelling.key ^= mix(<uint64_t> number + 1)

    cdef Entry* find(self) noexcept nogil:
        return self.states.find(
            self.spelling.key, self.spelling.words, self.spelling.n_words, 0, 0
        )

    cdef int copy(self, Spelling* spelling) except -1 nogil:
        spelling[0] = self.spelling
        spelling.words = <uint16_t*> malloc(
            (self.spelling.n_words + 1) * sizeof(uint16_t)
        )
        if spelling.words == NULL:
            with gil:
                raise MemoryError("no memory left to remember a state")
        memcpy(
            spelling.words, self.spelling.words,
            self.spelling.n_words * sizeof(uint16_t),
        )
        return 0

    cdef Entry* insert(self, const Spelling* spelling) except NULL nogil:
        return self.states.insert(
            spelling.key, spelling.words, spelling.n_words, 0, 0
        )
