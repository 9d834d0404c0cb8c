"""Build the backbone of one call of DecTree: find its budget, then its tests.

This module knows one set of cases at a time. It must not know what becomes of the cases
that leave the chain.
"""

from libc.math cimport INFINITY
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy

import numpy as np

from askless._core.chain._lazy_greedy cimport LazyGreedy
from askless._core.base._types cimport float64_t, int32_t, int64_t, intp_t, uint8_t


# Sums of prices closer than this, relatively, are equal.
cdef float64_t TOLERANCE = 1e-12

# Where prices are not whole numbers a budget is found up to this, relatively.
cdef float64_t BUDGET_TOLERANCE = 1e-9


cdef class Backbone(LazyGreedy):
    """The chain of one set of cases at a time.

    Parameters
    ----------
    codes, class_of, weights, prior, prices, use_laziness
        See :class:`LazyGreedy`.
    alpha : float
        The share of the pairs that the tests within a budget must cover.
    is_guarded, keep_all : bool
        See :func:`askless.solve.greedy._dectree.grow_dectree_tree`; guarded is its
        recommended form.
    """

    def __init__(
        self,
        codes not None,
        class_of not None,
        weights not None,
        prior not None,
        prices not None,
        *,
        float64_t alpha,
        bint is_guarded,
        bint keep_all,
        bint use_laziness=True,
    ):
        LazyGreedy.__init__(self, codes, class_of, weights, prior, prices, use_laziness)
        self.alpha = alpha
        self.is_guarded = is_guarded
        self.keep_all = keep_all
        self.has_whole_prices = bool(
            np.all(np.floor(prices) == prices) and np.sum(prices) < 2.0**53
        )
        self.candidates = np.zeros(self.n_tests, dtype=np.int32)
        self.order = np.zeros(self.n_tests, dtype=np.int32)
        self.order_spent = np.zeros(self.n_tests)

    def __dealloc__(self):
        free(self.steps)

    cdef int build(
        self, intp_t first, intp_t n_rows,
        int32_t* tests, intp_t* n_splitting, const uint8_t* is_used,
    ) except -1 nogil:
        cdef intp_t free_test
        self.open(first, n_rows)
        self.list_candidates(tests, n_splitting, is_used)
        if self.n_splitting == 0:
            return 0
        free_test = self.find_free()
        if free_test >= 0:
            self.add_free_test(free_test)
        else:
            self.budget = self.find_budget()
            self.build_chain()
        # Tests behind the first n_splitting show the same for all rows.
        self.move_rows(tests, n_splitting[0])
        return 0

    cdef int list_candidates(
        self, int32_t* tests, intp_t* n_splitting, const uint8_t* is_used
    ) except -1 nogil:
        """Measure all tests on the set, and start with an empty chain."""
        cdef:
            intp_t i = 0
            int32_t test
        self.n_steps = 0
        self.n_affordable = -1
        self.is_over = False
        self.budget = self.spent_on_weight = self.spent_on_pairs = 0.0
        while i < n_splitting[0]:
            test = tests[i]
            if self.measure_test(test):
                self.candidates[i] = test
                i += 1
            else:
                # Constant here, so constant in every subset.
                n_splitting[0] -= 1
                tests[i] = tests[n_splitting[0]]
                tests[n_splitting[0]] = test
        self.n_splitting = self.n_candidates = i
        if is_used == NULL:
            return 0
        for i in range(n_splitting[0], self.n_tests):
            test = tests[i]
            if not is_used[test] and self.prices[test] > 0:
                self.candidates[self.n_candidates] = test
                self.n_candidates += 1
                self.measure_test(test)
        return 0

    # The budget.

    cdef void make_order(self, float64_t budget) noexcept nogil:
        """Order the tests of at most the budget as the adapted greedy takes them.

        The order ends as soon as it covers the target. It is the same for all budgets
        that allow the same tests.
        """
        cdef:
            intp_t test
            float64_t spent = 0.0
        self.n_order = 0
        self.is_enough = False
        self.uncover_all()
        self.skip_useless = True
        self.fill_heap(&self.candidates[0], self.n_splitting, budget, False)
        while not self.is_enough:
            test = self.pick(INFINITY)
            if test < 0:
                return
            spent += self.prices[test]
            self.order[self.n_order] = <int32_t> test
            self.order_spent[self.n_order] = spent
            self.n_order += 1
            # The first test alone is often enough, and then U is not needed.
            if self.n_order > 1 or self.pairs_covered[test] < self.target:
                self.cover(test)
                self.is_enough = self.pairs - self.uncovered_pairs >= self.target
            else:
                self.is_enough = True

    cdef intp_t count_affordable(
        self, intp_t first, intp_t end, float64_t budget
    ) noexcept nogil:
        """Return how many of the candidates [first, end[ cost at most the budget."""
        cdef intp_t i, n = 0
        for i in range(first, end):
            n += self.prices[self.candidates[i]] <= budget * (1 + TOLERANCE)
        return n

    cdef bint fits_budget(self, float64_t budget) noexcept nogil:
        """Return whether the adapted greedy covers the target within a budget.

        It takes tests of at most the budget in order until the budget is overspent, and
        returns the last of them or all others, whichever covers more. If they run out
        first, it keeps all of them (``keep_all``) or, as printed, does the same.
        """
        cdef:
            intp_t i = 0, n = self.count_affordable(0, self.n_splitting, budget)
            float64_t most = budget * (1 + TOLERANCE)
        if n == 0:
            return False
        if n != self.n_affordable:
            self.make_order(budget)
            self.n_affordable = n
        if not self.is_enough:
            return False
        i = self.n_order - 1
        if self.order_spent[i] <= most:
            # The last test of all is one that covers nothing, if there is such a test.
            if self.keep_all or self.n_order < n or self.count_affordable(
                self.n_splitting, self.n_candidates, budget
            ):
                return True
        else:
            # What comes before the test that overspends is not enough, or the order
            # would have ended there.
            while i > 0 and self.order_spent[i - 1] > most:
                i -= 1
        return self.pairs_covered[self.order[i]] >= self.target

    cdef float64_t find_budget(self) noexcept nogil:
        """Return a budget that covers the target, found by bisection.

        Whether a budget is enough need not be monotone. What is returned is enough, and
        what is just below it, the least step for whole prices, is not.
        """
        cdef:
            intp_t i
            float64_t price, low = INFINITY, high = 0.0, middle
        self.target = self.alpha * self.count_coverable(
            &self.candidates[0], self.n_splitting
        )
        for i in range(self.n_splitting):
            price = self.prices[self.candidates[i]]
            low = min(low, price)
            high += price
        if self.has_whole_prices:
            low = 1.0
            while low < high:
                middle = <float64_t> (<int64_t> ((low + high) / 2))
                if self.fits_budget(middle):
                    high = middle
                else:
                    low = middle + 1
            return high
        if self.fits_budget(low):
            return low
        while high - low > BUDGET_TOLERANCE * high:
            middle = (low + high) / 2
            if self.fits_budget(middle):
                high = middle
            else:
                low = middle
        return high

    # The chain.

    cdef intp_t find_free(self) noexcept nogil:
        """Return the free test that leaves the fewest pairs together; -1 if none."""
        cdef intp_t i, test, best = -1
        for i in range(self.n_splitting):
            test = self.candidates[i]
            if self.prices[test] > 0:
                continue
            if (
                best < 0
                or self.pairs_covered[test] > self.pairs_covered[best]
                or (
                    self.pairs_covered[test] == self.pairs_covered[best]
                    and test < best
                )
            ):
                best = test
        return best

    cdef int add_free_test(self, intp_t test) except -1 nogil:
        """Divide all cases by a test that costs nothing."""
        memcpy(&self.placed[0], &self.uncovered[0], self.n_rows * sizeof(int32_t))
        self.sort_by_code(test, &self.placed[0], self.n_rows)
        self.add_step(test, -1, 0, self.n_rows)
        return 0

    cdef int add_test(self, intp_t test) except -1 nogil:
        """Add a test to the chain."""
        cdef intp_t n_left = self.cover(test)
        self.sort_by_code(test, &self.placed[self.n_placed], n_left)
        self.add_step(test, self.main_code[test], self.n_placed, self.n_placed + n_left)
        self.n_placed += n_left
        return 0

    cdef int build_chain(self) except -1 nogil:
        """Add tests within the budget, first by weight, then by pairs."""
        self.uncover_all()
        self.skip_useless = self.is_guarded
        self.fill_heap(&self.candidates[0], self.n_candidates, self.budget, True)
        self.extend(True)
        if not self.is_over:
            self.drop_taken()
            self.fill_heap(
                &self.candidates[0], self.n_candidates, self.budget, False
            )
            self.extend(False)
        memcpy(
            &self.placed[0] + self.n_placed, &self.uncovered[0], self.n_uncovered * sizeof(int32_t)
        )
        return 0

    cdef int extend(self, bint is_first) except -1 nogil:
        """Add tests as long as the budget of one half of the chain lasts.

        The first half never spends more than the budget. The second may do so by its
        last test, so that both together spend at most three times the budget.
        """
        cdef:
            intp_t test
            float64_t most = self.budget * (1 + TOLERANCE)
        while self.n_uncovered > 0 and (self.uncovered_pairs > 0 or not self.is_guarded):
            test = self.pick(most - self.spent_on_weight if is_first else most)
            if test < 0:
                return 0
            if self.is_guarded and not self.splits_uncovered(test):
                # All of U would leave here together. It need not pay for that: what
                # leaves has at most half of the pairs, so U is ready for a call of its own.
                self.is_over = True
                return 0
            self.add_test(test)
            if is_first:
                self.spent_on_weight += self.prices[test]
            else:
                self.spent_on_pairs += self.prices[test]
                if self.spent_on_pairs > most:
                    return 0
        return 0

    cdef void drop_taken(self) noexcept nogil:
        """Leave only the candidates that are not out."""
        cdef intp_t i, n = 0
        for i in range(self.n_candidates):
            if self.bound[self.candidates[i]] >= 0:
                self.candidates[n] = self.candidates[i]
                n += 1
        self.n_candidates = n

    cdef int add_step(
        self, intp_t test, intp_t main_code, intp_t start, intp_t after
    ) except -1 nogil:
        cdef Step* larger
        if self.n_steps == self.step_room:
            self.step_room = max(64, 2 * self.step_room)
            larger = <Step*> realloc(self.steps, self.step_room * sizeof(Step))
            if larger == NULL:
                with gil:
                    raise MemoryError("no memory left for a chain of tests")
            self.steps = larger
        self.steps[self.n_steps].test = test
        self.steps[self.n_steps].main_code = main_code
        self.steps[self.n_steps].start = start
        self.steps[self.n_steps].after = after
        self.n_steps += 1
        return 0

    # Doors for tests: all cases, all tests, an empty chain.

    cdef int open_all(self) except -1:
        cdef:
            int32_t[::1] tests = np.arange(self.n_tests, dtype=np.int32)
            intp_t n_splitting = self.n_tests
            uint8_t[::1] is_used = np.zeros(self.n_tests, dtype=np.uint8)
        self.open(0, self.stride)
        self.list_candidates(&tests[0], &n_splitting, &is_used[0])
        return 0

    def measure(self):
        """Return (main code, pairs covered) of each test on all rows."""
        self.open_all()
        return np.array(self.main_code), np.array(self.pairs_covered)

    def choose_adapted(self, float64_t budget):
        """Return the tests that the adapted greedy chooses and the pairs they cover."""
        cdef:
            list chosen = []
            float64_t before = 0.0
            intp_t i
        self.open_all()
        self.target = INFINITY
        self.make_order(budget)
        # Tests that cover nothing more come last; they are never chosen over others.
        for i in range(self.n_order):
            self.uncover_all()
            for test in [*chosen, self.order[i]]:
                self.cover(test)
            if self.order_spent[i] > budget * (1 + TOLERANCE) or (
                not self.keep_all
                and i + 1 == self.count_affordable(0, self.n_candidates, budget)
            ):
                if self.pairs_covered[self.order[i]] >= before:
                    return [self.order[i]], self.pairs_covered[self.order[i]]
                break
            before = self.pairs - self.uncovered_pairs
            chosen.append(self.order[i])
        return chosen, before

    def search_budget(self):
        """Return the budget found for all rows."""
        self.open_all()
        return self.find_budget()
