"""Buy for many rows at once where trees vote: few classes, plain comparisons.

Two passes over a block of rows. The first walks every tree with all rows of the block,
several side by side, and notes for each row and tree the tests on its path in order of
first use, then its leaf: four bytes each. The second plays the purchases of one row on
its notes: trees wait in a list for each test, and buying one moves those that wait.

The purchases are those of ``_ensemble``, which says what is bought and when a case is
settled; what is not plain enough for four bytes is run there.
"""

from cython.parallel import parallel, prange
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

import numpy as np

from askless._core.code._codes cimport N_SIDE_BY_SIDE, count_cuts_below_each
from askless._core.price._prices cimport Prices
from askless._core.base._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint8_t, uint16_t, uint32_t, uint64_t,
)
from askless._core.ensemble._vote_trees cimport (
    MOST_CLASSES, MOST_LEVELS, MOST_TESTS, SCORE_AT, Step, TEST_AT, TOGETHER,
    walk_together,
)


cdef enum:
    # Rows on their way down a tree.
    LANES = 16
    MOST_TREES = 65535
    # Places in the lists of what waits: every tree might wait for any test.
    MOST_WAITING = 4194304
    MISSING = 65535
    # Enough rows that most of a tree is met more than once while it is in the cache,
    # and few enough that their notes take no more bytes than this.
    MOST_ROWS = 512
    MOST_NOTES = 33554432
    # Notes that are read at once, and may lie behind those of the last row.
    AT_ONCE = 4
    # Bytes that memory is fetched by, and the most such lines of the next tree that
    # are fetched for a row of this one.
    LINE = 64
    MOST_LINES = 8

cdef float64_t TIE = 1.0 + 1e-12


cdef extern from *:
    """
    #include <stdint.h>
    typedef uint16_t Counts
        __attribute__((vector_size(16), aligned(2), may_alias));
    static inline void add_vote(Counts *moved, Counts *waiting, const Counts *vote) {
        *moved += *vote;
        *waiting += *vote;
    }
    static inline void replace_votes(
        Counts *high, const Counts *before, const Counts *now
    ) {
        *high += *now - *before;
    }
    """
    # Eight counts, one for each class, added at once.
    ctypedef struct Counts:
        pass
    void add_vote(Counts* moved, Counts* waiting, const Counts* vote) nogil
    void replace_votes(Counts* high, const Counts* before, const Counts* now) nogil


cdef extern from *:
    """
    #include <stdlib.h>
    #ifdef __linux__
    #include <sys/mman.h>
    #endif
    #define fetch(address) __builtin_prefetch(address)
    #define lowest_bit(word) __builtin_ctz(word)
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
    """
    void fetch(const void* address) nogil
    int lowest_bit(uint32_t word) nogil
    void* grab_large(size_t n_bytes) nogil


cdef struct Room:
    # What one thread works on.
    uint16_t* codes    # (n_rows, n_tests + 1)
    uint32_t* notes    # (n_rows, n_notes)
    uint32_t* spare    # (n_notes,) where lanes without a row write
    int32_t* start     # (n_rows, n_trees) where the notes of each tree start
    int32_t* end       # (n_rows,)
    int32_t* waiting   # (n_tests + 1, n_trees) by test, which notes trees wait at
    int32_t* tail      # (n_tests + 1,) where the list of a test ends in `waiting`
    uint16_t* votes    # (n_tests + 1, 8) what the trees in the list may say
    float64_t* need    # (n_tests + 1,) whole numbers
    uint8_t* is_bought  # (256,)
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
    free(room.waiting)
    free(room.tail)
    free(room.votes)
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
    room.notes = <uint32_t*> grab_large((n_rows * n_notes + AT_ONCE) * 4)
    room.spare = <uint32_t*> calloc(n_notes + 1, 4)
    room.start = <int32_t*> calloc(n_rows * n_trees + 1, 4)
    room.end = <int32_t*> calloc(n_rows, 4)
    room.waiting = <int32_t*> calloc((n_tests + 1) * n_trees + 1, 4)
    room.tail = <int32_t*> calloc(n_tests + 1, 4)
    room.votes = <uint16_t*> calloc((n_tests + 1) * MOST_CLASSES, 2)
    room.need = <float64_t*> calloc(n_tests + 1, 8)
    room.is_bought = <uint8_t*> calloc(256, 1)
    room.paid = <uint8_t*> calloc(n_tests + 1, 1)
    room.is_open = <uint8_t*> calloc(n_groups + 1, 1)
    if (
        room.codes == NULL or room.notes == NULL or room.start == NULL
        or room.spare == NULL or room.end == NULL or room.waiting == NULL
        or room.tail == NULL or room.votes == NULL or room.need == NULL
        or room.is_bought == NULL or room.paid == NULL or room.is_open == NULL
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
    cdef uint64_t[::1] steps         # (n_steps,) see _vote_trees
    cdef int64_t[::1] root           # (n_trees + 1,)
    cdef uint8_t[::1] is_used        # (n_tests + 1,) whether some tree asks it
    cdef uint16_t[:, ::1] counts     # (256, 8) of each set of classes
    # The first state, the same for every row.
    cdef int32_t[::1] place          # (n_trees + 1,) of each tree, in `waiting`
    cdef int32_t[::1] tail
    cdef uint16_t[:, ::1] votes
    cdef float64_t[::1] need
    cdef uint16_t[::1] high          # (8,) what all trees may say

    @staticmethod
    def takes(intp_t n_tests, intp_t n_trees, intp_t n_classes, int64_t most_levels):
        """Return whether an ensemble of this size fits."""
        return (
            n_tests <= MOST_TESTS and n_trees < MOST_TREES
            and n_classes <= MOST_CLASSES and most_levels <= MOST_LEVELS
            and (n_tests + 1) * n_trees <= MOST_WAITING
        )

    def __init__(self, layout, *, intp_t n_tests, intp_t n_classes):
        cdef:
            intp_t tree, asked, bits, q, node
            uint64_t step
        self.n_tests = n_tests
        self.n_classes = n_classes
        self.steps = layout.steps
        self.root = layout.root
        self.n_trees = self.root.shape[0] - 1
        self.n_notes = layout.n_notes
        self.is_used = np.zeros(n_tests + 1, dtype=np.uint8)
        for node in range(self.steps.shape[0]):
            self.is_used[(self.steps[node] >> TEST_AT) & 255] = 1
        self.counts = np.zeros((256, MOST_CLASSES), dtype=np.uint16)
        for bits in range(256):
            for q in range(MOST_CLASSES):
                self.counts[bits, q] = (bits >> q) & 1
        self.place = np.zeros(self.n_trees + 1, dtype=np.int32)
        self.tail = (np.arange(n_tests + 1) * self.n_trees).astype(np.int32)
        self.votes = np.zeros((n_tests + 1, MOST_CLASSES), dtype=np.uint16)
        self.need = np.zeros(n_tests + 1)
        for tree in range(self.n_trees):
            step = self.steps[self.root[tree]]
            asked = (step >> TEST_AT) & 255
            self.place[tree] = self.tail[asked]
            self.tail[asked] += 1
            self.need[asked] += <uint32_t> step >> SCORE_AT
            for q in range(MOST_CLASSES):
                self.votes[asked, q] += self.counts[step & 255, q]
        self.high = np.asarray(self.votes).sum(axis=0).astype(np.uint16)

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
            bint has_missing
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
        # No more room than there are rows.
        size = max(min(size, n_rows), <intp_t> 1)
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
                    has_missing = self.code_block(
                        room, value, code, &cuts[0], &cut_start[0], first, last
                    )
                    # Two copies of the walk: the plain one has less to work out.
                    if has_missing:
                        self.note_block(room, last - first, True)
                    else:
                        self.note_block(room, last - first, False)
                    self.play_block(
                        room, prices, &finite[0], &free_tests[0], n_free, first, last,
                        &raw[0, 0], &cost[0], &n_bought[0],
                    )
            free_room(room)
        if failed[0]:
            raise MemoryError("no memory left to run an ensemble")

    cdef bint code_block(
        self, Room* room, const float64_t* values, const int32_t* codes,
        const float64_t* cuts, const int64_t* cut_start, intp_t first, intp_t last,
    ) noexcept nogil:
        """Code a block of rows; return whether a value is missing."""
        cdef:
            intp_t n_tests = self.n_tests
            intp_t n_wide = n_tests + 1
            intp_t row, test, n_cuts, i, n_here
            bint has_missing = False
            float64_t[N_SIDE_BY_SIDE] value
            uint16_t[N_SIDE_BY_SIDE] code
            uint16_t* to
        for test in range(n_tests):
            # What no tree asks is not coded.
            if not self.is_used[test]:
                continue
            n_cuts = cut_start[test + 1] - cut_start[test]
            to = room.codes + test
            if values == NULL:
                for row in range(first, last):
                    # "Missing" and "unknown" alike.
                    to[0] = <uint16_t> (
                        codes[row * n_tests + test]
                        if codes[row * n_tests + test] <= n_cuts else MISSING
                    )
                    has_missing |= to[0] == MISSING
                    to += n_wide
                continue
            row = first
            while row < last:
                n_here = min(<intp_t> N_SIDE_BY_SIDE, last - row)
                for i in range(N_SIDE_BY_SIDE):
                    value[i] = values[(row + min(i, n_here - 1)) * n_tests + test]
                count_cuts_below_each(cuts + cut_start[test], n_cuts, value, code)
                for i in range(n_here):
                    if value[i] != value[i]:
                        code[i] = MISSING
                        has_missing = True
                    to[i * n_wide] = code[i]
                to += n_here * n_wide
                row += n_here
        return has_missing

    cdef inline void note_block(
        self, Room* room, intp_t n_rows, bint has_missing
    ) noexcept nogil:
        """Walk a block of rows down every tree; note each test at its first use.

        LANES rows go down side by side, so that their reads do not wait for one
        another. Those that are down are found a few at a time, and make place for the
        next ones: whether a single row is down could not be foretold.
        """
        cdef:
            intp_t n_wide = self.n_tests + 1
            intp_t n_trees = self.n_trees
            intp_t tree, lane, row, n_begun, n_down, i, n_lines
            uint32_t are_down
            const Step* steps = &self.steps[0]
            const char* ahead
            size_t[LANES] node
            const uint16_t* codes[LANES]
            uint32_t* to[LANES]
            intp_t[LANES] row_of
        for row in range(n_rows):
            room.end[row] = 0
        for tree in range(n_trees):
            n_begun = 0
            n_down = 0
            # The next tree is fetched while this one is walked.
            ahead = <const char*> (steps + self.root[tree + 1])
            n_lines = 0
            if tree + 1 < n_trees:
                n_lines = (self.root[tree + 2] - self.root[tree + 1]) * 8 // LINE + 1
                n_lines = min(<intp_t> MOST_LINES, (n_lines + n_rows - 1) // n_rows)
            for lane in range(LANES):
                node[lane] = self.root[tree]
                codes[lane] = room.codes
                to[lane] = room.spare
                row_of[lane] = -1
                if n_begun < n_rows:
                    row_of[lane] = n_begun
                    codes[lane] = room.codes + n_begun * n_wide
                    to[lane] = self.begin_notes(room, tree, n_begun)
                    n_begun += 1
            while n_down < n_rows:
                are_down = 0
                for i in range(LANES // TOGETHER):
                    lane = i * TOGETHER
                    are_down |= walk_together(
                        steps, node + lane, to + lane, codes + lane, has_missing
                    ) << lane
                while are_down:
                    lane = lowest_bit(are_down)
                    are_down &= are_down - 1
                    row = row_of[lane]
                    if row < 0:
                        continue
                    for i in range(n_lines):
                        fetch(ahead + i * LINE)
                    ahead += n_lines * LINE
                    to[lane][0] = <uint32_t> steps[node[lane]]
                    room.end[row] = <int32_t> (
                        to[lane] + 1 - (room.notes + row * self.n_notes)
                    )
                    n_down += 1
                    if n_begun == n_rows:
                        # A lane that no row is left for stays where it is.
                        row_of[lane] = -1
                        to[lane] = room.spare
                        continue
                    row_of[lane] = n_begun
                    node[lane] = self.root[tree]
                    codes[lane] = room.codes + n_begun * n_wide
                    to[lane] = self.begin_notes(room, tree, n_begun)
                    n_begun += 1

    cdef inline uint32_t* begin_notes(
        self, Room* room, intp_t tree, intp_t row
    ) noexcept nogil:
        room.start[row * self.n_trees + tree] = room.end[row]
        return room.notes + row * self.n_notes + room.end[row]

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
            intp_t n_trees = self.n_trees
            const uint16_t* codes = room.codes + row * (n_tests + 1)
            const uint32_t* notes = room.notes + row * self.n_notes
            const int32_t* start = room.start + row * n_trees
            const int32_t* place = &self.place[0]
            const Counts* table = <const Counts*> &self.counts[0, 0]
            Counts* votes = <Counts*> room.votes
            uint16_t* low = room.votes + n_tests * MOST_CLASSES
            uint16_t[MOST_CLASSES] high
            uint16_t[MOST_CLASSES] moved
            float64_t* need = room.need
            uint8_t* is_bought = room.is_bought
            int32_t* waiting = room.waiting
            int32_t* tail = room.tail
            intp_t q, test, i, at, now
            uint32_t stop
            float64_t spent = 0.0
            int32_t step = 0
        for i in range(n_trees):
            waiting[place[i]] = start[i]
        memcpy(tail, &self.tail[0], (n_tests + 1) * 4)
        memcpy(votes, &self.votes[0, 0], (n_tests + 1) * MOST_CLASSES * 2)
        memcpy(need, &self.need[0], (n_tests + 1) * 8)
        memcpy(high, &self.high[0], MOST_CLASSES * 2)
        memset(is_bought, 0, n_tests + 1)
        memset(room.paid, 0, n_tests + 1)
        memset(room.is_open, 0, prices.n_groups + 1)
        # Every tree that has not ended for the first class may still speak for another
        # one, and none of those may have more votes than the first: it has at least
        # its share of the trees, and no fewer trees have ended.
        while (
            (tail[n_tests] - n_tests * n_trees) * self.n_classes < n_trees
            or not is_settled(low, high, self.n_classes)
        ):
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
            memset(moved, 0, MOST_CLASSES * 2)
            for i in range(test * n_trees, tail[test]):
                at = find_open(notes, waiting[i] + 1, is_bought)
                stop = notes[at]
                now = (stop >> TEST_AT) & 255
                # Trees that have ended wait for what is never bought.
                need[now] += <int32_t> (stop >> SCORE_AT)
                waiting[tail[now]] = <int32_t> at
                tail[now] += 1
                add_vote(<Counts*> moved, votes + now, table + (stop & 255))
            replace_votes(<Counts*> high, votes + test, <const Counts*> moved)
            step += 1
        for q in range(self.n_classes):
            raw[q] = <float64_t> low[q]
        cost[0] = spent
        n_bought[0] = step


cdef inline intp_t find_open(
    const uint32_t* notes, intp_t at, const uint8_t* is_bought
) noexcept nogil:
    """Return the first note from here on whose test was not bought, or the leaf.

    Most trees go on by a few tests: those are looked at together, without a branch.
    """
    cdef:
        intp_t first = is_bought[(notes[at] >> TEST_AT) & 255]
        intp_t second = first & is_bought[(notes[at + 1] >> TEST_AT) & 255]
        intp_t third = second & is_bought[(notes[at + 2] >> TEST_AT) & 255]
        intp_t fourth = third & is_bought[(notes[at + 3] >> TEST_AT) & 255]
    at += first + second + third + fourth
    while is_bought[(notes[at] >> TEST_AT) & 255]:
        at += 1
    return at


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
