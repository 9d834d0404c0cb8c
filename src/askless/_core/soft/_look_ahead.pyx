"""Price a split by the trees that could be grown below it, and forget them.

A subtree is worth the least of a leaf and of what its tests and leaves charge. A
candidate split is priced by growing, pricing and forgetting a few subtrees on each of
its branches, by EG2, DTMC and SEG2; or, in two steps, by the cheapest split of each
branch.

Delayed tests: below one that is not paid for, everything is bought together with it. It
is charged to all rows of the node of the delayed test, once for all its branches.

This module must not know which splits are candidates, nor how a tree is kept.
"""

from libc.math cimport INFINITY

from askless._core.base._keys cimport mix_with
from askless._core.base._types cimport float64_t, int32_t, intp_t, uint8_t, uint64_t
from askless._core.cost._payments cimport due_below
from askless._core.soft._rows cimport (
    Fill, RowSet, RowSets, SoftRows, Split, price_leaf,
)
from askless._core.soft._splits cimport (
    DTMC, EG2, ROLLOUT, SEG2, TWO_STEP, SplitFinder,
)
from askless._core.price._prices cimport Path


# Costs closer than this, relatively, tie; work is given up only beyond the second.
cdef float64_t TIE = 1e-9
cdef float64_t HOPELESS = 1e-8


cdef class Rollout:
    """Where one thread stands, and how it prices what may come below."""

    def __init__(
        self, SoftRows examples not None, Path path not None, float64_t exponent,
        bint use_floors, Rollout others=None,
    ):
        self.examples = examples
        self.sets = RowSets(examples)
        self.path = path
        self.finder = SplitFinder(self.sets, path, exponent)
        self.use_floors = use_floors
        self.stop = NULL
        self.next = others

    cdef RowSet enter(
        self, const int32_t[::1] rows, const uint8_t[::1] paid,
        const uint8_t[::1] is_open, float64_t due,
    ):
        # What is paid for on the way here is not in the log: nobody takes it back.
        self.path.n_marks = 0
        self.path.paid[:] = paid
        self.path.is_open[:] = is_open
        self.finder.due = due
        self.stop = NULL
        self.sets.clear()
        return self.sets.push(rows)

    cdef int check(self) except -1:
        """Raise if memory ran out."""
        if self.sets.failed:
            self.sets.failed = False
            raise MemoryError("no memory left to price splits")
        return 0

    cdef float64_t leaf_of(self, const RowSet* rows) noexcept nogil:
        """Return the cost of a leaf of a set."""
        return price_leaf(&self.examples.leaf, self.sets.sums + rows.sums)

    cdef void buy(self, intp_t test, float64_t weight) noexcept nogil:
        self.finder.due = due_below(self.path, test, weight, self.finder.due)
        self.path.charge(test)

    # Trees that a criterion grows.

    cdef float64_t price_set(
        self, RowSet rows, int criterion, uint64_t key, float64_t limit
    ) noexcept nogil:
        cdef:
            float64_t leaf = self.leaf_of(&rows), due = self.finder.due, total
            intp_t n_marks = self.path.n_marks
            Fill fill = self.sets.fill()
            Split split
        # A split makes a second leaf.
        if not rows.floor + self.examples.leaf.constant < leaf or self.sets.failed:
            return leaf
        if rows.floor >= limit:
            return rows.floor
        if self.stop != NULL and self.stop[0]:
            # The candidate will be thrown away.
            return leaf
        split = self.finder.pick(&rows, criterion, key, leaf)
        if split.test < 0:
            return leaf
        total = self.price_below(&rows, &split, criterion, key, leaf, limit)
        self.sets.release(fill)
        if total == leaf or due == 0:
            self.path.unwind(n_marks)
        self.finder.due = due
        return total

    cdef float64_t price_below(
        self, const RowSet* rows, const Split* split, int criterion, uint64_t key,
        float64_t leaf, float64_t limit,
    ) noexcept nogil:
        """Buy a test and return what the tree costs, or the leaf if that is less.

        What is returned is no less than the limit if the tree is not.
        """
        cdef:
            float64_t total = split.charge
            # What is certain to come on top of what is priced.
            float64_t to_come
            intp_t n_branches, first, at
            RowSet branch
        first = self.sets.divide(rows, split, &n_branches)
        self.buy(split.test, rows.weight)
        to_come = rows.floor + (n_branches - 1) * self.examples.leaf.constant
        for at in range(n_branches):
            branch = self.sets.sets[first + at]
            to_come -= branch.floor
            total += self.price_set(
                branch, criterion, mix_with(key, at), limit - total - to_come
            )
            if total + to_come >= leaf * (1.0 - TIE):
                return leaf
            if total + to_come >= limit:
                return total + to_come
        return total

    # Candidates.

    cdef float64_t price_candidate(
        self, RowSet rows, Split split, LookAhead how, float64_t bound
    ) noexcept nogil:
        cdef:
            float64_t total = split.charge, due = self.finder.due
            intp_t n_marks = self.path.n_marks, n_branches, first
            Fill fill = self.sets.fill()
        bound = bound * (1.0 + HOPELESS)
        first = self.sets.divide(&rows, &split, &n_branches)
        how.key = mix_with(mix_with(how.key, split.test), split.cut + 1)
        self.buy(split.test, rows.weight)
        if self.finder.due > 0 and how.criterion == ROLLOUT:
            total += self.price_together(first, n_branches, &how, bound - total)
        else:
            total = self.price_apart(&rows, &split, first, n_branches, &how, bound)
        self.path.unwind(n_marks)
        self.finder.due = due
        self.sets.release(fill)
        return total

    cdef float64_t price_apart(
        self, const RowSet* rows, const Split* split, intp_t first, intp_t n_branches,
        const LookAhead* how, float64_t bound,
    ) noexcept nogil:
        """Return the charge and what each branch costs by itself."""
        cdef:
            float64_t total = split.charge
            float64_t to_come = (
                rows.floor + (n_branches - 1) * self.examples.leaf.constant
            )
            intp_t at
            RowSet branch
        for at in range(n_branches):
            if total + to_come > bound:
                return INFINITY
            branch = self.sets.sets[first + at]
            to_come -= branch.floor
            total += self.price_branch(
                &branch, how, mix_with(how.key, at), bound - total - to_come
            )
        return total

    cdef float64_t price_branch(
        self, const RowSet* rows, const LookAhead* how, uint64_t key, float64_t limit
    ) noexcept nogil:
        """Return the least price of the trees grown on a branch.

        If it is the limit or more, what is returned may be anything from there on.
        """
        cdef:
            float64_t leaf = self.leaf_of(rows), least = leaf
            intp_t n_marks = self.path.n_marks, sample
            Split split
        if not rows.floor + self.examples.leaf.constant < leaf:
            return leaf
        if how.criterion == TWO_STEP:
            split = self.finder.pick(rows, DTMC, key, leaf)
            return leaf if split.test < 0 else min(leaf, -split.value)
        for sample in range(how.n_samples + 2):
            least = min(
                least,
                self.price_set(
                    rows[0], criterion_of(sample), mix_with(key, sample),
                    min(least, limit) if self.use_floors else INFINITY,
                ),
            )
            self.path.unwind(n_marks)
        return least

    cdef float64_t price_together(
        self, intp_t first, intp_t n_branches, const LookAhead* how, float64_t bound
    ) noexcept nogil:
        """Return the least price of trees grown on all branches, bought together.

        What one branch buys is free in the next, so a criterion prices all of them in
        turn.
        """
        cdef:
            float64_t least = 0.0, total
            intp_t n_marks = self.path.n_marks, sample, at
        for at in range(n_branches):
            least += self.leaf_of(&self.sets.sets[first + at])
        for sample in range(how.n_samples + 2):
            total = 0.0
            for at in range(n_branches):
                total += self.price_set(
                    self.sets.sets[first + at], criterion_of(sample),
                    mix_with(mix_with(how.key, at), sample), INFINITY,
                )
                if total > bound:
                    break
            least = min(least, total)
            self.path.unwind(n_marks)
        return least

    cdef float64_t price_candidate_on(
        self, intp_t thread, RowSet rows, Split split, LookAhead how, float64_t bound
    ) noexcept nogil:
        if thread > 0:
            return self.next.price_candidate_on(thread - 1, rows, split, how, bound)
        return self.price_candidate(rows, split, how, bound)


cdef inline int criterion_of(intp_t sample) noexcept nogil:
    """Return the criterion of a sample: one of each greedy one, then drawn ones."""
    return EG2 if sample == 0 else DTMC if sample == 1 else SEG2
