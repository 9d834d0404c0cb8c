"""Turn raw values into small integer codes, once, before anything is grown or walked.

This module knows numbers, cuts and look-up tables. It must not know names, frames or
how the cuts were chosen.
"""

from cython.parallel import prange

from askless._core._types cimport (
    code_t, float64_t, int64_t, intp_t, real_t, uint32_t,
)


cdef intp_t count_cuts_below(
    const float64_t* cuts, intp_t n_cuts, float64_t value
) noexcept nogil:
    cdef:
        intp_t base = 0
        intp_t n = n_cuts
        intp_t half
    # Invariant: every cut before `base` is below the value, every cut from `base + n`
    # on is not.
    while n > 1:
        half = n >> 1
        base += half * (cuts[base + half - 1] < value)
        n -= half
    if n == 1:
        base += cuts[base] < value
    return base


def encode_numbers(
    const real_t[:] values not None,     # IN   (n,) NaN is missing
    const float64_t[::1] cuts not None,  # IN   (n_levels - 1,) ascending
    code_t[::1] codes not None,          # OUT  (n,)
):
    """Code a column of numbers: the code is how many cuts lie below the value."""
    cdef:
        intp_t n = values.shape[0]
        intp_t n_cuts = cuts.shape[0]
        intp_t i
        real_t value
        const float64_t* first_cut = &cuts[0] if n_cuts else NULL
    with nogil:
        for i in range(n):
            value = values[i]
            if value != value:
                codes[i] = <code_t> (n_cuts + 1)
            else:
                codes[i] = <code_t> count_cuts_below(first_cut, n_cuts, value)


cdef void encode_block(
    const real_t[:, :] values,
    intp_t start,
    intp_t end,
    const float64_t[::1] cuts,
    const int64_t[::1] cut_start,
    const uint32_t[::1] position,
    bint in_order,
    code_t[:, ::1] codes,
) noexcept nogil:
    cdef:
        intp_t i, test, n_cuts
        real_t value
        const float64_t* first_cut
        code_t code
    for test in range(values.shape[1]):
        n_cuts = cut_start[test + 1] - cut_start[test]
        first_cut = &cuts[0] + cut_start[test]
        for i in range(start, end):
            value = values[i, test]
            if value != value:
                code = <code_t> (n_cuts + 1)
            elif n_cuts == 1:
                code = first_cut[0] < value
            else:
                code = <code_t> count_cuts_below(first_cut, n_cuts, value)
            codes[test, i if in_order else <intp_t> position[i]] = code


def encode_matrix(
    const real_t[:, :] values not None,     # IN   (n_rows, n_tests) NaN is missing
    const float64_t[::1] cuts not None,     # IN   the cuts of all tests; never empty
    const int64_t[::1] cut_start not None,  # IN   (n_tests + 1,) into cuts
    const uint32_t[::1] position not None,  # IN   (n_rows,) where a row goes, or empty
    code_t[:, ::1] codes not None,          # OUT  (n_tests, >= n_rows)
    int n_jobs,
):
    """Code a matrix of numbers into columns, moving rows to ``position`` on the way.

    Rows are taken in blocks of 1,024 so that the strided reads of a block of a
    row-major matrix stay in the second-level cache while its columns are written.
    """
    cdef:
        intp_t n_rows = values.shape[0]
        intp_t n_blocks = (n_rows + 1023) // 1024
        bint in_order = position.shape[0] == 0
        intp_t block
    for block in prange(
        n_blocks, nogil=True, schedule="static", num_threads=n_jobs
    ):
        encode_block(
            values, block * 1024, min(n_rows, (block + 1) * 1024),
            cuts, cut_start, position, in_order, codes,
        )


def encode_objects(
    values,                      # IN   (n,) Python objects
    dict lookup not None,        # IN   codes by value
    intp_t missing,              # IN   the code of None and NaN
    intp_t unseen,               # IN   the code of what is not in the look-up table
    code_t[::1] codes not None,  # OUT  (n,)
):
    """Code a column of categories by looking each value up.

    The two codes are not of the type code_t: Cython would choose it by the first one,
    one byte for a small number, whatever ``codes`` holds.
    """
    cdef:
        intp_t i = 0
        object value, code
    for value in values:
        if value is None or value != value:
            codes[i] = <code_t> missing
        else:
            code = lookup.get(value)
            codes[i] = <code_t> unseen if code is None else <code_t> code
        i += 1
