"""What the trees of a forest are grown on: bootstrap samples, and bundles of tests.

Tests of two outcomes are kept eight to a byte, to move and count them together. This
module must not know how a tree is grown.
"""

import numpy as np

from askless._core.greedy._counting cimport min_max_u8
from askless._core.base._keys cimport mix_with
from askless._core.base._types cimport (
    float64_t, int64_t, intp_t, uint8_t, uint32_t, uint64_t,
)


cdef enum:
    # A key of its own for the sample: the first nodes are drawn by parts of the tree's.
    BAG = 0x626167
    # A row is drawn this many times or more about once in 10**18.
    MOST_TIMES = 19
    # Rows of a bundle that are filled at a time.
    BLOCK = 8192


cdef uint64_t[MOST_TIMES] LIMITS


cdef void fill_limits() noexcept:
    """Fill in below which key a row is drawn 0 times, at most once, and so on.

    The chances of a Poisson draw of mean 1, worked out in whole numbers, so that they
    are the same on every machine: 2**64 / e, and each the one before by its number.
    """
    cdef:
        uint64_t chance = <uint64_t> 0x5E2D58D8B3BCDF1A
        uint64_t total = 0
        intp_t times
    for times in range(MOST_TIMES):
        if times:
            chance //= <uint64_t> times
        total += chance
        LIMITS[times] = total


fill_limits()


def draw_bag(intp_t n_rows, uint64_t key, intp_t first=0):
    """Return how often each row is drawn: a Poisson draw of mean 1 by its number.

    Rows are numbered from ``first`` on. What is drawn of a row depends on nothing but
    the key and its number, so that parts of the rows can be drawn alone.
    """
    cdef uint8_t[::1] counts = np.empty(n_rows, dtype=np.uint8)
    if n_rows:
        with nogil:
            fill_bag(&counts[0], n_rows, mix_with(key, BAG), <uint64_t> first)
    return np.asarray(counts)


def draw_rows(const uint32_t[::1] rows not None, uint64_t key):
    """Return how often some rows are drawn, by their numbers; see draw_bag."""
    cdef:
        intp_t n = rows.shape[0], i
        uint8_t[::1] counts = np.empty(n, dtype=np.uint8)
        uint64_t mixed = mix_with(key, BAG)
    with nogil:
        for i in range(n):
            counts[i] = draw_times(mix_with(mixed, rows[i]))
    return np.asarray(counts)


cdef void fill_bag(
    uint8_t* counts, intp_t n_rows, uint64_t key, uint64_t first
) noexcept nogil:
    cdef intp_t i
    for i in range(n_rows):
        counts[i] = draw_times(mix_with(key, first + <uint64_t> i))


cdef inline uint8_t draw_times(uint64_t drawn) noexcept nogil:
    # Without a branch up to three times, which is nearly always.
    cdef uint8_t times = (
        (drawn >= LIMITS[0]) + (drawn >= LIMITS[1]) + (drawn >= LIMITS[2])
        + (drawn >= LIMITS[3])
    )
    if times == 4:
        while times < MOST_TIMES and drawn >= LIMITS[times]:
            times += 1
    return times


class Bundles:
    """Tests of two outcomes, eight to a byte: what all trees of a forest share.

    Attributes
    ----------
    codes : ndarray of shape (n_bundles, n_rows)
        A bit for each test, in order of price.
    bits : ndarray of int
        The tests that are bits, in the order in which they lie.
    column : ndarray of int32 of shape (n_tests,)
        Where a test is: in its own column of codes, counted from 0, or in a bundle,
        counted from behind them.
    bit : ndarray of uint8 of shape (n_tests,)
        Its bit, as a mask; 0 for a test with a column of its own.
    whole : ndarray of int32
        The columns of codes of tests that have one of their own: their numbers, or the
        first ones if codes have no others.
    """

    def __init__(self, codes, bits, n_tests, *, is_alone=False):
        is_bit = np.zeros(n_tests, dtype=bool)
        is_bit[bits] = True
        places = np.arange(len(bits))
        self.codes = codes
        self.bits = bits
        self.whole = np.flatnonzero(~is_bit).astype(np.int32)
        self.column = np.empty(n_tests, dtype=np.int32)
        self.column[self.whole] = np.arange(len(self.whole))
        self.column[bits] = len(self.whole) + places // 8
        self.bit = np.zeros(n_tests, dtype=np.uint8)
        self.bit[bits] = 1 << (places % 8)
        if is_alone:
            # The codes that go with it have no columns of bits.
            self.whole = np.arange(len(self.whole), dtype=np.int32)
        self.is_alone = is_alone

    def by_price(self, price):
        """Return the same tests in order of price, so that neighbours are together."""
        order = np.argsort(price, kind="stable")
        bits = order[self.bit[order] > 0]
        if np.array_equal(bits, self.bits):
            return self
        first = len(self.whole)
        sources = self.column[bits].astype(np.int64) - first
        codes = pack_bits(self.codes, sources, self.bit[bits])
        return Bundles(codes, bits, len(self.bit), is_alone=self.is_alone)


def pack_bits(
    const uint8_t[:, ::1] codes not None,  # IN   (n_columns, n_rows)
    const int64_t[::1] columns not None,   # IN   (n_bits,) where each bit comes from
    const uint8_t[::1] masks not None,     # IN   (n_bits,) which one of its column
):
    """Return bits of columns, eight to a byte: an array (n_bundles, n_rows)."""
    cdef:
        intp_t n_bits = columns.shape[0], n_rows = codes.shape[1]
        intp_t place, first = 0, last, i
        uint8_t mask, bit
        const uint8_t* source
        uint8_t* target
        uint8_t[:, ::1] packed = np.zeros(((n_bits + 7) // 8, n_rows), dtype=np.uint8)
    with nogil:
        # A block of the target stays in the cache while its eight bits are set.
        while first < n_rows:
            last = min(first + <intp_t> BLOCK, n_rows)
            for place in range(n_bits):
                source = &codes[columns[place], 0]
                target = &packed[place // 8, 0]
                mask = masks[place]
                bit = <uint8_t> (1 << (place % 8))
                for i in range(first, last):
                    target[i] |= bit if source[i] & mask else 0
            first = last
    return np.asarray(packed)


def bundle_codes(
    const uint8_t[:, ::1] codes not None,  # IN   (n_tests, n_rows)
    const float64_t[::1] price not None,   # IN   (n_tests,)
    *,
    bint use_bits=True,
):
    """Put the tests whose codes are all 0 or 1 into bundles of eight.

    ``use_bits`` is a switch: without it no test is bundled, which changes the time and
    the memory and never a tree.
    """
    cdef:
        intp_t n_tests = codes.shape[0], n_rows = codes.shape[1], test
        uint8_t low, high
    is_bit = np.zeros(n_tests, dtype=bool)
    if n_rows:
        for test in range(n_tests):
            min_max_u8(&codes[test, 0], n_rows, &low, &high)
            is_bit[test] = use_bits and high <= 1
    order = np.argsort(price, kind="stable")
    bits = order[is_bit[order]]
    packed = pack_bits(codes, bits, np.ones(len(bits), dtype=np.uint8))
    return Bundles(packed, bits, n_tests)
