"""Count and weigh the codes of a column: codes of one byte in C, two bytes in Cython."""

from askless._core.base._types cimport code_t, int64_t, intp_t, uint8_t


cdef extern from "askless/_core/greedy/counting.h" nogil:
    int64_t count_at_most_u8(const uint8_t* column, intp_t n, uint8_t limit) noexcept
    void min_max_u8(
        const uint8_t* column, intp_t n, uint8_t* low, uint8_t* high
    ) noexcept

    # With a weight of one byte for each row.
    int64_t weigh_at_most_u8(
        const uint8_t* codes, const uint8_t* weights, intp_t n, uint8_t limit
    ) noexcept
    int64_t sum_u8(const uint8_t* weights, intp_t n) noexcept
    # The weight where each of one to four bits is set; `bits` and `out` have room for 4.
    void weigh_bits_u8(
        const uint8_t* codes, const uint8_t* weights, intp_t n, const uint8_t* bits,
        int n_bits, int64_t* out,
    ) noexcept


cdef inline int64_t count_at_most(
    const code_t* column, intp_t n, intp_t limit
) noexcept nogil:
    """Return how many codes are at most the limit."""
    cdef:
        intp_t i
        int64_t count = 0
    if code_t is uint8_t:
        return count_at_most_u8(column, n, <uint8_t> limit)
    else:
        for i in range(n):
            count += column[i] <= <code_t> limit
        return count


cdef inline void find_range(
    const code_t* column, intp_t n, intp_t* low, intp_t* high
) noexcept nogil:
    """Find the least and the largest code."""
    cdef:
        intp_t i
        uint8_t least8, most8
        code_t least, most
    if code_t is uint8_t:
        min_max_u8(column, n, &least8, &most8)
        low[0] = least8
        high[0] = most8
    else:
        least = column[0]
        most = column[0]
        for i in range(n):
            least = min(least, column[i])
            most = max(most, column[i])
        low[0] = least
        high[0] = most


cdef inline intp_t largest_at_most(
    const code_t* column, intp_t n, intp_t limit
) noexcept nogil:
    """Return the largest code that is at most the limit; -1 if there is none."""
    cdef intp_t i, largest = -1
    for i in range(n):
        if column[i] <= <code_t> limit and <intp_t> column[i] > largest:
            largest = column[i]
    return largest
