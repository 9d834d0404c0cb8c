"""Walk many rows down a tree at once, and charge them for what they ask on the way.

Two walks give the same leaf: one over raw numbers, which codes nothing and reads only
the values that a row is asked for, and one over codes, for any mix of tests.

This module must not know what a leaf decides.
"""

from cython.parallel import prange
from libc.stdlib cimport free, malloc
from libc.string cimport memset

import numpy as np

from askless._core.price._prices cimport Prices
from askless._core.base._types cimport (
    code_t, float64_t, int32_t, int64_t, intp_t, real_t, uint8_t,
)


# Rows walked side by side. Their reads do not wait for one another, which hides most of
# the time that a row far away in memory takes: 8 was the best of 1, 4, 8 and 16.
cdef enum:
    N_LANES = 8


cdef struct NumberNode:
    float64_t threshold
    int32_t column
    int32_t left      # value <= threshold
    int32_t right
    int32_t missing   # not a number


cdef void walk_lanes(
    const NumberNode* nodes, const real_t* values, intp_t row_stride, intp_t depth,
    int32_t* leaf,
) noexcept nogil:
    """Walk N_LANES rows down; a leaf leads to itself, so no lane has to stop."""
    cdef:
        int32_t[N_LANES] at
        intp_t lane, _step
        float64_t value
        const NumberNode* node
    for lane in range(N_LANES):
        at[lane] = 0
    for _step in range(depth):
        for lane in range(N_LANES):
            node = nodes + at[lane]
            value = values[lane * row_stride + node.column]
            at[lane] = node.left if value <= node.threshold else node.right
            if value != value:
                at[lane] = node.missing
    for lane in range(N_LANES):
        leaf[lane] = at[lane]


def walk_numbers(
    const real_t[:, ::1] values not None,       # IN   (n_rows, n_columns)
    const float64_t[::1] threshold not None,    # IN   (n_nodes,)
    const int32_t[::1] column not None,         # IN   (n_nodes,) -1 for a leaf
    const int32_t[::1] left not None,           # IN   (n_nodes,)
    const int32_t[::1] right not None,          # IN   (n_nodes,)
    const int32_t[::1] missing not None,        # IN   (n_nodes,)
    intp_t depth,
    int n_jobs,
):
    """Return the leaf of each row of numbers; NaN is a missing value."""
    cdef:
        intp_t n_rows = values.shape[0]
        intp_t n_columns = values.shape[1]
        intp_t n_nodes = threshold.shape[0]
        intp_t n_groups = n_rows // N_LANES
        intp_t group, node, row
        int32_t at
        bint is_leaf
        float64_t value
        int32_t[::1] leaf = np.empty(n_rows, dtype=np.int32)
        NumberNode* nodes = <NumberNode*> malloc(n_nodes * sizeof(NumberNode))
    if nodes == NULL:
        raise MemoryError("no memory left to walk a tree")
    for node in range(n_nodes):
        nodes[node].threshold = threshold[node]
        # A leaf leads to itself, whatever it reads.
        is_leaf = column[node] < 0
        nodes[node].column = 0 if is_leaf else column[node]
        nodes[node].left = <int32_t> node if is_leaf else left[node]
        nodes[node].right = <int32_t> node if is_leaf else right[node]
        nodes[node].missing = <int32_t> node if is_leaf else missing[node]
    if n_columns:
        for group in prange(
            n_groups, nogil=True, schedule="static", num_threads=n_jobs
        ):
            walk_lanes(
                nodes, &values[group * N_LANES, 0], n_columns, depth,
                &leaf[group * N_LANES],
            )
        for row in range(n_groups * N_LANES, n_rows):
            at = 0
            while nodes[at].left != at:
                value = values[row, nodes[at].column]
                if value != value:
                    at = nodes[at].missing
                elif value <= nodes[at].threshold:
                    at = nodes[at].left
                else:
                    at = nodes[at].right
            leaf[row] = at
    else:
        leaf[:] = 0
    free(nodes)
    return np.asarray(leaf)


def walk_codes(
    const code_t[:, ::1] codes not None,       # IN   (n_columns, n_rows)
    const int32_t[::1] column not None,        # IN   (n_nodes,) -1 for a leaf
    const int64_t[::1] child_start not None,   # IN   (n_nodes,) into child_of_code
    const int32_t[::1] child_of_code not None,  # IN  the child of every code of a node
    int n_jobs,
):
    """Return the leaf of each coded row."""
    cdef:
        intp_t n_rows = codes.shape[1]
        intp_t row
        int32_t at
        int32_t[::1] leaf = np.empty(n_rows, dtype=np.int32)
    for row in prange(n_rows, nogil=True, schedule="static", num_threads=n_jobs):
        at = 0
        while column[at] >= 0:
            at = child_of_code[child_start[at] + codes[column[at], row]]
        leaf[row] = at
    return np.asarray(leaf)


def charge_rows(
    Prices prices not None,
    const code_t[:, ::1] codes not None,       # IN   (n_columns, n_rows)
    const int32_t[::1] column not None,        # IN   (n_nodes,) -1 for a leaf
    const int32_t[::1] test not None,          # IN   (n_nodes,) -1 for a leaf
    const int64_t[::1] child_start not None,   # IN   (n_nodes,) into child_of_code
    const int32_t[::1] child_of_code not None,  # IN  the child of every code of a node
):
    """Return the leaf of each coded row, and what it pays on its way down.

    For trees with tests priced by outcome; all other trees charge by the leaf alone.
    """
    cdef:
        intp_t n_rows = codes.shape[1]
        intp_t row
        int32_t at
        uint8_t[::1] paid = np.zeros(prices.n_tests + 1, dtype=np.uint8)
        uint8_t[::1] is_open = np.zeros(prices.n_groups + 1, dtype=np.uint8)
        int32_t[::1] leaf = np.empty(n_rows, dtype=np.int32)
        float64_t[::1] totals = np.zeros(n_rows)
    with nogil:
        for row in range(n_rows):
            memset(&paid[0], 0, prices.n_tests)
            memset(&is_open[0], 0, prices.n_groups)
            at = 0
            while column[at] >= 0:
                totals[row] += prices.charge(
                    test[at], codes[column[at], row], &paid[0], &is_open[0]
                )
                at = child_of_code[child_start[at] + codes[column[at], row]]
            leaf[row] = at
    return np.asarray(leaf), np.asarray(totals)
