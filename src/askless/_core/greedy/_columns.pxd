"""Contract of moving rows to the children of a node."""

from askless._core.greedy._rows cimport Rows
from askless._core.base._types cimport float64_t, int32_t, intp_t, uint8_t


# Which columns are moved; the others are never read again.
cdef struct Columns:
    const int32_t* tests
    intp_t n_tests
    uint8_t* scratch     # a mark of four bytes and a cell of up to eight for each row


# Where copies of rows go: by code, and rows of unknown code to several children.
cdef struct Copies:
    intp_t n_children
    intp_t unknown_code
    const int32_t* child_of_code  # (n_codes,) -1: no child
    const float64_t* shares       # (n_children,) of a row of unknown code
    const int32_t* settled_code   # (n_children,) what an unknown code becomes; -1: stays


# Cut the rows in two at a code, in place. The first child gets the codes <= cut.
cdef int cut_rows(
    Rows* rows, intp_t test, intp_t cut, const Columns* moved, Rows* children
) except -1 nogil

# Divide the rows by code, in place; child_of_code knows each code present.
cdef int divide_rows(
    Rows* rows, intp_t test, intp_t n_children, const int32_t* child_of_code,
    const Columns* moved, Rows* children,
) except -1 nogil

# Copy the rows into a block for each child: rows of known code to the child of that
# code, rows of unknown code to every child whose share is positive, with their prior
# multiplied by it.
cdef int copy_rows(
    Rows* rows, intp_t test, intp_t n_tests, const Copies* copies, Rows* children
) except -1 nogil
