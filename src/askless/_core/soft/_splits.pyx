"""Choose a split of a set of rows by what it tells and what it costs at once.

    EG2    takes the test of most gain for its price
    DTMC   takes the test that lowers the cost most at once
    SEG2   draws a test, with chances as EG2 values them

Missing numbers go with the heavier side of a cut. This module must not know what
becomes of the branches.
"""

from libc.math cimport INFINITY, exp2, fabs, isinf, log2, pow
from libc.stdlib cimport free, malloc

import numpy as np

from askless._core.base._keys cimport draw_share, mix_with
from askless._core.base._types cimport (
    float32_t, float64_t, int32_t, intp_t, uint8_t, uint64_t,
)
from askless._core.cost._payments cimport (
    charge_alike, charge_by_outcome, is_priced_by_outcome,
)
from askless._core.soft._rows cimport RowSet, RowSets, SoftRows, Split, price_leaf
from askless._core.cost._workspace cimport Workspace
from askless._core.price._prices cimport Path


cdef extern from "askless/_core/soft/cuts.h" nogil:
    enum:
        ASKLESS_CUT_BLOCK
    ctypedef struct CutCosts:
        Py_ssize_t n_classes
        const double* every
        const double* mistakes
        const double* by_class
        double leaf_cost
        double* scratch
    void sum_cuts(
        const double* cells, Py_ssize_t stride, const int32_t* codes, Py_ssize_t n_cuts,
        Py_ssize_t width, Py_ssize_t n_classes, double* running, double* left,
    )
    void price_cuts(
        const CutCosts* costs, const double* left, Py_ssize_t n, Py_ssize_t width,
        double* prices,
    )
    void guess_gains(
        const double* left, const double* every, double weight, Py_ssize_t n,
        Py_ssize_t width, Py_ssize_t n_classes, float* gains,
    )
    int askless_use_wide


# Criteria by name.
CRITERIA = {
    "eg2": <int> EG2,
    "dtmc": <int> DTMC,
    "seg2": <int> SEG2,
    "two-step": <int> TWO_STEP,
    "rollout": <int> ROLLOUT,
}

# Values closer than this, relatively, tie: rounding must not decide.
cdef float64_t TIE = 1e-9
# A gain that is guessed is off by less than this, in bits, for each class and four
# more: about ten times what was seen. Cuts of less gain than the best, by twice as much,
# are not looked at. That is so much more than what ties that a chain of cuts, each tied
# with the next, cannot lead from one of them to the best: they change no choice.
cdef float64_t GUESS_ERROR = 4e-6


cdef inline float64_t x_log2_x(float64_t x) noexcept nogil:
    return x * log2(x) if x > 0 else 0.0


cdef inline bint beats(float64_t value, float64_t best) noexcept nogil:
    """Return whether a value is larger than the best so far, and no tie."""
    # The first one to beat may be infinite, and ties with nothing.
    return value > best + (0.0 if isinf(best) else TIE * fabs(best))


cdef inline float64_t value_gain(float64_t gain, float64_t factor) noexcept nogil:
    """Return EG2's value of a gain, in bits, for a factor that grows with the price."""
    # A little more than nothing, so that a test without gain can be drawn.
    return (exp2(max(gain, 1e-12)) - 1.0) / factor


cdef inline Split no_split(float64_t value) noexcept nogil:
    return Split(-1, -1, False, value, 0.0)


cdef class SplitFinder:
    """A path of payments, sets of rows, and room to score the cuts of one number."""

    def __init__(self, RowSets sets not None, Path path not None, float64_t exponent):
        cdef:
            intp_t n_classes = sets.examples.n_classes
            intp_t block = ASKLESS_CUT_BLOCK
        self.sets = sets
        self.examples = sets.examples
        self.path = path
        self.exponent = exponent
        self.width = (sets.examples.n_codes + block) // block * block
        self.cut_code = <int32_t*> malloc(self.width * sizeof(int32_t))
        self.missing_right = <uint8_t*> malloc(self.width)
        self.left = <float64_t*> malloc(
            (n_classes + 1) * self.width * sizeof(float64_t)
        )
        self.costs = <float64_t*> malloc(self.width * sizeof(float64_t))
        self.guesses = <float32_t*> malloc(self.width * sizeof(float32_t))
        self.scratch = <float64_t*> malloc(4 * self.width * sizeof(float64_t))
        self.running = <float64_t*> malloc((n_classes + 1) * sizeof(float64_t))
        self.drawn = <Split*> malloc((sets.examples.n_tests + 1) * sizeof(Split))
        if not (
            self.cut_code and self.missing_right and self.left and self.costs
            and self.guesses and self.scratch and self.running and self.drawn
        ):
            raise MemoryError("no memory left to score splits")

    def __dealloc__(self):
        free(self.cut_code)
        free(self.missing_right)
        free(self.left)
        free(self.costs)
        free(self.guesses)
        free(self.scratch)
        free(self.running)
        free(self.drawn)

    # One test.

    cdef bint open_test(
        self, const RowSet* rows, intp_t test, float64_t at_least, float64_t leaf,
        float64_t* charge,
    ) noexcept nogil:
        cdef bint by_outcome = is_priced_by_outcome(self.path, test)
        if not by_outcome:
            charge[0] = charge_alike(self.path, test, rows.weight, self.due)
            if not charge[0] + at_least < leaf:
                return False
        self.sets.count(rows, test)
        if self.sets.n_met < 2:
            return False
        if by_outcome:
            charge[0] = charge_by_outcome(
                self.path, test, self.sets.met, self.sets.n_met,
                self.sets.cells + self.examples.n_classes, self.sets.stride,
            )
            return charge[0] + at_least < leaf
        return True

    cdef void list_cuts(self, const RowSet* rows, intp_t test) noexcept nogil:
        cdef:
            intp_t missing = self.examples.n_levels[test], j
            intp_t n_met = self.sets.n_met
            bint has_missing = self.sets.met[n_met - 1] == missing
        # A cut after every level but the last; and after that one, if numbers are
        # missing.
        self.n_cuts = n_met - 1
        sum_cuts(
            self.sets.cells, self.sets.stride, self.sets.met, self.n_cuts, self.width,
            self.examples.n_classes, self.running, self.left,
        )
        for j in range(self.n_cuts):
            self.cut_code[j] = self.sets.met[j]
        if has_missing:
            self.cut_code[self.n_cuts - 1] = <int32_t> (missing - 1)
        self.place_missing(rows, missing, has_missing)

    cdef void place_missing(
        self, const RowSet* rows, intp_t missing, bint has_missing
    ) noexcept nogil:
        """Find the heavier side of each cut, and add missing numbers to it."""
        cdef:
            intp_t n_classes = self.examples.n_classes, j, s
            const float64_t* absent = self.sets.cells + missing * self.sets.stride
            const float64_t* weights = self.left + n_classes * self.width
            float64_t known = rows.weight
        if has_missing:
            known -= absent[n_classes]
        for j in range(self.n_cuts):
            self.missing_right[j] = known - weights[j] > weights[j]
        if not has_missing:
            return
        self.missing_right[self.n_cuts - 1] = True
        for j in range(self.n_cuts):
            if not self.missing_right[j]:
                for s in range(n_classes + 1):
                    self.left[s * self.width + j] += absent[s]

    cdef void price_cuts(self, const RowSet* rows) noexcept nogil:
        cdef CutCosts costs
        costs.n_classes = self.examples.n_classes
        costs.every = self.sets.sums + rows.sums
        costs.mistakes = self.examples.leaf.mistakes
        costs.by_class = self.examples.leaf.by_class
        costs.leaf_cost = self.examples.leaf.constant
        costs.scratch = self.scratch
        price_cuts(&costs, self.left, self.n_cuts, self.width, self.costs)

    cdef float64_t gain_of_cut(
        self, const RowSet* rows, intp_t j, float64_t before
    ) noexcept nogil:
        cdef:
            intp_t n_classes = self.examples.n_classes, s
            const float64_t* every = self.sets.sums + rows.sums
            const float64_t* left = self.left + j
            float64_t weight = left[n_classes * self.width]
            float64_t here = x_log2_x(weight), there = x_log2_x(rows.weight - weight)
        for s in range(n_classes):
            here -= x_log2_x(left[s * self.width])
            there -= x_log2_x(every[s] - left[s * self.width])
        return before - here - there

    cdef float64_t gain_of_branches(self, float64_t before) noexcept nogil:
        cdef intp_t m
        for m in range(self.sets.n_met):
            before -= self.bits_of(
                self.sets.cells + self.sets.met[m] * self.sets.stride
            )
        return before

    cdef float64_t price_branches(self) noexcept nogil:
        cdef:
            float64_t cost = 0.0
            intp_t m
        for m in range(self.sets.n_met):
            cost += price_leaf(
                &self.examples.leaf,
                self.sets.cells + self.sets.met[m] * self.sets.stride,
            )
        return cost

    cdef float64_t bits_of(self, const float64_t* sums) noexcept nogil:
        cdef:
            float64_t bits = x_log2_x(sums[self.examples.n_classes])
            intp_t s
        for s in range(self.examples.n_classes):
            bits -= x_log2_x(sums[s])
        return bits

    # The best cut of a test, or its branches.

    cdef void find_cheapest(
        self, const RowSet* rows, float64_t slack, Split* split
    ) noexcept nogil:
        """Find the cut of least cost; the value is minus that, the charge included."""
        cdef intp_t j
        if not self.examples.is_ordered[split.test]:
            split.value = -self.price_branches() - split.charge
            return
        self.list_cuts(rows, split.test)
        self.price_cuts(rows)
        split.value = -INFINITY
        for j in range(self.n_cuts):
            if -self.costs[j] > split.value + slack:
                split.value = -self.costs[j]
                split.cut = self.cut_code[j]
                split.missing_right = self.missing_right[j]
        split.value -= split.charge

    cdef bint find_most_gain(
        self, const RowSet* rows, float64_t before, float64_t to_beat, Split* split
    ) noexcept nogil:
        """Find the cut of most gain; the value is EG2's.

        False if it is certain that none is worth more than `to_beat`.
        """
        cdef:
            float64_t weight = rows.weight, slack = TIE * weight
            float64_t gain = -INFINITY, most, here
            float64_t factor = pow(split.charge / weight + 1.0, self.exponent)
            float64_t margin = GUESS_ERROR * (self.examples.n_classes + 4)
            intp_t j
        if not self.examples.is_ordered[split.test]:
            split.value = value_gain(self.gain_of_branches(before) / weight, factor)
            return True
        self.list_cuts(rows, split.test)
        most = self.guess_most_gain(rows)
        if value_gain(before / weight + most + margin, factor) <= to_beat:
            return False
        for j in range(self.n_cuts):
            if self.guesses[j] < most - 2.0 * margin:
                continue
            here = self.gain_of_cut(rows, j, before)
            if here > gain + slack:
                gain = here
                split.cut = self.cut_code[j]
                split.missing_right = self.missing_right[j]
        split.value = value_gain(gain / weight, factor)
        return True

    cdef float64_t guess_most_gain(self, const RowSet* rows) noexcept nogil:
        """Guess the gain of each cut, up to a constant; return the largest."""
        cdef:
            float64_t most = -INFINITY
            intp_t j
        guess_gains(
            self.left, self.sets.sums + rows.sums, rows.weight, self.n_cuts, self.width,
            self.examples.n_classes, self.guesses,
        )
        for j in range(self.n_cuts):
            most = max(most, <float64_t> self.guesses[j])
        return most

    # All tests.

    cdef Split pick(
        self, const RowSet* rows, int criterion, uint64_t key, float64_t leaf
    ) noexcept nogil:
        if criterion == DTMC:
            return self.pick_cheapest(rows, leaf)
        if criterion == EG2:
            return self.pick_by_gain(rows, leaf)
        return self.draw_by_gain(rows, key, leaf)

    cdef Split pick_cheapest(self, const RowSet* rows, float64_t leaf) noexcept nogil:
        cdef:
            # Two leaves at least, and no row costs less than its cheapest decision.
            float64_t at_least = rows.floor + self.examples.leaf.constant
            float64_t slack = TIE * leaf
            intp_t test
            # A split must be cheaper than the leaf.
            Split best = no_split(-leaf * (1.0 - TIE)), split
        for test in range(self.examples.n_tests):
            split = no_split(0.0)
            split.test = <int32_t> test
            if not self.open_test(rows, test, at_least, leaf, &split.charge):
                continue
            self.find_cheapest(rows, slack, &split)
            if beats(split.value, best.value):
                best = split
        return best

    cdef Split pick_by_gain(self, const RowSet* rows, float64_t leaf) noexcept nogil:
        cdef:
            # Two leaves. EG2 must not look at the floor: a test that cannot pay may
            # still be the one it takes.
            float64_t at_least = 2.0 * self.examples.leaf.constant
            float64_t before = self.bits_of(self.sets.sums + rows.sums)
            intp_t test
            Split best = no_split(-INFINITY), split
        for test in range(self.examples.n_tests):
            split = no_split(0.0)
            split.test = <int32_t> test
            if not self.open_test(rows, test, at_least, leaf, &split.charge):
                continue
            if not self.find_most_gain(rows, before, best.value, &split):
                continue
            if beats(split.value, best.value):
                best = split
        return best

    cdef Split draw_by_gain(
        self, const RowSet* rows, uint64_t key, float64_t leaf
    ) noexcept nogil:
        cdef:
            float64_t at_least = 2.0 * self.examples.leaf.constant
            float64_t before = self.bits_of(self.sets.sums + rows.sums)
            float64_t total = 0.0, left
            intp_t test, n = 0, i
            Split* split
        for test in range(self.examples.n_tests):
            split = self.drawn + n
            split[0] = no_split(0.0)
            split.test = <int32_t> test
            if not self.open_test(rows, test, at_least, leaf, &split.charge):
                continue
            self.find_most_gain(rows, before, -INFINITY, split)
            if split.value > 0:
                total += split.value
                n += 1
        if n == 0:
            return no_split(0.0)
        left = draw_share(mix_with(key, 0)) * total
        for i in range(n):
            left -= self.drawn[i].value
            if left < 0:
                return self.drawn[i]
        return self.drawn[n - 1]


def use_wide_registers(bint use):
    """Use or leave what only some processors have: changes time, never the answer."""
    global askless_use_wide
    askless_use_wide = use


def score_cuts(Workspace workspace not None, float64_t leaf_cost, intp_t test):
    """Return what each cut of a number over all rows is worth.

    Returns
    -------
    list of tuple
        The code, whether missing numbers go right, what its leaves cost, its gain in
        bits a unit of weight, and the guess of that gain.
    """
    cdef:
        RowSets sets = RowSets(SoftRows(workspace, leaf_cost, True))
        SplitFinder finder = SplitFinder(sets, Path(workspace.prices), 1.0)
        RowSet every = sets.push(np.arange(workspace.n_rows, dtype=np.int32))
        float64_t charge, before = finder.bits_of(sets.sums + every.sums)
        intp_t j
    if not finder.open_test(&every, test, -INFINITY, INFINITY, &charge):
        return []
    finder.list_cuts(&every, test)
    finder.price_cuts(&every)
    finder.guess_most_gain(&every)
    return [
        (
            finder.cut_code[j],
            bool(finder.missing_right[j]),
            finder.costs[j],
            finder.gain_of_cut(&every, j, before) / every.weight,
            finder.guesses[j] + before / every.weight,
        )
        for j in range(finder.n_cuts)
    ]
