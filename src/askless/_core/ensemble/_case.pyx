"""Hold where one case stands, and bring it back to the first state for the next one.

This module must not know how a state is worked out, nor what is bought and why.
"""

from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from askless._core.ensemble._trees cimport DEEP, Model
from askless._core.base._types cimport float64_t, int32_t, int64_t, intp_t, uint8_t


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
