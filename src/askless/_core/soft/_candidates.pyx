"""List the splits of a node that are worth looking ahead from, and rank them.

This module must not know how a split is priced by looking ahead.
"""

from libc.math cimport INFINITY
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy

from askless._core.base._types cimport float64_t, int32_t, intp_t
from askless._core.soft._rows cimport RowSet, Split
from askless._core.soft._splits cimport SplitFinder


# Values closer than this, relatively, tie: rounding must not decide.
cdef float64_t TIE = 1e-9


cdef class Candidates:
    """A list of splits that grows as needed."""

    def __dealloc__(self):
        free(self.splits)
        free(self.gains)
        free(self.prices)
        free(self.order)

    cdef int reserve(self, intp_t n_more) except -1:
        """Make sure that so many more splits fit."""
        cdef:
            intp_t room = 2 * (self.n + n_more)
            void* larger
        if self.n + n_more <= self.room:
            return 0
        larger = realloc(self.splits, room * sizeof(Split))
        if larger != NULL:
            self.splits = <Split*> larger
            larger = realloc(self.gains, room * sizeof(float64_t))
        if larger != NULL:
            self.gains = <float64_t*> larger
            larger = realloc(self.prices, room * sizeof(float64_t))
        if larger != NULL:
            self.prices = <float64_t*> larger
            larger = realloc(self.order, room * sizeof(int32_t))
        if larger == NULL:
            raise MemoryError("no memory left to list splits")
        self.order = <int32_t*> larger
        self.room = room
        return 0

    cdef int list_splits(
        self, SplitFinder finder, const RowSet* rows, intp_t n_cuts, float64_t leaf
    ) except -1:
        cdef:
            float64_t at_least = rows.floor + finder.examples.leaf.constant
            intp_t test
            Split split
        self.n = 0
        for test in range(finder.examples.n_tests):
            split = Split(<int32_t> test, -1, False, 0.0, 0.0)
            if not finder.open_test(rows, test, at_least, leaf, &split.charge):
                continue
            self.reserve(finder.sets.n_met)
            if finder.examples.is_ordered[test]:
                self.add_cuts(finder, rows, n_cuts, split)
            else:
                split.value = -finder.price_branches() - split.charge
                self.splits[self.n] = split
                self.n += 1
        return 0

    cdef void add_cuts(
        self, SplitFinder finder, const RowSet* rows, intp_t n_cuts, Split split
    ) noexcept nogil:
        """Add the cuts of most gain of the number that was opened, by code."""
        cdef:
            intp_t first = self.n, j, i, worst
            float64_t slack = TIE * rows.weight, before, gain = 0.0
        finder.list_cuts(rows, split.test)
        finder.price_cuts(rows)
        before = finder.bits_of(finder.sets.sums + rows.sums)
        for j in range(finder.n_cuts):
            if 0 < n_cuts < finder.n_cuts:
                gain = finder.gain_of_cut(rows, j, before)
                if self.n - first == n_cuts:
                    worst = self.find_worst(first, gain, slack)
                    if worst < 0:
                        continue
                    for i in range(worst, self.n - 1):
                        self.gains[i] = self.gains[i + 1]
                        self.splits[i] = self.splits[i + 1]
                    self.n -= 1
            split.cut = finder.cut_code[j]
            split.missing_right = finder.missing_right[j]
            split.value = -finder.costs[j] - split.charge
            self.gains[self.n] = gain
            self.splits[self.n] = split
            self.n += 1

    cdef intp_t find_worst(
        self, intp_t first, float64_t gain, float64_t slack
    ) noexcept nogil:
        """Return the cut that one of more gain takes the place of; -1 if there is none.

        Of equal ones the first stays.
        """
        cdef intp_t worst = first, i
        for i in range(first, self.n):
            if self.gains[i] < self.gains[worst] - slack:
                worst = i
        for i in range(worst + 1, self.n):
            if self.gains[i] <= self.gains[worst] + slack:
                worst = i
        return worst if gain > self.gains[worst] + slack else -1

    cdef void sort(self) noexcept nogil:
        """Merge runs of 1, 2, 4 ... splits."""
        cdef:
            intp_t width = 1, start, middle, end, i, j, k
            int32_t* merged = <int32_t*> self.gains
        self.n_kept = self.n
        for i in range(self.n):
            self.order[i] = <int32_t> i
        while width < self.n:
            start = 0
            while start < self.n:
                middle = min(start + width, self.n)
                end = min(start + 2 * width, self.n)
                i = start
                j = middle
                for k in range(start, end):
                    if j == end or i < middle and not (
                        self.splits[self.order[i]].value
                        < self.splits[self.order[j]].value
                    ):
                        merged[k] = self.order[i]
                        i += 1
                    else:
                        merged[k] = self.order[j]
                        j += 1
                start = end
            memcpy(self.order, merged, self.n * sizeof(int32_t))
            width *= 2

    cdef void keep_cheapest(self, intp_t n_kept) noexcept nogil:
        cdef intp_t i
        for i in range(self.n):
            self.splits[i].value = -self.prices[i]
        self.sort()
        self.n_kept = min(n_kept, self.n)

    cdef Split cheapest(self, float64_t leaf) noexcept nogil:
        cdef:
            float64_t least = INFINITY
            intp_t i
        for i in range(self.n):
            least = min(least, self.prices[i])
        if least < leaf * (1.0 - TIE):
            for i in range(self.n):
                if self.prices[i] <= least * (1.0 + TIE):
                    return self.splits[i]
        return Split(-1, -1, False, 0.0, 0.0)
