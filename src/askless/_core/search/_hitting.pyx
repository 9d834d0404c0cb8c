"""Prove that telling a case from its opponents costs more than a limit.

Where ``_cover`` bounds every case a little, this proves much of a few: sets of tests
that tell a case from all its opponents within the limit are searched by branching on
the opponent that the fewest tests rule out. A test that was tried is not allowed again
beside it, so no set is looked at twice; and a branch ends where even the tests that
rule out the most opponents cannot rule out all of them in what is left.
"""

import numpy as np

from askless._core.base._bits cimport count_bits, lowest_bit
from askless._core.search._cover cimport Cover
from askless._core.engine._stoppable cimport Stoppable
from askless._core.base._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint16_t, uint64_t,
)


# Opponents are counted test by test, 64 tests at once: a plane holds one bit of each
# count. 65,536 cases need 17.
cdef enum:
    N_PLANES = 17


cdef class Hitting(Stoppable):
    """Searches for the sets of tests that tell one case from its opponents."""

    cdef Cover cover
    cdef readonly intp_t max_tests      # of a set; larger ones are not ruled out
    cdef readonly int64_t n_nodes       # of all searches so far
    cdef intp_t nodes_left
    cdef uint16_t[:, ::1] rest          # (max_tests + 1, n_cases) opponents left
    cdef uint64_t[:, ::1] allowed       # (max_tests + 1, n_words) tests
    cdef uint64_t[:, ::1] planes        # (N_PLANES, n_words)
    cdef int32_t[::1] counts            # (64 * n_words,)
    cdef const int64_t[::1] least       # (n_cases,) the cheapest test of each case

    def __init__(self, Cover cover not None, intp_t max_tests=12):
        self.cover = cover
        self.max_tests = max_tests
        self.rest = np.zeros((max_tests + 1, cover.n_cases), np.uint16)
        self.allowed = np.zeros((max_tests + 1, cover.n_words), np.uint64)
        self.planes = np.zeros((N_PLANES, cover.n_words), np.uint64)
        self.counts = np.zeros(64 * cover.n_words, np.int32)
        self.least = np.ascontiguousarray(np.min(cover.price, axis=1))

    def costs_more(
        self,
        intp_t case,
        const uint16_t[::1] cases not None,
        int64_t limit,
        intp_t max_nodes=20_000,
        float64_t seconds=1e9,
    ):
        """Return whether the case is proved to pay more than the limit.

        False if it does not, or if it was not found out in so many nodes or seconds.
        """
        cdef:
            intp_t w, n, test
            bint is_proved
        self.nodes_left = max_nodes
        self.begin(seconds)
        with nogil:
            n = self.cover.list_opponents(
                case, &cases[0], cases.shape[0], &self.rest[0, 0]
            )
            for w in range(self.cover.n_words):
                self.allowed[0, w] = 0
            for test in range(self.cover.n_tests):
                self.allowed[0, test >> 6] |= (<uint64_t> 1) << (test & 63)
            is_proved = self.is_above(case, n, limit, 0)
        return is_proved

    cdef bint is_above(
        self, intp_t case, intp_t n_rest, int64_t limit, intp_t depth
    ) noexcept nogil:
        """Return whether no allowed set within the limit tells the case from the rest.

        The rest and the allowed tests are those of the depth.
        """
        cdef:
            intp_t w, i, n, test, hardest
            intp_t n_words = self.cover.n_words
            int64_t most_tests
            uint64_t* allowed = &self.allowed[depth, 0]
            const uint16_t* rest = &self.rest[depth, 0]
            uint64_t branches
        if limit < 0:
            return True
        if n_rest == 0:
            return False
        if self.least[case] > limit:
            return True
        if depth == self.max_tests or not self.may_go_on():
            return False
        most_tests = self.cover.n_tests
        if self.least[case] > 0:
            most_tests = limit // self.least[case]
        if most_tests == 1:
            return not self.has_single(case, n_rest, limit, depth)
        self.forbid_dear(case, limit, depth)
        hardest = self.count(case, n_rest, depth)
        if hardest < 0 or not self.can_tell_all(n_rest, most_tests):
            return True
        for w in range(n_words):
            branches = self.cover.tells[case, hardest, w] & allowed[w]
            while branches:
                test = 64 * w + lowest_bit(branches)
                branches &= branches - 1
                # What was tried here is not tried again below its sisters.
                allowed[w] &= ~((<uint64_t> 1) << (test & 63))
                n = 0
                for i in range(n_rest):
                    self.rest[depth + 1, n] = rest[i]
                    n += not (
                        self.cover.tells[case, rest[i], test >> 6] >> (test & 63)
                    ) & 1
                for i in range(n_words):
                    self.allowed[depth + 1, i] = allowed[i]
                if not self.is_above(
                    case, n, limit - self.cover.price[case, test], depth + 1
                ):
                    return False
        return True

    cdef bint may_go_on(self) noexcept nogil:
        self.n_nodes += 1
        self.nodes_left -= 1
        if self.nodes_left < 0 or self.is_stopped:
            return False
        if (self.nodes_left & 63) == 0 and self.is_late():
            self.nodes_left = 0
            return False
        return True

    cdef void forbid_dear(
        self, intp_t case, int64_t limit, intp_t depth
    ) noexcept nogil:
        """Take out the tests that alone cost more than the limit."""
        cdef intp_t test
        for test in range(self.cover.n_tests):
            if self.cover.price[case, test] > limit:
                self.allowed[depth, test >> 6] &= ~((<uint64_t> 1) << (test & 63))

    cdef bint has_single(
        self, intp_t case, intp_t n_rest, int64_t limit, intp_t depth
    ) noexcept nogil:
        """Return whether one allowed test within the limit tells it from the rest."""
        cdef:
            intp_t w, i
            uint64_t word
        for w in range(self.cover.n_words):
            word = self.allowed[depth, w]
            for i in range(n_rest):
                word &= self.cover.tells[case, self.rest[depth, i], w]
                if word == 0:
                    break
            while word:
                if self.cover.price[case, 64 * w + lowest_bit(word)] <= limit:
                    return True
                word &= word - 1
        return False

    cdef intp_t count(self, intp_t case, intp_t n_rest, intp_t depth) noexcept nogil:
        """Count whom each test rules out; return whom the fewest do, -1: nobody.

        Each plane holds one bit of 64 counts, and adding a set of tests carries on from
        plane to plane, which on average ends after the second.
        """
        cdef:
            intp_t w, i, p, n_bits, fewest = 1 << 30, hardest = -1
            uint64_t word, carry
            const uint64_t* tells
        for p in range(N_PLANES):
            for w in range(self.cover.n_words):
                self.planes[p, w] = 0
        for i in range(n_rest):
            tells = &self.cover.tells[case, self.rest[depth, i], 0]
            n_bits = 0
            for w in range(self.cover.n_words):
                word = tells[w] & self.allowed[depth, w]
                n_bits += count_bits(word)
                p = 0
                while word:
                    carry = self.planes[p, w] & word
                    self.planes[p, w] ^= word
                    word = carry
                    p += 1
            if n_bits < fewest:
                fewest = n_bits
                hardest = self.rest[depth, i]
                if n_bits == 0:
                    return -1
        for w in range(self.cover.n_words):
            for i in range(64):
                self.counts[64 * w + i] = 0
        for p in range(N_PLANES):
            for w in range(self.cover.n_words):
                word = self.planes[p, w]
                while word:
                    self.counts[64 * w + lowest_bit(word)] += <int32_t> 1 << p
                    word &= word - 1
        return hardest

    cdef bint can_tell_all(self, intp_t n_rest, int64_t most_tests) noexcept nogil:
        """Return whether so many tests rule out so many, counted with repeats."""
        cdef:
            intp_t i, best
            int64_t total = 0, _step
            int32_t largest
        for _step in range(most_tests):
            largest = 0
            best = -1
            for i in range(self.counts.shape[0]):
                if self.counts[i] > largest:
                    largest = self.counts[i]
                    best = i
            if best < 0:
                return False
            self.counts[best] = 0
            total += largest
            if total >= n_rest:
                return True
        return False
