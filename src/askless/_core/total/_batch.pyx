"""Find the best set of tests to order at once, with a delayed test among them.

Every set is tried but those that cost too much whatever they tell; meant for tables
with few tests that are worth ordering.
"""

from libc.stdlib cimport free, malloc

import numpy as np

from askless._core.base._types cimport float64_t, int32_t, intp_t, uint8_t
from askless._core.engine._stoppable cimport Stoppable
from askless._core.total._expand cimport Expander
from askless._core.total._problem cimport Belief, TotalProblem


cdef float64_t SPENT = 1e-12


cdef class Batches:
    """The batches of a problem.

    Parameters
    ----------
    problem : TotalProblem
    expander : Expander
    clock : Stoppable
        Says when time is out.
    """

    def __init__(
        self,
        TotalProblem problem not None,
        Expander expander not None,
        Stoppable clock not None,
    ):
        self.problem = problem
        self.expander = expander
        self.clock = clock
        self.useful = np.zeros(problem.n_tests + 1, dtype=np.int32)
        self.is_in = np.zeros(problem.n_tests + 1, dtype=np.uint8)
        self.best_in = np.zeros(problem.n_tests + 1, dtype=np.uint8)
        self.opened = np.zeros(problem.prices.n_groups + 1, dtype=np.uint8)
        self.by_class = np.zeros(problem.n_classes + 1)

    cdef float64_t find(
        self, const Belief* state, const uint8_t* is_useful, const uint8_t* is_open,
        float64_t enough,
    ) except -1 nogil:
        cdef intp_t test, i
        self.n_useful = 0
        for test in range(self.problem.n_tests):
            self.is_in[test] = 0
            self.best_in[test] = 0
            if is_useful[test]:
                self.useful[self.n_useful] = <int32_t> test
                self.n_useful += 1
        self.best = enough
        self.best_first = -1
        self.least_loss = 0.0
        for i in range(state.n):
            self.least_loss += (
                state.weight[i]
                * self.problem.least_loss[self.problem.class_id[state.cases[i]]]
            )
        self.extend(state, is_open, 0, 0.0, state.weight, 1)
        return self.best

    cdef float64_t price(self, const uint8_t* is_open) noexcept nogil:
        """Return the least price of the batch, the delayed test that opens it first."""
        cdef:
            intp_t i, test
            float64_t least = 1e300, own
        self.first = -1
        for i in range(self.n_useful):
            test = self.useful[i]
            if self.is_in[test] and self.problem.prices.delayed[test]:
                own = self.price_after(test, is_open)
                if own < least:
                    least = own
                    self.first = <int32_t> test
        return least

    cdef float64_t price_after(
        self, intp_t first, const uint8_t* is_open
    ) noexcept nogil:
        """Return the price of the batch if one test comes first.

        Of a group that is not open yet, the test that is least dearer in full opens it.
        """
        cdef:
            intp_t i, j, test, group, opener
            float64_t price, extra, least
        for group in range(self.problem.prices.n_groups):
            self.opened[group] = is_open[group]
        price = self.expander.charge(first, -1, &self.opened[0])
        if self.problem.prices.group[first] >= 0:
            self.opened[self.problem.prices.group[first]] = 1
        for i in range(self.n_useful):
            test = self.useful[i]
            group = self.problem.prices.group[test]
            if not self.is_in[test] or test == first or group < 0:
                continue
            if self.opened[group]:
                continue
            least = 1e300
            opener = -1
            for j in range(self.n_useful):
                if not self.is_in[self.useful[j]] or self.useful[j] == first:
                    continue
                if self.problem.prices.group[self.useful[j]] != group:
                    continue
                extra = (
                    self.problem.prices.full[self.useful[j]]
                    - self.problem.prices.discounted[self.useful[j]]
                )
                if extra < least:
                    least = extra
                    opener = self.useful[j]
            price += least
            self.opened[group] = 1
        for i in range(self.n_useful):
            test = self.useful[i]
            if self.is_in[test] and test != first:
                price += self.expander.charge(test, -1, &self.opened[0])
        return price

    cdef float64_t decide_all(
        self, const Belief* state, const float64_t* leaves, intp_t n_leaves
    ) noexcept nogil:
        """Return the loss of deciding once the results of a batch are known."""
        cdef:
            Belief leaf = state[0]
            float64_t loss = 0.0
            intp_t k
        for k in range(n_leaves):
            leaf.weight = <float64_t*> (leaves + k * state.n)
            loss += self.problem.decide(&leaf, &self.by_class[0])
        return loss

    cdef int extend(
        self, const Belief* state, const uint8_t* is_open, intp_t begin,
        float64_t least_price, const float64_t* leaves, intp_t n_leaves,
    ) except -1 nogil:
        """Try every batch that begins with the tests that are in."""
        cdef:
            intp_t i, k, c, code, test, row, n_codes, n = state.n
            float64_t price, value, lower
            float64_t* parts
        for i in range(begin, self.n_useful):
            if not self.is_patient and self.clock.is_late():
                return 0
            test = self.useful[i]
            lower = least_price + min(
                self.problem.prices.full[test], self.problem.prices.discounted[test]
            )
            value = (
                self.problem.cost_weight * lower * state.total + self.least_loss
            )
            if value >= self.best or lower > state.left * (1 + SPENT) + SPENT:
                continue
            n_codes = self.problem.first[test + 1] - self.problem.first[test]
            parts = <float64_t*> malloc(n_leaves * n_codes * n * sizeof(float64_t))
            if parts == NULL:
                with gil:
                    raise MemoryError("no memory left to try a batch of tests")
            for k in range(n_leaves):
                for code in range(n_codes):
                    row = self.problem.first[test] + code
                    for c in range(n):
                        parts[(k * n_codes + code) * n + c] = (
                            leaves[k * n + c]
                            * self.problem.chance[row, state.cases[c]]
                        )
            self.is_in[test] = 1
            price = self.price(is_open)
            if self.first >= 0 and price <= state.left * (1 + SPENT) + SPENT:
                value = self.problem.cost_weight * price * state.total
                value += self.decide_all(state, parts, n_leaves * n_codes)
                if value < self.best:
                    self.best = value
                    self.best_first = self.first
                    self.best_in[:] = self.is_in
            try:
                self.extend(
                    state, is_open, i + 1, lower, parts, n_leaves * n_codes
                )
            finally:
                self.is_in[test] = 0
                free(parts)
        return 0
