"""Grow a tree to be kept: choose a test at each node, go down, prune on the way back.

Nodes are put down in preorder, so the subtree of a node that is finished is the end of
the arrays, and pruning it is cutting them off. A test is chosen greedily by a
criterion, or by sampled look-ahead. This module must not know what the learner is
called.
"""

from cython.parallel cimport prange, threadid
from libc.math cimport INFINITY
from libc.stdlib cimport free, malloc, realloc

from askless._core.base._keys cimport mix_with
from askless._core.base._types cimport float64_t, int32_t, intp_t
from askless._core.cost._criteria cimport (
    BY_DTMC, Choice, SplitCriterion, choose, score_cuts, score_test,
)
from askless._core.cost._errors cimport ErrorTable
from askless._core.cost._samples cimport (
    BY_COST, BY_ERRORS, MAX_DEPTH, Sampler, Sampling, Value, leaf_value,
)
from askless._core.cost._workspace cimport (
    Node, Workspace, child_key, child_node, decide,
)
from askless._core.tree._store cimport TreeBuffer

from askless._core.cost._samples import VALUES

cdef enum:
    # Rows times candidates below which a second thread is not worth waking.
    PARALLEL_WORK = 1024

# Totals closer than this, relatively, tie: the first test of them is taken.
cdef float64_t TIE = 1e-9
# A subtree that may save so many errors is still pruned (as in the program of C4.5).
cdef float64_t SLACK_ERRORS = 0.1
# Relative: a leaf that costs the same as a subtree is preferred, rounding aside.
cdef float64_t SLACK_COST = 1e-12


cdef class Inducer:
    """One growth on a workspace, at its root."""

    def __cinit__(self):
        self.candidates = NULL
        self.totals = NULL

    def __init__(
        self,
        Workspace workspace not None,
        SplitCriterion criterion not None,
        Sampling sampling=None,
        *,
        str value not None,
        float64_t confidence=0.25,
        bint prunes=True,
        bint use_bounds=True,
        const int32_t[::1] stop not None,
    ):
        cdef intp_t i
        if sampling is None:
            sampling = Sampling(0)
        self.ws = workspace
        self.criterion = criterion.settings
        self.kind = <Value> <int> VALUES[value]
        self.errors = ErrorTable(confidence, self.kind == BY_ERRORS, workspace.n_rows)
        self.prunes = prunes
        self.use_bounds = use_bounds
        self.n_samples = sampling.n_samples
        self.n_threads = sampling.n_threads
        self.seed = mix_with(sampling.seed, 0)
        self.stop = stop
        self.sampler = None
        self.tree = TreeBuffer()
        if self.n_samples:
            for i in range(self.n_threads - 1, -1, -1):
                self.sampler = Sampler(
                    workspace if i == 0 else workspace.copy(),
                    ErrorTable(confidence, False, workspace.n_rows),
                    criterion, sampling, use_bounds, stop, self.sampler,
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
        cdef Node root = self.ws.start_root(n, self.seed)
        self.was_stopped = False
        self.tree.n_nodes = self.tree.n_branches = self.tree.n_weights = 0
        self.value = self.grow_node(&root, -1, 0, 0)
        if self.ws.out_of_memory:
            with gil:
                raise MemoryError("no memory left to grow a tree")
        return 0

    def price_tests(self):
        """Return (test, cut, total) of every candidate for the root."""
        cdef:
            intp_t i, kept, n_kept
            Node root
        self.ws.stand_on_all()
        root = self.ws.start_root(self.ws.n_rows, self.seed)
        self.ws.weigh(0, self.ws.n_rows)
        self.list_candidates(&root, &kept, &n_kept)
        root.active = kept
        root.n_active = n_kept
        self.price_candidates(&root)
        return [
            (self.candidates[i].test, self.candidates[i].cut, self.totals[i])
            for i in range(self.n_candidates)
        ]

    cdef float64_t grow_node(
        self, const Node* node, intp_t parent, intp_t branch, intp_t depth
    ) except -1 nogil:
        """Grow the subtree of some rows and return what it is worth."""
        cdef:
            intp_t top = self.ws.top, marks = self.ws.path.n_marks
            intp_t place, kept = 0, n_kept = 0, s
            float64_t leaf, total, slack
            Choice choice
        place = self.tree.add_node(parent, branch)
        self.ws.weigh(node.start, node.n)
        for s in range(self.ws.n_present):
            self.tree.add_weight(self.ws.present[s], self.ws.totals[s])
        leaf = leaf_value(self.ws, self.kind, self.errors)
        if self.is_leaf(node, depth):
            return leaf
        choice = self.choose_test(node, &kept, &n_kept)
        if choice.test < 0:
            self.ws.top = top
            return leaf
        total = self.grow_children(node, &choice, place, kept, n_kept, depth)
        if self.ws.out_of_memory:
            return leaf
        slack = SLACK_ERRORS if self.kind == BY_ERRORS else SLACK_COST * total
        if self.prunes and leaf <= total + slack:
            self.cut_off(place)
            self.ws.leave(node, marks, top, True)
            return leaf
        self.ws.leave(node, marks, top, False)
        return total

    cdef bint is_leaf(self, const Node* node, intp_t depth) noexcept nogil:
        """Return whether the node that was weighed is one, whichever test is asked."""
        if self.ws.n_present < 2 or depth >= MAX_DEPTH or node.n_active == 0:
            return True
        # No two parts are large enough.
        return (
            self.n_samples == 0 and self.ws.weight < 2 * self.criterion.least_part
        )

    cdef float64_t grow_children(
        self, const Node* node, const Choice* choice, intp_t place, intp_t kept,
        intp_t n_kept, intp_t depth,
    ) except -1 nogil:
        """Buy a test, grow what follows, and return what all of it is worth."""
        cdef:
            float64_t total = choice.price if self.kind == BY_COST else 0.0
            float64_t due
            intp_t at, j, n_children
            Node child
        at = self.ws.buy_and_split(
            node, choice.test, choice.cut, self.ws.weight, &due
        )
        if at < 0:
            return total
        n_children = self.ws.stack[at]
        self.tree.test[place] = <int32_t> choice.test
        self.tree.cut[place] = <int32_t> choice.cut
        for j in range(n_children):
            self.tree.add_branch(self.ws.stack[at + 1 + j])
        self.tree.default_branch[place] = <int32_t> self.find_default(at, choice)
        for j in range(n_children):
            child = child_node(
                self.ws, at, j, kept, n_kept,
                child_key(node.key, choice.test, choice.cut, j), due,
            )
            total += self.grow_node(&child, place, j, depth + 1)
        return total

    cdef void cut_off(self, intp_t place) noexcept nogil:
        """Make a leaf of a node whose subtree is the end of the arrays."""
        self.tree.n_branches = self.tree.branch_start[place]
        if place + 1 < self.tree.n_nodes:
            self.tree.n_weights = self.tree.weight_start[place + 1]
        self.tree.n_nodes = place + 1
        self.tree.test[place] = -1
        self.tree.cut[place] = -1
        self.tree.default_branch[place] = -1

    cdef intp_t find_default(self, intp_t at, const Choice* choice) noexcept nogil:
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
        self, const Node* node, intp_t* kept, intp_t* n_kept
    ) noexcept nogil:
        """Return the test to ask at a node that was weighed; test -1 for none."""
        cdef:
            float64_t cost
            Choice best
        if self.n_samples > 0 and not self.stop[0]:
            if self.sample_choice(node, kept, n_kept, &best):
                return best
        if self.stop[0]:
            self.was_stopped = True
        best = choose(self.ws, node, &self.criterion, kept, n_kept)
        if best.test >= 0 and self.criterion.kind == BY_DTMC:
            decide(self.ws, &cost)
            if best.price + best.mistakes >= cost * (1.0 - TIE):
                best.test = -1
        return best

    cdef bint sample_choice(
        self, const Node* node, intp_t* kept, intp_t* n_kept, Choice* best
    ) noexcept nogil:
        """Find the test after which samples cost least; False if there is no answer.

        Without one, because nothing splits the node or it was stopped, the stack and
        what was weighed are as before.
        """
        cdef:
            intp_t i, top = self.ws.top
            float64_t least = INFINITY
            Node inner = node[0]
        self.list_candidates(node, kept, n_kept)
        if self.n_candidates == 1 and self.use_bounds:
            best[0] = self.candidates[0]
            return True
        if self.n_candidates > 0:
            inner.active = kept[0]
            inner.n_active = n_kept[0]
            self.price_candidates(&inner)
            # The samples weighed other nodes since.
            self.ws.weigh(node.start, node.n)
            if not self.stop[0]:
                for i in range(self.n_candidates):
                    least = min(least, self.totals[i])
                for i in range(self.n_candidates):
                    if self.totals[i] <= least * (1.0 + TIE):
                        break
                best[0] = self.candidates[i]
                return True
        self.ws.top = top
        return False

    cdef int list_candidates(
        self, const Node* node, intp_t* kept, intp_t* n_kept
    ) except -1 nogil:
        """List every split worth pricing, and the tests that can still split a node."""
        cdef:
            intp_t i, test, n_more
            Choice* place
        self.n_candidates = 0
        n_kept[0] = 0
        kept[0] = self.ws.take(node.n_active)
        if kept[0] < 0:
            return 0
        for i in range(node.n_active):
            test = self.ws.stack[node.active + i]
            self.make_room()
            place = self.candidates + self.n_candidates
            if self.ws.is_ordered[test]:
                n_more = score_cuts(
                    self.ws, node, test, &self.criterion, self.n_samples, place
                )
            else:
                n_more = score_test(self.ws, node, test, &self.criterion, place)
            if n_more == 0:
                continue
            self.n_candidates += n_more
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

    cdef void price_candidates(self, const Node* node) noexcept nogil:
        """Price every candidate, in threads if there is enough to do.

        What a candidate costs does not depend on the others, except that one which is
        dearer than another for certain need not be priced to the end.
        """
        cdef:
            intp_t i
            float64_t weight = self.ws.weight, best = INFINITY
        if self.n_threads > 1 and node.n * self.n_candidates >= PARALLEL_WORK:
            self.price_in_threads(node, weight)
            return
        for i in range(self.n_candidates):
            self.totals[i] = self.sampler.price_choice(
                node, weight, &self.candidates[i],
                1 if self.candidates[i].cut >= 0 else self.n_samples,
                best * (1.0 + 10 * TIE),
            )
            best = min(best, self.totals[i])

    cdef void price_in_threads(
        self, const Node* node, float64_t weight
    ) noexcept nogil:
        """Price every candidate.

        Each thread compares with what it has seen itself, and the least total is always
        exact.
        """
        cdef:
            intp_t i
            float64_t* best_of
        best_of = <float64_t*> malloc(self.n_threads * sizeof(float64_t))
        if best_of == NULL:
            self.ws.out_of_memory = True
            return
        for i in range(self.n_threads):
            best_of[i] = INFINITY
        self.sampler.next.stand_beside(self.sampler, node)
        for i in prange(
            self.n_candidates, schedule="dynamic", chunksize=1,
            num_threads=self.n_threads,
        ):
            self.totals[i] = self.sampler.price_choice_on(
                threadid(), node, weight, &self.candidates[i],
                1 if self.candidates[i].cut >= 0 else self.n_samples,
                best_of[threadid()] * (1.0 + 10 * TIE),
            )
            best_of[threadid()] = min(best_of[threadid()], self.totals[i])
        free(best_of)
