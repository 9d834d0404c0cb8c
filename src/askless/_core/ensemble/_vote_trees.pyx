"""Lay the trees of a vote out for walking: few bytes, and what is read next nearby.

A node is one word, which the header describes. Children stand side by side, so that
going down needs no choice between two places, and those of the larger child follow
first: most rows go there. Half of the nodes are leaves and most of those have a leaf
beside them; a tree keeps one such pair for all nodes that end in the same two classes.

This module must not know what a row is.
"""

import numpy as np

from askless._core.base._bits cimport lowest_bit
from askless._core.base._types cimport int32_t, int64_t, intp_t, uint8_t, uint64_t


cdef enum:
    # The places that pairs of leaves may take, and a pair that comes before them.
    MOST_PAIRED = 2 * MOST_CLASSES * MOST_CLASSES + 2


cdef class Layout:
    """The packed nodes of all trees, or why there are none.

    Parameters
    ----------
    test, cut, right, missing_left, classes, score
        Of every node, its left child the next one; the test of a leaf is -1.
    tree_start
        Where each tree begins, and where the last one ends.
    n_tests
        How many tests there are.

    Attributes
    ----------
    fits : bool
        Whether all of it fits in words; if not, nothing else holds.
    steps : ndarray of uint64
        The words.
    root : ndarray of int64 of shape (n_trees + 1,)
        Where the root of each tree is.
    n_notes : int
        The most first uses of a test that the paths of a row have, and its leaves.
    """

    cdef readonly bint fits
    cdef readonly object steps
    cdef readonly object root
    cdef readonly intp_t n_notes

    def __init__(
        self,
        const int32_t[::1] test not None,          # IN  (n_nodes,) -1 for a leaf
        const int32_t[::1] cut not None,           # IN  (n_nodes,)
        const int32_t[::1] right not None,         # IN  (n_nodes,)
        const uint8_t[::1] missing_left not None,  # IN  (n_nodes,)
        const uint64_t[::1] classes not None,      # IN  (n_nodes,) a tree may say
        const int64_t[::1] score not None,         # IN  (n_nodes,) what waits there
        const int64_t[::1] tree_start not None,    # IN  (n_trees + 1,)
        intp_t n_tests,
    ):
        cdef:
            intp_t n_trees = tree_start.shape[0] - 1
            intp_t n_nodes = tree_start[n_trees]
            intp_t tree, node
            intp_t end = 0
            uint64_t[::1] words = np.zeros(n_nodes + 1, dtype=np.uint64)
            # A tree of n nodes is n + 1 places: its root has no sibling.
            uint64_t[::1] steps = np.zeros(n_nodes + n_trees + 1, dtype=np.uint64)
            int64_t[::1] root = np.zeros(n_trees + 1, dtype=np.int64)
            # Nodes on their way: which, its place, and where its subtree ends.
            int64_t[:, ::1] stack = np.zeros((n_nodes + 2, 3), dtype=np.int64)
            # Nodes that end in two leaves: which, and its place.
            int64_t[:, ::1] last = np.zeros((n_nodes + 1, 2), dtype=np.int64)
        self.fits = True
        for node in range(n_nodes):
            if test[node] < 0:
                words[node] = <uint64_t> n_tests << TEST_AT | classes[node]
                continue
            if score[node] > MOST_SCORE:
                self.fits = False
                return
            words[node] = (
                classes[node]
                | <uint64_t> test[node] << TEST_AT
                | <uint64_t> missing_left[node] << SHIFT_AT
                | <uint64_t> score[node] << SCORE_AT
                | <uint64_t> (cut[node] + 1) << BOUND_AT
            )
        self.n_notes = mark_new(test, right, tree_start, n_tests, words)
        for tree in range(n_trees):
            root[tree] = end + 1
            end = place_tree(
                test, right, classes, words, tree_start[tree], tree_start[tree + 1],
                end, steps, stack, last,
            )
            if end < 0:
                self.fits = False
                return
        root[n_trees] = end
        self.steps = np.asarray(steps)[:max(end, 1)].copy()
        self.root = np.asarray(root)


cdef intp_t mark_new(
    const int32_t[::1] test,
    const int32_t[::1] right,
    const int64_t[::1] tree_start,
    intp_t n_tests,
    uint64_t[::1] words,  # IN/OUT (n_nodes,)
) except -1:
    """Mark the nodes that are the first on their path to ask their test.

    Returns the sum over trees of the most marks on a path, and 1 for the leaf.
    """
    cdef:
        intp_t n_trees = tree_start.shape[0] - 1
        intp_t n_bits = n_tests // 64 + 1
        intp_t tree, node, word, child, side, most
        intp_t n_notes = 0
        uint64_t[:, ::1] above = np.zeros((test.shape[0] + 1, n_bits), dtype=np.uint64)
        int32_t[::1] n_above = np.zeros(test.shape[0] + 1, dtype=np.int32)
        uint64_t bit
        bint is_new
    for tree in range(n_trees):
        most = 0
        # A node stands after its parent, which has told it what was asked above.
        for node in range(tree_start[tree], tree_start[tree + 1]):
            if test[node] < 0:
                most = max(most, <intp_t> n_above[node])
                continue
            word = test[node] // 64
            bit = (<uint64_t> 1) << (test[node] % 64)
            is_new = (above[node, word] & bit) == 0
            if is_new:
                words[node] |= (<uint64_t> 1) << NEW_AT
            for side in range(2):
                child = right[node] if side else node + 1
                above[child, :] = above[node, :]
                above[child, word] |= bit
                n_above[child] = n_above[node] + is_new
        n_notes += most + 1
    return n_notes


cdef intp_t place_tree(
    const int32_t[::1] test,
    const int32_t[::1] right,
    const uint64_t[::1] classes,
    const uint64_t[::1] words,
    intp_t first,
    intp_t beyond,
    intp_t end,                  # the first free place, an even one
    uint64_t[::1] steps,         # OUT
    int64_t[:, ::1] stack,
    int64_t[:, ::1] last,
) except -2:
    """Give the nodes of a tree their places; return the next free one, -1 if too far.

    Pairs of leaves come after the nodes that end in them, as late as these reach.
    """
    cdef:
        intp_t n_stack = 1
        intp_t n_last = 0
        intp_t earliest = 0
        intp_t node, place, stop, left, i
        bint is_left_larger
    stack[0, 0], stack[0, 1], stack[0, 2] = first, end + 1, beyond
    end += 2
    while n_stack:
        n_stack -= 1
        node, place, stop = stack[n_stack, 0], stack[n_stack, 1], stack[n_stack, 2]
        steps[place] = words[node]
        if test[node] < 0:
            continue
        left = node + 1
        if test[left] < 0 and test[right[node]] < 0:
            earliest = min(earliest, place) if n_last else place
            last[n_last, 0], last[n_last, 1] = node, place
            n_last += 1
        else:
            if end - place > MOST_AHEAD:
                return -1
            steps[place] |= <uint64_t> (end - place) << AHEAD_AT
            is_left_larger = right[node] - left > stop - right[node]
            # What is pushed last is placed first.
            for i in range(2):
                if i == is_left_larger:
                    stack[n_stack, 0], stack[n_stack, 1] = left, end + 1
                    stack[n_stack, 2] = right[node]
                else:
                    stack[n_stack, 0], stack[n_stack, 1] = right[node], end
                    stack[n_stack, 2] = stop
                n_stack += 1
            end += 2
        if n_last and end - earliest > MOST_AHEAD - MOST_PAIRED:
            end = place_leaves(right, classes, words, last, n_last, end, steps)
            n_last = 0
            if end < 0:
                return -1
    return place_leaves(right, classes, words, last, n_last, end, steps)


cdef intp_t place_leaves(
    const int32_t[::1] right,
    const uint64_t[::1] classes,
    const uint64_t[::1] words,
    const int64_t[:, ::1] last,  # nodes with two leaves below, and their places
    intp_t n_last,
    intp_t end,
    uint64_t[::1] steps,         # OUT
) except -2:
    """Give pairs of leaves a place, each once; return as ``place_tree`` does."""
    cdef:
        intp_t[MOST_CLASSES][MOST_CLASSES] pairs
        intp_t node, place, left, other, i
    for left in range(MOST_CLASSES):
        for other in range(MOST_CLASSES):
            pairs[left][other] = -1
    for i in range(n_last):
        node, place = last[i, 0], last[i, 1]
        left = lowest_bit(classes[node + 1])
        other = lowest_bit(classes[right[node]])
        if pairs[left][other] < 0:
            pairs[left][other] = end
            steps[end] = words[right[node]]
            steps[end + 1] = words[node + 1]
            end += 2
        if pairs[left][other] - place > MOST_AHEAD:
            return -1
        steps[place] |= <uint64_t> (pairs[left][other] - place) << AHEAD_AT
    return end
