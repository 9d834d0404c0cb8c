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
    code_t, float64_t, int32_t, int64_t, intp_t, uint8_t,
)


cdef struct Block:
    void* codes         # (n_tests, stride) codes, one column a test
    float64_t* weights  # (stride,) what a row counts for; NULL: 1 each
    float64_t* mass     # (stride,) share of the prior; NULL: the same as weights
    intp_t stride
    intp_t n_users      # nodes that still need the block
    bint is_owned       # False: the memory belongs to the caller


cdef struct Rows:
    Block* block
    intp_t start         # the node's rows are [start, start + n_rows[ of every column
    intp_t n_rows
    intp_t n_classes     # classes present
    int32_t* classes     # (n_classes,) ascending
    int64_t* class_rows  # (n_classes,) rows of each; the runs follow one another


cdef void release_rows(Rows* rows) noexcept nogil

# Cut the rows in two at a code, in place. left gets the codes <= cut.
cdef int cut_rows(
    Rows* rows, bint is_wide, intp_t test, intp_t cut,
    const int32_t* columns, intp_t n_columns,
    uint8_t* scratch, Rows* children,
) except -1 nogil

# Part the rows by code, in place; rank maps each code present to its child.
cdef int part_rows(
    Rows* rows, bint is_wide, intp_t test,
    intp_t n_codes, const int32_t* rank,
    const int32_t* columns, intp_t n_columns,
    uint8_t* scratch, Rows* children,
) except -1 nogil

# Copy the rows into a block for each child. Row i goes to the children j for which
# share(i, j) > 0: rows of known code to the child of that code, rows of unknown code to
# every child whose `shares` is positive, with their mass multiplied by it.
cdef int copy_rows(
    Rows* rows, bint is_wide, intp_t test, intp_t n_tests,
    intp_t unknown_code, const int32_t* child_of_code, const float64_t* shares,
    const int32_t* settled_code, intp_t n_children, Rows* children,
) except -1 nogil
