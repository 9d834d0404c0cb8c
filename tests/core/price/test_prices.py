"""The cost engine agrees with its plain twin, to the last bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askless._core.price._prices import charge_paths, price_nodes
from askless.problem import PriceList
from askless.testing import path_cost, sequence_cost

LEAF: dict = {}


def node(test, branches):
    return {"test": test, "branches": branches}


# The case worked out in the specification: alpha and beta are immediate, delta and
# epsilon delayed and in one group that shares 2 of their price.
ALPHA, BETA, DELTA, EPSILON = range(4)
WORKED_PRICES = PriceList(
    full=np.array([5.0, 10.0, 7.0, 10.0]),
    discounted=np.array([5.0, 10.0, 5.0, 8.0]),
    group=(None, None, "A", "A"),
    delayed=np.array([False, False, True, True]),
)
WORKED_TREE = node(
    ALPHA,
    {
        0: node(DELTA, {0: node(EPSILON, {0: LEAF, 1: LEAF}), 1: LEAF}),
        1: node(BETA, {0: LEAF, 1: LEAF}),
    },
)


class Flat:
    """A nested tree as the arrays that price_nodes takes."""

    def __init__(self, tree):
        self.test, self.parent, self.parent_code, self.subtree_end = [], [], [], []
        # Where each branch leads: (node, outcome) to node.
        self.child = {}
        self._add(tree, -1, -1)

    def _add(self, tree, parent, code):
        here = len(self.test)
        self.test.append(tree.get("test", -1))
        self.parent.append(parent)
        self.parent_code.append(code)
        self.subtree_end.append(0)
        for outcome, subtree in tree.get("branches", {}).items():
            self.child[here, outcome] = len(self.test)
            self._add(subtree, here, outcome)
        self.subtree_end[here] = len(self.test)

    def price(self, prices, parent_code=None):
        codes = self.parent_code if parent_code is None else parent_code
        arrays = (self.test, self.parent, codes, self.subtree_end)
        return price_nodes(prices.engine, *(np.array(a, np.int32) for a in arrays))

    def leaf_of(self, codes):
        here = 0
        while self.test[here] >= 0:
            here = self.child[here, codes[self.test[here]]]
        return here


def bill_of(tree, codes, prices):
    """Return the bill of a case that is asked test by test, as in an interview."""
    bill = prices.open_bill()
    while "test" in tree:
        test = tree["test"]
        if prices.delayed[test] and not bill.has_paid(test):
            bill.charge_together(ordered_with(tree))
        else:
            bill.charge(test, codes[test])
        tree = tree["branches"][codes[test]]
    return bill


def ordered_with(tree):
    if "test" not in tree:
        return []
    below = [ordered_with(subtree) for subtree in tree["branches"].values()]
    return [tree["test"], *(test for tests in below for test in tests)]


def test_the_worked_case_of_delays_and_groups_costs_what_it_should():
    spent = Flat(WORKED_TREE).price(WORKED_PRICES)
    slow, quick = {ALPHA: 0, DELTA: 0, EPSILON: 0}, {ALPHA: 1, BETA: 1}
    mistake = 50.0
    flat = Flat(WORKED_TREE)
    assert spent[flat.leaf_of(slow)] == 20.0
    assert spent[flat.leaf_of(slow)] + mistake == 70.0
    assert spent[flat.leaf_of(quick)] == 15.0


def test_a_delayed_test_charges_its_whole_subtree_even_if_the_case_leaves_it_early():
    flat = Flat(WORKED_TREE)
    early = {ALPHA: 0, DELTA: 1}
    assert flat.price(WORKED_PRICES)[flat.leaf_of(early)] == 20.0
    assert path_cost(WORKED_TREE, early, WORKED_PRICES) == 20.0


def test_a_bill_of_the_worked_case_adds_up():
    bill = WORKED_PRICES.open_bill()
    assert bill.charge(ALPHA) == 5.0
    assert bill.charge_together([DELTA, EPSILON]) == 15.0
    assert bill.charge(EPSILON, 0) == 0.0
    assert bill.spent == 20.0
    assert bill.spent + 50.0 == 70.0

    bill = WORKED_PRICES.open_bill()
    assert (bill.charge(ALPHA, 1), bill.charge(BETA, 1)) == (5.0, 10.0)
    assert bill.spent == 15.0


def test_inner_nodes_are_priced_before_their_own_test():
    spent = Flat(WORKED_TREE).price(WORKED_PRICES)
    # alpha | delta | epsilon, its leaves | leaf of delta | beta, its leaves
    assert spent.tolist() == [0, 5, 20, 20, 20, 20, 5, 15, 15]


def test_a_leaf_alone_costs_nothing():
    assert Flat(LEAF).price(WORKED_PRICES).tolist() == [0.0]


def test_a_repeated_test_is_free():
    tree = node(0, {0: node(1, {0: node(0, {0: LEAF, 1: LEAF}), 1: LEAF}), 1: LEAF})
    assert Flat(tree).price(PriceList.plain([2, 3])).max() == 5.0


def test_a_test_bought_in_one_branch_is_not_paid_for_in_another():
    tree = node(0, {0: node(1, {0: LEAF, 1: LEAF}), 1: node(1, {0: LEAF, 1: LEAF})})
    spent = Flat(tree).price(PriceList.plain([2, 3]))
    assert spent.tolist() == [0, 2, 5, 5, 2, 5, 5]


def test_a_price_by_outcome_goes_by_the_branch():
    prices = PriceList(
        full=np.array([4.0]),
        discounted=np.array([4.0]),
        group=(None,),
        delayed=np.array([False]),
        by_outcome={0: np.array([1.0, 9.0])},
    )
    # Code 2 is missing and -1 a branch of several outcomes: both pay the plain price.
    flat = Flat(node(0, {0: LEAF, 1: LEAF, 2: LEAF}))
    assert flat.price(prices).tolist() == [0, 1, 9, 4]
    assert flat.price(prices, parent_code=[-1, -1, 1, 2]).tolist() == [0, 4, 9, 4]
    bill = prices.open_bill()
    assert (bill.price(0, 0), bill.price(0, 1), bill.price(0, 2)) == (1, 9, 4)
    assert bill.price(0) == 4.0


def test_what_is_ordered_in_advance_charges_its_plain_price():
    prices = PriceList(
        full=np.array([4.0, 2.0]),
        discounted=np.array([4.0, 2.0]),
        group=(None, None),
        delayed=np.array([True, False]),
        by_outcome={0: np.array([1.0, 9.0]), 1: np.array([5.0, 6.0])},
    )
    tree = node(0, {0: LEAF, 1: node(1, {0: LEAF, 1: LEAF})})
    assert Flat(tree).price(prices).tolist() == [0, 6, 6, 6, 6]
    assert path_cost(tree, [1, 0], prices) == 6.0


def test_with_unequal_discounts_the_order_of_the_subtree_counts():
    prices = PriceList(
        full=np.array([10.0, 10.0]),
        discounted=np.array([9.0, 1.0]),
        group=("g", "g"),
        delayed=np.array([True, True]),
    )
    first = node(0, {0: node(1, {0: LEAF, 1: LEAF}), 1: LEAF})
    second = node(1, {0: node(0, {0: LEAF, 1: LEAF}), 1: LEAF})
    assert Flat(first).price(prices).max() == 11.0
    assert Flat(second).price(prices).max() == 19.0


def test_a_bill_tells_a_price_without_buying():
    bill = WORKED_PRICES.open_bill()
    assert bill.price(DELTA) == bill.price(DELTA) == 7.0
    assert (bill.spent, bill.has_paid(DELTA)) == (0.0, False)
    bill.charge(EPSILON)
    assert (bill.price(DELTA), bill.price(EPSILON)) == (5.0, 0.0)
    assert bill.has_paid(EPSILON)


def test_a_copied_bill_goes_its_own_way():
    bill = WORKED_PRICES.open_bill()
    bill.charge(DELTA)
    other = bill.copy()
    other.charge(EPSILON)
    assert (bill.spent, other.spent) == (7.0, 15.0)
    assert not bill.has_paid(EPSILON)


def test_the_engine_knows_which_rules_it_needs():
    engine = WORKED_PRICES.engine
    assert (engine.n_tests, engine.n_groups) == (4, 1)
    assert (engine.has_groups, engine.has_delays) == (True, True)
    assert not engine.has_outcome_prices
    plain = PriceList.plain([1.0]).engine
    assert not any([plain.has_groups, plain.has_delays, plain.has_outcome_prices])


def random_prices(rng, n_tests, n_levels):
    # Such prices are rounded at every sum, so a wrong order of summation shows.
    full = rng.random(n_tests) * 10
    full[rng.random(n_tests) < 0.1] = 0.0
    names = [None, "a", "b", "c"]
    return PriceList(
        full=full,
        discounted=full * rng.random(n_tests),
        group=tuple(names[i] for i in rng.integers(0, len(names), n_tests)),
        delayed=rng.random(n_tests) < 0.3,
        by_outcome={
            test: rng.random(rng.integers(1, n_levels + 1)) * 10
            for test in range(n_tests)
            if rng.random() < 0.3
        },
    )


def random_tree(rng, n_tests, n_levels, depth):
    if depth == 0 or rng.random() < 0.15:
        return LEAF
    # Tests are drawn with replacement, so many a path asks one again.
    branches = {
        code: random_tree(rng, n_tests, n_levels, depth - 1) for code in range(n_levels)
    }
    return node(int(rng.integers(n_tests)), branches)


@pytest.mark.parametrize("seed", range(5))
def test_ten_thousand_paths_through_random_trees_cost_the_same_to_the_last_bit(seed):
    rng = np.random.default_rng(seed)
    n_paths = 0
    while n_paths < 2_500:
        n_tests, n_levels = int(rng.integers(1, 9)), int(rng.integers(1, 4))
        prices = random_prices(rng, n_tests, n_levels)
        tree = random_tree(rng, n_tests, n_levels, int(rng.integers(1, 6)))
        flat = Flat(tree)
        spent = flat.price(prices)
        for _ in range(8):
            codes = rng.integers(0, n_levels, n_tests).tolist()
            expected = path_cost(tree, codes, prices)
            assert spent[flat.leaf_of(codes)] == expected
            assert bill_of(tree, codes, prices).spent == expected
            n_paths += 1


def random_paths(rng, n_tests, n_levels, n_paths):
    lengths = rng.integers(0, 3 * n_tests, n_paths)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    tests = rng.integers(0, n_tests, starts[-1]).astype(np.int32)
    codes = rng.integers(-1, n_levels + 2, starts[-1]).astype(np.int32)
    return tests, codes, starts


@pytest.mark.parametrize("seed", range(5))
def test_ten_thousand_random_sequences_cost_the_same_to_the_last_bit(seed):
    rng = np.random.default_rng(seed)
    for _ in range(50):
        prices = random_prices(rng, n_tests=8, n_levels=3)
        tests, codes, starts = random_paths(rng, 8, 3, n_paths=50)
        totals = charge_paths(prices.engine, tests, codes, starts)
        for p, total in enumerate(totals.tolist()):
            path = slice(starts[p], starts[p + 1])
            shown = [None if code < 0 else code for code in codes[path].tolist()]
            assert total == sequence_cost(tests[path].tolist(), shown, prices)
            bill = prices.open_bill()
            for test, code in zip(tests[path], codes[path], strict=True):
                quoted = bill.price(test, code)
                assert bill.charge(test, code) == quoted
            assert bill.spent == total


amounts = st.floats(0, 100) | st.integers(0, 9).map(float)


@st.composite
def price_lists(draw, n_levels=2):
    n_tests = draw(st.integers(1, 5))
    full = draw(st.lists(amounts, min_size=n_tests, max_size=n_tests))
    shares = draw(st.lists(st.floats(0, 1), min_size=n_tests, max_size=n_tests))
    group = st.sampled_from([None, "a", "b"])
    groups = draw(st.lists(group, min_size=n_tests, max_size=n_tests))
    delayed = draw(st.lists(st.booleans(), min_size=n_tests, max_size=n_tests))
    by_outcome = draw(
        st.dictionaries(
            st.integers(0, n_tests - 1), st.lists(amounts, max_size=n_levels)
        )
    )
    return PriceList(
        full=np.array(full),
        discounted=np.array(full) * np.array(shares),
        group=tuple(groups),
        delayed=np.array(delayed),
        by_outcome={test: np.array(prices) for test, prices in by_outcome.items()},
    )


def trees(n_tests):
    tests = st.integers(0, n_tests - 1)
    return st.recursive(
        st.just(LEAF),
        lambda subtrees: st.builds(
            lambda test, a, b: node(test, {0: a, 1: b}), tests, subtrees, subtrees
        ),
        max_leaves=12,
    )


@given(data=st.data())
def test_any_tree_costs_what_the_rules_say(data):
    prices = data.draw(price_lists())
    tree = data.draw(trees(prices.n_tests))
    one_each = st.lists(
        st.integers(0, 1), min_size=prices.n_tests, max_size=prices.n_tests
    )
    codes = data.draw(one_each)
    flat = Flat(tree)
    expected = path_cost(tree, codes, prices)
    assert flat.price(prices)[flat.leaf_of(codes)] == expected
    assert bill_of(tree, codes, prices).spent == expected


@given(data=st.data())
def test_any_sequence_costs_what_the_rules_say(data):
    prices = data.draw(price_lists())
    step = st.tuples(st.integers(0, prices.n_tests - 1), st.none() | st.integers(0, 3))
    steps = data.draw(st.lists(step))
    tests, shown = [test for test, _ in steps], [code for _, code in steps]
    codes = np.array([-1 if code is None else code for code in shown], dtype=np.int32)
    starts = np.array([0, len(steps)], dtype=np.int64)
    total = charge_paths(prices.engine, np.array(tests, dtype=np.int32), codes, starts)
    assert total.tolist() == [sequence_cost(tests, shown, prices)]


@given(data=st.data())
def test_no_case_pays_more_than_the_sum_of_all_full_prices(data):
    prices = data.draw(price_lists())
    tree = data.draw(trees(prices.n_tests))
    most = [
        max([full, *prices.by_outcome.get(test, [])])
        for test, full in enumerate(prices.full.tolist())
    ]
    assert Flat(tree).price(prices).max() <= sum(most) * (1 + 1e-12)
