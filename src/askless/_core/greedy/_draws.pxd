"""Tests in an order that is drawn by a key, in the same way by every grower."""

from askless._core.base._keys cimport mix_with
from askless._core.base._types cimport int32_t, intp_t, uint64_t


cdef inline void sort_by_keys(
    int32_t* tests, intp_t n, uint64_t key, uint64_t* drawn
) noexcept nogil:
    """Sort tests by the random key of each; `drawn` has room for n keys.

    The first tests are then a random choice that depends on nothing but the key.
    """
    cdef:
        intp_t i, j
        int32_t test
        uint64_t own
    for i in range(n):
        test = tests[i]
        own = mix_with(key, <uint64_t> test)
        # Insertion sort: lists are short, and mostly random.
        j = i
        while j > 0 and drawn[j - 1] > own:
            drawn[j] = drawn[j - 1]
            tests[j] = tests[j - 1]
            j -= 1
        drawn[j] = own
        tests[j] = test
