"""Buy for many rows where trees vote, a block of rows at a time.

First walk each tree with a block of rows, which keeps the tree in the cache, and write
down what it would wait for; then buy on these notes, row by row. What is plain enough
for less memory is run by ``_vote_rows``.

This module must not know of sums other than votes, nor of stopping early.
"""

from cython.parallel import parallel, prange
from libc.math cimport INFINITY
from libc.stdlib cimport calloc, free
from libc.string cimport memset

import numpy as np

from askless._core.base._bits cimport lowest_bit
from askless._core.ensemble._bounds cimport drop_classes
from askless._core.ensemble._case cimport (
    BOUGHT, Case, free_case, make_case, reset, wait,
)
from askless._core.ensemble._choice cimport (
    NOT_ASKED, View, choose, is_over, look, pay,
)
from askless._core.ensemble._rows cimport Results, Rows, code_of
from askless._core.ensemble._trees cimport IS_SET, MISSING_LEFT, Model, goes_left
from askless._core.price._prices cimport Prices
from askless._core.base._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint8_t, uint64_t,
)


cdef struct Notes:
    Stop* stops       # (n_rows, n_trees, n_stops)
    intp_t n_stops
    int32_t* codes    # (n_rows, n_tests)
    int32_t* place    # (n_trees,) where each tree stands on its list
    int64_t* seen     # (n_tests, LANES) the last walk that met a test
    int64_t walk


cdef enum:
    LANES = 8
    # Enough rows that most of a tree is met more than once while it is in the cache,
    # and few enough that their notes take no more memory than this.
    MOST_ROWS = 1024
    MOST_NOTES = 33554432


cdef class Blocks:
    """The trees of votes as a walk reads them."""

    cdef int run(
        self, const Model* m, const Case* root, Prices prices,
        const float64_t[::1] inverse, const Rows* rows, bint is_complete,
        const Results* results, int n_threads,
    ) except -1:
        cdef:
            const Step* steps = self.steps
            intp_t n_stops = min(m.n_tests, self.depth) + 1
            intp_t n_fit = MOST_NOTES // (max(m.n_trees, 1) * n_stops * sizeof(Stop))
            intp_t size = max(<intp_t> LANES, min(<intp_t> MOST_ROWS, n_fit))
            intp_t n_blocks = (rows.n_rows + size - 1) // size
            intp_t block, first, last, row
            uint8_t[::1] failed = np.zeros(1, dtype=np.uint8)
            Case* c
            Notes* notes
        with nogil, parallel(num_threads=n_threads):
            c = make_case(m, prices.n_groups)
            notes = make_notes(m, size, n_stops)
            for block in prange(n_blocks, schedule="dynamic"):
                first = block * size
                last = min(rows.n_rows, first + size)
                if c == NULL or notes == NULL:
                    failed[0] = 1
                else:
                    c.has_means = False
                    code_block(m, rows, first, last, notes.codes)
                    note_stops(m, steps, notes, last - first)
                    for row in range(first, last):
                        run_noted(
                            m, c, root, prices, &inverse[0], notes, row - first,
                            is_complete, results, row,
                        )
            free_case(c)
            free_notes(notes)
        if failed[0]:
            raise MemoryError("no memory left to run an ensemble")
        return 0


cdef Blocks make_blocks(const Model* m):
    cdef:
        Blocks blocks = Blocks()
        intp_t node
        uint8_t[::1] memory = np.zeros(
            max(m.n_nodes, 1) * sizeof(Step), dtype=np.uint8
        )
        Step* steps = <Step*> &memory[0]
    for node in range(m.n_nodes):
        steps[node].stop.classes = m.classes[node]
        steps[node].stop.score = <int32_t> m.score[node]
        steps[node].stop.test = m.nodes[node].test
        steps[node].cut = m.nodes[node].cut
        steps[node].right = m.nodes[node].right
        steps[node].flags = m.nodes[node].flags
    blocks.memory = memory
    blocks.steps = steps
    blocks.depth = count_depth(m)
    return blocks


cdef intp_t count_depth(const Model* m) noexcept nogil:
    """Return the most tests on any path."""
    cdef:
        intp_t tree, node, last, depth
        intp_t deepest = 0
        int32_t* open_until = <int32_t*> calloc(m.n_nodes + 2, 4)
    if open_until == NULL:
        return m.n_nodes
    # The left part of a node ends where its right child starts, so the depth of a node
    # is that of the last one that opened it.
    for tree in range(m.n_trees):
        open_until[m.tree_start[tree]] = 0
        last = m.tree_start[tree + 1]
        for node in range(m.tree_start[tree], last):
            depth = open_until[node]
            deepest = max(deepest, depth)
            if m.nodes[node].test >= 0:
                open_until[node + 1] = <int32_t> (depth + 1)
                open_until[m.nodes[node].right] = <int32_t> (depth + 1)
    free(open_until)
    return deepest


cdef Notes* make_notes(
    const Model* m, intp_t n_rows, intp_t n_stops
) noexcept nogil:
    cdef Notes* notes = <Notes*> calloc(1, sizeof(Notes))
    if notes == NULL:
        return NULL
    notes.n_stops = n_stops
    # One more: a stop is written before it is known to be a new one.
    notes.stops = <Stop*> calloc(n_rows * m.n_trees * n_stops + 1, sizeof(Stop))
    notes.codes = <int32_t*> calloc(n_rows * m.n_tests + 1, 4)
    notes.place = <int32_t*> calloc(m.n_trees + 1, 4)
    notes.seen = <int64_t*> calloc(m.n_tests * LANES + 1, 8)
    if (
        notes.stops == NULL or notes.codes == NULL or notes.place == NULL
        or notes.seen == NULL
    ):
        free_notes(notes)
        return NULL
    return notes


cdef void free_notes(Notes* notes) noexcept nogil:
    if notes == NULL:
        return
    free(notes.stops)
    free(notes.codes)
    free(notes.place)
    free(notes.seen)
    free(notes)


cdef void code_block(
    const Model* m, const Rows* rows, intp_t first, intp_t last, int32_t* codes
) noexcept nogil:
    cdef intp_t row, test
    for row in range(first, last):
        for test in range(m.n_tests):
            # What no tree asks is not coded.
            if m.user_start[test + 1] > m.user_start[test]:
                codes[(row - first) * m.n_tests + test] = <int32_t> code_of(
                    m, rows, row, test
                )


cdef void note_stops(
    const Model* m, const Step* steps, Notes* notes, intp_t n_rows
) noexcept nogil:
    """Walk a block of rows down every tree; write down each test at its first use.

    LANES rows go down side by side, so that their reads do not wait for one another.
    """
    cdef:
        intp_t tree, group, first, n_lanes, lane, n_open
        intp_t[LANES] node
        intp_t[LANES] n
        Stop* stops[LANES]
        const Step* at
        int32_t code, test
        int64_t* seen
        bint is_left
    for tree in range(m.n_trees):
        for group in range((n_rows + LANES - 1) // LANES):
            first = group * LANES
            n_lanes = min(<intp_t> LANES, n_rows - first)
            notes.walk += 1
            for lane in range(n_lanes):
                node[lane] = m.tree_start[tree]
                n[lane] = 0
                stops[lane] = (
                    notes.stops + ((first + lane) * m.n_trees + tree) * notes.n_stops
                )
            n_open = n_lanes
            while n_open:
                n_open = 0
                for lane in range(n_lanes):
                    at = steps + node[lane]
                    test = at.stop.test
                    stops[lane][n[lane]] = at.stop
                    if test < 0:
                        continue
                    n_open += 1
                    code = notes.codes[(first + lane) * m.n_tests + test]
                    seen = notes.seen + test * LANES + lane
                    n[lane] += seen[0] != notes.walk
                    seen[0] = notes.walk
                    if at.flags & IS_SET:
                        is_left = goes_left(m, m.nodes + node[lane], code)
                    else:
                        # Without a branch that nobody could predict.
                        is_left = (code <= at.cut) | (
                            (at.flags & MISSING_LEFT) & (code >= m.n_levels[test])
                        )
                    node[lane] = at.right + is_left * (node[lane] + 1 - at.right)


cdef void run_noted(
    const Model* m, Case* c, const Case* root, Prices prices, const float64_t* inverse,
    Notes* notes, intp_t row, bint is_complete, const Results* results, intp_t to,
) noexcept nogil:
    """Buy for one row on its notes; the same purchases as ``_rows`` makes."""
    cdef:
        const int32_t* codes = notes.codes + row * m.n_tests
        const Stop* stops = notes.stops + row * m.n_trees * notes.n_stops
        const Stop* at
        intp_t q, test, tree, after
        uint64_t before
        float64_t spent = 0.0
        int32_t step = 0
        View view
    reset(m, c, root, prices.n_groups)
    memset(notes.place, 0, m.n_trees * 4)
    while True:
        look(m, c, NOT_ASKED, &view)
        if is_over(c, &view, INFINITY, is_complete):
            break
        test = choose(m, c, prices, inverse, &view)
        if test < 0:
            break
        spent = spent + pay(m, c, prices, test, codes[test])
        c.state[test] = BOUGHT
        c.need[test] = 0
        tree = c.head[test]
        c.head[test] = -1
        while tree >= 0:
            after = c.next[tree]
            at = stops + tree * notes.n_stops + notes.place[tree]
            before = at.classes
            while at.test >= 0 and c.state[at.test] == BOUGHT:
                at = at + 1
            notes.place[tree] = <int32_t> (at - (stops + tree * notes.n_stops))
            drop_classes(c, before & ~at.classes)
            if at.test >= 0:
                c.need[at.test] += at.score
                wait(c, at.test, tree)
            else:
                c.low[lowest_bit(at.classes)] += 1
                c.n_waiting -= 1
            tree = after
        step = step + 1
    for q in range(m.n_outputs):
        results.raw[to * m.n_outputs + q] = <float64_t> c.low[q]
    results.cost[to] = spent
    results.n_bought[to] = step
