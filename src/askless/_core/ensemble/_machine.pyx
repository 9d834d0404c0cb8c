"""Run ensembles of trees as policies: buy a test, move every tree that waited for it.

A tree that has not reached a leaf is bounded by the least and the largest leaf that
it can still reach. When the bounds of all trees leave one answer only, the rest need
not be bought. Four ways to keep the bounds, which differ in what they cost:

path   a tree waits at its first unbought test; bounds of whole subtrees, made once
deep   below an unbought test, tests that were bought prune; bounds made again after
       every purchase from the leaves that are left
joint  as deep; and trees that wait for the same test agree on what it will show, so
       that their sum is bounded for each of its outcomes, and not tree by tree
vote   as path, for leaves that name one class: bounds are sets of classes

The parts are modules of their own. ``_ensemble_trees`` lays trees out once,
``_ensemble_case`` holds where a case stands, ``_ensemble_bounds`` and
``_ensemble_joint`` move it on, ``_ensemble_choice`` says what to buy, and
``_ensemble_rows`` and ``_ensemble_blocks`` run many rows. This one puts them together
and is what Python sees.

This module must not know where a model came from, nor what its sums mean.
"""

from libc.math cimport INFINITY, ceil, floor, llrint

import numpy as np

from askless._core.ensemble._blocks cimport Blocks, make_blocks
from askless._core.ensemble._bounds cimport begin, buy
from askless._core.ensemble._case cimport (
    Case, SKIPPED, copy_deep, free_case, make_case, reset,
)
from askless._core.ensemble._choice cimport (
    View, choose, finish, is_wanted, look, pay,
)
from askless._core.ensemble._joint cimport largest_sum, least_sum, refresh_runs
from askless._core.ensemble._rows cimport Rows, run_each
from askless._core.ensemble._trees cimport (
    IS_SET, MISSING_LEFT, Model, Node, VOTE, lay_out_runs, measure_subtrees,
)
from askless._core.price._prices cimport Prices
from askless._core.base._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint8_t, uint64_t,
)

from askless._core.ensemble._vote_rows import VoteRows
from askless._core.ensemble._vote_trees import Layout


# The code of a test that was run and showed nothing.
cdef enum:
    PAID_SKIP = -2


cdef class Machine:
    """An ensemble, ready to run; never changed after it is built."""

    cdef Model model
    cdef Case* root
    cdef object kept              # keeps the arrays alive that the model points to
    cdef const float64_t[::1] offset
    cdef bint is_single
    cdef readonly intp_t n_outputs
    cdef readonly intp_t n_trees
    cdef const float64_t[::1] cuts
    cdef const int64_t[::1] cut_start
    cdef Blocks blocks            # of votes
    cdef object vote_rows         # of votes that are plain enough, else None

    def __cinit__(self):
        self.root = NULL

    def __dealloc__(self):
        free_case(self.root)

    def __init__(
        self,
        const int32_t[::1] test not None,         # IN  (n_nodes,) -1 for a leaf
        const int32_t[::1] cut not None,          # IN  (n_nodes,)
        const int32_t[::1] right not None,        # IN  (n_nodes,)
        const int32_t[::1] flags not None,        # IN  (n_nodes,)
        const uint64_t[::1] words not None,       # IN  never empty
        const int32_t[::1] n_levels not None,     # IN  (n_tests,)
        const int64_t[::1] tree_start not None,   # IN  (n_trees + 1,)
        const int32_t[::1] output not None,       # IN  (n_trees,)
        const float64_t[::1] weight not None,     # IN  (n_nodes,) positive
        const float64_t[:, ::1] value not None,   # IN  (n_nodes, width)
        const float64_t[::1] offset not None,     # IN  (n_outputs,)
        const float64_t[::1] cuts not None,       # IN  of all tests; never empty
        const int64_t[::1] cut_start not None,    # IN  (n_tests + 1,)
        const int64_t[::1] users not None,        # IN  trees by test; never empty
        const int64_t[::1] user_start not None,   # IN  (n_tests + 1,)
        *,
        int mode,
        bint is_joint,
        int rule,
        bint ties_are_exact,
        bint is_single,
        float64_t slack,
        float64_t tolerance,
        float64_t unit,
        float64_t spread_unit,
        float64_t score_unit,
    ):
        cdef:
            intp_t n_nodes = test.shape[0]
            intp_t node
            Model* m = &self.model
            int32_t[:, ::1] packed = np.empty((max(n_nodes, 1), 4), dtype=np.int32)
        for node in range(n_nodes):
            packed[node, 0] = test[node]
            packed[node, 1] = cut[node]
            packed[node, 2] = right[node]
            packed[node, 3] = flags[node]
        m.n_tests = n_levels.shape[0]
        m.n_trees = output.shape[0]
        m.n_nodes = n_nodes
        m.n_outputs = offset.shape[0]
        m.width = value.shape[1]
        m.n_kinds = m.n_outputs if m.width == 1 and m.n_outputs > 1 else 1
        m.mode = mode
        m.is_joint = is_joint
        m.rule = rule
        m.ties_are_exact = ties_are_exact
        m.slack = <int64_t> ceil(slack * unit)
        m.tolerance = <int64_t> floor(tolerance * unit)
        m.unit = unit
        m.spread_unit = spread_unit
        m.score_unit = score_unit
        self.n_outputs = m.n_outputs
        self.n_trees = m.n_trees
        self.offset = offset
        self.is_single = is_single
        self.cuts = cuts
        self.cut_start = cut_start
        m.nodes = <Node*> &packed[0, 0]
        m.words = &words[0]
        m.n_levels = &n_levels[0] if m.n_tests else NULL
        m.tree_start = &tree_start[0]
        m.output = &output[0] if m.n_trees else NULL
        m.weight = &weight[0] if n_nodes else NULL
        m.value = &value[0, 0] if n_nodes else NULL
        m.users = &users[0]
        m.user_start = &user_start[0]
        kept = [packed, words, n_levels, tree_start, output, weight, value, users,
                user_start]
        kept.extend(measure_subtrees(m))
        kept.extend(lay_out_runs(m))
        self.kept = kept
        self._begin()
        if m.mode == VOTE:
            self.blocks = make_blocks(m)
            self.vote_rows = self._pack_votes()

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

    def _begin(self):
        cdef:
            intp_t q
            int64_t[::1] start = np.zeros(self.n_outputs, dtype=np.int64)
        self.root = make_case(&self.model, 0)
        if self.root == NULL:
            raise MemoryError("no memory left for the first state of an ensemble")
        for q in range(self.n_outputs):
            start[q] = llrint(self.offset[q] * self.model.unit)
        self.root.has_means = True
        begin(&self.model, self.root, &start[0])

    def run_case(
        self,
        Prices prices not None,
        const int32_t[::1] tests not None,  # IN  what was asked, in order
        const int32_t[::1] codes not None,  # IN  what it showed; below 0 if skipped
        float64_t threshold,
        bint is_complete,
    ):
        """Replay one case.

        Returns
        -------
        test : int
            The next test to buy, -1 if the case is over.
        raw, low, high : ndarray of shape (n_outputs,)
            The expected, least and largest sums.
        ahead : list of int
            Tests that may still be asked.
        is_settled : bool
            Whether the answer can no longer change.
        n_waiting : int
            Trees that have not ended.
        """
        cdef:
            const Model* m = &self.model
            Case* c = make_case(m, prices.n_groups)
            intp_t i, test
            View view
            bint is_over
            float64_t[::1] inverse = inverse_prices(prices)
            float64_t[::1] raw = np.empty(m.n_outputs)
        if c == NULL:
            raise MemoryError("no memory left to run a case")
        try:
            c.has_means = True
            copy_deep(m, c, self.root)
            reset(m, c, self.root, prices.n_groups)
            for i in range(tests.shape[0]):
                test = tests[i]
                if codes[i] < 0:
                    if codes[i] == PAID_SKIP:
                        pay(m, c, prices, test, -1)
                    c.state[test] = SKIPPED
                else:
                    pay(m, c, prices, test, codes[i])
                    buy(m, c, test, codes[i])
            look(m, c, True, &view)
            is_over = c.n_waiting == 0 or (view.is_settled and not is_complete)
            is_over = is_over or (threshold < INFINITY and view.z >= threshold)
            test = -1 if is_over else choose(m, c, prices, &inverse[0], &view)
            finish(m, c, &self.offset[0], self.is_single, &raw[0])
            ahead = [] if test < 0 else [
                i for i in range(m.n_tests) if is_wanted(m, c, i)
            ]
            scale = 1.0 if m.mode == VOTE else m.unit
            if m.is_joint:
                refresh_runs(m, c)
                low = [least_sum(m, c, i, -1) / scale for i in range(m.n_outputs)]
                high = [largest_sum(m, c, i) / scale for i in range(m.n_outputs)]
            else:
                low = [c.low[i] / scale for i in range(m.n_outputs)]
                high = [c.high[i] / scale for i in range(m.n_outputs)]
            return (
                test, np.asarray(raw), np.array(low), np.array(high), ahead,
                bool(view.is_settled), c.n_waiting,
            )
        finally:
            free_case(c)

    cdef Rows _find_rows(
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
        int n_jobs,
        bint is_packed=True,
    ):
        """Run many rows; ``is_packed=False`` is slower, and the same.

        Returns
        -------
        raw : ndarray of shape (n_rows, n_outputs)
            The sums where each row stopped.
        cost : ndarray of shape (n_rows,)
        n_bought : ndarray of int32 of shape (n_rows,)
        """
        cdef:
            const Model* m = &self.model
            Rows rows = self._find_rows(values, codes)
            float64_t[::1] inverse = inverse_prices(prices)
            float64_t[:, ::1] raw = np.empty((rows.n_rows, m.n_outputs))
            float64_t[::1] cost = np.empty(rows.n_rows)
            int32_t[::1] n_bought = np.empty(rows.n_rows, dtype=np.int32)
        if m.mode == VOTE and not has_means and not threshold < INFINITY:
            if (
                is_packed and self.vote_rows is not None
                and not prices.has_groups and not prices.has_delays
            ):
                self.vote_rows.run(
                    prices, inverse, values, codes, self.cuts, self.cut_start, n_jobs,
                    raw, cost, n_bought,
                )
            else:
                self.blocks.run(
                    m, self.root, prices, inverse, &rows, n_jobs, raw, cost, n_bought
                )
            return np.asarray(raw), np.asarray(cost), np.asarray(n_bought)
        run_each(
            m, self.root, prices, inverse, &rows, threshold, is_complete, has_means,
            &self.offset[0], self.is_single, n_jobs, 32, raw, cost, n_bought, None,
        )
        return np.asarray(raw), np.asarray(cost), np.asarray(n_bought)

    def trace_rows(
        self,
        Prices prices not None,
        const float64_t[:, ::1] values,
        const int32_t[:, ::1] codes,
        int n_jobs,
    ):
        """Run rows until nothing can change, and write down every step.

        Returns
        -------
        raw : ndarray of shape (n_rows, n_outputs)
            The sums at the end.
        cost, z, answer : ndarray of shape (n_rows, n_tests + 1)
            What was spent before each step, how sure the case was, and what it would
            have answered: a class, or a number.
        n_steps : ndarray of int32 of shape (n_rows,)
            How many entries of a row hold.
        """
        cdef:
            const Model* m = &self.model
            Rows rows = self._find_rows(values, codes)
            float64_t[::1] inverse = inverse_prices(prices)
            float64_t[:, ::1] raw = np.empty((rows.n_rows, m.n_outputs))
            float64_t[::1] cost = np.empty(rows.n_rows)
            int32_t[::1] n_bought = np.empty(rows.n_rows, dtype=np.int32)
            float64_t[:, :, ::1] steps = np.zeros((rows.n_rows, 3, m.n_tests + 1))
        run_each(
            m, self.root, prices, inverse, &rows, INFINITY, False, True,
            &self.offset[0], self.is_single, n_jobs, 8, raw, cost, n_bought, steps,
        )
        all_steps = np.asarray(steps)
        return (
            np.asarray(raw), all_steps[:, 0], all_steps[:, 1], all_steps[:, 2],
            np.asarray(n_bought) + 1,
        )


def inverse_prices(Prices prices not None):
    """Return 1 / price of each test, infinite for what is free; never empty."""
    with np.errstate(divide="ignore"):
        inverse = 1.0 / np.asarray(prices.full)
    return np.append(inverse, 0.0)
