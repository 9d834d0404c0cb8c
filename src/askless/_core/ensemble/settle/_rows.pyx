"""Run rows in the order of path states, and find where each is settled by its leaves.

What is bought next does not depend on bounds, and a row that is settled stays so. So a
row runs on, and looks now and then whether it is settled; then it goes back to the first
step at which it was.

This module must not know how sums are bounded, nor how a test is chosen.
"""

from libc.math cimport INFINITY
from libc.string cimport memcpy

from askless._core.ensemble._case cimport BOUGHT, Case, Log, wait
from askless._core.ensemble._choice cimport (
    View, choose, find_z, finish, most_charged, pay, rank_means,
)
from askless._core.ensemble._joint cimport leads_all
from askless._core.ensemble._leaves cimport all_leaves
from askless._core.ensemble._rows cimport Results, Rows, Terms, code_of, note_step
from askless._core.ensemble._trees cimport Model, Place, goes_left
from askless._core.ensemble.settle._lead cimport (
    bound_leaves, drop_leaves, find_winner, guess_winner, lift,
)
from askless._core.price._prices cimport Prices
from askless._core.base._types cimport float32_t, float64_t, int32_t, intp_t


cdef enum:
    # Steps between two looks, and from the first one to where rows are settled mostly.
    GAP = 4
    AHEAD = 3


cdef struct Search:
    # What is known of the step at which a row is settled.
    intp_t here      # the step of the trees,
    intp_t at        # and that of their leaves
    intp_t tried     # who was not ahead,
    intp_t before    # at this step, whose leaves are kept; -1 if nobody was tried
    intp_t winner    # who is ahead; -1 if nobody is


cdef void run_by_leaves(
    const Model* m, Case* c, Prices prices, const float64_t* inverse, const Rows* rows,
    intp_t row, const Terms* terms, const Results* results,
) noexcept nogil:
    cdef:
        intp_t step = 0
        intp_t test
        intp_t next_look = <intp_t> (c.usual - AHEAD)
        bint has_z = terms.threshold < INFINITY or results.steps != NULL
        float64_t spent = 0.0
        View view
        Search found = Search(0, 0, -1, -1, -1)
    while True:
        note(m, c, step, spent)
        rank_means(m, c, &view)
        if has_z:
            view.z = find_z(m, c, terms.varies, &view)
        if results.steps != NULL:
            note_step(m, c, &view, spent, results, row, step)
        if c.n_waiting == 0 or (
            terms.threshold < INFINITY and view.z >= terms.threshold
        ):
            break
        if step >= next_look and not terms.is_complete:
            next_look = step + GAP
            if look_now(m, c, step, &found):
                break
        test = choose(m, c, prices, inverse, &view)
        if test < 0 or (
            terms.most < INFINITY
            and spent + most_charged(m, c, prices, test) > terms.most
        ):
            break
        c.log.test[step] = <int32_t> test
        c.log.code[step] = <int32_t> code_of(m, rows, row, test)
        spent = spent + pay(m, c, prices, test, c.log.code[step])
        move_on(m, c, test, c.log.code[step], has_z)
        step = step + 1
    found.here = step
    settle(m, c, terms, &found)
    write_result(m, c, &found, results, row)
    if results.steps != NULL:
        mend_steps(m, c, &found, step, results, row)


# Going on.


cdef inline void note(
    const Model* m, Case* c, intp_t step, float64_t spent
) noexcept nogil:
    """Write down where a row stands."""
    c.log.spent[step] = spent
    c.log.n_waiting[step] = <int32_t> c.n_waiting
    c.log.n_moves[step] = <int32_t> c.n_moves
    memcpy(c.log.total + step * m.n_outputs, c.total, m.n_outputs * 8)


cdef inline void move_on(
    const Model* m, Case* c, intp_t test, intp_t code, bint has_spread
) noexcept nogil:
    """Move the trees that waited for a test; bounds are not kept up."""
    cdef:
        intp_t tree = c.head[test]
        intp_t n = c.n_moves
        intp_t after, kind, old
        const Place* at
    c.state[test] = BOUGHT
    c.code[test] = <int32_t> code
    c.head[test] = -1
    for kind in range(m.n_kinds):
        c.need[kind * m.n_tests + test] = 0
    while tree >= 0:
        after = c.next[tree]
        old = c.top[tree]
        at = m.places + old
        c.total[m.output[tree]] -= at.mean
        while at.node.test >= 0 and c.state[at.node.test] == BOUGHT:
            if goes_left(m, &at.node, c.code[at.node.test]):
                at = at + 1
            else:
                at = m.places + at.node.right
        c.total[m.output[tree]] += at.mean
        c.top[tree] = <int32_t> (at - m.places)
        c.log.tree[n] = <int32_t> tree
        c.log.old[n] = <int32_t> old
        c.log.new[n] = c.top[tree]
        n = n + 1
        kind = 0 if m.n_kinds == 1 else m.output[tree]
        if has_spread:
            c.spread[kind] += m.spread[at - m.places] - m.spread[old]
        if at.node.test >= 0:
            c.need[kind * m.n_tests + at.node.test] += at.score
            wait(c, at.node.test, tree)
        else:
            c.n_waiting -= 1
        tree = after
    c.n_moves = n


# Going back.


cdef bint look_now(
    const Model* m, Case* c, intp_t step, Search* found
) noexcept nogil:
    """Return whether the class that is likeliest to be is ahead at a step."""
    cdef intp_t first
    catch_up(m, c, step, found)
    first = guess_winner(m, c)
    if leads_all(m, c, first):
        found.winner = first
        return True
    found.tried = first
    found.before = step
    memcpy(c.before, c.leaves, m.n_trees * 8)
    return False


cdef inline void catch_up(
    const Model* m, Case* c, intp_t step, Search* found
) noexcept nogil:
    """Let trees have the leaves of a later step, and bound them."""
    cdef intp_t i
    for i in range(found.at, step):
        drop_leaves(m, c.leaves, c.log.test[i], c.log.code[i])
    found.at = step
    bound_leaves(m, c)


cdef void settle(
    const Model* m, Case* c, const Terms* terms, Search* found
) noexcept nogil:
    """Go back to the first step that is settled, if the last one is."""
    cdef:
        intp_t low = -1
        intp_t high = found.here
        intp_t back = 2
        intp_t middle, tree
    if terms.is_complete and c.n_waiting == 0:
        return
    if found.winner < 0:
        catch_up(m, c, high, found)
        found.winner = find_winner(m, c)
    if found.winner < 0 or terms.is_complete:
        return
    if found.tried == found.winner and found.before >= 0:
        low = found.before
    else:
        for tree in range(m.n_trees):
            c.before[tree] = all_leaves(m, tree)
    while high - low > 1:
        # Invariant: the winner is not ahead at `low`, whose leaves are `before`, and is
        # ahead at `high`.
        middle = (low + high) // 2
        if low < 0 and high - back > middle:
            middle = high - back
            back = 2 * back
        stand_at(m, c, low, middle, found)
        bound_leaves(m, c)
        if leads_all(m, c, found.winner):
            high = middle
        else:
            low = middle
            memcpy(c.before, c.leaves, m.n_trees * 8)
    stand_at(m, c, low, high, found)
    c.usual += 0.1 * (<float64_t> high - c.usual)


cdef void stand_at(
    const Model* m, Case* c, intp_t low, intp_t step, Search* found
) noexcept nogil:
    """Let trees wait where they did at a step, with the leaves that they had."""
    cdef:
        const Log* log = &c.log
        intp_t i
    for i in range(log.n_moves[found.here] - 1, log.n_moves[step] - 1, -1):
        c.top[log.tree[i]] = log.old[i]
    for i in range(log.n_moves[found.here], log.n_moves[step]):
        c.top[log.tree[i]] = log.new[i]
    memcpy(c.leaves, c.before, m.n_trees * 8)
    for i in range(max(low, 0), step):
        drop_leaves(m, c.leaves, log.test[i], log.code[i])
    found.here = step


cdef void write_result(
    const Model* m, Case* c, const Search* found, const Results* results, intp_t row
) noexcept nogil:
    cdef:
        intp_t at = found.here
        float64_t* raw = results.raw + row * m.n_outputs
    c.n_waiting = c.log.n_waiting[at]
    memcpy(c.total, c.log.total + at * m.n_outputs, m.n_outputs * 8)
    finish(m, c, raw)
    results.cost[row] = c.log.spent[at]
    results.n_bought[row] = <int32_t> at
    if found.winner >= 0 and c.n_waiting > 0:
        lift(m, c, c.total, found.winner, raw)


cdef void mend_steps(
    const Model* m, const Case* c, const Search* found, intp_t last,
    const Results* results, intp_t row,
) noexcept nogil:
    """Forget the steps after the one that is settled, and write what it decides."""
    cdef:
        intp_t n_wide = m.n_tests + 1
        float64_t* steps = results.steps + row * 4 * n_wide
        intp_t step, i
    for step in range(found.here + 1, last + 1):
        for i in range(4):
            steps[i * n_wide + step] = 0.0
    if found.winner >= 0 and c.n_waiting > 0:
        steps[2 * n_wide + found.here] = <float64_t> found.winner
    if results.sums != NULL:
        write_sums(m, c, found, results, row)


cdef void write_sums(
    const Model* m, const Case* c, const Search* found, const Results* results,
    intp_t row,
) noexcept nogil:
    """Write the sums of every step up to the one that is settled."""
    cdef:
        intp_t n = m.n_outputs
        float32_t* sums = results.sums + row * (m.n_tests + 1) * n
        intp_t i
    for i in range((found.here + 1) * n):
        sums[i] = <float32_t> (<float64_t> c.log.total[i] / m.unit)
    if found.winner >= 0 and c.n_waiting > 0:
        # Those of the last one may have been lifted.
        for i in range(n):
            sums[found.here * n + i] = <float32_t> results.raw[row * n + i]
