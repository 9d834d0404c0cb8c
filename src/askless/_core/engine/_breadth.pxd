"""Which tests of a state a restricted search looks at: those of the best scores.

A search of breadth K looks at the K best tests of each state, and at more of them where
the state is small, since that costs next to nothing.
"""

from libc.stdlib cimport qsort

from askless._core.base._types cimport float64_t, int32_t, intp_t


# What a candidate is ranked by. It stands at the beginning of a candidate, so that a
# pointer to one is a pointer to the other.
cdef struct Rank:
    float64_t score  # larger is better
    int32_t test


cdef inline int compare_ranks(const void* a, const void* b) noexcept nogil:
    """Order candidates by score, best first, then by test."""
    cdef const Rank* x = <const Rank*> a
    cdef const Rank* y = <const Rank*> b
    if x.score != y.score:
        return -1 if x.score > y.score else 1
    return x.test - y.test


cdef inline intp_t keep_best(
    void* candidates, intp_t n, size_t size, intp_t breadth, intp_t n_cases
) noexcept nogil:
    """Put the best candidates of a state first; return how many are looked at.

    `size` is the size of a candidate; a breadth of 0 keeps all of them, in any order.
    """
    if breadth == 0 or n_cases <= 6:
        return n
    if n_cases <= 14:
        breadth *= 2
    if breadth >= n:
        return n
    qsort(candidates, n, size, compare_ranks)
    return breadth
