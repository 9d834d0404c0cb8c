"""Bound from below what a case pays to be told from its opponents: hitting sets.

Sets of tests are words of bits, so one pass over the opponents finds the tests that
tell the case from all of them at once. Sets of up to ``depth`` tests are searched by
branching on the opponent that the fewest tests tell apart; beyond that, prices bound.
"""

import numpy as np

from askless._core.base._bits cimport count_bits, lowest_bit
from askless._core.base._clock cimport seconds_now
from askless._core.base._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint16_t, uint64_t,
)


cdef int64_t NO_COVER = <int64_t> 1 << 60


def pack_codes(codes, n_planes, n_words):
    """Return bit p of every code of every case, 64 tests to a word.

    Two codes differ where any of their bits does, so the tests that tell two cases
    apart are the union of their planes' exclusive or: few operations for 64 tests.
    """
    planes = np.zeros((codes.shape[1], n_planes, n_words), dtype=np.uint64)
    for test in range(codes.shape[0]):
        for plane in range(n_planes):
            bit = (codes[test].astype(np.uint64) >> np.uint64(plane)) & np.uint64(1)
            planes[:, plane, test >> 6] |= bit << np.uint64(test & 63)
    return planes


cdef void fill_tells(
    Cover cover,
    const uint64_t[:, :, ::1] planes,   # IN   (n_cases, n_planes, n_words)
    const int32_t[:, ::1] by_price,     # IN   (n_cases, n_tests) cheapest first
) noexcept nogil:
    """Find what tells every two cases of different class apart, and its least price."""
    cdef:
        intp_t a, b, plane, w, i, test
        bint is_any
        uint64_t word
    for a in range(cover.n_cases):
        for b in range(cover.n_cases):
            if cover.class_id[a] == cover.class_id[b]:
                continue
            is_any = False
            for w in range(cover.n_words):
                word = 0
                for plane in range(planes.shape[1]):
                    word |= planes[a, plane, w] ^ planes[b, plane, w]
                cover.tells[a, b, w] = word
                is_any = is_any or word != 0
            if not is_any:
                continue
            for i in range(cover.n_tests):
                test = by_price[a, i]
                if (cover.tells[a, b, test >> 6] >> (test & 63)) & 1:
                    cover.cheapest[a, b] = cover.price[a, test]
                    break


cdef class Cover:
    """The certificate bound of a table."""

    def __init__(
        self,
        const uint16_t[:, ::1] codes not None,  # IN   (n_tests, n_cases)
        const int32_t[::1] class_id not None,      # IN   (n_cases,)
        const int64_t[:, ::1] price not None,   # IN   (n_cases, n_tests)
        intp_t depth,
    ):
        cdef intp_t n_planes = max(1, int(np.max(codes)).bit_length())
        self.n_tests = codes.shape[0]
        self.n_cases = codes.shape[1]
        self.n_words = (self.n_tests + 63) // 64
        self.depth = max(1, depth)
        self.class_id = class_id
        self.price = price
        self.tells = np.zeros((self.n_cases, self.n_cases, self.n_words), np.uint64)
        self.cheapest = np.full((self.n_cases, self.n_cases), NO_COVER, np.int64)
        by_size = np.sort(np.asarray(price), axis=1)
        if self.n_tests == 1:
            by_size = np.concatenate([by_size, by_size], axis=1)
        self.two_least = np.ascontiguousarray(by_size[:, :2])
        fill_tells(
            self, pack_codes(np.asarray(codes), n_planes, self.n_words),
            np.argsort(np.asarray(price), axis=1, kind="stable").astype(np.int32),
        )

    cdef intp_t list_opponents(
        self, intp_t case, const uint16_t* cases, intp_t n_cases, uint16_t* opponents
    ) noexcept nogil:
        cdef intp_t i, n = 0
        for i in range(n_cases):
            # An opponent that no test tells from the case asks for nothing.
            if self.class_id[cases[i]] != self.class_id[case] and (
                self.cheapest[case, cases[i]] < NO_COVER
            ):
                opponents[n] = cases[i]
                n += 1
        return n

    cdef int64_t bound_case(
        self, intp_t case, const uint16_t* cases, intp_t n_cases, uint16_t* scratch
    ) noexcept nogil:
        return self.bound_at(case, cases, n_cases, self.depth, scratch)

    cdef int64_t bound_at(
        self, intp_t case, const uint16_t* cases, intp_t n_cases, intp_t depth,
        uint16_t* scratch,
    ) noexcept nogil:
        cdef:
            uint16_t* opponents = scratch + depth * self.n_cases
            intp_t n = self.list_opponents(case, cases, n_cases, opponents)
        return self.bound_rest(case, opponents, n, depth, scratch)

    cdef int64_t bound_rest(
        self, intp_t case, const uint16_t* rest, intp_t n_rest, intp_t depth,
        uint16_t* scratch,
    ) noexcept nogil:
        """Bound the price of a set of tests that tell the case from all of `rest`."""
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
        # A single test that tells the case from all of them.
        for w in range(self.n_words):
            word = ~(<uint64_t> 0)
            for i in range(n_rest):
                word &= self.tells[case, rest[i], w]
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
                n_bits += count_bits(self.tells[case, rest[i], w])
            if n_bits < fewest:
                fewest = n_bits
                hardest = rest[i]
        after = scratch + (depth - 1) * self.n_cases
        for w in range(self.n_words):
            still = self.tells[case, hardest, w]
            while still:
                test = 64 * w + lowest_bit(still)
                still &= still - 1
                if self.price[case, test] + self.two_least[case, 0] >= best:
                    continue
                n = 0
                for i in range(n_rest):
                    row = &self.tells[case, rest[i], 0]
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


def bound_cases(
    Cover cover not None,
    const uint16_t[::1] cases not None,
    intp_t depth=0,
    float64_t seconds=1e9,
):
    """Return the bound of each of the cases among them, at a depth of one's choice.

    Out of time, the cases that are left get a bound of zero.
    """
    cdef:
        intp_t i, n = cases.shape[0]
        intp_t levels = cover.depth if depth == 0 else depth
        int64_t[::1] bounds = np.zeros(n, dtype=np.int64)
        uint16_t[::1] scratch = np.zeros((levels + 1) * cover.n_cases, dtype=np.uint16)
        float64_t deadline = seconds_now() + seconds
    with nogil:
        for i in range(n):
            if seconds_now() > deadline:
                break
            bounds[i] = cover.bound_at(cases[i], &cases[0], n, levels, &scratch[0])
    return np.asarray(bounds)
