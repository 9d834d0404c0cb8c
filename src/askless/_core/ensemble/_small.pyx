"""Move small trees: look up what they amount to, and work it out if it is new.

This module must not know prices, nor when a case is settled.
"""

from libc.stdint cimport int16_t

from askless._core.base._bits cimport lowest_bit
from askless._core.ensemble._case cimport Case
from askless._core.ensemble._deep cimport measure_tree
from askless._core.ensemble._leaves cimport all_leaves, high_of, low_of
from askless._core.ensemble._memo cimport (
    Entry, Tables, fetch_early, make_tables,
)
from askless._core.ensemble._trees cimport Model
from askless._core.base._types cimport int32_t, int64_t, intp_t, uint8_t, uint64_t


cdef enum:
    # Fewer rows than this are run before large pages are cleared.
    MANY_ROWS = 1000

# More than any mean, so that no entry that is known begins with 0.
cdef int64_t KNOWN = (<int64_t> 1) << 61


cdef bint begin_tables(const Model* m, Case* c, intp_t n_rows) noexcept nogil:
    cdef intp_t tree
    c.tables = make_tables(m, n_rows >= MANY_ROWS)
    if c.tables == NULL:
        return False
    for tree in range(m.n_trees):
        c.root_leaves[tree] = all_leaves(m, tree)
        add_entry(m, c, tree, c.root_leaves[tree])
    return True


cdef void add_entry(
    const Model* m, Case* c, intp_t tree, uint64_t leaves
) noexcept nogil:
    """Work out what a tree amounts to, from what was bought."""
    cdef:
        Tables* tables = c.tables
        intp_t start = m.tree_start[tree]
        intp_t at = tables.start[tree] + <intp_t> leaves
        Entry* entry = tables.entries + at
        const int16_t* tests = tables.tests + 8 * tree
        intp_t i, k
    c.top[tree] = <int32_t> start
    measure_tree(m, c, tree)
    entry.mean = c.tree_mean[tree] + KNOWN
    # A test that is asked more than once counts once, for all of it.
    for i in range(start, start + c.n_live[tree]):
        k = 0
        while tests[k] != m.nodes[c.live[i]].test:
            k = k + 1
        entry.part[k] += c.parts[i]
    tables.spread[at] = c.tree_spread[tree]
    tables.top[at] = <uint8_t> (c.top[tree] - start)


cdef void buy_small(const Model* m, Case* c, intp_t test, intp_t code) noexcept nogil:
    """In rounds, so that the reads of many trees are under way at once."""
    cdef:
        Tables* tables = c.tables
        intp_t first = c.n_moves
        intp_t last = list_moved(m, c, test, code)
        intp_t i, at
    for i in range(first, last):
        at = tables.start[c.moved[i]] + <intp_t> c.moved_to[i]
        if tables.entries[at].mean == 0:
            add_entry(m, c, c.moved[i], c.moved_to[i])
        move_small(m, c, c.moved[i], c.moved_to[i])
    c.n_moves = last


cdef intp_t list_moved(
    const Model* m, Case* c, intp_t test, intp_t code
) noexcept nogil:
    """Note the trees that a purchase moves; return how many moves there are."""
    cdef:
        intp_t n_users = m.user_start[test + 1] - m.user_start[test]
        const int64_t* users = m.users + m.user_start[test]
        const uint8_t* words = (
            <const uint8_t*> m.leaf_words + m.word_start[test] + code * n_users
        )
        intp_t i
        intp_t n = c.n_moves
        uint64_t before, after
    for i in range(n_users):
        before = c.leaves[users[i]]
        after = before & words[i]
        # Written in any case, which is faster than to guess whether it has moved.
        c.moved[n] = <int32_t> users[i]
        c.moved_from[n] = before
        c.moved_to[n] = after
        fetch_early(c.tables.entries + c.tables.start[users[i]] + <intp_t> after)
        n = n + (after != before)
    return n


cdef inline void move_small(
    const Model* m, Case* c, intp_t tree, uint64_t leaves
) noexcept nogil:
    """Take back what a tree amounted to, and add what it amounts to now."""
    cdef:
        Tables* tables = c.tables
        intp_t first = m.output[tree]
        intp_t kind = 0 if m.n_kinds == 1 else first
        int64_t* need = c.need + kind * m.n_tests
        intp_t was = tables.start[tree] + <intp_t> c.leaves[tree]
        intp_t at = tables.start[tree] + <intp_t> leaves
        const Entry* old = tables.entries + was
        const Entry* new = tables.entries + at
        const int16_t* tests = tables.tests + 8 * tree
        uint64_t before = c.leaves[tree]
        intp_t k
    c.total[first] += new.mean - old.mean
    c.low[first] += low_of(m, tree, leaves) - low_of(m, tree, before)
    c.high[first] += high_of(m, tree, leaves) - high_of(m, tree, before)
    if c.has_spread:
        c.spread[kind] += tables.spread[at] - tables.spread[was]
    for k in range(7):
        need[tests[k]] += new.part[k] - old.part[k]
    c.leaves[tree] = leaves
    c.n_waiting -= leaves & (leaves - 1) == 0


cdef void write_tops(const Model* m, Case* c) noexcept nogil:
    cdef intp_t tree
    for tree in range(m.n_trees):
        c.top[tree] = m.leaf_node[m.leaf_start[tree] + lowest_bit(c.leaves[tree])]
