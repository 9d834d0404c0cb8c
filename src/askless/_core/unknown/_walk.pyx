"""Follow a rule on a table with unknown outcomes: which test it takes next.

This module must not know how a rule scores, nor what tests are called.
"""

from libc.math cimport exp2, log2
from libc.string cimport memset

import numpy as np

from askless._core.base._types cimport float64_t, int32_t, intp_t, uint64_t
from askless._core.price._prices cimport Prices
from askless._core.unknown._parts cimport (
    Weighed, close_scratch, open_scratch, ODTN_H, ODTN_H_RELEASED,
)
from askless._core.unknown._scores cimport choose_best, score_test
from askless._core.unknown._settled cimport Settled
from askless._core.unknown._table cimport State, UnknownTable, code_of, TELLS_NOTHING


cdef class RuleWalk:
    """A rule on a table: by score, or a fixed order of tests.

    Parameters
    ----------
    table : UnknownTable
    prices : Prices
    rule : int
        One of the rules of ``_parts``; not looked at with an order.
    order : ndarray of int32, optional
        Tests in a fixed order.
    skips : bool
        Whether tests of the order that can rule out no case are left out.
    near : ndarray of uint64 of shape (n_cases, n_words), optional
        Bits of the cases that each case need not be told from. With it, a set inside
        the neighbourhood of one case is settled.
    copy_bits : ndarray of shape (n_cases,), optional
        For rules that count copies: the logarithm of how many each case has.
    keys_all_done : bool
        Whether what was done matters beyond the cases that it left.
    """

    def __init__(
        self,
        UnknownTable table not None,
        Prices prices not None,
        int rule,
        *,
        const int32_t[::1] order=None,
        bint skips=False,
        const uint64_t[:, ::1] near=None,
        copy_bits=None,
        bint keys_all_done=False,
    ):
        self.table = table
        self.prices = prices
        self.settled = Settled(table.class_id, near, True)
        self.rule = rule
        self.has_order = order is not None
        if order is not None:
            self.order = order
        self.skips = skips
        self.keys_all_done = keys_all_done or prices.has_groups
        self.weights = np.zeros(table.n_cases)
        self.copies = np.zeros(table.n_cases)
        if copy_bits is not None:
            self.copy_bits = copy_bits
        self.scores = np.zeros(table.n_tests)
        self.price_now = np.asarray(prices.full).copy()
        self.effects = np.zeros(table.n_tests, dtype=np.uint8)
        self.is_done = np.zeros(table.n_tests + 1, dtype=np.uint8)
        self.is_open = np.zeros(prices.n_groups + 1, dtype=np.uint8)
        self.path = np.zeros(table.n_tests + 1, dtype=np.int32)
        open_scratch(&self.scratch, table.most_codes)

    def __dealloc__(self):
        close_scratch(&self.scratch)

    cdef void restart(self) noexcept nogil:
        self.depth = 0
        memset(&self.is_done[0], 0, self.is_done.shape[0])
        memset(&self.is_open[0], 0, self.is_open.shape[0])

    cdef bint enter(self, intp_t test) noexcept nogil:
        cdef int32_t group = self.prices.group[test]
        cdef bint opens = group >= 0 and not self.is_open[group]
        self.is_done[test] = 1
        if opens:
            self.is_open[group] = 1
        self.path[self.depth] = <int32_t> test
        self.depth += 1
        return opens

    cdef void leave(self, bint opened) noexcept nogil:
        self.depth -= 1
        self.is_done[self.path[self.depth]] = 0
        if opened:
            self.is_open[self.prices.group[self.path[self.depth]]] = 0

    cdef void measure(self, const State* state) noexcept nogil:
        cdef:
            intp_t test
            Weighed weighed
        if self.has_order and not self.skips:
            return
        self.table.weigh(state, &self.weights[0])
        weighed.cases = state.cases
        weighed.weights = &self.weights[0]
        weighed.extra = NULL
        weighed.n = state.n
        if self.rule == ODTN_H or self.rule == ODTN_H_RELEASED:
            self.count_copies(state)
            weighed.extra = &self.copies[0]
        for test in range(self.table.n_tests):
            self.scores[test] = score_test(
                self.table, test, &weighed, self.rule, &self.scratch,
                &self.effects[test],
            )

    cdef void count_copies(self, const State* state) noexcept nogil:
        """Count in how many ways the draws of each case can still come, scaled."""
        cdef:
            intp_t test, i, j, unknown
            float64_t most = -1e300, bits
        for i in range(state.n):
            self.copies[i] = self.copy_bits[state.cases[i]]
        for j in range(self.depth):
            test = self.path[j]
            unknown = self.table.n_levels[test] + 1
            if self.table.n_support[test] < 2:
                continue
            bits = log2(<float64_t> self.table.n_support[test])
            for i in range(state.n):
                if code_of(self.table, test, state.cases[i]) == unknown:
                    self.copies[i] -= bits
        for i in range(state.n):
            most = max(most, self.copies[i])
        for i in range(state.n):
            self.copies[i] = exp2(self.copies[i] - most)

    cdef intp_t choose(self, intp_t* position) noexcept nogil:
        cdef intp_t test
        if self.has_order:
            while position[0] < self.order.shape[0]:
                test = self.order[position[0]]
                position[0] += 1
                if not self.skips or self.effects[test] != TELLS_NOTHING:
                    return test
            return -1
        if self.prices.has_groups:
            for test in range(self.table.n_tests):
                self.price_now[test] = self.prices.price(
                    test, -1, &self.is_done[0], &self.is_open[0]
                )
        return choose_best(
            &self.scores[0], &self.price_now[0], &self.effects[0], &self.is_done[0],
            self.table.n_tests,
        )
