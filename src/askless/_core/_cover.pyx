"""Bound from below what a case pays to be told from its opponents: hitting sets.

Sets of tests are words of bits, so one pass over the opponents finds the tests that
part the case from all of them at once. Sets of up to ``depth`` tests are searched by
branching on the opponent that the fewest tests part; beyond that, prices bound.
"""

import numpy as np

from askless._core._types cimport (
    int32_t, int64_t, intp_t, uint16_t, uint64_t,
)


cdef extern from *:
    """
    static inline int count_bits(unsigned long long word)
    {
    #if defined(__GNUC__)
        return __builtin_popcountll(word);
    #else
        int n = 0;
        for (; word; word &= word - 1) n++;
        return n;
    #endif
    }
    static inline int lowest_bit(unsigned long long word)
    {
    #if defined(__GNUC__)
        return __builtin_ctzll(word);
    #else
        int n = 0;
        while (!(word & 1)) { word >>= 1; n++; }
        return n;
    #endif
    }
    """
    int count_bits(uint64_t word) noexcept nogil
    int lowest_bit(uint64_t word) noexcept nogil


cdef int64_t NO_COVER = <int64_t> 1 << 60


cdef class Cover:
    """The certificate bound of a table."""

    def __init__(
        self,
        const uint16_t[:, ::1] codes not None,  # IN   (n_tests, n_cases)
        const int32_t[::1] label not None,      # IN   (n_cases,)
        const int64_t[:, ::1] price not None,   # IN   (n_cases, n_tests)
        intp_t depth,
    ):
        cdef intp_t a, b, test
        cdef int64_t least
        cdef uint64_t word
        self.n_tests = codes.shape[0]
        self.n_cases = codes.shape[1]
        self.n_words = (self.n_tests + 63) // 64
        self.depth = max(1, depth)
        self.label = label
        self.price = price
        self.parts = np.zeros((self.n_cases, self.n_cases, self.n_words), np.uint64)
        self.cheapest = np.full((self.n_cases, self.n_cases), NO_COVER, np.int64)
        ordered = np.sort(np.asarray(price), axis=1)
        if self.n_tests == 1:
            ordered = np.concatenate([ordered, ordered], axis=1)
        self.two_least = np.ascontiguousarray(ordered[:, :2])
        with nogil:
            for a in range(self.n_cases):
                for test in range(self.n_tests):
                    word = (<uint64_t> 1) << (test & 63)
                    for b in range(self.n_cases):
                        if label[a] != label[b] and codes[test, a] != codes[test, b]:
                            self.parts[a, b, test >> 6] |= word
                            least = price[a, test]
                            if least < self.cheapest[a, b]:
                                self.cheapest[a, b] = least

    cdef int64_t bound_case(
        self, intp_t case, const uint16_t* cases, intp_t n_cases, uint16_t* scratch
    ) noexcept nogil:
        cdef:
            uint16_t* rivals = scratch + self.depth * self.n_cases
            intp_t i, n = 0
        for i in range(n_cases):
            # A rival that no test parts from the case asks for nothing.
            if self.label[cases[i]] != self.label[case] and (
                self.cheapest[case, cases[i]] < NO_COVER
            ):
                rivals[n] = cases[i]
                n += 1
        return self.bound_rest(case, rivals, n, self.depth, scratch)

    cdef int64_t bound_rest(
        self, intp_t case, const uint16_t* rest, intp_t n_rest, intp_t depth,
        uint16_t* scratch,
    ) noexcept nogil:
        """Bound the price of a set of tests that part the case from all of `rest`."""
        cdef:
            intp_t i, w, n, test, fewest = 1 << 30, hardest = 0, n_bits
            uint64_t word, still
            int64_t dearest = 0, best = NO_COVER, found
            const uint64_t* row
            uint16_t* after
        if n_rest == 0:
            return 0
        for i in range(n_rest):
            if self.cheapest[case, rest[i]] > dearest:
                dearest = self.cheapest[case, rest[i]]
        # A single test that parts the case from all of them.
        for w in range(self.n_words):
            word = ~(<uint64_t> 0)
            for i in range(n_rest):
                word &= self.parts[case, rest[i], w]
                if word == 0:
                    break
            while word:
                test = 64 * w + lowest_bit(word)
                best = min(best, self.price[case, test])
                word &= word - 1
        # Every other set has at least two tests.
        found = max(dearest, self.two_least[case, 0] + self.two_least[case, 1])
        if best <= found or depth == 1:
            return min(best, found)

        for i in range(n_rest):
            n_bits = 0
            for w in range(self.n_words):
                n_bits += count_bits(self.parts[case, rest[i], w])
            if n_bits < fewest:
                fewest = n_bits
                hardest = rest[i]
        after = scratch + (depth - 1) * self.n_cases
        for w in range(self.n_words):
            still = self.parts[case, hardest, w]
            while still:
                test = 64 * w + lowest_bit(still)
                still &= still - 1
                if self.price[case, test] + self.two_least[case, 0] >= best:
                    continue
                n = 0
                for i in range(n_rest):
                    row = &self.parts[case, rest[i], 0]
                    if not (row[test >> 6] >> (test & 63)) & 1:
                        after[n] = rest[i]
                        n += 1
                found = self.price[case, test] + self.bound_rest(
                    case, after, n, depth - 1, scratch
                )
                best = min(best, found)
                if best <= dearest:
                    return best
        return best


def bound_cases(Cover cover not None, const uint16_t[::1] cases not None):
    """Return the bound of each of the cases among them; the door for tests."""
    cdef intp_t i
    cdef uint16_t[::1] scratch = np.zeros(
        (cover.depth + 1) * cover.n_cases, dtype=np.uint16
    )
    bounds = np.zeros(cases.shape[0], dtype=np.int64)
    for i in range(cases.shape[0]):
        bounds[i] = cover.bound_case(
            cases[i], &cases[0], cases.shape[0], &scratch[0]
        )
    return bounds
