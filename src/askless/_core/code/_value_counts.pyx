"""Look at the columns of a matrix of numbers: their range, and how often values occur.

Whole numbers of a small range need not be sorted to find their distinct values:
counting is enough. This module must not know what becomes of the values.
"""

from libc.math cimport INFINITY

import numpy as np

from askless._core.base._types cimport float64_t, int64_t, intp_t, real_t, uint8_t


def describe_columns(
    const real_t[:, ::1] values not None,  # IN   (n_rows, n_columns) NaN is missing
    const int64_t[::1] rows=None,          # IN   which rows to look at; all by default
):
    """Return the least and the largest number of each column, and if all are whole.

    Returns
    -------
    low, high : ndarray of shape (n_columns,)
        Infinity and minus infinity where every number is missing.
    is_whole : ndarray of bool of shape (n_columns,)
        Numbers beyond 2**22 may be taken for fractions.
    has_missing : ndarray of bool of shape (n_columns,)
    """
    cdef:
        intp_t n = values.shape[0] if rows is None else rows.shape[0]
        intp_t n_columns = values.shape[1], i, c
        const real_t* row
        real_t value, rounded
        # Adding and taking away this number rounds to whole ones, in either precision;
        # unlike a conversion it is defined for every number.
        real_t magic = 1.5 * 2**23 if real_t is float else 1.5 * 2.0**52
    dtype = np.float32 if real_t is float else np.float64
    least = np.full(n_columns, INFINITY, dtype=dtype)
    most = np.full(n_columns, -INFINITY, dtype=dtype)
    odd = np.zeros(n_columns, dtype=np.uint8)
    missing = np.zeros(n_columns, dtype=np.uint8)
    cdef:
        real_t[::1] low = least, high = most
        uint8_t[::1] is_odd = odd, is_missing = missing
    with nogil:
        for i in range(n):
            row = &values[i if rows is None else rows[i], 0]
            for c in range(n_columns):
                value = row[c]
                rounded = (value + magic) - magic
                # Comparisons with NaN are false: it leaves the range as it is.
                low[c] = value if value < low[c] else low[c]
                high[c] = value if value > high[c] else high[c]
                is_odd[c] |= (rounded != value) & (value == value)
                is_missing[c] |= value != value
    return (
        least.astype(np.float64), most.astype(np.float64), odd == 0, missing != 0
    )


def count_whole(
    const real_t[:, ::1] values not None,  # IN   (n_rows, n_columns)
    intp_t column,                         # IN   whole numbers or NaN
    float64_t low,                         # IN   the least of them
    int64_t[::1] counts not None,          # OUT  zeros, up to the largest of them
    const int64_t[::1] rows=None,          # IN   which rows to look at; all by default
):
    """Count how often each whole number occurs in a column."""
    cdef:
        intp_t n = values.shape[0] if rows is None else rows.shape[0], i
        real_t value
    with nogil:
        for i in range(n):
            value = values[i if rows is None else rows[i], column]
            if value == value:
                counts[<intp_t> (value - low)] += 1
