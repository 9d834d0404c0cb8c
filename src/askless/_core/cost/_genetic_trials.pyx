"""Grow a tree by invented prices on some rows, and see what it costs the others.

The trials of a genetic search, thousands of them, each without the interpreter: rows
are divided, a tree is grown and priced, and everything is forgotten but its cost. This
module must not know where the invented prices come from.
"""

from libc.stdlib cimport free, realloc
from libc.string cimport memset

import numpy as np

from askless._core.base._keys cimport mix
from askless._core.base._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint8_t, uint64_t,
)
from askless._core.cost._criteria cimport SplitCriterion
from askless._core.cost._induce cimport Inducer
from askless._core.cost._workspace cimport Workspace
from askless._core.price._prices cimport Path, PricedNode, Prices, price_preorder
from askless._core.tree._store cimport TreeBuffer

# Mistakes closer than this, relatively, tie: the first class of them is decided.
cdef float64_t TIE = 1e-12
cdef float64_t TWO_64 = 18446744073709551616.0


cdef class RowPricer:
    """What rows pay in a tree: tests by true prices, and mistakes."""

    cdef Prices prices
    cdef Path path
    cdef const float64_t[:, ::1] mistakes
    cdef uint8_t[::1] bought
    cdef uint8_t[::1] is_open
    cdef float64_t[::1] costs      # (n_classes,) of each decision
    # By node of the tree at hand.
    cdef intp_t room
    cdef PricedNode* nodes
    cdef float64_t* spent
    cdef int32_t* code             # outcome that leads here
    cdef int32_t* end              # of the subtree
    cdef int32_t* decision

    def __init__(
        self,
        Prices prices not None,
        const float64_t[:, ::1] mistakes not None,   # IN (true class, decision)
    ):
        self.prices = prices
        self.path = Path(prices)
        self.mistakes = mistakes
        self.bought = np.zeros(prices.n_tests + 1, dtype=np.uint8)
        self.is_open = np.zeros(prices.n_groups + 1, dtype=np.uint8)
        self.costs = np.zeros(mistakes.shape[0])

    def __dealloc__(self):
        free(self.nodes)
        free(self.spent)
        free(self.code)
        free(self.end)
        free(self.decision)

    def cost_rows(self, Inducer inducer not None, const int32_t[::1] rows not None):
        """Return the weighted mean of tests and mistakes of rows in a grown tree."""
        if rows.shape[0] == 0:
            return 0.0
        return self.cost(inducer.tree, inducer.ws, &rows[0], rows.shape[0])

    cdef float64_t cost(
        self, TreeBuffer tree, Workspace ws, const int32_t* rows, intp_t n
    ) except -1 nogil:
        """Return the weighted mean of tests and mistakes of rows in a tree."""
        cdef:
            intp_t i, node, c
            float64_t total = 0.0, weight = 0.0, paid
            # A row that goes the default way pays for its own outcome.
            bint by_outcome = self.prices.has_outcome_prices
        self.look_at(tree)
        for i in range(n):
            node = 0
            paid = 0.0
            if by_outcome:
                memset(&self.bought[0], 0, self.prices.n_tests)
                memset(&self.is_open[0], 0, self.prices.n_groups)
            while tree.test[node] >= 0:
                c = (
                    ws.wide[tree.test[node], rows[i]] if ws.is_wide
                    else ws.narrow[tree.test[node], rows[i]]
                )
                if by_outcome:
                    paid += self.prices.charge(
                        tree.test[node], c, &self.bought[0], &self.is_open[0]
                    )
                node = tree.branch_child[
                    tree.branch_start[node] + find_branch(tree, ws, node, c)
                ]
            weight += ws.row_weight[rows[i]]
            total += ws.row_weight[rows[i]] * (
                (paid if by_outcome else self.spent[node])
                + self.mistakes[ws.entry_class[rows[i]], self.decision[node]]
            )
        return total / weight if weight > 0 else 0.0

    cdef int look_at(self, TreeBuffer tree) except -1 nogil:
        """Work out what reaching each node costs, and what each leaf decides."""
        cdef intp_t node, up
        self.make_room(tree.n_nodes)
        for node in range(tree.n_nodes):
            self.end[node] = <int32_t> (node + 1)
            self.code[node] = -1
        for node in range(tree.n_nodes - 1, 0, -1):
            up = tree.parent[node]
            self.code[node] = tree.branch_code[
                tree.branch_start[up] + tree.parent_branch[node]
            ]
            self.end[up] = max(self.end[up], self.end[node])
        price_preorder(
            self.path, tree.n_nodes, tree.test, tree.parent, self.code, self.end,
            self.nodes, self.spent,
        )
        for node in range(tree.n_nodes):
            if tree.test[node] < 0:
                self.decision[node] = <int32_t> self.decide_leaf(tree, node)
        return 0

    cdef intp_t decide_leaf(self, TreeBuffer tree, intp_t node) noexcept nogil:
        """Return the class of least mistakes at a node, the first on a tie."""
        cdef:
            int64_t e, last = tree.n_weights
            intp_t c, n_classes = self.mistakes.shape[0]
            float64_t least
        if node + 1 < tree.n_nodes:
            last = tree.weight_start[node + 1]
        for c in range(n_classes):
            self.costs[c] = 0.0
            for e in range(tree.weight_start[node], last):
                self.costs[c] += tree.weight[e] * self.mistakes[tree.weight_class[e], c]
        least = self.costs[0]
        for c in range(1, n_classes):
            least = min(least, self.costs[c])
        for c in range(n_classes):
            if self.costs[c] <= least * (1.0 + TIE):
                return c
        return 0

    cdef int make_room(self, intp_t n) except -1 nogil:
        """Make sure that notes on n nodes fit."""
        if n <= self.room:
            return 0
        n *= 2
        self.nodes = <PricedNode*> realloc(self.nodes, n * sizeof(PricedNode))
        self.spent = <float64_t*> realloc(self.spent, n * sizeof(float64_t))
        self.code = <int32_t*> realloc(self.code, n * sizeof(int32_t))
        self.end = <int32_t*> realloc(self.end, n * sizeof(int32_t))
        self.decision = <int32_t*> realloc(self.decision, n * sizeof(int32_t))
        if (
            self.nodes == NULL or self.spent == NULL or self.code == NULL
            or self.end == NULL or self.decision == NULL
        ):
            with gil:
                raise MemoryError("no memory left to price a tree")
        self.room = n
        return 0


cdef intp_t find_branch(
    TreeBuffer tree, Workspace ws, intp_t node, intp_t code
) noexcept nogil:
    """Return the branch of a code at a node, the default one if it has none."""
    cdef:
        intp_t first = tree.branch_start[node], last = tree.n_branches, j
    if tree.cut[node] >= 0:
        if code >= ws.n_levels[tree.test[node]]:
            return tree.default_branch[node]
        return code > tree.cut[node]
    if node + 1 < tree.n_nodes:
        last = tree.branch_start[node + 1]
    for j in range(first, last):
        if tree.branch_code[j] == code:
            return j - first
    return tree.default_branch[node]


cdef class Trials:
    """EG2 by invented prices, on a part of the rows; one of these for each thread."""

    cdef Inducer inducer
    cdef RowPricer pricer
    cdef const uint64_t[::1] row_keys
    cdef float64_t[::1] invented       # read by the prices that the inducer grows by

    def __init__(
        self,
        Workspace workspace not None,             # all rows, at their true prices
        const uint64_t[::1] row_keys not None,    # IN (n_rows,) alike for rows alike
        float64_t least_part,
    ):
        cdef intp_t n_tests = workspace.n_tests
        invented = np.ones(n_tests)
        prices = Prices(
            invented, invented, np.full(n_tests, -1, np.int32),
            np.zeros(n_tests, np.uint8), np.zeros(n_tests + 1, np.int64), np.zeros(0),
        )
        self.invented = invented
        self.row_keys = row_keys
        self.pricer = RowPricer(workspace.prices, workspace.mistakes)
        self.inducer = Inducer(
            workspace.copy(prices),
            SplitCriterion("eg2", least_part=least_part, needs_gain=True),
            value="errors", stop=np.zeros(1, np.int32),
        )

    def fitness(
        self,
        const float64_t[::1] costs not None,      # IN (n_tests,)
        float64_t w,
        float64_t confidence,
        uint64_t key,
        float64_t train_share,
    ):
        """Return the true cost of a trial's tree on the rows that it has not met.

        If one of the two sets is empty, all rows are in both.
        """
        cdef:
            Workspace ws = self.inducer.ws
            intp_t row, n = 0, n_rows = ws.n_rows, n_held = 0
            int32_t[::1] held = np.empty(n_rows, np.int32)
            float64_t cost
        if costs.shape[0] != ws.n_tests:
            raise ValueError(f"{ws.n_tests} prices are needed, got {costs.shape[0]}")
        with nogil:
            self.invented[:] = costs
            self.inducer.criterion.w = w
            self.inducer.errors.forget(confidence)
            for row in range(n_rows):
                if (
                    <float64_t> mix(self.row_keys[row] ^ key) / TWO_64 < train_share
                ):
                    ws.rows[n] = <int32_t> row
                    n += 1
                else:
                    held[n_held] = <int32_t> row
                    n_held += 1
            if n == 0 or n_held == 0:
                n = n_held = n_rows
                for row in range(n_rows):
                    ws.rows[row] = held[row] = <int32_t> row
            self.inducer.grow_on(n)
            cost = self.pricer.cost(self.inducer.tree, ws, &held[0], n_held)
        return cost


def key_rows(codes not None, const int32_t[::1] class_ids not None):
    """Return a key for each row, the same for rows of the same codes and class.

    Parameters
    ----------
    codes : uint8 or uint16 array of shape (n_tests, n_rows)
    class_ids : int32 array of shape (n_rows,)

    Returns
    -------
    uint64 array of shape (n_rows,)
    """
    keys = np.asarray(class_ids).astype(np.uint64)
    for column in codes:
        mix_column(keys, column.astype(np.uint64))
    return keys


cdef void mix_column(uint64_t[::1] keys, const uint64_t[::1] column) noexcept:
    cdef intp_t row
    for row in range(keys.shape[0]):
        keys[row] = mix(keys[row] + column[row])
