"""Turn raw values into small integer codes, once, before anything is grown or walked.

This module knows numbers, cuts and look-up tables. It must not know names, frames or
how the cuts were chosen.
"""

from cython.parallel import prange
from libc.math cimport INFINITY
from libc.stdlib cimport calloc, free, malloc

from askless._core.base._types cimport (
    code_t, float64_t, int64_t, intp_t, real_t, uint16_t, uint32_t,
)


cdef enum:
    # Rows coded together: few enough that all their columns stay in the nearest cache
    # while each is read in turn.
    BLOCK_ROWS = 128
    # Columns of fewer cuts are searched without a table.
    FEW_CUTS = 4


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


cdef void count_cuts_below_each(
    const float64_t* cuts, intp_t n_cuts, const float64_t* values, uint16_t* codes
) noexcept nogil:
    cdef:
        uint32_t[N_SIDE_BY_SIDE] base
        intp_t n = n_cuts
        intp_t half, i
    for i in range(N_SIDE_BY_SIDE):
        base[i] = 0
    while n > 1:
        half = n >> 1
        for i in range(N_SIDE_BY_SIDE):
            base[i] += <uint32_t> half * (cuts[base[i] + half - 1] < values[i])
        n -= half
    for i in range(N_SIDE_BY_SIDE):
        codes[i] = <uint16_t> (base[i] + (n == 1 and cuts[base[i]] < values[i]))


cdef class CutIndex:
    """The cuts of several columns, ready to code numbers.

    ``cuts`` are those of all columns one after another, and never empty;
    ``cut_start`` says where each begins.
    """

    def __cinit__(self):
        self.columns = NULL
        self.cuts = NULL
        self.before = NULL

    def __dealloc__(self):
        free(self.columns)
        free(self.cuts)
        free(self.before)

    def __init__(
        self,
        const float64_t[::1] cuts not None,
        const int64_t[::1] cut_start not None,
    ):
        cdef:
            intp_t n = cut_start.shape[0] - 1, c, i, n_cuts, n_tables = 0, at = 0
            CutColumn* column
        self.n_columns = n
        for c in range(n):
            n_tables += cut_start[c + 1] - cut_start[c] >= FEW_CUTS
        self.columns = <CutColumn*> calloc(n + 1, sizeof(CutColumn))
        self.cuts = <float64_t*> malloc((cut_start[n] + n + 1) * sizeof(float64_t))
        self.before = <uint16_t*> calloc(
            n_tables * (<intp_t> N_PARTS + 1) + 1, sizeof(uint16_t)
        )
        if self.columns == NULL or self.cuts == NULL or self.before == NULL:
            raise MemoryError("no memory left for the cuts of the columns")
        n_tables = 0
        for c in range(n):
            column = self.columns + c
            n_cuts = cut_start[c + 1] - cut_start[c]
            column.n_cuts = n_cuts
            column.cuts = self.cuts + at
            for i in range(n_cuts):
                self.cuts[at + i] = cuts[cut_start[c] + i]
            self.cuts[at + n_cuts] = INFINITY
            at += n_cuts + 1
            if n_cuts >= FEW_CUTS:
                fill_parts(column, self.before + n_tables * (<intp_t> N_PARTS + 1))
                n_tables += 1


cdef void fill_parts(CutColumn* column, uint16_t* before) noexcept:
    """List the cuts of a column by the parts of its range."""
    cdef:
        intp_t i, part
        float64_t width
    column.low = column.cuts[0]
    width = column.cuts[column.n_cuts - 1] - column.low
    column.scale = N_PARTS / width if N_PARTS / width < INFINITY else 0.0
    column.before = before
    for i in range(column.n_cuts):
        part = <intp_t> part_of(column.low, column.scale, column.cuts[i])
        before[part + 1] += 1
    for part in range(N_PARTS):
        column.is_crowded |= before[part + 1] > 1
        before[part + 1] += before[part]


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
    CutIndex index,
    const uint32_t* position,
    code_t[:, ::1] codes,
) noexcept nogil:
    cdef:
        intp_t i, test
        real_t value
        float64_t cut
        CutColumn column
        code_t code, missing
        code_t* target
    for test in range(values.shape[1]):
        column = index.columns[test]
        missing = <code_t> (column.n_cuts + 1)
        target = &codes[test, 0]
        if column.n_cuts == 1:
            cut = column.cuts[0]
            for i in range(start, end):
                value = values[i, test]
                code = <code_t> (cut < value) if value == value else missing
                target[i if position == NULL else <intp_t> position[i]] = code
            continue
        for i in range(start, end):
            value = values[i, test]
            if value != value:
                code = missing
            else:
                code = <code_t> find_level(&column, value)
            target[i if position == NULL else <intp_t> position[i]] = code


def encode_matrix(
    const real_t[:, :] values not None,     # IN   (n_rows, n_tests) NaN is missing
    const float64_t[::1] cuts not None,     # IN   the cuts of all tests; never empty
    const int64_t[::1] cut_start not None,  # IN   (n_tests + 1,) into cuts
    const uint32_t[::1] position not None,  # IN   (n_rows,) where a row goes, or empty
    code_t[:, ::1] codes not None,          # OUT  (n_tests, >= n_rows)
    int n_jobs,
):
    """Code a matrix of numbers into columns, moving rows to ``position`` on the way."""
    cdef:
        intp_t n_rows = values.shape[0]
        intp_t n_blocks = (n_rows + BLOCK_ROWS - 1) // BLOCK_ROWS
        const uint32_t* places = &position[0] if position.shape[0] else NULL
        intp_t block
        CutIndex index = CutIndex(cuts, cut_start)
    if n_rows == 0:
        return
    for block in prange(
        n_blocks, nogil=True, schedule="static", num_threads=n_jobs
    ):
        encode_block(
            values, block * BLOCK_ROWS, min(n_rows, (block + 1) * BLOCK_ROWS),
            index, places, codes,
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
