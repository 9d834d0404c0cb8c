"""Contract of small nodes: at most 128 weighted rows are a set of bits, never moved."""

cimport cython
from askless._core.bagging._rows cimport BagRows
from askless._core.bagging._task cimport BagTask, Best, NodeRows, Place
from askless._core.base._types cimport float64_t, int32_t, intp_t, uint8_t, uint64_t


cdef extern from "askless/_core/bagging/code_planes.h" nogil:
    enum: SET_PLACES
    ctypedef struct Bits:
        uint64_t[2] places
    ctypedef struct CodePlanes:
        uint8_t n_planes


cdef extern from "askless/_core/bagging/small_sets.h" nogil:
    ctypedef struct SetCut:
        double value
        Bits left
    ctypedef struct SmallSet:
        double whole
        double alpha
        intp_t n_classes
        const Bits* of_class
        const int32_t* counts
        const double* totals
        Bits set
    ctypedef struct SetScan:
        const double* price
        int32_t* tests
        intp_t n_tests
        intp_t next
        intp_t n_kept
        intp_t n_tried
        intp_t most_tried
        int is_by_price
        double ratio
        double inverse


cdef struct PendingSet:
    Place place
    Bits set


@cython.final
cdef class SetGrower:
    cdef BagTask task
    cdef BagRows rows
    cdef PendingSet* stack
    cdef intp_t n_pending
    cdef intp_t stack_room

    cdef CodePlanes* planes       # (n_tests,) the codes of the node's tests
    cdef Bits* of_class           # (SET_PLACES,) places of each class of the node
    cdef Bits* of_set             # (SET_PLACES,) places of each class of a set
    cdef object memory            # keeps what the pointers point to
    cdef int32_t[::1] which       # (SET_PLACES,) classes of a set
    cdef int32_t[::1] counts      # (SET_PLACES,)
    cdef uint8_t[::1] cells       # (n_columns, room for a place each)
    cdef uint8_t[::1] is_copied   # (n_columns,)

    # Grow the whole subtree of a node of at most SET_PLACES weighted rows.
    cdef int grow_node(
        self, const Place* place, const NodeRows* rows
    ) except -1 nogil

    cdef int push(self, const PendingSet* item) except -1 nogil
    cdef intp_t lay_out_rows(
        self, const NodeRows* rows, int32_t* source, Bits* every
    ) noexcept nogil
    cdef intp_t lay_out_tests(
        self, const Place* place, intp_t start, const int32_t* source, intp_t n,
        Bits every, intp_t target,
    ) noexcept nogil
    cdef int grow_set(
        self, const PendingSet* item, const NodeRows* rows
    ) except -1 nogil
    cdef intp_t find_best(
        self, const PendingSet* item, const SmallSet* cases, intp_t tests, Best* best,
        Bits* left,
    ) except -1 nogil
