"""Contract of what large and small nodes of a bagged tree share.

Lists of tests and classes of the nodes still to do lie in one arena. A node that is
taken off the stack owns the last ones, so what lies beyond them is free.
"""

cimport cython
from libc.math cimport INFINITY

from askless._core.greedy._criteria cimport Score, is_better
from askless._core.greedy._impurity cimport BOUND_SLACK, SCORE_TOLERANCE
from askless._core.greedy._limits cimport Limits
from askless._core.base._keys cimport mix_with
from askless._core.tree._store cimport TreeBuffer
from askless._core.base._types cimport float64_t, int32_t, intp_t, uint64_t


# Where a node hangs in the tree, and the tests that may still split it.
cdef struct Place:
    intp_t parent
    intp_t parent_branch
    intp_t depth
    intp_t tests    # in the arena
    intp_t n_tests
    uint64_t key


# The rows of a node and the classes that they have.
cdef struct NodeRows:
    intp_t start      # rows [start, start + n_rows[ of every column
    intp_t n_rows
    intp_t n_classes
    intp_t classes    # in the arena: classes present, then rows of each


cdef struct Best:
    intp_t test
    Score score


@cython.final
cdef class BagTask:
    cdef TreeBuffer tree
    cdef const float64_t[::1] price    # (n_tests,)
    cdef const int32_t[::1] n_levels   # (n_tests,)
    cdef intp_t n_tests
    cdef intp_t max_tests              # tests tried at a node; n_tests for all
    cdef float64_t alpha
    cdef Limits limits

    cdef float64_t[::1] totals         # weight of each class present in the node at hand
    cdef int32_t* arena
    cdef intp_t arena_room
    cdef uint64_t[::1] drawn           # (n_tests,) scratch

    # Make room for so many numbers in the arena, which may move.
    cdef int reserve(self, intp_t room) except -1 nogil

    # Copy a node's list of tests within the arena, in the order in which to try them: by
    # price, as in the list, or by random keys if only some are tried.
    cdef int list_tests(self, const Place* place, intp_t target) except -1 nogil

    # Make a node a cut. Missing is the last code, so it goes right; if the node met none,
    # a missing value follows the heavier side.
    cdef int set_cut(
        self, intp_t node, intp_t test, intp_t cut, bint has_missing,
        float64_t left_weight, float64_t weight,
    ) except -1 nogil


cdef inline Place child_place(
    const Place* place, intp_t node, intp_t branch, intp_t tests, intp_t n_tests
) noexcept nogil:
    """Return the place of a child of a node."""
    return Place(
        node, branch, place.depth + 1, tests, n_tests,
        mix_with(place.key, <uint64_t> branch),
    )


cdef inline Best no_split(BagTask task) noexcept nogil:
    return Best(task.n_tests, Score(INFINITY, 0.0))


cdef inline bint is_too_dear(
    float64_t price, float64_t reduction, const Best* best
) noexcept nogil:
    """Return whether no split of so little reduction can beat the best one."""
    # Without a division, which would be most of the work on a small set.
    if best.score.ratio == INFINITY:
        return False
    return reduction <= 0 or price * BOUND_SLACK > best.score.ratio * reduction


cdef inline bint offer(
    BagTask task, Best* best, intp_t test, float64_t whole, float64_t value
) noexcept nogil:
    """Take a split if it beats the best one so far; return whether it does.

    `value` is the larger impurity of its two sides.
    """
    cdef:
        float64_t reduction = whole - value, price = task.price[test]
        Score score
    if reduction <= SCORE_TOLERANCE * whole:
        return False
    if (
        best.score.ratio < INFINITY
        and price > best.score.ratio * (1 + 1e-9) * reduction
    ):
        # Clearly worse; what is close is left to the rule of ties.
        return False
    score.ratio = price / reduction
    score.reduction = reduction
    if not is_better(score, test, best.score, best.test):
        return False
    best.test = test
    best.score = score
    return True
