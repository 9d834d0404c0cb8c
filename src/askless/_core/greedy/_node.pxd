"""Contract of the node whose splits are searched: its weights, and memory to count in."""

from askless._core.greedy._rows cimport Rows
from askless._core.greedy._criteria cimport ClassWeights, Criterion, Parts
from askless._core.price._prices cimport Prices
from askless._core.base._types cimport (
    code_t, float64_t, int32_t, int64_t, intp_t, uint8_t, uint64_t,
)


cdef class SplitNode:
    cdef readonly Criterion criterion
    cdef readonly Prices prices
    cdef readonly bint is_wide            # codes are two bytes
    cdef const int32_t[::1] n_levels      # (n_tests,)
    cdef const uint8_t[::1] is_ordered    # (n_tests,) branch at a cut, not by outcome
    cdef const float64_t[::1] chances     # of each level of each test when unknown
    cdef const int64_t[::1] chance_start  # (n_tests + 1,)

    # The node: its rows, and what a case there has paid for and opened. The caller sets
    # the last two before a search.
    cdef Rows* rows
    cdef const float64_t* row_weights     # (n_rows,) NULL: 1 each
    cdef float64_t whole                  # impurity of the node
    cdef float64_t[::1] totals            # (n_classes,) weight of each class
    cdef const uint8_t* paid              # (n_tests,)
    cdef const uint8_t* is_open           # (n_groups,)

    # What is left to chance: cuts drawn by a key that the caller sets before each
    # search, so that they depend on nothing but the node.
    cdef bint draws_cuts
    cdef const float64_t[::1] cut_values     # the thresholds of all tests
    cdef const int64_t[::1] cut_value_start  # (n_tests + 1,)
    cdef uint64_t key

    # Scratch: class weights of what is tried, and how criteria see the ones at hand.
    cdef float64_t[::1] left              # (n_classes,)
    cdef float64_t[::1] right
    cdef float64_t[::1] unknown
    cdef ClassWeights tried

    # Scratch: the parts of a split.
    cdef float64_t[::1] part_impurities   # (n_codes,)
    cdef float64_t[::1] part_weights
    cdef float64_t[::1] part_prices
    cdef Parts parts

    # Scratch: the weight of each (code, class) of a column. Codes get slots in the order
    # in which they are met.
    cdef float64_t[::1] histogram         # (slots, n_classes present)
    cdef int32_t[::1] slot_of_code        # (n_codes,) -1: not met
    cdef int32_t[::1] codes_met           # (n_codes,) first n_met
    cdef intp_t n_met
    cdef uint8_t[::1] is_wanted           # (n_codes,) cuts to try

    # Make rows the node, weigh its classes and return its impurity.
    cdef float64_t open(self, Rows* rows) noexcept nogil

    # The codes that children of a split by outcome stand for, ascending, in codes_met.
    cdef intp_t list_outcomes(self, intp_t test) noexcept nogil


# The codes of the node's rows in the column of a test.
cdef inline const void* column_of(SplitNode node, intp_t test) noexcept nogil:
    cdef intp_t offset = test * node.rows.block.stride + node.rows.start
    return <const char*> node.rows.block.codes + (offset << node.is_wide)


# The impurity of some of the node's cases, given the weight of each of its classes.
cdef inline float64_t measure(
    SplitNode node, const float64_t* class_weights
) noexcept nogil:
    node.tried.weights = class_weights
    return node.criterion.impurity(&node.tried)


# Empty the slots of the histogram again.
cdef inline void empty_slots(SplitNode node) noexcept nogil:
    cdef intp_t i
    for i in range(node.n_met):
        node.slot_of_code[node.codes_met[i]] = -1


# Weigh each (code, class) of a column.
cdef void fill_histogram(
    SplitNode node, const code_t* column, const float64_t* weights
) noexcept nogil
