"""What the trees of a forest are grown on: bootstrap samples, and bundles of tests.

Tests of two outcomes are kept eight to a byte, to move and count them together. This
module must not know how a tree is grown.
"""

import numpy as np

from askless._core.greedy._counting cimport min_max_u8
from askless._core.base._keys cimport draw_below, mix_with
from askless._core.base._types cimport float64_t, intp_t, uint8_t, uint64_t


cdef enum:
    # A key of its own for the sample: the first nodes are drawn by parts of the tree's.
    BAG = 0x626167


def draw_bag(intp_t n_rows, uint64_t key):
    """Return how often each row is drawn, of n_rows draws with replacement."""
    cdef uint8_t[::1] counts = np.zeros(n_rows, dtype=np.uint8)
    if n_rows:
        with nogil:
            fill_bag(&counts[0], n_rows, mix_with(key, BAG))
    return np.asarray(counts)


cdef void fill_bag(uint8_t* counts, intp_t n_rows, uint64_t key) noexcept nogil:
    cdef intp_t i
    cdef uint64_t row
    for i in range(n_rows):
        row = draw_below(mix_with(key, <uint64_t> i), <uint64_t> n_rows)
        # No row is drawn 256 times in practice; if one is, it counts as 255.
        counts[row] += counts[row] < 255


class Bundles:
    """Tests of two outcomes, eight to a byte: what all trees of a forest share.

    Attributes
    ----------
    codes : ndarray of shape (n_bundles, n_rows)
        A bit for each test, in order of price.
    column : ndarray of int32 of shape (n_tests,)
        Where a test is: in its own column of codes, counted from 0, or in a bundle,
        counted from behind them.
    bit : ndarray of uint8 of shape (n_tests,)
        Its bit, as a mask; 0 for a test with a column of its own.
    whole : ndarray of int32
        The tests with a column of their own.
    """

    def __init__(self, codes, column, bit, whole):
        self.codes = codes
        self.column = column
        self.bit = bit
        self.whole = whole


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
        intp_t n_tests = codes.shape[0], n_rows = codes.shape[1], test, i, place
        uint8_t low, high, shift
        const uint8_t* source
        uint8_t* target
        uint8_t[:, ::1] packed
    is_bit = np.zeros(n_tests, dtype=bool)
    if n_rows:
        for test in range(n_tests):
            min_max_u8(&codes[test, 0], n_rows, &low, &high)
            is_bit[test] = use_bits and high <= 1
    order = np.argsort(price, kind="stable")
    bits = order[is_bit[order]]
    whole = np.flatnonzero(~is_bit).astype(np.int32)
    column = np.empty(n_tests, dtype=np.int32)
    column[whole] = np.arange(len(whole))
    places = np.arange(len(bits))
    column[bits] = len(whole) + places // 8
    mask = np.zeros(n_tests, dtype=np.uint8)
    mask[bits] = 1 << (places % 8)
    packed = np.zeros(((len(bits) + 7) // 8, n_rows), dtype=np.uint8)
    for place in range(len(bits)):
        source = &codes[bits[place], 0]
        target = &packed[place // 8, 0]
        shift = <uint8_t> (place % 8)
        with nogil:
            for i in range(n_rows):
                target[i] |= source[i] << shift
    return Bundles(np.asarray(packed), column, mask, whole)
