"""Bound parts of a state by the code words that their classes need."""

from libc.math cimport log2

import numpy as np

from askless._core.base._huffman cimport huffman
from askless._core.base._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint16_t,
)
from askless._core.search._table cimport Inside, KnownTable, State


cdef class CodeWords:
    """Bounds by code words over one table, with scratch of their own."""

    def __init__(self, KnownTable table not None, bint is_worst):
        self.table = table
        self.is_worst = is_worst
        self.by_class = np.zeros(2 * table.n_classes, dtype=np.int64)
        self.words = np.zeros(3 * table.n_cases + 8, dtype=np.int64)

    cdef int64_t bound_part(
        self, const Part* part, const State* state, const Inside* inside
    ) noexcept nogil:
        cdef:
            intp_t i, n_words
            float64_t bits = 0.0
            int64_t* words = &self.words[0]
        if self.table.n_classes == self.table.n_cases:
            n_words = self.list_words(part, state)
        else:
            n_words = self.list_classes(part, state)
        if n_words <= 2:
            return 0
        if self.is_worst:
            return max(
                inside.cheapest * count_levels(n_words, inside.arity),
                round_up(inside.rate * log2(<float64_t> n_words)),
            )
        for i in range(n_words):
            if words[i] > 0:
                bits += words[i] * log2(<float64_t> part.weight / <float64_t> words[i])
        return max(
            inside.cheapest * huffman(words, n_words, inside.arity),
            round_up(inside.rate * bits),
        )

    cdef intp_t list_words(self, const Part* part, const State* state) noexcept nogil:
        """List the weights of the words where every case is a class.

        Cases come heaviest first, and so do the words.
        """
        cdef:
            intp_t i, n = 0
            const uint16_t* column = &self.table.codes[part.test, 0]
        if self.is_worst:
            return part.n_cases
        for i in range(state.n):
            if column[state.cases[i]] == part.code:
                self.words[n] = self.table.weight[state.cases[i]]
                n += 1
        return part.n_cases

    cdef intp_t list_classes(self, const Part* part, const State* state) noexcept nogil:
        """List the weights of the words where classes have several cases."""
        cdef:
            intp_t i, at, n_words = 0
            const uint16_t* column = &self.table.codes[part.test, 0]
            int64_t* sums = &self.by_class[0]
            int64_t* words = &self.words[0]
            int32_t own
        for i in range(state.n):
            if column[state.cases[i]] == part.code:
                own = self.table.class_id[state.cases[i]]
                sums[2 * own] = 1
                sums[2 * own + 1] += self.table.weight[state.cases[i]]
        for i in range(state.n):
            own = self.table.class_id[state.cases[i]]
            if sums[2 * own]:
                words[n_words] = sums[2 * own + 1]
                # Keep the list falling; there are few classes.
                at = n_words
                while at > 0 and words[at - 1] < words[at]:
                    words[at - 1], words[at] = words[at], words[at - 1]
                    at -= 1
                n_words += 1
                sums[2 * own] = 0
                sums[2 * own + 1] = 0
        return n_words
