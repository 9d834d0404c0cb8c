"""Contract of the search for the best split of a large node of a bagged tree."""

cimport cython
from askless._core.bagging._rows cimport BagRows
from askless._core.bagging._task cimport BagTask, Best, NodeRows
from askless._core.base._types cimport float64_t, int32_t, int64_t, intp_t, uint8_t


cdef enum:
    # Bits of one byte that are weighed in one pass.
    GROUP = 4


# The best split so far, and what only large nodes need to know of it.
cdef struct BestCut:
    Best best
    intp_t cut
    bint has_missing


# The crossing of a test lies above `below` and at most at `above`; with each, the
# impurities of the two sides of a cut there.
cdef struct Crossing:
    intp_t below
    intp_t above
    float64_t below_left
    float64_t below_right
    float64_t above_left
    float64_t above_right


@cython.final
cdef class BagSearch:
    cdef BagTask task
    cdef BagRows rows
    cdef intp_t n_classes
    cdef float64_t[::1] left       # (n_classes,) weights on the left
    cdef float64_t[::1] right
    cdef int32_t[::1] last_cut     # (n_tests,) where the crossing was last; -1: nowhere

    # Weights by class where a bit is set, of some tests that are next in a list.
    cdef int64_t[::1] set_weights  # (GROUP, n_classes)
    cdef intp_t[GROUP] group
    cdef intp_t n_group
    cdef const int32_t* listed     # (n_listed,) the tests to try
    cdef intp_t n_listed

    # Find the best split among the tests of a list; move those that can split to the
    # front and return how many there are.
    cdef intp_t find_best(
        self, const NodeRows* node, int32_t* listed, intp_t n_tests, float64_t whole,
        BestCut* best,
    ) noexcept nogil

    cdef void weigh_group(self, const NodeRows* node, intp_t i) noexcept nogil
    cdef bint search_bit(
        self, const NodeRows* node, intp_t i, float64_t whole, BestCut* best
    ) noexcept nogil
    cdef bint search_column(
        self, const NodeRows* node, intp_t test, float64_t whole, BestCut* best
    ) noexcept nogil
    cdef intp_t guess_cut(
        self, const Crossing* at, intp_t test, intp_t n_steps
    ) noexcept nogil
    cdef void weigh_cut(
        self, const NodeRows* node, const uint8_t* column, uint8_t cut,
        float64_t* left, float64_t* right,
    ) noexcept nogil
