"""Walk many rows down every tree: what the full model says.

Where a run stops only once its decision is settled, this is what it decides, and nobody
has to ask what would be bought. A block of rows goes down each tree together, so that
the tree stays in the cache.

This module must not know prices, bounds or what is bought.
"""

from cython.parallel import parallel, prange
from libc.stdlib cimport calloc, free

import numpy as np

from askless._core.ensemble._rows cimport Rows, code_of
from askless._core.ensemble._trees cimport IS_SET, MISSING_LEFT, Model, Node, goes_left
from askless._core.base._types cimport (
    float32_t, float64_t, int32_t, intp_t, uint8_t,
)


cdef enum:
    LANES = 8
    BLOCK = 128


cdef int answer_each(
    const Model* m, const Rows* rows, float64_t* raw, int n_threads
) except -1:
    cdef:
        intp_t n_blocks = (rows.n_rows + BLOCK - 1) // BLOCK
        intp_t block
        int32_t* codes
        uint8_t[::1] failed = np.zeros(1, dtype=np.uint8)
    with nogil, parallel(num_threads=n_threads):
        codes = <int32_t*> calloc(BLOCK * m.n_tests + 1, 4)
        for block in prange(n_blocks, schedule="dynamic"):
            if codes == NULL:
                failed[0] = 1
            else:
                answer_block(
                    m, rows, block * BLOCK, min(rows.n_rows, (block + 1) * BLOCK),
                    codes, raw,
                )
        free(codes)
    if failed[0]:
        raise MemoryError("no memory left to run an ensemble")
    return 0


cdef void answer_block(
    const Model* m, const Rows* rows, intp_t first, intp_t last, int32_t* codes,
    float64_t* raw,
) noexcept nogil:
    cdef:
        intp_t row, test, tree, q, group
        intp_t n = last - first
        int32_t[BLOCK] leaf
    for row in range(first, last):
        for test in range(m.n_tests):
            # What no tree asks is not coded.
            if m.user_start[test + 1] > m.user_start[test]:
                codes[(row - first) * m.n_tests + test] = <int32_t> code_of(
                    m, rows, row, test
                )
        for q in range(m.n_outputs):
            raw[row * m.n_outputs + q] = m.offset[q]
    for tree in range(m.n_trees):
        for group in range((n + LANES - 1) // LANES):
            row = group * LANES
            walk_lanes(
                m, tree, codes + row * m.n_tests, min(<intp_t> LANES, n - row),
                &leaf[row],
            )
        for row in range(n):
            add_leaf(
                m, leaf[row], raw + (first + row) * m.n_outputs + m.output[tree]
            )


cdef inline void walk_lanes(
    const Model* m, intp_t tree, const int32_t* codes, intp_t n_lanes, int32_t* leaf
) noexcept nogil:
    """Walk rows down a tree side by side: their reads do not wait for one another."""
    cdef:
        intp_t lane, n_open
        intp_t[LANES] node
        const Node* at
        int32_t code
        bint is_left
    for lane in range(n_lanes):
        node[lane] = m.tree_start[tree]
    n_open = n_lanes
    while n_open:
        n_open = 0
        for lane in range(n_lanes):
            at = m.nodes + node[lane]
            if at.test < 0:
                continue
            n_open = n_open + 1
            code = codes[lane * m.n_tests + at.test]
            if at.flags & IS_SET:
                is_left = goes_left(m, at, code)
            else:
                # Without a branch that nobody could predict.
                is_left = (code <= at.cut) | (
                    (at.flags & MISSING_LEFT) & (code >= m.n_levels[at.test])
                )
            node[lane] = at.right + is_left * (node[lane] + 1 - at.right)
    for lane in range(n_lanes):
        leaf[lane] = <int32_t> node[lane]


cdef inline void add_leaf(
    const Model* m, intp_t node, float64_t* raw
) noexcept nogil:
    """Add a leaf as the source does."""
    cdef:
        intp_t q
        float32_t small
    for q in range(m.width):
        if m.is_single:
            small = <float32_t> raw[q]
            small = small + <float32_t> m.value[node * m.width + q]
            raw[q] = small
        else:
            raw[q] += m.value[node * m.width + q]
