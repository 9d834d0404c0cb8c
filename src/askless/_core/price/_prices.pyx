"""Charge for tests: the cost engine that growing, evaluating and running all ask.

The rules, for one case walking from the root to a leaf:

1. a test is paid for once; asking it again is free;
2. a test priced by outcome charges the price of the outcome that it shows;
3. the first test of a group pays in full, later ones pay the discounted price;
4. a delayed test comes too late to choose the next test by, so on reaching one, every
   test of the subtree below it is ordered and paid for at once, in preorder.

This module must not know where a test's price comes from, nor who is asking.
"""

from libc.string cimport memset

import numpy as np

from askless._core.base._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint8_t,
)


PRICED_NODE = np.dtype(
    [("charged", np.float64), ("n_marks", np.int32), ("by_outcome", np.int32)]
)


cdef class Prices:
    """What every test charges, as arrays; never changed after it is built."""

    def __init__(
        self,
        const float64_t[::1] full not None,
        const float64_t[::1] discounted not None,
        const int32_t[::1] group not None,
        const uint8_t[::1] delayed not None,
        const int64_t[::1] outcome_start not None,
        const float64_t[::1] outcome_prices not None,
    ):
        cdef intp_t test
        self.n_tests = full.shape[0]
        self.full = full
        self.discounted = discounted
        self.group = group
        self.delayed = delayed
        self.outcome_start = outcome_start
        self.outcome_prices = outcome_prices
        self.n_groups = 0
        self.has_delays = False
        self.has_groups = False
        for test in range(self.n_tests):
            self.n_groups = max(self.n_groups, <intp_t> group[test] + 1)
            self.has_delays = self.has_delays or delayed[test] != 0
            self.has_groups = self.has_groups or group[test] >= 0
        self.has_outcome_prices = outcome_prices.shape[0] > 0

    cdef float64_t price(
        self,
        intp_t test,
        intp_t code,
        const uint8_t* paid,
        const uint8_t* is_open,
    ) noexcept nogil:
        cdef:
            int64_t start = self.outcome_start[test]
            int64_t n_priced = self.outcome_start[test + 1] - start
            int32_t group = self.group[test]

        if paid[test]:
            return 0.0
        # A price by outcome stands for the levels only: an outcome that is missing,
        # never seen before or not known yet charges the test's plain price.
        if 0 <= code < n_priced:
            return self.outcome_prices[start + code]
        if group >= 0 and is_open[group]:
            return self.discounted[test]
        return self.full[test]

    cdef float64_t charge(
        self,
        intp_t test,
        intp_t code,
        uint8_t* paid,
        uint8_t* is_open,
    ) noexcept nogil:
        cdef float64_t amount = self.price(test, code, paid, is_open)
        paid[test] = 1
        if self.group[test] >= 0:
            is_open[self.group[test]] = 1
        return amount


cdef class Bill:
    """What one case has paid so far, and what the next test would charge it.

    ``spent`` adds the amounts in the order of payment, so that two bills of the same
    payments are equal to the last bit.
    """

    cdef readonly Prices prices
    cdef readonly float64_t spent
    cdef uint8_t[::1] paid
    cdef uint8_t[::1] is_open

    def __init__(self, Prices prices not None):
        self.prices = prices
        self.spent = 0.0
        self.paid = np.zeros(prices.n_tests + 1, dtype=np.uint8)
        self.is_open = np.zeros(prices.n_groups + 1, dtype=np.uint8)

    def price(self, intp_t test, intp_t code=-1):
        """Return what the test would charge now, without buying it."""
        return self.prices.price(test, code, &self.paid[0], &self.is_open[0])

    def charge(self, intp_t test, intp_t code=-1):
        """Buy the test and return what it charged."""
        cdef float64_t amount = self.prices.charge(
            test, code, &self.paid[0], &self.is_open[0]
        )
        self.spent += amount
        return amount

    def charge_together(self, tests):
        """Buy several tests at once, in the given order, and return what they charged.

        The sum is added to ``spent`` in one step, as the tree pricing below does.
        """
        cdef float64_t amount = 0.0
        for test in tests:
            amount += self.prices.charge(test, -1, &self.paid[0], &self.is_open[0])
        self.spent += amount
        return amount

    def has_paid(self, intp_t test):
        """Return whether the case has bought the test."""
        return bool(self.paid[test])

    def copy(self):
        """Return an independent bill with the same payments."""
        cdef Bill other = Bill(self.prices)
        other.spent = self.spent
        other.paid[:] = self.paid
        other.is_open[:] = self.is_open
        return other


cdef class Path:
    """What a case standing at a node has paid for, moved from node to node in preorder.

    ``log`` lists every mark in the order in which it was made: test t as t, group g as
    n_tests + g. Leaving a subtree takes back the marks that were made inside it, so a
    walk over a whole tree makes and unmakes each mark once.
    """

    def __init__(self, Prices prices not None):
        self.prices = prices
        self.paid = np.zeros(prices.n_tests + 1, dtype=np.uint8)
        self.is_open = np.zeros(prices.n_groups + 1, dtype=np.uint8)
        self.log = np.zeros(prices.n_tests + prices.n_groups + 1, dtype=np.int32)
        self.n_marks = 0

    cdef float64_t charge(self, intp_t test) noexcept nogil:
        """Charge for a test, its outcome not known, and log the new marks."""
        cdef:
            int32_t group = self.prices.group[test]
            bint is_new = not self.paid[test]
            bint opens = group >= 0 and not self.is_open[group]
        if is_new:
            self.log[self.n_marks] = <int32_t> test
            self.n_marks += 1
        if opens:
            self.log[self.n_marks] = <int32_t> (self.prices.n_tests + group)
            self.n_marks += 1
        return self.prices.charge(test, -1, &self.paid[0], &self.is_open[0])

    cdef void unwind(self, intp_t n_marks) noexcept nogil:
        """Take back every mark made after the first ``n_marks``."""
        cdef int32_t mark
        while self.n_marks > n_marks:
            self.n_marks -= 1
            mark = self.log[self.n_marks]
            if mark < self.prices.n_tests:
                self.paid[mark] = 0
            else:
                self.is_open[mark - self.prices.n_tests] = 0


def price_nodes(
    Prices prices not None,
    const int32_t[::1] test not None,         # IN   (n_nodes,) -1 for a leaf
    const int32_t[::1] parent not None,       # IN   (n_nodes,) -1 for the root
    const int32_t[::1] parent_code not None,  # IN   (n_nodes,) outcome that leads here
    const int32_t[::1] subtree_end not None,  # IN   (n_nodes,) nodes are in preorder
    Bill bill=None,                           # IN   what was paid before, if anything
):
    """Return what a case has spent on reaching each node of a tree.

    Nodes are in preorder, so the subtree of a node is the range of nodes
    ``[node, subtree_end[node][`` and parents come before children. O(n_nodes): a node
    below a delayed test is already paid for and never orders a subtree again. A
    ``parent_code`` of -1 stands for a branch of several outcomes.

    Returns
    -------
    ndarray of shape (n_nodes,)
        Spent before the node's own test is bought; at a leaf, the cost of the case.
    """
    cdef:
        intp_t n_nodes = test.shape[0]
        Path path = Path(prices)
        float64_t[::1] spent = np.zeros(n_nodes)
        PricedNode[::1] nodes = np.zeros(n_nodes, dtype=PRICED_NODE)
    if bill is not None:
        # Not logged: nothing takes these marks back.
        path.paid[:] = bill.paid
        path.is_open[:] = bill.is_open
    if n_nodes:
        with nogil:
            price_preorder(
                path, n_nodes, &test[0], &parent[0], &parent_code[0], &subtree_end[0],
                &nodes[0], &spent[0],
            )
    return np.asarray(spent)


cdef void price_preorder(
    Path path, intp_t n_nodes, const int32_t* test, const int32_t* parent,
    const int32_t* parent_code, const int32_t* subtree_end, PricedNode* nodes,
    float64_t* spent,
) noexcept nogil:
    cdef:
        intp_t node, below
        int32_t up
        bint is_new
        float64_t amount
    for node in range(n_nodes):
        up = parent[node]
        spent[node] = 0.0
        if up >= 0:
            amount = nodes[up].charged
            if nodes[up].by_outcome:
                amount = outcome_price(
                    path.prices, test[up], parent_code[node], amount
                )
            spent[node] = spent[up] + amount
            path.unwind(nodes[up].n_marks)
        if test[node] < 0:
            continue
        is_new = not path.paid[test[node]]
        nodes[node].by_outcome = False
        if is_new and path.prices.delayed[test[node]]:
            # What is ordered in advance charges its plain price.
            amount = 0.0
            for below in range(node, subtree_end[node]):
                if test[below] >= 0:
                    amount += path.charge(test[below])
            nodes[node].charged = amount
        else:
            nodes[node].by_outcome = is_new and path.prices.has_outcome_prices
            nodes[node].charged = path.charge(test[node])
        nodes[node].n_marks = <int32_t> path.n_marks
    path.unwind(0)


cdef float64_t outcome_price(
    Prices prices, intp_t test, intp_t code, float64_t otherwise
) noexcept nogil:
    """Return the price of an outcome of a test not paid for yet."""
    cdef int64_t start = prices.outcome_start[test]
    if 0 <= code < prices.outcome_start[test + 1] - start:
        return prices.outcome_prices[start + code]
    return otherwise


def charge_paths(
    Prices prices not None,
    const int32_t[::1] tests not None,  # IN   the tests of all paths, one after another
    const int32_t[::1] codes not None,  # IN   the outcome of each, -1 if not known
    const int64_t[::1] starts not None,  # IN  (n_paths + 1,)
):
    """Return what each path of tests charges a fresh case, delays left aside."""
    cdef:
        intp_t n_paths = starts.shape[0] - 1
        intp_t p, i
        uint8_t[::1] paid = np.zeros(prices.n_tests + 1, dtype=np.uint8)
        uint8_t[::1] is_open = np.zeros(prices.n_groups + 1, dtype=np.uint8)
        float64_t[::1] totals = np.zeros(n_paths)

    with nogil:
        for p in range(n_paths):
            memset(&paid[0], 0, prices.n_tests)
            memset(&is_open[0], 0, prices.n_groups)
            for i in range(starts[p], starts[p + 1]):
                totals[p] += prices.charge(tests[i], codes[i], &paid[0], &is_open[0])
    return np.asarray(totals)
