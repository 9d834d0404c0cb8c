"""Contract of the cost engine: the one place that says what a test charges."""

from askless._core.base._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint8_t,
)


cdef class Prices:
    cdef readonly intp_t n_tests
    cdef readonly intp_t n_groups
    cdef readonly bint has_outcome_prices  # True iff some test is priced by outcome
    cdef readonly bint has_delays          # True iff some test is delayed
    cdef readonly bint has_groups          # True iff some test is in a group
    cdef const float64_t[::1] full            # (n_tests,)
    cdef const float64_t[::1] discounted      # (n_tests,) once the group is open
    cdef const int32_t[::1] group             # (n_tests,) -1: in no group
    cdef const uint8_t[::1] delayed           # (n_tests,)
    cdef const int64_t[::1] outcome_start     # (n_tests + 1,) into outcome_prices
    cdef const float64_t[::1] outcome_prices  # one price a level, by test

    # What `test` charges a case that has paid for the tests marked in `paid` and has
    # opened the groups marked in `is_open`. `code` is the outcome, -1 if not known yet.
    cdef float64_t price(
        self,
        intp_t test,
        intp_t code,
        const uint8_t* paid,
        const uint8_t* is_open,
    ) noexcept nogil

    # The same, and mark the test as paid and its group as open.
    cdef float64_t charge(
        self,
        intp_t test,
        intp_t code,
        uint8_t* paid,
        uint8_t* is_open,
    ) noexcept nogil


# What a case standing at a node has paid for, with a log to take marks back.
cdef class Path:
    cdef Prices prices
    cdef uint8_t[::1] paid       # (n_tests + 1,)
    cdef uint8_t[::1] is_open    # (n_groups + 1,)
    cdef int32_t[::1] log        # test t as t, group g as n_tests + g
    cdef intp_t n_marks

    # Charge for a test, its outcome not known, and log the new marks.
    cdef float64_t charge(self, intp_t test) noexcept nogil

    # Take back every mark made after the first n_marks.
    cdef void unwind(self, intp_t n_marks) noexcept nogil


# What an inner node charges when its outcome is left out of account; and notes.
cdef packed struct PricedNode:
    float64_t charged
    int32_t n_marks     # of the path, once the node's test is bought
    int32_t by_outcome  # the outcome says what is charged

# What a case has spent on reaching each node of a tree; see `price_nodes`. The path
# must stand at the root, and does so again at the end.
cdef void price_preorder(
    Path path, intp_t n_nodes, const int32_t* test, const int32_t* parent,
    const int32_t* parent_code, const int32_t* subtree_end, PricedNode* nodes,
    float64_t* spent,
) noexcept nogil
