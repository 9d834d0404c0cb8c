"""Price what may come after a split by growing sample trees and forgetting them.

A sample is greedy (EG2, ID3) or draws its tests with chances that follow their scores
(SEG2, SID3). Random numbers come from the place in the tree, so that a sample is the
same whoever grows it, and when. This module must not know which tree is kept.
"""

from libc.math cimport INFINITY
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

import numpy as np

from askless._core.base._keys cimport draw_share, mix_with
from askless._core.base._types cimport float64_t, int32_t, intp_t, uint64_t
from askless._core.cost._criteria cimport (
    BY_GAIN, Choice, Criterion, SplitCriterion, choose, find_decisive, score_test,
)
from askless._core.cost._errors cimport ErrorTable
from askless._core.cost._workspace cimport (
    Node, Workspace, child_key, child_node, decide,
)

# What leaves are worth, by name.
VALUES = {
    "cost": <int> BY_COST,
    "errors": <int> BY_ERRORS,
    "leaves": <int> BY_LEAVES,
}


cdef float64_t leaf_value(Workspace ws, Value value, ErrorTable errors) noexcept nogil:
    cdef:
        intp_t s, c
        float64_t least, right = 0.0, others = 0.0, dear = 0.0
    if value == BY_LEAVES:
        return 1.0
    if value == BY_ERRORS:
        for s in range(ws.n_present):
            right = max(right, ws.totals[s])
        return errors.expect(ws.weight, ws.weight - right)
    c = decide(ws, &least)
    # What an error costs, on average: mistakes that were not seen yet count too.
    for s in range(ws.n_present):
        if ws.present[s] == c:
            right = ws.totals[s]
        else:
            dear += ws.totals[s] * ws.mistakes[ws.present[s], c]
    for s in range(ws.n_classes):
        dear += ws.mistakes[s, c]
    others = ws.weight - right + (ws.n_classes - 1)
    if others <= 0:
        return 0.0
    return errors.expect(ws.weight, ws.weight - right) * dear / others


cdef class Sampling:
    """How many sample trees price what follows a split, and how they are grown."""

    def __init__(
        self, intp_t n_samples, *, str value="cost", bint greedy_first=True,
        bint prunes=False, uint64_t seed=0, intp_t n_threads=1,
    ):
        self.n_samples = n_samples
        self.value = <Value> <int> VALUES[value]
        self.greedy_first = greedy_first
        self.prunes = prunes
        self.seed = seed
        self.n_threads = max(1, n_threads) if n_samples else 1


cdef class Sampler:
    """A workspace, and how to grow sample trees in it."""

    def __cinit__(self):
        self.scored = NULL

    def __init__(
        self,
        Workspace ws not None,
        ErrorTable errors not None,
        SplitCriterion criterion not None,
        Sampling sampling not None,
        bint use_bounds,
        const int32_t[::1] stop not None,
        Sampler others=None,
    ):
        self.ws = ws
        self.errors = errors
        self.value = sampling.value
        # Samples judge tests the same way, but leave none of them out.
        self.criterion = Criterion(
            criterion.settings.kind, criterion.settings.w, 0.0, False, False
        )
        self.greedy_first = sampling.greedy_first
        self.prunes = sampling.prunes
        self.use_bounds = use_bounds
        self.stop = stop
        self.next = others
        self.scored = <Choice*> malloc(max(ws.n_tests, 1) * sizeof(Choice))
        if self.scored == NULL:
            raise MemoryError("no memory left for the tests of a node")
        self.node_rows = np.zeros(ws.n_rows, dtype=np.int32)
        self.branch_rows = np.zeros(ws.n_rows, dtype=np.int32)
        self.kept_marks = np.zeros(
            ws.prices.n_tests + ws.prices.n_groups + 1, dtype=np.int32
        )

    def __dealloc__(self):
        free(self.scored)

    cdef Choice draw_choice(
        self, const Node* node, intp_t* kept, intp_t* n_kept
    ) noexcept nogil:
        """Draw a test with a chance that follows its score; any, if none has one."""
        cdef:
            intp_t i, m = 0
            float64_t total = 0.0, reached = 0.0, target
            Choice none
        none.test = -1
        n_kept[0] = 0
        kept[0] = self.ws.take(node.n_active)
        if kept[0] < 0:
            return none
        for i in range(node.n_active):
            if not score_test(
                self.ws, node, self.ws.stack[node.active + i], &self.criterion,
                &self.scored[m],
            ):
                continue
            self.ws.stack[kept[0] + m] = self.ws.stack[node.active + i]
            total += self.scored[m].score
            m += 1
        n_kept[0] = m
        if m == 0:
            return none
        if self.criterion.kind == BY_GAIN:
            # A test that settles everything is taken at once.
            i = find_decisive(self.ws, self.scored, m)
            if i >= 0:
                return self.scored[i]
        target = draw_share(mix_with(node.key, 0))
        if total <= 0:
            return self.scored[min(m - 1, <intp_t> (target * m))]
        target *= total
        for i in range(m):
            reached += self.scored[i].score
            if reached > target:
                return self.scored[i]
        return self.scored[m - 1]

    cdef float64_t price_sample(
        self, const Node* node, bint is_random, float64_t limit, intp_t depth
    ) noexcept nogil:
        cdef:
            intp_t top = self.ws.top, marks = self.ws.path.n_marks
            intp_t kept = -1, n_kept = 0, at, j
            float64_t total = 0.0, due, leaf = 0.0
            Choice choice
            Node child
        if self.stop[0]:
            return limit
        self.ws.weigh(node.start, node.n)
        if self.ws.n_present < 2 or depth >= MAX_DEPTH or node.n_active == 0:
            return leaf_value(self.ws, self.value, self.errors)
        if is_random:
            choice = self.draw_choice(node, &kept, &n_kept)
        else:
            choice = choose(self.ws, node, &self.criterion, &kept, &n_kept)
        if choice.test < 0:
            self.ws.top = top
            return leaf_value(self.ws, self.value, self.errors)
        if self.prunes:
            leaf = leaf_value(self.ws, self.value, self.errors)
            limit = min(limit, leaf) if self.use_bounds else limit
        if self.value == BY_COST:
            total = choice.price
        at = self.ws.buy_and_split(
            node, choice.test, choice.cut, self.ws.weight, &due
        )
        if at >= 0 and not (self.use_bounds and total >= limit):
            for j in range(self.ws.stack[at]):
                child = child_node(
                    self.ws, at, j, kept, n_kept,
                    child_key(node.key, choice.test, choice.cut, j), due,
                )
                total += self.price_sample(
                    &child, is_random, limit - total if self.use_bounds else INFINITY,
                    depth + 1,
                )
                if self.use_bounds and total >= limit:
                    break
        if self.prunes and total >= leaf:
            self.ws.leave(node, marks, top, True)
            return leaf
        self.ws.leave(node, marks, top, False)
        return total

    cdef float64_t price_choice(
        self, const Node* node, float64_t weight, const Choice* choice,
        intp_t n_samples, float64_t limit,
    ) noexcept nogil:
        cdef:
            intp_t top = self.ws.top, marks = self.ws.path.n_marks
            intp_t at, j, n_children
            float64_t total = 0.0, due
            Node branch
        if self.value == BY_COST:
            total = choice.price
        memcpy(&self.node_rows[0], &self.ws.rows[node.start], node.n * sizeof(int32_t))
        at = self.ws.buy_and_split(node, choice.test, choice.cut, weight, &due)
        n_children = self.ws.stack[at] if at >= 0 else 0
        for j in range(n_children):
            if self.stop[0] or (self.use_bounds and total >= limit):
                break
            branch = child_node(
                self.ws, at, j, node.active, node.n_active,
                child_key(node.key, choice.test, choice.cut, j), due,
            )
            total += self.price_branch(&branch, n_samples, limit - total)
        self.ws.path.unwind(marks)
        memcpy(&self.ws.rows[node.start], &self.node_rows[0], node.n * sizeof(int32_t))
        self.ws.top = top
        return total

    cdef float64_t price_branch(
        self, const Node* branch, intp_t n_samples, float64_t limit
    ) noexcept nogil:
        """Return the cost of the best of some samples; pay for what it has bought.

        Below a delayed test what the best sample buys is paid for in the branches after
        it. Elsewhere a sample leaves nothing paid for.
        """
        cdef:
            intp_t marks = self.ws.path.n_marks, n_kept_marks = 0, sample, m
            size_t size = branch.n * sizeof(int32_t)
            float64_t best = INFINITY, bound, cost
            Node root = branch[0]
        memcpy(&self.branch_rows[0], &self.ws.rows[branch.start], size)
        for sample in range(n_samples):
            if sample > 0:
                memcpy(&self.ws.rows[branch.start], &self.branch_rows[0], size)
            root.key = mix_with(branch.key, sample)
            bound = min(best, limit) if self.use_bounds else INFINITY
            cost = self.price_sample(
                &root, sample > 0 or not self.greedy_first, bound, 0
            )
            if cost < best:
                best = cost
                n_kept_marks = self.ws.path.n_marks - marks
                for m in range(n_kept_marks):
                    self.kept_marks[m] = self.ws.path.log[marks + m]
            self.ws.path.unwind(marks)
        for m in range(n_kept_marks):
            if self.kept_marks[m] < self.ws.n_tests:
                self.ws.path.charge(self.kept_marks[m])
        return best

    cdef float64_t price_choice_on(
        self, intp_t thread, const Node* node, float64_t weight, const Choice* choice,
        intp_t n_samples, float64_t limit,
    ) noexcept nogil:
        if thread > 0:
            return self.next.price_choice_on(
                thread - 1, node, weight, choice, n_samples, limit
            )
        return self.price_choice(node, weight, choice, n_samples, limit)

    cdef void stand_beside(self, Sampler first, const Node* node) noexcept nogil:
        cdef intp_t i
        memcpy(
            &self.ws.rows[node.start], &first.ws.rows[node.start],
            node.n * sizeof(int32_t),
        )
        self.ws.path.unwind(0)
        for i in range(first.ws.path.n_marks):
            if first.ws.path.log[i] < self.ws.n_tests:
                self.ws.path.charge(first.ws.path.log[i])
        self.ws.top = 0
        if self.ws.take(node.active + node.n_active) == 0:
            memcpy(
                &self.ws.stack[node.active], &first.ws.stack[node.active],
                node.n_active * sizeof(int32_t),
            )
        if self.next is not None:
            self.next.stand_beside(first, node)
