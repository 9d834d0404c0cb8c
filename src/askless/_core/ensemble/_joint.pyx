"""Bound sums of trees for each outcome of the tests that they await.

Trees that wait for the same test agree on what it will show, so that their sum is
bounded for each of its outcomes, and not tree by tree.

This module must not know what is bought next, nor move a tree: trees that were moved
are listed as stale, and bounded again when somebody asks.
"""

from libc.math cimport llrint

from askless._core.ensemble._case cimport BOUGHT, Case
from askless._core.ensemble._deep cimport measure_tree
from askless._core.ensemble._leaves cimport high_of, low_of
from askless._core.ensemble._small cimport top_of
from askless._core.ensemble._trees cimport IS_SET, Model, TWO_CLASSES, goes_left
from askless._core.base._types cimport float64_t, int32_t, int64_t, intp_t, uint64_t


# Joint bounds are looked at once the lead is this much of what the other bounds leave.
cdef float64_t NEAR = 0.35


cdef void add_runs(const Model* m, Case* c, intp_t tree, int64_t sign) noexcept nogil:
    """Add what a tree amounts to for each outcome of the test at its top."""
    cdef:
        intp_t w = m.width
        intp_t first = m.output[tree]
        intp_t start = m.run_start[tree]
        intp_t n_codes = m.code_start[m.n_tests]
        intp_t i, q, at
        int64_t low, high
    if c.n_runs[tree] == 0:
        for q in range(w):
            c.ended_low[first + q] += sign * c.tree_low[tree * w + q]
            c.ended_high[first + q] += sign * c.tree_high[tree * w + q]
        return
    for q in range(w):
        at = (first + q) * n_codes + m.code_start[c.run_test[tree]]
        low = high = 0
        for i in range(start, start + c.n_runs[tree]):
            c.sum_low[at] += sign * (c.run_low[i * w + q] - low)
            c.sum_high[at] += sign * (c.run_high[i * w + q] - high)
            low = c.run_low[i * w + q]
            high = c.run_high[i * w + q]
            at = (
                (first + q) * n_codes + m.code_start[c.run_test[tree]] + c.run_end[i]
            )


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
        # Places in the scratch of the tree.
        node = c.live[i] - start
        left = c.left_of[node]
        right = c.right_of[node]
        if m.nodes[start + node].test == test:
            if goes_left(m, m.nodes + start + node, code):
                right = left
            else:
                left = right
        if m.nodes[start + left].test < 0:
            left_low, left_high = c.node_low + left * w, c.node_high + left * w
        else:
            left_low, left_high = c.node_run_low + left * w, c.node_run_high + left * w
        if m.nodes[start + right].test < 0:
            right_low, right_high = c.node_low + right * w, c.node_high + right * w
        else:
            right_low = c.node_run_low + right * w
            right_high = c.node_run_high + right * w
        for q in range(w):
            c.node_run_low[node * w + q] = min(left_low[q], right_low[q])
            c.node_run_high[node * w + q] = max(left_high[q], right_high[q])
    node = c.top[tree] - start
    for q in range(w):
        c.run_low[run * w + q] = c.node_run_low[node * w + q]
        c.run_high[run * w + q] = c.node_run_high[node * w + q]


cdef void refresh_runs(const Model* m, Case* c) noexcept nogil:
    """Bound again the trees that have moved on. No tree that has ended moves."""
    cdef intp_t i, tree
    for i in range(c.n_stale):
        tree = c.stale[i]
        c.is_stale[tree] = 0
        add_runs(m, c, tree, -1)
        # Again, since the scratch is another tree's by now; it comes to the same.
        measure_tree(m, c, tree)
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
        best = here = low[code] - (other[code] if against >= 0 else 0)
        if against < 0:
            for code in range(code + 1, m.code_start[test + 1]):
                here += low[code]
                best = here if here < best else best
        else:
            for code in range(code + 1, m.code_start[test + 1]):
                here += low[code] - other[code]
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
        best = here = high[code]
        for code in range(code + 1, m.code_start[test + 1]):
            here += high[code]
            best = here if here > best else best
        total += best
    return total


# Where trees have the leaves that are left, as words.


cdef int64_t least_lead(
    const Model* m, Case* c, intp_t of, intp_t against
) noexcept nogil:
    """Bound from below how far a sum is ahead of another one; -1 for one that is 0.

    The lowest and the highest of the leaves that an outcome leaves bound a tree, so that
    nothing has to be kept up between two looks: each adds up the trees of the sums that
    it compares, and no others.
    """
    cdef:
        intp_t tree, test, output
        int64_t total = 0
        uint64_t leaves
    if of >= 0:
        total += llrint(m.offset[of] * m.unit)
    if against >= 0:
        total -= llrint(m.offset[against] * m.unit)
    for tree in range(m.n_trees):
        output = m.output[tree]
        if output != of and output != against:
            continue
        leaves = c.leaves[tree]
        if leaves & (leaves - 1):
            add_open(m, c, tree, leaves, output == of)
        elif output == of:
            total += low_of(m, tree, leaves)
        else:
            total -= high_of(m, tree, leaves)
    for test in range(m.n_tests):
        if c.is_awaited[test]:
            c.is_awaited[test] = 0
            total += take_least(
                c.code_sum + m.code_start[test],
                m.code_start[test + 1] - m.code_start[test],
            )
    return total


cdef inline void add_open(
    const Model* m, Case* c, intp_t tree, uint64_t leaves, bint is_for
) noexcept nogil:
    """Add what a tree amounts to for each outcome of the test that it awaits."""
    cdef:
        intp_t node = top_of(m, c, tree)
        intp_t test = m.nodes[node].test
        intp_t user = m.node_user[node]
        int64_t* at = c.code_sum + m.code_start[test]
        intp_t place = 0
        intp_t run
        int64_t bound
        int64_t before = 0
    c.is_awaited[test] = 1
    for run in range(m.user_run[user], m.user_run[user + 1]):
        if is_for:
            bound = low_of(m, tree, leaves & m.run_word[run])
        else:
            bound = -high_of(m, tree, leaves & m.run_word[run])
        at[place] += bound - before
        before = bound
        place = m.word_end[run]


cdef inline int64_t take_least(int64_t* sums, intp_t n) noexcept nogil:
    """Return the least sum of all codes, and leave zeros behind."""
    cdef:
        int64_t here = sums[0]
        int64_t best = here
        intp_t code
    sums[0] = 0
    for code in range(1, n):
        here += sums[code]
        sums[code] = 0
        best = here if here < best else best
    return best


# All of them.


cdef bint is_near(const Model* m, const Case* c, intp_t first) noexcept nogil:
    """Return whether joint bounds are worth a look.

    The lead must be a good part of what bounds tree by tree leave open.
    """
    cdef intp_t q
    cdef float64_t lead, open_part
    if m.target == TWO_CLASSES:
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


cdef inline bint has_words(const Model* m, const Case* c) noexcept nogil:
    """Return whether the leaves of all trees are kept up."""
    return m.by_leaves or c.memo != NULL or c.tables != NULL


cdef bint leads(
    const Model* m, Case* c, intp_t of, intp_t against
) noexcept nogil:
    """Return whether a sum stays ahead of another one, -1 for one that is 0."""
    cdef int64_t least
    if lead_apart(c, of, against) > m.slack:
        # Joint bounds are at least as close.
        return True
    if has_words(m, c):
        least = least_lead(m, c, of, against)
        c.leader, c.rival = of, against
        c.gain = least - lead_apart(c, of, against)
        return least > m.slack
    if of < 0:
        return largest_sum(m, c, against) < -m.slack
    return least_sum(m, c, of, against) > m.slack


cdef bint leads_all(const Model* m, Case* c, intp_t first) noexcept nogil:
    """Return whether no outcome of what is open can change who leads."""
    cdef intp_t q
    cdef intp_t second = -1
    if not has_words(m, c):
        refresh_runs(m, c)
    if m.target == TWO_CLASSES:
        return leads(m, c, 0, -1) if first else leads(m, c, -1, 0)
    # The one that follows is the likeliest to overtake: most answers end here.
    for q in range(m.n_outputs):
        if q != first and (second < 0 or c.total[q] > c.total[second]):
            second = q
    if second >= 0 and not leads(m, c, first, second):
        return False
    for q in range(m.n_outputs):
        if q != first and q != second and not leads(m, c, first, q):
            return False
    return True


cdef bint holds_jointly(const Model* m, Case* c, intp_t first) noexcept nogil:
    return is_near(m, c, first) and leads_all(m, c, first)
