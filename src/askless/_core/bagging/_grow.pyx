"""Grow one tree of a forest on a bootstrap sample, as fast as the memory allows.

The special case that forests live on: codes of one byte, tests that are compared, whole
weights, a minimax of pairs beyond a threshold, prices that do not depend on the path.
It grows the same trees as the general grower, to the last bit, by other means:

* the rows of the sample are copied once, sorted by class, and divided in place; tests
  of two outcomes are kept eight to a byte, so that they are moved and counted together;
* a best cut is found by counting passes around the crossing, tests in order of price,
  so that the search ends at the first test too dear to win;
* sets of at most 128 weighted rows become sets of bits and are never moved again.

This module must not know what becomes of the tree.
"""

cimport cython
from libc.math cimport INFINITY
from libc.stdlib cimport free

import numpy as np

from askless._core.bagging._rows cimport BagRows, bag_column
from askless._core.bagging._search cimport GROUP, BagSearch, BestCut
from askless._core.bagging._sets cimport SET_PLACES, SetGrower
from askless._core.bagging._task cimport BagTask, NodeRows, Place, child_place
from askless._core.bagging._samples import bundle_codes
from askless._core.greedy._counting cimport (
    largest_at_most, sum_u8, weigh_at_most_u8, weigh_bits_u8,
)
from askless._core.greedy._impurity cimport mix_whole_weights
from askless._core.greedy._limits cimport is_leaf
from askless._core.greedy._options import GrowthLimits, RandomDraws
from askless._core.base._arrays cimport extend_array
from askless._core.base._types cimport float64_t, int32_t, int64_t, intp_t, uint8_t


cdef struct Pending:
    Place place
    NodeRows rows


@cython.final
cdef class BagGrower:
    """The large nodes still to do; small ones are grown elsewhere."""

    cdef BagTask task
    cdef BagRows rows
    cdef BagSearch search
    cdef SetGrower sets
    cdef bint use_sets
    cdef int32_t[::1] n_left       # (n_classes,) rows that go left

    cdef Pending* stack
    cdef intp_t n_pending
    cdef intp_t stack_room

    def __init__(self, BagTask task not None, BagRows rows not None, bint use_sets):
        self.task = task
        self.rows = rows
        self.search = BagSearch(task, rows)
        self.sets = SetGrower(task, rows)
        self.use_sets = use_sets
        self.n_left = np.empty(rows.class_rows.shape[0] + 1, dtype=np.int32)

    def __dealloc__(self):
        free(self.stack)

    cdef int push(self, const Pending* item) except -1 nogil:
        extend_array(
            <void**> &self.stack, &self.stack_room, self.n_pending + 1, sizeof(Pending)
        )
        self.stack[self.n_pending] = item[0]
        self.n_pending += 1
        return 0

    cdef int push_root(self, const int32_t[::1] order, key) except -1:
        """Make all rows and all tests, by price, the root."""
        cdef:
            Pending root
            intp_t k, test, n_tests = self.task.n_tests
            int32_t[::1] present = np.flatnonzero(self.rows.class_rows).astype(
                np.int32
            )
        root.place = Place(-1, -1, 0, 0, n_tests, key)
        root.rows = NodeRows(0, self.rows.n_rows, present.shape[0], n_tests)
        self.task.reserve(n_tests + 2 * root.rows.n_classes)
        for test in range(n_tests):
            self.task.arena[test] = order[test]
        for k in range(root.rows.n_classes):
            self.task.arena[n_tests + k] = present[k]
            self.task.arena[n_tests + root.rows.n_classes + k] = (
                <int32_t> self.rows.class_rows[present[k]]
            )
        return self.push(&root)

    cdef int grow(self) except -1 nogil:
        """Grow until no node is pending, depth first, left before right."""
        cdef:
            Pending item
            intp_t k, row, n_classes
            const int32_t* class_rows
            int64_t total
        while self.n_pending > 0:
            self.n_pending -= 1
            item = self.stack[self.n_pending]
            n_classes = item.rows.n_classes
            class_rows = self.task.arena + item.rows.classes + n_classes
            row = item.rows.start
            total = 0
            for k in range(n_classes):
                self.task.totals[k] = <float64_t> sum_u8(
                    self.rows.weights + row, class_rows[k]
                )
                total += <int64_t> self.task.totals[k]
                row += class_rows[k]
            if self.use_sets and total <= SET_PLACES:
                self.sets.grow_node(&item.place, &item.rows)
            else:
                self.grow_node(&item, <float64_t> total)
        return 0

    cdef int grow_node(self, const Pending* item, float64_t weight) except -1 nogil:
        cdef:
            intp_t n_classes = item.rows.n_classes
            intp_t node = self.task.tree.add_node(
                item.place.parent, item.place.parent_branch
            )
            intp_t tests = max(
                item.place.tests + item.place.n_tests,
                item.rows.classes + 2 * n_classes,
            )
            intp_t k, n_kept
            float64_t whole = mix_whole_weights(
                &self.task.totals[0], n_classes, self.task.alpha
            )
            BestCut best
        for k in range(n_classes):
            self.task.tree.add_weight(
                self.task.arena[item.rows.classes + k], self.task.totals[k]
            )
        if is_leaf(&self.task.limits, item.place.depth, n_classes, whole, weight):
            return 0
        self.task.list_tests(&item.place, tests)
        n_kept = self.search.find_best(
            &item.rows, self.task.arena + tests, item.place.n_tests, whole, &best
        )
        if best.best.score.ratio < INFINITY:
            self.split_node(item, node, &best, weight, tests, n_kept)
        return 0

    cdef int split_node(
        self, const Pending* item, intp_t node, const BestCut* best, float64_t weight,
        intp_t tests, intp_t n_tests,
    ) except -1 nogil:
        cdef:
            intp_t test = best.best.test
            const uint8_t* column = bag_column(self.rows, test) + item.rows.start
            const uint8_t* weights = self.rows.weights + item.rows.start
            uint8_t[GROUP] bits
            int64_t[GROUP] set_weight
            uint8_t cut = 0
            float64_t left_weight
            Pending left, right
        if self.rows.bit[test]:
            bits[0] = self.rows.bit[test]
            weigh_bits_u8(column, weights, item.rows.n_rows, bits, 1, set_weight)
            left_weight = weight - <float64_t> set_weight[0]
        else:
            # The stored cut is a code that occurs on the left, whichever empty levels
            # the search ended on.
            cut = <uint8_t> largest_at_most(column, item.rows.n_rows, best.cut)
            left_weight = <float64_t> weigh_at_most_u8(
                column, weights, item.rows.n_rows, cut
            )
        self.task.set_cut(node, test, cut, best.has_missing, left_weight, weight)
        self.rows.mark_left(test, cut, item.rows.start, item.rows.n_rows)
        self.list_sides(item, tests + n_tests, &left.rows, &right.rows)
        self.rows.divide(
            self.task.arena + tests, n_tests, item.rows.start, item.rows.n_rows
        )
        right.place = child_place(&item.place, node, 1, tests, n_tests)
        self.push(&right)
        left.place = child_place(&item.place, node, 0, tests, n_tests)
        self.push(&left)
        return 0

    cdef int list_sides(
        self, const Pending* item, intp_t target, NodeRows* left, NodeRows* right
    ) except -1 nogil:
        """List the classes of the marked rows and of the others, from `target` on."""
        cdef:
            intp_t k, n_left, n_classes = item.rows.n_classes, row = 0
            intp_t at_left = 0, at_right = 0
            int32_t* listed
            const int32_t* classes
            const int32_t* class_rows
        right.classes = target
        left.classes = target + 2 * n_classes
        self.task.reserve(left.classes + 2 * n_classes)
        classes = self.task.arena + item.rows.classes
        class_rows = classes + n_classes
        left.n_rows = left.n_classes = right.n_classes = 0
        for k in range(n_classes):
            n_left = self.rows.count_left(row, class_rows[k])
            row += class_rows[k]
            self.n_left[k] = <int32_t> n_left
            left.n_rows += n_left
            left.n_classes += n_left > 0
            right.n_classes += n_left < class_rows[k]
        listed = self.task.arena
        for k in range(n_classes):
            n_left = self.n_left[k]
            if n_left < class_rows[k]:
                listed[right.classes + at_right] = classes[k]
                listed[right.classes + right.n_classes + at_right] = (
                    class_rows[k] - <int32_t> n_left
                )
                at_right += 1
            if n_left > 0:
                listed[left.classes + at_left] = classes[k]
                listed[left.classes + left.n_classes + at_left] = <int32_t> n_left
                at_left += 1
        left.start = item.rows.start
        right.start = item.rows.start + left.n_rows
        right.n_rows = item.rows.n_rows - left.n_rows
        return 0


def grow_bagged(
    rows not None,
    const float64_t[::1] price not None,  # IN   (n_tests,)
    *,
    float64_t alpha,
    const uint8_t[::1] counts=None,       # IN   (n_rows,) how often each row counts
    bundles=None,
    limits=GrowthLimits(),
    draws=RandomDraws(),
    bint use_sets=True,
):
    """Grow a tree on a sample of coded rows and return it as a TreeBuffer.

    ``rows`` are GrowthRows of known outcomes, their codes of one byte and every test
    ordered; they are not changed. ``counts`` says how often each row is in the sample,
    once each by default; the weights of the rows are not looked at. ``bundles`` are
    those of the codes, if they were made. Of the ``limits``, the nodes and the budget
    are not looked at; of the ``draws``, thresholds are not. ``use_sets`` is a switch:
    it changes the time and never the tree. Takes as much memory as the codes of the
    sample, tests of two outcomes eight to a byte, and the tree.
    """
    cdef:
        BagRows sample
        BagTask task
        BagGrower grower
        intp_t n
    if bundles is None:
        bundles = bundle_codes(rows.codes, price)
    sample = BagRows(rows.codes, rows.class_rows, counts, bundles)
    task = BagTask(
        rows, price, alpha, limits, draws,
        max(<intp_t> len(rows.class_rows), <intp_t> SET_PLACES) + 1,
    )
    grower = BagGrower(task, sample, use_sets)
    # A node for three rows is more than most trees have.
    n = sample.n_rows
    task.tree.resize(n // 3 + 64, n // 3 + 64, n // 2 + 64)
    grower.push_root(np.argsort(price, kind="stable").astype(np.int32), draws.key)
    with nogil:
        grower.grow()
        # The room that is left goes back.
        task.tree.resize(0, 0, 0)
    return task.tree
