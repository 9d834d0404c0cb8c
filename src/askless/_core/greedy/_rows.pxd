"""Contract of the rows of a node: contiguous, in columns, sorted by class.

Rows are sorted by class once, before growing. Every later move is stable, so at each
node the rows of a class are one run and the class itself is never read:

    column of a node    [ c c c c | c c c | c c c c c ]
                          class 0   cl. 2    class 5      class_rows = 4, 3, 5

A node of a table without unknown outcomes is a range of its parent's memory, moved in
place. Where an outcome is unknown a case goes to several children, so each child gets a
block of its own.
"""

from askless._core.base._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint8_t, uint16_t,
)


cdef struct Block:
    void* codes         # (n_tests, stride) codes, one column a test
    float64_t* weights  # (stride,) what a row counts for; NULL: 1 each
    float64_t* prior    # (stride,) share of the prior; NULL: the same as weights
    intp_t stride
    intp_t n_users      # nodes that still need the block
    bint is_wide        # codes are two bytes
    bint is_owned       # False: the memory belongs to the caller


cdef struct Rows:
    Block* block
    intp_t start         # the node's rows are [start, start + n_rows[ of every column
    intp_t n_rows
    intp_t n_classes     # classes present
    int32_t* classes     # (n_classes,) ascending
    int64_t* class_rows  # (n_classes,) rows of each; the runs follow one another


# Make the root's rows out of GrowthRows, whose arrays must stay alive.
cdef int open_rows(rows, Rows* root) except -1

cdef void release_rows(Rows* rows) noexcept nogil

# Give a child the classes that it has rows of, given the rows of each class of its parent.
cdef int list_classes(
    const Rows* parent, const int64_t* class_rows, Rows* child
) except -1 nogil

# Zeros to count the rows of each class of each child in, n_classes + 1 for a child. They
# are to be freed.
cdef int64_t* count_room(const Rows* rows, intp_t n_children) except NULL nogil

# The child with the most prior weight; on a tie, the first.
cdef intp_t find_heaviest(const Rows* children, intp_t n_children) noexcept nogil

# What a test shows for a row of the node.
cdef inline intp_t code_at(const Rows* rows, intp_t test, intp_t row) noexcept nogil:
    cdef intp_t cell = test * rows.block.stride + rows.start + row
    if rows.block.is_wide:
        return (<const uint16_t*> rows.block.codes)[cell]
    return (<const uint8_t*> rows.block.codes)[cell]
