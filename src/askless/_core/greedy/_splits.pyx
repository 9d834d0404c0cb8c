"""Find the best split of a node: every test, every cut, from class weights alone.

For an ordered test and a criterion whose best cut is at the crossing, no histogram is
built. Along the levels of a test the impurity on the left never falls and that on the
right never rises, so the smallest of the larger of the two lies beside their crossing,
which bisection finds in at most eight counting passes over a column of bytes. The plain
scan of every cut stays as a switch and as its check.

This module must not know what is done with the split that it finds.
"""

from libc.math cimport INFINITY
from libc.string cimport memmove, memset

import numpy as np

from askless._core.code._codes cimport count_cuts_below
from askless._core.greedy._columns cimport Rows
from askless._core.greedy._criteria cimport Criterion, Score, is_better
from askless._core.base._keys cimport draw_share, mix_with
from askless._core.price._prices cimport Prices
from askless._core.base._types cimport (
    code_t, float64_t, int32_t, int64_t, intp_t, uint8_t, uint16_t, uint64_t,
)


cdef extern from "askless/_core/greedy/counting.h" nogil:
    int64_t count_at_most_u8(const uint8_t* column, intp_t n, uint8_t limit) noexcept
    void min_max_u8(
        const uint8_t* column, intp_t n, uint8_t* low, uint8_t* high
    ) noexcept


cdef int64_t count_at_most(
    const code_t* column, intp_t n, intp_t limit
) noexcept nogil:
    cdef:
        intp_t i
        int64_t count = 0
    if code_t is uint8_t:
        return count_at_most_u8(column, n, <uint8_t> limit)
    else:
        for i in range(n):
            count += column[i] <= <code_t> limit
        return count


cdef void find_range(
    const code_t* column, intp_t n, intp_t* low, intp_t* high
) noexcept nogil:
    cdef:
        intp_t i
        uint8_t least8, most8
        code_t least, most
    if code_t is uint8_t:
        min_max_u8(column, n, &least8, &most8)
        low[0] = least8
        high[0] = most8
    else:
        least = column[0]
        most = column[0]
        for i in range(n):
            least = min(least, column[i])
            most = max(most, column[i])
        low[0] = least
        high[0] = most


cdef intp_t largest_at_most(
    const code_t* column, intp_t n, intp_t limit
) noexcept nogil:
    """Return the largest code that is at most the limit; -1 if there is none."""
    cdef intp_t i, largest = -1
    for i in range(n):
        if column[i] <= <code_t> limit and <intp_t> column[i] > largest:
            largest = column[i]
    return largest


cdef void weigh_at_most(
    const code_t* column, const float64_t* weights, const Rows* rows, intp_t limit,
    float64_t* class_weights,
) noexcept nogil:
    """Weigh, class by class, the rows whose code is at most the limit."""
    cdef:
        intp_t k, i, start = 0, end
        float64_t total
    for k in range(rows.n_classes):
        end = start + rows.class_rows[k]
        if weights == NULL:
            class_weights[k] = <float64_t> count_at_most(
                column + start, end - start, limit
            )
        else:
            total = 0.0
            for i in range(start, end):
                total += weights[i] * (column[i] <= <code_t> limit)
            class_weights[k] = total
        start = end


cdef void fill_histogram(
    SplitSearch search, const code_t* column, const float64_t* weights,
    const Rows* rows, intp_t* n_met
) noexcept nogil:
    """Weigh each (code, class) of a column; codes get slots in the order first met.

    Slots keep the work proportional to the rows of the node, however many levels the
    test has. The caller empties slot_of_code again through codes_met.
    """
    cdef:
        intp_t k, i, start = 0, end, n_classes = rows.n_classes
        int32_t slot
        float64_t* histogram = &search.histogram[0]
        int32_t* slot_of_code = &search.slot_of_code[0]
    n_met[0] = 0
    for k in range(n_classes):
        end = start + rows.class_rows[k]
        for i in range(start, end):
            slot = slot_of_code[column[i]]
            if slot < 0:
                slot = <int32_t> n_met[0]
                slot_of_code[column[i]] = slot
                search.codes_met[slot] = column[i]
                memset(
                    histogram + slot * n_classes, 0, n_classes * sizeof(float64_t)
                )
                n_met[0] += 1
            histogram[slot * n_classes + k] += 1.0 if weights == NULL else weights[i]
        start = end


cdef void empty_slots(SplitSearch search, intp_t n_met) noexcept nogil:
    cdef intp_t i
    for i in range(n_met):
        search.slot_of_code[search.codes_met[i]] = -1


cdef Split find_crossing(
    SplitSearch search, intp_t test, const code_t* column, const float64_t* weights,
    const Rows* rows, intp_t low, intp_t high, float64_t price, float64_t best_ratio,
) noexcept nogil:
    """Return the best cut of an ordered test by bisection on the crossing.

    `low` and `high` are the least and the largest known code. Rows of unknown code, if
    any, stand on both sides; their class weights are in search.unknown.
    """
    cdef:
        intp_t n_classes = rows.n_classes
        intp_t below = low - 1, above = high, cut, k
        float64_t whole = search.whole
        float64_t on_both = search.criterion.impurity(
            &search.unknown[0], rows.classes, n_classes
        )
        # Impurities of the two sides when the cut is at `below` and at `above`.
        float64_t below_left = on_both, below_right = whole
        float64_t above_left = whole, above_right = on_both
        float64_t left, right
        float64_t[2] parts
        float64_t[2] part_prices
        float64_t[2] part_weights
        Split split

    split.test = test
    while above - below > 1:
        # Invariant: left <= right at `below`, left > right at `above`.
        if search.use_bounds and best_ratio < INFINITY and search.criterion.least_ratio(
            whole - max(below_left, above_right), price
        ) > best_ratio:
            split.cut = -1
            split.score = Score(INFINITY, 0.0)
            return split
        cut = (below + above) >> 1
        weigh_at_most(column, weights, rows, cut, &search.left[0])
        for k in range(n_classes):
            search.right[k] = search.totals[k] - search.left[k]
            search.left[k] += search.unknown[k]
        left = search.criterion.impurity(&search.left[0], rows.classes, n_classes)
        right = search.criterion.impurity(&search.right[0], rows.classes, n_classes)
        if left <= right:
            below, below_left, below_right = cut, left, right
        else:
            above, above_left, above_right = cut, left, right

    if below_right <= above_left:
        split.cut, parts[0], parts[1] = below, below_left, below_right
    else:
        split.cut, parts[0], parts[1] = above, above_left, above_right
    part_prices[0] = part_prices[1] = price
    part_weights[0] = part_weights[1] = 0.0
    split.score = search.criterion.combine(
        whole, parts, part_weights, part_prices, 2
    )
    return split


cdef Split scan_cuts(
    SplitSearch search, intp_t test, const code_t* column, const float64_t* weights,
    const Rows* rows, intp_t low, intp_t high, float64_t price,
) noexcept nogil:
    """Return the best cut of an ordered test by trying each; ties: smallest cut.

    Or only some, drawn at random between the least and the largest value.
    """
    cdef:
        intp_t n_classes = rows.n_classes
        intp_t n_met, cut, k
        int32_t slot
        float64_t[2] parts
        float64_t[2] part_prices
        float64_t[2] part_weights
        Score score
        Split split

    split.test = test
    split.cut = -1
    split.score = Score(INFINITY, 0.0)
    part_prices[0] = part_prices[1] = price
    fill_histogram(search, column, weights, rows, &n_met)
    if search.draws_cuts:
        draw_cuts(search, test, low, high, rows.n_classes)
    for k in range(n_classes):
        search.left[k] = search.unknown[k]
        search.right[k] = search.totals[k]
    for cut in range(low, high):
        slot = search.slot_of_code[cut]
        if slot < 0:
            continue
        for k in range(n_classes):
            search.left[k] += search.histogram[slot * n_classes + k]
            search.right[k] -= search.histogram[slot * n_classes + k]
        if search.draws_cuts and not search.is_wanted[cut]:
            continue
        parts[0] = search.criterion.impurity(&search.left[0], rows.classes, n_classes)
        parts[1] = search.criterion.impurity(&search.right[0], rows.classes, n_classes)
        part_weights[0] = part_weights[1] = 0.0
        for k in range(n_classes):
            part_weights[0] += search.left[k]
            part_weights[1] += search.right[k]
        score = search.criterion.combine(
            search.whole, parts, part_weights, part_prices, 2
        )
        if is_better(score, test, split.score, test):
            split.score = score
            split.cut = cut
    empty_slots(search, n_met)
    return split


cpdef intp_t count_draws(float64_t weight) noexcept nogil:
    """Return how many thresholds are drawn in a node of so much weight."""
    if weight > 2000:
        return 80
    return 40 if weight > 500 else 20


cdef void draw_cuts(
    SplitSearch search, intp_t test, intp_t low, intp_t high, intp_t n_classes
) noexcept nogil:
    """Mark the cuts to try: 80, 40 or 20 thresholds drawn evenly between two values.

    Of codes only their cuts are known, so the threshold is drawn between the first and
    the last cut that part the node, and moved to the nearest one. A cut on an empty
    level is moved down to a level that occurs. Where values are missing, numbers
    against missing ones are always tried.
    """
    cdef:
        intp_t n_cuts = search.n_levels[test] - 1
        intp_t last = min(high, n_cuts) - 1, cut, i
        const float64_t* values = &search.cut_values[0] + search.cut_value_start[test]
        float64_t weight = 0.0, value, start, width
        uint64_t key = mix_with(search.key, <uint64_t> test)
        intp_t k
    for cut in range(low, high):
        search.is_wanted[cut] = last <= low
    if high > n_cuts:
        want_cut(search, n_cuts)
    if last <= low:
        return
    for k in range(n_classes):
        weight += search.totals[k]
    start = values[low]
    width = values[last] - start
    for i in range(count_draws(weight)):
        value = start + width * draw_share(mix_with(key, <uint64_t> i))
        cut = low + count_cuts_below(values + low, last - low + 1, value)
        cut = min(cut, last)
        if cut > low and value - values[cut - 1] < values[cut] - value:
            cut -= 1
        want_cut(search, cut)


cdef void want_cut(SplitSearch search, intp_t cut) noexcept nogil:
    while search.slot_of_code[cut] < 0:
        cut -= 1
    search.is_wanted[cut] = True


cdef Split score_outcomes(
    SplitSearch search, intp_t test, const code_t* column, const float64_t* weights,
    const Rows* rows, const uint8_t* paid, const uint8_t* is_open,
) noexcept nogil:
    """Score a test that gives every outcome a child of its own."""
    cdef:
        intp_t n_classes = rows.n_classes
        intp_t n_levels = search.n_levels[test]
        intp_t n_met, n_parts, i, k, code
        int32_t unknown_slot
        bint has_unknown
        const float64_t* chances = NULL
        Split split

    split.test = test
    split.cut = -1
    fill_histogram(search, column, weights, rows, &n_met)
    unknown_slot = search.slot_of_code[n_levels + 1]
    has_unknown = unknown_slot >= 0
    if has_unknown:
        chances = &search.chances[0] + search.chance_start[test]
        for k in range(n_classes):
            search.unknown[k] = search.histogram[unknown_slot * n_classes + k]
    n_parts = 0
    for i in range(n_met):
        code = search.codes_met[i]
        if code == n_levels + 1:
            continue
        for k in range(n_classes):
            search.left[k] = search.histogram[i * n_classes + k]
        if has_unknown and code < n_levels and chances[code] > 0:
            for k in range(n_classes):
                search.left[k] += search.unknown[k]
        add_part(search, rows, test, code, n_parts, paid, is_open)
        n_parts += 1
    if has_unknown:
        # Outcomes that only the rows of unknown outcome can show.
        for code in range(n_levels):
            if search.slot_of_code[code] < 0 and chances[code] > 0:
                for k in range(n_classes):
                    search.left[k] = search.unknown[k]
                add_part(search, rows, test, code, n_parts, paid, is_open)
                n_parts += 1
    split.score = search.criterion.combine(
        search.whole, &search.part_impurities[0], &search.part_weights[0],
        &search.part_prices[0], n_parts,
    )
    if n_parts < 2:
        split.score = Score(INFINITY, 0.0)
    empty_slots(search, n_met)
    return split


cdef void add_part(
    SplitSearch search, const Rows* rows, intp_t test, intp_t code, intp_t part,
    const uint8_t* paid, const uint8_t* is_open,
) noexcept nogil:
    """Describe one part of a split, whose class weights are in search.left."""
    cdef:
        intp_t k
        float64_t weight = 0.0
    for k in range(rows.n_classes):
        weight += search.left[k]
    search.part_impurities[part] = search.criterion.impurity(
        &search.left[0], rows.classes, rows.n_classes
    )
    search.part_weights[part] = weight
    search.part_prices[part] = search.prices.price(test, code, paid, is_open)


cdef Split score_test(
    SplitSearch search, intp_t test, const code_t* column, const Rows* rows,
    const uint8_t* paid, const uint8_t* is_open, float64_t best_ratio,
    bint* cannot_split,
) noexcept nogil:
    """Return the best split by one test, and whether it can split nothing below."""
    cdef:
        intp_t unknown_code = search.n_levels[test] + 1
        intp_t low, high, k
        const float64_t* weights = rows.block.weights
        float64_t price
        Split split

    split.test = test
    split.cut = -1
    split.score = Score(INFINITY, 0.0)
    if weights != NULL:
        weights += rows.start
    find_range(column, rows.n_rows, &low, &high)
    cannot_split[0] = low == high
    if low == high:
        return split
    if not search.is_ordered[test]:
        return score_outcomes(search, test, column, weights, rows, paid, is_open)

    if high == unknown_code:
        weigh_at_most(column, weights, rows, unknown_code - 1, &search.left[0])
        for k in range(rows.n_classes):
            search.unknown[k] = search.totals[k] - search.left[k]
        high = largest_at_most(column, rows.n_rows, unknown_code - 1)
        if low == high:
            return split
    else:
        for k in range(rows.n_classes):
            search.unknown[k] = 0.0
    price = search.prices.price(test, -1, paid, is_open)
    if (
        search.use_crossing
        and search.criterion.best_cut_at_crossing
        and not search.draws_cuts
    ):
        return find_crossing(
            search, test, column, weights, rows, low, high, price, best_ratio
        )
    return scan_cuts(search, test, column, weights, rows, low, high, price)


cdef class SplitSearch:
    """The best test of a node; holds the parameters and the scratch memory."""

    def __init__(
        self,
        Criterion criterion not None,
        Prices prices not None,
        const int32_t[::1] n_levels not None,
        const uint8_t[::1] is_ordered not None,
        const float64_t[::1] chances not None,
        const int64_t[::1] chance_start not None,
        *,
        intp_t n_rows,
        intp_t n_classes,
        bint is_wide,
        bint use_crossing=True,
        bint use_bounds=True,
    ):
        cdef intp_t n_codes = np.max(n_levels) + 2
        # A node has no more codes than rows, and no more classes than rows.
        cdef intp_t n_slots = min(n_codes, n_rows) + 1
        self.criterion = criterion
        self.prices = prices
        self.n_levels = n_levels
        self.is_ordered = is_ordered
        self.chances = chances
        self.chance_start = chance_start
        self.is_wide = is_wide
        self.use_crossing = use_crossing
        self.use_bounds = use_bounds
        self.room = INFINITY
        self.max_tests = prices.n_tests
        self.draws_cuts = False
        self.drawn = np.zeros(prices.n_tests + 1, dtype=np.uint64)
        self.is_wanted = np.zeros(n_codes + 1, dtype=np.uint8)
        self.bought = np.zeros(prices.n_tests + 1, dtype=np.uint8)
        self.totals = np.zeros(n_classes)
        self.left = np.zeros(n_classes)
        self.right = np.zeros(n_classes)
        self.unknown = np.zeros(n_classes)
        self.histogram = np.zeros(n_slots * n_classes)
        self.slot_of_code = np.full(n_codes, -1, dtype=np.int32)
        self.codes_met = np.zeros(n_codes, dtype=np.int32)
        self.part_impurities = np.zeros(n_codes)
        self.part_weights = np.zeros(n_codes)
        self.part_prices = np.zeros(n_codes)

    cdef float64_t weigh(self, Rows* rows) noexcept nogil:
        cdef:
            intp_t k, i, row = rows.start
            float64_t total
        for k in range(rows.n_classes):
            if rows.block.weights == NULL:
                self.totals[k] = <float64_t> rows.class_rows[k]
            else:
                total = 0.0
                for i in range(row, row + rows.class_rows[k]):
                    total += rows.block.weights[i]
                self.totals[k] = total
            row += rows.class_rows[k]
        self.whole = self.criterion.impurity(
            &self.totals[0], rows.classes, rows.n_classes
        )
        return self.whole

    cdef Split find_best(
        self, Rows* rows, int32_t* active, intp_t* n_active,
        const uint8_t* paid, const uint8_t* is_open,
    ) noexcept nogil:
        cdef:
            intp_t i = 0, n_tried = 0, test, offset
            Split best, split
            bint cannot_split
            float64_t price
        if self.max_tests < self.prices.n_tests:
            self.draw_order(active, n_active[0])
        best.test = self.prices.n_tests
        best.cut = -1
        best.score = Score(INFINITY, 0.0)
        while i < n_active[0] and n_tried < self.max_tests:
            test = active[i]
            if self.room < INFINITY and not self.is_affordable(rows, test, is_open):
                i += 1
                continue
            if (
                self.use_bounds
                and best.score.ratio < INFINITY
                and self.max_tests == self.prices.n_tests
            ):
                price = self.prices.price(test, -1, paid, is_open)
                if not self.prices.has_outcome_prices and self.criterion.least_ratio(
                    self.whole, price
                ) > best.score.ratio:
                    i += 1
                    continue
            offset = test * rows.block.stride + rows.start
            if self.is_wide:
                split = score_test[uint16_t](
                    self, test, (<const uint16_t*> rows.block.codes) + offset, rows,
                    paid, is_open, best.score.ratio, &cannot_split,
                )
            else:
                split = score_test[uint8_t](
                    self, test, (<const uint8_t*> rows.block.codes) + offset, rows,
                    paid, is_open, best.score.ratio, &cannot_split,
                )
            if cannot_split:
                # Constant here, so constant in every subset: out of the list for the
                # whole subtree. The parent's list keeps it, behind its own end.
                n_active[0] -= 1
                if self.max_tests < self.prices.n_tests:
                    # The rest stays in its random order.
                    memmove(
                        active + i, active + i + 1,
                        (n_active[0] - i) * sizeof(int32_t),
                    )
                else:
                    active[i] = active[n_active[0]]
                active[n_active[0]] = <int32_t> test
                continue
            if is_better(split.score, test, best.score, best.test):
                best = split
            i += 1
            n_tried += 1
        if best.score.ratio == INFINITY:
            best.test = -1
            return best
        if best.cut >= 0:
            # The stored cut is a code that occurs on the left, whichever empty levels
            # the search ended on.
            offset = best.test * rows.block.stride + rows.start
            if self.is_wide:
                best.cut = largest_at_most(
                    (<const uint16_t*> rows.block.codes) + offset, rows.n_rows, best.cut
                )
            else:
                best.cut = largest_at_most(
                    (<const uint8_t*> rows.block.codes) + offset, rows.n_rows, best.cut
                )
        return best

    cdef void draw_order(self, int32_t* active, intp_t n_active) noexcept nogil:
        """Sort the tests by random keys of this node, so that the first are a draw."""
        cdef:
            intp_t i, j
            int32_t test
            uint64_t drawn
        for i in range(n_active):
            test = active[i]
            drawn = mix_with(self.key, <uint64_t> test)
            j = i
            while j > 0 and self.drawn[j - 1] > drawn:
                self.drawn[j] = self.drawn[j - 1]
                active[j] = active[j - 1]
                j -= 1
            self.drawn[j] = drawn
            active[j] = test

    cdef bint is_affordable(
        self, Rows* rows, intp_t test, const uint8_t* is_open
    ) noexcept nogil:
        cdef:
            const uint8_t* bought = &self.bought[0]
            intp_t i, n
        if self.is_ordered[test] or not self.prices.has_outcome_prices:
            return self.prices.price(test, -1, bought, is_open) <= self.room
        n = self.list_outcomes(rows, test)
        for i in range(n):
            if self.prices.price(test, self.codes_met[i], bought, is_open) > self.room:
                return False
        return True

    cdef intp_t list_outcomes(self, Rows* rows, intp_t test) noexcept nogil:
        cdef:
            intp_t n_levels = self.n_levels[test]
            intp_t offset = test * rows.block.stride + rows.start
            intp_t code, n_met, n = 0
            bint has_unknown
        if self.is_wide:
            fill_histogram(
                self, (<const uint16_t*> rows.block.codes) + offset,
                <const float64_t*> NULL, rows, &n_met,
            )
        else:
            fill_histogram(
                self, (<const uint8_t*> rows.block.codes) + offset,
                <const float64_t*> NULL, rows, &n_met,
            )
        has_unknown = self.slot_of_code[n_levels + 1] >= 0
        # Ascending, without a sort: mark what counts, then read the marks in order.
        for code in range(n_levels):
            if self.slot_of_code[code] < 0 and has_unknown and (
                self.chances[self.chance_start[test] + code] > 0
            ):
                self.slot_of_code[code] = 0
        for code in range(n_levels + 2):
            if self.slot_of_code[code] >= 0:
                self.slot_of_code[code] = -1
                if code <= n_levels:
                    self.codes_met[n] = <int32_t> code
                    n += 1
        return n
