"""Grow a tree to be kept: choose a test at each node, go down, prune on the way back.

Nodes are put down in preorder, so the subtree of a node that is finished is the end of
the arrays, and pruning it is cutting them off. A test is chosen greedily by a rule, or
by sampled look-ahead. This module must not know what the learner is called.
"""

from cython.parallel cimport prange, threadid
from libc.math cimport INFINITY
from libc.stdlib cimport free, malloc, realloc

from askless._core.cost._errors cimport ErrorTable
from askless._core.cost._criteria cimport (
    BY_DTMC, Choice, Rule, choose, judge, judge_cuts,
)
from askless._core.cost._samples cimport (
    BY_COST, BY_ERRORS, BY_LEAVES, Sampler, Value, child_key, leaf_value,
)
from askless._core.tree._store cimport TreeBuffer
from askless._core.base._types cimport float64_t, int32_t, intp_t, uint64_t
from askless._core.cost._workspace cimport Workspace, decide, mix_keys

cdef enum:
    MAX_DEPTH = 5000
    # Rows times candidates below which a second thread is not worth waking.
    PARALLEL_WORK = 1024

# Totals closer than this, relatively, tie: the first test of them is taken.
cdef float64_t TIE = 1e-9
# A subtree that may save so many errors is still pruned (as in the program of C4.5).
cdef float64_t SLACK_ERRORS = 0.1
# Relative: a leaf that costs the same as a subtree is preferred, rounding aside.
cdef float64_t SLACK_COST = 1e-12

# What leaves are worth, by name.
VALUES = {
    "cost": <int> BY_COST,
    "errors": <int> BY_ERRORS,
    "leaves": <int> BY_LEAVES,
}


cdef class Inducer:
    """One growth on a workspace, at its root."""

    def __cinit__(self):
        self.candidates = NULL
        self.totals = NULL

    def __init__(
        self,
        Workspace workspace not None,
        *,
        int rule,
        float64_t w=1.0,
        float64_t least_part=0.0,
        bint with_penalty=False,
        bint needs_gain=False,
        int value,
        float64_t confidence=0.25,
        bint prunes=True,
        intp_t n_samples=0,
        int sample_value=0,
        bint greedy_first=True,
        bint prunes_samples=False,
        uint64_t seed=0,
        intp_t n_threads=1,
        bint use_bounds=True,
        const int32_t[::1] stop not None,
    ):
        cdef intp_t i
        self.ws = workspace
        self.taste.rule = <Rule> rule
        self.taste.w = w
        self.taste.least_part = least_part
        self.taste.with_penalty = with_penalty
        self.taste.needs_gain = needs_gain
        self.kind = <Value> value
        self.errors = ErrorTable(
            confidence, value == BY_ERRORS, workspace.n_rows
        )
        self.prunes = prunes
        self.use_bounds = use_bounds
        self.n_samples = n_samples
        self.n_threads = max(1, n_threads) if n_samples else 1
        self.seed = mix_keys(seed, 0)
        self.stop = stop
        self.sampler = None
        self.tree = TreeBuffer()
        if n_samples:
            for i in range(self.n_threads - 1, -1, -1):
                self.sampler = Sampler(
                    workspace if i == 0 else workspace.copy(),
                    ErrorTable(confidence, False, workspace.n_rows), sample_value,
                    rule, w, greedy_first,
                    prunes_samples, use_bounds, stop, self.sampler,
                )

    def __dealloc__(self):
        free(self.candidates)
        free(self.totals)

    @property
    def workspace(self):
        """The workspace that it grows on."""
        return self.ws

    @property
    def n_nodes(self):
        """How many nodes the tree has so far."""
        return self.tree.n_nodes

    def grow(self):
        """Grow a tree on all rows and return its arrays."""
        self.ws.stand_on_all()
        with nogil:
            self.grow_on(self.ws.n_rows)
        return self.tree.to_arrays()

    cdef int grow_on(self, intp_t n) except -1 nogil:
        cdef intp_t active = self.start()
        self.tree.n_nodes = self.tree.n_branches = self.tree.n_weights = 0
        self.value = self.grow_node(
            0, n, active, self.ws.n_tests, self.seed, 0.0, -1, 0, 0
        )
        if self.ws.out_of_memory:
            with gil:
                raise MemoryError("no memory left to grow a tree")
        return 0

    def price_tests(self):
        """Return (test, cut, total) of every candidate for the root."""
        cdef intp_t active = self.start(), kept, n_kept, i
        self.ws.stand_on_all()
        self.ws.weigh(0, self.ws.n_rows)
        self.list_candidates(0, self.ws.n_rows, active, self.ws.n_tests, 0.0, &kept,
                             &n_kept)
        self.price_candidates(0, self.ws.n_rows, kept, n_kept, self.seed, 0.0)
        return [
            (self.candidates[i].test, self.candidates[i].cut, self.totals[i])
            for i in range(self.n_candidates)
        ]

    cdef intp_t start(self) noexcept nogil:
        """Stand at the root with all tests; return where they are listed."""
        cdef intp_t test, active
        self.ws.top = 0
        self.ws.path.unwind(0)
        active = self.ws.take(self.ws.n_tests)
        if active < 0:
            return 0
        for test in range(self.ws.n_tests):
            self.ws.stack[active + test] = <int32_t> test
        self.was_stopped = False
        return active

    cdef float64_t grow_node(
        self, intp_t start, intp_t n, intp_t active, intp_t n_active, uint64_t key,
        float64_t ordering, intp_t parent, intp_t branch, intp_t depth,
    ) except -1 nogil:
        """Grow the subtree of some rows and return what it is worth."""
        cdef:
            intp_t top = self.ws.top, marks = self.ws.path.n_marks
            intp_t node, kept = 0, n_kept = 0, at, j, first, size, n_children
            float64_t leaf, total = 0.0, below = ordering, slack
            Choice choice
        node = self.tree.add_node(parent, branch)
        self.ws.weigh(start, n)
        for j in range(self.ws.n_present):
            self.tree.add_weight(self.ws.present[j], self.ws.totals[j])
        leaf = leaf_value(self.ws, self.kind, self.errors)
        if self.ws.n_present < 2 or depth >= MAX_DEPTH or n_active == 0:
            return leaf
        if self.n_samples == 0 and self.ws.weight < 2 * self.taste.least_part:
            # No two parts are large enough, whichever test is asked.
            return leaf
        choice = self.choose_test(
            start, n, active, n_active, key, ordering, &kept, &n_kept
        )
        if choice.test < 0:
            self.ws.top = top
            return leaf
        if self.kind == BY_COST:
            total = choice.price
        if (
            ordering <= 0
            and self.ws.prices.delayed[choice.test]
            and not self.ws.path.paid[choice.test]
        ):
            below = self.ws.weight
        self.ws.path.charge(choice.test)
        at = self.ws.split(start, n, choice.test, choice.cut)
        if at < 0:
            return leaf
        n_children = self.ws.stack[at]
        self.tree.test[node] = <int32_t> choice.test
        self.tree.cut[node] = <int32_t> choice.cut
        for j in range(n_children):
            self.tree.add_branch(self.ws.stack[at + 1 + j])
        self.tree.default_branch[node] = <int32_t> self.find_default(at, choice)
        for j in range(n_children):
            first = self.ws.stack[at + 1 + n_children + j]
            size = self.ws.stack[at + 2 + n_children + j] - first
            total += self.grow_node(
                first, size, kept, n_kept, child_key(key, choice.test, choice.cut, j),
                below, node, j, depth + 1,
            )
        slack = SLACK_ERRORS if self.kind == BY_ERRORS else SLACK_COST * total
        if self.prunes and leaf <= total + slack:
            self.cut_off(node)
            total = leaf
            self.ws.path.unwind(marks)
        if ordering <= 0:
            self.ws.path.unwind(marks)
        self.ws.top = top
        return total

    cdef void cut_off(self, intp_t node) noexcept nogil:
        """Make a leaf of a node whose subtree is the end of the arrays."""
        self.tree.n_branches = self.tree.branch_start[node]
        if node + 1 < self.tree.n_nodes:
            self.tree.n_weights = self.tree.weight_start[node + 1]
        self.tree.n_nodes = node + 1
        self.tree.test[node] = -1
        self.tree.cut[node] = -1
        self.tree.default_branch[node] = -1

    cdef intp_t find_default(self, intp_t at, Choice choice) noexcept nogil:
        """Return the branch of outcomes without one: missing's, else the heaviest."""
        cdef:
            intp_t n_children = self.ws.stack[at], j, i, best = 0
            intp_t missing = self.ws.n_levels[choice.test]
            float64_t weight, most = -1.0
            int32_t row
        for j in range(n_children):
            weight = 0.0
            for i in range(
                self.ws.stack[at + 1 + n_children + j],
                self.ws.stack[at + 2 + n_children + j],
            ):
                row = self.ws.rows[i]
                weight += self.ws.row_weight[row]
                if choice.cut >= 0 and j == 1 and missing == (
                    self.ws.wide[choice.test, row] if self.ws.is_wide
                    else self.ws.narrow[choice.test, row]
                ):
                    return 1
            if weight > most:
                most = weight
                best = j
        return best

    cdef Choice choose_test(
        self, intp_t start, intp_t n, intp_t active, intp_t n_active, uint64_t key,
        float64_t ordering, intp_t* kept, intp_t* n_kept,
    ) noexcept nogil:
        """Return the test to ask at a node that was weighed; test -1 for none."""
        cdef:
            intp_t i, top = self.ws.top
            float64_t least = INFINITY, cost
            Choice best
        if self.n_samples > 0 and not self.stop[0]:
            self.list_candidates(start, n, active, n_active, ordering, kept, n_kept)
            if self.n_candidates == 1 and self.use_bounds:
                return self.candidates[0]
            if self.n_candidates > 0:
                self.price_candidates(start, n, kept[0], n_kept[0], key, ordering)
                if not self.stop[0]:
                    for i in range(self.n_candidates):
                        least = min(least, self.totals[i])
                    for i in range(self.n_candidates):
                        if self.totals[i] <= least * (1.0 + TIE):
                            break
                    best = self.candidates[i]
                    # The samples weighed other nodes since.
                    self.ws.weigh(start, n)
                    return best
                self.ws.weigh(start, n)
            self.ws.top = top
        if self.stop[0]:
            self.was_stopped = True
        best = choose(
            self.ws, start, n, active, n_active, &self.taste, ordering, kept, n_kept
        )
        if best.test >= 0 and self.taste.rule == BY_DTMC:
            decide(self.ws, &cost)
            if best.price + best.mistakes >= cost * (1.0 - TIE):
                best.test = -1
        return best

    cdef int list_candidates(
        self, intp_t start, intp_t n, intp_t active, intp_t n_active,
        float64_t ordering, intp_t* kept, intp_t* n_kept,
    ) except -1 nogil:
        """List every split worth pricing, and the tests that can still part a node."""
        cdef:
            intp_t i, test, n_cuts
            Choice choice
        self.n_candidates = 0
        n_kept[0] = 0
        kept[0] = self.ws.take(n_active)
        if kept[0] < 0:
            return 0
        for i in range(n_active):
            test = self.ws.stack[active + i]
            self.make_room()
            if self.ws.is_ordered[test]:
                n_cuts = judge_cuts(
                    self.ws, start, n, test, &self.taste, ordering, self.n_samples,
                    self.candidates + self.n_candidates,
                )
                if n_cuts == 0:
                    continue
                self.n_candidates += n_cuts
            else:
                if not judge(
                    self.ws, start, n, test, &self.taste, ordering, &choice
                ):
                    continue
                self.candidates[self.n_candidates] = choice
                self.n_candidates += 1
            self.ws.stack[kept[0] + n_kept[0]] = <int32_t> test
            n_kept[0] += 1
        return 0

    cdef int make_room(self) except -1 nogil:
        """Make sure that the candidates of one more test fit."""
        cdef:
            intp_t need = self.n_candidates + max(self.n_samples, 1)
            void* larger
        if need <= self.room:
            return 0
        need = 2 * need + 64
        larger = realloc(self.candidates, need * sizeof(Choice))
        if larger != NULL:
            self.candidates = <Choice*> larger
            larger = realloc(self.totals, need * sizeof(float64_t))
        if larger == NULL:
            with gil:
                raise MemoryError("no memory left for the splits of a node")
        self.totals = <float64_t*> larger
        self.room = need
        return 0

    cdef void price_candidates(
        self, intp_t start, intp_t n, intp_t kept, intp_t n_kept, uint64_t key,
        float64_t ordering,
    ) noexcept nogil:
        """Price every candidate, in threads if there is enough to do.

        What a candidate costs does not depend on the others, except that one which is
        dearer than another for certain need not be priced to the end. Each thread
        compares with what it has seen itself, and the least total is always exact.
        """
        cdef:
            intp_t i, r
            float64_t weight = self.ws.weight, best = INFINITY
            float64_t* best_of
        if self.n_threads == 1 or n * self.n_candidates < PARALLEL_WORK:
            for i in range(self.n_candidates):
                r = 1 if self.candidates[i].cut >= 0 else self.n_samples
                self.totals[i] = self.sampler.price_choice(
                    start, n, kept, n_kept, key, ordering, weight, &self.candidates[i],
                    r, best * (1.0 + 10 * TIE),
                )
                best = min(best, self.totals[i])
            return
        best_of = <float64_t*> malloc(self.n_threads * sizeof(float64_t))
        for i in range(self.n_threads):
            best_of[i] = INFINITY
        self.sampler.next.stand_beside(self.sampler, start, n, kept, n_kept)
        for i in prange(
            self.n_candidates, schedule="dynamic", chunksize=1,
            num_threads=self.n_threads,
        ):
            self.totals[i] = self.sampler.price_choice_on(
                threadid(), start, n, kept, n_kept, key, ordering, weight,
                &self.candidates[i],
                1 if self.candidates[i].cut >= 0 else self.n_samples,
                best_of[threadid()] * (1.0 + 10 * TIE),
            )
            best_of[threadid()] = min(best_of[threadid()], self.totals[i])
        free(best_of)
