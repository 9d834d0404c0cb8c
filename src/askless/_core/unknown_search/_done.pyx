"""The tests done on the way to a state, and what tests charge there."""

import numpy as np

from askless._core.base._types cimport float64_t, intp_t
from askless._core.unknown_search._problem cimport UnknownProblem


cdef class DoneTests:
    """The tests done and the groups open."""

    def __init__(self, UnknownProblem problem not None):
        n_groups = problem.prices.n_groups if problem.has_context else 0
        self.problem = problem
        self.is_done = np.zeros(problem.table.n_tests + 1, dtype=np.uint8)
        self.is_open = np.zeros(n_groups + 1, dtype=np.uint8)
        self.is_paid = np.zeros(problem.table.n_tests + 1, dtype=np.uint8)

    def restart(self, done):
        """Stand where some tests are done."""
        cdef intp_t test
        self.is_done[:] = 0
        self.is_open[:] = 0
        for test in done:
            self.is_done[test] = 1
            if self.group_of(test) >= 0:
                self.is_open[self.group_of(test)] = 1

    cdef float64_t price_now(self, intp_t test, intp_t code) noexcept nogil:
        if not self.problem.has_context:
            return self.problem.price[test]
        return self.problem.prices.price(
            test, code, &self.is_paid[0], &self.is_open[0]
        )

    cdef bint may_open(self, intp_t test) noexcept nogil:
        if self.problem.table.n_levels[test] == 0:
            return False
        return self.group_of(test) >= 0 and not self.is_open[self.group_of(test)]

    cdef intp_t group_of(self, intp_t test) noexcept nogil:
        return self.problem.prices.group[test] if self.problem.has_context else -1
