"""Mix the numbers of each row into a key of 64 bits.

A key is the sum of what becomes of each number by its column, so that columns can be
mixed apart and added up. Another mixer would be another order of rows, and so another
forest. This module must not know what keys are used for.
"""

from libc.string cimport memcpy

import numpy as np

from askless._core.base._keys cimport mix, mix_with
from askless._core.base._types cimport float64_t, intp_t, real_t, uint64_t


def mix_numbers(
    const real_t[:, :] values not None,  # IN   (n_rows, n_columns) NaN is missing
    intp_t first=0,                      # IN   the number of the first column
):
    """Return the key of each row: equal numbers are the same, whatever their type."""
    cdef:
        intp_t n_rows = values.shape[0], n_columns = values.shape[1], i, c
        uint64_t[::1] keys = np.empty(n_rows, dtype=np.uint64)
        uint64_t[::1] place = np.empty(n_columns, dtype=np.uint64)
        uint64_t bits, nan_bits, total
        float64_t number = float("nan")
    memcpy(&nan_bits, &number, sizeof(uint64_t))
    # Each column begins elsewhere, at numbers that have nothing to do with each other:
    # with multiples of one number sums of different rows were the same now and then.
    for c in range(n_columns):
        place[c] = mix_with(0, <uint64_t> (first + c))
    with nogil:
        for i in range(n_rows):
            total = 0
            for c in range(n_columns):
                # One zero, and one NaN.
                number = <float64_t> values[i, c] + 0.0
                memcpy(&bits, &number, sizeof(uint64_t))
                bits = bits if number == number else nan_bits
                total += mix(bits + place[c])
            keys[i] = total
    return np.asarray(keys)
