"""Count and move rows for the learners of least total cost.

Column-major codes, a row index moved in place, and counts of one test at a time, so
that a small node touches little memory. This module must not know which test is better
than another, nor what becomes of a node.
"""

from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memset

import numpy as np

from askless._core.base._bits cimport lowest_bit
from askless._core.base._types cimport (
    code_t, float64_t, int32_t, int64_t, intp_t, uint8_t, uint16_t, uint64_t,
)
from askless._core.cost._payments cimport (
    charge_alike, charge_by_outcome, due_below, is_priced_by_outcome,
)
from askless._core.price._prices cimport Path, Prices

cdef enum:
    # Whole numbers whose x log x is kept.
    MOST_LOGS = 1 << 20

# Costs closer than this, relatively, tie: rounding must not decide.
cdef float64_t TIE = 1e-12


cdef class Workspace:
    """Examples, and the place in a tree at which they are looked at."""

    def __init__(
        self,
        codes not None,                              # IN (n_tests, n_rows)
        const int32_t[::1] n_levels not None,        # IN (n_tests,)
        const uint8_t[::1] is_ordered not None,      # IN (n_tests,)
        const int64_t[::1] entry_start not None,     # IN (n_rows + 1,)
        const int32_t[::1] entry_class not None,     # IN (n_entries,)
        const float64_t[::1] entry_weight not None,  # IN (n_entries,) positive
        const float64_t[:, ::1] mistakes not None,   # IN (true class, decision)
        Prices prices not None,
    ):
        self.n_tests, self.n_rows = codes.shape
        self.n_classes = mistakes.shape[0]
        self.is_wide = codes.dtype == np.uint16
        if self.is_wide:
            self.wide = codes
        else:
            self.narrow = codes
        self.n_levels = n_levels
        self.is_ordered = is_ordered
        self.entry_start = entry_start
        self.entry_class = entry_class
        self.entry_weight = entry_weight
        self.is_hard = entry_class.shape[0] == self.n_rows
        self.row_weight = np.add.reduceat(
            np.asarray(entry_weight), np.asarray(entry_start)[:self.n_rows]
        )
        self.mistakes = mistakes
        self.prices = prices
        total = float(np.sum(self.row_weight))
        whole = np.arange(min(int(total) + 2, MOST_LOGS), dtype=np.float64)
        whole[1:] *= np.log2(whole[1:])
        self.x_log_x = whole
        self.n_logs = whole.shape[0]
        self.is_whole = total < self.n_logs and bool(
            np.all(np.asarray(entry_weight) == np.floor(entry_weight))
        )
        self.make_scratch()

    def make_scratch(self):
        """Give this workspace memory of its own, and stand it at the root."""
        widest = int(max(self.n_levels, default=0)) + 2
        self.rows = np.arange(self.n_rows, dtype=np.int32)
        self.path = Path(self.prices)
        self.present = np.zeros(self.n_classes, dtype=np.int32)
        self.slot = np.zeros(self.n_classes, dtype=np.int32)
        self.totals = np.zeros(self.n_classes)
        self.met = np.zeros(widest, dtype=np.int32)
        self.counts = np.zeros(widest * max(self.n_classes, 1))
        self.code_weight = np.zeros(widest)
        self.seen = np.zeros((widest + 63) // 64, dtype=np.uint64)
        self.left = np.zeros(self.n_classes)
        self.slots = np.zeros(self.n_rows if self.is_hard else 0, dtype=np.int32)
        self.weights = np.zeros(self.n_rows if self.is_hard else 0)
        self.spare = np.zeros(self.n_rows, dtype=np.int32)
        self.place = np.zeros(widest + 1, dtype=np.int32)

    def __dealloc__(self):
        free(self.stack)

    cpdef Workspace copy(self, Prices prices=None):
        cdef Workspace other = Workspace.__new__(Workspace)
        other.n_rows = self.n_rows
        other.n_tests = self.n_tests
        other.n_classes = self.n_classes
        other.is_wide = self.is_wide
        other.is_hard = self.is_hard
        if self.is_wide:
            other.wide = self.wide
        else:
            other.narrow = self.narrow
        other.n_levels = self.n_levels
        other.is_ordered = self.is_ordered
        other.entry_start = self.entry_start
        other.entry_class = self.entry_class
        other.entry_weight = self.entry_weight
        other.row_weight = self.row_weight
        other.mistakes = self.mistakes
        other.prices = self.prices if prices is None else prices
        other.x_log_x = self.x_log_x
        other.n_logs = self.n_logs
        other.is_whole = self.is_whole
        other.make_scratch()
        return other

    cdef void stand_on_all(self) noexcept nogil:
        cdef intp_t row
        for row in range(self.n_rows):
            self.rows[row] = <int32_t> row

    cdef Node start_root(self, intp_t n, uint64_t key) noexcept nogil:
        cdef:
            Node root
            intp_t test
        self.top = 0
        self.path.unwind(0)
        root.start = 0
        root.n = n
        root.active = self.take(self.n_tests)
        root.n_active = self.n_tests if root.active >= 0 else 0
        root.key = key
        root.due = 0.0
        for test in range(root.n_active):
            self.stack[root.active + test] = <int32_t> test
        return root

    cdef void weigh(self, intp_t start, intp_t n) noexcept nogil:
        cdef:
            const int32_t* rows = &self.rows[start]
            int32_t* present = &self.present[0]
            int32_t* slot = &self.slot[0]
            float64_t* totals = &self.totals[0]
            intp_t k, i
            int64_t e
            int32_t c, row
            float64_t weight = 0.0
        # Totals by class first, then drawn together; slot -1 marks a class not met.
        for k in range(self.n_classes):
            slot[k] = -1
            totals[k] = 0.0
        if self.is_hard:
            for i in range(n):
                c = self.entry_class[rows[i]]
                self.weights[i] = self.entry_weight[rows[i]]
                self.slots[i] = c
                slot[c] = 0
                totals[c] += self.weights[i]
        else:
            for i in range(n):
                row = rows[i]
                for e in range(self.entry_start[row], self.entry_start[row + 1]):
                    c = self.entry_class[e]
                    slot[c] = 0
                    totals[c] += self.entry_weight[e]
        self.n_present = 0
        for k in range(self.n_classes):
            if slot[k] < 0:
                continue
            slot[k] = <int32_t> self.n_present
            present[self.n_present] = <int32_t> k
            totals[self.n_present] = totals[k]
            weight += totals[k]
            self.n_present += 1
        self.weight = weight
        if self.is_hard:
            for i in range(n):
                self.slots[i] = slot[self.slots[i]]

    cdef void count(self, intp_t start, intp_t n, intp_t test) noexcept nogil:
        cdef:
            intp_t n_words = (self.n_levels[test] + 2 + 63) >> 6
            intp_t w, s, m = 0
            uint64_t word
            int32_t code
            float64_t total
            const float64_t* cell
        if self.is_wide:
            count_codes[uint16_t](self, &self.wide[test, 0], start, n)
        else:
            count_codes[uint8_t](self, &self.narrow[test, 0], start, n)
        for w in range(n_words):
            word = self.seen[w]
            self.seen[w] = 0
            while word:
                code = <int32_t> (64 * w + lowest_bit(word))
                word &= word - 1
                self.met[m] = code
                m += 1
                cell = &self.counts[code * self.n_present]
                total = 0.0
                for s in range(self.n_present):
                    total += cell[s]
                self.code_weight[code] = total
        self.n_met = m

    cdef void leave(
        self, const Node* node, intp_t marks, intp_t top, bint is_leaf
    ) noexcept nogil:
        if is_leaf or node.due <= 0:
            self.path.unwind(marks)
        self.top = top

    cdef intp_t take(self, intp_t n) noexcept nogil:
        cdef:
            intp_t at = self.top
            int32_t* larger
        if at + n > self.room:
            self.room = 2 * self.room + n + 1024
            larger = <int32_t*> realloc(self.stack, self.room * sizeof(int32_t))
            if larger == NULL:
                self.out_of_memory = True
                self.room = at
                return -1
            self.stack = larger
        self.top = at + n
        return at

    cdef intp_t split(
        self, intp_t start, intp_t n, intp_t test, intp_t cut
    ) noexcept nogil:
        if self.is_wide:
            if cut >= 0:
                return cut_codes[uint16_t](self, &self.wide[test, 0], start, n, cut)
            return divide_codes[uint16_t](self, &self.wide[test, 0], start, n, test)
        if cut >= 0:
            return cut_codes[uint8_t](self, &self.narrow[test, 0], start, n, cut)
        return divide_codes[uint8_t](self, &self.narrow[test, 0], start, n, test)

    cdef float64_t price(self, intp_t test, float64_t due) noexcept nogil:
        if is_priced_by_outcome(self.path, test):
            return charge_by_outcome(
                self.path, test, &self.met[0], self.n_met, &self.code_weight[0], 1
            )
        return charge_alike(self.path, test, self.weight, due)

    cdef intp_t buy_and_split(
        self, const Node* node, intp_t test, intp_t cut, float64_t weight,
        float64_t* below,
    ) noexcept nogil:
        below[0] = due_below(self.path, test, weight, node.due)
        self.path.charge(test)
        return self.split(node.start, node.n, test, cut)


cdef void count_codes(
    Workspace ws, const code_t* codes, intp_t start, intp_t n
) noexcept nogil:
    """Add the entries of each row to the cells of its code; mark the codes met."""
    cdef:
        const int32_t* rows = &ws.rows[start]
        const int32_t* slot = &ws.slot[0]
        const int32_t* entry_class = &ws.entry_class[0]
        const float64_t* entry_weight = &ws.entry_weight[0]
        const int64_t* entry_start = &ws.entry_start[0]
        float64_t* counts = &ws.counts[0]
        uint64_t* seen = &ws.seen[0]
        const int32_t* slots = &ws.slots[0] if ws.is_hard else NULL
        const float64_t* weights = &ws.weights[0] if ws.is_hard else NULL
        intp_t n_present = ws.n_present
        intp_t i, code
        int64_t e
        uint64_t bit
        bint is_hard = ws.is_hard
    for i in range(n):
        code = codes[rows[i]]
        bit = <uint64_t> 1 << (code & 63)
        if not seen[code >> 6] & bit:
            seen[code >> 6] |= bit
            memset(counts + code * n_present, 0, n_present * sizeof(float64_t))
        if is_hard:
            counts[code * n_present + slots[i]] += weights[i]
        else:
            for e in range(entry_start[rows[i]], entry_start[rows[i] + 1]):
                counts[code * n_present + slot[entry_class[e]]] += entry_weight[e]


cdef intp_t cut_codes(
    Workspace ws, const code_t* codes, intp_t start, intp_t n, intp_t cut
) noexcept nogil:
    cdef:
        int32_t* rows = &ws.rows[start]
        int32_t* spare = &ws.spare[0]
        intp_t i, n_left = 0, n_right = 0, at
        int32_t row
    at = ws.take(6)
    if at < 0:
        return -1
    for i in range(n):
        row = rows[i]
        if codes[row] <= cut:
            rows[n_left] = row
            n_left += 1
        else:
            spare[n_right] = row
            n_right += 1
    memcpy(rows + n_left, spare, n_right * sizeof(int32_t))
    ws.stack[at] = 2
    ws.stack[at + 1] = 0
    ws.stack[at + 2] = 1
    ws.stack[at + 3] = <int32_t> start
    ws.stack[at + 4] = <int32_t> (start + n_left)
    ws.stack[at + 5] = <int32_t> (start + n)
    return at


cdef intp_t divide_codes(
    Workspace ws, const code_t* codes, intp_t start, intp_t n, intp_t test
) noexcept nogil:
    cdef:
        int32_t* rows = &ws.rows[start]
        int32_t* spare = &ws.spare[0]
        int32_t* place = &ws.place[0]
        uint64_t* seen = &ws.seen[0]
        intp_t n_words = (ws.n_levels[test] + 2 + 63) >> 6
        intp_t i, w, code, k = 0, at, before
        uint64_t word, bit
        int32_t here
    for i in range(n):
        code = codes[rows[i]]
        bit = <uint64_t> 1 << (code & 63)
        if not seen[code >> 6] & bit:
            seen[code >> 6] |= bit
            place[code] = 0
            k += 1
        place[code] += 1
    at = ws.take(2 * k + 2)
    if at < 0:
        memset(seen, 0, n_words * sizeof(uint64_t))
        return -1
    ws.stack[at] = <int32_t> k
    before = 0
    k = 0
    for w in range(n_words):
        word = seen[w]
        seen[w] = 0
        while word:
            code = 64 * w + lowest_bit(word)
            word &= word - 1
            here = place[code]
            place[code] = <int32_t> before
            ws.stack[at + 1 + k] = <int32_t> code
            # The starts follow the codes, of which there are as many as children.
            ws.stack[at + 1 + ws.stack[at] + k] = <int32_t> (start + before)
            before += here
            k += 1
    ws.stack[at + 1 + 2 * k] = <int32_t> (start + n)
    for i in range(n):
        code = codes[rows[i]]
        spare[place[code]] = rows[i]
        place[code] += 1
    memcpy(rows, spare, n * sizeof(int32_t))
    return at


cdef intp_t decide(Workspace ws, float64_t* least) noexcept nogil:
    cdef:
        intp_t c, s, best = 0
        float64_t cost, lowest = -1.0
    for c in range(ws.n_classes):
        cost = 0.0
        for s in range(ws.n_present):
            cost += ws.totals[s] * ws.mistakes[ws.present[s], c]
        if lowest < 0 or cost < lowest - TIE * lowest:
            lowest = cost
            best = c
    least[0] = lowest
    return best


cdef float64_t least_mistakes(
    Workspace ws, const float64_t* weights
) noexcept nogil:
    cdef:
        intp_t c, s
        float64_t cost, lowest = -1.0
    for c in range(ws.n_classes):
        cost = 0.0
        for s in range(ws.n_present):
            cost += weights[s] * ws.mistakes[ws.present[s], c]
        if lowest < 0 or cost < lowest:
            lowest = cost
    return lowest
