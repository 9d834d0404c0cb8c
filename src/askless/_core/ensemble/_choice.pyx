"""Say what is known of the sums, which test to buy next, and what it charges.

This module must not move a tree: it reads sums, bounds and what waits for each test.
"""

from libc.math cimport INFINITY, fabs, sqrt

from askless._core.ensemble._case cimport CLOSED, Case
from askless._core.ensemble._joint cimport holds_jointly
from askless._core.ensemble.settle._lead cimport bound_leaves, find_winner
from askless._core.ensemble._trees cimport (
    CLASSES, DEEP, FULL_SHARE, Model, TWO_CLASSES, VOTE,
)
from askless._core.price._prices cimport Prices
from askless._core.base._types cimport float32_t, float64_t, int64_t, intp_t


# Classes that are neither first nor second count so much in the choice of a test. With
# none of it, nothing would be left to buy while a third class is still possible.
cdef float64_t OTHER_CLASSES = 0.3
# Scores closer than this, relatively, are equal.
cdef float64_t TIE = 1.0 + 1e-12


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


cdef void look(const Model* m, Case* c, int varies, View* view) noexcept nogil:
    if m.by_leaves:
        rank_means(m, c, view)
        bound_leaves(m, c)
        view.winner = find_winner(m, c)
        view.is_settled = view.winner >= 0
    else:
        look_apart(m, c, view)
    if m.is_joint and not view.is_settled:
        view.is_settled = holds_jointly(m, c, view.first)
    if varies != NOT_ASKED:
        view.z = find_z(m, c, varies, view)


cdef void look_apart(const Model* m, const Case* c, View* view) noexcept nogil:
    if m.mode == VOTE:
        # Shares are rounded, votes are not: these alone say what is settled.
        rank(m, c.low, view)
        view.is_settled = holds(m, c, view.first)
        if c.has_means and not view.is_settled:
            rank(m, c.total, view)
        return
    rank_means(m, c, view)
    if m.target == CLASSES:
        view.is_settled = holds(m, c, view.first)
    elif m.target == TWO_CLASSES:
        view.is_settled = c.low[0] > m.slack or c.high[0] < -m.slack
    else:
        view.is_settled = c.high[0] - c.low[0] <= m.tolerance


cdef void rank_means(const Model* m, const Case* c, View* view) noexcept nogil:
    if m.target == CLASSES:
        rank(m, c.total, view)
    else:
        view.first = c.total[0] > 0
        view.second = 0


cdef inline void rank(const Model* m, const int64_t* sums, View* view) noexcept nogil:
    """Write down the largest two of some sums; of equal ones the first."""
    cdef:
        intp_t q
        intp_t first = 0
        intp_t second = -1
    for q in range(1, m.n_outputs):
        if sums[q] > sums[first]:
            first = q
    for q in range(m.n_outputs):
        if q != first and (second < 0 or sums[q] > sums[second]):
            second = q
    view.first = first
    view.second = second if second >= 0 else first


cdef float64_t find_z(
    const Model* m, const Case* c, int varies, const View* view
) noexcept nogil:
    cdef:
        float64_t lead, spread
        intp_t first = 0
        intp_t second = 0
    if m.target == CLASSES:
        lead = <float64_t> (c.total[view.first] - c.total[view.second]) / m.unit
        if m.n_kinds > 1:
            first, second = view.first, view.second
    elif m.target == TWO_CLASSES:
        lead = fabs(<float64_t> c.total[0]) / m.unit
    else:
        lead = 1.0
    if varies == TOGETHER:
        spread = <float64_t> add_needs(m, c, first, second) / m.score_unit
        return lead / spread if spread > 0 else INFINITY
    spread = <float64_t> (
        c.spread[first] + (c.spread[second] if second != first else 0)
    ) / m.spread_unit
    return lead / sqrt(spread) if spread > 0 else INFINITY


cdef inline int64_t add_needs(
    const Model* m, const Case* c, intp_t first, intp_t second
) noexcept nogil:
    """Return what waits for all tests, in one or two kinds of trees."""
    cdef:
        int64_t total = 0
        intp_t test
    for test in range(m.n_tests):
        total = total + c.need[first * m.n_tests + test]
        if second != first:
            total = total + c.need[second * m.n_tests + test]
    return total


cdef intp_t choose(
    const Model* m, Case* c, Prices prices, const float64_t* inverse,
    const View* view,
) noexcept nogil:
    """Return the test that most waits for, for its price; -1 if nothing does.

    ``inverse`` is what ``weigh_prices`` returns. Of tests that are as good as the best,
    rounding apart, the first.
    """
    cdef:
        intp_t test
        float64_t best = 0.0
        float64_t score
    add_scores(m, c, view)
    if prices.has_groups or prices.has_delays:
        for test in range(m.n_tests):
            if c.state[test] != CLOSED or c.score[test] <= 0.0:
                c.score[test] = 0.0
                continue
            score = prices.price(test, -1, c.paid, c.is_open)
            c.score[test] *= inverse_price(score) * inverse[test]
            best = c.score[test] if c.score[test] > best else best
    else:
        for test in range(m.n_tests):
            score = c.score[test]
            # What is free has an infinite score, if anything waits for it at all.
            score = (
                score * inverse[test]
                if c.state[test] == CLOSED and score > 0.0 else 0.0
            )
            c.score[test] = score
            best = score if score > best else best
    if best <= 0.0:
        return -1
    for test in range(m.n_tests):
        if c.score[test] * TIE >= best:
            return test
    return -1


cdef inline void add_scores(
    const Model* m, Case* c, const View* view
) noexcept nogil:
    """Write how much waits for each test, whatever it charges."""
    cdef:
        intp_t kind, test
        const int64_t* need = c.need
        float64_t share
    if m.n_kinds == 1:
        for test in range(m.n_tests):
            c.score[test] = <float64_t> need[test]
        return
    # Kind by kind, so that one is read after another; added in the same order.
    for test in range(m.n_tests):
        c.score[test] = 0.0
    for kind in range(m.n_kinds):
        share = 1.0 if kind == view.first or kind == view.second else OTHER_CLASSES
        for test in range(m.n_tests):
            c.score[test] += share * <float64_t> need[test]
        need = need + m.n_tests


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


cdef float64_t most_charged(
    const Model* m, const Case* c, Prices prices, intp_t test
) noexcept nogil:
    cdef:
        float64_t most = 0.0
        float64_t price
        intp_t other, code
    if prices.delayed[test] and not c.paid[test]:
        for other in range(m.n_tests):
            if not is_wanted(m, c, other) or c.paid[other]:
                continue
            if opens_earlier(m, c, prices, other):
                most = most + prices.discounted[other]
            else:
                most = most + prices.price(other, -1, c.paid, c.is_open)
        return most
    most = prices.price(test, -1, c.paid, c.is_open)
    if prices.has_outcome_prices:
        # Codes beyond the levels are those of missing and unknown values.
        for code in range(m.n_levels[test]):
            price = prices.price(test, code, c.paid, c.is_open)
            most = price if price > most else most
    return most


cdef bint opens_earlier(
    const Model* m, const Case* c, Prices prices, intp_t test
) noexcept nogil:
    """Return whether an order pays for another test of the same group before it."""
    cdef intp_t other
    if prices.group[test] < 0:
        return False
    for other in range(test):
        if prices.group[other] == prices.group[test] and is_wanted(m, c, other):
            return True
    return False


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


cdef void finish(const Model* m, const Case* c, float64_t* raw) noexcept nogil:
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
        raw[q] = m.offset[q]
    for tree in range(m.n_trees):
        node = c.top[tree]
        first = m.output[tree]
        for q in range(m.width):
            if m.is_single:
                small = <float32_t> raw[first + q]
                small = small + <float32_t> m.value[node * m.width + q]
                raw[first + q] = small
            else:
                raw[first + q] += m.value[node * m.width + q]
