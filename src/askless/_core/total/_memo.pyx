"""Remember states of a problem of least total cost."""

from libc.stdlib cimport malloc
from libc.string cimport memcpy

import numpy as np

from askless._core.base._keys cimport mix
from askless._core.base._types cimport intp_t, uint8_t, uint16_t, uint64_t
from askless._core.engine._states cimport Entry, StateTable
from askless._core.total._problem cimport Belief, TotalProblem


cdef class TotalMemo:
    """States, and what is proved of them.

    Parameters
    ----------
    problem : TotalProblem
    max_bytes : int
        What remembering may take.
    """

    def __init__(self, TotalProblem problem not None, intp_t max_bytes):
        self.states = StateTable(max_bytes)
        self.room = np.zeros(
            5 * problem.n_cases + problem.n_tests // 16
            + problem.prices.n_groups // 16 + 16,
            dtype=np.uint16,
        )

    cdef Words spell(
        self, const Belief* state, const uint8_t* is_useful, intp_t n_tests,
        const uint8_t* is_open, intp_t n_groups, bint is_limited,
    ) noexcept nogil:
        cdef:
            uint16_t* words = &self.room[0]
            Words spelt
            intp_t i, k, at = 1
            bint is_surprising = False
            uint64_t key = 0
        at += pack(is_useful, n_tests, words + at)
        at += pack(is_open, n_groups, words + at)
        for i in range(state.n):
            words[at] = <uint16_t> state.cases[i]
            at += 1
            is_surprising = is_surprising or state.surprisal[i] != 0
        if is_surprising:
            memcpy(words + at, state.surprisal, 8 * state.n)
            at += 4 * state.n
        if is_limited:
            memcpy(words + at, &state.left, 8)
            at += 4
        words[0] = <uint16_t> (4 * state.n + 2 * is_limited + is_surprising)
        for k in range(0, at - 3, 4):
            key = mix(key ^ (<const uint64_t*> (words + k))[0])
        for k in range(at - at % 4, at):
            key = mix(key ^ words[k])
        spelt.key = key
        spelt.words = words
        spelt.n = at
        return spelt

    cdef int keep(self, Words* words) except -1 nogil:
        """Copy the words, so that they outlast other states; free them."""
        cdef uint16_t* copy = <uint16_t*> malloc((words.n + 1) * sizeof(uint16_t))
        if copy == NULL:
            with gil:
                raise MemoryError("no memory left to remember a state")
        memcpy(copy, words.words, words.n * sizeof(uint16_t))
        words.words = copy
        return 0

    cdef Entry* find(self, const Words* words) noexcept nogil:
        return self.states.find(words.key, words.words, words.n, 0, 0)

    cdef Entry* insert(self, const Words* words) except NULL nogil:
        return self.states.insert(words.key, words.words, words.n, 0, 0)


cdef intp_t pack(const uint8_t* flags, intp_t n, uint16_t* words) noexcept nogil:
    """Write flags as bits; return the number of words."""
    cdef intp_t i, n_words = (n + 15) // 16
    for i in range(n_words):
        words[i] = 0
    for i in range(n):
        if flags[i]:
            words[i >> 4] |= <uint16_t> (1 << (i & 15))
    return n_words
