"""Code rows in blocks, and let a forest walk them, blocks in threads.

A block is coded just before it is walked, so that its codes are still near. This module
knows rows and outputs; how a tree is walked and charged is the walker's business.
"""

from cython.parallel import prange
from libc.stdlib cimport calloc, free

from askless._core.code._codes cimport CutColumn, CutIndex, find_level
from askless._core.tree._forest cimport ForestWalker, N_LANES, Outputs, code_place
from askless._core.base._types cimport (
    code_t, float64_t, int32_t, intp_t, real_t, uint8_t, uint16_t,
)


cdef enum:
    # Rows walked together: many, since each block reads all trees from far away, while
    # its rows are read in order. Multiples of N_LANES.
    LEAST_ROWS = 2048
    MOST_ROWS = 32768
    # Bytes of codes of a block, at about which rows of many columns are fewer.
    BLOCK_BYTES = 1 << 22
    # Rows coded together. A multiple of N_LANES.
    CODED_ROWS = 64


def walk_coded_rows(
    ForestWalker walker not None,
    const code_t[:, ::1] codes not None,  # IN   (n_columns, n_rows)
    intp_t n_rows,
    int n_jobs,
    *,
    int32_t[:, ::1] leaf=None,            # OUT  (n_rows, n_trees)
    int32_t[:, ::1] tally=None,           # OUT  (n_rows, n_classes) zeros
    float64_t[:, ::1] weights=None,       # OUT  (n_rows, n_classes) zeros
    int32_t[::1] decision=None,           # OUT  (n_rows,)
    float64_t[::1] cost=None,             # OUT  (n_rows,) zeros
    float64_t[:, ::1] path_cost=None,     # OUT  (n_trees, n_rows); cost is given too
):
    """Walk coded rows and fill whichever outputs are given."""
    cdef:
        Outputs out
        intp_t size = rows_of_block(walker, n_rows, n_jobs)
        intp_t n_blocks = (n_rows + size - 1) // size
        intp_t block
        int failed = 0
    if n_rows == 0:
        return
    fill_outputs(&out, leaf, tally, weights, decision, cost, path_cost)
    for block in prange(n_blocks, nogil=True, schedule="static", num_threads=n_jobs):
        failed |= walk_code_block(
            walker, codes, block * size, min(n_rows, (block + 1) * size), &out,
        )
    if failed:
        raise MemoryError("no memory left to walk a forest")


def walk_matrix(
    ForestWalker walker not None,            # is_fast
    const real_t[:, ::1] values not None,    # IN   (n_rows, n_tests) NaN is missing
    CutIndex index not None,                 # IN   the cuts of the used tests
    int n_jobs,
    *,
    int32_t[:, ::1] leaf=None,
    int32_t[:, ::1] tally=None,
    float64_t[:, ::1] weights=None,
    int32_t[::1] decision=None,
    float64_t[::1] cost=None,
    float64_t[:, ::1] path_cost=None,
):
    """Walk rows of numbers, coding a block at a time; outputs as above."""
    cdef:
        Outputs out
        intp_t n_rows = values.shape[0]
        intp_t size = rows_of_block(walker, n_rows, n_jobs)
        intp_t n_blocks = (n_rows + size - 1) // size
        intp_t block
        int failed = 0
    if n_rows == 0:
        return
    fill_outputs(&out, leaf, tally, weights, decision, cost, path_cost)
    for block in prange(n_blocks, nogil=True, schedule="static", num_threads=n_jobs):
        failed |= walk_matrix_block(
            walker, values, index, block * size, min(n_rows, (block + 1) * size), &out,
        )
    if failed:
        raise MemoryError("no memory left to walk a forest")


cdef intp_t rows_of_block(
    ForestWalker walker, intp_t n_rows, int n_jobs
) noexcept nogil:
    """Return how many rows are walked together: each thread has some."""
    cdef:
        intp_t most = min(
            <intp_t> MOST_ROWS, <intp_t> BLOCK_BYTES // (walker.n_columns + 1)
        )
        intp_t share = (n_rows + n_jobs - 1) // max(n_jobs, 1)
        intp_t size = min(max(most, <intp_t> LEAST_ROWS), max(share, 1))
    return (size + N_LANES - 1) // N_LANES * N_LANES


cdef void fill_outputs(
    Outputs* out, int32_t[:, ::1] leaf, int32_t[:, ::1] tally,
    float64_t[:, ::1] weights, int32_t[::1] decision, float64_t[::1] cost,
    float64_t[:, ::1] path_cost,
):
    out.leaf = NULL if leaf is None else &leaf[0, 0]
    out.tally = NULL if tally is None else &tally[0, 0]
    out.weights = NULL if weights is None else &weights[0, 0]
    out.decision = NULL if decision is None else &decision[0]
    out.cost = NULL if cost is None else &cost[0]
    out.path_cost = NULL if path_cost is None else &path_cost[0, 0]
    out.path_stride = 0 if path_cost is None else path_cost.shape[1]


cdef Outputs outputs_at(
    ForestWalker walker, Outputs* whole, intp_t row
) noexcept nogil:
    """Return where the outputs of a block begin that starts at a row."""
    cdef Outputs out
    out.leaf = NULL if whole.leaf == NULL else whole.leaf + row * walker.n_trees
    out.tally = NULL if whole.tally == NULL else whole.tally + row * walker.n_classes
    out.weights = (
        NULL if whole.weights == NULL else whole.weights + row * walker.n_classes
    )
    out.decision = NULL if whole.decision == NULL else whole.decision + row
    out.cost = NULL if whole.cost == NULL else whole.cost + row
    out.path_cost = NULL if whole.path_cost == NULL else whole.path_cost + row
    out.path_stride = whole.path_stride
    return out


cdef int walk_block(
    ForestWalker walker, void* rows, bint has_missing, intp_t start, intp_t n,
    Outputs* whole,
) noexcept nogil:
    """Walk a coded block; where only decisions are asked for, votes live here."""
    cdef:
        Outputs out = outputs_at(walker, whole, start)
        int32_t* votes = NULL
        int failed
    if out.tally == NULL and out.decision != NULL:
        votes = <int32_t*> calloc(n * walker.n_classes, sizeof(int32_t))
        if votes == NULL:
            return 1
        out.tally = votes
    if walker.is_fast:
        failed = walker.walk_bytes(<const uint8_t*> rows, n, has_missing, &out)
    else:
        failed = walker.walk_any(<const uint16_t*> rows, n, &out)
    free(votes)
    return failed != 0


cdef int walk_code_block(
    ForestWalker walker, const code_t[:, ::1] codes, intp_t start, intp_t end,
    Outputs* whole,
) noexcept nogil:
    cdef:
        intp_t n = end - start, stride = walker.n_columns + 1, c, i
        intp_t n_levels
        uint8_t* narrow
        uint16_t* wide
        void* rows = calloc((n + N_LANES) * stride, sizeof(uint16_t))
        int failed
    if rows == NULL:
        return 1
    narrow = <uint8_t*> rows
    wide = <uint16_t*> rows
    for c in range(walker.n_columns):
        n_levels = walker.n_levels[walker.used[c]]
        if walker.is_fast:
            for i in range(n):
                narrow[code_place(i, c, stride)] = (
                    <uint8_t> codes[c, start + i]
                    if codes[c, start + i] < n_levels else 255
                )
        else:
            for i in range(n):
                wide[i * stride + c] = codes[c, start + i]
    failed = walk_block(walker, rows, True, start, n, whole)
    free(rows)
    return failed


cdef int walk_matrix_block(
    ForestWalker walker, const real_t[:, ::1] values, CutIndex index, intp_t start,
    intp_t end, Outputs* whole,
) noexcept nogil:
    cdef:
        intp_t n = end - start, stride = walker.n_columns + 1, c, i, test
        intp_t part, first, last
        CutColumn column
        float64_t value, cut
        bint has_missing = False
        uint8_t* rows = <uint8_t*> calloc((n + N_LANES) * stride, 1)
        int failed
    if rows == NULL:
        return 1
    # Few rows at a time, whose columns stay in the nearest cache while they are read.
    for part in range((n + CODED_ROWS - 1) // CODED_ROWS):
        first, last = part * CODED_ROWS, min(n, (part + 1) * CODED_ROWS)
        for c in range(walker.n_columns):
            test = walker.used[c]
            column = index.columns[c]
            if column.n_cuts == 1:
                cut = column.cuts[0]
                for i in range(first, last):
                    value = values[start + i, test]
                    has_missing |= value != value
                    rows[code_place(i, c, stride)] = (
                        <uint8_t> (cut < value) if value == value else 255
                    )
            else:
                for i in range(first, last):
                    value = values[start + i, test]
                    has_missing |= value != value
                    rows[code_place(i, c, stride)] = (
                        <uint8_t> find_level(&column, value) if value == value else 255
                    )
    failed = walk_block(walker, rows, has_missing, start, n, whole)
    free(rows)
    return failed
