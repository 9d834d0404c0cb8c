"""A price list is what the cost engine works from."""

import numpy as np
import pytest

from askless.problem import Costs, PriceList, Test

TESTS = [Test(name, "category", outcomes=("no", "yes")) for name in "abcd"]


def test_a_plain_list_has_no_groups_and_no_delays():
    prices = PriceList.plain([2, 3])
    assert prices.n_tests == 2
    assert prices.full.tolist() == prices.discounted.tolist() == [2, 3]
    assert prices.groups == ()
    assert not prices.delayed.any()


def test_a_plain_list_does_not_change_with_its_source():
    given = np.array([2.0, 3.0])
    prices = PriceList.plain(given)
    given[:] = 9
    assert prices.full.tolist() == [2, 3]


def test_groups_are_in_the_order_of_their_first_test():
    costs = Costs([1, 2, 3, 4], groups={"x": ["b", "d"], "y": ["a", "c"]})
    assert costs.price_list(TESTS).groups == ("y", "x")


def test_the_bill_follows_the_list():
    costs = Costs([7, 5, 40, 1], groups={"g": ["a", "b"]}, discounted={"a": 5, "b": 3})
    bill = costs.price_list(TESTS).open_bill()
    charged = [bill.charge(test) for test in (1, 0, 1, 2)]
    assert charged == [5, 5, 0, 40]
    assert bill.spent == 50


def test_a_bill_charges_by_outcome():
    costs = Costs([1, 2, 3, 4], by_outcome={"b": {"yes": 9}})
    prices = costs.price_list(TESTS)
    yes, missing, unknown = 1, 2, 3
    for code, price in [(0, 2), (yes, 9), (missing, 2), (unknown, 2), (-1, 2)]:
        assert prices.open_bill().charge(1, code) == price


def test_buying_everything_charges_discounts_and_the_dearest_outcomes():
    grouped = Costs([7, 5, 40, 1], groups={"g": [0, 1]}, discounted={0: 5, 1: 3})
    assert grouped.price_list(TESTS).cost_of_all() == 7 + 3 + 40 + 1
    priced = Costs([1, 2, 3, 4], by_outcome={"b": {"yes": 9}, "c": {"no": 1}})
    assert priced.price_list(TESTS).cost_of_all() == 1 + 9 + 3 + 4


def test_a_test_without_outcomes_can_be_priced_by_outcome():
    prices = Costs([4], by_outcome={"a": {}}).price_list([Test("a", "category")])
    assert prices.cost_of_all() == 4


def test_a_list_cannot_be_reassigned():
    with pytest.raises(AttributeError, match="full"):
        PriceList.plain([1]).full = np.zeros(1)
