"""Run ensembles of trees as policies: buy a test, move every tree that waited for it.

A tree that has not reached a leaf is bounded by the least and the largest leaf that
it can still reach. When the bounds of all trees leave one answer only, the rest need
not be bought. Four ways to keep the bounds, which differ in what they cost:

path   a tree waits at its first unbought test; bounds of whole subtrees, made once
deep   below an unbought test, tests that were bought prune; bounds made again after
       every purchase from the leaves that are left
joint  as deep; and trees that wait for the same test agree on what it will show, so
       that their sum is bounded for each of its outcomes, and not tree by tree
vote   as path, for leaves that name one class: bounds are sets of classes

This module must not know where a model came from, nor what its sums mean.
"""

from cython.parallel import parallel, prange
from libc.math cimport INFINITY, ceil, fabs, floor, llrint, sqrt
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

import numpy as np

from askless._core._codes cimport count_cuts_below
from askless._core._prices cimport Prices
from askless._core._vote_rows import VoteRows
from askless._core._vote_trees import Layout

from askless._core._types cimport (
    float32_t, float64_t, int32_t, int64_t, intp_t, uint8_t, uint16_t, uint64_t,
)


cdef enum:
    MISSING_LEFT = 1
    IS_SET = 2

cdef enum:
    PATH = 0
    DEEP = 1
    VOTE = 2

cdef enum:
    TWO_CLASSES = 0
    CLASSES = 1
    NUMBER = 2

# The code of a test that was run and showed nothing.
cdef enum:
    PAID_SKIP = -2

cdef enum:
    CLOSED = 0   # not bought
    BOUGHT = 1
    SKIPPED = 2  # cannot be bought

# Classes that are neither first nor second count so much in the choice of a test. With
# none of it, nothing would be left to buy while a third class is still possible.
cdef float64_t OTHER_CLASSES = 0.3
# Scores closer than this, relatively, are equal.
cdef float64_t TIE = 1.0 + 1e-12
# Joint bounds are looked at once the lead is this much of what the other bounds leave.
cdef float64_t NEAR = 0.35
cdef float64_t FULL_SHARE = 65535.0


cdef extern from *:
    """
    static inline int lowest_bit(unsigned long long word) {
        return __builtin_ctzll(word);
    }
    """
    int lowest_bit(uint64_t word) nogil


cdef struct Case:
    # Where one case stands. What is marked (root) is copied from the first state.
    int64_t* total    # (n_outputs,) expected sum (root)
    int64_t* low      # (n_outputs,) least sum (root)
    int64_t* high     # (n_outputs,) largest sum (root)
    int64_t* spread   # (n_kinds,) variance of what is open (root)
    int64_t* need     # (n_kinds, n_tests) what waits for each test (root)
    int32_t* top      # (n_trees,) where each tree waits or ended (root)
    int32_t* head     # (n_tests,) first tree that waits for a test (root)
    int32_t* next     # (n_trees,) the next one (root)
    intp_t n_waiting
    uint8_t* state    # (n_tests,) CLOSED, BOUGHT or SKIPPED
    int32_t* code     # (n_tests,) of what was bought
    uint8_t* paid
    uint8_t* is_open
    bint has_means    # of votes: whether `total` is kept up
    # Deep states only.
    int32_t* live     # (n_nodes,) open splits of each tree, from its first node on
    int64_t* parts    # (n_nodes,) what each of them adds to `need`
    int32_t* n_live   # (n_trees,)
    int64_t* tree_mean    # (n_trees, width)
    int64_t* tree_low
    int64_t* tree_high
    int64_t* tree_spread  # (n_trees,)
    uint8_t* is_touched   # (n_trees,)
    int32_t* touched
    intp_t n_touched
    int32_t* left_of  # (n_nodes,) scratch, by node
    int32_t* right_of
    float64_t* node_weight
    float64_t* node_mean  # (n_nodes, width)
    float64_t* node_spread
    float64_t* node_gap
    int64_t* node_low     # (n_nodes, width)
    int64_t* node_high
    int32_t* stack
    # Joint bounds only. An open tree is bounded for each outcome of the test at its
    # top; these bounds are kept as runs of codes, and their sums over all trees.
    int32_t* run_test     # (n_trees,) the test at the top
    int32_t* n_runs       # (n_trees,) 0 if the tree has ended
    int32_t* run_end      # (n_runs_max,) by tree, one past the last code of each run
    int64_t* run_low      # (n_runs_max, width)
    int64_t* run_high
    int64_t* sum_low      # (n_outputs, n_codes)
    int64_t* sum_high
    int64_t* ended_low    # (n_outputs,) of trees that have ended
    int64_t* ended_high
    # Trees that have moved on since; nobody may ever want their new bounds.
    int32_t* stale
    uint8_t* is_stale     # (n_trees,)
    intp_t n_stale
    bint has_new_runs
    int64_t* node_run_low   # (n_nodes, width) scratch
    int64_t* node_run_high


cdef void* grab(intp_t n_bytes, bint* failed) noexcept nogil:
    cdef void* memory = calloc(max(n_bytes, 8), 1)
    if memory == NULL:
        failed[0] = True
    return memory


cdef void free_case(Case* c) noexcept nogil:
    if c == NULL:
        return
    free(c.total)
    free(c.low)
    free(c.high)
    free(c.spread)
    free(c.need)
    free(c.top)
    free(c.head)
    free(c.next)
    free(c.state)
    free(c.code)
    free(c.paid)
    free(c.is_open)
    free(c.live)
    free(c.parts)
    free(c.n_live)
    free(c.tree_mean)
    free(c.tree_low)
    free(c.tree_high)
    free(c.tree_spread)
    free(c.is_touched)
    free(c.touched)
    free(c.left_of)
    free(c.right_of)
    free(c.node_weight)
    free(c.node_mean)
    free(c.node_spread)
    free(c.node_gap)
    free(c.node_low)
    free(c.node_high)
    free(c.stack)
    free(c.run_test)
    free(c.n_runs)
    free(c.run_end)
    free(c.run_low)
    free(c.run_high)
    free(c.sum_low)
    free(c.sum_high)
    free(c.ended_low)
    free(c.ended_high)
    free(c.stale)
    free(c.is_stale)
    free(c.node_run_low)
    free(c.node_run_high)
    free(c)


cdef Case* make_case(const Model* m, intp_t n_groups) noexcept nogil:
    """Return memory for a case, or NULL if there is none."""
    cdef:
        bint failed = False
        Case* c = <Case*> calloc(1, sizeof(Case))
        intp_t deep_nodes = m.n_nodes if m.mode == DEEP else 0
        intp_t deep_trees = m.n_trees if m.mode == DEEP else 0
        intp_t joint_trees = m.n_trees if m.is_joint else 0
        intp_t n_runs = m.run_start[m.n_trees] if m.is_joint else 0
        intp_t n_sums = m.n_outputs * m.code_start[m.n_tests] if m.is_joint else 0
        intp_t joint_nodes = m.n_nodes if m.is_joint else 0
    if c == NULL:
        return NULL
    c.total = <int64_t*> grab(m.n_outputs * 8, &failed)
    c.low = <int64_t*> grab(m.n_outputs * 8, &failed)
    c.high = <int64_t*> grab(m.n_outputs * 8, &failed)
    c.spread = <int64_t*> grab(m.n_kinds * 8, &failed)
    c.need = <int64_t*> grab(m.n_kinds * m.n_tests * 8, &failed)
    c.top = <int32_t*> grab(m.n_trees * 4, &failed)
    c.head = <int32_t*> grab(m.n_tests * 4, &failed)
    c.next = <int32_t*> grab(m.n_trees * 4, &failed)
    c.state = <uint8_t*> grab(m.n_tests, &failed)
    c.code = <int32_t*> grab(m.n_tests * 4, &failed)
    c.paid = <uint8_t*> grab(m.n_tests + 1, &failed)
    c.is_open = <uint8_t*> grab(n_groups + 1, &failed)
    c.live = <int32_t*> grab(deep_nodes * 4, &failed)
    c.parts = <int64_t*> grab(deep_nodes * 8, &failed)
    c.n_live = <int32_t*> grab(deep_trees * 4, &failed)
    c.tree_mean = <int64_t*> grab(deep_trees * m.width * 8, &failed)
    c.tree_low = <int64_t*> grab(deep_trees * m.width * 8, &failed)
    c.tree_high = <int64_t*> grab(deep_trees * m.width * 8, &failed)
    c.tree_spread = <int64_t*> grab(deep_trees * 8, &failed)
    c.is_touched = <uint8_t*> grab(deep_trees, &failed)
    c.touched = <int32_t*> grab(deep_trees * 4, &failed)
    c.left_of = <int32_t*> grab(deep_nodes * 4, &failed)
    c.right_of = <int32_t*> grab(deep_nodes * 4, &failed)
    c.node_weight = <float64_t*> grab(deep_nodes * 8, &failed)
    c.node_mean = <float64_t*> grab(deep_nodes * m.width * 8, &failed)
    c.node_spread = <float64_t*> grab(deep_nodes * 8, &failed)
    c.node_gap = <float64_t*> grab(deep_nodes * 8, &failed)
    c.node_low = <int64_t*> grab(deep_nodes * m.width * 8, &failed)
    c.node_high = <int64_t*> grab(deep_nodes * m.width * 8, &failed)
    c.stack = <int32_t*> grab(deep_nodes * 4, &failed)
    c.run_test = <int32_t*> grab(joint_trees * 4, &failed)
    c.n_runs = <int32_t*> grab(joint_trees * 4, &failed)
    c.run_end = <int32_t*> grab(n_runs * 4, &failed)
    c.run_low = <int64_t*> grab(n_runs * m.width * 8, &failed)
    c.run_high = <int64_t*> grab(n_runs * m.width * 8, &failed)
    c.sum_low = <int64_t*> grab(n_sums * 8, &failed)
    c.sum_high = <int64_t*> grab(n_sums * 8, &failed)
    c.ended_low = <int64_t*> grab(m.n_outputs * 8, &failed)
    c.ended_high = <int64_t*> grab(m.n_outputs * 8, &failed)
    c.stale = <int32_t*> grab(joint_trees * 4, &failed)
    c.is_stale = <uint8_t*> grab(joint_trees, &failed)
    c.node_run_low = <int64_t*> grab(joint_nodes * m.width * 8, &failed)
    c.node_run_high = <int64_t*> grab(joint_nodes * m.width * 8, &failed)
    if failed:
        free_case(c)
        return NULL
    return c


# Moving down.


cdef inline bint goes_left(
    const Model* m, const Node* node, intp_t code
) noexcept nogil:
    if node.flags & IS_SET:
        return (m.words[node.cut + (code >> 6)] >> (code & 63)) & 1
    if code < m.n_levels[node.test]:
        return code <= node.cut
    # Missing, or an outcome that nobody knows.
    return node.flags & MISSING_LEFT


cdef inline intp_t descend(const Model* m, const Case* c, intp_t node) noexcept nogil:
    """Return the first node from here on whose test was not bought, or a leaf."""
    cdef const Node* at = m.nodes + node
    while at.test >= 0 and c.state[at.test] == BOUGHT:
        if goes_left(m, at, c.code[at.test]):
            node += 1
        else:
            node = at.right
        at = m.nodes + node
    return node


cdef void wait(Case* c, intp_t test, intp_t tree) noexcept nogil:
    c.next[tree] = c.head[test]
    c.head[test] = <int32_t> tree


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


cdef inline void drop_classes(Case* c, uint64_t gone) noexcept nogil:
    while gone:
        c.high[lowest_bit(gone)] -= 1
        gone &= gone - 1


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


cdef inline int64_t to_units(
    float64_t value, float64_t unit, int64_t low, int64_t high
) noexcept nogil:
    """Return a mean in whole units, kept within its bounds."""
    cdef int64_t whole = llrint(value * unit)
    return low if whole < low else (high if whole > high else whole)


cdef void load_leaf(const Model* m, Case* c, intp_t node) noexcept nogil:
    memcpy(c.node_mean + node * m.width, m.value + node * m.width, m.width * 8)
    memcpy(c.node_low + node * m.width, m.low + node * m.width, m.width * 8)
    memcpy(c.node_high + node * m.width, m.high + node * m.width, m.width * 8)
    c.node_weight[node] = m.weight[node]
    c.node_spread[node] = 0.0


cdef void measure_tree(const Model* m, Case* c, intp_t tree) noexcept nogil:
    """Work out what a tree amounts to, from the leaves that it can still reach.

    Splits on tests that were bought are stepped over. Children stand after their
    parents in ``live``, so that going back over it meets them first.
    """
    cdef:
        intp_t w = m.width
        intp_t start = m.tree_start[tree]
        intp_t top = descend(m, c, c.top[tree])
        intp_t n = 0
        intp_t n_stack = 0
        intp_t i, q, node, left, right
        float64_t wl, wr, both, mean, gap, gaps, top_weight, spread
    c.top[tree] = <int32_t> top
    if m.nodes[top].test < 0:
        c.n_live[tree] = 0
        c.tree_spread[tree] = 0
        memcpy(c.tree_mean + tree * w, m.mean + top * w, w * 8)
        memcpy(c.tree_low + tree * w, m.low + top * w, w * 8)
        memcpy(c.tree_high + tree * w, m.high + top * w, w * 8)
        return
    c.stack[0] = <int32_t> top
    n_stack = 1
    while n_stack:
        n_stack -= 1
        node = c.stack[n_stack]
        c.live[start + n] = <int32_t> node
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
    c.n_live[tree] = <int32_t> n
    for i in range(start + n - 1, start - 1, -1):
        node = c.live[i]
        left = c.left_of[node]
        right = c.right_of[node]
        wl = c.node_weight[left]
        wr = c.node_weight[right]
        both = wl + wr
        spread = wl * c.node_spread[left] + wr * c.node_spread[right]
        gaps = 0.0
        for q in range(w):
            gap = c.node_mean[left * w + q] - c.node_mean[right * w + q]
            mean = (
                wl * c.node_mean[left * w + q] + wr * c.node_mean[right * w + q]
            ) / both
            spread = spread + wl * wr / both * gap * gap
            gaps = gaps + fabs(gap)
            c.node_mean[node * w + q] = mean
            c.node_low[node * w + q] = min(
                c.node_low[left * w + q], c.node_low[right * w + q]
            )
            c.node_high[node * w + q] = max(
                c.node_high[left * w + q], c.node_high[right * w + q]
            )
        c.node_weight[node] = both
        c.node_spread[node] = spread / both
        c.node_gap[node] = sqrt(wl * wr) * gaps
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


# Joint bounds.


cdef void add_runs(const Model* m, Case* c, intp_t tree, int64_t sign) noexcept nogil:
    """Add what a tree amounts to for each outcome of the test at its top."""
    cdef:
        intp_t w = m.width
        intp_t first = m.output[tree]
        intp_t n_codes = m.code_start[m.n_tests]
        intp_t start, i, q, code, end
        int64_t low, high
        int64_t* sum_low
        int64_t* sum_high
    if c.n_runs[tree] == 0:
        for q in range(w):
            c.ended_low[first + q] += sign * c.tree_low[tree * w + q]
            c.ended_high[first + q] += sign * c.tree_high[tree * w + q]
        return
    start = m.run_start[tree]
    for q in range(w):
        sum_low = (
            c.sum_low + (first + q) * n_codes + m.code_start[c.run_test[tree]]
        )
        sum_high = (
            c.sum_high + (first + q) * n_codes + m.code_start[c.run_test[tree]]
        )
        code = 0
        for i in range(start, start + c.n_runs[tree]):
            low = sign * c.run_low[i * w + q]
            high = sign * c.run_high[i * w + q]
            end = c.run_end[i]
            while code < end:
                sum_low[code] += low
                sum_high[code] += high
                code = code + 1


cdef void measure_runs(const Model* m, Case* c, intp_t tree) noexcept nogil:
    """Bound a tree that was just measured for each outcome of the test at its top."""
    cdef:
        intp_t start = m.tree_start[tree]
        intp_t run = m.run_start[tree]
        intp_t test = m.nodes[c.top[tree]].test
        intp_t n_levels
        int32_t* ends = c.run_end + run
        intp_t n = 0
        intp_t i, k, node
        int32_t end
    c.n_runs[tree] = 0
    if c.n_live[tree] == 0:
        return
    c.run_test[tree] = <int32_t> test
    n_levels = m.n_levels[test]
    for i in range(start, start + c.n_live[tree]):
        node = c.live[i]
        if m.nodes[node].test != test:
            continue
        if m.nodes[node].flags & IS_SET:
            n = -1
            break
        # The cuts of the test in this tree, ascending, each once.
        end = m.nodes[node].cut + 1
        k = n
        while k > 0 and ends[k - 1] > end:
            k -= 1
        if (k > 0 and ends[k - 1] == end) or end >= n_levels:
            continue
        for node in range(n, k, -1):
            ends[node] = ends[node - 1]
        ends[k] = end
        n += 1
    if n < 0:
        # Sets part codes in any way: each is a run.
        n = n_levels + 2
        for i in range(n):
            ends[i] = <int32_t> (i + 1)
    else:
        ends[n] = <int32_t> n_levels
        ends[n + 1] = <int32_t> (n_levels + 2)
        n += 2
    c.n_runs[tree] = <int32_t> n
    for i in range(n):
        bound_run(m, c, tree, test, ends[i] - 1, run + i)


cdef void bound_run(
    const Model* m, Case* c, intp_t tree, intp_t test, intp_t code, intp_t run
) noexcept nogil:
    """Bound a tree as if one more test had shown a code."""
    cdef:
        intp_t w = m.width
        intp_t start = m.tree_start[tree]
        intp_t i, q, node, left, right
        const int64_t* left_low
        const int64_t* left_high
        const int64_t* right_low
        const int64_t* right_high
    for i in range(start + c.n_live[tree] - 1, start - 1, -1):
        node = c.live[i]
        left = c.left_of[node]
        right = c.right_of[node]
        if m.nodes[node].test == test:
            if goes_left(m, m.nodes + node, code):
                right = left
            else:
                left = right
        if m.nodes[left].test < 0:
            left_low, left_high = m.low + left * w, m.high + left * w
        else:
            left_low, left_high = c.node_run_low + left * w, c.node_run_high + left * w
        if m.nodes[right].test < 0:
            right_low, right_high = m.low + right * w, m.high + right * w
        else:
            right_low = c.node_run_low + right * w
            right_high = c.node_run_high + right * w
        for q in range(w):
            c.node_run_low[node * w + q] = min(left_low[q], right_low[q])
            c.node_run_high[node * w + q] = max(left_high[q], right_high[q])
    node = c.top[tree]
    memcpy(c.run_low + run * w, c.node_run_low + node * w, w * 8)
    memcpy(c.run_high + run * w, c.node_run_high + node * w, w * 8)


cdef void refresh_runs(const Model* m, Case* c) noexcept nogil:
    """Bound again the trees that have moved on. No tree that has ended moves."""
    cdef intp_t i, tree
    for i in range(c.n_stale):
        tree = c.stale[i]
        c.is_stale[tree] = 0
        add_runs(m, c, tree, -1)
        measure_runs(m, c, tree)
        add_runs(m, c, tree, 1)
        c.has_new_runs = True
    c.n_stale = 0


cdef int64_t least_sum(
    const Model* m, const Case* c, intp_t of, intp_t against
) noexcept nogil:
    """Bound a sum from below, or how far it is ahead of another one."""
    cdef:
        intp_t n_codes = m.code_start[m.n_tests]
        const int64_t* low = c.sum_low + of * n_codes
        const int64_t* other = c.sum_high + against * n_codes
        int64_t total = c.ended_low[of]
        int64_t best, here
        intp_t test, code
    if against >= 0:
        total -= c.ended_high[against]
    for test in range(m.n_tests):
        if c.state[test] == BOUGHT or m.user_start[test] == m.user_start[test + 1]:
            continue
        code = m.code_start[test]
        if against < 0:
            best = low[code]
            for code in range(code + 1, m.code_start[test + 1]):
                here = low[code]
                best = here if here < best else best
        else:
            best = low[code] - other[code]
            for code in range(code + 1, m.code_start[test + 1]):
                here = low[code] - other[code]
                best = here if here < best else best
        total += best
    return total


cdef int64_t largest_sum(const Model* m, const Case* c, intp_t of) noexcept nogil:
    cdef:
        const int64_t* high = c.sum_high + of * m.code_start[m.n_tests]
        int64_t total = c.ended_high[of]
        int64_t best, here
        intp_t test, code
    for test in range(m.n_tests):
        if c.state[test] == BOUGHT or m.user_start[test] == m.user_start[test + 1]:
            continue
        code = m.code_start[test]
        best = high[code]
        for code in range(code + 1, m.code_start[test + 1]):
            here = high[code]
            best = here if here > best else best
        total += best
    return total


cdef bint is_near(const Model* m, const Case* c, intp_t first) noexcept nogil:
    """Return whether joint bounds are worth a look.

    The lead must be a good part of what bounds tree by tree leave open.
    """
    cdef intp_t q
    cdef float64_t lead, open_part
    if m.rule == TWO_CLASSES:
        lead = <float64_t> (c.total[0] if first else -c.total[0])
        open_part = <float64_t> (
            c.total[0] - c.low[0] if first else c.high[0] - c.total[0]
        )
        return lead >= NEAR * open_part
    for q in range(m.n_outputs):
        if q == first:
            continue
        lead = <float64_t> (c.total[first] - c.total[q])
        open_part = (
            <float64_t> (c.total[first] - c.low[first])
            + <float64_t> (c.high[q] - c.total[q])
        )
        if lead < NEAR * open_part:
            return False
    return True


cdef bint holds_jointly(const Model* m, Case* c, intp_t first) noexcept nogil:
    """Return whether no outcome of what is open can change who leads."""
    cdef intp_t q
    if not is_near(m, c, first):
        return False
    refresh_runs(m, c)
    if m.rule == TWO_CLASSES:
        if first:
            return least_sum(m, c, 0, -1) > m.slack
        return largest_sum(m, c, 0) < -m.slack
    for q in range(m.n_outputs):
        if q != first and least_sum(m, c, first, q) <= m.slack:
            return False
    return True


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


# One case.


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


cdef void reset(
    const Model* m, Case* c, const Case* root, intp_t n_groups
) noexcept nogil:
    """Bring a case back to the first state; only trees that were moved are copied."""
    cdef intp_t i, tree, start, n, at
    memcpy(c.total, root.total, m.n_outputs * 8)
    memcpy(c.low, root.low, m.n_outputs * 8)
    memcpy(c.high, root.high, m.n_outputs * 8)
    memcpy(c.spread, root.spread, m.n_kinds * 8)
    memcpy(c.need, root.need, m.n_kinds * m.n_tests * 8)
    memset(c.state, CLOSED, m.n_tests)
    memset(c.paid, 0, m.n_tests + 1)
    memset(c.is_open, 0, n_groups + 1)
    c.n_waiting = root.n_waiting
    if m.mode != DEEP:
        memcpy(c.top, root.top, m.n_trees * 4)
        memcpy(c.head, root.head, m.n_tests * 4)
        memcpy(c.next, root.next, m.n_trees * 4)
        return
    for i in range(c.n_touched):
        tree = c.touched[i]
        start = m.tree_start[tree]
        n = root.n_live[tree]
        c.is_touched[tree] = 0
        c.top[tree] = root.top[tree]
        c.n_live[tree] = <int32_t> n
        memcpy(c.live + start, root.live + start, n * 4)
        memcpy(c.parts + start, root.parts + start, n * 8)
        at = tree * m.width
        memcpy(c.tree_mean + at, root.tree_mean + at, m.width * 8)
        memcpy(c.tree_low + at, root.tree_low + at, m.width * 8)
        memcpy(c.tree_high + at, root.tree_high + at, m.width * 8)
        c.tree_spread[tree] = root.tree_spread[tree]
        if m.is_joint and c.has_new_runs:
            copy_runs(m, c, root, m.run_start[tree], root.n_runs[tree])
            c.run_test[tree] = root.run_test[tree]
            c.n_runs[tree] = root.n_runs[tree]
    c.n_touched = 0
    for i in range(c.n_stale):
        c.is_stale[c.stale[i]] = 0
    c.n_stale = 0
    if c.has_new_runs:
        copy_sums(m, c, root)
        c.has_new_runs = False


cdef void copy_runs(
    const Model* m, Case* c, const Case* root, intp_t start, intp_t n
) noexcept nogil:
    cdef intp_t w = m.width
    memcpy(c.run_end + start, root.run_end + start, n * 4)
    memcpy(c.run_low + start * w, root.run_low + start * w, n * w * 8)
    memcpy(c.run_high + start * w, root.run_high + start * w, n * w * 8)


cdef void copy_sums(const Model* m, Case* c, const Case* root) noexcept nogil:
    cdef intp_t n = m.n_outputs * m.code_start[m.n_tests]
    memcpy(c.sum_low, root.sum_low, n * 8)
    memcpy(c.sum_high, root.sum_high, n * 8)
    memcpy(c.ended_low, root.ended_low, m.n_outputs * 8)
    memcpy(c.ended_high, root.ended_high, m.n_outputs * 8)


cdef void copy_deep(const Model* m, Case* c, const Case* root) noexcept nogil:
    """Copy all of a deep state, once for each thread."""
    if m.mode != DEEP:
        return
    memcpy(c.top, root.top, m.n_trees * 4)
    memcpy(c.n_live, root.n_live, m.n_trees * 4)
    memcpy(c.live, root.live, m.n_nodes * 4)
    memcpy(c.parts, root.parts, m.n_nodes * 8)
    memcpy(c.tree_mean, root.tree_mean, m.n_trees * m.width * 8)
    memcpy(c.tree_low, root.tree_low, m.n_trees * m.width * 8)
    memcpy(c.tree_high, root.tree_high, m.n_trees * m.width * 8)
    memcpy(c.tree_spread, root.tree_spread, m.n_trees * 8)
    if m.is_joint:
        copy_runs(m, c, root, 0, m.run_start[m.n_trees])
        memcpy(c.run_test, root.run_test, m.n_trees * 4)
        memcpy(c.n_runs, root.n_runs, m.n_trees * 4)
        copy_sums(m, c, root)


cdef struct View:
    # What is known of the answer.
    intp_t first     # the leader; of two classes, 1 if the sum is positive
    intp_t second    # who follows
    bint is_settled
    float64_t z      # lead over the standard deviation of what is open


cdef bint holds(const Model* m, const Case* c, intp_t first) noexcept nogil:
    """Return whether no other class can overtake one."""
    cdef:
        intp_t q
        int64_t margin
    for q in range(m.n_outputs):
        if q == first:
            continue
        margin = c.low[first] - c.high[q] - m.slack
        # Ties go to the class that comes first, where sums are exact in the source.
        if margin < 0 or (margin == 0 and not (m.ties_are_exact and first < q)):
            return False
    return True


cdef void look(const Model* m, Case* c, bint wants_z, View* view) noexcept nogil:
    cdef:
        intp_t q
        intp_t first = 0
        intp_t second = -1
        float64_t lead, spread
        const int64_t* rank = c.total
    if m.rule != CLASSES:
        view.first = c.total[0] > 0
        view.second = 0
        if m.rule == TWO_CLASSES:
            view.is_settled = c.low[0] > m.slack or c.high[0] < -m.slack
            if m.is_joint and not view.is_settled:
                view.is_settled = holds_jointly(m, c, view.first)
            lead = fabs(<float64_t> c.total[0]) / m.unit
        else:
            view.is_settled = c.high[0] - c.low[0] <= m.tolerance
            lead = 1.0
        if wants_z:
            spread = <float64_t> c.spread[0] / m.spread_unit
            view.z = lead / sqrt(spread) if spread > 0 else INFINITY
        return
    if m.mode == VOTE:
        # Shares are rounded, votes are not: these alone say what is settled.
        for q in range(1, m.n_outputs):
            if c.low[q] > c.low[first]:
                first = q
        view.is_settled = holds(m, c, first)
        if c.has_means and not view.is_settled:
            first = 0
        else:
            rank = c.low
    for q in range(1, m.n_outputs):
        if rank[q] > rank[first]:
            first = q
    for q in range(m.n_outputs):
        if q != first and (second < 0 or rank[q] > rank[second]):
            second = q
    if m.mode != VOTE:
        view.is_settled = holds(m, c, first)
        if m.is_joint and not view.is_settled:
            view.is_settled = holds_jointly(m, c, first)
    view.first = first
    view.second = second if second >= 0 else first
    if not wants_z:
        return
    lead = <float64_t> (c.total[first] - c.total[view.second]) / m.unit
    if m.n_kinds == 1:
        spread = <float64_t> c.spread[0] / m.spread_unit
    else:
        spread = <float64_t> (c.spread[first] + c.spread[view.second]) / m.spread_unit
    view.z = lead / sqrt(spread) if spread > 0 else INFINITY


cdef intp_t choose(
    const Model* m, const Case* c, Prices prices, const float64_t* inverse,
    const View* view,
) noexcept nogil:
    """Return the test that most waits for, for its price; -1 if nothing does.

    Of tests that are as good as the best, rounding apart, the first.
    """
    cdef:
        intp_t test
        float64_t best = 0.0
        float64_t score
    for test in range(m.n_tests):
        score = score_of(m, c, prices, inverse, view, test)
        best = score if score > best else best
    if best <= 0.0:
        return -1
    for test in range(m.n_tests):
        if score_of(m, c, prices, inverse, view, test) * TIE >= best:
            return test
    return -1


cdef inline float64_t score_of(
    const Model* m, const Case* c, Prices prices, const float64_t* inverse,
    const View* view, intp_t test,
) noexcept nogil:
    """Return how much waits for a test, for its price; 0 if it cannot be bought."""
    cdef:
        intp_t kind
        float64_t score = 0.0
        float64_t price
    if c.state[test] != CLOSED:
        return 0.0
    if m.n_kinds == 1:
        score = <float64_t> c.need[test]
    else:
        for kind in range(m.n_kinds):
            if kind == view.first or kind == view.second:
                score = score + <float64_t> c.need[kind * m.n_tests + test]
            else:
                score = score + OTHER_CLASSES * <float64_t> (
                    c.need[kind * m.n_tests + test]
                )
    if score <= 0.0:
        return 0.0
    if not prices.has_groups and not prices.has_delays:
        return score * inverse[test]
    price = prices.price(test, -1, c.paid, c.is_open)
    return score * (1.0 / price if price > 0 else INFINITY)


cdef float64_t pay(
    const Model* m, Case* c, Prices prices, intp_t test, intp_t code
) noexcept nogil:
    """Charge for a test; a delayed one orders everything that may still be asked."""
    cdef:
        float64_t amount = 0.0
        intp_t other
    if not prices.delayed[test] or c.paid[test]:
        return prices.charge(test, code, c.paid, c.is_open)
    for other in range(m.n_tests):
        if is_wanted(m, c, other):
            amount = amount + prices.charge(other, -1, c.paid, c.is_open)
    return amount


cdef bint is_wanted(const Model* m, const Case* c, intp_t test) noexcept nogil:
    cdef intp_t kind
    if c.state[test] != CLOSED:
        return False
    if m.mode == DEEP:
        for kind in range(m.n_kinds):
            if c.need[kind * m.n_tests + test] > 0:
                return True
        return False
    # On paths, a tree may come to ask anything below the node where it waits.
    return m.user_start[test + 1] > m.user_start[test]


cdef void finish(
    const Model* m, const Case* c, const float64_t* offset, bint is_single,
    float64_t* raw,
) noexcept nogil:
    """Write the sums: as the source adds them if every tree has ended."""
    cdef:
        intp_t tree, q, first, node
        float32_t small
    if m.mode == VOTE:
        for q in range(m.n_outputs):
            if c.n_waiting == 0 or not c.has_means:
                raw[q] = <float64_t> c.low[q]
            else:
                raw[q] = <float64_t> c.total[q] / FULL_SHARE
        return
    if c.n_waiting > 0:
        for q in range(m.n_outputs):
            raw[q] = <float64_t> c.total[q] / m.unit
        return
    for q in range(m.n_outputs):
        raw[q] = offset[q]
    for tree in range(m.n_trees):
        node = c.top[tree]
        first = m.output[tree]
        for q in range(m.width):
            if is_single:
                small = <float32_t> raw[first + q]
                small = small + <float32_t> m.value[node * m.width + q]
                raw[first + q] = small
            else:
                raw[first + q] += m.value[node * m.width + q]


# Votes of many rows: first walk each tree with a block of rows, which keeps the tree in
# the cache, and write down what it would wait for; then buy on these notes, row by row.


cdef struct Stop:
    # A node where a tree waits, or its leaf.
    uint64_t classes
    int32_t score
    int32_t test      # -1 for the leaf


cdef struct Step:
    Stop stop
    int32_t cut
    int32_t right
    int32_t flags
    int32_t unused


cdef struct Notes:
    Stop* stops       # (n_rows, n_trees, n_stops)
    intp_t n_stops
    int32_t* codes    # (n_rows, n_tests)
    int32_t* place    # (n_trees,) where each tree stands on its list
    int64_t* seen     # (n_tests, LANES) the last walk that met a test
    int64_t walk


cdef enum:
    LANES = 8
    # Enough rows that most of a tree is met more than once while it is in the cache,
    # and few enough that their notes take no more memory than this.
    MOST_ROWS = 1024
    MOST_NOTES = 33554432


cdef void note_stops(
    const Model* m, const Step* steps, Notes* notes, intp_t n_rows
) noexcept nogil:
    """Walk a block of rows down every tree; write down each test at its first use.

    LANES rows go down side by side, so that their reads do not wait for one another.
    """
    cdef:
        intp_t tree, group, first, n_lanes, lane, n_open
        intp_t[LANES] node
        intp_t[LANES] n
        Stop* stops[LANES]
        const Step* at
        int32_t code, test
        int64_t* seen
        bint is_left
    for tree in range(m.n_trees):
        for group in range((n_rows + LANES - 1) // LANES):
            first = group * LANES
            n_lanes = min(<intp_t> LANES, n_rows - first)
            notes.walk += 1
            for lane in range(n_lanes):
                node[lane] = m.tree_start[tree]
                n[lane] = 0
                stops[lane] = (
                    notes.stops + ((first + lane) * m.n_trees + tree) * notes.n_stops
                )
            n_open = n_lanes
            while n_open:
                n_open = 0
                for lane in range(n_lanes):
                    at = steps + node[lane]
                    test = at.stop.test
                    stops[lane][n[lane]] = at.stop
                    if test < 0:
                        continue
                    n_open += 1
                    code = notes.codes[(first + lane) * m.n_tests + test]
                    seen = notes.seen + test * LANES + lane
                    n[lane] += seen[0] != notes.walk
                    seen[0] = notes.walk
                    if at.flags & IS_SET:
                        is_left = goes_left(m, m.nodes + node[lane], code)
                    else:
                        # Without a branch that nobody could predict.
                        is_left = (code <= at.cut) | (
                            (at.flags & MISSING_LEFT) & (code >= m.n_levels[test])
                        )
                    node[lane] = at.right + is_left * (node[lane] + 1 - at.right)


cdef void run_noted(
    const Model* m, Case* c, const Case* root, Prices prices, const float64_t* inverse,
    Notes* notes, intp_t row, float64_t* raw, float64_t* cost, int32_t* n_bought,
) noexcept nogil:
    """Buy for one row on its notes; the same purchases as :func:`run_row` makes."""
    cdef:
        const int32_t* codes = notes.codes + row * m.n_tests
        const Stop* stops = notes.stops + row * m.n_trees * notes.n_stops
        const Stop* at
        intp_t q, test, tree, after
        uint64_t before
        float64_t spent = 0.0
        int32_t step = 0
        View view
    reset(m, c, root, prices.n_groups)
    memset(notes.place, 0, m.n_trees * 4)
    while True:
        look(m, c, False, &view)
        if c.n_waiting == 0 or view.is_settled:
            break
        test = choose(m, c, prices, inverse, &view)
        if test < 0:
            break
        spent = spent + pay(m, c, prices, test, codes[test])
        c.state[test] = BOUGHT
        c.need[test] = 0
        tree = c.head[test]
        c.head[test] = -1
        while tree >= 0:
            after = c.next[tree]
            at = stops + tree * notes.n_stops + notes.place[tree]
            before = at.classes
            while at.test >= 0 and c.state[at.test] == BOUGHT:
                at = at + 1
            notes.place[tree] = <int32_t> (at - (stops + tree * notes.n_stops))
            drop_classes(c, before & ~at.classes)
            if at.test >= 0:
                c.need[at.test] += at.score
                wait(c, at.test, tree)
            else:
                c.low[lowest_bit(at.classes)] += 1
                c.n_waiting -= 1
            tree = after
        step = step + 1
    for q in range(m.n_outputs):
        raw[q] = <float64_t> c.low[q]
    cost[0] = spent
    n_bought[0] = step


cdef intp_t count_depth(const Model* m) noexcept nogil:
    """Return the most tests on any path."""
    cdef:
        intp_t tree, node, last, depth
        intp_t deepest = 0
        int32_t* open_until = <int32_t*> calloc(m.n_nodes + 2, 4)
    if open_until == NULL:
        return m.n_nodes
    # The left part of a node ends where its right child starts, so the depth of a node
    # is that of the last one that opened it.
    for tree in range(m.n_trees):
        open_until[m.tree_start[tree]] = 0
        last = m.tree_start[tree + 1]
        for node in range(m.tree_start[tree], last):
            depth = open_until[node]
            deepest = max(deepest, depth)
            if m.nodes[node].test >= 0:
                open_until[node + 1] = <int32_t> (depth + 1)
                open_until[m.nodes[node].right] = <int32_t> (depth + 1)
    free(open_until)
    return deepest


cdef class Machine:
    """An ensemble, ready to run; never changed after it is built."""

    cdef Model model
    cdef Case* root
    cdef object kept              # keeps the arrays alive that the model points to
    cdef const float64_t[::1] offset
    cdef bint is_single
    cdef readonly intp_t n_outputs
    cdef readonly intp_t n_trees
    cdef const float64_t[::1] cuts
    cdef const int64_t[::1] cut_start
    cdef void* steps              # of votes: what a walk needs, in one place
    cdef object vote_rows         # of votes that are plain enough, else None
    cdef intp_t depth

    def __cinit__(self):
        self.root = NULL

    def __dealloc__(self):
        free_case(self.root)

    def __init__(
        self,
        const int32_t[::1] test not None,         # IN  (n_nodes,) -1 for a leaf
        const int32_t[::1] cut not None,          # IN  (n_nodes,)
        const int32_t[::1] right not None,        # IN  (n_nodes,)
        const int32_t[::1] flags not None,        # IN  (n_nodes,)
        const uint64_t[::1] words not None,       # IN  never empty
        const int32_t[::1] n_levels not None,     # IN  (n_tests,)
        const int64_t[::1] tree_start not None,   # IN  (n_trees + 1,)
        const int32_t[::1] output not None,       # IN  (n_trees,)
        const float64_t[::1] weight not None,     # IN  (n_nodes,) positive
        const float64_t[:, ::1] value not None,   # IN  (n_nodes, width)
        const float64_t[::1] offset not None,     # IN  (n_outputs,)
        const float64_t[::1] cuts not None,       # IN  of all tests; never empty
        const int64_t[::1] cut_start not None,    # IN  (n_tests + 1,)
        const int64_t[::1] users not None,        # IN  trees by test; never empty
        const int64_t[::1] user_start not None,   # IN  (n_tests + 1,)
        *,
        int mode,
        bint is_joint,
        int rule,
        bint ties_are_exact,
        bint is_single,
        float64_t slack,
        float64_t tolerance,
        float64_t unit,
        float64_t spread_unit,
        float64_t score_unit,
    ):
        cdef:
            intp_t n_nodes = test.shape[0]
            intp_t node
            Model* m = &self.model
            int32_t[:, ::1] packed = np.empty((max(n_nodes, 1), 4), dtype=np.int32)
        for node in range(n_nodes):
            packed[node, 0] = test[node]
            packed[node, 1] = cut[node]
            packed[node, 2] = right[node]
            packed[node, 3] = flags[node]
        m.n_tests = n_levels.shape[0]
        m.n_trees = output.shape[0]
        m.n_nodes = n_nodes
        m.n_outputs = offset.shape[0]
        m.width = value.shape[1]
        m.n_kinds = m.n_outputs if m.width == 1 and m.n_outputs > 1 else 1
        m.mode = mode
        m.is_joint = is_joint
        m.rule = rule
        m.ties_are_exact = ties_are_exact
        m.slack = <int64_t> ceil(slack * unit)
        m.tolerance = <int64_t> floor(tolerance * unit)
        m.unit = unit
        m.spread_unit = spread_unit
        m.score_unit = score_unit
        self.n_outputs = m.n_outputs
        self.n_trees = m.n_trees
        self.offset = offset
        self.is_single = is_single
        self.cuts = cuts
        self.cut_start = cut_start
        m.nodes = <Node*> &packed[0, 0]
        m.words = &words[0]
        m.n_levels = &n_levels[0] if m.n_tests else NULL
        m.tree_start = &tree_start[0]
        m.output = &output[0] if m.n_trees else NULL
        m.weight = &weight[0] if n_nodes else NULL
        m.value = &value[0, 0] if n_nodes else NULL
        m.users = &users[0]
        m.user_start = &user_start[0]
        kept = [packed, words, n_levels, tree_start, output, weight, value, users,
                user_start]
        kept.extend(self._measure_nodes())
        kept.extend(self._lay_out_runs())
        self.kept = kept
        self._begin()
        if m.mode == VOTE:
            self._pack_steps()
            self.vote_rows = self._pack_votes()

    def _pack_steps(self):
        cdef:
            const Model* m = &self.model
            intp_t node
            uint8_t[::1] memory = np.zeros(
                max(m.n_nodes, 1) * sizeof(Step), dtype=np.uint8
            )
            Step* steps = <Step*> &memory[0]
        for node in range(m.n_nodes):
            steps[node].stop.classes = m.classes[node]
            steps[node].stop.score = <int32_t> m.score[node]
            steps[node].stop.test = m.nodes[node].test
            steps[node].cut = m.nodes[node].cut
            steps[node].right = m.nodes[node].right
            steps[node].flags = m.nodes[node].flags
        self.steps = <void*> steps
        self.depth = count_depth(m)
        self.kept.append(memory)

    def _pack_votes(self):
        """Return the trees for many rows at once, or None if they do not fit."""
        cdef:
            const Model* m = &self.model
            intp_t node, test
            int64_t most = 0
            int32_t[:, ::1] nodes = np.zeros((4, m.n_nodes), dtype=np.int32)
            uint8_t[::1] is_left = np.zeros(m.n_nodes, dtype=np.uint8)
            uint64_t[::1] classes = np.zeros(m.n_nodes, dtype=np.uint64)
            int64_t[::1] score = np.zeros(m.n_nodes, dtype=np.int64)
            int64_t[::1] starts = np.zeros(m.n_trees + 1, dtype=np.int64)
        for test in range(m.n_tests):
            most = max(most, <int64_t> m.n_levels[test])
        if not VoteRows.takes(m.n_tests, m.n_trees, m.n_outputs, most):
            return None
        for node in range(m.n_nodes):
            test = m.nodes[node].test
            if test >= 0 and m.nodes[node].flags & IS_SET:
                return None
            nodes[0, node] = <int32_t> test
            nodes[1, node] = m.nodes[node].cut
            nodes[2, node] = m.nodes[node].right
            is_left[node] = m.nodes[node].flags & MISSING_LEFT
            classes[node] = m.classes[node]
            score[node] = m.score[node]
        for node in range(m.n_trees + 1):
            starts[node] = m.tree_start[node]
        layout = Layout(
            nodes[0], nodes[1], nodes[2], is_left, classes, score, starts, m.n_tests
        )
        if not layout.fits:
            return None
        return VoteRows(layout, n_tests=m.n_tests, n_classes=m.n_outputs)

    def _lay_out_runs(self):
        """Make room for bounds by outcome: of each test, and of each tree."""
        cdef:
            Model* m = &self.model
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

    def _measure_nodes(self):
        """Work out what each whole subtree amounts to."""
        cdef:
            Model* m = &self.model
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

    def _begin(self):
        cdef:
            intp_t q
            int64_t[::1] start = np.zeros(self.n_outputs, dtype=np.int64)
        self.root = make_case(&self.model, 0)
        if self.root == NULL:
            raise MemoryError("no memory left for the first state of an ensemble")
        for q in range(self.n_outputs):
            start[q] = llrint(self.offset[q] * self.model.unit)
        self.root.has_means = True
        begin(&self.model, self.root, &start[0])

    def run_case(
        self,
        Prices prices not None,
        const int32_t[::1] tests not None,  # IN  what was asked, in order
        const int32_t[::1] codes not None,  # IN  what it showed; below 0 if skipped
        float64_t threshold,
        bint is_complete,
    ):
        """Replay one case.

        Returns
        -------
        test : int
            The next test to buy, -1 if the case is over.
        raw, low, high : ndarray of shape (n_outputs,)
            The expected, least and largest sums.
        ahead : list of int
            Tests that may still be asked.
        is_settled : bool
            Whether the answer can no longer change.
        n_waiting : int
            Trees that have not ended.
        """
        cdef:
            const Model* m = &self.model
            Case* c = make_case(m, prices.n_groups)
            intp_t i, test
            View view
            bint is_over
            float64_t[::1] inverse = inverse_prices(prices)
            float64_t[::1] raw = np.empty(m.n_outputs)
        if c == NULL:
            raise MemoryError("no memory left to run a case")
        try:
            c.has_means = True
            copy_deep(m, c, self.root)
            reset(m, c, self.root, prices.n_groups)
            for i in range(tests.shape[0]):
                test = tests[i]
                if codes[i] < 0:
                    if codes[i] == PAID_SKIP:
                        pay(m, c, prices, test, -1)
                    c.state[test] = SKIPPED
                else:
                    pay(m, c, prices, test, codes[i])
                    buy(m, c, test, codes[i])
            look(m, c, True, &view)
            is_over = c.n_waiting == 0 or (view.is_settled and not is_complete)
            is_over = is_over or (threshold < INFINITY and view.z >= threshold)
            test = -1 if is_over else choose(m, c, prices, &inverse[0], &view)
            finish(m, c, &self.offset[0], self.is_single, &raw[0])
            ahead = [] if test < 0 else [
                i for i in range(m.n_tests) if is_wanted(m, c, i)
            ]
            scale = 1.0 if m.mode == VOTE else m.unit
            if m.is_joint:
                refresh_runs(m, c)
                low = [least_sum(m, c, i, -1) / scale for i in range(m.n_outputs)]
                high = [largest_sum(m, c, i) / scale for i in range(m.n_outputs)]
            else:
                low = [c.low[i] / scale for i in range(m.n_outputs)]
                high = [c.high[i] / scale for i in range(m.n_outputs)]
            return (
                test, np.asarray(raw), np.array(low), np.array(high), ahead,
                bool(view.is_settled), c.n_waiting,
            )
        finally:
            free_case(c)

    def run_rows(
        self,
        Prices prices not None,
        const float64_t[:, ::1] values,  # IN  (n_rows, n_tests) of numbers, or None
        const int32_t[:, ::1] codes,     # IN  (n_rows, n_tests) else
        float64_t threshold,
        bint is_complete,
        bint has_means,
        int n_jobs,
        bint is_packed=True,
    ):
        """Run many rows; ``is_packed=False`` is slower, and the same.

        Returns
        -------
        raw : ndarray of shape (n_rows, n_outputs)
            The sums where each row stopped.
        cost : ndarray of shape (n_rows,)
        n_bought : ndarray of int32 of shape (n_rows,)
        """
        cdef:
            const Model* m = &self.model
            intp_t n_rows = values.shape[0] if values is not None else codes.shape[0]
            intp_t row
            Case* c
            uint8_t[::1] failed = np.zeros(1, dtype=np.uint8)
            float64_t[::1] inverse = inverse_prices(prices)
            float64_t[:, ::1] raw = np.empty((n_rows, m.n_outputs))
            float64_t[::1] cost = np.empty(n_rows)
            int32_t[::1] n_bought = np.empty(n_rows, dtype=np.int32)
            const float64_t* value = NULL
            const int32_t* code = NULL
            float64_t* offset = <float64_t*> &self.offset[0]
        if n_rows and m.n_tests:
            if values is not None:
                value = &values[0, 0]
            else:
                code = &codes[0, 0]
        if m.mode == VOTE and not has_means and not threshold < INFINITY:
            if (
                is_packed and self.vote_rows is not None
                and not prices.has_groups and not prices.has_delays
            ):
                self.vote_rows.run(
                    prices, inverse, values, codes, self.cuts, self.cut_start, n_jobs,
                    raw, cost, n_bought,
                )
            else:
                self._run_blocks(
                    prices, inverse, values, codes, n_rows, n_jobs, raw, cost, n_bought
                )
            return np.asarray(raw), np.asarray(cost), np.asarray(n_bought)
        with nogil, parallel(num_threads=n_jobs):
            c = make_case(m, prices.n_groups)
            if c != NULL:
                c.has_means = has_means
                copy_deep(m, c, self.root)
            for row in prange(n_rows, schedule="dynamic", chunksize=32):
                if c == NULL:
                    failed[0] = 1
                else:
                    run_row(
                        m, c, self.root, prices, &inverse[0],
                        value + row * m.n_tests if value != NULL else NULL,
                        code + row * m.n_tests if code != NULL else NULL,
                        &self.cuts[0], &self.cut_start[0],
                        threshold, is_complete, offset, self.is_single,
                        &raw[row, 0], &cost[row], &n_bought[row], NULL,
                    )
            free_case(c)
        if failed[0]:
            raise MemoryError("no memory left to run an ensemble")
        return np.asarray(raw), np.asarray(cost), np.asarray(n_bought)

    cdef int _run_blocks(
        self, Prices prices, float64_t[::1] inverse,
        const float64_t[:, ::1] values, const int32_t[:, ::1] codes, intp_t n_rows,
        int n_jobs, float64_t[:, ::1] raw, float64_t[::1] cost, int32_t[::1] n_bought,
    ) except -1:
        cdef:
            const Model* m = &self.model
            const Step* steps = <const Step*> self.steps
            intp_t n_stops = min(m.n_tests, self.depth) + 1
            intp_t n_fit = MOST_NOTES // (max(m.n_trees, 1) * n_stops * sizeof(Stop))
            intp_t size = max(<intp_t> LANES, min(<intp_t> MOST_ROWS, n_fit))
            intp_t n_blocks = (n_rows + size - 1) // size
            intp_t block
            const float64_t* value = NULL
            const int32_t* code = NULL
            uint8_t[::1] failed = np.zeros(1, dtype=np.uint8)
            Case* c
            Notes* notes
        if n_rows and m.n_tests:
            if values is not None:
                value = &values[0, 0]
            else:
                code = &codes[0, 0]
        with nogil, parallel(num_threads=n_jobs):
            c = make_case(m, prices.n_groups)
            notes = make_notes(m, size, n_stops)
            for block in prange(n_blocks, schedule="dynamic"):
                if c == NULL or notes == NULL:
                    failed[0] = 1
                else:
                    run_block(
                        m, c, self.root, prices, &inverse[0], steps, notes,
                        value, code, &self.cuts[0], &self.cut_start[0],
                        block * size, min(n_rows, (block + 1) * size),
                        &raw[0, 0], &cost[0], &n_bought[0],
                    )
            free_case(c)
            free_notes(notes)
        if failed[0]:
            raise MemoryError("no memory left to run an ensemble")
        return 0

    def trace_rows(
        self,
        Prices prices not None,
        const float64_t[:, ::1] values,
        const int32_t[:, ::1] codes,
        int n_jobs,
    ):
        """Run rows until nothing can change, and write down every step.

        Returns
        -------
        raw : ndarray of shape (n_rows, n_outputs)
            The sums at the end.
        cost, z, answer : ndarray of shape (n_rows, n_tests + 1)
            What was spent before each step, how sure the case was, and what it would
            have answered: a class, or a number.
        n_steps : ndarray of int32 of shape (n_rows,)
            How many entries of a row hold.
        """
        cdef:
            const Model* m = &self.model
            intp_t n_rows = values.shape[0] if values is not None else codes.shape[0]
            intp_t n_wide = m.n_tests + 1
            intp_t row
            Case* c
            uint8_t[::1] failed = np.zeros(1, dtype=np.uint8)
            float64_t[::1] inverse = inverse_prices(prices)
            float64_t[:, ::1] raw = np.empty((n_rows, m.n_outputs))
            float64_t[::1] cost = np.empty(n_rows)
            int32_t[::1] n_bought = np.empty(n_rows, dtype=np.int32)
            float64_t[:, :, ::1] steps = np.zeros((n_rows, 3, n_wide))
            const float64_t* value = NULL
            const int32_t* code = NULL
            float64_t* offset = <float64_t*> &self.offset[0]
        if n_rows and m.n_tests:
            if values is not None:
                value = &values[0, 0]
            else:
                code = &codes[0, 0]
        with nogil, parallel(num_threads=n_jobs):
            c = make_case(m, prices.n_groups)
            if c != NULL:
                c.has_means = True
                copy_deep(m, c, self.root)
            for row in prange(n_rows, schedule="dynamic", chunksize=8):
                if c == NULL:
                    failed[0] = 1
                else:
                    run_row(
                        m, c, self.root, prices, &inverse[0],
                        value + row * m.n_tests if value != NULL else NULL,
                        code + row * m.n_tests if code != NULL else NULL,
                        &self.cuts[0], &self.cut_start[0],
                        INFINITY, False, offset, self.is_single,
                        &raw[row, 0], &cost[row], &n_bought[row],
                        &steps[row, 0, 0],
                    )
            free_case(c)
        if failed[0]:
            raise MemoryError("no memory left to run an ensemble")
        all_steps = np.asarray(steps)
        return (
            np.asarray(raw), all_steps[:, 0], all_steps[:, 1], all_steps[:, 2],
            np.asarray(n_bought) + 1,
        )


cdef Notes* make_notes(
    const Model* m, intp_t n_rows, intp_t n_stops
) noexcept nogil:
    cdef:
        bint failed = False
        Notes* notes = <Notes*> calloc(1, sizeof(Notes))
    if notes == NULL:
        return NULL
    notes.n_stops = n_stops
    # One more: a stop is written before it is known to be a new one.
    notes.stops = <Stop*> grab(
        (n_rows * m.n_trees * n_stops + 1) * sizeof(Stop), &failed
    )
    notes.codes = <int32_t*> grab(n_rows * m.n_tests * 4, &failed)
    notes.place = <int32_t*> grab(m.n_trees * 4, &failed)
    notes.seen = <int64_t*> grab(m.n_tests * LANES * 8, &failed)
    if failed:
        free_notes(notes)
        return NULL
    return notes


cdef void free_notes(Notes* notes) noexcept nogil:
    if notes == NULL:
        return
    free(notes.stops)
    free(notes.codes)
    free(notes.place)
    free(notes.seen)
    free(notes)


cdef void run_block(
    const Model* m, Case* c, const Case* root, Prices prices, const float64_t* inverse,
    const Step* steps, Notes* notes,
    const float64_t* values, const int32_t* codes,
    const float64_t* cuts, const int64_t* cut_start,
    intp_t first, intp_t last,
    float64_t* raw, float64_t* cost, int32_t* n_bought,
) noexcept nogil:
    cdef intp_t row, test
    c.has_means = False
    for row in range(first, last):
        for test in range(m.n_tests):
            # What no tree asks is not coded.
            if m.user_start[test + 1] > m.user_start[test]:
                notes.codes[(row - first) * m.n_tests + test] = <int32_t> code_of(
                    m, values, codes, cuts, cut_start, row, test
                )
    note_stops(m, steps, notes, last - first)
    for row in range(first, last):
        run_noted(
            m, c, root, prices, inverse, notes, row - first,
            raw + row * m.n_outputs, cost + row, n_bought + row,
        )


cdef inline intp_t code_of(
    const Model* m, const float64_t* values, const int32_t* codes,
    const float64_t* cuts, const int64_t* cut_start, intp_t row, intp_t test,
) noexcept nogil:
    cdef float64_t value
    if values == NULL:
        return codes[row * m.n_tests + test]
    value = values[row * m.n_tests + test]
    if value != value:
        return m.n_levels[test]
    return count_cuts_below(
        cuts + cut_start[test], cut_start[test + 1] - cut_start[test], value
    )


cdef void run_row(
    const Model* m, Case* c, const Case* root, Prices prices, const float64_t* inverse,
    const float64_t* values,    # IN  (n_tests,) numbers, or NULL
    const int32_t* codes,       # IN  (n_tests,) else
    const float64_t* cuts, const int64_t* cut_start,
    float64_t threshold, bint is_complete,
    const float64_t* offset, bint is_single,
    float64_t* raw,             # OUT (n_outputs,)
    float64_t* cost,            # OUT
    int32_t* n_bought,          # OUT
    float64_t* steps,           # OUT (3, n_tests + 1) cost, z and answer; or NULL
) noexcept nogil:
    cdef:
        intp_t n_wide = m.n_tests + 1
        intp_t test, code
        float64_t spent = 0.0
        int32_t step = 0
        View view
        bint wants_z = threshold < INFINITY or steps != NULL
    reset(m, c, root, prices.n_groups)
    while True:
        look(m, c, wants_z, &view)
        if steps != NULL:
            steps[step] = spent
            steps[n_wide + step] = view.z
            if m.rule == NUMBER:
                steps[2 * n_wide + step] = <float64_t> c.total[0] / m.unit
            else:
                steps[2 * n_wide + step] = <float64_t> view.first
        if c.n_waiting == 0 or (view.is_settled and not is_complete):
            break
        if threshold < INFINITY and view.z >= threshold:
            break
        test = choose(m, c, prices, inverse, &view)
        if test < 0:
            break
        if values == NULL:
            code = codes[test]
        elif values[test] != values[test]:
            code = m.n_levels[test]
        else:
            code = count_cuts_below(
                cuts + cut_start[test], cut_start[test + 1] - cut_start[test],
                values[test],
            )
        spent = spent + pay(m, c, prices, test, code)
        buy(m, c, test, code)
        step = step + 1
    finish(m, c, offset, is_single, raw)
    cost[0] = spent
    n_bought[0] = step


def inverse_prices(Prices prices not None):
    """Return 1 / price of each test, infinite for what is free; never empty."""
    with np.errstate(divide="ignore"):
        inverse = 1.0 / np.asarray(prices.full)
    return np.append(inverse, 0.0)


cdef void measure_nodes(
    Model* m, float64_t* mean, float64_t* variance, float64_t* weight
) noexcept nogil:
    """Work out, from the leaves up, what each whole subtree amounts to."""
    cdef:
        intp_t w = m.width
        intp_t node, left, right, q
        float64_t wl, wr, both, gap
        bint is_vote = m.mode == VOTE
    for node in range(m.n_nodes - 1, -1, -1):
        if m.nodes[node].test < 0:
            weight[node] = m.weight[node]
            for q in range(w):
                mean[node * w + q] = m.value[node * w + q]
                if is_vote:
                    if m.value[node * w + q] > 0:
                        m.classes[node] = (<uint64_t> 1) << q
                        m.share[node * w + q] = <uint16_t> FULL_SHARE
                    continue
                m.mean[node * w + q] = llrint(m.value[node * w + q] * m.unit)
                m.low[node * w + q] = <int64_t> floor(m.value[node * w + q] * m.unit)
                m.high[node * w + q] = <int64_t> ceil(m.value[node * w + q] * m.unit)
            continue
        left = node + 1
        right = m.nodes[node].right
        wl = weight[left]
        wr = weight[right]
        both = wl + wr
        weight[node] = both
        variance[node] = wl * variance[left] + wr * variance[right]
        for q in range(w):
            gap = mean[left * w + q] - mean[right * w + q]
            mean[node * w + q] = (
                wl * mean[left * w + q] + wr * mean[right * w + q]
            ) / both
            variance[node] += wl * wr / both * gap * gap
            if is_vote:
                m.share[node * w + q] = <uint16_t> llrint(
                    mean[node * w + q] * FULL_SHARE
                )
                continue
            m.low[node * w + q] = min(m.low[left * w + q], m.low[right * w + q])
            m.high[node * w + q] = max(m.high[left * w + q], m.high[right * w + q])
            m.mean[node * w + q] = to_units(
                mean[node * w + q], m.unit, m.low[node * w + q], m.high[node * w + q]
            )
        if is_vote:
            m.classes[node] = m.classes[left] | m.classes[right]
            if m.classes[node] & (m.classes[node] - 1) == 0:
                # Whatever is asked below, the vote is the same: as good as a leaf.
                m.nodes[node].test = -1
                m.nodes[node].right = 0
                variance[node] = 0.0
                continue
        variance[node] = variance[node] / both
        m.spread[node] = llrint(variance[node] * m.spread_unit)
        m.score[node] = 1 + llrint(sqrt(variance[node]) * m.score_unit)


def list_preorder(
    const int32_t[::1] left not None,   # IN  (n_nodes,) -1 for a leaf
    const int32_t[::1] right not None,  # IN  (n_nodes,)
):
    """Return the nodes of a tree, from node 0, with every left child after its parent.

    Fewer nodes than there are come back if some cannot be reached, none if a node is
    reached twice.
    """
    cdef:
        intp_t n = left.shape[0]
        intp_t n_out = 0
        intp_t n_stack = 1
        int32_t node
        int32_t[::1] order = np.empty(n, dtype=np.int32)
        int32_t[::1] stack = np.zeros(n + 1, dtype=np.int32)
    while n_stack:
        n_stack -= 1
        node = stack[n_stack]
        if n_out == n:
            return np.empty(0, dtype=np.int32)
        order[n_out] = node
        n_out += 1
        if left[node] >= 0:
            if n_stack + 2 > n:
                return np.empty(0, dtype=np.int32)
            stack[n_stack] = right[node]
            stack[n_stack + 1] = left[node]
            n_stack += 2
    return np.asarray(order)[:n_out]
