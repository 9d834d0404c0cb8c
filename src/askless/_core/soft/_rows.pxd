"""Contract of rows that have a share of every class, and of sets of such rows.

What is summed over a set lies in one stretch of `stride` numbers, in a row as in a set:

    class 0 .. class k-1 | weight | floor | zeros up to a multiple of four

The floor of a row is what its cheapest decision costs. That of a set has the constant
cost of one leaf added: no tree on these rows costs less.
"""

from askless._core.base._types cimport (
    float64_t, int32_t, intp_t, uint8_t, uint16_t, uint64_t,
)
from askless._core.cost._workspace cimport Workspace


cdef extern from "askless/_core/soft/rows.h" nogil:
    void add_row(double* sums, const double* row, Py_ssize_t stride)


# A split of a set, and what it was found to be worth.
cdef struct Split:
    int32_t test           # -1: none
    int32_t cut            # -1: a branch for every code
    bint missing_right     # where missing numbers go
    float64_t value        # larger is better
    float64_t charge       # of the whole set


# A set of rows on the stacks of a RowSets.
cdef struct RowSet:
    intp_t start           # its rows are rows[start : start + n]
    intp_t n
    intp_t sums            # its sums are sums[sums : sums + stride]
    float64_t weight
    float64_t floor


# How full the stacks are.
cdef struct Fill:
    intp_t n_rows
    intp_t n_sums
    intp_t n_sets


# What leaves cost. Pointers into arrays of the SoftRows that owns it.
cdef struct LeafCosts:
    intp_t n_classes
    const float64_t* mistakes   # [true * n_classes + decision]
    const float64_t* by_class   # (n_classes,) if mistakes on a class cost the same
    float64_t constant          # of every leaf, beside its mistakes


# The cost of a leaf: its cheapest decision and the constant.
cdef inline float64_t price_leaf(
    const LeafCosts* costs, const float64_t* weights
) noexcept nogil:
    cdef:
        float64_t total = 0.0, most = 0.0, cost, least = 0.0
        intp_t true, decision
    if costs.by_class != NULL:
        for true in range(costs.n_classes):
            cost = weights[true] * costs.by_class[true]
            total += cost
            most = max(most, cost)
        return total - most + costs.constant
    for decision in range(costs.n_classes):
        cost = 0.0
        for true in range(costs.n_classes):
            cost += weights[true] * costs.mistakes[true * costs.n_classes + decision]
        least = cost if decision == 0 else min(least, cost)
    return least + costs.constant


# The examples: shared by threads, never written.
cdef class SoftRows:
    cdef Workspace ws
    cdef readonly intp_t n_rows
    cdef readonly intp_t n_tests
    cdef readonly intp_t n_classes
    cdef readonly intp_t n_codes              # of the test that has most
    cdef readonly intp_t stride
    cdef const uint8_t* narrow                # [test * n_rows + row], or NULL
    cdef const uint16_t* wide                 # the same if codes are two bytes
    cdef const int32_t[::1] n_levels
    cdef const uint8_t[::1] is_ordered
    cdef const float64_t[::1] by_class
    cdef float64_t[::1] row_floor             # (n_rows,)
    cdef float64_t[:, ::1] dense              # (n_rows, stride); no rows if too wide
    cdef bint is_dense
    cdef LeafCosts leaf

    cdef void find_floors(self)
    cdef void fill_dense(self)

    # Add a row to the sums of a set, class by class.
    cdef void add_entries(self, float64_t* sums, intp_t row) noexcept nogil


# Add a row to the sums of a set.
cdef inline void add_to(
    SoftRows examples, float64_t* sums, intp_t row
) noexcept nogil:
    if examples.is_dense:
        add_row(sums, &examples.dense[row, 0], examples.stride)
    else:
        examples.add_entries(sums, row)


# The sets that one thread looks at, on its way down and back. The stacks may move when
# they grow, so sets are known by where they begin; a pointer into them is good until
# the next set is made.
cdef class RowSets:
    cdef SoftRows examples
    cdef intp_t stride
    cdef int32_t* rows
    cdef intp_t n_rows
    cdef intp_t row_room
    cdef float64_t* sums
    cdef intp_t n_sums
    cdef intp_t sum_room
    cdef RowSet* sets
    cdef intp_t n_sets
    cdef intp_t set_room
    cdef bint failed             # memory ran out

    # What `count` found: the sums of the rows with code c begin at cells[c * stride].
    cdef float64_t* cells        # (n_codes, stride)
    cdef int32_t* met            # (n_met,) codes that occur; of a number, ascending
    cdef intp_t n_met
    cdef uint64_t* seen          # a bit a code; all zero between calls
    cdef int32_t* branch_of      # (n_codes,)

    # Forget all sets.
    cdef void clear(self) noexcept nogil

    # A set of given rows.
    cdef RowSet push(self, const int32_t[::1] rows) noexcept

    # Count one test over a set.
    cdef void count(self, const RowSet* rows, intp_t test) noexcept nogil

    # Make the branches of a split: `n_branches` sets from the returned place on. Of a
    # cut, the lower side and the upper one; else one for every code, ascending. None if
    # memory ran out.
    cdef intp_t divide(
        self, const RowSet* rows, const Split* split, intp_t* n_branches
    ) noexcept nogil

    cdef Fill fill(self) noexcept nogil
    cdef void release(self, Fill fill) noexcept nogil

    # Steps of `count` and `divide`.
    cdef void count_number(
        self, const RowSet* rows, intp_t test, intp_t n_codes
    ) noexcept nogil
    cdef void count_met(self, const RowSet* rows, intp_t test) noexcept nogil
    cdef void list_seen(self, intp_t test) noexcept nogil
    cdef intp_t number_branches(
        self, const RowSet* rows, const Split* split
    ) noexcept nogil
    cdef bint reserve(self, intp_t n_rows, intp_t n_sets) noexcept nogil
