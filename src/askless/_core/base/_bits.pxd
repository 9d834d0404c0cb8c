"""Words of 64 bits as sets."""

from askless._core.base._types cimport uint64_t


cdef extern from "askless/_core/base/bits.h" nogil:
    int count_bits(uint64_t word)
    # Of a word that is not 0.
    int lowest_bit(uint64_t word)
    int highest_bit(uint64_t word)
