"""Contract of choosing a split of a set at once: by EG2, DTMC or SEG2.

A set is looked at test by test. `open_test` counts one and finds its charge. Of a
number, `list_cuts` then adds up the left sides of its cuts. What was found of a test is
written over by the next one.
"""

from askless._core.base._types cimport (
    float32_t, float64_t, int32_t, intp_t, uint8_t, uint64_t,
)
from askless._core.soft._rows cimport RowSet, RowSets, SoftRows, Split
from askless._core.price._prices cimport Path


cdef enum SoftCriterion:
    EG2 = 0       # most gain for its price
    DTMC = 1      # least cost right after the test
    SEG2 = 2      # drawn, with chances as EG2 values tests
    TWO_STEP = 3  # least cost after the best test of every branch
    ROLLOUT = 4   # least cost of the trees grown on every branch


# One for each thread.
cdef class SplitFinder:
    cdef SoftRows examples
    cdef RowSets sets
    cdef Path path               # what has been paid for
    cdef float64_t due           # see _payments
    cdef float64_t exponent      # how much prices matter to EG2

    # The cuts of the number that was opened last, by code. Sums on their left lie class
    # by class, the weight after the classes; see cuts.h.
    cdef intp_t n_cuts
    cdef intp_t width            # of a class in `left`
    cdef int32_t* cut_code       # (width,) largest code on the left, missing aside
    cdef uint8_t* missing_right  # (width,) where missing numbers go
    cdef float64_t* left         # (n_classes + 1, width)
    cdef float64_t* costs        # (width,) of the two leaves after each cut
    cdef float32_t* guesses      # (width,) of gains
    cdef float64_t* scratch      # (4 * width,)
    cdef float64_t* running      # (n_classes + 1,)
    cdef Split* drawn            # (n_tests,) of SEG2

    # Count a test, unless it cannot pay: `at_least` is certain to come on top of its
    # charge, and both together must be less than `leaf`. False: it cannot pay, or all
    # rows have one code.
    cdef bint open_test(
        self, const RowSet* rows, intp_t test, float64_t at_least, float64_t leaf,
        float64_t* charge,
    ) noexcept nogil

    # List the cuts of the number that was opened.
    cdef void list_cuts(self, const RowSet* rows, intp_t test) noexcept nogil
    cdef void place_missing(
        self, const RowSet* rows, intp_t missing, bint has_missing
    ) noexcept nogil

    # Find what the two leaves after each cut cost, in `costs`.
    cdef void price_cuts(self, const RowSet* rows) noexcept nogil

    # What a cut takes off the entropy times weight of the set, which is `before`.
    cdef float64_t gain_of_cut(
        self, const RowSet* rows, intp_t j, float64_t before
    ) noexcept nogil

    # The same of a branch for every code met; and what the leaves there cost.
    cdef float64_t gain_of_branches(self, float64_t before) noexcept nogil
    cdef float64_t price_branches(self) noexcept nogil

    # The entropy of a set with such sums, times its weight.
    cdef float64_t bits_of(self, const float64_t* sums) noexcept nogil

    # The split that EG2, DTMC or SEG2 takes; none if none can pay. Its value by DTMC is
    # minus the cost of a tree of this one test.
    cdef Split pick(
        self, const RowSet* rows, int criterion, uint64_t key, float64_t leaf
    ) noexcept nogil
    cdef Split pick_cheapest(self, const RowSet* rows, float64_t leaf) noexcept nogil
    cdef Split pick_by_gain(self, const RowSet* rows, float64_t leaf) noexcept nogil
    cdef Split draw_by_gain(
        self, const RowSet* rows, uint64_t key, float64_t leaf
    ) noexcept nogil

    # Find the best cut of a test that was opened, or value its branches.
    cdef void find_cheapest(
        self, const RowSet* rows, float64_t slack, Split* split
    ) noexcept nogil
    cdef bint find_most_gain(
        self, const RowSet* rows, float64_t before, float64_t to_beat, Split* split
    ) noexcept nogil
    cdef float64_t guess_most_gain(self, const RowSet* rows) noexcept nogil
