"""Contract of a forest that is ready to be walked, a block of coded rows at a time."""

cimport cython

from askless._core.price._prices cimport Prices
from askless._core.base._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint8_t, uint16_t, uint64_t,
)


cdef extern from "askless/_core/tree/walk.h" nogil:
    # Rows walked side by side, so that their reads do not wait for one another.
    enum: N_LANES


# What a walk fills in: of all rows, or of the rows of a block. NULL is left out.
cdef struct Outputs:
    int32_t* leaf         # (n_rows, n_trees)
    int32_t* tally        # (n_rows, n_classes) votes; comes in as zeros
    float64_t* weights    # (n_rows, n_classes) of the leaves; comes in as zeros
    int32_t* decision     # (n_rows,) the class of most votes; then `tally` is given too
    float64_t* cost       # (n_rows,) comes in as zeros
    float64_t* path_cost  # (n_trees, n_rows) after each tree; then `cost` is given too
    intp_t path_stride    # from one tree to the next in path_cost


# Codes of a block of bytes are interleaved by groups of rows:
#
#     [group of N_LANES rows][column][row of the group]
cdef inline intp_t code_place(intp_t row, intp_t column, intp_t stride) noexcept nogil:
    return (row // N_LANES * stride + column) * N_LANES + row % N_LANES


@cython.final
cdef class ForestWalker:
    cdef readonly Prices prices
    cdef readonly bint is_fast         # every node compares, and codes are bytes
    cdef readonly bint sums_exactly    # prices add up to the same in any order
    cdef intp_t n_trees
    cdef intp_t n_classes
    cdef intp_t n_columns              # tests that some node asks for
    cdef intp_t n_words                # of a set of columns
    cdef const int32_t[::1] tree_start
    cdef const int32_t[::1] test
    cdef const int32_t[::1] cut
    cdef const int32_t[::1] branch_start
    cdef const int32_t[::1] branch_code
    cdef const int32_t[::1] branch_child
    cdef const int32_t[::1] default_branch
    cdef const int32_t[::1] subtree_end
    cdef const int32_t[::1] decision
    cdef const int64_t[::1] weight_start
    cdef const int32_t[::1] weight_class
    cdef const float64_t[::1] weight
    cdef const int32_t[::1] n_levels   # (n_tests,)
    cdef const int32_t[::1] column     # (n_tests,) where the codes of a test are
    cdef const int32_t[::1] used       # (n_columns,) the tests in order of column
    cdef float64_t[::1] byte_price     # (8 * n_words, 256) of each byte of a set
    cdef uint64_t* packed              # NULL unless is_fast
    cdef uint64_t* way                 # (n_nodes,) columns above a node, of one word

    cdef int pack(self) except -1
    cdef int list_ways(self) except -1
    cdef void price_bytes(self) except *

    cdef int32_t follow(self, int32_t node, intp_t code) noexcept nogil
    cdef void add_leaf(
        self, intp_t row, intp_t tree, int32_t leaf, Outputs* out
    ) noexcept nogil
    cdef void decide(self, intp_t n, Outputs* out) noexcept nogil
    cdef float64_t price_set(self, const uint64_t* columns) noexcept nogil
    cdef void pay(
        self, const uint8_t* row, intp_t tree, uint8_t* marks, float64_t* spent
    ) noexcept nogil
    cdef void buy_below(
        self, int32_t node, uint8_t* paid, uint8_t* is_open, float64_t* spent
    ) noexcept nogil

    # Each walks the first n rows of a block down all trees; -1 if memory ran out.
    #
    # Bytes: n_columns + 1 for each row, interleaved as above, 255 for "missing", with
    # room up to the next multiple of N_LANES rows.
    cdef int walk_bytes(
        self, const uint8_t* rows, intp_t n, bint has_missing, Outputs* out
    ) noexcept nogil
    # Codes of two bytes, n_columns + 1 for each row, one row after another.
    cdef int walk_any(self, const uint16_t* rows, intp_t n, Outputs* out) noexcept nogil
