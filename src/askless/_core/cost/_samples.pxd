"""Contract of sampled look-ahead: grow a tree, add up what it costs, forget it."""

from askless._core.base._types cimport float64_t, int32_t, intp_t, uint64_t
from askless._core.cost._criteria cimport Choice, Criterion, SplitCriterion
from askless._core.cost._errors cimport ErrorTable
from askless._core.cost._workspace cimport Node, Workspace


cdef enum:
    # A recursion deeper than this ends in a leaf; the thread's stack is not endless.
    MAX_DEPTH = 5000


# What a leaf is worth, and with it how trees compare.
cdef enum Value:
    BY_COST = 0    # expected cost of mistakes; trees add what tests charge
    BY_ERRORS = 1  # expected errors, as C4.5 reckons them
    BY_LEAVES = 2  # 1: the smaller tree is better


# The value of a leaf at the node that was weighed last.
cdef float64_t leaf_value(Workspace ws, Value value, ErrorTable errors) noexcept nogil


# How sample trees are drawn, and how many.
cdef class Sampling:
    cdef readonly intp_t n_samples
    cdef Value value
    cdef bint greedy_first         # the first sample of a branch is the greedy tree
    cdef bint prunes               # a sample may stop where a leaf is no dearer
    cdef uint64_t seed
    cdef intp_t n_threads


# One for each thread; the others are reached through `next`.
cdef class Sampler:
    cdef readonly Workspace ws
    cdef readonly ErrorTable errors
    cdef Sampler next
    cdef Criterion criterion
    cdef Value value
    cdef bint greedy_first
    cdef bint prunes
    cdef bint use_bounds           # switch: changes time, never the answer
    cdef const int32_t[::1] stop   # (1,) not 0: give up as soon as possible
    cdef Choice* scored            # (n_tests,)
    cdef int32_t[::1] node_rows    # (n_rows,) to put rows back
    cdef int32_t[::1] branch_rows  # (n_rows,) to put rows back
    cdef int32_t[::1] kept_marks   # (n_tests + n_groups + 1,)

    # A test drawn with a chance that follows its score, as `choose` returns one.
    cdef Choice draw_choice(
        self, const Node* node, intp_t* kept, intp_t* n_kept
    ) noexcept nogil

    # What a sampled tree for a node costs, or anything >= limit if that is more.
    cdef float64_t price_sample(
        self, const Node* node, bint is_random, float64_t limit, intp_t depth
    ) noexcept nogil

    # What a node of some weight costs if it asks `choice` and the best of n_samples
    # trees in each branch after it, or anything >= limit. Leaves rows and payments as
    # they were.
    cdef float64_t price_choice(
        self, const Node* node, float64_t weight, const Choice* choice,
        intp_t n_samples, float64_t limit,
    ) noexcept nogil
    cdef float64_t price_branch(
        self, const Node* branch, intp_t n_samples, float64_t limit
    ) noexcept nogil

    # The same by the thread-th sampler.
    cdef float64_t price_choice_on(
        self, intp_t thread, const Node* node, float64_t weight, const Choice* choice,
        intp_t n_samples, float64_t limit,
    ) noexcept nogil

    # Stand this sampler and those after it where the first one stands, at a node.
    cdef void stand_beside(self, Sampler first, const Node* node) noexcept nogil
