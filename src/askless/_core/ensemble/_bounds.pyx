"""Move the trees that waited for a test, and keep sums and bounds up with them.

In three ways, one for each mode: on paths, by votes, and deep.

This module must not know prices, nor when a case is settled.
"""

from libc.stdint cimport int16_t

from askless._core.base._bits cimport lowest_bit
from askless._core.ensemble._case cimport BOUGHT, Case, descend, wait
from askless._core.ensemble._deep cimport (
    add_tree, is_live, measure_tree, recall_tree,
)
from askless._core.ensemble._joint cimport add_runs, measure_runs
from askless._core.ensemble._leaves cimport all_leaves, high_of, low_of, words_of
from askless._core.ensemble._memo cimport (
    State, fetch_slot, fetch_state, find_state, guess_state, parts_of, tests_of,
)
from askless._core.ensemble._small cimport buy_small
from askless._core.ensemble.settle._lead cimport drop_leaves
from askless._core.ensemble._trees cimport DEEP, Model, PATH, VOTE
from askless._core.base._types cimport (
    int32_t, int64_t, intp_t, uint8_t, uint32_t, uint64_t,
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


cdef void buy_deep(const Model* m, Case* c, intp_t test) noexcept nogil:
    cdef intp_t i, tree
    for i in range(m.user_start[test], m.user_start[test + 1]):
        tree = m.users[i]
        if not is_live(m, c, tree, test):
            continue
        touch(c, tree)
        add_tree(m, c, tree, -1)
        measure_tree(m, c, tree)
        if m.is_joint and not c.is_stale[tree]:
            c.is_stale[tree] = 1
            c.stale[c.n_stale] = <int32_t> tree
            c.n_stale += 1
        add_tree(m, c, tree, 1)
        if c.n_live[tree] == 0:
            c.n_waiting -= 1


cdef inline void touch(Case* c, intp_t tree) noexcept nogil:
    if not c.is_touched[tree]:
        c.is_touched[tree] = 1
        c.touched[c.n_touched] = <int32_t> tree
        c.n_touched += 1


cdef void buy_remembered(
    const Model* m, Case* c, intp_t test, intp_t code
) noexcept nogil:
    """The same, where trees are remembered by the leaves that they can reach.

    In rounds, so that the reads of many trees are under way at once: which trees move,
    where what they amount to is kept, and the sums.
    """
    cdef:
        intp_t i, tree
        intp_t first = c.n_moves
        intp_t last = list_moved(m, c, test, code)
        State* state
    for i in range(first, last):
        fetch_slot(c.memo, c.moved[i], c.moved_to[i])
        fetch_state(m, c.tree_state[c.moved[i]])
    for i in range(first, last):
        fetch_state(m, guess_state(c.memo, c.moved[i], c.moved_to[i]))
    c.n_moves = last
    for i in range(first, last):
        tree = c.moved[i]
        state = recall_tree(m, c, tree, c.moved_to[i])
        if state == NULL:
            return  # whoever runs the rows looks whether there was memory
        touch(c, tree)
        move_tree(m, c, tree, c.tree_state[tree], state)
        c.tree_state[tree] = state
        c.leaves[tree] = c.moved_to[i]
        c.top[tree] = state.top
        c.n_waiting -= state.n_parts == 0


cdef intp_t list_moved(
    const Model* m, Case* c, intp_t test, intp_t code
) noexcept nogil:
    """Note the trees that a purchase moves; return how many moves there are."""
    cdef:
        intp_t n_users = m.user_start[test + 1] - m.user_start[test]
        const int64_t* users = m.users + m.user_start[test]
        const char* words = words_of(m, test, code)
        intp_t i
        intp_t n = c.n_moves
        uint64_t before, word
    for i in range(n_users):
        if m.word_bytes == 1:
            word = (<const uint8_t*> words)[i]
        elif m.word_bytes == 4:
            word = (<const uint32_t*> words)[i]
        else:
            word = (<const uint64_t*> words)[i]
        before = c.leaves[users[i]]
        # Written in any case, which is faster than to guess whether it has moved.
        c.moved[n] = <int32_t> users[i]
        c.moved_from[n] = before
        c.moved_to[n] = before & word
        n = n + ((before & word) != before)
    return n


cdef inline void move_tree(
    const Model* m, Case* c, intp_t tree, State* old, State* new
) noexcept nogil:
    """Take back what a tree amounted to, and add what it amounts to now."""
    cdef:
        intp_t first = m.output[tree]
        intp_t kind = 0 if m.n_kinds == 1 else first
        int64_t* need = c.need + kind * m.n_tests
        const int64_t* parts = parts_of(old)
        const int16_t* tests = tests_of(old)
        intp_t i
    c.total[first] += new.mean - old.mean
    c.low[first] += low_of(m, tree, new.leaves) - low_of(m, tree, old.leaves)
    c.high[first] += high_of(m, tree, new.leaves) - high_of(m, tree, old.leaves)
    c.spread[kind] += new.spread - old.spread
    for i in range(0, old.n_parts, 4):
        need[tests[i]] -= parts[i]
        need[tests[i + 1]] -= parts[i + 1]
        need[tests[i + 2]] -= parts[i + 2]
        need[tests[i + 3]] -= parts[i + 3]
    parts = parts_of(new)
    tests = tests_of(new)
    for i in range(0, new.n_parts, 4):
        need[tests[i]] += parts[i]
        need[tests[i + 1]] += parts[i + 1]
        need[tests[i + 2]] += parts[i + 2]
        need[tests[i + 3]] += parts[i + 3]


cdef inline void place_tree(
    const Model* m, Case* c, intp_t tree, uint64_t leaves
) noexcept nogil:
    """Let a remembered tree have some leaves that it once had; sums stay as they are."""
    c.leaves[tree] = leaves
    if c.tables != NULL:
        return
    c.tree_state[tree] = find_state(c.memo, tree, leaves)
    c.top[tree] = c.tree_state[tree].top


cdef void go_along(
    const Model* m, Case* c, intp_t before, intp_t after
) noexcept nogil:
    cdef intp_t i
    for i in range(before - 1, after - 1, -1):
        place_tree(m, c, c.moved[i], c.moved_from[i])
    for i in range(before, after):
        place_tree(m, c, c.moved[i], c.moved_to[i])


# All of them.


cdef void buy(const Model* m, Case* c, intp_t test, intp_t code) noexcept nogil:
    c.state[test] = BOUGHT
    c.code[test] = <int32_t> code
    if c.tables != NULL:
        buy_small(m, c, test, code)
    elif c.memo != NULL:
        buy_remembered(m, c, test, code)
    elif m.mode == DEEP:
        buy_deep(m, c, test)
    elif m.mode == VOTE:
        buy_votes(m, c, test)
    else:
        buy_on_paths(m, c, test)
        if m.by_leaves:
            drop_leaves(m, c.leaves, test, code)


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
            if m.by_leaves:
                c.leaves[tree] = all_leaves(m, tree)
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
