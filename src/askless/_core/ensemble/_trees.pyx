"""Lay out the trees of an ensemble and measure each whole subtree, once for all cases.

This module must not know of any case: what is bought, what it costs, when to stop.
"""

from libc.math cimport ceil, floor, llrint, sqrt

import numpy as np

from askless._core.base._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint16_t, uint64_t,
)


cdef list measure_subtrees(Model* m):
    """Work out what each whole subtree amounts to."""
    cdef:
        intp_t n = max(m.n_nodes, 1)
        bint is_vote = m.mode == VOTE
        intp_t wide = 1 if is_vote else m.width
        intp_t n_all = 1 if is_vote else n
        int64_t[:, ::1] mean = np.zeros((n_all, wide), dtype=np.int64)
        int64_t[:, ::1] low = np.zeros((n_all, wide), dtype=np.int64)
        int64_t[:, ::1] high = np.zeros((n_all, wide), dtype=np.int64)
        int64_t[::1] spread = np.zeros(n, dtype=np.int64)
        int64_t[::1] score = np.zeros(n, dtype=np.int64)
        uint64_t[::1] classes = np.zeros(n if is_vote else 1, dtype=np.uint64)
        uint16_t[:, ::1] share = np.zeros(
            (n if is_vote else 1, m.n_outputs), dtype=np.uint16
        )
        float64_t[:, ::1] exact = np.zeros((n, m.width))
        float64_t[::1] variance = np.zeros(n)
        float64_t[::1] heft = np.zeros(n)
    m.mean, m.low, m.high = &mean[0, 0], &low[0, 0], &high[0, 0]
    m.spread, m.score = &spread[0], &score[0]
    m.classes, m.share = &classes[0], &share[0, 0]
    with nogil:
        measure_nodes(m, &exact[0, 0], &variance[0], &heft[0])
    return [mean, low, high, spread, score, classes, share]


cdef void measure_nodes(
    Model* m, float64_t* mean, float64_t* variance, float64_t* weight
) noexcept nogil:
    """Work out, from the leaves up, what each whole subtree amounts to."""
    cdef intp_t node
    for node in range(m.n_nodes - 1, -1, -1):
        if m.nodes[node].test < 0:
            weight[node] = m.weight[node]
            measure_leaf(m, node, mean)
        else:
            measure_split(m, node, mean, variance, weight)


cdef void measure_leaf(Model* m, intp_t node, float64_t* mean) noexcept nogil:
    cdef:
        intp_t at
        float64_t value
    for at in range(node * m.width, (node + 1) * m.width):
        value = m.value[at]
        mean[at] = value
        if m.mode != VOTE:
            m.mean[at] = llrint(value * m.unit)
            m.low[at] = <int64_t> floor(value * m.unit)
            m.high[at] = <int64_t> ceil(value * m.unit)
        elif value > 0:
            m.classes[node] = (<uint64_t> 1) << (at - node * m.width)
            m.share[at] = <uint16_t> FULL_SHARE


cdef void measure_split(
    Model* m, intp_t node, float64_t* mean, float64_t* variance, float64_t* weight
) noexcept nogil:
    cdef:
        intp_t w = m.width
        intp_t left = node + 1
        intp_t right = m.nodes[node].right
        intp_t q, at
        float64_t wl = weight[left]
        float64_t wr = weight[right]
        float64_t both = wl + wr
        float64_t gap
    weight[node] = both
    variance[node] = wl * variance[left] + wr * variance[right]
    for q in range(w):
        at = node * w + q
        gap = mean[left * w + q] - mean[right * w + q]
        mean[at] = (wl * mean[left * w + q] + wr * mean[right * w + q]) / both
        variance[node] += wl * wr / both * gap * gap
        if m.mode == VOTE:
            m.share[at] = <uint16_t> llrint(mean[at] * FULL_SHARE)
            continue
        m.low[at] = min(m.low[left * w + q], m.low[right * w + q])
        m.high[at] = max(m.high[left * w + q], m.high[right * w + q])
        m.mean[at] = to_units(mean[at], m.unit, m.low[at], m.high[at])
    if m.mode == VOTE:
        m.classes[node] = m.classes[left] | m.classes[right]
        if m.classes[node] & (m.classes[node] - 1) == 0:
            # Whatever is asked below, the vote is the same: as good as a leaf.
            m.nodes[node].test = -1
            m.nodes[node].right = 0
            variance[node] = 0.0
            return
    variance[node] = variance[node] / both
    m.spread[node] = llrint(variance[node] * m.spread_unit)
    if m.by_leaves:
        # What has to shrink is how far leaves lie apart. On five sets of 31 leaves, rows
        # paid up to 7 percent less than by the deviation, and never 1 percent more.
        m.score[node] = 1 + llrint(
            <float64_t> (m.high[node] - m.low[node]) / m.unit * m.score_unit
        )
    else:
        m.score[node] = 1 + llrint(sqrt(variance[node]) * m.score_unit)


cdef list lay_out_runs(Model* m):
    """Make room for bounds by outcome: of each test, and of each tree."""
    cdef:
        intp_t tree, node, room
        int64_t[::1] code_start = np.zeros(m.n_tests + 1, dtype=np.int64)
        int64_t[::1] run_start = np.zeros(m.n_trees + 1, dtype=np.int64)
    for node in range(m.n_tests):
        # The last two are "missing" and "unknown".
        code_start[node + 1] = code_start[node] + m.n_levels[node] + 2
    for tree in range(m.n_trees):
        # A cut more than there are splits, and "missing"; of sets, every code.
        room = m.tree_start[tree + 1] - m.tree_start[tree] + 2
        for node in range(m.tree_start[tree], m.tree_start[tree + 1]):
            if m.nodes[node].test >= 0 and m.nodes[node].flags & IS_SET:
                room = max(room, <intp_t> m.n_levels[m.nodes[node].test] + 2)
        run_start[tree + 1] = run_start[tree] + room
    m.code_start = &code_start[0]
    m.run_start = &run_start[0]
    return [code_start, run_start]


cdef list lay_out_places(Model* m):
    """Write the places of all trees, so that a tree that moves on reads few lines."""
    cdef:
        intp_t node
        int64_t[:, ::1] packed
    m.places = NULL
    if not m.by_leaves:
        return []
    packed = np.zeros((m.n_nodes + 2, 4), dtype=np.int64)
    # From the start of a line of the cache on.
    m.places = <Place*> ((<size_t> &packed[0, 0] + 63) & ~(<size_t> 63))
    for node in range(m.n_nodes):
        m.places[node] = Place(m.mean[node], m.score[node], m.nodes[node])
    return [packed]


def list_preorders(
    const int32_t[::1] left not None,    # IN  (n_nodes,) -1 for a leaf
    const int32_t[::1] right not None,   # IN  (n_nodes,) counted from its tree's start
    const int64_t[::1] start not None,   # IN  (n_trees + 1,) where each tree starts
):
    """List the nodes of trees, with every left child right after its parent.

    Returns
    -------
    order : ndarray of int64 of shape (n_listed,)
        The nodes, one tree after another, each from its first node on.
    sizes : ndarray of int64 of shape (n_trees,)
        How many are of each tree: fewer than there are if some cannot be reached, none
        if a node is reached twice.
    """
    cdef:
        intp_t n_trees = start.shape[0] - 1
        intp_t tree, n
        intp_t n_out = 0
        int64_t[::1] order = np.empty(left.shape[0] + 1, dtype=np.int64)
        int64_t[::1] sizes = np.zeros(n_trees, dtype=np.int64)
        int64_t[::1] stack = np.zeros(left.shape[0] + 2, dtype=np.int64)
    with nogil:
        for tree in range(n_trees):
            n = list_one(
                &left[0], &right[0], start[tree], start[tree + 1], &stack[0],
                &order[n_out],
            )
            sizes[tree] = n
            n_out += n
    return np.asarray(order)[:n_out], np.asarray(sizes)


cdef intp_t list_one(
    const int32_t* left, const int32_t* right, intp_t first, intp_t last,
    int64_t* stack, int64_t* order,
) noexcept nogil:
    """List the nodes of one tree in preorder; return how many there are."""
    cdef:
        intp_t n = last - first
        intp_t n_out = 0
        intp_t n_stack = 1
        intp_t node
    stack[0] = 0
    while n_stack:
        n_stack -= 1
        node = stack[n_stack]
        if n_out == n:
            return 0
        order[n_out] = first + node
        n_out += 1
        if left[first + node] >= 0:
            if n_stack + 2 > n:
                return 0
            stack[n_stack] = right[first + node]
            stack[n_stack + 1] = left[first + node]
            n_stack += 2
    return n_out
