"""Choose greedily and lazily: work out a gain only if it might be the largest.

This module knows gains and prices. It must not know what is chosen for.
"""

import numpy as np

from askless._core.chain._coverage cimport Coverage
from askless._core.base._types cimport float64_t, int32_t, int64_t, intp_t


# Gains and prices closer than this, relatively, are equal.
cdef float64_t TOLERANCE = 1e-12

# Once one gain in so many had to be worked out for a single choice, work out all. Where
# all gains fall alike there is nothing to wait for: 2,000 cases and a test for each
# take 0.23 s with this and 0.37 s without, against 0.17 s without laziness.
cdef intp_t PATIENCE = 4


cdef class LazyGreedy(Coverage):
    """A heap of tests by what they last gained for their price.

    Parameters
    ----------
    codes, class_of, weights, prior
        See :class:`Coverage`.
    prices : ndarray of shape (n_tests,)
    use_laziness : bool, default=True
        False works out every gain at every choice.
    """

    def __init__(
        self,
        codes not None,
        class_of not None,
        weights not None,
        prior not None,
        const float64_t[::1] prices not None,
        bint use_laziness=True,
    ):
        Coverage.__init__(self, codes, class_of, weights, prior)
        self.prices = prices
        self.use_laziness = use_laziness
        self.bound = np.zeros(self.n_tests)
        self.seen_at = np.zeros(self.n_tests, dtype=np.int64)
        self.heap = np.zeros(self.n_tests, dtype=np.int32)
        self.to_visit = np.zeros(self.n_tests + 1, dtype=np.int32)

    cdef void fill_heap(
        self, const int32_t* tests, intp_t n_tests, float64_t most, bint by_weight
    ) noexcept nogil:
        cdef:
            intp_t i, test
            bint is_whole = self.n_uncovered == self.n_rows
        self.n_heap = 0
        self.by_weight = by_weight
        for i in range(n_tests):
            test = tests[i]
            if self.prices[test] > most * (1 + TOLERANCE):
                continue
            if self.skip_useless and self.n_covered[test] == 0:
                continue
            self.bound[test] = (
                self.weight_covered[test] if by_weight else self.pairs_covered[test]
            ) / self.prices[test]
            self.seen_at[test] = self.version if is_whole else -1
            self.heap[self.n_heap] = <int32_t> test
            self.n_heap += 1
        self.order_heap()

    cdef bint is_above(self, intp_t test, intp_t other) noexcept nogil:
        if self.bound[test] != self.bound[other]:
            return self.bound[test] > self.bound[other]
        return test < other

    cdef void sift_down(self, intp_t place) noexcept nogil:
        cdef:
            int32_t test = self.heap[place]
            intp_t below = 2 * place + 1
        while below < self.n_heap:
            if below + 1 < self.n_heap and self.is_above(
                self.heap[below + 1], self.heap[below]
            ):
                below += 1
            if not self.is_above(self.heap[below], test):
                break
            self.heap[place] = self.heap[below]
            place = below
            below = 2 * place + 1
        self.heap[place] = test

    cdef void order_heap(self) noexcept nogil:
        cdef intp_t place
        for place in range(self.n_heap // 2 - 1, -1, -1):
            self.sift_down(place)

    cdef void refresh(self, intp_t test) noexcept nogil:
        """Work out the gain of a test now."""
        cdef:
            int64_t n_covered
            float64_t value = self.gain(test, self.by_weight, &n_covered)
        self.n_gains += 1
        self.seen_at[test] = self.version
        if self.skip_useless and n_covered == 0:
            self.bound[test] = -1.0
        else:
            self.bound[test] = value / self.prices[test]

    cdef void refresh_all(self) noexcept nogil:
        """Work out every gain that is not known."""
        cdef intp_t i, test
        for i in range(self.n_heap):
            test = self.heap[i]
            if self.bound[test] >= 0 and self.seen_at[test] != self.version:
                self.refresh(test)
        self.order_heap()

    cdef bint settle_top(self, float64_t most) noexcept nogil:
        """Bring a test of at most some price and of known gain to the top, if any."""
        cdef intp_t test, n_refreshed = 0
        while self.n_heap > 0:
            test = self.heap[0]
            if self.bound[test] < 0 or self.prices[test] > most:
                # For good: what may be spent never grows again.
                self.n_heap -= 1
                self.heap[0] = self.heap[self.n_heap]
            elif self.seen_at[test] == self.version:
                return True
            elif PATIENCE * n_refreshed > self.n_heap:
                # Most gains have fallen alike, so that waiting gains nothing.
                self.refresh_all()
            else:
                self.refresh(test)
                n_refreshed += 1
            if self.n_heap > 0:
                self.sift_down(0)
        return False

    cdef intp_t visit_next(self, intp_t* n, float64_t least) noexcept nogil:
        """Take the last of n places to visit; list those below it if its bound is least.

        Bounds never rise on the way down the heap.
        """
        cdef intp_t place, below
        n[0] -= 1
        place = self.to_visit[n[0]]
        if self.bound[self.heap[place]] >= least:
            for below in range(2 * place + 1, min(2 * place + 3, self.n_heap)):
                self.to_visit[n[0]] = <int32_t> below
                n[0] += 1
        return place

    cdef bint refresh_ties(self, float64_t most) noexcept nogil:
        """Refresh what might tie with the top and come before it; return if any was.

        Tests of equal bounds come by index, so this finds only near ties, usually none.
        """
        cdef:
            intp_t top = self.heap[0], n = 1, test
            # A bound may lie below its gain by a rounding error.
            float64_t least = self.bound[top] * (1 - 4 * TOLERANCE)
            bint is_any = False
        self.to_visit[0] = 0
        while n > 0:
            test = self.heap[self.visit_next(&n, least)]
            if self.bound[test] < least:
                continue
            if (
                test < top
                and self.prices[test] <= most
                and self.seen_at[test] != self.version
            ):
                is_any = True
                self.refresh(test)
        if is_any:
            self.order_heap()
        return is_any

    cdef intp_t take_winner(self, float64_t most) noexcept nogil:
        """Take out the smallest of the tests whose gain ties with the top."""
        cdef:
            intp_t winner = self.heap[0], winner_place = 0
            intp_t n = 1, place, test
            float64_t least = self.bound[winner] * (1 - TOLERANCE)
        self.to_visit[0] = 0
        while n > 0:
            place = self.visit_next(&n, least)
            test = self.heap[place]
            if (
                self.bound[test] >= least
                and test < winner
                and self.prices[test] <= most
                and self.seen_at[test] == self.version
            ):
                winner = test
                winner_place = place
        self.bound[winner] = -1.0
        self.sift_down(winner_place)
        return winner

    cdef intp_t pick(self, float64_t most) noexcept nogil:
        if not self.use_laziness:
            self.refresh_all()
        while self.settle_top(most):
            if not self.refresh_ties(most):
                return self.take_winner(most)
        return -1
