"""Find the best split by one test: at a cut of a number, or by outcome.

For an ordered test and a criterion whose best cut is at the crossing, no histogram is
built. Along the levels of a test the impurity on the left never falls and that on the
right never rises, so the smallest of the larger of the two lies beside their crossing,
which bisection finds in at most eight counting passes over a column of bytes. The plain
scan of every cut stays as a switch and as its check.

This module must not know which tests there are, nor what is done with a split.
"""

from libc.math cimport INFINITY

from askless._core.code._codes cimport count_cuts_below
from askless._core.greedy._counting cimport (
    count_at_most, find_range, largest_at_most,
)
from askless._core.greedy._criteria cimport Score, is_better
from askless._core.greedy._node cimport (
    SplitNode, empty_slots, fill_histogram, measure,
)
from askless._core.base._keys cimport draw_share, mix_with
from askless._core.base._types cimport (
    code_t, float64_t, int32_t, intp_t, uint64_t,
)


cdef bint score_test(
    SplitNode node, const Trial* trial, const code_t* column, Split* split
) noexcept nogil:
    cdef:
        intp_t test = trial.test
        intp_t unknown_code = node.n_levels[test] + 1
        intp_t low, high
    split.test = test
    split.cut = -1
    split.score.ratio = INFINITY
    split.score.reduction = 0.0
    find_range(column, node.rows.n_rows, &low, &high)
    if low == high:
        return False
    if not node.is_ordered[test]:
        score_outcomes(node, column, split)
        return True
    if high == unknown_code:
        weigh_unknown(node, column, unknown_code)
        high = largest_at_most(column, node.rows.n_rows, unknown_code - 1)
        if low == high:
            return True
    else:
        forget_unknown(node)
    if (
        trial.use_crossing
        and node.criterion.best_cut_at_crossing
        and not node.draws_cuts
    ):
        find_crossing(node, trial, column, low, high, split)
    else:
        scan_cuts(node, trial, column, low, high, split)
    return True


# Cuts of a number.


cdef void weigh_at_most(
    SplitNode node, const code_t* column, intp_t limit
) noexcept nogil:
    """Weigh, class by class, the rows whose code is at most the limit: node.left."""
    cdef:
        const float64_t* weights = node.row_weights
        intp_t k, i, start = 0, end
        float64_t total
    for k in range(node.rows.n_classes):
        end = start + node.rows.class_rows[k]
        if weights == NULL:
            node.left[k] = <float64_t> count_at_most(
                column + start, end - start, limit
            )
        else:
            total = 0.0
            for i in range(start, end):
                total += weights[i] * (column[i] <= <code_t> limit)
            node.left[k] = total
        start = end


cdef void weigh_unknown(
    SplitNode node, const code_t* column, intp_t unknown_code
) noexcept nogil:
    """Weigh the rows of unknown code, which stand on both sides of every cut."""
    cdef intp_t k
    weigh_at_most(node, column, unknown_code - 1)
    for k in range(node.rows.n_classes):
        node.unknown[k] = node.totals[k] - node.left[k]


cdef void forget_unknown(SplitNode node) noexcept nogil:
    cdef intp_t k
    for k in range(node.rows.n_classes):
        node.unknown[k] = 0.0


cdef void find_crossing(
    SplitNode node, const Trial* trial, const code_t* column, intp_t low, intp_t high,
    Split* split,
) noexcept nogil:
    """Find the best cut of an ordered test by bisection on the crossing.

    `low` and `high` are the least and the largest known code.
    """
    cdef:
        intp_t below = low - 1, above = high, cut, k
        float64_t whole = node.whole
        # Impurities of the two sides when the cut is at `below` and at `above`.
        float64_t below_left, below_right = whole
        float64_t above_left = whole, above_right
        float64_t left, right

    # Rows of unknown code are on both sides, however the cut is.
    below_left = above_right = measure(node, &node.unknown[0])
    while above - below > 1:
        # Invariant: left <= right at `below`, left > right at `above`.
        if (
            trial.use_bounds
            and trial.best_ratio < INFINITY
            and node.criterion.least_ratio(
                whole - max(below_left, above_right), trial.price
            ) > trial.best_ratio
        ):
            return
        cut = (below + above) >> 1
        weigh_at_most(node, column, cut)
        for k in range(node.rows.n_classes):
            node.right[k] = node.totals[k] - node.left[k]
            node.left[k] += node.unknown[k]
        left = measure(node, &node.left[0])
        right = measure(node, &node.right[0])
        if left <= right:
            below, below_left, below_right = cut, left, right
        else:
            above, above_left, above_right = cut, left, right

    # Criteria with their best cut at the crossing do not look at weights.
    node.part_weights[0] = node.part_weights[1] = 0.0
    if below_right <= above_left:
        split.cut = below
        split.score = score_cut(node, trial.price, below_left, below_right)
    else:
        split.cut = above
        split.score = score_cut(node, trial.price, above_left, above_right)


cdef inline Score score_cut(
    SplitNode node, float64_t price, float64_t left, float64_t right
) noexcept nogil:
    """Score two sides by their impurities; their weights are in node.part_weights."""
    node.part_impurities[0] = left
    node.part_impurities[1] = right
    node.part_prices[0] = node.part_prices[1] = price
    node.parts.n = 2
    return node.criterion.combine(node.whole, &node.parts)


cdef void scan_cuts(
    SplitNode node, const Trial* trial, const code_t* column, intp_t low, intp_t high,
    Split* split,
) noexcept nogil:
    """Find the best cut of an ordered test by trying each; ties: smallest cut.

    Or only some, drawn at random between the least and the largest value.
    """
    cdef:
        intp_t n_classes = node.rows.n_classes
        intp_t cut, k
        int32_t slot
        float64_t left, right
        Score score

    fill_histogram(node, column, node.row_weights)
    if node.draws_cuts:
        draw_cuts(node, trial.test, low, high)
    for k in range(n_classes):
        node.left[k] = node.unknown[k]
        node.right[k] = node.totals[k]
    for cut in range(low, high):
        slot = node.slot_of_code[cut]
        if slot < 0:
            continue
        for k in range(n_classes):
            node.left[k] += node.histogram[slot * n_classes + k]
            node.right[k] -= node.histogram[slot * n_classes + k]
        if node.draws_cuts and not node.is_wanted[cut]:
            continue
        left = right = 0.0
        for k in range(n_classes):
            left += node.left[k]
            right += node.right[k]
        node.part_weights[0] = left
        node.part_weights[1] = right
        score = score_cut(
            node, trial.price, measure(node, &node.left[0]),
            measure(node, &node.right[0]),
        )
        if is_better(score, trial.test, split.score, trial.test):
            split.score = score
            split.cut = cut
    empty_slots(node)


cpdef intp_t count_draws(float64_t weight) noexcept nogil:
    """Return how many thresholds are drawn in a node of so much weight."""
    if weight > 2000:
        return 80
    return 40 if weight > 500 else 20


cdef void draw_cuts(
    SplitNode node, intp_t test, intp_t low, intp_t high
) noexcept nogil:
    """Mark the cuts to try: 80, 40 or 20 thresholds drawn evenly between two values.

    Of codes only their cuts are known, so the threshold is drawn between the first and
    the last cut that split the node, and moved to the nearest one. A cut on an empty
    level is moved down to a level that occurs. Where values are missing, numbers
    against missing ones are always tried.
    """
    cdef:
        intp_t n_cuts = node.n_levels[test] - 1
        intp_t last = min(high, n_cuts) - 1, cut, i, k
        const float64_t* values = &node.cut_values[0] + node.cut_value_start[test]
        float64_t weight = 0.0, value, start, width
        uint64_t key = mix_with(node.key, <uint64_t> test)
    for cut in range(low, high):
        node.is_wanted[cut] = last <= low
    if high > n_cuts:
        want_cut(node, n_cuts)
    if last <= low:
        return
    for k in range(node.rows.n_classes):
        weight += node.totals[k]
    start = values[low]
    width = values[last] - start
    for i in range(count_draws(weight)):
        value = start + width * draw_share(mix_with(key, <uint64_t> i))
        cut = low + count_cuts_below(values + low, last - low + 1, value)
        cut = min(cut, last)
        if cut > low and value - values[cut - 1] < values[cut] - value:
            cut -= 1
        want_cut(node, cut)


cdef void want_cut(SplitNode node, intp_t cut) noexcept nogil:
    while node.slot_of_code[cut] < 0:
        cut -= 1
    node.is_wanted[cut] = True


# A child for every outcome.


cdef void score_outcomes(
    SplitNode node, const code_t* column, Split* split
) noexcept nogil:
    """Score a test that gives every outcome a child of its own."""
    cdef:
        intp_t test = split.test
        intp_t n_classes = node.rows.n_classes
        intp_t n_levels = node.n_levels[test]
        intp_t i, k, code
        int32_t unknown_slot
        bint has_unknown
        const float64_t* chances = NULL

    fill_histogram(node, column, node.row_weights)
    unknown_slot = node.slot_of_code[n_levels + 1]
    has_unknown = unknown_slot >= 0
    if has_unknown:
        chances = &node.chances[0] + node.chance_start[test]
        for k in range(n_classes):
            node.unknown[k] = node.histogram[unknown_slot * n_classes + k]
    node.parts.n = 0
    for i in range(node.n_met):
        code = node.codes_met[i]
        if code == n_levels + 1:
            continue
        for k in range(n_classes):
            node.left[k] = node.histogram[i * n_classes + k]
        if has_unknown and code < n_levels and chances[code] > 0:
            for k in range(n_classes):
                node.left[k] += node.unknown[k]
        add_part(node, test, code)
    if has_unknown:
        # Outcomes that only the rows of unknown outcome can show.
        for code in range(n_levels):
            if node.slot_of_code[code] < 0 and chances[code] > 0:
                for k in range(n_classes):
                    node.left[k] = node.unknown[k]
                add_part(node, test, code)
    if node.parts.n >= 2:
        split.score = node.criterion.combine(node.whole, &node.parts)
    empty_slots(node)


cdef void add_part(SplitNode node, intp_t test, intp_t code) noexcept nogil:
    """Add one part to the split at hand; its class weights are in node.left."""
    cdef:
        intp_t k, n = node.parts.n
        float64_t weight = 0.0
    for k in range(node.rows.n_classes):
        weight += node.left[k]
    node.part_impurities[n] = measure(node, &node.left[0])
    node.part_weights[n] = weight
    node.part_prices[n] = node.prices.price(test, code, node.paid, node.is_open)
    node.parts.n += 1
