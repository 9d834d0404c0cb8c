"""Grow the trees of one booster, leaf by leaf, each split charged to rows that buy.

A split by a column charges every row of the leaf that no tree has asked for it before.
So a column that most rows have bought is nearly free, and the booster spends where it
tells most. This module must not know losses nor policies.
"""

from cython.parallel import prange, threadid

from libc.string cimport memcpy, memset

import numpy as np

from askless._core.base._types cimport (
    float64_t,
    int32_t,
    intp_t,
    uint8_t,
    uint16_t,
    uint64_t,
)
from askless._core.base._keys cimport draw_below, mix_with
from askless._core.boost._splits cimport Split, Terms, split_category, split_number

cdef:
    # What a split must lower the loss by, beyond what it charges.
    float64_t LEAST_GAIN = 1e-9
    # Less work than so many cells is done by one thread.
    intp_t PARALLEL_CELLS = 200_000


cdef void fill_column(
    float64_t* cells, const float64_t* packed, const uint16_t* codes,
    const int32_t* rows, intp_t n, int32_t width,
) noexcept nogil:
    """Add the derivatives of rows to the cells of their levels, and count them."""
    cdef:
        float64_t* cell
        const float64_t* found = packed
        intp_t i
        int32_t j
    for i in range(n):
        cell = cells + width * <intp_t>codes[rows[i]]
        for j in range(width - 1):
            cell[j] += found[j]
        cell[width - 1] += 1.0
        found += width - 1


cdef inline void add_pair(
    float64_t* cell, float64_t gradient, float64_t second
) noexcept nogil:
    cell[0] += gradient
    cell[1] += second
    cell[2] += 1.0


cdef void fill_four(
    float64_t** cells, const float64_t* packed, const uint16_t** codes,
    const int32_t* rows, intp_t n,
) noexcept nogil:
    """Do the same for four columns of two classes.

    Where a column has few levels, each row waits for what the one before has added to
    the same cell: meanwhile the other columns go on.
    """
    cdef:
        intp_t i, row
        float64_t gradient, second
    for i in range(n):
        row = rows[i]
        gradient, second = packed[2 * i], packed[2 * i + 1]
        add_pair(cells[0] + 3 * <intp_t>codes[0][row], gradient, second)
        add_pair(cells[1] + 3 * <intp_t>codes[1][row], gradient, second)
        add_pair(cells[2] + 3 * <intp_t>codes[2][row], gradient, second)
        add_pair(cells[3] + 3 * <intp_t>codes[3][row], gradient, second)


cdef object share_out(float64_t[:, ::1] weights):
    """Return weights of nodes as shares of the first one's, which may be nothing."""
    found = np.asarray(weights)
    return found / np.where(found[0] > 0.0, found[0], 1.0)


cdef class TreeGrower:
    """Rows by their codes, and which columns each of them has bought.

    Parameters
    ----------
    codes : uint16 array of shape (n_columns, n_rows)
    n_levels : int32 array of shape (n_columns,)
        Levels of each column; the next code is a missing value, then an unknown one.
    is_category : uint8 array of shape (n_columns,)
    weights : float64 array of shape (n_rows,)
        What a row weighs.
    n_outputs : int
        Values of a leaf.
    n_leaves, l2, least_rows
        Leaves of a tree, at most; what shrinks them; rows of a leaf, at least.
    n_threads : int
        Trees do not depend on it.
    """

    cdef:
        const uint16_t[:, ::1] codes
        const int32_t[::1] n_levels
        const uint8_t[::1] is_category
        const float64_t[::1] weights
        # What each row counts when it is charged, of the tree that grows, and whether
        # any column has a price.
        const float64_t[::1] charged
        bint is_charged
        readonly uint8_t[:, ::1] bought
        int32_t n_columns, n_outputs, width, n_leaves, n_threads, n_nodes
        intp_t n_rows, n_cells
        Terms terms
        # Where the cells of a column start, in numbers.
        intp_t[::1] start
        # Of each leaf that still grows: cells, what charging by each column would cost.
        float64_t[:, ::1] cells
        float64_t[:, ::1] unbought
        float64_t[:, ::1] totals
        int32_t[::1] slot
        # Of each thread: room for finding a split; of each column: its best one.
        intp_t widest
        float64_t[:, ::1] room
        int32_t[:, ::1] order
        float64_t[::1] gains
        int32_t[::1] cuts
        uint8_t[::1] sides
        # Which columns the split of a leaf may ask for, all of them in the order in
        # which they are drawn, and how many are.
        uint8_t[::1] drawn
        int32_t[::1] deck
        int32_t n_drawn
        uint64_t seed
        # The tree that was grown last.
        int32_t[::1] rows, spare, column, cut, left, right, best_column, best_cut
        # The derivatives of the rows of a leaf, side by side.
        float64_t[:, ::1] packed
        uint8_t[::1] missing_left, best_side
        float64_t[::1] best_gain
        float64_t[:, ::1] value
        intp_t[::1] first, last
        uint8_t[:, ::1] goes_left

    def __init__(
        self, codes, n_levels, is_category, weights, *, n_outputs, n_leaves, l2,
        least_rows, n_threads=1,
    ):
        cdef int32_t most = 2 * n_leaves - 1
        self.codes, self.n_levels, self.is_category = codes, n_levels, is_category
        self.weights = self.charged = weights
        self.n_columns, self.n_rows = codes.shape
        self.n_outputs, self.width = n_outputs, 2 * n_outputs + 1
        self.n_leaves, self.n_threads = n_leaves, n_threads
        self.terms = Terms(n_outputs, l2, least_rows)
        sizes = (np.asarray(n_levels, dtype=np.intp) + 2) * self.width
        self.start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
        self.n_cells = self.start[self.n_columns]
        self.bought = np.zeros((self.n_rows, self.n_columns), dtype=np.uint8)
        self.cells = np.zeros((n_leaves, self.n_cells))
        self.unbought = np.zeros((most, self.n_columns))
        self.totals = np.zeros((most, self.width))
        widest = self.widest = int(np.max(n_levels, initial=1)) + 2
        self.room = np.zeros((n_threads, (self.width + 2) * (widest + 2)))
        # Levels of a number; of a category five numbers for each: one of the order, four
        # to sort by.
        self.order = np.zeros((n_threads, 6 * widest), np.int32)
        is_any = bool(np.any(is_category))
        self.goes_left = np.zeros((most, widest if is_any else 1), np.uint8)
        self.gains, self.cuts = np.zeros(self.n_columns), self._whole(self.n_columns)
        self.sides = np.zeros(self.n_columns, dtype=np.uint8)
        self.drawn = np.zeros(self.n_columns, dtype=np.uint8)
        self.deck = self._whole(self.n_columns)
        self.rows, self.spare = self._whole(self.n_rows), self._whole(self.n_rows)
        self.packed = np.empty((self.n_rows, 2 * n_outputs))
        self.column, self.cut = self._whole(most), self._whole(most)
        self.left, self.right = self._whole(most), self._whole(most)
        self.best_column, self.best_cut = self._whole(most), self._whole(most)
        self.slot, self.best_gain = self._whole(most), np.zeros(most)
        self.missing_left = np.zeros(most, dtype=np.uint8)
        self.best_side = np.zeros(most, dtype=np.uint8)
        self.value = np.zeros((most, n_outputs))
        self.first, self.last = np.zeros(most, np.intp), np.zeros(most, np.intp)
        self.n_nodes = 0

    def _whole(self, n):
        return np.zeros(n, dtype=np.int32)

    def grow(
        self,
        const float64_t[:, ::1] derivatives,
        const float64_t[::1] prices,
        const float64_t[::1] charged,
        const int32_t[::1] rows,
        const uint8_t[::1] columns,
        int32_t n_drawn=0,
        uint64_t seed=0,
    ):
        """Grow a tree; return how many nodes it has.

        Of equal splits, that of the first leaf, column and cut is taken.

        Parameters
        ----------
        derivatives : array of shape (n_rows, 2 * n_outputs)
            First and then second derivatives of each row by each output.
        prices : array of shape (n_columns,)
            What a row is charged that buys a column, in units of the loss.
        charged : array of shape (n_rows,)
            What each row counts when it is charged.
        rows : int32 array
            The rows to grow on, in ascending order.
        columns : array of shape (n_columns,)
            Which columns the tree may ask for.
        n_drawn : int
            Of these, as many as the split of each leaf may choose from; 0 for all.
        seed : int
            Draws them.
        """
        cdef:
            int32_t node, n_leaves = 1
            intp_t i, n = rows.shape[0]
        self.charged, self.n_drawn, self.seed = charged, n_drawn, seed
        self.is_charged = False
        for i in range(self.n_columns):
            self.is_charged |= prices[i] != 0.0
        with nogil:
            for i in range(n):
                self.rows[i] = rows[i]
            self.n_nodes = 1
            self._open(0, 0, n, 0)
            self._sum_leaf(0, derivatives)
            self._fill(0, derivatives, columns)
            self._count_unbought(0)
            self._find(0, prices, columns)
            while n_leaves < self.n_leaves:
                node = self._best_leaf()
                if node < 0:
                    break
                self._part(node)
                n_leaves += 1
                self._share(node, n_leaves - 1, derivatives, columns)
                self._find(self.left[node], prices, columns)
                self._find(self.right[node], prices, columns)
            self._set_values(derivatives)
        return self.n_nodes

    cdef void _open(
        self, int32_t node, intp_t first, intp_t last, int32_t slot
    ) noexcept nogil:
        """Begin a leaf."""
        self.first[node], self.last[node] = first, last
        self.slot[node] = slot
        self.column[node] = self.left[node] = self.right[node] = -1
        self.cut[node] = 0
        self.missing_left[node] = 0

    cdef void _sum_leaf(
        self, int32_t node, const float64_t[:, ::1] derivatives
    ) noexcept nogil:
        """Add up the derivatives of the rows of a leaf, and count them."""
        cdef:
            intp_t i
            int32_t j
        for j in range(self.width):
            self.totals[node, j] = 0.0
        for i in range(self.first[node], self.last[node]):
            for j in range(self.width - 1):
                self.totals[node, j] += derivatives[self.rows[i], j]
        self.totals[node, self.width - 1] = self.last[node] - self.first[node]

    cdef int32_t _threads_for(self, intp_t n_cells) noexcept nogil:
        return self.n_threads if n_cells >= PARALLEL_CELLS else 1

    cdef void _fill(
        self,
        int32_t node,
        const float64_t[:, ::1] derivatives,
        const uint8_t[::1] columns,
    ) noexcept nogil:
        """Fill the cells of a leaf, and count the rows that each column would charge."""
        cdef:
            intp_t first = self.first[node], n = self.last[node] - first, i
            size_t n_bytes = (self.width - 1) * sizeof(float64_t)
            int32_t f, n_together = 1
        memset(&self.cells[self.slot[node], 0], 0, self.n_cells * sizeof(float64_t))
        if n == 0:
            return
        for i in range(n):
            memcpy(&self.packed[i, 0], &derivatives[self.rows[first + i], 0], n_bytes)
        if self.width == 3:
            n_together = 4
        for f in prange(
            (self.n_columns + n_together - 1) // n_together,
            num_threads=self._threads_for(n * self.n_columns),
        ):
            self._fill_columns(node, f * n_together, n_together, columns)

    cdef void _fill_columns(
        self, int32_t node, int32_t first, int32_t n_together, const uint8_t[::1] columns
    ) noexcept nogil:
        """Fill the cells of a few columns, as many as there are of these."""
        cdef:
            float64_t* cells[4]
            const uint16_t* codes[4]
            const int32_t* rows = &self.rows[self.first[node]]
            intp_t n = self.last[node] - self.first[node]
            int32_t f, n_here = 0
        for f in range(first, min(first + n_together, self.n_columns)):
            if columns[f]:
                cells[n_here] = &self.cells[self.slot[node], self.start[f]]
                codes[n_here] = &self.codes[f, 0]
                n_here += 1
        if n_here == 4:
            fill_four(cells, &self.packed[0, 0], codes, rows, n)
            return
        for f in range(n_here):
            fill_column(cells[f], &self.packed[0, 0], codes[f], rows, n, self.width)

    cdef void _count_unbought(self, int32_t node) noexcept nogil:
        """Add up, for each column, what the rows of a leaf count that would buy it."""
        cdef:
            float64_t* unbought = &self.unbought[node, 0]
            const uint8_t* bought
            float64_t counted
            intp_t i
            int32_t f
        for f in range(self.n_columns):
            unbought[f] = 0.0
        if not self.is_charged:
            return
        for i in range(self.first[node], self.last[node]):
            bought = &self.bought[self.rows[i], 0]
            counted = self.charged[self.rows[i]]
            for f in range(self.n_columns):
                unbought[f] += counted * <float64_t>(1 - bought[f])

    cdef void _find(
        self, int32_t node, const float64_t[::1] prices, const uint8_t[::1] columns
    ) noexcept nogil:
        """Find the best split of a leaf."""
        cdef:
            int32_t f
            float64_t gain
        self.best_gain[node] = -1.0
        self.best_column[node] = -1
        if self.totals[node, self.width - 1] < 2 * self.terms.least_rows:
            return
        self._draw_columns(node, columns)
        for f in prange(self.n_columns, num_threads=self._threads_for(self.n_cells)):
            self._find_column(node, f, self.drawn[f], threadid())
        for f in range(self.n_columns):
            if self.gains[f] <= 0.0:
                continue
            gain = self.gains[f] - prices[f] * self.unbought[node, f]
            if gain > self.best_gain[node]:
                self.best_gain[node] = gain
                self.best_column[node] = f
                self.best_cut[node] = self.cuts[f]
                self.best_side[node] = self.sides[f]

    cdef void _draw_columns(self, int32_t node, const uint8_t[::1] columns) noexcept nogil:
        """Say which columns the split of a leaf may ask for."""
        cdef:
            int32_t f, i, chosen, n = 0
            uint64_t key = mix_with(self.seed, node)
        for f in range(self.n_columns):
            self.drawn[f] = columns[f]
            if columns[f]:
                self.deck[n] = f
                n += 1
        if not 0 < self.n_drawn < n:
            return
        for i in range(n):
            self.drawn[self.deck[i]] = 0
        # Invariant: the first i of the deck are drawn.
        for i in range(self.n_drawn):
            chosen = i + <int32_t>draw_below(mix_with(key, i), n - i)
            self.deck[i], self.deck[chosen] = self.deck[chosen], self.deck[i]
            self.drawn[self.deck[i]] = 1

    cdef void _find_column(
        self, int32_t node, int32_t f, bint may_ask, int thread
    ) noexcept nogil:
        cdef:
            const float64_t* cells = &self.cells[self.slot[node], self.start[f]]
            Split found
        self.gains[f] = -1.0
        if not may_ask:
            return
        if self.is_category[f]:
            found = split_category(
                cells, self.n_levels[f], &self.totals[node, 0], &self.terms,
                &self.room[thread, 0], &self.order[thread, 0],
            )
        else:
            found = split_number(
                cells, self.n_levels[f], &self.totals[node, 0], &self.terms,
                self.widest, &self.room[thread, 0], &self.order[thread, 0],
            )
        self.gains[f] = found.gain
        self.cuts[f] = found.cut
        self.sides[f] = found.missing_left

    cdef int32_t _best_leaf(self) noexcept nogil:
        """Return the leaf to part next; -1 if no split is worth what it charges."""
        cdef:
            int32_t node, best = -1
            float64_t most = LEAST_GAIN
        for node in range(self.n_nodes):
            if self.column[node] < 0 and self.best_gain[node] > most:
                most = self.best_gain[node]
                best = node
        return best

    cdef void _part(self, int32_t node) noexcept nogil:
        """Part a leaf by its best split; its rows stay in ascending order."""
        cdef:
            int32_t f = self.best_column[node], row
            intp_t i, end = self.first[node], n_right = 0
        self.column[node] = f
        self.cut[node] = self.best_cut[node]
        self.missing_left[node] = self.best_side[node]
        if self.is_category[f]:
            self._list_left(node)
        for i in range(self.first[node], self.last[node]):
            row = self.rows[i]
            self.bought[row, f] = 1
            if self._is_left(node, f, self.codes[f, row]):
                self.rows[end] = row
                end += 1
            else:
                self.spare[n_right] = row
                n_right += 1
        for i in range(n_right):
            self.rows[end + i] = self.spare[i]
        self.left[node], self.right[node] = self.n_nodes, self.n_nodes + 1
        self._open(self.n_nodes, self.first[node], end, 0)
        self._open(self.n_nodes + 1, end, self.last[node], 0)
        self.n_nodes += 2

    cdef void _list_left(self, int32_t node) noexcept nogil:
        """Write down which levels of a category go left."""
        cdef:
            int32_t f = self.column[node], b
        for b in range(self.goes_left.shape[1]):
            self.goes_left[node, b] = 0
        split_category(
            &self.cells[self.slot[node], self.start[f]], self.n_levels[f],
            &self.totals[node, 0], &self.terms, &self.room[0, 0], &self.order[0, 0],
        )
        for b in range(self.cut[node] + 1):
            self.goes_left[node, self.order[0, b]] = 1

    cdef bint _is_left(self, int32_t node, int32_t f, int32_t code) noexcept nogil:
        if self.is_category[f]:
            return self.goes_left[node, code]
        if code >= self.n_levels[f]:
            return self.missing_left[node]
        return code <= self.cut[node]

    cdef void _share(
        self,
        int32_t node,
        int32_t slot,
        const float64_t[:, ::1] derivatives,
        const uint8_t[::1] columns,
    ) noexcept nogil:
        """Fill the cells of the smaller side; the larger one has the rest."""
        cdef:
            int32_t small = self.left[node], large = self.right[node], f, kept, j
            float64_t* rest
            const float64_t* taken
            intp_t i
        if self.last[small] - self.first[small] > self.last[large] - self.first[large]:
            small, large = large, small
        kept = self.slot[node]
        self.slot[small], self.slot[large] = slot, kept
        self._sum_leaf(small, derivatives)
        self._fill(small, derivatives, columns)
        self._count_unbought(small)
        for j in range(self.width):
            self.totals[large, j] = self.totals[node, j] - self.totals[small, j]
        rest, taken = &self.cells[kept, 0], &self.cells[slot, 0]
        for i in range(self.n_cells):
            rest[i] -= taken[i]
        for f in range(self.n_columns):
            self.unbought[large, f] = self.unbought[node, f] - self.unbought[small, f]
        # All rows have bought it now.
        self.unbought[small, self.column[node]] = 0.0
        self.unbought[large, self.column[node]] = 0.0

    cdef void _set_values(self, const float64_t[:, ::1] derivatives) noexcept nogil:
        """Work out the value of each leaf from its own rows.

        What is left of larger sums has their rounding, which may be more than all of a
        small second derivative.
        """
        cdef int32_t node, k, n = self.n_outputs
        for node in range(self.n_nodes):
            if self.column[node] >= 0:
                continue
            self._sum_leaf(node, derivatives)
            for k in range(n):
                self.value[node, k] = -self.totals[node, k] / (
                    self.totals[node, n + k] + self.terms.l2 + 1e-12
                )

    def add_grown(self, float64_t[:, ::1] sums, float64_t rate):
        """Add the tree to the sums of the rows that it was grown on."""
        cdef:
            int32_t node, k
            intp_t i
        with nogil:
            for node in range(self.n_nodes):
                if self.column[node] >= 0:
                    continue
                for i in range(self.first[node], self.last[node]):
                    for k in range(self.n_outputs):
                        sums[self.rows[i], k] += rate * self.value[node, k]

    def add_walked(
        self, const uint16_t[:, ::1] codes, float64_t[:, ::1] sums, float64_t rate,
    ):
        """Add the tree to the sums of any rows, of codes like those of the others."""
        cdef:
            intp_t row
            int32_t node, f, k
        with nogil:
            for row in range(codes.shape[1]):
                node = 0
                while self.column[node] >= 0:
                    f = self.column[node]
                    if self._is_left(node, f, codes[f, row]):
                        node = self.left[node]
                    else:
                        node = self.right[node]
                for k in range(self.n_outputs):
                    sums[row, k] += rate * self.value[node, k]

    def tree(self, float64_t by_rows=1.0):
        """Return the nodes of the tree: where they part, where they lead, what they add.

        Parameters
        ----------
        by_rows : float
            From 0 to 1, how much of the weight of a node is what its rows weigh; the
            rest are their second derivatives.

        Returns
        -------
        column, cut, left, right : int32 arrays of shape (n_nodes,)
            A column of -1 is a leaf.
        missing_left : uint8 array of shape (n_nodes,)
        goes_left : uint8 array of shape (n_nodes, n_codes)
            Of categories: which codes go left.
        value : float64 array of shape (n_nodes, n_outputs)
        weight : float64 array of shape (n_nodes, n_outputs)
            That of the root is 1, or 0 if nothing in it weighs anything.
        """
        cdef:
            int32_t n = self.n_nodes
        return (
            np.asarray(self.column[:n]).copy(),
            np.asarray(self.cut[:n]).copy(),
            np.asarray(self.left[:n]).copy(),
            np.asarray(self.right[:n]).copy(),
            np.asarray(self.missing_left[:n]).copy(),
            np.asarray(self.goes_left[:n]).copy(),
            np.asarray(self.value[:n]).copy(),
            self._weigh(by_rows),
        )

    def _weigh(self, float64_t by_rows):
        """Return the weight of each node by each output."""
        cdef:
            int32_t n = self.n_nodes, n_outputs = self.n_outputs, node, k
            intp_t i
            float64_t[:, ::1] rows = np.zeros((n, 1))
            float64_t[:, ::1] seconds = np.zeros((n, n_outputs))
        with nogil:
            # Children come after their parents.
            for node in range(n - 1, -1, -1):
                if self.column[node] >= 0:
                    rows[node, 0] = rows[self.left[node], 0] + rows[self.right[node], 0]
                    for k in range(n_outputs):
                        seconds[node, k] = (
                            seconds[self.left[node], k] + seconds[self.right[node], k]
                        )
                    continue
                for i in range(self.first[node], self.last[node]):
                    rows[node, 0] += self.weights[self.rows[i]]
                for k in range(n_outputs):
                    seconds[node, k] = self.totals[node, n_outputs + k]
        return by_rows * share_out(rows) + (1.0 - by_rows) * share_out(seconds)
