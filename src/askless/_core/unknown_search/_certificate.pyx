"""Certify states: words as long as it takes to rule out all other cases."""

from libc.math cimport log2

import numpy as np

from askless._core.base._bits cimport count_bits, lowest_bit
from askless._core.base._types cimport float64_t, int32_t, intp_t, uint64_t
from askless._core.unknown_search._code_words cimport Inside
from askless._core.unknown_search._problem cimport UnknownProblem


# Sets of at most so many tests are tried to certify a case, in at most so many steps,
# and only for cases that weigh more than one in so many.
cdef intp_t MOST_COVER = 6
cdef intp_t COVER_STEPS = 400
cdef float64_t HEAVY = 12.0


cdef class Certificate:
    """Certificates of one problem, with scratch of their own."""

    def __init__(self, UnknownProblem problem not None):
        n = problem.table.n_cases
        self.problem = problem
        self.rest = np.zeros((MOST_COVER + 2) * n, dtype=np.int32)
        self.heap = np.zeros(n + 1, dtype=np.int32)
        self.ratio = np.zeros(n + 1)
        self.length = np.zeros(n + 1)

    cdef float64_t bound(
        self, const int32_t* cases, const float64_t* weights, intp_t n,
        const Inside* inside,
    ) noexcept nogil:
        cdef:
            intp_t i, k
            float64_t total = 0.0, cost = 0.0, room = -1.0, share
            float64_t arity = <float64_t> inside.arity
        for i in range(n):
            total += weights[i]
        if total <= 0:
            return 0.0
        for i in range(n):
            k = 1
            if weights[i] * HEAVY >= total:
                # Words of light cases are long enough without it.
                k = self.count_tests(
                    cases, n, cases[i],
                    min(MOST_COVER, <intp_t> (log2(total / weights[i])) + 3),
                )
            self.length[i] = <float64_t> k
            cost += weights[i] * k
            share = arity ** (-<float64_t> k)
            room += share
            # What a longer word costs for the room that it makes.
            self.ratio[i] = weights[i] / (share * (1 - 1 / arity))
            self.heap[i] = <int32_t> i
        i = n // 2
        while i > 0:
            i -= 1
            self.sift(i, n)
        cost = self.fit_words(weights, n, arity, room, cost)
        return inside.cheapest * cost * (1 - 1e-9)

    cdef float64_t fit_words(
        self, const float64_t* weights, intp_t n, float64_t arity, float64_t room,
        float64_t cost,
    ) noexcept nogil:
        """Make words longer until the missing room is there; return the whole cost."""
        cdef:
            intp_t top
            float64_t gained
        while room > 1e-12:
            top = self.heap[0]
            gained = arity ** (-self.length[top]) * (1 - 1 / arity)
            if gained >= room:
                return cost + weights[top] * room / gained
            room -= gained
            cost += weights[top]
            self.length[top] += 1
            self.ratio[top] *= arity
            self.sift(0, n)
        return cost

    cdef void sift(self, intp_t at, intp_t n) noexcept nogil:
        """Put the item of the heap where it belongs, least ratio on top."""
        cdef:
            intp_t child
            int32_t* heap = &self.heap[0]
            const float64_t* ratio = &self.ratio[0]
            int32_t item = heap[at]
        while 2 * at + 1 < n:
            child = 2 * at + 1
            if child + 1 < n and ratio[heap[child + 1]] < ratio[heap[child]]:
                child += 1
            if ratio[heap[child]] >= ratio[item]:
                break
            heap[at] = heap[child]
            at = child
        heap[at] = item

    # How many tests it takes to rule out all other cases.

    cdef intp_t count_tests(
        self, const int32_t* cases, intp_t n, intp_t case, intp_t most
    ) noexcept nogil:
        """Return how many tests it takes at least; `most` if it is no less."""
        cdef intp_t k = 1
        while k < most:
            self.n_steps = 0
            if self.may_cover(cases, n, case, k):
                break
            k += 1
        return k

    cdef bint may_cover(
        self, const int32_t* others, intp_t n, intp_t case, intp_t k
    ) noexcept nogil:
        """Return whether k tests may rule out all others; True if it takes too long."""
        cdef:
            intp_t i, w, hardest, test, n_after
            uint64_t still
            int32_t* after = &self.rest[(k - 1) * self.problem.table.n_cases]
        self.n_steps += 1
        if self.n_steps > COVER_STEPS or self.has_single(others, n, case):
            return True
        if k == 1:
            return False
        hardest = self.find_hardest(others, n, case)
        for w in range(self.problem.rules.shape[2]):
            still = self.problem.rules[case, hardest, w]
            while still:
                test = lowest_bit(still)
                still &= still - 1
                n_after = 0
                for i in range(n):
                    after[n_after] = others[i]
                    n_after += others[i] != case and not (
                        self.problem.rules[case, others[i], w] >> test
                    ) & 1
                if n_after == 0 or self.may_cover(after, n_after, case, k - 1):
                    return True
        return False

    cdef bint has_single(
        self, const int32_t* others, intp_t n, intp_t case
    ) noexcept nogil:
        """Return whether one test may rule out all others."""
        cdef:
            intp_t i, w
            uint64_t word
        for w in range(self.problem.rules.shape[2]):
            word = ~(<uint64_t> 0)
            for i in range(n):
                if others[i] != case:
                    word &= self.problem.rules[case, others[i], w]
                    if word == 0:
                        break
            if word:
                return True
        return False

    cdef intp_t find_hardest(
        self, const int32_t* others, intp_t n, intp_t case
    ) noexcept nogil:
        """Return whom the fewest tests may rule out."""
        cdef intp_t i, w, n_bits, fewest = 1 << 30, hardest = -1
        for i in range(n):
            if others[i] == case:
                continue
            n_bits = 0
            for w in range(self.problem.rules.shape[2]):
                n_bits += count_bits(self.problem.rules[case, others[i], w])
            if n_bits < fewest:
                fewest = n_bits
                hardest = others[i]
        return hardest
