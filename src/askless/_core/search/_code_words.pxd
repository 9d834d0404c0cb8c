"""Contract of bounds by code words: what it takes at least to name a class.

The leaves of a tree are code words over outcomes, and a class needs at least one of
them. So the expected number of tests is at least Huffman's for the weights of the
classes, and the price at least the entropy at the best rate of price per bit; in the
worst case some word is as long as the logarithm of their number.
"""

from libc.math cimport ceil

from askless._core.base._types cimport float64_t, int64_t, intp_t, uint16_t
from askless._core.search._table cimport Inside, KnownTable, State


# A part of a state that holds more than one class.
cdef struct Part:
    intp_t test
    uint16_t code
    intp_t n_cases
    int64_t weight


cdef class CodeWords:
    cdef KnownTable table
    cdef bint is_worst
    cdef int64_t[::1] by_class   # (n_classes, 2) count and weight; zero between uses
    cdef int64_t[::1] words      # (3 * n_cases + 8,) weights of the words, falling

    # A lower bound of a part of a state, whose classes all need a word.
    cdef int64_t bound_part(
        self, const Part* part, const State* state, const Inside* inside
    ) noexcept nogil

    cdef intp_t list_words(self, const Part* part, const State* state) noexcept nogil
    cdef intp_t list_classes(self, const Part* part, const State* state) noexcept nogil


cdef inline intp_t count_levels(intp_t n_words, intp_t arity) noexcept nogil:
    """Return how long the longest of so many code words is at least."""
    cdef intp_t length = 0
    cdef int64_t room = 1
    while room < n_words:
        room *= arity
        length += 1
    return length


cdef inline int64_t round_up(float64_t value) noexcept nogil:
    """Return the least whole number that a computed bound is sure to prove."""
    return <int64_t> ceil(value * (1 - 1e-9) - 1e-6)
