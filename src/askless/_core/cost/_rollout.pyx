"""Price the tests of a node by the trees that could be grown below them.

A row has a share of every class, not one class. The cost of a leaf is that of its
cheapest decision plus a constant, and a subtree is worth the least of a leaf and of
what its tests and leaves charge. A candidate split is priced by growing, pricing and
forgetting a few subtrees on each of its branches:

    EG2    takes the test of most gain for its price
    DTMC   takes the test that lowers the cost most at once
    SEG2   draws a test, with chances as EG2 values them

or, in two steps, by the cheapest split of each branch.

Delayed tests: a delayed test that is not paid for opens an order. Below it every test
is ordered in advance, so it is charged to all rows of the node where the order began,
once for all its branches.

This module must not know how a tree is kept, nor when to stop looking.
"""

from cython.parallel import prange, threadid
from libc.math cimport INFINITY, exp2, log2, pow
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memset

import numpy as np

from askless._core.price._prices cimport Prices
from askless._core.base._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint8_t, uint16_t, uint64_t,
)
from askless._core.base._keys cimport draw_share, mix_with


# Values closer than this, relatively, tie; work is given up only beyond the second.
cdef float64_t TIE = 1e-9
cdef float64_t HOPELESS = 1e-8

cpdef enum Rule:
    EG2 = 0
    DTMC = 1
    SEG2 = 2
    TWO_STEP = 3
    ROLLOUT = 4


# What a thread works with. Rows and class weights of the sets on the way down lie in
# two stacks; they may move when they grow, so sets are known by their offset.
cdef struct Space:
    int32_t* rows
    intp_t n_rows
    intp_t row_room
    float64_t* weights
    intp_t n_weights
    intp_t weight_room
    float64_t* cells       # (n_codes, n_classes) of one column at a time
    float64_t* totals      # (n_codes,)
    int32_t* branch_of     # (n_codes,)
    int32_t* present       # codes that occur
    float64_t* left        # (n_classes,)
    float64_t* right       # (n_classes,)
    float64_t* values      # (n_tests,) of SEG2
    int32_t* cuts          # (n_tests,) of SEG2
    uint8_t* paid
    uint8_t* is_open
    int32_t* log           # marks made, to be taken back: test, or n_tests + group
    intp_t n_marks
    float64_t order        # weight of the set that ordered; 0 if there is no order
    bint failed            # memory ran out
    const int32_t* stop    # not zero once another thread wants an end; or NULL


# A set of rows: `n` rows from `start`, class weights from `weights`. No tree can do
# better on them than their floor: a leaf, and of each row its own cheapest decision.
cdef struct Rows:
    intp_t start
    intp_t n
    intp_t weights
    float64_t weight
    float64_t floor


# What is kept of a branch behind all class weights: its size, weight and floor.
cdef enum:
    N_FACTS = 3


cdef struct Split:
    int32_t test           # -1: none
    int32_t cut            # -1: a branch for every code
    bint missing_right     # where missing numbers go
    float64_t value        # larger is better
    float64_t charge       # of the whole set


cdef class Rollouts:
    """The examples, prices and costs of a problem, ready to price splits.

    Parameters
    ----------
    codes : uint16 array of shape (n_tests, n_rows)
    n_levels : int32 array of shape (n_tests,)
    is_ordered : uint8 array of shape (n_tests,)
    entry_start : int64 array of shape (n_rows + 1,)
        Where the class weights of each row begin.
    entry_class : int32 array
    entry_weight : float64 array
    mistakes : float64 array of shape (n_classes, n_classes)
        ``mistakes[true][decision]``.
    leaf_cost : float
        What every leaf costs beside its mistakes.
    exponent : float
        How strongly EG2 shuns dear tests.
    prices : Prices
    n_jobs : int
        Threads; no result depends on it.
    use_floors : bool
        Whether to stop where no tree can pay, or be the best one; no result depends on
        it.
    """

    cdef const uint16_t[:, ::1] codes
    cdef const int32_t[::1] n_levels
    cdef const uint8_t[::1] is_ordered
    cdef const int64_t[::1] entry_start
    cdef const int32_t[::1] entry_class
    cdef const float64_t[::1] entry_weight
    cdef const float64_t[:, ::1] mistakes
    cdef float64_t[::1] row_weight
    cdef float64_t[::1] row_floor     # (n_rows,) cost of its cheapest decision
    cdef float64_t[::1] row_mistake   # (n_classes,) if a class's mistakes cost the same
    cdef bint is_even                 # True iff they do
    cdef bint use_floors
    cdef float64_t leaf_cost
    cdef float64_t exponent
    cdef Prices prices
    cdef intp_t n_tests
    cdef intp_t n_classes
    cdef intp_t n_codes
    cdef int n_jobs
    cdef Space* spaces

    def __init__(
        self,
        const uint16_t[:, ::1] codes not None,
        const int32_t[::1] n_levels not None,
        const uint8_t[::1] is_ordered not None,
        const int64_t[::1] entry_start not None,
        const int32_t[::1] entry_class not None,
        const float64_t[::1] entry_weight not None,
        const float64_t[:, ::1] mistakes not None,
        float64_t leaf_cost,
        float64_t exponent,
        Prices prices not None,
        int n_jobs=1,
        bint use_floors=True,
    ):
        self.codes = codes
        self.n_levels = n_levels
        self.is_ordered = is_ordered
        self.entry_start = entry_start
        self.entry_class = entry_class
        self.entry_weight = entry_weight
        self.mistakes = mistakes
        self.leaf_cost = leaf_cost
        self.exponent = exponent
        self.prices = prices
        self.n_tests = codes.shape[0]
        self.n_classes = mistakes.shape[0]
        self.n_codes = 2 + (max(n_levels) if self.n_tests else 0)
        self.n_jobs = max(1, n_jobs)
        self.row_weight = np.add.reduceat(
            entry_weight, entry_start[:entry_start.shape[0] - 1]
        )
        self.find_even_mistakes()
        self.use_floors = use_floors
        self.find_floors()
        self.spaces = <Space*> calloc(self.n_jobs, sizeof(Space))
        if self.spaces == NULL:
            raise MemoryError("no memory left to price splits")
        for job in range(self.n_jobs):
            self.allocate(&self.spaces[job])

    cdef void find_even_mistakes(self):
        cdef intp_t true, decision
        self.row_mistake = np.zeros(self.n_classes)
        self.is_even = True
        for true in range(self.n_classes):
            for decision in range(self.n_classes):
                if decision == true:
                    continue
                if decision == (true == 0):
                    self.row_mistake[true] = self.mistakes[true, decision]
                elif self.mistakes[true, decision] != self.row_mistake[true]:
                    self.is_even = False

    cdef void find_floors(self):
        cdef:
            float64_t[::1] weights = np.zeros(self.n_classes)
            intp_t row
        self.row_floor = np.zeros(self.codes.shape[1])
        if self.use_floors:
            for row in range(self.codes.shape[1]):
                weights[:] = 0.0
                self.count_row(&weights[0], row)
                self.row_floor[row] = self.leaf(&weights[0]) - self.leaf_cost

    cdef int allocate(self, Space* space) except -1:
        cdef intp_t k = self.n_classes
        space.row_room = 4 * self.codes.shape[1] + 64
        space.rows = <int32_t*> malloc(space.row_room * sizeof(int32_t))
        space.weight_room = 64 * (k + self.n_codes)
        space.weights = <float64_t*> malloc(space.weight_room * sizeof(float64_t))
        space.cells = <float64_t*> calloc(self.n_codes * k, sizeof(float64_t))
        space.totals = <float64_t*> calloc(self.n_codes, sizeof(float64_t))
        space.branch_of = <int32_t*> malloc(self.n_codes * sizeof(int32_t))
        space.present = <int32_t*> malloc(self.n_codes * sizeof(int32_t))
        space.left = <float64_t*> malloc(k * sizeof(float64_t))
        space.right = <float64_t*> malloc(k * sizeof(float64_t))
        space.values = <float64_t*> malloc((self.n_tests + 1) * sizeof(float64_t))
        space.cuts = <int32_t*> malloc((self.n_tests + 1) * sizeof(int32_t))
        space.paid = <uint8_t*> calloc(self.n_tests + 1, 1)
        space.is_open = <uint8_t*> calloc(self.prices.n_groups + 1, 1)
        space.log = <int32_t*> malloc(
            (self.n_tests + self.prices.n_groups + 1) * sizeof(int32_t)
        )
        if not (
            space.rows and space.weights and space.cells and space.totals
            and space.branch_of and space.present and space.left and space.right
            and space.values and space.cuts and space.paid and space.is_open
            and space.log
        ):
            raise MemoryError("no memory left to price splits")
        return 0

    def __dealloc__(self):
        if self.spaces == NULL:
            return
        for job in range(self.n_jobs):
            free(self.spaces[job].rows)
            free(self.spaces[job].weights)
            free(self.spaces[job].cells)
            free(self.spaces[job].totals)
            free(self.spaces[job].branch_of)
            free(self.spaces[job].present)
            free(self.spaces[job].left)
            free(self.spaces[job].right)
            free(self.spaces[job].values)
            free(self.spaces[job].cuts)
            free(self.spaces[job].paid)
            free(self.spaces[job].is_open)
            free(self.spaces[job].log)
        free(self.spaces)

    # What is asked from outside.

    def count_classes(self, const int32_t[::1] rows not None):
        """Return the weight of each class among some rows."""
        cdef:
            float64_t[::1] weights = np.zeros(self.n_classes)
            intp_t i
            int64_t entry
        for i in range(rows.shape[0]):
            for entry in range(
                self.entry_start[rows[i]], self.entry_start[rows[i] + 1]
            ):
                weights[self.entry_class[entry]] += self.entry_weight[entry]
        return np.asarray(weights)

    def price_leaf(self, const float64_t[::1] weights not None):
        """Return what a leaf with these class weights costs."""
        return self.leaf(&weights[0])

    @property
    def least_to_split(self):
        """A leaf must cost more than this before a split can pay."""
        return 2 * self.leaf_cost

    def part_rows(
        self,
        const int32_t[::1] rows not None,
        intp_t test,
        intp_t cut,
        bint missing_right,
    ):
        """Part rows by a split, each branch with its code, class weights and leaf.

        Returns
        -------
        codes, parts, weights, leaves : lists
            By branch; of a cut, 0 is the lower side and 1 the upper one.
        """
        cdef:
            const uint16_t* column = &self.codes[test, 0]
            Space* space = &self.spaces[0]
            int32_t* ends = space.branch_of    # (n_codes,)
            intp_t n = rows.shape[0], k = self.n_classes, i, code
            int32_t size, before = 0
            int32_t missing = self.n_levels[test]
            int32_t[::1] sorted_rows = np.empty(n, dtype=np.int32)
            float64_t[::1] weights
        memset(ends, 0, self.n_codes * sizeof(int32_t))
        for i in range(n):
            ends[branch_code(column[rows[i]], cut, missing, missing_right)] += 1
        codes = []
        for code in range(self.n_codes):
            size = ends[code]
            ends[code] = before
            before += size
            # Both sides of a cut, even if one of them is empty.
            if size > 0 or (cut >= 0 and code < 2):
                codes.append(code)
        for i in range(n):
            code = branch_code(column[rows[i]], cut, missing, missing_right)
            sorted_rows[ends[code]] = rows[i]
            ends[code] += 1
        whole = np.asarray(sorted_rows)
        parts, by_branch, leaves = [], [], []
        before = 0
        for code in codes:
            counted = np.zeros(k)
            weights = counted
            for i in range(before, ends[code]):
                self.count_row(&weights[0], sorted_rows[i])
            parts.append(whole[before:ends[code]])
            by_branch.append(counted)
            leaves.append(self.leaf(&weights[0]))
            before = ends[code]
        return codes, parts, by_branch, leaves

    def price(
        self,
        const int32_t[::1] rows not None,
        const uint8_t[::1] paid not None,
        const uint8_t[::1] is_open not None,
        float64_t order,
        int rule,
        uint64_t key=0,
    ):
        """Return the cost of the tree that a rule grows on some rows, pruned."""
        cdef:
            Space* space = &self.spaces[0]
            Rows every
            float64_t value
        self.enter(space, paid, is_open, order)
        every = self.push_rows(space, rows)
        with nogil:
            value = self.price_set(space, every, rule, key, INFINITY)
        self.check(space)
        return value

    def choose(
        self,
        const int32_t[::1] rows not None,
        const uint8_t[::1] paid not None,
        const uint8_t[::1] is_open not None,
        float64_t order,
        int rule,
        intp_t n_samples,
        intp_t n_cuts,
        uint64_t key,
        const int32_t[::1] stop not None,
    ):
        """Choose the split of a node.

        Parameters
        ----------
        rows : int32 array
            The rows of the node, ascending.
        paid, is_open : uint8 arrays of shape (n_tests + 1,) and (n_groups + 1,)
            What has been paid for on the way here.
        order : float
            The weight of the node that has ordered the tests here; 0 if there is none.
        rule : Rule
            EG2 and DTMC choose at once; TWO_STEP and ROLLOUT look ahead.
        n_samples : int
            How many random subtrees ROLLOUT grows beside those of EG2 and DTMC.
        n_cuts : int
            How many cuts of a number ROLLOUT tries.
        key : int
            The source of random numbers.
        stop : int32 array of shape (1,)
            Not zero, perhaps set by another thread: give up.

        Returns
        -------
        test, cut, missing_right, charge : int, int, bool, float
            A test of -1 stands for a leaf; -2 if it was stopped. A cut of -1 stands for
            a branch for every code. The charge is that of all rows.
        """
        cdef:
            Space* space = &self.spaces[0]
            Rows every
            Split split
            float64_t leaf
        for job in range(self.n_jobs):
            self.enter(&self.spaces[job], paid, is_open, order)
            every = self.push_rows(&self.spaces[job], rows)
        leaf = self.leaf(space.weights + every.weights)
        if rule in (EG2, DTMC, SEG2):
            with nogil:
                split = self.pick(space, every, rule, key, leaf)
            self.check(space)
            return split.test, split.cut, bool(split.missing_right), split.charge
        for job in range(self.n_jobs):
            self.spaces[job].stop = &stop[0]
        return self.look_ahead(every, rule, n_samples, n_cuts, key, leaf, &stop[0])

    cdef object look_ahead(
        self, Rows every, int rule, intp_t n_samples, intp_t n_cuts, uint64_t key,
        float64_t leaf, const int32_t* stop,
    ):
        cdef:
            Split* candidates = NULL
            float64_t* values = NULL
            int32_t* order = NULL
            intp_t n, i, c, best
            float64_t least = leaf
            bint is_stopped
            Split chosen
        n = self.list_candidates(
            &self.spaces[0], every, n_cuts if rule == ROLLOUT else 65536, leaf,
            &candidates,
        )
        if n < 0:
            raise MemoryError("no memory left to list splits")
        try:
            values = <float64_t*> malloc((n + 1) * sizeof(float64_t))
            order = <int32_t*> malloc((n + 1) * sizeof(int32_t))
            if values == NULL or order == NULL:
                raise MemoryError("no memory left to list splits")
            sort_by_value(candidates, n, order, values)
            with nogil:
                for i in prange(
                    n, schedule="dynamic", chunksize=1, num_threads=self.n_jobs
                ):
                    c = order[i]
                    if stop[0]:
                        values[c] = INFINITY
                    else:
                        # Another thread may lower the bound at any time: it can only
                        # save work on candidates that lose by more than a tie.
                        values[c] = self.price_candidate(
                            &self.spaces[threadid()], every, candidates[c], rule,
                            n_samples, key, least,
                        )
                        if values[c] < least:
                            (&least)[0] = values[c]
            is_stopped = stop[0]
            for job in range(self.n_jobs):
                self.check(&self.spaces[job])
            if is_stopped:
                return -2, -1, False, 0.0
            least = INFINITY
            for c in range(n):
                least = min(least, values[c])
            if not least < leaf * (1.0 - TIE):
                return -1, -1, False, 0.0
            best = 0
            while values[best] > least * (1.0 + TIE):
                best += 1
            chosen = candidates[best]
            return chosen.test, chosen.cut, bool(chosen.missing_right), chosen.charge
        finally:
            free(candidates)
            free(values)
            free(order)

    cdef int check(self, Space* space) except -1:
        if space.failed:
            space.failed = False
            raise MemoryError("no memory left to price splits")
        return 0

    cdef void enter(
        self, Space* space, const uint8_t[::1] paid, const uint8_t[::1] is_open,
        float64_t order,
    ):
        memcpy(space.paid, &paid[0], self.n_tests)
        memcpy(space.is_open, &is_open[0], self.prices.n_groups)
        space.n_marks = 0
        space.stop = NULL
        space.order = order
        space.n_rows = 0
        space.n_weights = 0

    cdef Rows push_rows(self, Space* space, const int32_t[::1] rows):
        cdef:
            Rows every
            intp_t n = rows.shape[0]
            intp_t i
        every.start = 0
        every.n = n
        every.weights = 0
        every.weight = 0.0
        every.floor = self.leaf_cost
        memcpy(space.rows, &rows[0], n * sizeof(int32_t))
        memset(space.weights, 0, self.n_classes * sizeof(float64_t))
        for i in range(n):
            self.count_row(space.weights, rows[i])
            every.weight += self.row_weight[rows[i]]
            every.floor += self.row_floor[rows[i]]
        space.n_rows = n
        space.n_weights = self.n_classes
        return every

    # Costs.

    cdef inline void count_row(self, float64_t* weights, intp_t row) noexcept nogil:
        cdef int64_t entry
        for entry in range(self.entry_start[row], self.entry_start[row + 1]):
            weights[self.entry_class[entry]] += self.entry_weight[entry]

    cdef inline float64_t leaf(self, const float64_t* weights) noexcept nogil:
        """Return the cost of a leaf: its cheapest decision and the constant."""
        cdef:
            float64_t total = 0.0
            float64_t most = 0.0
            float64_t cost
            float64_t least = INFINITY
            intp_t true, decision
        if self.is_even:
            for true in range(self.n_classes):
                cost = weights[true] * self.row_mistake[true]
                total += cost
                most = max(most, cost)
            return total - most + self.leaf_cost
        for decision in range(self.n_classes):
            cost = 0.0
            for true in range(self.n_classes):
                cost += weights[true] * self.mistakes[true, decision]
            least = min(least, cost)
        return least + self.leaf_cost

    cdef inline bint is_priced_by_outcome(
        self, Space* space, intp_t test
    ) noexcept nogil:
        return (
            self.prices.has_outcome_prices
            and not space.paid[test]
            and self.prices.outcome_start[test + 1] > self.prices.outcome_start[test]
        )

    cdef inline float64_t charge(
        self, Space* space, intp_t test, float64_t weight
    ) noexcept nogil:
        """Return what a test charges a set of rows, outcomes left out of account."""
        cdef float64_t price = self.prices.price(test, -1, space.paid, space.is_open)
        return price * (space.order if space.order > 0 else weight)

    cdef float64_t charge_by_outcome(
        self, Space* space, intp_t test, intp_t n_present
    ) noexcept nogil:
        """Return what a test charges the rows whose codes have been counted."""
        cdef:
            float64_t charge = 0.0
            intp_t i, code
        for i in range(n_present):
            code = space.present[i]
            charge += space.totals[code] * self.prices.price(
                test, code, space.paid, space.is_open
            )
        return charge

    cdef void pay(self, Space* space, intp_t test, float64_t weight) noexcept nogil:
        """Mark a test as paid; a delayed one opens an order."""
        cdef int32_t group = self.prices.group[test]
        if space.paid[test]:
            return
        if self.prices.delayed[test] and space.order == 0:
            space.order = weight
        space.log[space.n_marks] = <int32_t> test
        space.n_marks += 1
        if group >= 0 and not space.is_open[group]:
            space.log[space.n_marks] = <int32_t> (self.n_tests + group)
            space.n_marks += 1
        self.prices.charge(test, -1, space.paid, space.is_open)

    cdef void unwind(self, Space* space, intp_t n_marks) noexcept nogil:
        cdef int32_t mark
        while space.n_marks > n_marks:
            space.n_marks -= 1
            mark = space.log[space.n_marks]
            if mark < self.n_tests:
                space.paid[mark] = 0
            else:
                space.is_open[mark - self.n_tests] = 0

    # One column of a set.

    cdef intp_t count_column(
        self, Space* space, Rows rows, intp_t test
    ) noexcept nogil:
        """Count class weights by code; return how many codes occur."""
        cdef:
            const uint16_t* column = &self.codes[test, 0]
            const int32_t* listed = space.rows + rows.start
            intp_t n_classes = self.n_classes
            intp_t n_present = 0
            intp_t i, code
            int32_t row
            int64_t entry
            float64_t* cells
        for i in range(rows.n):
            row = listed[i]
            code = column[row]
            if space.totals[code] == 0:
                space.present[n_present] = <int32_t> code
                n_present += 1
            space.totals[code] += self.row_weight[row]
            cells = space.cells + code * n_classes
            for entry in range(self.entry_start[row], self.entry_start[row + 1]):
                cells[self.entry_class[entry]] += self.entry_weight[entry]
        return n_present

    cdef void clear_column(self, Space* space, intp_t n_present) noexcept nogil:
        cdef intp_t i
        for i in range(n_present):
            space.totals[space.present[i]] = 0.0
            memset(
                space.cells + space.present[i] * self.n_classes, 0,
                self.n_classes * sizeof(float64_t),
            )

    cdef inline float64_t disorder(
        self, const float64_t* weights, float64_t total
    ) noexcept nogil:
        """Return the entropy of a set times its weight, in bits."""
        cdef:
            float64_t bits = xlog2(total)
            intp_t k
        for k in range(self.n_classes):
            bits -= xlog2(weights[k])
        return bits

    cdef float64_t value_cut(
        self, Space* space, Rows rows, intp_t test, intp_t code, float64_t known_left,
        float64_t known, bint by_cost, float64_t before, bint* missing_right,
    ) noexcept nogil:
        """Value a cut after `code`, given the class weights on its left.

        Missing numbers go with the heavier side.
        """
        cdef:
            intp_t missing = self.n_levels[test]
            const float64_t* absent = space.cells + missing * self.n_classes
            const float64_t* every = space.weights + rows.weights
            float64_t n_left = known_left
            float64_t in_left
            intp_t k
        missing_right[0] = known - known_left > known_left or code >= missing - 1
        if not missing_right[0]:
            n_left += space.totals[missing]
        for k in range(self.n_classes):
            in_left = space.left[k]
            if not missing_right[0]:
                in_left += absent[k]
            space.right[k] = max(0.0, every[k] - in_left)
        if by_cost:
            if missing_right[0]:
                return before - self.leaf(space.left) - self.leaf(space.right)
            return before - self.leaf_with(space.left, absent) - self.leaf(space.right)
        if missing_right[0]:
            in_left = self.disorder(space.left, n_left)
        else:
            in_left = self.disorder_with(space.left, absent, n_left)
        return before - in_left - self.disorder(space.right, rows.weight - n_left)

    cdef float64_t leaf_with(
        self, float64_t* weights, const float64_t* more
    ) noexcept nogil:
        """Return the cost of a leaf that holds two sets together."""
        cdef:
            intp_t k
            float64_t cost
        for k in range(self.n_classes):
            weights[k] += more[k]
        cost = self.leaf(weights)
        for k in range(self.n_classes):
            weights[k] -= more[k]
        return cost

    cdef float64_t disorder_with(
        self, float64_t* weights, const float64_t* more, float64_t total
    ) noexcept nogil:
        cdef:
            intp_t k
            float64_t bits
        for k in range(self.n_classes):
            weights[k] += more[k]
        bits = self.disorder(weights, total)
        for k in range(self.n_classes):
            weights[k] -= more[k]
        return bits

    cdef float64_t value_branches(
        self, Space* space, intp_t n_present, bint by_cost, float64_t before
    ) noexcept nogil:
        """Value a branch for every code."""
        cdef:
            float64_t value = before
            intp_t i, code
        for i in range(n_present):
            code = space.present[i]
            if by_cost:
                value -= self.leaf(space.cells + code * self.n_classes)
            else:
                value -= self.disorder(
                    space.cells + code * self.n_classes, space.totals[code]
                )
        return value

    # Choosing a split by a rule.

    cdef Split pick(
        self, Space* space, Rows rows, int rule, uint64_t key, float64_t leaf
    ) noexcept nogil:
        """Return the split that EG2, DTMC or SEG2 takes; none if none can pay.

        The value of DTMC's split is minus the cost of a tree of this one test.
        """
        cdef:
            Split best, split
            intp_t test, n_present
            bint by_cost = rule == DTMC
            float64_t before, drawn
            float64_t total = 0.0
            # Two leaves at least, beside the charge. EG2 must not look at the floor: a
            # test that cannot pay may still be the one it takes.
            float64_t at_least = 2 * self.leaf_cost
        if by_cost:
            at_least = rows.floor + self.leaf_cost
        best.test = -1
        best.cut = -1
        best.missing_right = False
        best.charge = 0.0
        # DTMC splits only if that is cheaper than a leaf.
        best.value = -leaf * (1.0 - TIE) if by_cost else -INFINITY
        if by_cost:
            before = 0.0
        else:
            before = self.disorder(space.weights + rows.weights, rows.weight)
        for test in range(self.n_tests):
            space.values[test] = 0.0
            split.test = -1
            split.charge = self.charge(space, test, rows.weight)
            if not self.is_priced_by_outcome(space, test):
                if not split.charge + at_least < leaf:
                    continue
            n_present = self.count_column(space, rows, test)
            if n_present > 1:
                if self.is_priced_by_outcome(space, test):
                    split.charge = self.charge_by_outcome(space, test, n_present)
                if split.charge + at_least < leaf:
                    self.best_of_test(
                        space, rows, test, n_present, by_cost, before, &split
                    )
            self.clear_column(space, n_present)
            if split.test < 0:
                continue
            if by_cost:
                split.value -= split.charge
            else:
                split.value = self.value_for_price(split, rows.weight)
            if rule == SEG2:
                space.values[test] = split.value
                space.cuts[test] = 2 * split.cut + split.missing_right
                total += split.value
                best = split
            elif split.value > best.value + TIE * abs_of(best.value):
                best = split
        if rule == SEG2 and best.test >= 0:
            drawn = draw_share(mix_with(key, 0)) * total
            for test in range(self.n_tests):
                if space.values[test] <= 0:
                    continue
                best.test = <int32_t> test
                drawn -= space.values[test]
                if drawn < 0:
                    break
            best.missing_right = space.cuts[best.test] & 1
            best.cut = (space.cuts[best.test] - best.missing_right) // 2
            best.charge = -1.0
        return best

    cdef float64_t value_for_price(self, Split split, float64_t weight) noexcept nogil:
        """Return EG2's value of a gain for its price."""
        # A little more than nothing, so that a test without gain can be drawn.
        cdef float64_t gain = max(split.value / weight, 1e-12)
        return (exp2(gain) - 1.0) / pow(split.charge / weight + 1.0, self.exponent)

    cdef void best_of_test(
        self, Space* space, Rows rows, intp_t test, intp_t n_present, bint by_cost,
        float64_t before, Split* split,
    ) noexcept nogil:
        """Find the best cut of a number, or value the branches of a category."""
        cdef:
            intp_t missing = self.n_levels[test]
            intp_t code, k
            float64_t known, known_left, value
            # Sums that are equal but for rounding must tie.
            float64_t slack = TIE * rows.weight
            bint missing_right = False
            const float64_t* cells
        if by_cost:
            slack = TIE * self.leaf(space.weights + rows.weights)
        split.test = <int32_t> test
        split.cut = -1
        split.missing_right = False
        if not self.is_ordered[test]:
            split.value = self.value_branches(space, n_present, by_cost, before)
            return
        split.value = -INFINITY
        known = rows.weight - space.totals[missing]
        known_left = 0.0
        memset(space.left, 0, self.n_classes * sizeof(float64_t))
        for code in range(missing):
            if space.totals[code] == 0:
                continue
            cells = space.cells + code * self.n_classes
            for k in range(self.n_classes):
                space.left[k] += cells[k]
            known_left += space.totals[code]
            n_present -= 1
            if n_present == 0:
                break
            if n_present == 1 and space.totals[missing] > 0:
                # The last level: what is left are missing numbers.
                code = missing - 1
            value = self.value_cut(
                space, rows, test, code, known_left, known, by_cost, before,
                &missing_right,
            )
            if value > split.value + slack:
                split.value = value
                split.cut = <int32_t> code
                split.missing_right = missing_right
            if code == missing - 1:
                break

    cdef intp_t list_candidates(
        self, Space* space, Rows rows, intp_t n_cuts, float64_t leaf,
        Split** candidates,
    ) noexcept:
        """List the splits to look ahead from, valued by what one step saves.

        Of a number: the cuts of most gain, by code.
        """
        cdef:
            intp_t n = 0
            intp_t room = 0
            intp_t test, n_present, first, i, worst, code, k, n_left
            intp_t missing
            Split split
            float64_t before
            float64_t known, known_left, gain, none
            bint missing_right = False
            Split* larger
            float64_t* gains = NULL
        before = self.disorder(space.weights + rows.weights, rows.weight)
        none = 0.0
        gains = <float64_t*> malloc((self.n_codes + 1) * sizeof(float64_t))
        if gains == NULL:
            return -1
        for test in range(self.n_tests):
            split.charge = self.charge(space, test, rows.weight)
            if not self.is_priced_by_outcome(space, test):
                if not split.charge + rows.floor + self.leaf_cost < leaf:
                    continue
            if n + self.n_codes + 1 > room:
                room = 2 * room + self.n_codes + 1
                larger = <Split*> realloc(candidates[0], room * sizeof(Split))
                if larger == NULL:
                    free(gains)
                    return -1
                candidates[0] = larger
            n_present = self.count_column(space, rows, test)
            if n_present > 1 and self.is_priced_by_outcome(space, test):
                split.charge = self.charge_by_outcome(space, test, n_present)
            if n_present < 2 or not (
                split.charge + rows.floor + self.leaf_cost < leaf
            ):
                self.clear_column(space, n_present)
                continue
            split.test = <int32_t> test
            split.cut = -1
            split.missing_right = False
            if not self.is_ordered[test]:
                split.value = self.value_branches(space, n_present, True, none)
                split.value -= split.charge
                candidates[0][n] = split
                n += 1
                self.clear_column(space, n_present)
                continue
            missing = self.n_levels[test]
            known = rows.weight - space.totals[missing]
            known_left = 0.0
            first = n
            n_left = n_present
            memset(space.left, 0, self.n_classes * sizeof(float64_t))
            for code in range(missing):
                if space.totals[code] == 0:
                    continue
                for k in range(self.n_classes):
                    space.left[k] += space.cells[code * self.n_classes + k]
                known_left += space.totals[code]
                n_left -= 1
                if n_left == 0:
                    break
                if n_left == 1 and space.totals[missing] > 0:
                    code = missing - 1
                gain = self.value_cut(
                    space, rows, test, code, known_left, known, False, before,
                    &missing_right,
                )
                split.cut = <int32_t> code
                split.value = self.value_cut(
                    space, rows, test, code, known_left, known, True, none,
                    &missing_right,
                ) - split.charge
                split.missing_right = missing_right
                if n - first < n_cuts:
                    gains[n - first] = gain
                    candidates[0][n] = split
                    n += 1
                else:
                    worst = first
                    for i in range(first, n):
                        if gains[i - first] < gains[worst - first] - TIE * rows.weight:
                            worst = i
                    # Of equal ones the first stays, so the last equal is the worst.
                    for i in range(worst + 1, n):
                        if gains[i - first] <= gains[worst - first] + (
                            TIE * rows.weight
                        ):
                            worst = i
                    if gain > gains[worst - first] + TIE * rows.weight:
                        for i in range(worst, n - 1):
                            gains[i - first] = gains[i + 1 - first]
                            candidates[0][i] = candidates[0][i + 1]
                        gains[n - 1 - first] = gain
                        candidates[0][n - 1] = split
                if code == missing - 1:
                    break
            self.clear_column(space, n_present)
        free(gains)
        return n

    # Growing, pricing and forgetting.

    cdef intp_t part(
        self, Space* space, Rows rows, Split split, Rows* first
    ) noexcept nogil:
        """Put the branches of a split on the stacks; return how many there are.

        The branches follow one another: `first` is the first one, and the k-th one has
        its class weights k * n_classes behind.
        """
        cdef:
            const uint16_t* column = &self.codes[split.test, 0]
            intp_t k = self.n_classes
            intp_t i, code, missing, n_branches, at, place
            int32_t row
            int32_t* sizes
            const int32_t* listed
            float64_t* weights
            float64_t* facts
        missing = self.n_levels[split.test]
        # Which branch each code belongs to.
        if split.cut >= 0:
            n_branches = 2
            for code in range(missing):
                space.branch_of[code] = code > split.cut
            space.branch_of[missing] = split.missing_right
        else:
            n_branches = self.number_codes(space, rows, column)
        if not self.reserve(space, rows.n + n_branches, n_branches * (k + N_FACTS)):
            return 0
        listed = space.rows + rows.start
        weights = space.weights + space.n_weights
        facts = weights + n_branches * k
        memset(weights, 0, n_branches * (k + N_FACTS) * sizeof(float64_t))
        first.start = space.n_rows
        first.weights = space.n_weights
        # Sizes of the branches, then where each goes on, behind its rows.
        sizes = space.rows + space.n_rows + rows.n
        memset(sizes, 0, n_branches * sizeof(int32_t))
        for i in range(rows.n):
            sizes[space.branch_of[column[listed[i]]]] += 1
        place = space.n_rows
        for at in range(n_branches):
            facts[N_FACTS * at] = sizes[at]
            facts[N_FACTS * at + 2] = self.leaf_cost
            i = sizes[at]
            sizes[at] = <int32_t> place
            place += i
        for i in range(rows.n):
            row = listed[i]
            at = space.branch_of[column[row]]
            space.rows[sizes[at]] = row
            sizes[at] += 1
            self.count_row(weights + at * k, row)
            facts[N_FACTS * at + 1] += self.row_weight[row]
            facts[N_FACTS * at + 2] += self.row_floor[row]
        space.n_rows += rows.n
        space.n_weights += n_branches * (k + N_FACTS)
        return n_branches

    cdef intp_t number_codes(
        self, Space* space, Rows rows, const uint16_t* column
    ) noexcept nogil:
        """Number the codes that occur, ascending, in branch_of."""
        cdef:
            const int32_t* listed = space.rows + rows.start
            intp_t n = 0
            intp_t i, at, code
        for i in range(rows.n):
            code = column[listed[i]]
            if space.totals[code] == 0:
                space.totals[code] = 1.0
                # Few codes occur: they are kept in order as they come.
                at = n
                while at and space.present[at - 1] > code:
                    space.present[at] = space.present[at - 1]
                    at -= 1
                space.present[at] = <int32_t> code
                n += 1
        for i in range(n):
            space.totals[space.present[i]] = 0.0
            space.branch_of[space.present[i]] = <int32_t> i
        return n

    cdef bint reserve(
        self, Space* space, intp_t n_rows, intp_t n_weights
    ) noexcept nogil:
        cdef void* larger
        if space.n_rows + n_rows > space.row_room:
            space.row_room = 2 * (space.n_rows + n_rows)
            larger = realloc(space.rows, space.row_room * sizeof(int32_t))
            if larger == NULL:
                space.failed = True
                return False
            space.rows = <int32_t*> larger
        if space.n_weights + n_weights > space.weight_room:
            space.weight_room = 2 * (space.n_weights + n_weights)
            larger = realloc(space.weights, space.weight_room * sizeof(float64_t))
            if larger == NULL:
                space.failed = True
                return False
            space.weights = <float64_t*> larger
        return True

    cdef inline Rows branch(
        self, Space* space, Rows first, intp_t n_branches, intp_t at
    ) noexcept nogil:
        """Return a branch; branches must be asked for in order, from `first` on."""
        cdef:
            Rows rows
            const float64_t* facts = (
                space.weights + first.weights + n_branches * self.n_classes
            )
            intp_t i
        rows.start = first.start
        for i in range(at):
            rows.start += <intp_t> facts[N_FACTS * i]
        rows.n = <intp_t> facts[N_FACTS * at]
        rows.weight = facts[N_FACTS * at + 1]
        rows.floor = facts[N_FACTS * at + 2]
        rows.weights = first.weights + at * self.n_classes
        return rows

    cdef float64_t price_set(
        self, Space* space, Rows rows, int rule, uint64_t key, float64_t limit
    ) noexcept nogil:
        """Grow a tree by a rule, prune it, and return what it costs.

        A tree that costs the limit or more is not grown to its end; what is returned
        then is no less than the limit. In an order, what the tree orders stays marked
        as paid; where the limit ended it, the caller ends too and takes marks back.
        """
        cdef:
            float64_t leaf = self.leaf(space.weights + rows.weights)
            float64_t total
            float64_t to_come
            float64_t order = space.order
            intp_t n_marks = space.n_marks
            intp_t n_rows = space.n_rows
            intp_t n_weights = space.n_weights
            intp_t n_branches, at
            Split split
            Rows first, part
        # A split makes a second leaf.
        if not rows.floor + self.leaf_cost < leaf or space.failed:
            return leaf
        if rows.floor >= limit:
            return rows.floor
        if space.stop != NULL and space.stop[0]:
            # The candidate will be thrown away.
            return leaf
        split = self.pick(space, rows, rule, key, leaf)
        if split.test < 0:
            return leaf
        if rule == SEG2:
            split.charge = self.charge_split(space, rows, split)
        total = split.charge
        n_branches = self.part(space, rows, split, &first)
        self.pay(space, split.test, rows.weight)
        # What is certain to come on top of what is priced.
        to_come = rows.floor + (n_branches - 1) * self.leaf_cost
        for at in range(n_branches):
            part = self.branch(space, first, n_branches, at)
            to_come -= part.floor
            total += self.price_set(
                space, part, rule, mix_with(key, at), limit - total - to_come
            )
            if total + to_come >= leaf * (1.0 - TIE):
                total = leaf
                break
            if total + to_come >= limit:
                total += to_come
                break
        space.n_rows = n_rows
        space.n_weights = n_weights
        if total == leaf or order == 0:
            self.unwind(space, n_marks)
        space.order = order
        return total

    cdef float64_t charge_split(
        self, Space* space, Rows rows, Split split
    ) noexcept nogil:
        cdef:
            float64_t charge
            intp_t n_present
        if not self.is_priced_by_outcome(space, split.test):
            return self.charge(space, split.test, rows.weight)
        n_present = self.count_column(space, rows, split.test)
        charge = self.charge_by_outcome(space, split.test, n_present)
        self.clear_column(space, n_present)
        return charge

    cdef float64_t price_candidate(
        self, Space* space, Rows rows, Split split, int rule, intp_t n_samples,
        uint64_t key, float64_t bound,
    ) noexcept nogil:
        """Return the price of a candidate; infinity once it is beyond the bound."""
        cdef:
            float64_t total = split.charge
            float64_t order = space.order
            intp_t n_marks = space.n_marks
            intp_t n_rows = space.n_rows
            intp_t n_weights = space.n_weights
            intp_t n_branches, at
            float64_t to_come
            Rows first, part
        bound = bound * (1.0 + HOPELESS)
        n_branches = self.part(space, rows, split, &first)
        key = mix_with(mix_with(key, split.test), split.cut + 1)
        self.pay(space, split.test, rows.weight)
        if space.order > 0 and rule == ROLLOUT:
            total += self.price_together(
                space, first, n_branches, n_samples, key, bound - total
            )
        else:
            to_come = rows.floor + (n_branches - 1) * self.leaf_cost
            for at in range(n_branches):
                if total + to_come > bound:
                    total = INFINITY
                    break
                part = self.branch(space, first, n_branches, at)
                to_come -= part.floor
                total += self.price_branch(
                    space, part, rule, n_samples, mix_with(key, at),
                    bound - total - to_come,
                )
        self.unwind(space, n_marks)
        space.order = order
        space.n_rows = n_rows
        space.n_weights = n_weights
        return total

    cdef float64_t price_branch(
        self, Space* space, Rows rows, int rule, intp_t n_samples, uint64_t key,
        float64_t limit,
    ) noexcept nogil:
        """Return the least price of the trees grown on a branch.

        If it is the limit or more, what is returned may be anything from there on.
        """
        cdef:
            float64_t least = self.leaf(space.weights + rows.weights)
            float64_t leaf = least
            intp_t n_marks = space.n_marks
            intp_t sample
            Split split
        if not rows.floor + self.leaf_cost < leaf:
            return leaf
        if rule == TWO_STEP:
            split = self.pick(space, rows, DTMC, key, leaf)
            return leaf if split.test < 0 else min(leaf, -split.value)
        for sample in range(n_samples + 2):
            least = min(
                least,
                self.price_set(
                    space, rows, rule_of(sample), mix_with(key, sample),
                    min(least, limit) if self.use_floors else INFINITY,
                ),
            )
            self.unwind(space, n_marks)
        return least

    cdef float64_t price_together(
        self, Space* space, Rows first, intp_t n_branches, intp_t n_samples,
        uint64_t key, float64_t bound,
    ) noexcept nogil:
        """Return the least price of trees grown on all branches of an order.

        What one branch orders is free in the next, so a rule prices all of them in
        turn.
        """
        cdef:
            float64_t least = 0.0
            float64_t total
            intp_t n_marks = space.n_marks
            intp_t sample, at
            Rows rows
        for at in range(n_branches):
            rows = self.branch(space, first, n_branches, at)
            least += self.leaf(space.weights + rows.weights)
        for sample in range(n_samples + 2):
            total = 0.0
            for at in range(n_branches):
                total += self.price_set(
                    space, self.branch(space, first, n_branches, at), rule_of(sample),
                    mix_with(mix_with(key, at), sample), INFINITY,
                )
                if total > bound:
                    break
            least = min(least, total)
            self.unwind(space, n_marks)
        return least


cdef inline intp_t branch_code(
    intp_t code, intp_t cut, intp_t missing, bint missing_right
) noexcept nogil:
    """Return the code of the branch that a code goes to."""
    if cut < 0:
        return code
    return missing_right if code == missing else code > cut


cdef void sort_by_value(
    const Split* candidates, intp_t n, int32_t* order, float64_t* spare
) noexcept nogil:
    """Order candidates by their promise, so that a good bound is found early.

    Runs of 1, 2, 4 ... are merged; the earlier one of a tie stays before.
    """
    cdef:
        intp_t width = 1, start, middle, end, i, j, k
        int32_t* merged = <int32_t*> spare
    for i in range(n):
        order[i] = <int32_t> i
    while width < n:
        start = 0
        while start < n:
            middle = min(start + width, n)
            end = min(start + 2 * width, n)
            i = start
            j = middle
            for k in range(start, end):
                if j == end or i < middle and not (
                    candidates[order[i]].value < candidates[order[j]].value
                ):
                    merged[k] = order[i]
                    i += 1
                else:
                    merged[k] = order[j]
                    j += 1
            start = end
        memcpy(order, merged, n * sizeof(int32_t))
        width *= 2


cdef inline int rule_of(intp_t sample) noexcept nogil:
    """Return the rule of a sample: one of each greedy rule, then drawn ones."""
    return EG2 if sample == 0 else DTMC if sample == 1 else SEG2


cdef inline float64_t abs_of(float64_t value) noexcept nogil:
    # The first value to beat is infinite, and no tie reaches it.
    if value == INFINITY or value == -INFINITY:
        return 0.0
    return -value if value < 0 else value


cdef inline float64_t xlog2(float64_t x) noexcept nogil:
    return x * log2(x) if x > 0 else 0.0
