"""Contract of the splits of a node that are looked ahead from."""

from askless._core.base._types cimport float64_t, int32_t, intp_t
from askless._core.soft._rows cimport RowSet, Split
from askless._core.soft._splits cimport SplitFinder


cdef class Candidates:
    cdef Split* splits       # (n,) by test, and by code
    cdef float64_t* gains    # (n,) of cuts; scratch of `sort`
    cdef float64_t* prices   # (n,) room for what looking ahead finds
    cdef int32_t* order      # (n,) the most promising first, once sorted
    cdef intp_t n
    cdef intp_t n_kept       # the first of `order` that are still looked at
    cdef intp_t room

    # List every split that may pay, valued by what one step saves. Of a number, only
    # the `n_cuts` cuts of most gain; 0 for all.
    cdef int list_splits(
        self, SplitFinder finder, const RowSet* rows, intp_t n_cuts, float64_t leaf
    ) except -1
    cdef void add_cuts(
        self, SplitFinder finder, const RowSet* rows, intp_t n_cuts, Split split
    ) noexcept nogil
    cdef intp_t find_worst(
        self, intp_t first, float64_t gain, float64_t slack
    ) noexcept nogil

    # Sort by value, so that a good bound is found early; of equal ones the first stays
    # before.
    cdef void sort(self) noexcept nogil

    # Go on with the splits of least price only, the cheapest first.
    cdef void keep_cheapest(self, intp_t n_kept) noexcept nogil

    # The first split of least price, ties included; none if it is no cheaper than a
    # leaf.
    cdef Split cheapest(self, float64_t leaf) noexcept nogil

    cdef int reserve(self, intp_t n_more) except -1
