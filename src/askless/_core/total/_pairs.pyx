"""Solve a problem of two cases on a grid of odds, from below.

The least cost of two cases is a concave function of their weights. It is kept where the
odds are those of a grid. Between two places of the grid the line is below the function,
so what is interpolated is a lower bound. Some tests may be asked once each, at prices
that differ by case; others are free, and are asked at once.
"""

from libc.math cimport log

import numpy as np

from askless._core.base._types cimport float64_t, int32_t, intp_t


cdef float64_t NEVER = 1e300


# A pair of weights, as a sum of two neighbours of the grid.
cdef struct Spread:
    int32_t place
    float64_t lower   # so much of grid[place]
    float64_t upper   # so much of grid[place + 1]


cdef class PairRoom:
    """Room to solve pairs in, one after another.

    Parameters
    ----------
    n_tests : int
        The most tests that a pair may ask at a price.
    n_places : int
        The most places of a grid.
    """

    cdef float64_t[::1] value
    cdef float64_t[::1] mass
    cdef int32_t[::1] action
    cdef float64_t[::1] stop
    cdef int32_t[::1] decision

    def __init__(self, intp_t n_tests, intp_t n_places):
        cdef intp_t size = (1 << n_tests) * n_places
        self.value = np.empty(size)
        self.mass = np.empty(size)
        self.action = np.empty(size, dtype=np.int32)
        self.stop = np.empty(n_places)
        self.decision = np.empty(n_places, dtype=np.int32)


cdef class PairProblem:
    """Two cases, the tests that tell them apart, and a grid of their odds.

    Parameters
    ----------
    weight : ndarray of shape (2,)
        Of the two cases, both above 0.
    chance : ndarray of shape (n_rows, 2)
        The chance of each outcome of the tests at a price.
    first : ndarray of shape (n_tests + 1,)
        The first row of each test.
    free_chance, free_first : ndarray
        The same for the tests that are free.
    step, reach : float
        The grid: from so many nats of odds to as many against, in such steps.

    Attributes
    ----------
    asked : ndarray of shape (2, n_tests)
        The chance that the best policy asks each test, by the true case; of the last
        :meth:`solve`, as all of these.
    decided : ndarray of shape (2, n_decisions)
        The chance that it decides so.
    """

    cdef readonly intp_t n_tests
    cdef readonly intp_t n_places
    cdef readonly object asked
    cdef readonly object decided
    cdef float64_t[::1] one         # (n_places,) share of the first case, rising
    cdef float64_t[::1] other       # (n_places,) share of the second one
    cdef float64_t[::1] start       # (n_places,) weight once the free tests are known
    cdef float64_t weights[2]
    cdef const int32_t[::1] first
    cdef int32_t[::1] place         # (n_rows * n_places,)
    cdef float64_t[::1] lower
    cdef float64_t[::1] upper

    def __init__(
        self,
        const float64_t[::1] weight not None,
        const float64_t[:, ::1] chance not None,
        const int32_t[::1] first not None,
        const float64_t[:, ::1] free_chance not None,
        const int32_t[::1] free_first not None,
        *,
        float64_t step,
        float64_t reach,
    ):
        self.n_tests = first.shape[0] - 1
        self.first = first
        self.weights[0] = weight[0]
        self.weights[1] = weight[1]
        self.lay_grid(step, reach)
        self.place = np.zeros(chance.shape[0] * self.n_places, dtype=np.int32)
        self.lower = np.zeros(chance.shape[0] * self.n_places)
        self.upper = np.zeros(chance.shape[0] * self.n_places)
        self.spread_rows(chance)
        self.ask_free(free_chance, free_first)
        self.asked = np.zeros((2, self.n_tests))

    cdef int lay_grid(self, float64_t step, float64_t reach) except -1:
        """Lay a grid in which the first odds have a place of their own."""
        cdef float64_t odds = log(self.weights[0] / self.weights[1])
        below = -np.arange(1, max(2, np.ceil((reach + odds) / step))) * step
        above = np.arange(0, max(2, np.ceil((reach - odds) / step))) * step
        nats = odds + np.concatenate([below[::-1], above])
        self.one = np.concatenate([[0.0], 1 / (1 + np.exp(-nats)), [1.0]])
        self.other = np.concatenate([[1.0], 1 / (1 + np.exp(nats)), [0.0]])
        self.n_places = self.one.shape[0]
        self.start = np.zeros(self.n_places)
        self.start[len(below) + 1] = self.weights[0] + self.weights[1]
        return 0

    cdef Spread locate(self, float64_t a, float64_t b) noexcept nogil:
        """Write two weights as a sum of neighbours of the grid."""
        cdef:
            Spread spread
            intp_t low = 0, high = self.n_places - 1, middle
            float64_t x, y, part
        spread.place = 0
        spread.lower = spread.upper = 0.0
        if a + b <= 0:
            return spread
        x = a / (a + b)
        y = b / (a + b)
        while high - low > 1:
            middle = (low + high) // 2
            # The smaller share is the one that is known to more digits.
            if (self.one[middle] <= x) if x < 0.5 else (self.other[middle] >= y):
                low = middle
            else:
                high = middle
        if x < 0.5:
            part = (x - self.one[low]) / (self.one[high] - self.one[low])
        else:
            part = (self.other[low] - y) / (self.other[low] - self.other[high])
        part = min(1.0, max(0.0, part))
        spread.place = <int32_t> low
        spread.lower = (a + b) * (1 - part)
        spread.upper = (a + b) * part
        return spread

    cdef void spread_rows(self, const float64_t[:, ::1] chance) noexcept nogil:
        """Note where each outcome leads to from each place."""
        cdef:
            intp_t row, g, at
            Spread spread
        for row in range(chance.shape[0]):
            for g in range(self.n_places):
                spread = self.locate(
                    self.one[g] * chance[row, 0], self.other[g] * chance[row, 1]
                )
                at = row * self.n_places + g
                self.place[at] = spread.place
                self.lower[at] = spread.lower
                self.upper[at] = spread.upper

    cdef int ask_free(
        self, const float64_t[:, ::1] chance, const int32_t[::1] first
    ) except -1:
        """Spread the weight by what the free tests show."""
        cdef:
            intp_t t, row, g
            float64_t[::1] after
            Spread spread
        for t in range(first.shape[0] - 1):
            after = np.zeros(self.n_places)
            for g in range(self.n_places):
                if self.start[g] <= 0:
                    continue
                for row in range(first[t], first[t + 1]):
                    spread = self.locate(
                        self.one[g] * chance[row, 0], self.other[g] * chance[row, 1]
                    )
                    after[spread.place] += self.start[g] * spread.lower
                    after[spread.place + 1] += self.start[g] * spread.upper
            self.start = after
        return 0

    def solve(
        self,
        const float64_t[:, ::1] price not None,
        const float64_t[:, ::1] loss not None,
        PairRoom room not None,
    ):
        """Return a lower bound of the least cost of the two cases.

        Parameters
        ----------
        price : ndarray of shape (2, n_tests)
            What each test charges, by the true case.
        loss : ndarray of shape (2, n_decisions)
            What each decision loses, by the true case.
        room : PairRoom
        """
        cdef:
            float64_t[:, ::1] asked = np.zeros((2, self.n_tests))
            float64_t[:, ::1] decided = np.zeros((2, loss.shape[1]))
            float64_t value = 0.0
            intp_t g, last = ((1 << self.n_tests) - 1) * self.n_places
        with nogil:
            self.decide(loss, room)
            self.fill(price, room)
            for g in range(self.n_places):
                value += self.start[g] * room.value[last + g]
            self.follow(room, asked, decided)
        self.asked = np.asarray(asked)
        self.decided = np.asarray(decided)
        return value

    cdef void decide(
        self, const float64_t[:, ::1] loss, PairRoom room
    ) noexcept nogil:
        """Find what deciding costs at each place."""
        cdef:
            intp_t g, d
            float64_t lost
        for g in range(self.n_places):
            room.stop[g] = NEVER
            for d in range(loss.shape[1]):
                lost = self.one[g] * loss[0, d] + self.other[g] * loss[1, d]
                if lost < room.stop[g]:
                    room.stop[g] = lost
                    room.decision[g] = <int32_t> d

    cdef void fill(self, const float64_t[:, ::1] price, PairRoom room) noexcept nogil:
        """Find the value of each place, by the tests that are left; few tests first."""
        cdef:
            intp_t tests, t, g, n = self.n_places
            float64_t* value
        for tests in range(1 << self.n_tests):
            value = &room.value[tests * n]
            for g in range(n):
                value[g] = room.stop[g]
                room.action[tests * n + g] = -1
            for t in range(self.n_tests):
                if tests >> t & 1:
                    self.try_test(
                        t, price[0, t], price[1, t], value,
                        &room.value[(tests ^ (1 << t)) * n], &room.action[tests * n],
                    )

    cdef void try_test(
        self, intp_t t, float64_t price, float64_t other_price, float64_t* value,
        const float64_t* after, int32_t* action,
    ) noexcept nogil:
        """Lower the value of the places where a test is worth its price."""
        cdef:
            intp_t g, row, at
            float64_t cost
        for g in range(1, self.n_places - 1):
            cost = self.one[g] * price + self.other[g] * other_price
            if cost >= value[g]:
                continue
            for row in range(self.first[t], self.first[t + 1]):
                at = row * self.n_places + g
                cost += (
                    self.lower[at] * after[self.place[at]]
                    + self.upper[at] * after[self.place[at] + 1]
                )
            if cost < value[g]:
                value[g] = cost
                action[g] = <int32_t> t

    cdef void follow(
        self, PairRoom room, float64_t[:, ::1] asked, float64_t[:, ::1] decided
    ) noexcept nogil:
        """Count what the best policy asks and decides, by the true case."""
        cdef:
            intp_t tests, t, g, row, at, to, i, n = self.n_places
            intp_t all_tests = (1 << self.n_tests) - 1
            float64_t mass
        for g in range(all_tests * n):
            room.mass[g] = 0.0
        for g in range(n):
            room.mass[all_tests * n + g] = self.start[g]
        for tests in range(all_tests, -1, -1):
            for g in range(n):
                mass = room.mass[tests * n + g]
                if mass <= 0:
                    continue
                t = room.action[tests * n + g]
                if t < 0:
                    decided[0, room.decision[g]] += mass * self.one[g]
                    decided[1, room.decision[g]] += mass * self.other[g]
                    continue
                asked[0, t] += mass * self.one[g]
                asked[1, t] += mass * self.other[g]
                to = (tests ^ (1 << t)) * n
                for row in range(self.first[t], self.first[t + 1]):
                    at = row * n + g
                    room.mass[to + self.place[at]] += mass * self.lower[at]
                    room.mass[to + self.place[at] + 1] += mass * self.upper[at]
        for i in range(2):
            for t in range(self.n_tests):
                asked[i, t] /= self.weights[i]
            for t in range(decided.shape[1]):
                decided[i, t] /= self.weights[i]
