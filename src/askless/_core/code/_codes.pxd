"""Contract of coding: which level of a number a value falls in."""

from askless._core.base._types cimport float64_t, intp_t, uint16_t


cdef enum:
    # Equal parts of the range of a column that its cuts are listed by.
    N_PARTS = 2048


# How many of the ascending `cuts` are below `value`: the code of a number that is not
# missing. O(log n_cuts), without branches.
cdef intp_t count_cuts_below(
    const float64_t* cuts, intp_t n_cuts, float64_t value
) noexcept nogil


cdef enum:
    N_SIDE_BY_SIDE = 8


# The same for N_SIDE_BY_SIDE numbers, whose reads do not wait for one another.
cdef void count_cuts_below_each(
    const float64_t* cuts, intp_t n_cuts, const float64_t* values, uint16_t* codes
) noexcept nogil


# The cuts of one column, and how many of them are below each part of its range. Which
# part a number is in never falls as the number rises, so that cuts of earlier parts are
# below it and cuts of later parts are not, whatever the rounding.
cdef struct CutColumn:
    intp_t n_cuts
    const float64_t* cuts   # (n_cuts + 1,) the last one is infinity
    const uint16_t* before  # (N_PARTS + 1,) cuts before each part; NULL for few cuts
    float64_t low
    float64_t scale
    bint is_crowded         # some part has more than one cut


cdef inline float64_t part_of(
    float64_t low, float64_t scale, float64_t value
) noexcept nogil:
    """Return the part of the range that a value is in, as a number to be cut off."""
    cdef float64_t part = (value - low) * scale
    part = part if part > 0 else 0.0
    return part if part < N_PARTS - 1 else N_PARTS - 1


# The same number as count_cuts_below, in about two reads.
cdef inline intp_t find_level(const CutColumn* column, float64_t value) noexcept nogil:
    cdef intp_t part, base, n_here
    if column.before == NULL:
        return count_cuts_below(column.cuts, column.n_cuts, value)
    part = <intp_t> part_of(column.low, column.scale, value)
    base = column.before[part]
    if column.is_crowded:
        n_here = column.before[part + 1] - base
        if n_here > 1:
            return base + count_cuts_below(column.cuts + base, n_here, value)
    # A cut of a later part is not below the value, so there is no need to ask whether
    # this part has one.
    return base + (column.cuts[base] < value)


cdef class CutIndex:
    cdef readonly intp_t n_columns
    cdef CutColumn* columns
    cdef float64_t* cuts
    cdef uint16_t* before
