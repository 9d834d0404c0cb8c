"""Find the best last test of a path: what it leaves is decided at once.

Where a path may spend little, most states of a search are of this kind. Nothing has to
be bounded there, and what the outcomes leave need not be written out.
"""

import numpy as np

from askless._core.base._types cimport float64_t, int32_t, intp_t, uint8_t
from askless._core.total._expand cimport Expander
from askless._core.total._problem cimport Belief, TotalProblem


# What a path may spend beyond its limit by rounding, relatively.
cdef float64_t SPENT = 1e-12


cdef inline float64_t with_rounding(float64_t left) noexcept nogil:
    return left * (1 + SPENT) + SPENT


cdef class LastTests:
    """The last tests of a problem.

    Parameters
    ----------
    problem : TotalProblem
    expander : Expander
    """

    def __init__(self, TotalProblem problem not None, Expander expander not None):
        cdef intp_t test, code
        cdef uint8_t[::1] is_open = np.zeros(problem.prices.n_groups + 1, dtype=np.uint8)
        self.problem = problem
        self.expander = expander
        self.present = np.zeros(problem.n_classes + 1, dtype=np.int32)
        self.by_class = np.zeros(problem.n_classes + 1)
        mistakes = np.asarray(problem.mistakes)
        price = float(mistakes.max())
        is_even = np.array_equal(mistakes, price * (1.0 - np.eye(len(mistakes))))
        self.even = price if is_even else -1.0
        self.least = 1e300
        for state in (0, 1):
            is_open[:] = state
            for test in range(problem.n_tests):
                for code in range(problem.first[test + 1] - problem.first[test]):
                    self.least = min(
                        self.least, expander.charge(test, code, &is_open[0])
                    )

    cdef intp_t count(self, const Belief* state) noexcept nogil:
        if self.problem.prices.has_delays:
            return 2
        if with_rounding(state.left) < self.least:
            return 0
        return 1 if with_rounding(state.left - self.least) < self.least else 2

    cdef float64_t find(
        self, const Belief* state, const uint8_t* is_useful, const uint8_t* is_done,
        const uint8_t* is_open, float64_t stop, int32_t* test,
    ) noexcept nogil:
        cdef:
            intp_t t, i, c, n_present = 0
            int32_t earlier
            float64_t best = stop, cost
        test[0] = -1
        for c in range(self.problem.n_classes):
            self.by_class[c] = 0.0
        for i in range(state.n):
            c = self.problem.class_id[state.cases[i]]
            if self.by_class[c] == 0:
                self.by_class[c] = 1.0
                self.present[n_present] = <int32_t> c
                n_present += 1
        for t in range(self.problem.n_tests):
            if not is_useful[t]:
                continue
            earlier = self.problem.earlier[t]
            if earlier >= 0 and not is_done[earlier]:
                continue
            if self.expander.most_charged(t, is_open) > with_rounding(state.left):
                continue
            if self.problem.prices.has_outcome_prices:
                self.expander.count_codes(state, t)
            cost = self.problem.cost_weight * self.expander.mean_charge(
                state, t, is_open
            )
            if cost < best:
                cost += self.lost_after(state, t, n_present, best - cost)
            if cost < best:
                best = cost
                test[0] = <int32_t> t
        return best

    cdef float64_t lost_after(
        self, const Belief* state, intp_t test, intp_t n_present, float64_t enough
    ) noexcept nogil:
        """Return what deciding after a test loses; at least `enough` may do."""
        cdef:
            intp_t row, i, k
            const float64_t* chance
            float64_t lost = 0.0, total, own
        for row in range(self.problem.first[test], self.problem.first[test + 1]):
            chance = &self.problem.chance[row, 0]
            for k in range(n_present):
                self.by_class[self.present[k]] = 0.0
            total = 0.0
            for i in range(state.n):
                own = chance[state.cases[i]]
                if own > 0:
                    own *= state.weight[i]
                    total += own
                    self.by_class[self.problem.class_id[state.cases[i]]] += own
            if total > 0:
                lost += self.decide(n_present, total)
            if lost >= enough:
                break
        return lost

    cdef float64_t decide(self, intp_t n_present, float64_t total) noexcept nogil:
        """Return the least loss of the classes as they are counted."""
        cdef:
            intp_t k, decision
            float64_t loss, best = 0.0
        if self.even >= 0:
            for k in range(n_present):
                best = max(best, self.by_class[self.present[k]])
            return self.even * (total - best)
        for decision in range(self.problem.n_classes):
            loss = 0.0
            for k in range(n_present):
                loss += (
                    self.by_class[self.present[k]]
                    * self.problem.mistakes[self.present[k], decision]
                )
            if decision == 0 or loss < best:
                best = loss
        return best
