"""Say who is ahead, whatever the rest shows, by the leaves that are left of each tree.

Trees wait where path states have them wait; everything that was bought leaves them fewer
leaves. Those that wait for the same test agree on what it will show.

This module must not know what is bought next, nor move a tree.
"""

from libc.math cimport llrint

from askless._core.ensemble._case cimport Case
from askless._core.ensemble._joint cimport leads, leads_all, least_lead
from askless._core.ensemble._leaves cimport high_of, low_of, words_of
from askless._core.ensemble._trees cimport Model, TWO_CLASSES
from askless._core.base._types cimport (
    float64_t, int64_t, intp_t, uint8_t, uint32_t, uint64_t,
)


cdef void drop_leaves(
    const Model* m, uint64_t* leaves, intp_t test, intp_t code
) noexcept nogil:
    cdef:
        intp_t n_users = m.user_start[test + 1] - m.user_start[test]
        const int64_t* users = m.users + m.user_start[test]
        const char* words = words_of(m, test, code)
        intp_t i
    if m.word_bytes == 4:
        # Words of fewer bytes leave the upper bits alone, which no tree has.
        for i in range(n_users):
            leaves[users[i]] &= (<const uint32_t*> words)[i]
    elif m.word_bytes == 1:
        for i in range(n_users):
            leaves[users[i]] &= (<const uint8_t*> words)[i]
    else:
        for i in range(n_users):
            leaves[users[i]] &= (<const uint64_t*> words)[i]


cdef void bound_leaves(const Model* m, Case* c) noexcept nogil:
    cdef:
        intp_t tree, q
        int64_t low = 0
        int64_t high = 0
    for q in range(m.n_outputs):
        c.low[q] = c.high[q] = llrint(m.offset[q] * m.unit)
    if m.n_outputs == 1:
        for tree in range(m.n_trees):
            low += low_of(m, tree, c.leaves[tree])
            high += high_of(m, tree, c.leaves[tree])
        c.low[0] += low
        c.high[0] += high
        return
    for tree in range(m.n_trees):
        c.low[m.output[tree]] += low_of(m, tree, c.leaves[tree])
        c.high[m.output[tree]] += high_of(m, tree, c.leaves[tree])


cdef intp_t guess_winner(const Model* m, const Case* c) noexcept nogil:
    cdef intp_t q
    cdef intp_t best = 0
    if m.target == TWO_CLASSES:
        return c.low[0] + c.high[0] > 0
    for q in range(1, m.n_outputs):
        if c.low[q] + c.high[q] > c.low[best] + c.high[best]:
            best = q
    return best


cdef intp_t find_winner(const Model* m, Case* c) noexcept nogil:
    cdef intp_t first, q
    cdef intp_t most = 0
    if m.target == TWO_CLASSES:
        return 1 if leads(m, c, 0, -1) else 0 if leads(m, c, -1, 0) else -1
    for q in range(1, m.n_outputs):
        most = q if c.low[q] > c.low[most] else most
    for first in range(m.n_outputs):
        # A class that another one is above, tree by tree, is ahead of nobody.
        if c.high[first] >= c.low[most] and leads_all(m, c, first):
            return first
    return -1


cdef void lift(
    const Model* m, Case* c, const int64_t* total, intp_t winner, float64_t* raw
) noexcept nogil:
    cdef:
        intp_t q
        int64_t sum = total[0]
    if m.target == TWO_CLASSES:
        if winner == 1 and sum <= m.slack:
            raw[0] = <float64_t> least_lead(m, c, 0, -1) / m.unit
        elif winner == 0 and sum >= -m.slack:
            raw[0] = -<float64_t> least_lead(m, c, -1, 0) / m.unit
        return
    sum = total[winner]
    for q in range(m.n_outputs):
        if q != winner and sum - total[q] <= m.slack:
            sum = total[q] + least_lead(m, c, winner, q)
    raw[winner] = <float64_t> sum / m.unit
