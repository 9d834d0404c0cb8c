"""Hold where one case stands, and bring it back to the first state for the next one.

This module must not know how a state is worked out, nor what is bought and why.
"""

from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from askless._core.ensemble._memo cimport State, free_memo, free_tables
from askless._core.ensemble._trees cimport DEEP, Model
from askless._core.base._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint8_t, uint64_t,
)


cdef void free_case(Case* c) noexcept nogil:
    if c != NULL:
        free_memo(c.memo)
        free_tables(c.tables)
        free(c.block)
        free(c)


cdef Case* make_case(const Model* m, intp_t n_groups) noexcept nogil:
    """Return memory for a case, or NULL if there is none."""
    cdef Case* c = <Case*> calloc(1, sizeof(Case))
    if c == NULL:
        return NULL
    # Laid out twice: to see how much there is, and for good.
    c.block = <char*> calloc(lay_out(m, c, n_groups), 1)
    if c.block == NULL:
        free(c)
        return NULL
    lay_out(m, c, n_groups)
    return c


cdef inline void* take(char* block, size_t* used, intp_t n_bytes) noexcept nogil:
    """Return the next place of a block; each array begins at a line of the cache."""
    cdef size_t at = used[0]
    used[0] = at + ((<size_t> n_bytes + 63) & ~(<size_t> 63))
    return NULL if block == NULL else block + at


cdef size_t lay_out(const Model* m, Case* c, intp_t n_groups) noexcept nogil:
    """Give every array its place in the block; return how many bytes they take."""
    cdef:
        char* block = c.block
        # One more, so that no block is empty.
        size_t used = 64
    c.total = <int64_t*> take(block, &used, m.n_outputs * 8)
    c.low = <int64_t*> take(block, &used, m.n_outputs * 8)
    c.high = <int64_t*> take(block, &used, m.n_outputs * 8)
    c.spread = <int64_t*> take(block, &used, m.n_kinds * 8)
    c.need = <int64_t*> take(block, &used, m.n_kinds * m.n_tests * 8)
    c.top = <int32_t*> take(block, &used, m.n_trees * 4)
    c.head = <int32_t*> take(block, &used, m.n_tests * 4)
    c.next = <int32_t*> take(block, &used, m.n_trees * 4)
    c.state = <uint8_t*> take(block, &used, m.n_tests)
    c.code = <int32_t*> take(block, &used, m.n_tests * 4)
    c.paid = <uint8_t*> take(block, &used, m.n_tests + 1)
    c.is_open = <uint8_t*> take(block, &used, n_groups + 1)
    c.score = <float64_t*> take(block, &used, m.n_tests * 8)
    c.ended_low = <int64_t*> take(block, &used, m.n_outputs * 8)
    c.ended_high = <int64_t*> take(block, &used, m.n_outputs * 8)
    if m.mode == DEEP:
        lay_out_deep(m, c, &used)
    if m.is_joint:
        lay_out_joint(m, c, &used)
    if m.by_leaves:
        lay_out_log(m, c, &used)
    return used


cdef void lay_out_deep(const Model* m, Case* c, size_t* used) noexcept nogil:
    cdef:
        char* block = c.block
        intp_t n = m.most_nodes
        intp_t n_values = n * m.width * 8
    c.live = <int32_t*> take(block, used, m.n_nodes * 4)
    c.parts = <int64_t*> take(block, used, m.n_nodes * 8)
    c.n_live = <int32_t*> take(block, used, m.n_trees * 4)
    c.tree_mean = <int64_t*> take(block, used, m.n_trees * m.width * 8)
    c.tree_low = <int64_t*> take(block, used, m.n_trees * m.width * 8)
    c.tree_high = <int64_t*> take(block, used, m.n_trees * m.width * 8)
    c.tree_spread = <int64_t*> take(block, used, m.n_trees * 8)
    c.is_touched = <uint8_t*> take(block, used, m.n_trees)
    c.touched = <int32_t*> take(block, used, m.n_trees * 4)
    c.left_of = <int32_t*> take(block, used, n * 4)
    c.right_of = <int32_t*> take(block, used, n * 4)
    c.node_weight = <float64_t*> take(block, used, n * 8)
    c.node_mean = <float64_t*> take(block, used, n_values)
    c.node_spread = <float64_t*> take(block, used, n * 8)
    c.node_gap = <float64_t*> take(block, used, n * 8)
    c.node_low = <int64_t*> take(block, used, n_values)
    c.node_high = <int64_t*> take(block, used, n_values)
    c.stack = <int32_t*> take(block, used, n * 4)
    if m.word_bytes:
        c.leaves = <uint64_t*> take(block, used, m.n_trees * 8)
        c.tree_state = <State**> take(block, used, m.n_trees * sizeof(void*))
        c.root_state = <State**> take(block, used, m.n_trees * sizeof(void*))
        c.root_leaves = <uint64_t*> take(block, used, m.n_trees * 8)
        c.held_sums = <int64_t*> take(block, used, HELD * 3 * m.n_outputs * 8)
        lay_out_sums(m, c, used)
        # A tree that moves loses a leaf. One more: written before it is known whether it
        # moves.
        n = m.leaf_start[m.n_trees] + 1
        c.moved = <int32_t*> take(block, used, n * 4)
        c.moved_from = <uint64_t*> take(block, used, n * 8)
        c.moved_to = <uint64_t*> take(block, used, n * 8)


cdef void lay_out_sums(const Model* m, Case* c, size_t* used) noexcept nogil:
    c.code_sum = <int64_t*> take(c.block, used, m.code_start[m.n_tests] * 8)
    c.is_awaited = <uint8_t*> take(c.block, used, m.n_tests)


cdef void lay_out_log(const Model* m, Case* c, size_t* used) noexcept nogil:
    cdef:
        char* block = c.block
        Log* log = &c.log
        intp_t n_steps = m.n_tests + 1
    lay_out_sums(m, c, used)
    c.leaves = <uint64_t*> take(block, used, m.n_trees * 8)
    c.before = <uint64_t*> take(block, used, m.n_trees * 8)
    log.test = <int32_t*> take(block, used, n_steps * 4)
    log.code = <int32_t*> take(block, used, n_steps * 4)
    log.spent = <float64_t*> take(block, used, n_steps * 8)
    log.total = <int64_t*> take(block, used, n_steps * m.n_outputs * 8)
    log.n_waiting = <int32_t*> take(block, used, n_steps * 4)
    log.n_moves = <int32_t*> take(block, used, n_steps * 4)
    # A tree that moves goes down.
    log.tree = <int32_t*> take(block, used, m.n_nodes * 4)
    log.old = <int32_t*> take(block, used, m.n_nodes * 4)
    log.new = <int32_t*> take(block, used, m.n_nodes * 4)


cdef void lay_out_joint(const Model* m, Case* c, size_t* used) noexcept nogil:
    cdef:
        char* block = c.block
        intp_t n_runs = m.run_start[m.n_trees]
        intp_t n_sums = m.n_outputs * m.code_start[m.n_tests]
    c.run_test = <int32_t*> take(block, used, m.n_trees * 4)
    c.n_runs = <int32_t*> take(block, used, m.n_trees * 4)
    c.run_end = <int32_t*> take(block, used, n_runs * 4)
    c.run_low = <int64_t*> take(block, used, n_runs * m.width * 8)
    c.run_high = <int64_t*> take(block, used, n_runs * m.width * 8)
    c.sum_low = <int64_t*> take(block, used, n_sums * 8)
    c.sum_high = <int64_t*> take(block, used, n_sums * 8)
    c.stale = <int32_t*> take(block, used, m.n_trees * 4)
    c.is_stale = <uint8_t*> take(block, used, m.n_trees)
    c.node_run_low = <int64_t*> take(block, used, m.most_nodes * m.width * 8)
    c.node_run_high = <int64_t*> take(block, used, m.most_nodes * m.width * 8)


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
    c.n_moves = 0
    if m.mode != DEEP:
        memcpy(c.top, root.top, m.n_trees * 4)
        memcpy(c.head, root.head, m.n_tests * 4)
        memcpy(c.next, root.next, m.n_trees * 4)
        if m.by_leaves:
            memcpy(c.leaves, root.leaves, m.n_trees * 8)
        return
    if c.tables != NULL:
        memcpy(c.leaves, c.root_leaves, m.n_trees * 8)
        return
    if c.memo != NULL:
        for i in range(c.n_touched):
            tree = c.touched[i]
            c.is_touched[tree] = 0
            c.tree_state[tree] = c.root_state[tree]
            c.leaves[tree] = c.root_leaves[tree]
            c.top[tree] = root.top[tree]
        c.n_touched = 0
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
