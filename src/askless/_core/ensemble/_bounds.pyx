"""Move the trees that waited for a test, and keep sums and bounds up with them.

In three ways, one for each mode: on paths, by votes, and deep.

This module must not know prices, nor when a case is settled.
"""

from libc.math cimport fabs, llrint, sqrt
from libc.string cimport memcpy

from askless._core.base._bits cimport lowest_bit
from askless._core.ensemble._case cimport BOUGHT, Case, descend, wait
from askless._core.ensemble._joint cimport add_runs, measure_runs
from askless._core.ensemble._trees cimport DEEP, Model, PATH, VOTE, to_units
from askless._core.base._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint64_t,
)


# Path states.


cdef void add_node(
    const Model* m, Case* c, intp_t tree, intp_t node, int64_t sign
) noexcept nogil:
    """Add what a tree at a node amounts to, or take it back."""
    cdef:
        intp_t q
        intp_t first = m.output[tree]
        intp_t start = node * m.width
    for q in range(m.width):
        c.total[first + q] += sign * m.mean[start + q]
        c.low[first + q] += sign * m.low[start + q]
        c.high[first + q] += sign * m.high[start + q]
    if m.nodes[node].test >= 0:
        q = 0 if m.n_kinds == 1 else first
        c.spread[q] += sign * m.spread[node]
        c.need[q * m.n_tests + m.nodes[node].test] += sign * m.score[node]


cdef void buy_on_paths(const Model* m, Case* c, intp_t test) noexcept nogil:
    cdef:
        intp_t tree = c.head[test]
        intp_t after, node
    c.head[test] = -1
    while tree >= 0:
        after = c.next[tree]
        add_node(m, c, tree, c.top[tree], -1)
        node = descend(m, c, c.top[tree])
        c.top[tree] = <int32_t> node
        add_node(m, c, tree, node, 1)
        if m.nodes[node].test >= 0:
            wait(c, m.nodes[node].test, tree)
        else:
            c.n_waiting -= 1
        tree = after


# Votes.


cdef void add_shares(
    const Model* m, Case* c, intp_t node, int64_t sign
) noexcept nogil:
    cdef intp_t q
    for q in range(m.n_outputs):
        c.total[q] += sign * m.share[node * m.n_outputs + q]


cdef void buy_votes(const Model* m, Case* c, intp_t test) noexcept nogil:
    cdef:
        intp_t tree = c.head[test]
        intp_t after, node, old
    c.head[test] = -1
    c.need[test] = 0
    while tree >= 0:
        after = c.next[tree]
        old = c.top[tree]
        node = descend(m, c, old)
        c.top[tree] = <int32_t> node
        drop_classes(c, m.classes[old] & ~m.classes[node])
        c.spread[0] -= m.spread[old]
        if c.has_means:
            add_shares(m, c, old, -1)
            add_shares(m, c, node, 1)
        if m.nodes[node].test >= 0:
            c.spread[0] += m.spread[node]
            c.need[m.nodes[node].test] += m.score[node]
            wait(c, m.nodes[node].test, tree)
        else:
            c.low[lowest_bit(m.classes[node])] += 1
            c.n_waiting -= 1
        tree = after


# Deep states.


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


cdef void load_leaf(const Model* m, Case* c, intp_t node) noexcept nogil:
    memcpy(c.node_mean + node * m.width, m.value + node * m.width, m.width * 8)
    memcpy(c.node_low + node * m.width, m.low + node * m.width, m.width * 8)
    memcpy(c.node_high + node * m.width, m.high + node * m.width, m.width * 8)
    c.node_weight[node] = m.weight[node]
    c.node_spread[node] = 0.0


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
        memcpy(c.tree_mean + tree * w, m.mean + top * w, w * 8)
        memcpy(c.tree_low + tree * w, m.low + top * w, w * 8)
        memcpy(c.tree_high + tree * w, m.high + top * w, w * 8)
        return
    n = list_live(m, c, top, c.live + start)
    c.n_live[tree] = <int32_t> n
    for i in range(start + n - 1, start - 1, -1):
        measure_node(m, c, c.live[i])
    top_weight = c.node_weight[top]
    for i in range(start, start + n):
        # At least one, so that no split that is open looks like nothing to buy.
        c.parts[i] = 1 + llrint(c.node_gap[c.live[i]] / top_weight * m.score_unit)
    c.tree_spread[tree] = llrint(c.node_spread[top] * m.spread_unit)
    for q in range(w):
        c.tree_low[tree * w + q] = c.node_low[top * w + q]
        c.tree_high[tree * w + q] = c.node_high[top * w + q]
        c.tree_mean[tree * w + q] = to_units(
            c.node_mean[top * w + q], m.unit,
            c.node_low[top * w + q], c.node_high[top * w + q],
        )


cdef intp_t list_live(
    const Model* m, Case* c, intp_t top, int32_t* live
) noexcept nogil:
    """List the open splits below a node, parents before their children.

    Their children are noted, and leaves are loaded. Returns how many splits there are.
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
        c.left_of[node] = <int32_t> left
        c.right_of[node] = <int32_t> right
        if m.nodes[right].test >= 0:
            c.stack[n_stack] = <int32_t> right
            n_stack += 1
        else:
            load_leaf(m, c, right)
        if m.nodes[left].test >= 0:
            c.stack[n_stack] = <int32_t> left
            n_stack += 1
        else:
            load_leaf(m, c, left)
    return n


cdef inline void measure_node(const Model* m, Case* c, intp_t node) noexcept nogil:
    """Work out what an open split amounts to, from its two children."""
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


cdef void buy_deep(const Model* m, Case* c, intp_t test) noexcept nogil:
    cdef intp_t i, tree
    for i in range(m.user_start[test], m.user_start[test + 1]):
        tree = m.users[i]
        if not is_live(m, c, tree, test):
            continue
        if not c.is_touched[tree]:
            c.is_touched[tree] = 1
            c.touched[c.n_touched] = <int32_t> tree
            c.n_touched += 1
        add_tree(m, c, tree, -1)
        measure_tree(m, c, tree)
        if m.is_joint and not c.is_stale[tree]:
            c.is_stale[tree] = 1
            c.stale[c.n_stale] = <int32_t> tree
            c.n_stale += 1
        add_tree(m, c, tree, 1)
        if c.n_live[tree] == 0:
            c.n_waiting -= 1


# All of them.


cdef void buy(const Model* m, Case* c, intp_t test, intp_t code) noexcept nogil:
    c.state[test] = BOUGHT
    c.code[test] = <int32_t> code
    if m.mode == DEEP:
        buy_deep(m, c, test)
    elif m.mode == VOTE:
        buy_votes(m, c, test)
    else:
        buy_on_paths(m, c, test)


cdef void begin(const Model* m, Case* c, const int64_t* offset) noexcept nogil:
    """Work out the first state: every tree waits at its root."""
    cdef intp_t tree, test, q, node
    for q in range(m.n_outputs):
        c.total[q] = c.low[q] = c.high[q] = offset[q]
        c.ended_low[q] = c.ended_high[q] = offset[q]
    for test in range(m.n_tests):
        c.head[test] = -1
    c.n_waiting = 0
    for tree in range(m.n_trees - 1, -1, -1):
        node = m.tree_start[tree]
        c.top[tree] = <int32_t> node
        test = m.nodes[node].test
        c.n_waiting += test >= 0
        if m.mode == DEEP:
            measure_tree(m, c, tree)
            add_tree(m, c, tree, 1)
            if m.is_joint:
                measure_runs(m, c, tree)
                add_runs(m, c, tree, 1)
            continue
        if test >= 0:
            wait(c, test, tree)
        if m.mode == PATH:
            add_node(m, c, tree, node, 1)
            continue
        add_shares(m, c, node, 1)
        drop_classes_up(c, m.classes[node])
        if test >= 0:
            c.spread[0] += m.spread[node]
            c.need[test] += m.score[node]
        else:
            c.low[lowest_bit(m.classes[node])] += 1


cdef void drop_classes_up(Case* c, uint64_t classes) noexcept nogil:
    while classes:
        c.high[lowest_bit(classes)] += 1
        classes &= classes - 1
