"""Price what may come after a split by growing sample trees and forgetting them.

A sample is greedy (EG2, ID3) or draws its tests with chances that follow their scores
(SEG2, SID3). Random numbers come from the place in the tree, so that a sample is the
same whoever grows it, and when. This module must not know which tree is kept.
"""

from libc.math cimport INFINITY
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

import numpy as np

from askless._core.cost._errors cimport ErrorTable
from askless._core.cost._criteria cimport BY_GAIN, Choice, Rule, choose, judge
from askless._core.base._types cimport float64_t, int32_t, intp_t, uint64_t
from askless._core.cost._workspace cimport Workspace, decide, draw, mix_keys, times_log

cdef enum:
    # A recursion deeper than this ends in a leaf; the thread's stack is not endless.
    MAX_DEPTH = 5000

# Entropies closer than this, in bits a row, are equal.
cdef float64_t GRAIN = 1.0 / 68719476736.0


cdef uint64_t child_key(
    uint64_t key, intp_t test, intp_t cut, intp_t branch
) noexcept nogil:
    return mix_keys(
        mix_keys(mix_keys(key, <uint64_t> test), <uint64_t> (cut + 1)),
        <uint64_t> branch,
    )


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


cdef class Sampler:
    """A workspace, and how to grow sample trees in it."""

    def __cinit__(self):
        self.judged = NULL

    def __init__(
        self,
        Workspace ws not None,
        ErrorTable errors not None,
        int value,
        int rule,
        float64_t w,
        bint greedy_first,
        bint prunes,
        bint use_bounds,
        const int32_t[::1] stop not None,
        Sampler others=None,
    ):
        self.ws = ws
        self.errors = errors
        self.value = <Value> value
        self.taste.rule = <Rule> rule
        self.taste.w = w
        self.taste.least_part = 0.0
        self.taste.with_penalty = False
        self.taste.needs_gain = False
        self.greedy_first = greedy_first
        self.prunes = prunes
        self.use_bounds = use_bounds
        self.stop = stop
        self.next = others
        self.judged = <Choice*> malloc(max(ws.n_tests, 1) * sizeof(Choice))
        if self.judged == NULL:
            raise MemoryError("no memory left for the tests of a node")
        self.node_rows = np.zeros(ws.n_rows, dtype=np.int32)
        self.branch_rows = np.zeros(ws.n_rows, dtype=np.int32)
        self.kept_marks = np.zeros(
            ws.prices.n_tests + ws.prices.n_groups + 1, dtype=np.int32
        )

    def __dealloc__(self):
        free(self.judged)

    cdef Choice draw_choice(
        self, intp_t start, intp_t n, intp_t active, intp_t n_active, uint64_t key,
        float64_t ordering, intp_t* kept, intp_t* n_kept,
    ) noexcept nogil:
        """Draw a test with a chance that follows its score; any, if none has one."""
        cdef:
            intp_t i, s, m = 0
            float64_t total = 0.0, reached = 0.0, target, bits
            Choice none
        none.test = -1
        n_kept[0] = 0
        kept[0] = self.ws.take(n_active)
        if kept[0] < 0:
            return none
        bits = times_log(self.ws, self.ws.weight)
        for s in range(self.ws.n_present):
            bits -= times_log(self.ws, self.ws.totals[s])
        bits /= self.ws.weight
        for i in range(n_active):
            if not judge(
                self.ws, start, n, self.ws.stack[active + i], &self.taste, ordering,
                &self.judged[m],
            ):
                continue
            self.ws.stack[kept[0] + m] = self.ws.stack[active + i]
            total += self.judged[m].score
            m += 1
        n_kept[0] = m
        if m == 0:
            return none
        if self.taste.rule == BY_GAIN:
            # A test that settles everything is taken at once.
            for i in range(m):
                if self.judged[i].gain >= bits - GRAIN:
                    return self.judged[i]
        target = draw(key)
        if total <= 0:
            return self.judged[min(m - 1, <intp_t> (target * m))]
        target *= total
        for i in range(m):
            reached += self.judged[i].score
            if reached > target:
                return self.judged[i]
        return self.judged[m - 1]

    cdef float64_t price_sample(
        self, intp_t start, intp_t n, intp_t active, intp_t n_active, uint64_t key,
        float64_t ordering, bint is_random, float64_t limit, intp_t depth,
    ) noexcept nogil:
        cdef:
            intp_t top = self.ws.top, marks = self.ws.path.n_marks
            intp_t kept = -1, n_kept = 0, at, j, n_children
            float64_t total = 0.0, below = ordering, leaf = 0.0
            Choice choice
        if self.stop[0]:
            return limit
        self.ws.weigh(start, n)
        if self.ws.n_present < 2 or depth >= MAX_DEPTH or n_active == 0:
            return leaf_value(self.ws, self.value, self.errors)
        if is_random:
            choice = self.draw_choice(
                start, n, active, n_active, key, ordering, &kept, &n_kept
            )
        else:
            choice = choose(
                self.ws, start, n, active, n_active, &self.taste, ordering, &kept,
                &n_kept,
            )
        if choice.test < 0:
            self.ws.top = top
            return leaf_value(self.ws, self.value, self.errors)
        if self.prunes:
            leaf = leaf_value(self.ws, self.value, self.errors)
            limit = min(limit, leaf) if self.use_bounds else limit
        if self.value == BY_COST:
            total = choice.price
        if (
            ordering <= 0
            and self.ws.prices.delayed[choice.test]
            and not self.ws.path.paid[choice.test]
        ):
            below = self.ws.weight
        self.ws.path.charge(choice.test)
        at = self.ws.split(start, n, choice.test, choice.cut)
        if at >= 0 and not (self.use_bounds and total >= limit):
            n_children = self.ws.stack[at]
            for j in range(n_children):
                total += self.price_sample(
                    self.ws.stack[at + 1 + n_children + j],
                    self.ws.stack[at + 2 + n_children + j]
                    - self.ws.stack[at + 1 + n_children + j],
                    kept, n_kept, child_key(key, choice.test, choice.cut, j),
                    below, is_random, limit - total if self.use_bounds else INFINITY,
                    depth + 1,
                )
                if self.use_bounds and total >= limit:
                    break
        if self.prunes and total >= leaf:
            total = leaf
            self.ws.path.unwind(marks)
        if ordering <= 0:
            self.ws.path.unwind(marks)
        self.ws.top = top
        return total

    cdef float64_t price_choice(
        self, intp_t start, intp_t n, intp_t active, intp_t n_active, uint64_t key,
        float64_t ordering, float64_t weight, const Choice* choice, intp_t n_samples,
        float64_t limit,
    ) noexcept nogil:
        cdef:
            intp_t top = self.ws.top, marks = self.ws.path.n_marks
            intp_t branch_marks, n_kept_marks
            intp_t at, j, s, n_children, first, size, m
            float64_t total = 0.0, below = ordering, best, bound, cost
            uint64_t branch_key
        if self.value == BY_COST:
            total = choice.price
        if (
            ordering <= 0
            and self.ws.prices.delayed[choice.test]
            and not self.ws.path.paid[choice.test]
        ):
            below = weight
        memcpy(&self.node_rows[0], &self.ws.rows[start], n * sizeof(int32_t))
        self.ws.path.charge(choice.test)
        at = self.ws.split(start, n, choice.test, choice.cut)
        n_children = self.ws.stack[at] if at >= 0 else 0
        for j in range(n_children):
            if self.stop[0] or (self.use_bounds and total >= limit):
                break
            first = self.ws.stack[at + 1 + n_children + j]
            size = self.ws.stack[at + 2 + n_children + j] - first
            branch_key = child_key(key, choice.test, choice.cut, j)
            branch_marks = self.ws.path.n_marks
            memcpy(&self.branch_rows[0], &self.ws.rows[first], size * sizeof(int32_t))
            best = INFINITY
            n_kept_marks = 0
            for s in range(n_samples):
                if s > 0:
                    memcpy(
                        &self.ws.rows[first], &self.branch_rows[0],
                        size * sizeof(int32_t),
                    )
                bound = min(best, limit - total) if self.use_bounds else INFINITY
                cost = self.price_sample(
                    first, size, active, n_active, mix_keys(branch_key, s), below,
                    s > 0 or not self.greedy_first, bound, 0,
                )
                if cost < best:
                    best = cost
                    # Below a delayed test the branches share one order: what the best
                    # sample has ordered is paid for in the branches after it.
                    n_kept_marks = self.ws.path.n_marks - branch_marks
                    for m in range(n_kept_marks):
                        self.kept_marks[m] = self.ws.path.log[branch_marks + m]
                self.ws.path.unwind(branch_marks)
            for m in range(n_kept_marks):
                if self.kept_marks[m] < self.ws.n_tests:
                    self.ws.path.charge(self.kept_marks[m])
            total += best
        self.ws.path.unwind(marks)
        memcpy(&self.ws.rows[start], &self.node_rows[0], n * sizeof(int32_t))
        self.ws.top = top
        return total

    cdef float64_t price_choice_on(
        self, intp_t thread, intp_t start, intp_t n, intp_t active, intp_t n_active,
        uint64_t key, float64_t ordering, float64_t weight, const Choice* choice,
        intp_t n_samples, float64_t limit,
    ) noexcept nogil:
        if thread > 0:
            return self.next.price_choice_on(
                thread - 1, start, n, active, n_active, key, ordering, weight, choice,
                n_samples, limit,
            )
        return self.price_choice(
            start, n, active, n_active, key, ordering, weight, choice, n_samples, limit
        )

    cdef void stand_beside(
        self, Sampler first, intp_t start, intp_t n, intp_t active, intp_t n_active
    ) noexcept nogil:
        cdef intp_t i
        memcpy(&self.ws.rows[start], &first.ws.rows[start], n * sizeof(int32_t))
        self.ws.path.unwind(0)
        for i in range(first.ws.path.n_marks):
            if first.ws.path.log[i] < self.ws.n_tests:
                self.ws.path.charge(first.ws.path.log[i])
        self.ws.top = 0
        if self.ws.take(active + n_active) == 0:
            memcpy(
                &self.ws.stack[active], &first.ws.stack[active],
                n_active * sizeof(int32_t),
            )
        if self.next is not None:
            self.next.stand_beside(first, start, n, active, n_active)
