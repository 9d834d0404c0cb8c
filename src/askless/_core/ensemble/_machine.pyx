"""Run ensembles of trees as policies: buy a test, move every tree that waited for it.

A tree that has not reached a leaf is bounded by the least and the largest leaf that
it can still reach. When the bounds of all trees leave one decision only, the rest need
not be bought. Five ways to keep the bounds, which differ in what they cost:

path    a tree waits at its first unbought test; bounds of whole subtrees, made once
deep    below an unbought test, tests that were bought prune; bounds made again after
        every purchase from the leaves that are left
joint   as deep; and trees that wait for the same test agree on what it will show, so
        that their sum is bounded for each of its outcomes, and not tree by tree
leaves  trees wait as on paths, and are bounded as jointly, when somebody asks
vote    as path, for leaves that name one class: bounds are sets of classes

The parts are modules of their own. ``_trees`` and ``_leaves`` lay trees out once,
``_case`` holds where a case stands, ``_deep`` works a tree out, ``_memo`` and ``_small``
remember it, ``_bounds`` and ``_joint`` move a case on, ``_choice`` says what to buy,
``_walk`` steps through one case, ``_rows``, ``_blocks`` and ``_vote_rows`` run many
rows, ``settle`` those that are settled by their leaves, and ``_answers`` says what all
trees say. This one puts them together and is what Python sees.

This module must not know where a model came from, nor what its sums mean.
"""

from libc.math cimport INFINITY, ceil, floor, llrint

import numpy as np

from askless._core.ensemble._answers cimport answer_each
from askless._core.ensemble._blocks cimport make_blocks
from askless._core.ensemble._bounds cimport begin
from askless._core.ensemble._case cimport free_case, make_case
from askless._core.ensemble._choice cimport INDEPENDENT, TOGETHER, inverse_price
from askless._core.ensemble._leaves cimport lay_out_leaves
from askless._core.ensemble._rows cimport Results, Rows, Terms, run_each
from askless._core.ensemble._trees cimport (
    IS_SET, MISSING_LEFT, Model, Node, VOTE, lay_out_places, lay_out_runs,
    measure_subtrees,
)
from askless._core.ensemble._vote_rows cimport VoteRows
from askless._core.price._prices cimport Prices
from askless._core.base._types cimport (
    float32_t, float64_t, int32_t, int64_t, intp_t, uint8_t, uint64_t,
)

from askless._core.ensemble._vote_trees import Layout


cdef class Machine:
    """An ensemble, ready to run; never changed after it is built.

    Parameters
    ----------
    trees : TreeArrays
    codes : CodeArrays
    scales : Scales
    """

    def __cinit__(self):
        self.root = NULL

    def __dealloc__(self):
        free_case(self.root)

    def __init__(self, trees, codes, scales):
        cdef Model* m = &self.model
        self.kept = point_at_trees(m, trees)
        self.kept.extend(point_at_codes(m, codes))
        self.kept.extend(set_scales(m, scales))
        self.n_outputs = m.n_outputs
        self.n_trees = m.n_trees
        self.cuts = codes.cuts
        self.cut_start = codes.cut_start
        self.kept.extend(measure_subtrees(m))
        self.kept.extend(lay_out_runs(m))
        self.kept.extend(lay_out_leaves(m))
        self.kept.extend(lay_out_places(m))
        if m.by_leaves and not m.word_bytes:
            raise ValueError("leaves must fit in words")
        self._begin()
        if m.mode == VOTE:
            self.blocks = make_blocks(m)
            self.vote_rows = self._pack_votes()

    def _begin(self):
        cdef:
            intp_t q
            int64_t[::1] start = np.zeros(self.n_outputs, dtype=np.int64)
        self.root = make_case(&self.model, 0)
        if self.root == NULL:
            raise MemoryError("no memory left for the first state of an ensemble")
        for q in range(self.n_outputs):
            start[q] = llrint(self.model.offset[q] * self.model.unit)
        self.root.has_means = True
        begin(&self.model, self.root, &start[0])

    def _pack_votes(self):
        """Return the trees for many rows at once, or None if they do not fit."""
        cdef:
            const Model* m = &self.model
            intp_t node, test
            int64_t most = 0
            int32_t[:, ::1] nodes = np.zeros((4, m.n_nodes), dtype=np.int32)
            uint8_t[::1] is_left = np.zeros(m.n_nodes, dtype=np.uint8)
            uint64_t[::1] classes = np.zeros(m.n_nodes, dtype=np.uint64)
            int64_t[::1] score = np.zeros(m.n_nodes, dtype=np.int64)
            int64_t[::1] starts = np.zeros(m.n_trees + 1, dtype=np.int64)
        for test in range(m.n_tests):
            most = max(most, <int64_t> m.n_levels[test])
        if not VoteRows.takes(m.n_tests, m.n_trees, m.n_outputs, most):
            return None
        for node in range(m.n_nodes):
            test = m.nodes[node].test
            if test >= 0 and m.nodes[node].flags & IS_SET:
                return None
            nodes[0, node] = <int32_t> test
            nodes[1, node] = m.nodes[node].cut
            nodes[2, node] = m.nodes[node].right
            is_left[node] = m.nodes[node].flags & MISSING_LEFT
            classes[node] = m.classes[node]
            score[node] = m.score[node]
        for node in range(m.n_trees + 1):
            starts[node] = m.tree_start[node]
        layout = Layout(
            nodes[0], nodes[1], nodes[2], is_left, classes, score, starts, m.n_tests
        )
        if not layout.fits:
            return None
        return VoteRows(layout, n_tests=m.n_tests, n_classes=m.n_outputs)

    cdef Rows find_rows(
        self, const float64_t[:, ::1] values, const int32_t[:, ::1] codes
    ):
        cdef Rows rows
        rows.n_rows = values.shape[0] if values is not None else codes.shape[0]
        rows.values = NULL
        rows.codes = NULL
        rows.cuts = &self.cuts[0]
        rows.cut_start = &self.cut_start[0]
        if rows.n_rows and self.model.n_tests:
            if values is not None:
                rows.values = &values[0, 0]
            else:
                rows.codes = &codes[0, 0]
        return rows

    def run_rows(
        self,
        Prices prices not None,
        const float64_t[:, ::1] values,  # IN  (n_rows, n_tests) of numbers, or None
        const int32_t[:, ::1] codes,     # IN  (n_rows, n_tests) else
        float64_t threshold,
        bint is_complete,
        bint has_means,
        int n_threads,
        bint is_packed=True,
        float64_t most=INFINITY,
        bint varies_together=False,
        eagerness=None,
    ):
        """Run many rows; ``is_packed=False`` is slower, and the same.

        ``eagerness`` are factors of what waits for each test; None for 1 each.

        Returns
        -------
        raw : ndarray of shape (n_rows, n_outputs)
            The sums where each row stopped.
        cost : ndarray of shape (n_rows,)
        n_bought : ndarray of int32 of shape (n_rows,)
        """
        cdef:
            const Model* m = &self.model
            Rows rows = self.find_rows(values, codes)
            int varies = TOGETHER if varies_together else INDEPENDENT
            Terms terms = Terms(
                threshold, varies, most, is_complete, has_means, is_packed
            )
            # One row more, so that there is a place to point at.
            float64_t[:, ::1] raw = np.empty((rows.n_rows + 1, m.n_outputs))
            float64_t[::1] cost = np.empty(rows.n_rows + 1)
            int32_t[::1] n_bought = np.empty(rows.n_rows + 1, dtype=np.int32)
            Results results = Results(&raw[0, 0], &cost[0], &n_bought[0], NULL, NULL)
            float64_t[::1] inverse = weigh_prices(prices, eagerness)
            bint is_block = (
                m.mode == VOTE and not has_means and not threshold < INFINITY
                and not most < INFINITY
            )
        is_packed &= self.vote_rows is not None
        if is_block and is_packed and not prices.has_groups and not prices.has_delays:
            self.vote_rows.run(
                prices, inverse, &rows, is_complete, &results, n_threads
            )
        elif is_block:
            self.blocks.run(
                m, self.root, prices, inverse, &rows, is_complete, &results, n_threads
            )
        else:
            run_each(
                m, self.root, prices, inverse, &rows, &terms, &results, n_threads, 32
            )
        return cut_off(rows.n_rows, raw, cost, n_bought)

    def answer_rows(
        self,
        const float64_t[:, ::1] values,
        const int32_t[:, ::1] codes,
        int n_threads,
    ):
        """Return the sums of all trees, of shape (n_rows, n_outputs); not of votes."""
        cdef:
            const Model* m = &self.model
            Rows rows = self.find_rows(values, codes)
            float64_t[:, ::1] raw = np.empty((rows.n_rows + 1, m.n_outputs))
        if m.mode == VOTE:
            raise ValueError("votes are run by run_rows")
        answer_each(m, &rows, &raw[0, 0], n_threads)
        return np.asarray(raw)[: rows.n_rows]

    def trace_rows(
        self,
        Prices prices not None,
        const float64_t[:, ::1] values,
        const int32_t[:, ::1] codes,
        int n_threads,
        bint is_packed=True,
        eagerness=None,
        bint with_sums=False,
    ):
        """Run rows until nothing can change, and write down every step.

        ``with_sums`` writes the sums of every step, too.

        Returns
        -------
        raw : ndarray of shape (n_rows, n_outputs)
            The sums at the end.
        cost, z, decision : ndarray of shape (n_rows, n_tests + 1)
            What was spent before each step, how sure the case was, and what it would
            have decided: a class, or a number.
        n_steps : ndarray of int32 of shape (n_rows,)
            How many entries of a row hold.
        z_together : ndarray of shape (n_rows, n_tests + 1)
            How sure the case was if all that is open varies together.
        sums : ndarray of float32 of shape (n_rows, n_tests + 1, n_outputs) or None
            What the sums were, what was open averaged over.
        """
        cdef:
            const Model* m = &self.model
            Rows rows = self.find_rows(values, codes)
            Terms terms = Terms(
                INFINITY, INDEPENDENT, INFINITY, False, True, is_packed
            )
            float64_t[:, ::1] raw = np.empty((rows.n_rows + 1, m.n_outputs))
            float64_t[::1] cost = np.empty(rows.n_rows + 1)
            int32_t[::1] n_bought = np.empty(rows.n_rows + 1, dtype=np.int32)
            float64_t[:, :, ::1] steps = np.zeros((rows.n_rows + 1, 4, m.n_tests + 1))
            float32_t[:, :, ::1] sums = np.zeros(
                (rows.n_rows + 1 if with_sums else 1, m.n_tests + 1, m.n_outputs),
                dtype=np.float32,
            )
            Results results = Results(
                &raw[0, 0], &cost[0], &n_bought[0], &steps[0, 0, 0], NULL
            )
            float64_t[::1] inverse = weigh_prices(prices, eagerness)
        if with_sums:
            results.sums = &sums[0, 0, 0]
        run_each(
            m, self.root, prices, inverse, &rows, &terms, &results, n_threads, 8
        )
        ended, noted, n_steps = cut_off(rows.n_rows, raw, steps, n_bought)
        return (
            ended, noted[:, 0], noted[:, 1], noted[:, 2], n_steps + 1, noted[:, 3],
            np.asarray(sums)[: rows.n_rows] if with_sums else None,
        )


cdef list point_at_trees(Model* m, trees):
    """Let the model point at the trees; return the arrays to keep."""
    cdef:
        const int32_t[::1] test = trees.test
        const int32_t[::1] cut = trees.cut
        const int32_t[::1] right = trees.right
        const int32_t[::1] flags = trees.flags
        const uint64_t[::1] words = trees.words
        const int64_t[::1] tree_start = trees.tree_start
        const int32_t[::1] output = trees.output
        const float64_t[::1] weight = trees.weight
        const float64_t[:, ::1] value = trees.value
        intp_t n_nodes = test.shape[0]
        intp_t node, tree
        int32_t[:, ::1] packed = np.empty((max(n_nodes, 1), 4), dtype=np.int32)
    for node in range(n_nodes):
        packed[node, 0] = test[node]
        packed[node, 1] = cut[node]
        packed[node, 2] = right[node]
        packed[node, 3] = flags[node]
    m.n_trees = output.shape[0]
    m.n_nodes = n_nodes
    m.most_nodes = 0
    for tree in range(m.n_trees):
        m.most_nodes = max(
            m.most_nodes, <intp_t> (tree_start[tree + 1] - tree_start[tree])
        )
    m.width = value.shape[1]
    m.nodes = <Node*> &packed[0, 0]
    m.words = &words[0]
    m.tree_start = &tree_start[0]
    m.output = &output[0] if m.n_trees else NULL
    m.weight = &weight[0] if n_nodes else NULL
    m.value = &value[0, 0] if n_nodes else NULL
    return [packed, words, tree_start, output, weight, value]


cdef list point_at_codes(Model* m, codes):
    """Let the model point at levels and users; return the arrays to keep."""
    cdef:
        const int32_t[::1] n_levels = codes.n_levels
        const int64_t[::1] users = codes.users
        const int64_t[::1] user_start = codes.user_start
    m.n_tests = n_levels.shape[0]
    m.n_levels = &n_levels[0] if m.n_tests else NULL
    m.users = &users[0]
    m.user_start = &user_start[0]
    return [n_levels, users, user_start]


cdef list set_scales(Model* m, scales):
    """Set how sums are counted and compared; return the array to keep."""
    cdef:
        const float64_t[::1] offset = scales.offset
        float64_t slack = scales.slack
        float64_t tolerance = scales.tolerance
    m.n_outputs = offset.shape[0]
    m.n_kinds = m.n_outputs if m.width == 1 and m.n_outputs > 1 else 1
    m.offset = &offset[0]
    m.mode = scales.mode
    m.is_joint = scales.is_joint
    m.by_leaves = scales.by_leaves
    m.target = scales.target
    m.ties_are_exact = scales.ties_are_exact
    m.is_single = scales.is_single
    m.unit = scales.unit
    m.spread_unit = scales.spread_unit
    m.score_unit = scales.score_unit
    m.slack = <int64_t> ceil(slack * m.unit)
    m.tolerance = <int64_t> floor(tolerance * m.unit)
    return [offset]


cdef tuple cut_off(intp_t n_rows, first, second, third):
    """Return arrays without what lies behind their rows."""
    return tuple(np.asarray(array)[:n_rows] for array in (first, second, third))


def weigh_prices(Prices prices not None, eagerness=None):
    """Return what multiplies the score of each test, as ``choose`` takes it.

    That is its eagerness over its price, infinite for what is free; or its eagerness
    alone where prices change as tests are bought. Never empty.
    """
    cdef:
        float64_t[::1] factors = np.zeros(prices.n_tests + 1)
        intp_t test
    np.asarray(factors)[: prices.n_tests] = 1.0 if eagerness is None else eagerness
    if not (prices.has_groups or prices.has_delays):
        for test in range(prices.n_tests):
            factors[test] = inverse_price(prices.full[test]) * factors[test]
    return np.asarray(factors)
