"""Buy for many rows at once where trees vote: few classes, plain comparisons.

Two passes over a block of rows. The first walks every tree with all rows of the block,
several side by side, and notes for each row and tree the tests on its path in order of
first use, then its leaf: four bytes each. The second plays the purchases of one row on
its notes: trees wait in a list for each test, and buying one moves those that wait.

The purchases are those of ``_rows``, which says what is bought and when a case is
settled; what is not plain enough for four bytes is run there or by ``_blocks``.
"""

from cython.parallel import parallel, prange
from libc.string cimport memcpy, memset

import numpy as np

from askless._core.code._codes cimport N_SIDE_BY_SIDE, count_cuts_below_each
from askless._core.price._prices cimport Prices
from askless._core.base._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint8_t, uint16_t, uint32_t, uint64_t,
)
from askless._core.ensemble._rows cimport Results, Rows
from askless._core.ensemble._vote_play cimport (
    Counts, add_vote, choose, find_free, find_open, is_settled, replace_votes,
)
from askless._core.ensemble._vote_room cimport Room, free_room, make_room
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
    # Bytes that memory is fetched by, and the most such lines of the next tree that
    # are fetched for a row of this one.
    LINE = 64
    MOST_LINES = 8


cdef extern from *:
    """
    #define fetch(address) __builtin_prefetch(address)
    #define lowest_bit(word) __builtin_ctz(word)
    """
    void fetch(const void* address) nogil
    int lowest_bit(uint32_t word) nogil


cdef struct Lanes:
    # Rows on their way down one tree, side by side.
    size_t[LANES] node
    const uint16_t* codes[LANES]
    uint32_t* to[LANES]       # where the next note of each goes
    intp_t[LANES] row         # -1 if no row is left for it


cdef class VoteRows:
    """The trees of a vote, packed for many rows; never changed after it is built."""

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
            intp_t tree, asked, q, node
            uint64_t step
            uint64_t[::1] steps = layout.steps
            int64_t[::1] root = layout.root
            intp_t n_trees = root.shape[0] - 1
            uint8_t[::1] is_used = np.zeros(n_tests + 1, dtype=np.uint8)
            object bits = np.arange(256)[:, None] >> np.arange(MOST_CLASSES) & 1
            uint16_t[:, ::1] counts = np.ascontiguousarray(bits, dtype=np.uint16)
            int32_t[::1] place = np.zeros(n_trees + 1, dtype=np.int32)
            int32_t[::1] tail = (np.arange(n_tests + 1) * n_trees).astype(np.int32)
            uint16_t[:, ::1] waiting = np.zeros(
                (n_tests + 1, MOST_CLASSES), dtype=np.uint16
            )
            float64_t[::1] need = np.zeros(n_tests + 1)
            uint16_t[::1] high
            Votes* v = &self.votes
        for node in range(steps.shape[0]):
            is_used[(steps[node] >> TEST_AT) & 255] = 1
        for tree in range(n_trees):
            step = steps[root[tree]]
            asked = (step >> TEST_AT) & 255
            place[tree] = tail[asked]
            tail[asked] += 1
            need[asked] += <uint32_t> step >> SCORE_AT
            for q in range(MOST_CLASSES):
                waiting[asked, q] += counts[step & 255, q]
        high = np.asarray(waiting).sum(axis=0).astype(np.uint16)
        v.n_tests, v.n_trees, v.n_classes = n_tests, n_trees, n_classes
        v.n_notes = layout.n_notes
        v.steps, v.root, v.is_used = &steps[0], &root[0], &is_used[0]
        v.counts, v.place, v.tail = &counts[0, 0], &place[0], &tail[0]
        v.waiting, v.need, v.high = &waiting[0, 0], &need[0], &high[0]
        self.kept = [steps, root, is_used, counts, place, tail, waiting, need, high]

    cdef int run(
        self, Prices prices, const float64_t[::1] inverse, const Rows* rows,
        bint is_complete, const Results* results, int n_threads,
    ) except -1:
        cdef:
            const Votes* v = &self.votes
            intp_t n_rows = rows.n_rows
            intp_t n_fit = MOST_NOTES // (4 * max(v.n_notes, <intp_t> 1))
            intp_t size = max(<intp_t> LANES, min(<intp_t> MOST_ROWS, n_fit))
            intp_t n_needed = count_needed(v, is_complete)
            intp_t n_blocks, block, first, last, row
            uint8_t[::1] failed = np.zeros(1, dtype=np.uint8)
            Room* room
            object is_free = np.isinf(inverse)
            float64_t[::1] finite = np.where(is_free, 0.0, inverse)
            int32_t[::1] free_tests = np.append(
                np.flatnonzero(is_free), 0
            ).astype(np.int32)
            Purse purse
        purse.inverse = &finite[0]
        purse.free_tests = &free_tests[0]
        purse.n_free = free_tests.shape[0] - 1
        # No more room than there are rows.
        size = max(min(size, n_rows), <intp_t> 1)
        n_blocks = (n_rows + size - 1) // size
        with nogil, parallel(num_threads=n_threads):
            room = make_room(size, v.n_tests, v.n_trees, v.n_notes, prices.n_groups)
            for block in prange(n_blocks, schedule="dynamic"):
                if room == NULL:
                    failed[0] = 1
                else:
                    first = block * size
                    last = min(n_rows, first + size)
                    note_rows(v, room, rows, first, last)
                    for row in range(first, last):
                        if row + 1 < last:
                            fetch_notes(v, room, row + 1 - first)
                        self.play_row(
                            room, prices, &purse, row - first, n_needed, results, row
                        )
            free_room(room)
        if failed[0]:
            raise MemoryError("no memory left to run an ensemble")
        return 0

    cdef void play_row(
        self, Room* room, Prices prices, const Purse* purse, intp_t row,
        intp_t n_needed, const Results* results, intp_t to,
    ) noexcept nogil:
        """Buy for one row on its notes until nothing can change, or all have voted.

        A method, so that it is not made a part of its caller, which has not enough
        registers for both: that took 5 % longer.
        """
        cdef:
            const Votes* v = &self.votes
            intp_t n_tests = v.n_tests
            intp_t n_trees = v.n_trees
            const uint16_t* codes = room.codes + row * (n_tests + 1)
            const uint32_t* notes = room.notes + row * v.n_notes
            const Counts* table = <const Counts*> v.counts
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
        begin_row(v, room, row, prices.n_groups)
        memcpy(high, v.high, MOST_CLASSES * 2)
        while (
            tail[n_tests] - n_tests * n_trees < n_needed
            or not is_settled(low, high, v.n_classes)
        ):
            test = -1
            if purse.n_free:
                test = find_free(need, purse.free_tests, purse.n_free)
            if test < 0:
                test = choose(need, purse.inverse, n_tests)
            if test < 0:
                break
            spent += prices.charge(test, codes[test], room.paid, room.is_open)
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
        for q in range(v.n_classes):
            results.raw[to * v.n_classes + q] = <float64_t> low[q]
        results.cost[to] = spent
        results.n_bought[to] = step


cdef intp_t count_needed(const Votes* v, bint is_complete) noexcept nogil:
    """Return how many trees must have ended before a look at the votes is due.

    Every tree that has not ended for the first class may still speak for another one,
    and none of those may have more votes than the first: it has at least its share of
    the trees, and no fewer trees have ended.
    """
    if is_complete:
        return v.n_trees
    return (v.n_trees + v.n_classes - 1) // v.n_classes


cdef void note_rows(
    const Votes* v, Room* room, const Rows* rows, intp_t first, intp_t last
) noexcept nogil:
    """Code a block of rows and walk them down every tree."""
    # Two copies of the walk: the plain one has less to work out.
    if code_block(v, room, rows, first, last):
        note_block(v, room, last - first, True)
    else:
        note_block(v, room, last - first, False)


cdef bint code_block(
    const Votes* v, Room* room, const Rows* rows, intp_t first, intp_t last
) noexcept nogil:
    """Code a block of rows; return whether a value is missing."""
    cdef:
        intp_t n_wide = v.n_tests + 1
        intp_t row, test, n_cuts
        int32_t code
        bint has_missing = False
        uint16_t* to
    for test in range(v.n_tests):
        # What no tree asks is not coded.
        if not v.is_used[test]:
            continue
        if rows.values != NULL:
            has_missing |= code_numbers(v, room, rows, test, first, last)
            continue
        n_cuts = rows.cut_start[test + 1] - rows.cut_start[test]
        to = room.codes + test
        for row in range(first, last):
            code = rows.codes[row * v.n_tests + test]
            # "Missing" and "unknown" alike.
            to[0] = <uint16_t> (code if code <= n_cuts else MISSING)
            has_missing |= to[0] == MISSING
            to += n_wide
    return has_missing


cdef bint code_numbers(
    const Votes* v, Room* room, const Rows* rows, intp_t test, intp_t first, intp_t last
) noexcept nogil:
    """Code one test of a block of rows, several side by side; return the same."""
    cdef:
        intp_t n_wide = v.n_tests + 1
        intp_t n_cuts = rows.cut_start[test + 1] - rows.cut_start[test]
        intp_t row = first
        intp_t i, n_here
        bint has_missing = False
        float64_t[N_SIDE_BY_SIDE] value
        uint16_t[N_SIDE_BY_SIDE] code
        uint16_t* to = room.codes + test
    while row < last:
        n_here = min(<intp_t> N_SIDE_BY_SIDE, last - row)
        for i in range(N_SIDE_BY_SIDE):
            value[i] = rows.values[(row + min(i, n_here - 1)) * v.n_tests + test]
        count_cuts_below_each(rows.cuts + rows.cut_start[test], n_cuts, value, code)
        for i in range(n_here):
            if value[i] != value[i]:
                code[i] = MISSING
                has_missing = True
            to[i * n_wide] = code[i]
        to += n_here * n_wide
        row += n_here
    return has_missing


cdef inline void begin_lane(
    const Votes* v, Room* room, Lanes* lanes, intp_t lane, intp_t tree, intp_t row
) noexcept nogil:
    """Let a row begin at the root of a tree."""
    room.start[row * v.n_trees + tree] = room.end[row]
    lanes.node[lane] = v.root[tree]
    lanes.codes[lane] = room.codes + row * (v.n_tests + 1)
    lanes.to[lane] = room.notes + row * v.n_notes + room.end[row]
    lanes.row[lane] = row


cdef inline void note_block(
    const Votes* v, Room* room, intp_t n_rows, bint has_missing
) noexcept nogil:
    """Walk a block of rows down every tree; note each test at its first use.

    LANES rows go down side by side, so that their reads do not wait for one another.
    Those that are down are found a few at a time, and make place for the next ones:
    whether a single row is down could not be foretold.
    """
    cdef:
        intp_t tree, lane, row, n_begun, n_down, i, n_lines
        uint32_t are_down
        const Step* steps = v.steps
        const char* ahead
        Lanes lanes
    for row in range(n_rows):
        room.end[row] = 0
    for tree in range(v.n_trees):
        n_begun = n_down = 0
        # The next tree is fetched while this one is walked.
        ahead = <const char*> (steps + v.root[tree + 1])
        n_lines = count_lines(v, tree + 1, n_rows)
        for lane in range(LANES):
            if n_begun < n_rows:
                begin_lane(v, room, &lanes, lane, tree, n_begun)
                n_begun += 1
                continue
            # Nobody reads what is noted here.
            lanes.node[lane] = v.root[tree]
            lanes.codes[lane] = room.codes
            lanes.to[lane] = room.spare
            lanes.row[lane] = -1
        while n_down < n_rows:
            are_down = 0
            for i in range(LANES // TOGETHER):
                lane = i * TOGETHER
                are_down |= walk_together(
                    steps, lanes.node + lane, lanes.to + lane, lanes.codes + lane,
                    has_missing,
                ) << lane
            while are_down:
                lane = lowest_bit(are_down)
                are_down &= are_down - 1
                if lanes.row[lane] < 0:
                    continue
                for i in range(n_lines):
                    fetch(ahead + i * LINE)
                ahead += n_lines * LINE
                end_lane(v, room, &lanes, lane)
                n_down += 1
                if n_begun < n_rows:
                    begin_lane(v, room, &lanes, lane, tree, n_begun)
                    n_begun += 1


cdef inline void end_lane(
    const Votes* v, Room* room, Lanes* lanes, intp_t lane
) noexcept nogil:
    """Note the leaf of a row; the lane stays there until another row begins."""
    cdef intp_t row = lanes.row[lane]
    lanes.to[lane][0] = <uint32_t> v.steps[lanes.node[lane]]
    room.end[row] = <int32_t> (lanes.to[lane] + 1 - (room.notes + row * v.n_notes))
    lanes.row[lane] = -1
    lanes.to[lane] = room.spare


cdef inline intp_t count_lines(
    const Votes* v, intp_t tree, intp_t n_rows
) noexcept nogil:
    """Return how many lines of a tree to fetch with each row of the one before."""
    cdef intp_t n_lines
    if tree >= v.n_trees:
        return 0
    n_lines = (v.root[tree + 1] - v.root[tree]) * 8 // LINE + 1
    return min(<intp_t> MOST_LINES, (n_lines + n_rows - 1) // n_rows)


cdef inline void fetch_notes(const Votes* v, Room* room, intp_t row) noexcept nogil:
    """Fetch the notes of a row while another one is played."""
    cdef intp_t i
    # Sixteen numbers are a line of the cache.
    for i in range(room.end[row] // 16 + 1):
        fetch(room.notes + row * v.n_notes + 16 * i)
    for i in range(v.n_trees // 16 + 1):
        fetch(room.start + row * v.n_trees + 16 * i)


cdef inline void begin_row(
    const Votes* v, Room* room, intp_t row, intp_t n_groups
) noexcept nogil:
    """Let every tree wait at its root."""
    cdef:
        intp_t n_tests = v.n_tests
        const int32_t* start = room.start + row * v.n_trees
        intp_t i
    for i in range(v.n_trees):
        room.waiting[v.place[i]] = start[i]
    memcpy(room.tail, v.tail, (n_tests + 1) * 4)
    memcpy(room.votes, v.waiting, (n_tests + 1) * MOST_CLASSES * 2)
    memcpy(room.need, v.need, (n_tests + 1) * 8)
    memset(room.is_bought, 0, n_tests + 1)
    memset(room.paid, 0, n_tests + 1)
    memset(room.is_open, 0, n_groups + 1)
