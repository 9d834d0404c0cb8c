"""Contract of the split search: the best test of a node, and how it parts the rows."""

from askless._core.greedy._columns cimport Rows
from askless._core.greedy._criteria cimport Criterion, Score
from askless._core.price._prices cimport Prices
from askless._core.base._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint8_t, uint64_t,
)


cdef struct Split:
    intp_t test   # -1: nothing helps
    intp_t cut    # largest code that goes left; -1: a child for every outcome
    Score score


cdef class SplitSearch:
    cdef readonly Criterion criterion
    cdef readonly Prices prices
    cdef readonly bint is_wide            # codes are two bytes
    cdef readonly bint use_crossing       # switch: changes time, never the score
    cdef readonly bint use_bounds         # switch: changes time, never the answer
    cdef const int32_t[::1] n_levels      # (n_tests,)
    cdef const uint8_t[::1] is_ordered    # (n_tests,) branch at a cut, not by outcome
    cdef const float64_t[::1] chances     # of each level of each test when unknown
    cdef const int64_t[::1] chance_start  # (n_tests + 1,)

    # What is left of a budget at the node, INFINITY for no budget. Set by the caller
    # before each search, with the tests that a case has bought on its way.
    cdef float64_t room
    cdef uint8_t[::1] bought       # (n_tests,)

    # What is left to chance at a node: which tests are tried, if not all of them, and
    # at which cuts, if not all of them. Drawn by a key that the caller sets before each
    # search, so that it depends on nothing but the node.
    cdef intp_t max_tests          # n_tests: all
    cdef bint draws_cuts
    cdef const float64_t[::1] cut_values      # the thresholds of all tests
    cdef const int64_t[::1] cut_value_start   # (n_tests + 1,)
    cdef uint64_t key
    cdef uint64_t[::1] drawn       # (n_tests,)
    cdef uint8_t[::1] is_wanted    # (n_codes,) cuts to try

    # Scratch, written by every call.
    cdef float64_t[::1] totals     # (n_classes,) weight of each class in the node
    cdef float64_t[::1] left
    cdef float64_t[::1] right
    cdef float64_t[::1] unknown
    cdef float64_t[::1] histogram  # (slots, n_classes present)
    cdef int32_t[::1] slot_of_code  # -1: code not met yet
    cdef int32_t[::1] codes_met
    cdef float64_t[::1] part_impurities
    cdef float64_t[::1] part_weights
    cdef float64_t[::1] part_prices
    cdef float64_t whole           # impurity of the node

    # Weigh the node's classes and return its impurity.
    cdef float64_t weigh(self, Rows* rows) noexcept nogil

    # The best test among active[:n_active] whose dearest outcome fits into the room;
    # tests that can split neither this node nor any below it are moved out of the list
    # and n_active is lowered.
    cdef Split find_best(
        self, Rows* rows, int32_t* active, intp_t* n_active,
        const uint8_t* paid, const uint8_t* is_open,
    ) noexcept nogil

    # Put the tests into an order drawn by the key.
    cdef void draw_order(self, int32_t* active, intp_t n_active) noexcept nogil

    # Whether every outcome that the node may show charges no more than the room.
    cdef bint is_affordable(
        self, Rows* rows, intp_t test, const uint8_t* is_open
    ) noexcept nogil

    # The codes that children of a split by outcome stand for, ascending, in codes_met.
    cdef intp_t list_outcomes(self, Rows* rows, intp_t test) noexcept nogil
