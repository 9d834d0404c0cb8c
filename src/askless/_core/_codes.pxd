"""Contract of coding: which level of a number a value falls in."""

from askless._core._types cimport float64_t, intp_t

# How many of the ascending `cuts` are below `value`: the code of a number that is not
# missing. O(log n_cuts), without branches.
cdef intp_t count_cuts_below(
    const float64_t* cuts, intp_t n_cuts, float64_t value
) noexcept nogil
