"""Contract of pricing splits by the trees that could be grown below them."""

from askless._core.base._types cimport float64_t, int32_t, intp_t, uint8_t, uint64_t
from askless._core.soft._rows cimport RowSet, RowSets, SoftRows, Split
from askless._core.soft._splits cimport SplitFinder
from askless._core.price._prices cimport Path


# How a candidate is priced.
cdef struct LookAhead:
    int criterion        # TWO_STEP or ROLLOUT
    intp_t n_samples     # random trees on each branch, beside two greedy ones
    uint64_t key         # source of random numbers


# One for each thread; the others are reached through `next`.
cdef class Rollout:
    cdef SoftRows examples
    cdef RowSets sets
    cdef SplitFinder finder
    cdef Path path
    cdef Rollout next
    cdef bint use_floors       # switch: changes time, never the answer
    cdef const int32_t* stop   # not zero once another thread wants an end; or NULL

    # Stand at a node: its rows, what has been paid for there, and what is due.
    cdef RowSet enter(
        self, const int32_t[::1] rows, const uint8_t[::1] paid,
        const uint8_t[::1] is_open, float64_t due,
    )

    # Raise if memory ran out.
    cdef int check(self) except -1

    cdef float64_t leaf_of(self, const RowSet* rows) noexcept nogil

    # Buy a test for a set.
    cdef void buy(self, intp_t test, float64_t weight) noexcept nogil

    # What a tree costs that a criterion grows on a set, and that is pruned. One that
    # costs the limit or more is not grown to its end; what is returned then is no less
    # than the limit. If something is due, what the tree buys stays marked as paid;
    # where the limit ended it, the caller ends too and takes marks back.
    cdef float64_t price_set(
        self, RowSet rows, int criterion, uint64_t key, float64_t limit
    ) noexcept nogil
    cdef float64_t price_below(
        self, const RowSet* rows, const Split* split, int criterion, uint64_t key,
        float64_t leaf, float64_t limit,
    ) noexcept nogil

    # What a split of a set costs, by looking ahead; infinity once that is beyond the
    # bound by more than a tie. Leaves payments and sets as they were.
    cdef float64_t price_candidate(
        self, RowSet rows, Split split, LookAhead how, float64_t bound
    ) noexcept nogil
    cdef float64_t price_apart(
        self, const RowSet* rows, const Split* split, intp_t first, intp_t n_branches,
        const LookAhead* how, float64_t bound,
    ) noexcept nogil
    cdef float64_t price_branch(
        self, const RowSet* rows, const LookAhead* how, uint64_t key, float64_t limit
    ) noexcept nogil
    cdef float64_t price_together(
        self, intp_t first, intp_t n_branches, const LookAhead* how, float64_t bound
    ) noexcept nogil

    # The same by the thread-th of them.
    cdef float64_t price_candidate_on(
        self, intp_t thread, RowSet rows, Split split, LookAhead how, float64_t bound
    ) noexcept nogil
