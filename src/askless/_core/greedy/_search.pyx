"""Find the best split of a node among all tests, or among some that are drawn.

This module must not know how the split by one test is found, nor what is done with the
best one.
"""

from libc.math cimport INFINITY
from libc.string cimport memmove

import numpy as np

from askless._core.greedy._counting cimport largest_at_most
from askless._core.greedy._criteria cimport Criterion, Score, is_better
from askless._core.greedy._draws cimport sort_by_keys
from askless._core.greedy._node cimport SplitNode, column_of
from askless._core.greedy._splits cimport Split, Trial, score_test
from askless._core.price._prices cimport Prices
from askless._core.base._types cimport (
    int32_t, intp_t, uint8_t, uint16_t,
)


cdef inline bint is_hopeless(SplitSearch search, const Trial* trial) noexcept nogil:
    """Return whether no split by a test can beat the best one so far."""
    return (
        search.use_bounds
        and trial.best_ratio < INFINITY
        and not search.prices.has_outcome_prices
        and search.criterion.least_ratio(search.whole, trial.price) > trial.best_ratio
    )


cdef class SplitSearch(SplitNode):
    """The best test of a node; holds the parameters and the scratch memory."""

    def __init__(
        self,
        rows,
        Criterion criterion not None,
        Prices prices not None,
        intp_t n_classes,
        *,
        draws,
        bint use_crossing=True,
        bint use_bounds=True,
    ):
        SplitNode.__init__(self, rows, criterion, prices, n_classes)
        self.use_crossing = use_crossing
        self.use_bounds = use_bounds
        self.room = INFINITY
        self.bought = np.zeros(prices.n_tests + 1, dtype=np.uint8)
        self.drawn = np.zeros(prices.n_tests + 1, dtype=np.uint64)
        self.max_tests = prices.n_tests
        if draws.max_tests > 0:
            self.max_tests = min(<intp_t> draws.max_tests, prices.n_tests)
        self.draws_cuts = draws.cut_values is not None
        if self.draws_cuts:
            self.cut_values = draws.cut_values
            self.cut_value_start = draws.cut_value_start

    cdef Split find_best(self, int32_t* active, intp_t* n_active) noexcept nogil:
        cdef:
            intp_t i = 0, n_tried = 0
            Split best, split
            Trial trial
            bint can_split
            bint tries_all = self.max_tests == self.prices.n_tests
        if not tries_all:
            sort_by_keys(active, n_active[0], self.key, &self.drawn[0])
        trial.use_crossing = self.use_crossing
        trial.use_bounds = self.use_bounds
        best.test = self.prices.n_tests
        best.cut = -1
        best.score = Score(INFINITY, 0.0)
        while i < n_active[0] and n_tried < self.max_tests:
            trial.test = active[i]
            if self.room < INFINITY and not self.is_affordable(trial.test):
                i += 1
                continue
            trial.price = self.prices.price(trial.test, -1, self.paid, self.is_open)
            trial.best_ratio = best.score.ratio
            if tries_all and is_hopeless(self, &trial):
                i += 1
                continue
            if self.is_wide:
                can_split = score_test[uint16_t](
                    self, &trial, <const uint16_t*> column_of(self, trial.test), &split
                )
            else:
                can_split = score_test[uint8_t](
                    self, &trial, <const uint8_t*> column_of(self, trial.test), &split
                )
            if not can_split:
                self.drop_test(active, n_active, i)
                continue
            if is_better(split.score, trial.test, best.score, best.test):
                best = split
            i += 1
            n_tried += 1
        if best.score.ratio == INFINITY:
            best.test = -1
        elif best.cut >= 0:
            best.cut = self.lower_cut(best.test, best.cut)
        return best

    cdef void drop_test(
        self, int32_t* active, intp_t* n_active, intp_t i
    ) noexcept nogil:
        # Constant here, so constant in every subset: out of the list for the whole
        # subtree. The parent's list keeps it, behind its own end.
        cdef int32_t test = active[i]
        n_active[0] -= 1
        if self.max_tests < self.prices.n_tests:
            # The rest stays in its random order.
            memmove(active + i, active + i + 1, (n_active[0] - i) * sizeof(int32_t))
        else:
            active[i] = active[n_active[0]]
        active[n_active[0]] = test

    cdef intp_t lower_cut(self, intp_t test, intp_t cut) noexcept nogil:
        # The stored cut is a code that occurs on the left, whichever empty levels the
        # search ended on.
        cdef:
            const void* column = column_of(self, test)
            intp_t n = self.rows.n_rows
        if self.is_wide:
            return largest_at_most(<const uint16_t*> column, n, cut)
        return largest_at_most(<const uint8_t*> column, n, cut)

    cdef bint is_affordable(self, intp_t test) noexcept nogil:
        cdef:
            const uint8_t* bought = &self.bought[0]
            const uint8_t* is_open = self.is_open
            intp_t i, n
        if self.is_ordered[test] or not self.prices.has_outcome_prices:
            return self.prices.price(test, -1, bought, is_open) <= self.room
        n = self.list_outcomes(test)
        for i in range(n):
            if self.prices.price(test, self.codes_met[i], bought, is_open) > self.room:
                return False
        return True
