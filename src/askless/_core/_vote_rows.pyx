"""Buy for many rows at once where trees vote: few classes, plain comparisons.

Two passes over a block of rows. The first walks every tree with all rows of the block,
32 side by side, and notes for each row and tree the tests on its path in order of
first use, then its leaf: four bytes each. The second plays the purchases of one row on
its notes: trees wait in a list for each test, and buying one moves those that wait.

The purchases are those of ``_ensemble``, which says what is bought and when a case is
settled; what is not plain enough for four bytes is run there.
"""

from cython.parallel import parallel, prange
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

import numpy as np

from askless._core._codes cimport count_cuts_below
from askless._core._prices cimport Prices
from askless._core._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint8_t, uint16_t, uint32_t, uint64_t,
)


cdef enum:
    LANES = 32
    MOST_CLASSES = 8
    # The number of tests stands for "a leaf", so one byte holds one test less.
    MOST_TESTS = 254
    MOST_LEVELS = 65534
    MOST_TREES = 65535
    MISSING = 65535
    # Enough rows that most of a tree is met more than once while it is in the cache,
    # and few enough that their notes take no more bytes than this.
    MOST_ROWS = 512
    MOST_NOTES = 33554432

cdef float64_t TIE = 1.0 + 1e-12


cdef extern from *:
    """
    #include <stdint.h>
    typedef uint16_t Counts
        __attribute__((vector_size(16), aligned(2), may_alias));
    """
    # Eight counts, one for each class, added at once.
    ctypedef struct Counts:
        pass


cdef extern from *:
    """
    #include <stdlib.h>
    #ifdef __linux__
    #include <sys/mman.h>
    #endif
    #define fetch(address) __builtin_prefetch(address)
    /* Notes lie far apart: with large pages their addresses are found at once. */
    static inline void *grab_large(size_t n_bytes) {
    #if defined(__linux__) && defined(MADV_HUGEPAGE)
        void *memory = NULL;
        const size_t page = (size_t) 1 << 21;
        if (n_bytes >= page && posix_memalign(&memory, page, n_bytes) == 0) {
            (void) madvise(memory, n_bytes, MADV_HUGEPAGE);
            return memory;
        }
    #endif
        return malloc(n_bytes);
    }
    static inline void move_counts(
        Counts *high, Counts *low, const Counts *of, unsigned before, unsigned now,
        int has_ended
    ) {
        /* All ones where the tree has ended, so that its class has one vote more. */
        const uint16_t all = (uint16_t) -has_ended;
        const Counts ended = {all, all, all, all, all, all, all, all};
        *high += of[now] - of[before];
        *low += of[now] & ended;
    }
    """
    void fetch(const void* address) nogil
    void* grab_large(size_t n_bytes) nogil
    void move_counts(
        Counts* high, Counts* low, const Counts* table, uint32_t before, uint32_t now,
        bint has_ended,
    ) nogil


# A node is one word, from the lowest bit on:
#
#     8 bits   the classes that its tree may still name
#     8        its test; at a leaf, the number of tests
#     1        IS_NEW: no node above asks the same. Always of a leaf
#     1        whether missing values go left
#    14        the score: how much waits here
#    16        the bound
#    16        how many nodes ahead the right child is; 0 at a leaf
#
# Left is the next node. "Missing" is the code 65535, which wraps to 0 where it should
# go left:
#
#     default right:  left iff code     < cut + 1
#     default left:   left iff code + 1 < cut + 2    (in two bytes)
#
# The lower half is what is noted of a node.
ctypedef uint64_t Step

cdef enum:
    TEST_AT = 8
    NEW_AT = 16
    SHIFT_AT = 17
    SCORE_AT = 18
    BOUND_AT = 32
    AHEAD_AT = 48
    MOST_SCORE = 16383
    MOST_AHEAD = 65535


cdef struct Room:
    # What one thread works on.
    uint16_t* codes    # (n_rows, n_tests + 1)
    uint32_t* notes    # (n_rows, n_notes)
    uint32_t* spare    # (n_notes,) where lanes without a row write
    int32_t* start     # (n_rows, n_trees) where the notes of each tree start
    int32_t* end       # (n_rows,)
    int32_t* place     # (n_trees,)
    uint16_t* head     # (n_tests + 1,) first tree that waits for a test, plus 1
    uint16_t* next     # (n_trees + 1,)
    float64_t* need    # (n_tests + 1,) whole numbers
    uint8_t* is_bought  # (n_tests + 1,)
    uint8_t* paid
    uint8_t* is_open


cdef void free_room(Room* room) noexcept nogil:
    if room == NULL:
        return
    free(room.codes)
    free(room.notes)
    free(room.spare)
    free(room.start)
    free(room.end)
    free(room.place)
    free(room.head)
    free(room.next)
    free(room.need)
    free(room.is_bought)
    free(room.paid)
    free(room.is_open)
    free(room)


cdef Room* make_room(
    intp_t n_rows, intp_t n_tests, intp_t n_trees, intp_t n_notes, intp_t n_groups
) noexcept nogil:
    """Return memory for a block of rows, or NULL if there is none."""
    cdef Room* room = <Room*> calloc(1, sizeof(Room))
    if room == NULL:
        return NULL
    room.codes = <uint16_t*> calloc(n_rows * (n_tests + 1), 2)
    # One more: a note is written before it is known to be a new one.
    room.notes = <uint32_t*> grab_large((n_rows * n_notes + 1) * 4)
    room.spare = <uint32_t*> calloc(n_notes + 1, 4)
    room.start = <int32_t*> calloc(n_rows * n_trees + 1, 4)
    room.end = <int32_t*> calloc(n_rows, 4)
    room.place = <int32_t*> calloc(n_trees + 1, 4)
    room.head = <uint16_t*> calloc(n_tests + 1, 2)
    room.next = <uint16_t*> calloc(n_trees + 1, 2)
    room.need = <float64_t*> calloc(n_tests + 1, 8)
    room.is_bought = <uint8_t*> calloc(n_tests + 1, 1)
    room.paid = <uint8_t*> calloc(n_tests + 1, 1)
    room.is_open = <uint8_t*> calloc(n_groups + 1, 1)
    if (
        room.codes == NULL or room.notes == NULL or room.start == NULL
        or room.spare == NULL
        or room.end == NULL or room.place == NULL or room.head == NULL
        or room.next == NULL or room.need == NULL or room.is_bought == NULL
        or room.paid == NULL or room.is_open == NULL
    ):
        free_room(room)
        return NULL
    return room


cdef class VoteRows:
    """The trees of a vote, packed for many rows; never changed after it is built."""

    cdef intp_t n_tests
    cdef intp_t n_trees
    cdef intp_t n_classes
    cdef intp_t n_notes              # the most notes of a row
    cdef uint64_t[::1] steps         # (n_nodes,) see above
    cdef int32_t[::1] root           # (n_trees,)
    cdef uint8_t[::1] is_used        # (n_tests,) whether some tree asks it
    # The first state, the same for every row.
    cdef uint16_t[::1] head
    cdef uint16_t[::1] next
    cdef float64_t[::1] need
    cdef uint16_t[:, ::1] counts     # (257, 8) of each set of classes; then the highs

    @staticmethod
    def takes(intp_t n_tests, intp_t n_trees, intp_t n_classes, int64_t most_levels):
        """Return whether an ensemble of this size fits."""
        return (
            n_tests <= MOST_TESTS and n_trees < MOST_TREES
            and n_classes <= MOST_CLASSES and most_levels <= MOST_LEVELS
        )

    @staticmethod
    def takes_node(int64_t score, int64_t ahead):
        """Return whether a node fits."""
        return score <= MOST_SCORE and ahead <= MOST_AHEAD

    def __init__(
        self,
        const int32_t[::1] test not None,      # IN  (n_nodes,) -1 for a leaf
        const int32_t[::1] cut not None,       # IN  (n_nodes,)
        const int32_t[::1] right not None,     # IN  (n_nodes,)
        const uint8_t[::1] missing_left not None,  # IN  (n_nodes,)
        const uint64_t[::1] classes not None,  # IN  (n_nodes,) that a tree may say
        const int64_t[::1] score not None,     # IN  (n_nodes,) what waits there
        const int64_t[::1] tree_start not None,  # IN  (n_trees + 1,)
        *,
        intp_t n_tests,
        intp_t n_classes,
        intp_t depth,                          # the most tests on any path
    ):
        cdef:
            intp_t n_nodes = test.shape[0]
            intp_t node, tree, asked, bits, q
            uint64_t step
        self.n_tests = n_tests
        self.n_trees = tree_start.shape[0] - 1
        self.n_classes = n_classes
        self.n_notes = self.n_trees * (min(n_tests, depth) + 1)
        self.steps = np.zeros(max(n_nodes, 1), dtype=np.uint64)
        self.root = np.asarray(tree_start)[:self.n_trees].astype(np.int32)
        self.is_used = np.zeros(n_tests + 1, dtype=np.uint8)
        for node in range(n_nodes):
            asked = n_tests if test[node] < 0 else test[node]
            step = <uint64_t> asked << TEST_AT | classes[node]
            if test[node] < 0:
                self.steps[node] = step | (<uint64_t> 1) << NEW_AT
                continue
            self.is_used[asked] = 1
            step |= <uint64_t> missing_left[node] << SHIFT_AT
            step |= <uint64_t> score[node] << SCORE_AT
            step |= <uint64_t> (cut[node] + 1 + missing_left[node]) << BOUND_AT
            step |= <uint64_t> (right[node] - node) << AHEAD_AT
            self.steps[node] = step
        self._mark_new(test, right)
        self.counts = np.zeros((258, MOST_CLASSES), dtype=np.uint16)
        for bits in range(256):
            for q in range(MOST_CLASSES):
                self.counts[bits, q] = (bits >> q) & 1
        self.head = np.zeros(n_tests + 1, dtype=np.uint16)
        self.next = np.zeros(self.n_trees + 1, dtype=np.uint16)
        self.need = np.zeros(n_tests + 1)
        for tree in range(self.n_trees - 1, -1, -1):
            step = self.steps[self.root[tree]]
            asked = (step >> TEST_AT) & 255
            self.next[tree + 1] = self.head[asked]
            self.head[asked] = <uint16_t> (tree + 1)
            self.need[asked] += <uint32_t> step >> SCORE_AT
            for q in range(MOST_CLASSES):
                # Row 256 has the votes that are certain, row 257 those possible.
                bits = (step >> q) & 1
                self.counts[257, q] += <uint16_t> bits
                if asked == n_tests:
                    self.counts[256, q] += <uint16_t> bits
        self.need[n_tests] = 0.0

    cdef int _mark_new(
        self, const int32_t[::1] test, const int32_t[::1] right
    ) except -1:
        """Mark the nodes that are the first on their path to ask their test."""
        cdef:
            intp_t n_words = self.n_tests // 64 + 1
            intp_t node, word, child, side
            uint64_t[:, ::1] above = np.zeros(
                (test.shape[0] + 1, n_words), dtype=np.uint64
            )
            uint64_t bit
        # A node stands after its parent, which has told it what was asked above.
        for node in range(test.shape[0]):
            if test[node] < 0:
                continue
            word = test[node] // 64
            bit = (<uint64_t> 1) << (test[node] % 64)
            if (above[node, word] & bit) == 0:
                self.steps[node] |= (<uint64_t> 1) << NEW_AT
            for side in range(2):
                child = right[node] if side else node + 1
                above[child, :] = above[node, :]
                above[child, word] |= bit
        return 0

    def run(
        self,
        Prices prices not None,
        const float64_t[::1] inverse not None,  # IN  (>= n_tests,) 1 / price
        const float64_t[:, ::1] values,         # IN  (n_rows, n_tests), or None
        const int32_t[:, ::1] codes,            # IN  (n_rows, n_tests) else
        const float64_t[::1] cuts not None,
        const int64_t[::1] cut_start not None,
        int n_jobs,
        float64_t[:, ::1] raw not None,         # OUT (n_rows, n_classes) votes
        float64_t[::1] cost not None,           # OUT (n_rows,)
        int32_t[::1] n_bought not None,         # OUT (n_rows,)
    ):
        """Run rows until they are settled; prices must have no groups or delays."""
        cdef:
            intp_t n_rows = raw.shape[0]
            intp_t n_fit = MOST_NOTES // (4 * max(self.n_notes, <intp_t> 1))
            intp_t size = max(<intp_t> LANES, min(<intp_t> MOST_ROWS, n_fit))
            intp_t n_blocks, block, first, last
            const float64_t* value = NULL
            const int32_t* code = NULL
            uint8_t[::1] failed = np.zeros(1, dtype=np.uint8)
            Room* room
            object is_free = np.isinf(inverse)
            float64_t[::1] finite = np.where(is_free, 0.0, inverse)
            int32_t[::1] free_tests = np.append(
                np.flatnonzero(is_free), 0
            ).astype(np.int32)
            intp_t n_free = free_tests.shape[0] - 1
        # Whole lanes, and no more of them than there are rows.
        size = max(min(size, n_rows + LANES - 1) // LANES, <intp_t> 1) * LANES
        n_blocks = (n_rows + size - 1) // size
        if n_rows and self.n_tests:
            if values is not None:
                value = &values[0, 0]
            else:
                code = &codes[0, 0]
        with nogil, parallel(num_threads=n_jobs):
            room = make_room(
                size, self.n_tests, self.n_trees, self.n_notes, prices.n_groups
            )
            for block in prange(n_blocks, schedule="dynamic"):
                first = block * size
                last = min(n_rows, first + size)
                if room == NULL:
                    failed[0] = 1
                else:
                    self.code_block(
                        room, value, code, &cuts[0], &cut_start[0], first, last
                    )
                    self.note_block(room, last - first)
                    self.play_block(
                        room, prices, &finite[0], &free_tests[0], n_free, first, last,
                        &raw[0, 0], &cost[0], &n_bought[0],
                    )
            free_room(room)
        if failed[0]:
            raise MemoryError("no memory left to run an ensemble")

    cdef void code_block(
        self, Room* room, const float64_t* values, const int32_t* codes,
        const float64_t* cuts, const int64_t* cut_start, intp_t first, intp_t last,
    ) noexcept nogil:
        cdef:
            intp_t n_tests = self.n_tests
            intp_t row, test, n_cuts
            float64_t value
            uint16_t* to
        for test in range(n_tests):
            # What no tree asks is not coded.
            if not self.is_used[test]:
                continue
            n_cuts = cut_start[test + 1] - cut_start[test]
            to = room.codes + test
            for row in range(first, last):
                if values == NULL:
                    # "Missing" and "unknown" alike.
                    to[0] = <uint16_t> (
                        codes[row * n_tests + test]
                        if codes[row * n_tests + test] <= n_cuts else MISSING
                    )
                else:
                    value = values[row * n_tests + test]
                    if value != value:
                        to[0] = MISSING
                    else:
                        to[0] = <uint16_t> count_cuts_below(
                            cuts + cut_start[test], n_cuts, value
                        )
                to += n_tests + 1

    cdef void note_block(self, Room* room, intp_t n_rows) noexcept nogil:
        """Walk a block of rows down every tree; note each test at its first use.

        LANES rows go down side by side, so that their reads do not wait for one
        another. A row that is down makes place for the next one.
        """
        cdef:
            intp_t n_wide = self.n_tests + 1
            intp_t n_trees = self.n_trees
            intp_t n_lanes = min(<intp_t> LANES, n_rows)
            intp_t tree, lane, row, n_begun, n_down
            const Step* root
            Step at
            uint64_t ahead
            bint goes_left
            const Step* node[LANES]
            const uint16_t* codes[LANES]
            uint32_t* to[LANES]
            intp_t[LANES] row_of
        for row in range(n_rows):
            room.end[row] = 0
        for tree in range(n_trees):
            root = &self.steps[0] + self.root[tree]
            n_begun = n_lanes
            n_down = 0
            for lane in range(LANES):
                # Lanes that no row is left for go over the last row, without a trace.
                row = min(lane, n_rows - 1)
                row_of[lane] = lane if lane < n_rows else -1
                node[lane] = root
                codes[lane] = room.codes + row * n_wide
                to[lane] = room.notes + row * self.n_notes + room.end[row]
                if lane >= n_rows:
                    to[lane] = room.spare
            for row in range(n_lanes):
                room.start[row * n_trees + tree] = room.end[row]
            while n_down < n_rows:
                for lane in range(LANES):
                    at = node[lane][0]
                    ahead = at >> AHEAD_AT
                    to[lane][0] = <uint32_t> at
                    if ahead:
                        to[lane] += (at >> NEW_AT) & 1
                        goes_left = <uint16_t> (
                            codes[lane][(at >> TEST_AT) & 255] + ((at >> SHIFT_AT) & 1)
                        ) < <uint16_t> (at >> BOUND_AT)
                        # Chosen by a mask: a branch would be mispredicted.
                        node[lane] += ahead ^ ((ahead ^ 1) & -<uint64_t> goes_left)
                        fetch(node[lane])
                        continue
                    row = row_of[lane]
                    if row < 0:
                        continue
                    room.end[row] = <int32_t> (
                        to[lane] + 1 - (room.notes + row * self.n_notes)
                    )
                    n_down += 1
                    row_of[lane] = -1
                    if n_begun == n_rows:
                        to[lane] = room.spare
                        continue
                    row = n_begun
                    n_begun += 1
                    row_of[lane] = row
                    room.start[row * n_trees + tree] = room.end[row]
                    node[lane] = root
                    codes[lane] = room.codes + row * n_wide
                    to[lane] = room.notes + row * self.n_notes + room.end[row]

    cdef void play_block(
        self, Room* room, Prices prices, const float64_t* inverse,
        const int32_t* free_tests, intp_t n_free, intp_t first, intp_t last,
        float64_t* raw, float64_t* cost, int32_t* n_bought,
    ) noexcept nogil:
        cdef:
            intp_t n_trees = self.n_trees
            intp_t row, i
        for row in range(first, last):
            if row + 1 < last:
                # Sixteen numbers are a line of the cache.
                for i in range(room.end[row + 1 - first] // 16 + 1):
                    fetch(room.notes + (row + 1 - first) * self.n_notes + 16 * i)
                for i in range(n_trees // 16 + 1):
                    fetch(room.start + (row + 1 - first) * n_trees + 16 * i)
            self.play_row(
                room, prices, inverse, free_tests, n_free, row - first,
                raw + row * self.n_classes, cost + row, n_bought + row,
            )

    cdef void play_row(
        self, Room* room, Prices prices, const float64_t* inverse,
        const int32_t* free_tests, intp_t n_free, intp_t row,
        float64_t* raw, float64_t* cost, int32_t* n_bought,
    ) noexcept nogil:
        cdef:
            intp_t n_tests = self.n_tests
            const uint16_t* codes = room.codes + row * (n_tests + 1)
            const uint32_t* notes = room.notes + row * self.n_notes
            const Counts* table = <const Counts*> &self.counts[0, 0]
            uint16_t[MOST_CLASSES] low
            uint16_t[MOST_CLASSES] high
            float64_t* need = room.need
            uint8_t* is_bought = room.is_bought
            uint16_t* head = room.head
            uint16_t* next = room.next
            int32_t* place = room.place
            intp_t q, test, tree, after
            int32_t at
            uint32_t stop, before, now
            float64_t spent = 0.0
            int32_t step = 0
        memcpy(place, room.start + row * self.n_trees, self.n_trees * 4)
        memcpy(head, &self.head[0], (n_tests + 1) * 2)
        memcpy(next, &self.next[0], (self.n_trees + 1) * 2)
        memcpy(need, &self.need[0], (n_tests + 1) * 8)
        memcpy(low, &self.counts[256, 0], MOST_CLASSES * 2)
        memcpy(high, &self.counts[257, 0], MOST_CLASSES * 2)
        memset(is_bought, 0, n_tests + 1)
        memset(room.paid, 0, n_tests + 1)
        memset(room.is_open, 0, prices.n_groups + 1)
        while not is_settled(low, high, self.n_classes):
            test = find_free(need, free_tests, n_free) if n_free else -1
            if test < 0:
                test = choose(need, inverse, n_tests)
            if test < 0:
                break
            spent += prices.charge(
                test, codes[test], room.paid, room.is_open
            )
            is_bought[test] = 1
            need[test] = 0.0
            tree = head[test]
            while tree:
                after = next[tree]
                at = place[tree - 1]
                before = notes[at] & 255
                at += 1
                # Most trees go on by one or two tests: without a branch.
                at += is_bought[(notes[at] >> TEST_AT) & 255]
                at += is_bought[(notes[at] >> TEST_AT) & 255]
                stop = notes[at]
                while is_bought[(stop >> TEST_AT) & 255]:
                    at += 1
                    stop = notes[at]
                place[tree - 1] = at
                now = (stop >> TEST_AT) & 255
                # Trees that have ended wait for what is never bought.
                need[now] += stop >> SCORE_AT
                next[tree] = head[now]
                head[now] = <uint16_t> tree
                move_counts(
                    <Counts*> high, <Counts*> low, table, before, stop & 255,
                    now == <uint32_t> n_tests,
                )
                tree = after
            step += 1
        for q in range(self.n_classes):
            raw[q] = <float64_t> low[q]
        cost[0] = spent
        n_bought[0] = step


cdef inline bint is_settled(
    const uint16_t* low, const uint16_t* high, intp_t n_classes
) noexcept nogil:
    """Return whether no class can overtake the first one; ties go to the earlier."""
    cdef intp_t first = 0
    cdef intp_t q
    for q in range(1, n_classes):
        if low[q] > low[first]:
            first = q
    for q in range(first):
        if high[q] >= low[first]:
            return False
    for q in range(first + 1, n_classes):
        if high[q] > low[first]:
            return False
    return True


cdef inline intp_t choose(
    const float64_t* need, const float64_t* inverse, intp_t n_tests
) noexcept nogil:
    """Return the first test that is as good as any for its price; -1 if none waits.

    Whatever is bought is needed by nothing. Four maxima are kept side by side, so that
    they do not wait for one another.
    """
    cdef:
        intp_t test
        intp_t n_fours = n_tests // 4 * 4
        float64_t a = 0.0
        float64_t b = 0.0
        float64_t c = 0.0
        float64_t d = 0.0
        float64_t score
    for test in range(0, n_fours, 4):
        score = need[test] * inverse[test]
        a = score if score > a else a
        score = need[test + 1] * inverse[test + 1]
        b = score if score > b else b
        score = need[test + 2] * inverse[test + 2]
        c = score if score > c else c
        score = need[test + 3] * inverse[test + 3]
        d = score if score > d else d
    for test in range(n_fours, n_tests):
        score = need[test] * inverse[test]
        a = score if score > a else a
    a = a if a > b else b
    c = c if c > d else d
    a = a if a > c else c
    if a <= 0.0:
        return -1
    for test in range(n_tests):
        if need[test] * inverse[test] * TIE >= a:
            return test
    return -1


cdef inline intp_t find_free(
    const float64_t* need, const int32_t* free_tests, intp_t n_free
) noexcept nogil:
    """Return the first test that is free and waited for; -1 if there is none."""
    cdef intp_t i
    for i in range(n_free):
        if need[free_tests[i]] > 0.0:
            return free_tests[i]
    return -1
