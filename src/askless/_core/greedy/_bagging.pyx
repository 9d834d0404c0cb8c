"""Grow one tree of a forest on a bootstrap sample, as fast as the memory allows.

The special case that forests live on: codes of one byte, tests that are compared, whole
weights, a minimax of pairs beyond a threshold, prices that do not depend on the path.
It grows the same trees as the general grower, to the last bit, by other means:

* the rows of the sample are copied once, sorted by class, and parted in place; tests
  of two outcomes are kept eight to a byte, so that they are moved and counted together;
* a best cut is found by counting passes around the crossing, tests in order of price,
  so that the search ends at the first test too dear to win;
* sets of at most 128 weighted rows become sets of bits and are never moved again.

This module must not know what becomes of the tree.
"""

cimport cython
from libc.math cimport INFINITY
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memset

import numpy as np

from askless._core.greedy._bundles import bundle_codes
from askless._core.greedy._criteria cimport Score, is_better
from askless._core.base._keys cimport draw_below, mix_with
from askless._core.tree._store cimport TreeBuffer
from askless._core.base._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint8_t, uint64_t,
)


cdef extern from "askless/_core/greedy/counting.h" nogil:
    void min_max_u8(
        const uint8_t* column, intp_t n, uint8_t* low, uint8_t* high
    ) noexcept


cdef extern from "askless/_core/greedy/bagging.h" nogil:
    int has_fast_bytes() noexcept
    void set_fast_bytes(int use) noexcept
    void fill_part_tables() noexcept
    int64_t weigh_at_most_u8(
        const uint8_t* codes, const uint8_t* weights, intp_t n, uint8_t limit
    ) noexcept
    int64_t sum_u8(const uint8_t* weights, intp_t n) noexcept
    void weigh_bits_u8(
        const uint8_t* codes, const uint8_t* weights, intp_t n, const uint8_t* bits,
        int n_bits, int64_t* out,
    ) noexcept
    void mark_unset_u8(
        const uint8_t* codes, intp_t n, uint8_t bit, uint8_t* marks
    ) noexcept
    intp_t count_marks(const uint8_t* marks, intp_t start, intp_t n) noexcept
    intp_t keep_u8(
        const uint8_t* column, const uint8_t* marks, intp_t n, uint8_t* kept,
        int is_fast,
    ) noexcept
    void mark_at_most_u8(
        const uint8_t* codes, intp_t n, uint8_t cut, uint8_t* marks
    ) noexcept
    void part_u8(
        uint8_t* column, const uint8_t* marks, intp_t n, uint8_t* spare, int is_fast
    ) noexcept
    double mix_weights(const double* weights, intp_t n, double alpha) noexcept


cdef extern from "askless/_core/greedy/blocks.h" nogil:
    enum: BLOCK_PLACES
    ctypedef struct Bits:
        uint64_t[2] places
    ctypedef struct CodePlanes:
        uint8_t n_planes
    ctypedef struct BlockSet:
        double whole
        double alpha
        intp_t n_classes
        const Bits* of_class
        const int32_t* counts
        const double* totals
        Bits set
    ctypedef struct BlockCut:
        double value
        Bits left
    ctypedef struct BlockScan:
        const double* price
        int32_t* tests
        intp_t n_tests
        intp_t next
        intp_t n_kept
        intp_t n_tried
        intp_t most_tried
        int is_by_price
        double ratio
        double inverse
        double slack
        double tolerance
    void fill_planes(const uint8_t* codes, intp_t n, CodePlanes* out) noexcept
    int largest_code(const CodePlanes* codes, Bits among) noexcept
    void fill_plane(
        const uint8_t* codes, intp_t n, int bit, Bits all, CodePlanes* out
    ) noexcept
    int32_t scan_block(
        const BlockSet* set, const CodePlanes* planes, BlockScan* scan, BlockCut* cut,
        int is_fast,
    ) noexcept
    intp_t list_set_classes(
        Bits set, const Bits* of_class, intp_t n_classes, Bits* of_set, int32_t* which,
        int32_t* counts, double* totals, int is_fast,
    ) noexcept
    int count_places(Bits set) noexcept


fill_part_tables()

# As in the criteria: scores closer than this are a tie, and bounds leave room for it.
cdef float64_t TOLERANCE = 1e-12
cdef float64_t SLACK = 1 - 4e-12

cdef enum:
    BAG = 0x626167
    # Bits of one byte that are weighed in one pass.
    GROUP = 4
    # Cells of a bundle that a block has room for.
    BLOCK_ROOM = BLOCK_PLACES + 16


def use_fast_bytes(bint use):
    """Switch the paths for newer processors off or on; return whether they are on."""
    set_fast_bytes(use)
    return bool(has_fast_bytes())


def draw_bag(intp_t n_rows, uint64_t key):
    """Return how often each row is drawn, of n_rows draws with replacement."""
    cdef uint8_t[::1] counts = np.zeros(n_rows, dtype=np.uint8)
    if n_rows:
        with nogil:
            # A key of its own: the first nodes are drawn by parts of the key itself.
            fill_bag(&counts[0], n_rows, mix_with(key, BAG))
    return np.asarray(counts)


cdef void fill_bag(uint8_t* counts, intp_t n_rows, uint64_t key) noexcept nogil:
    cdef intp_t i
    cdef uint64_t row
    for i in range(n_rows):
        row = draw_below(mix_with(key, <uint64_t> i), <uint64_t> n_rows)
        # No row is drawn 256 times in practice; if one is, it counts as 255.
        counts[row] += counts[row] < 255


cdef inline int bit_of_mask(uint8_t mask) noexcept nogil:
    """Return which bit of a byte is set."""
    cdef int bit = 0
    while mask > 1:
        mask >>= 1
        bit += 1
    return bit


cdef struct Pending:
    intp_t start          # rows [start, start + n_rows[ of every column
    intp_t n_rows
    intp_t n_classes
    intp_t classes        # in the arena: classes present, then rows of each
    intp_t tests          # in the arena: the tests that may still split
    intp_t n_tests
    intp_t parent
    intp_t parent_branch
    intp_t depth
    uint64_t key


cdef struct PendingSet:
    Bits set
    intp_t tests
    intp_t n_tests
    intp_t parent
    intp_t parent_branch
    intp_t depth
    uint64_t key


cdef struct Best:
    intp_t test
    intp_t cut
    Score score
    bint has_missing
    Bits left
    float64_t inverse  # of the ratio


@cython.final
cdef class BaggedGrower:
    """One growth: the sample, the nodes still to do, and the tree so far."""

    cdef TreeBuffer tree
    cdef const float64_t[::1] price       # (n_tests,)
    cdef const int32_t[::1] n_levels      # (n_tests,)
    cdef float64_t alpha
    cdef float64_t max_impurity
    cdef float64_t min_weight
    cdef intp_t max_depth
    cdef intp_t max_features              # tests tried at a node; n_tests for all
    cdef bint use_blocks
    cdef int is_fast

    cdef const int32_t[::1] column        # (n_tests,) see Bundles
    cdef const uint8_t[::1] bit           # (n_tests,) see Bundles
    cdef intp_t n_columns
    cdef intp_t n_classes

    cdef uint8_t* codes                   # (n_columns, stride) of the sample
    cdef uint8_t* weights                 # (stride,)
    cdef intp_t stride
    cdef uint8_t* spare
    cdef uint8_t* marks
    cdef int32_t* last_cut                # (n_tests,) where the crossing was last
    cdef float64_t* totals                # (n_classes,) and so on
    cdef float64_t* left
    cdef float64_t* right
    cdef uint64_t* drawn                  # (n_tests,) keys of tests, to choose some
    cdef uint8_t* is_moved                # (n_columns,) by the split at hand
    # Weights by class where a bit is set, of some tests that are next in a list.
    cdef int64_t* set_weights             # (GROUP, n_classes)
    cdef intp_t[GROUP] group
    cdef intp_t n_group

    cdef Pending* stack
    cdef intp_t n_pending
    cdef intp_t stack_room
    cdef PendingSet* set_stack
    cdef intp_t n_sets
    cdef intp_t set_room
    # Lists of the nodes still to do. A node that is taken off the stack owns the last
    # ones, so what lies beyond them is free.
    cdef int32_t* arena
    cdef intp_t arena_room
    cdef CodePlanes* planes               # (n_tests,)
    cdef Bits* of_class                   # (BLOCK_PLACES,) of a block
    cdef Bits* of_set                     # (BLOCK_PLACES,) of a set of a block
    cdef int32_t* which                   # (BLOCK_PLACES,) classes of a set of a block
    cdef int32_t* counts                  # (BLOCK_PLACES,)
    cdef uint8_t* bundle_cells            # (n_columns, BLOCK_ROOM) of a block

    def __dealloc__(self):
        free(self.codes)
        free(self.weights)
        free(self.spare)
        free(self.marks)
        free(self.last_cut)
        free(self.totals)
        free(self.left)
        free(self.right)
        free(self.drawn)
        free(self.is_moved)
        free(self.set_weights)
        free(self.which)
        free(self.bundle_cells)
        free(self.stack)
        free(self.set_stack)
        free(self.arena)
        free(self.planes)
        free(self.of_class)
        free(self.of_set)
        free(self.counts)

    cdef int reserve_arena(self, intp_t room) except -1 nogil:
        cdef int32_t* larger
        if room <= self.arena_room:
            return 0
        room = 2 * room + 1024
        larger = <int32_t*> realloc(self.arena, room * sizeof(int32_t))
        if larger == NULL:
            with gil:
                raise MemoryError("no memory left for the nodes to grow")
        self.arena = larger
        self.arena_room = room
        return 0

    cdef int push(self, Pending item) except -1 nogil:
        cdef Pending* larger
        if self.n_pending == self.stack_room:
            self.stack_room = 2 * self.stack_room + 64
            larger = <Pending*> realloc(self.stack, self.stack_room * sizeof(Pending))
            if larger == NULL:
                with gil:
                    raise MemoryError("no memory left for the nodes to grow")
            self.stack = larger
        self.stack[self.n_pending] = item
        self.n_pending += 1
        return 0

    cdef int push_set(self, PendingSet item) except -1 nogil:
        cdef PendingSet* larger
        if self.n_sets == self.set_room:
            self.set_room = 2 * self.set_room + 64
            larger = <PendingSet*> realloc(
                self.set_stack, self.set_room * sizeof(PendingSet)
            )
            if larger == NULL:
                with gil:
                    raise MemoryError("no memory left for the nodes to grow")
            self.set_stack = larger
        self.set_stack[self.n_sets] = item
        self.n_sets += 1
        return 0

    cdef int grow(self) except -1 nogil:
        """Grow until no node is pending, depth first, left before right."""
        cdef:
            Pending item
            intp_t k, row
            const int32_t* class_rows
            int64_t total
        while self.n_pending > 0:
            self.n_pending -= 1
            item = self.stack[self.n_pending]
            class_rows = self.arena + item.classes + item.n_classes
            row = item.start
            total = 0
            for k in range(item.n_classes):
                self.totals[k] = <float64_t> sum_u8(self.weights + row, class_rows[k])
                total += <int64_t> self.totals[k]
                row += class_rows[k]
            if self.use_blocks and total <= BLOCK_PLACES:
                self.grow_block(&item)
            else:
                self.grow_node(&item, <float64_t> total)
        return 0

    cdef int list_tests(
        self, intp_t source, intp_t n, uint64_t key, intp_t target
    ) except -1 nogil:
        """Copy a list of tests within the arena, in the order in which to try them.

        Some of them only: the order is that of random keys, so that the tests tried are
        a random choice which depends on nothing but the node. All of them: by price.
        """
        cdef:
            intp_t i, j
            int32_t test
            uint64_t drawn
        self.reserve_arena(target + n)
        memcpy(self.arena + target, self.arena + source, n * sizeof(int32_t))
        if self.max_features < self.price.shape[0]:
            for i in range(n):
                test = self.arena[target + i]
                drawn = mix_with(key, <uint64_t> test)
                # Insertion sort: lists are short, and mostly random.
                j = i
                while j > 0 and self.drawn[j - 1] > drawn:
                    self.drawn[j] = self.drawn[j - 1]
                    self.arena[target + j] = self.arena[target + j - 1]
                    j -= 1
                self.drawn[j] = drawn
                self.arena[target + j] = test
        return 0

    cdef intp_t keep_rest(
        self, intp_t tests, intp_t start, intp_t end, intp_t n_kept
    ) noexcept nogil:
        """Move the tests that were not tried behind those that are kept."""
        cdef intp_t i
        for i in range(start, end):
            self.arena[tests + n_kept + i - start] = self.arena[tests + i]
        return end - start

    cdef inline bint is_too_dear(
        self, float64_t price, float64_t reduction, Best* best
    ) noexcept nogil:
        """Return whether no split of so little reduction can beat the best one."""
        # Without a division, which would be most of the work on a small set.
        if best.score.ratio == INFINITY:
            return False
        return reduction <= 0 or price * SLACK > best.score.ratio * reduction

    cdef inline void offer(
        self, Best* best, intp_t test, intp_t cut, float64_t whole, float64_t value,
        bint has_missing, Bits left,
    ) noexcept nogil:
        """Take a split if it is better than the best one so far."""
        cdef:
            float64_t reduction = whole - value
            Score score
        if reduction <= TOLERANCE * whole:
            return
        if (
            best.score.ratio < INFINITY
            and self.price[test] > best.score.ratio * (1 + 1e-9) * reduction
        ):
            # Clearly worse; what is close is left to the rule of ties.
            return
        score.ratio = self.price[test] / reduction
        score.reduction = reduction
        if is_better(score, test, best.score, best.test):
            best.test = test
            best.cut = cut
            best.score = score
            best.has_missing = has_missing
            best.left = left
            best.inverse = 1 / score.ratio if score.ratio > 0 else INFINITY

    cdef int record(
        self, intp_t node, intp_t n_classes, const int32_t* classes
    ) except -1 nogil:
        cdef intp_t k
        for k in range(n_classes):
            self.tree.add_weight(classes[k], self.totals[k])
        return 0

    # Large nodes: counting passes over columns.

    cdef int grow_node(self, Pending* item, float64_t weight) except -1 nogil:
        cdef:
            intp_t node = self.tree.add_node(item.parent, item.parent_branch)
            intp_t tests = max(
                item.tests + item.n_tests, item.classes + 2 * item.n_classes
            )
            intp_t i, n_kept = 0, n_tried = 0
            int32_t test
            bint cannot_split
            Best best
            float64_t whole = mix_weights(self.totals, item.n_classes, self.alpha)
        self.record(node, item.n_classes, self.arena + item.classes)
        if (
            item.n_classes < 2
            or whole <= self.max_impurity
            or item.depth >= self.max_depth
            or weight < self.min_weight
        ):
            return 0
        best.test = self.price.shape[0]
        best.score = Score(INFINITY, 0.0)
        self.n_group = 0
        self.list_tests(item.tests, item.n_tests, item.key, tests)
        for i in range(item.n_tests):
            test = self.arena[tests + i]
            if n_tried >= self.max_features:
                self.arena[tests + n_kept] = test
                n_kept += 1
                continue
            if (
                self.max_features >= self.price.shape[0]
                and self.is_too_dear(self.price[test], whole, &best)
            ):
                # Tests are in order of price: no later one can win either.
                n_kept += self.keep_rest(tests, i, item.n_tests, n_kept)
                break
            if self.bit[test]:
                cannot_split = self.search_bit(item, tests, i, whole, &best)
            else:
                cannot_split = self.search_column(item, test, whole, &best)
            if not cannot_split:
                self.arena[tests + n_kept] = test
                n_kept += 1
                n_tried += 1
        if best.score.ratio == INFINITY:
            return 0
        self.split_node(item, node, &best, tests, n_kept)
        return 0

    cdef inline uint8_t* codes_of(self, intp_t test) noexcept nogil:
        return self.codes + self.column[test] * self.stride

    cdef void weigh_group(
        self, Pending* item, intp_t tests, intp_t i
    ) noexcept nogil:
        """Weigh a test of two outcomes, and those next to it in the same bundle."""
        cdef:
            intp_t test = self.arena[tests + i], other, end, k, row = 0
            const uint8_t* column = self.codes_of(test) + item.start
            const uint8_t* weights = self.weights + item.start
            const int32_t* class_rows = self.arena + item.classes + item.n_classes
            uint8_t[GROUP] bits
            int64_t[GROUP] found
            int n_bits
        end = item.n_tests
        if self.max_features < self.price.shape[0]:
            # In random order, and few are tried.
            end = i + 1
        self.n_group = 0
        for i in range(i, min(end, i + GROUP)):
            other = self.arena[tests + i]
            if self.column[other] != self.column[test]:
                break
            bits[self.n_group] = self.bit[other]
            self.group[self.n_group] = other
            self.n_group += 1
        n_bits = <int> self.n_group
        for i in range(n_bits, GROUP):
            bits[i] = 0
        for k in range(item.n_classes):
            weigh_bits_u8(
                column + row, weights + row, class_rows[k], bits, n_bits, found
            )
            row += class_rows[k]
            for i in range(n_bits):
                self.set_weights[i * self.n_classes + k] = found[i]

    cdef bint search_bit(
        self, Pending* item, intp_t tests, intp_t i, float64_t whole, Best* best
    ) noexcept nogil:
        """Offer the one cut of a test of two outcomes; return whether there is none."""
        cdef:
            intp_t test = self.arena[tests + i], place = 0, k
            const int64_t* set_weights
            float64_t all_left = 0.0, all_right = 0.0
            Bits none
        while place < self.n_group and self.group[place] != test:
            place += 1
        if place == self.n_group:
            self.weigh_group(item, tests, i)
            place = 0
        set_weights = self.set_weights + place * self.n_classes
        for k in range(item.n_classes):
            self.right[k] = <float64_t> set_weights[k]
            self.left[k] = self.totals[k] - self.right[k]
            all_left += self.left[k]
            all_right += self.right[k]
        if all_left == 0 or all_right == 0:
            return True
        none.places[0] = none.places[1] = 0
        self.offer(
            best, test, 0, whole,
            max(
                mix_weights(self.left, item.n_classes, self.alpha),
                mix_weights(self.right, item.n_classes, self.alpha),
            ),
            # A column of one value and of missing ones, which are the last code.
            self.n_levels[test] == 1, none,
        )
        return False

    cdef bint search_column(
        self, Pending* item, intp_t test, float64_t whole, Best* best
    ) noexcept nogil:
        """Offer the best cut of a test; return whether it has one code only."""
        cdef:
            const uint8_t* column = self.codes_of(test) + item.start
            const uint8_t* weights = self.weights + item.start
            const int32_t* class_rows = self.arena + item.classes + item.n_classes
            uint8_t low, high
            intp_t below, above, cut, k, row, n_steps = 0
            float64_t below_left = 0.0, below_right = whole
            float64_t above_left = whole, above_right = 0.0
            float64_t left, right
            Bits none
        min_max_u8(column, item.n_rows, &low, &high)
        if low == high:
            return True
        below, above = <intp_t> low - 1, high
        while above - below > 1:
            if self.is_too_dear(
                self.price[test], whole - max(below_left, above_right), best
            ):
                return False
            cut = (below + above) >> 1
            if n_steps == 0 and below < self.last_cut[test] < above:
                # The crossing is often where it was in the node before.
                cut = self.last_cut[test]
            elif n_steps % 3 != 0 and above - below > 8:
                # A straight line through the two known differences.
                cut = below + <intp_t> (
                    (above - below) * (below_right - below_left)
                    / ((below_right - below_left) + (above_left - above_right))
                )
                cut = min(max(cut, below + 1), above - 1)
            n_steps += 1
            row = 0
            for k in range(item.n_classes):
                self.left[k] = <float64_t> weigh_at_most_u8(
                    column + row, weights + row, class_rows[k], <uint8_t> cut
                )
                self.right[k] = self.totals[k] - self.left[k]
                row += class_rows[k]
            left = mix_weights(self.left, item.n_classes, self.alpha)
            right = mix_weights(self.right, item.n_classes, self.alpha)
            if left <= right:
                below, below_left, below_right = cut, left, right
            else:
                above, above_left, above_right = cut, left, right
        self.last_cut[test] = <int32_t> below
        none.places[0] = none.places[1] = 0
        self.offer(
            best, test, below if below_right <= above_left else above, whole,
            min(below_right, above_left), high == self.n_levels[test], none,
        )
        return False

    cdef int split_node(
        self, Pending* item, intp_t node, Best* best, intp_t tests, intp_t n_tests
    ) except -1 nogil:
        cdef:
            const uint8_t* column = self.codes_of(best.test) + item.start
            const int32_t* class_rows
            const int32_t* classes
            intp_t k, i, row = 0, n_left = 0, right_list, left_list, n
            intp_t moved
            uint8_t cut = <uint8_t> best.cut, largest = 0
            int64_t count
            int64_t[GROUP] set_weight
            uint8_t[GROUP] bits
            float64_t left_weight, weight = 0.0
            Pending left, right
        for k in range(item.n_classes):
            weight += self.totals[k]
        if self.bit[best.test]:
            bits[0] = self.bit[best.test]
            mark_unset_u8(column, item.n_rows, bits[0], self.marks)
            weigh_bits_u8(
                column, self.weights + item.start, item.n_rows, bits, 1, set_weight
            )
            left_weight = weight - <float64_t> set_weight[0]
        else:
            # The stored cut is a code that occurs on the left, whichever empty levels
            # the search ended on.
            for i in range(item.n_rows):
                largest = max(largest, column[i] if column[i] <= cut else <uint8_t> 0)
            cut = largest
            mark_at_most_u8(column, item.n_rows, cut, self.marks)
            left_weight = <float64_t> weigh_at_most_u8(
                column, self.weights + item.start, item.n_rows, cut
            )
        self.tree.test[node] = <int32_t> best.test
        self.tree.cut[node] = cut
        self.tree.add_branch(0)
        self.tree.add_branch(1)
        # Missing is the last code, so it went right; if the node met none, a missing
        # value follows the heavier side.
        self.tree.default_branch[node] = (
            1 if best.has_missing or left_weight < weight - left_weight else 0
        )

        right_list = tests + n_tests
        left_list = right_list + 2 * item.n_classes
        self.reserve_arena(left_list + 2 * item.n_classes)
        classes = self.arena + item.classes
        class_rows = classes + item.n_classes
        left.n_classes = right.n_classes = 0
        for k in range(item.n_classes):
            count = count_marks(self.marks, row, class_rows[k])
            row += class_rows[k]
            n_left += count
            self.left[k] = <float64_t> count
            left.n_classes += count > 0
            right.n_classes += count < class_rows[k]
        n = 0
        for k in range(item.n_classes):
            if self.left[k] < class_rows[k]:
                self.arena[right_list + n] = classes[k]
                self.arena[right_list + right.n_classes + n] = (
                    class_rows[k] - <int32_t> self.left[k]
                )
                n += 1
        n = 0
        for k in range(item.n_classes):
            if self.left[k] > 0:
                self.arena[left_list + n] = classes[k]
                self.arena[left_list + left.n_classes + n] = <int32_t> self.left[k]
                n += 1

        memset(self.is_moved, 0, self.n_columns)
        for i in range(n_tests):
            moved = self.column[self.arena[tests + i]]
            if not self.is_moved[moved]:
                self.is_moved[moved] = True
                part_u8(
                    self.codes + moved * self.stride + item.start,
                    self.marks, item.n_rows, self.spare, self.is_fast,
                )
        part_u8(
            self.weights + item.start, self.marks, item.n_rows, self.spare,
            self.is_fast,
        )
        left.start = item.start
        left.n_rows = n_left
        left.classes = left_list
        right.start = item.start + n_left
        right.n_rows = item.n_rows - n_left
        right.classes = right_list
        left.tests = right.tests = tests
        left.n_tests = right.n_tests = n_tests
        left.parent = right.parent = node
        left.parent_branch, right.parent_branch = 0, 1
        left.depth = right.depth = item.depth + 1
        left.key = mix_with(item.key, 0)
        right.key = mix_with(item.key, 1)
        self.push(right)
        self.push(left)
        return 0

    # Small nodes: sets of bits.

    cdef int grow_block(self, Pending* item) except -1 nogil:
        """Grow the whole subtree of a node of at most BLOCK_PLACES weighted rows."""
        cdef:
            intp_t tests = max(
                item.tests + item.n_tests, item.classes + 2 * item.n_classes
            )
            const int32_t* class_rows
            const uint8_t* column
            int32_t[BLOCK_ROOM] source
            uint8_t* cells
            intp_t k, i, j, n = 0, row = 0, n_kept = 0, place
            int32_t test
            PendingSet root
        self.reserve_arena(tests + item.n_tests)
        class_rows = self.arena + item.classes + item.n_classes
        for k in range(item.n_classes):
            self.of_class[k].places[0] = self.of_class[k].places[1] = 0
            for row in range(row, row + class_rows[k]):
                for _repeat in range(self.weights[item.start + row]):
                    source[n] = <int32_t> row
                    self.of_class[k].places[n >> 6] |= (<uint64_t> 1) << (n & 63)
                    n += 1
            row += 1
        root.set.places[0] = root.set.places[1] = 0
        for k in range(item.n_classes):
            root.set.places[0] |= self.of_class[k].places[0]
            root.set.places[1] |= self.of_class[k].places[1]
        memset(self.is_moved, 0, self.n_columns)
        for i in range(item.n_tests):
            test = self.arena[item.tests + i]
            place = self.column[test]
            cells = self.bundle_cells + place * BLOCK_ROOM
            if not self.is_moved[place]:
                self.is_moved[place] = True
                column = self.codes + place * self.stride + item.start
                for j in range(n):
                    cells[j] = column[source[j]]
            if self.bit[test]:
                fill_plane(
                    cells, n, bit_of_mask(self.bit[test]), root.set, &self.planes[test]
                )
            else:
                fill_planes(cells, n, &self.planes[test])
            if (<CodePlanes*> &self.planes[test]).n_planes > 0:
                self.arena[tests + n_kept] = test
                n_kept += 1
        root.tests = tests
        root.n_tests = n_kept
        root.parent = item.parent
        root.parent_branch = item.parent_branch
        root.depth = item.depth
        root.key = item.key
        self.push_set(root)
        while self.n_sets > 0:
            self.n_sets -= 1
            root = self.set_stack[self.n_sets]
            self.grow_set(&root, item.classes, item.n_classes)
        return 0

    cdef int grow_set(
        self, PendingSet* item, intp_t classes, intp_t n_classes
    ) except -1 nogil:
        cdef:
            intp_t node = self.tree.add_node(item.parent, item.parent_branch)
            intp_t tests = item.tests + item.n_tests
            intp_t k, n_present
            int32_t test
            float64_t weight = 0.0, left_weight
            BlockSet block
            BlockScan scan
            BlockCut found
            Best best
            PendingSet left, right
        n_present = list_set_classes(
            item.set, self.of_class, n_classes, self.of_set, self.which, self.counts,
            self.totals, self.is_fast,
        )
        for k in range(n_present):
            weight += self.totals[k]
            self.tree.add_weight(self.arena[classes + self.which[k]], self.totals[k])
        block.whole = mix_weights(self.totals, n_present, self.alpha)
        if (
            n_present < 2
            or block.whole <= self.max_impurity
            or item.depth >= self.max_depth
            or weight < self.min_weight
        ):
            return 0
        block.alpha = self.alpha
        block.n_classes = n_present
        block.of_class = self.of_set
        block.counts = self.counts
        block.totals = self.totals
        block.set = item.set
        best.test = self.price.shape[0]
        best.score = Score(INFINITY, 0.0)
        self.list_tests(item.tests, item.n_tests, item.key, tests)
        scan.price = &self.price[0]
        scan.tests = self.arena + tests
        scan.n_tests = item.n_tests
        scan.next = scan.n_kept = scan.n_tried = 0
        scan.most_tried = self.max_features
        scan.is_by_price = self.max_features >= self.price.shape[0]
        scan.ratio = scan.inverse = INFINITY
        scan.slack = SLACK
        scan.tolerance = TOLERANCE
        while True:
            test = scan_block(&block, self.planes, &scan, &found, self.is_fast)
            if test < 0:
                break
            self.offer(&best, test, 0, block.whole, found.value, False, found.left)
            scan.ratio = best.score.ratio
            scan.inverse = best.inverse
        if best.score.ratio == INFINITY:
            return 0
        left_weight = <float64_t> count_places(best.left)
        self.tree.test[node] = <int32_t> best.test
        self.tree.cut[node] = largest_code(&self.planes[best.test], best.left)
        self.tree.add_branch(0)
        self.tree.add_branch(1)
        best.has_missing = (
            largest_code(&self.planes[best.test], item.set)
            == self.n_levels[best.test]
        )
        self.tree.default_branch[node] = (
            1 if best.has_missing or left_weight < weight - left_weight else 0
        )
        left.set = best.left
        right.set.places[0] = item.set.places[0] & ~best.left.places[0]
        right.set.places[1] = item.set.places[1] & ~best.left.places[1]
        left.tests = right.tests = tests
        left.n_tests = right.n_tests = scan.n_kept
        left.parent = right.parent = node
        left.parent_branch, right.parent_branch = 0, 1
        left.depth = right.depth = item.depth + 1
        left.key = mix_with(item.key, 0)
        right.key = mix_with(item.key, 1)
        self.push_set(right)
        self.push_set(left)
        return 0


def grow_bagged(
    const uint8_t[:, ::1] codes not None,    # IN   (n_tests, n_rows) sorted by class
    const int64_t[::1] class_rows not None,  # IN   (n_classes,)
    const float64_t[::1] price not None,     # IN   (n_tests,)
    const int32_t[::1] n_levels not None,    # IN   (n_tests,)
    *,
    const uint8_t[::1] counts=None,          # IN   (n_rows,) how often each row counts
    bundles=None,                            # IN   of the codes, if they were made
    float64_t alpha,
    uint64_t key,
    intp_t max_depth,
    float64_t max_impurity,
    float64_t min_weight,
    intp_t max_features,
    bint use_blocks=True,
):
    """Grow a tree on a sample of coded rows and return it as a TreeBuffer.

    ``counts`` says how often each row is in the sample, once each by default. ``key``
    draws the tests that are tried at a node where these are fewer than all.
    ``use_blocks`` is a switch: it changes the time and never the tree. Takes as much
    memory as the codes of the sample, tests of two outcomes eight to a byte, and the
    tree.
    """
    cdef:
        intp_t n_tests = codes.shape[0], n_rows = codes.shape[1]
        intp_t n_classes = class_rows.shape[0]
        intp_t n = n_rows, i, k, test, row = 0, n_whole, n_columns
        const uint8_t[:, ::1] packed
        const int32_t[::1] whole
        const uint8_t* source
        BaggedGrower grower = BaggedGrower()
        Pending root
        int32_t[::1] order = np.argsort(price, kind="stable").astype(np.int32)
    if bundles is None:
        bundles = bundle_codes(codes, price)
    packed = bundles.codes
    whole = bundles.whole
    n_whole = whole.shape[0]
    n_columns = n_whole + packed.shape[0]
    grower.tree = TreeBuffer()
    grower.price = price
    grower.n_levels = n_levels
    grower.column = bundles.column
    grower.bit = bundles.bit
    grower.n_columns = n_columns
    grower.n_classes = n_classes
    grower.alpha = alpha
    grower.max_impurity = max_impurity
    grower.min_weight = min_weight
    grower.max_depth = max_depth
    grower.max_features = max_features
    grower.use_blocks = use_blocks
    grower.is_fast = has_fast_bytes()
    # First the rows that are kept, then the rows of a node that go left.
    grower.marks = <uint8_t*> malloc(n_rows // 8 + 64)
    if grower.marks == NULL:
        raise MemoryError("no memory left for a sample of the rows")
    if counts is not None and n_rows:
        mark_at_most_u8(&counts[0], n_rows, 0, grower.marks)
        for i in range((n_rows + 7) // 8):
            grower.marks[i] = ~grower.marks[i]
        n = count_marks(grower.marks, 0, n_rows)
    elif n_rows:
        memset(grower.marks, 255, n_rows // 8 + 1)
    grower.stride = (n + 15) // 16 * 16 + 64
    grower.codes = <uint8_t*> malloc(n_columns * grower.stride + 64)
    grower.weights = <uint8_t*> calloc(grower.stride, 1)
    grower.spare = <uint8_t*> malloc(n + 64)
    grower.last_cut = <int32_t*> malloc((n_tests + 1) * sizeof(int32_t))
    k = max(n_classes, <intp_t> BLOCK_PLACES) + 1
    grower.totals = <float64_t*> malloc(k * sizeof(float64_t))
    grower.left = <float64_t*> malloc(k * sizeof(float64_t))
    grower.right = <float64_t*> malloc(k * sizeof(float64_t))
    grower.drawn = <uint64_t*> malloc((n_tests + 1) * sizeof(uint64_t))
    grower.is_moved = <uint8_t*> malloc(n_columns + 1)
    grower.set_weights = <int64_t*> malloc(
        (n_classes * <intp_t> GROUP + 1) * sizeof(int64_t)
    )
    grower.planes = <CodePlanes*> malloc((n_tests + 1) * sizeof(CodePlanes))
    grower.of_class = <Bits*> malloc(k * sizeof(Bits))
    grower.of_set = <Bits*> malloc(k * sizeof(Bits))
    grower.which = <int32_t*> malloc(k * sizeof(int32_t))
    grower.counts = <int32_t*> malloc(k * sizeof(int32_t))
    grower.bundle_cells = <uint8_t*> calloc(n_columns * <intp_t> BLOCK_ROOM + 1, 1)
    if (
        grower.codes == NULL or grower.weights == NULL or grower.spare == NULL
        or grower.last_cut == NULL or grower.totals == NULL or grower.left == NULL
        or grower.right == NULL or grower.drawn == NULL or grower.is_moved == NULL
        or grower.set_weights == NULL or grower.planes == NULL
        or grower.of_class == NULL or grower.of_set == NULL or grower.which == NULL
        or grower.counts == NULL or grower.bundle_cells == NULL
    ):
        raise MemoryError("no memory left for a sample of the rows")
    for test in range(n_tests):
        grower.last_cut[test] = -1
    # A node for three rows is more than most trees have.
    grower.tree.resize(n // 3 + 64, n // 3 + 64, n // 2 + 64)
    if n_rows:
        with nogil:
            for i in range(n_columns):
                if i < n_whole:
                    source = &codes[whole[i], 0]
                else:
                    source = &packed[i - n_whole, 0]
                keep_u8(
                    source, grower.marks, n_rows, grower.codes + i * grower.stride,
                    grower.is_fast,
                )
            if counts is None:
                memset(grower.weights, 1, n)
            else:
                keep_u8(
                    &counts[0], grower.marks, n_rows, grower.weights, grower.is_fast
                )
    # The rows that were kept are sorted by class, as all rows are.
    grower.reserve_arena(n_tests + 2 * n_classes)
    for test in range(n_tests):
        grower.arena[test] = order[test]
    present, sizes = [], []
    for k in range(n_classes):
        i = count_marks(grower.marks, row, class_rows[k])
        row += class_rows[k]
        if i > 0:
            present.append(k)
            sizes.append(i)
    for k in range(len(present)):
        grower.arena[n_tests + k] = present[k]
        grower.arena[n_tests + len(present) + k] = sizes[k]
    root.start = 0
    root.n_rows = n
    root.n_classes = len(present)
    root.classes = n_tests
    root.tests = 0
    root.n_tests = n_tests
    root.parent = root.parent_branch = -1
    root.depth = 0
    root.key = key
    grower.push(root)
    with nogil:
        grower.grow()
        # The room that is left goes back.
        grower.tree.resize(0, 0, 0)
    return grower.tree
