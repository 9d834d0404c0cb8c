"""Work out what a tree amounts to, from the leaves that it can still reach.

Below a split that is open, splits on tests that were bought are stepped over. Where
trees are remembered, a state that some case was in before is only looked up.

This module must not know what is bought next, nor how sums are compared.
"""

from libc.math cimport fabs, llrint, sqrt
from libc.stdint cimport int16_t
from libc.string cimport memcpy

from askless._core.ensemble._case cimport Case, copy_deep, descend
from askless._core.ensemble._leaves cimport all_leaves
from askless._core.ensemble._memo cimport (
    State, add_state, empty_memo, find_state, make_memo, parts_of, tests_of,
)
from askless._core.ensemble._trees cimport Model, to_units
from askless._core.base._types cimport float64_t, int32_t, int64_t, intp_t, uint64_t


cdef void add_tree(const Model* m, Case* c, intp_t tree, int64_t sign) noexcept nogil:
    cdef:
        intp_t q, i
        intp_t first = m.output[tree]
        intp_t kind = 0 if m.n_kinds == 1 else first
        intp_t start = m.tree_start[tree]
        int64_t* need = c.need + kind * m.n_tests
    for q in range(m.width):
        c.total[first + q] += sign * c.tree_mean[tree * m.width + q]
        c.low[first + q] += sign * c.tree_low[tree * m.width + q]
        c.high[first + q] += sign * c.tree_high[tree * m.width + q]
    c.spread[kind] += sign * c.tree_spread[tree]
    for i in range(start, start + c.n_live[tree]):
        need[m.nodes[c.live[i]].test] += sign * c.parts[i]


cdef inline void load_leaf(
    const Model* m, Case* c, intp_t node, intp_t at
) noexcept nogil:
    """Load a leaf to its place in the scratch of its tree."""
    cdef intp_t w = m.width
    c.node_weight[at] = m.weight[node]
    c.node_spread[at] = 0.0
    if w == 1:
        # What most trees have: calls that copy one number would take half of the time.
        c.node_mean[at] = m.value[node]
        c.node_low[at] = m.low[node]
        c.node_high[at] = m.high[node]
        return
    memcpy(c.node_mean + at * w, m.value + node * w, w * 8)
    memcpy(c.node_low + at * w, m.low + node * w, w * 8)
    memcpy(c.node_high + at * w, m.high + node * w, w * 8)


cdef void measure_tree(const Model* m, Case* c, intp_t tree) noexcept nogil:
    """Work out what a tree amounts to, from the leaves that it can still reach.

    Splits on tests that were bought are stepped over.
    """
    cdef:
        intp_t w = m.width
        intp_t start = m.tree_start[tree]
        intp_t top = descend(m, c, c.top[tree])
        intp_t n, i, q
        float64_t top_weight
    c.top[tree] = <int32_t> top
    if m.nodes[top].test < 0:
        c.n_live[tree] = 0
        c.tree_spread[tree] = 0
        if w == 1:
            c.tree_mean[tree] = m.mean[top]
            c.tree_low[tree] = m.low[top]
            c.tree_high[tree] = m.high[top]
            return
        memcpy(c.tree_mean + tree * w, m.mean + top * w, w * 8)
        memcpy(c.tree_low + tree * w, m.low + top * w, w * 8)
        memcpy(c.tree_high + tree * w, m.high + top * w, w * 8)
        return
    n = list_live(m, c, top, start, c.live + start)
    c.n_live[tree] = <int32_t> n
    for i in range(start + n - 1, start - 1, -1):
        measure_node(m, c, c.live[i] - start)
    # From here on its place in the scratch.
    top = top - start
    top_weight = c.node_weight[top]
    for i in range(start, start + n):
        # At least one, so that no split that is open looks like nothing to buy.
        c.parts[i] = 1 + llrint(
            c.node_gap[c.live[i] - start] / top_weight * m.score_unit
        )
    c.tree_spread[tree] = llrint(c.node_spread[top] * m.spread_unit)
    for q in range(w):
        c.tree_low[tree * w + q] = c.node_low[top * w + q]
        c.tree_high[tree * w + q] = c.node_high[top * w + q]
        c.tree_mean[tree * w + q] = to_units(
            c.node_mean[top * w + q], m.unit,
            c.node_low[top * w + q], c.node_high[top * w + q],
        )


cdef intp_t list_live(
    const Model* m, Case* c, intp_t top, intp_t start, int32_t* live
) noexcept nogil:
    """List the open splits below a node of a tree, parents before their children.

    Their children are noted, by their places in the scratch, and leaves are loaded.
    Returns how many splits there are.
    """
    cdef:
        intp_t n = 0
        intp_t n_stack = 1
        intp_t node, left, right
    c.stack[0] = <int32_t> top
    while n_stack:
        n_stack -= 1
        node = c.stack[n_stack]
        live[n] = <int32_t> node
        n += 1
        left = descend(m, c, node + 1)
        right = descend(m, c, m.nodes[node].right)
        c.left_of[node - start] = <int32_t> (left - start)
        c.right_of[node - start] = <int32_t> (right - start)
        if m.nodes[right].test >= 0:
            c.stack[n_stack] = <int32_t> right
            n_stack += 1
        else:
            load_leaf(m, c, right, right - start)
        if m.nodes[left].test >= 0:
            c.stack[n_stack] = <int32_t> left
            n_stack += 1
        else:
            load_leaf(m, c, left, left - start)
    return n


cdef inline void measure_node(const Model* m, Case* c, intp_t node) noexcept nogil:
    """Work out what an open split amounts to, from its two children.

    The node is a place in the scratch of its tree.
    """
    cdef:
        intp_t w = m.width
        intp_t left = c.left_of[node]
        intp_t right = c.right_of[node]
        intp_t q
        float64_t wl = c.node_weight[left]
        float64_t wr = c.node_weight[right]
        float64_t both = wl + wr
        float64_t spread = wl * c.node_spread[left] + wr * c.node_spread[right]
        float64_t gaps = 0.0
        float64_t gap
    for q in range(w):
        gap = c.node_mean[left * w + q] - c.node_mean[right * w + q]
        spread = spread + wl * wr / both * gap * gap
        gaps = gaps + fabs(gap)
        c.node_mean[node * w + q] = (
            wl * c.node_mean[left * w + q] + wr * c.node_mean[right * w + q]
        ) / both
        c.node_low[node * w + q] = min(
            c.node_low[left * w + q], c.node_low[right * w + q]
        )
        c.node_high[node * w + q] = max(
            c.node_high[left * w + q], c.node_high[right * w + q]
        )
    c.node_weight[node] = both
    c.node_spread[node] = spread / both
    c.node_gap[node] = sqrt(wl * wr) * gaps


cdef bint is_live(
    const Model* m, const Case* c, intp_t tree, intp_t test
) noexcept nogil:
    cdef:
        intp_t start = m.tree_start[tree]
        intp_t i
    for i in range(start, start + c.n_live[tree]):
        if m.nodes[c.live[i]].test == test:
            return True
    return False


# Remembered trees.


cdef State* remember_tree(
    const Model* m, Case* c, intp_t tree, uint64_t leaves
) noexcept nogil:
    """Keep what a tree amounts to, which was just worked out; NULL without memory."""
    cdef:
        intp_t start = m.tree_start[tree]
        intp_t n = 0
        intp_t i, k
        int16_t[64] tests
        int64_t[64] parts
        State* state
    # A test that is asked more than once counts once, for all of it.
    for i in range(start, start + c.n_live[tree]):
        k = 0
        while k < n and tests[k] != m.nodes[c.live[i]].test:
            k = k + 1
        if k == n:
            tests[n] = <int16_t> m.nodes[c.live[i]].test
            parts[n] = 0
            n = n + 1
        parts[k] += c.parts[i]
    while n % 4:
        # Nothing more for the last test: loops of whole fours are easier to predict.
        tests[n] = tests[n - 1]
        parts[n] = 0
        n = n + 1
    state = add_state(c.memo, tree, leaves, n)
    if state == NULL:
        return NULL
    state.mean = c.tree_mean[tree]
    state.spread = c.tree_spread[tree]
    state.top = c.top[tree]
    for i in range(n):
        parts_of(state)[i] = parts[i]
        tests_of(state)[i] = tests[i]
    return state


cdef State* recall_tree(
    const Model* m, Case* c, intp_t tree, uint64_t leaves
) noexcept nogil:
    cdef State* state = find_state(c.memo, tree, leaves)
    if state == NULL:
        measure_tree(m, c, tree)
        state = remember_tree(m, c, tree, leaves)
    return state


cdef bint begin_memo(const Model* m, Case* c, const Case* root) noexcept nogil:
    cdef intp_t tree
    if c.memo == NULL:
        c.memo = make_memo(m)
        if c.memo == NULL:
            return False
    empty_memo(c.memo)
    copy_deep(m, c, root)
    for tree in range(m.n_trees):
        c.leaves[tree] = c.root_leaves[tree] = all_leaves(m, tree)
        c.root_state[tree] = remember_tree(m, c, tree, c.leaves[tree])
        c.tree_state[tree] = c.root_state[tree]
        if c.memo.has_failed:
            return False
    return True
