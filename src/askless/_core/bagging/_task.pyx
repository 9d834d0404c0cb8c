"""What large and small nodes of a bagged tree share: the tree, the limits and lists.

This module must not know the rows of a node.
"""

from libc.stdlib cimport free, realloc
from libc.string cimport memcpy

import numpy as np

from askless._core.greedy._draws cimport sort_by_keys
from askless._core.greedy._limits cimport read_limits
from askless._core.tree._store cimport TreeBuffer
from askless._core.base._types cimport float64_t, int32_t, intp_t


cdef class BagTask:
    """One growth: its options, the tree so far, and the lists of the nodes to do."""

    def __init__(
        self, rows, const float64_t[::1] price not None, float64_t alpha, limits, draws,
        intp_t most_classes,
    ):
        self.tree = TreeBuffer()
        self.price = price
        self.n_levels = rows.n_levels
        self.n_tests = price.shape[0]
        self.max_tests = draws.max_tests or self.n_tests
        self.alpha = alpha
        self.limits = read_limits(limits)
        self.totals = np.empty(most_classes)
        self.drawn = np.empty(self.n_tests + 1, dtype=np.uint64)

    def __dealloc__(self):
        free(self.arena)

    cdef int reserve(self, intp_t room) except -1 nogil:
        cdef int32_t* larger
        if room <= self.arena_room:
            return 0
        room = 2 * room + 1024
        larger = <int32_t*> realloc(self.arena, room * sizeof(int32_t))
        if larger == NULL:
            with gil:
                raise MemoryError("no memory left for the nodes to grow")
        self.arena = larger
        self.arena_room = room
        return 0

    cdef int list_tests(self, const Place* place, intp_t target) except -1 nogil:
        self.reserve(target + place.n_tests)
        memcpy(
            self.arena + target, self.arena + place.tests,
            place.n_tests * sizeof(int32_t),
        )
        if self.max_tests < self.n_tests:
            sort_by_keys(
                self.arena + target, place.n_tests, place.key, &self.drawn[0]
            )
        return 0

    cdef int set_cut(
        self, intp_t node, intp_t test, intp_t cut, bint has_missing,
        float64_t left_weight, float64_t weight,
    ) except -1 nogil:
        self.tree.test[node] = <int32_t> test
        self.tree.cut[node] = <int32_t> cut
        self.tree.add_branch(0)
        self.tree.add_branch(1)
        self.tree.default_branch[node] = (
            1 if has_missing or left_weight < weight - left_weight else 0
        )
        return 0
