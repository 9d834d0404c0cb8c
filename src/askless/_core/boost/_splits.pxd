# The best split of a leaf by one column, from sums over the levels of the column.
#
# A leaf keeps a cell for each level of each column: the gradients of all K outputs, then
# their second derivatives, then how many rows show the level: 2 K + 1 numbers. After the
# levels of a column comes the cell of missing values, then that of unknown ones, which a
# number never has.

from askless._core.base._types cimport float64_t, int32_t, intp_t, uint8_t


cdef struct Split:
    float64_t gain      # how much the loss falls, before rows are charged; < 0 for none
    int32_t cut         # levels up to it go left; of a category, of the order of levels
    uint8_t missing_left
    uint8_t has_missing  # whether some row of the leaf shows none


cdef struct Terms:
    int32_t n_outputs
    float64_t l2         # added to second derivatives: shrinks leaves
    int32_t least_rows   # of a leaf


# `sums` has room for (2 K + 3) times `stride` and twice (2 K + 1) numbers, `level` for
# `stride`, which is no less than the levels of any column.
cdef Split split_number(
    const float64_t* cells, int32_t n_levels, const float64_t* total, const Terms* terms,
    intp_t stride, float64_t* sums, int32_t* level,
) noexcept nogil

cdef Split split_category(
    const float64_t* cells, int32_t n_levels, const float64_t* total, const Terms* terms,
    float64_t* room, int32_t* order,
) noexcept nogil
