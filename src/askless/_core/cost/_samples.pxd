"""Contract of sampled look-ahead: grow a tree, add up what it costs, forget it."""

from askless._core.cost._errors cimport ErrorTable
from askless._core.cost._criteria cimport Choice, Taste
from askless._core.base._types cimport float64_t, int32_t, intp_t, uint64_t
from askless._core.cost._workspace cimport Workspace


# What a leaf is worth, and with it what a tree is judged by.
cdef enum Value:
    BY_COST = 0    # expected cost of mistakes; trees add what tests charge
    BY_ERRORS = 1  # expected errors, as C4.5 reckons them
    BY_LEAVES = 2  # 1: trees are judged by their size


# The value of a leaf at the node that was weighed last.
cdef float64_t leaf_value(Workspace ws, Value value, ErrorTable errors) noexcept nogil


# One for each thread; the others are reached through `next`.
cdef class Sampler:
    cdef readonly Workspace ws
    cdef readonly ErrorTable errors
    cdef Sampler next
    cdef Taste taste
    cdef Value value
    cdef bint greedy_first         # the first sample of a branch is the greedy tree
    cdef bint prunes               # a sample may stop where a leaf is no dearer
    cdef bint use_bounds           # switch: changes time, never the answer
    cdef const int32_t[::1] stop   # (1,) not 0: give up as soon as possible
    cdef Choice* judged            # (n_tests,)
    cdef int32_t[::1] node_rows    # (n_rows,) to put rows back
    cdef int32_t[::1] branch_rows  # (n_rows,) to put rows back
    cdef int32_t[::1] kept_marks   # (n_tests + n_groups + 1,)

    # A test drawn with a chance that follows its score, as `choose` returns one.
    cdef Choice draw_choice(
        self, intp_t start, intp_t n, intp_t active, intp_t n_active, uint64_t key,
        float64_t ordering, intp_t* kept, intp_t* n_kept,
    ) noexcept nogil

    # What a sampled tree for these rows costs, or anything >= limit if that is more.
    # Tests that may part them are listed at `active` on the stack of the workspace.
    cdef float64_t price_sample(
        self, intp_t start, intp_t n, intp_t active, intp_t n_active, uint64_t key,
        float64_t ordering, bint is_random, float64_t limit, intp_t depth,
    ) noexcept nogil

    # What a node costs if it asks `choice` and the best of n_samples trees in each
    # branch after it, or anything >= limit. Leaves rows and payments as they were.
    cdef float64_t price_choice(
        self, intp_t start, intp_t n, intp_t active, intp_t n_active, uint64_t key,
        float64_t ordering, float64_t weight, const Choice* choice, intp_t n_samples,
        float64_t limit,
    ) noexcept nogil

    # The same by the thread-th sampler.
    cdef float64_t price_choice_on(
        self, intp_t thread, intp_t start, intp_t n, intp_t active, intp_t n_active,
        uint64_t key, float64_t ordering, float64_t weight, const Choice* choice,
        intp_t n_samples, float64_t limit,
    ) noexcept nogil

    # Stand every other sampler where this one stands, with the same list of tests.
    cdef void stand_beside(
        self, Sampler first, intp_t start, intp_t n, intp_t active, intp_t n_active
    ) noexcept nogil


# The key of a child, from that of its parent.
cdef uint64_t child_key(
    uint64_t key, intp_t test, intp_t cut, intp_t branch
) noexcept nogil
