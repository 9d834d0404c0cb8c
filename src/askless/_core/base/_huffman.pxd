"""The least cost of telling weights apart, by tests of so many outcomes each."""

from askless._core.base._types cimport float64_t, int64_t, intp_t


ctypedef fused weight_t:
    int64_t
    float64_t


cdef inline weight_t huffman(
    weight_t* weights, intp_t n, intp_t arity
) noexcept nogil:
    """Return the cost of the best code words over the weights, which must not rise.

    The two-queue form of Huffman's algorithm: weights are taken from the light end, and
    sums come out in order. `weights` must have room for n more.
    """
    cdef:
        weight_t* sums = weights + n
        intp_t next_weight = n - 1
        intp_t first_sum = 0
        intp_t n_sums = 0
        intp_t left = n
        intp_t take, _i
        weight_t total = 0
        weight_t merged
    if n < 2:
        return total
    # The first merge takes fewer, so that all later ones are full.
    take = (n - 2) % (arity - 1) + 2
    while left > 1:
        merged = 0
        for _i in range(take):
            if next_weight >= 0 and (
                first_sum == n_sums or weights[next_weight] <= sums[first_sum]
            ):
                merged += weights[next_weight]
                next_weight -= 1
            else:
                merged += sums[first_sum]
                first_sum += 1
        sums[n_sums] = merged
        n_sums += 1
        total += merged
        left -= take - 1
        take = arity
    return total
