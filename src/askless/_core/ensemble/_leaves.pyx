"""Lay out leaves as bits of a word, and which of them each outcome of a test leaves.

This module must not know of any case: what is bought, what it costs, when to stop.
"""

import numpy as np

from askless._core.ensemble._trees cimport DEEP, Model, goes_left
from askless._core.base._types cimport (
    int32_t, int64_t, intp_t, uint8_t, uint32_t, uint64_t,
)


# Leaves that have a bit each in a word, bytes of all such words, runs of all of them, and
# tests that two bytes number.
cdef enum:
    MOST_LEAVES = 64
    MOST_BYTES = 67108864
    MOST_RUNS = 4194304
    MOST_TESTS = 32768


cdef list lay_out_leaves(Model* m):
    """Write, for each test, code and tree, the leaves that are left."""
    cdef:
        intp_t test, user, n_users
        intp_t n_bytes = 0
        uint64_t[::1] leaves = np.zeros(m.n_nodes + 1, dtype=np.uint64)
        int64_t[::1] start = np.zeros(m.n_tests + 1, dtype=np.int64)
        int64_t[::1] leaf_start = np.zeros(m.n_trees + 1, dtype=np.int64)
        int64_t[::1] bound = np.zeros(m.n_nodes + 1, dtype=np.int64)
        int32_t[::1] node = np.zeros(m.n_nodes + 1, dtype=np.int32)
        char[::1] words
        int most = 0
    m.word_bytes = 0
    if (m.mode == DEEP or m.by_leaves) and m.width == 1 and m.n_tests < MOST_TESTS:
        most = count_leaves(m, &leaf_start[0])
    if most == 0:
        return []
    m.word_bytes = 1 if most <= 8 else 4 if most <= 32 else 8
    for test in range(m.n_tests):
        n_users = m.user_start[test + 1] - m.user_start[test]
        start[test] = n_bytes
        n_bytes += n_users * (m.n_levels[test] + 2) * m.word_bytes
    if n_bytes > MOST_BYTES:
        m.word_bytes = 0
        return []
    m.leaf_start, m.leaf_bound, m.leaf_node = &leaf_start[0], &bound[0], &node[0]
    words = np.empty(n_bytes + 8, dtype=np.int8)
    with nogil:
        number_leaves(m, &bound[0], &node[0], &leaves[0])
        for test in range(m.n_tests):
            for user in range(m.user_start[test], m.user_start[test + 1]):
                write_words(m, test, user, &leaves[0], &words[start[test]])
    m.leaf_words, m.word_start = &words[0], &start[0]
    return [words, start, leaf_start, bound, node, *lay_out_word_runs(m)]


cdef int count_leaves(const Model* m, int64_t* start) noexcept nogil:
    """Write where the leaves of trees start; return the most of one, 0 if too many."""
    cdef intp_t tree, n
    cdef int most = 1
    for tree in range(m.n_trees):
        # A tree of n leaves has 2 n - 1 nodes.
        n = (m.tree_start[tree + 1] - m.tree_start[tree] + 1) // 2
        if n > MOST_LEAVES:
            return 0
        start[tree + 1] = start[tree] + n
        most = max(most, <int> n)
    return most


cdef void number_leaves(
    const Model* m, int64_t* bound, int32_t* order, uint64_t* leaves
) noexcept nogil:
    """Order the leaves of each tree by value, and write those below each node."""
    cdef intp_t tree, node, n, k, first
    for tree in range(m.n_trees):
        first = m.leaf_start[tree]
        n = first
        for node in range(m.tree_start[tree], m.tree_start[tree + 1]):
            if m.nodes[node].test >= 0:
                continue
            k = n
            while k > first and m.value[order[k - 1]] > m.value[node]:
                order[k] = order[k - 1]
                k = k - 1
            order[k] = <int32_t> node
            n = n + 1
        for k in range(first, n):
            node = order[k]
            leaves[node] = (<uint64_t> 1) << (k - first)
            bound[k] = 2 * m.low[node] + (m.high[node] > m.low[node])
        for node in range(m.tree_start[tree + 1] - 1, m.tree_start[tree] - 1, -1):
            if m.nodes[node].test >= 0:
                leaves[node] = leaves[node + 1] | leaves[m.nodes[node].right]


cdef void write_words(
    const Model* m, intp_t test, intp_t user, const uint64_t* leaves, char* words
) noexcept nogil:
    """Write the leaves that a tree has left, for each code of a test."""
    cdef:
        intp_t n_users = m.user_start[test + 1] - m.user_start[test]
        intp_t tree = m.users[user]
        intp_t place = user - m.user_start[test]
        intp_t code, node, i
        intp_t n = 0
        intp_t[MOST_LEAVES] splits
        uint64_t word
    for node in range(m.tree_start[tree], m.tree_start[tree + 1]):
        if m.nodes[node].test == test:
            splits[n] = node
            n = n + 1
    for code in range(m.n_levels[test] + 2):
        word = ~(<uint64_t> 0)
        for i in range(n):
            node = splits[i]
            if goes_left(m, m.nodes + node, code):
                word &= ~leaves[m.nodes[node].right]
            else:
                word &= ~leaves[node + 1]
        if m.word_bytes == 1:
            (<uint8_t*> words)[code * n_users + place] = <uint8_t> word
        elif m.word_bytes == 4:
            (<uint32_t*> words)[code * n_users + place] = <uint32_t> word
        else:
            (<uint64_t*> words)[code * n_users + place] = word


cdef inline uint64_t word_at(
    const Model* m, intp_t test, intp_t user, intp_t code
) noexcept nogil:
    cdef:
        intp_t n_users = m.user_start[test + 1] - m.user_start[test]
        const char* words = m.leaf_words + m.word_start[test]
        intp_t at = code * n_users + user - m.user_start[test]
    if m.word_bytes == 1:
        return (<const uint8_t*> words)[at]
    if m.word_bytes == 4:
        return (<const uint32_t*> words)[at]
    return (<const uint64_t*> words)[at]


cdef list lay_out_word_runs(Model* m):
    """Write the words again, each once for all codes side by side that share it."""
    cdef:
        intp_t n_users = m.user_start[m.n_tests]
        int64_t[::1] start = np.zeros(n_users + 1, dtype=np.int64)
        int32_t[::1] node_user = np.zeros(m.n_nodes + 1, dtype=np.int32)
        int32_t[::1] ends
        uint64_t[::1] words
        intp_t n_runs
    with nogil:
        n_runs = write_runs(m, &start[0], NULL, NULL)
    if n_runs > MOST_RUNS:
        # Sets that part very many codes: what is kept of trees would be too much.
        m.word_bytes = 0
        return []
    ends = np.zeros(n_runs + 1, dtype=np.int32)
    words = np.zeros(n_runs + 1, dtype=np.uint64)
    with nogil:
        write_runs(m, &start[0], &ends[0], &words[0])
        number_users(m, &node_user[0])
    m.node_user, m.user_run = &node_user[0], &start[0]
    m.word_end, m.run_word = &ends[0], &words[0]
    return [start, node_user, ends, words]


cdef intp_t write_runs(
    const Model* m, int64_t* start, int32_t* ends, uint64_t* words
) noexcept nogil:
    """Write where the runs start, and the runs if there is room; return how many."""
    cdef:
        intp_t test, user, code
        intp_t n = 0
        uint64_t word
        uint64_t last = 0
    for test in range(m.n_tests):
        for user in range(m.user_start[test], m.user_start[test + 1]):
            start[user] = n
            for code in range(m.n_levels[test] + 2):
                word = word_at(m, test, user, code)
                if code == 0 or word != last:
                    n = n + 1
                last = word
                if ends != NULL:
                    ends[n - 1] = <int32_t> (code + 1)
                    words[n - 1] = word
    start[m.user_start[m.n_tests]] = n
    return n


cdef void number_users(const Model* m, int32_t* node_user) noexcept nogil:
    """Write, for each split, which of the users of its test its tree is."""
    cdef intp_t test, user, node, tree
    for test in range(m.n_tests):
        for user in range(m.user_start[test], m.user_start[test + 1]):
            tree = m.users[user]
            for node in range(m.tree_start[tree], m.tree_start[tree + 1]):
                if m.nodes[node].test == test:
                    node_user[node] = <int32_t> user
