"""Costs are checked when they are stated, and again when the tests are known."""

import copy
import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

from askless.exceptions import InvalidCostsError
from askless.problem import Costs, Table, Test, as_costs

TESTS = [Test(name, "category", outcomes=("no", "yes")) for name in "abc"]
BLOOD = {
    "costs": {"a": 7, "b": 5, "c": 40},
    "groups": {"blood": ["a", "b"]},
    "discounted": {"a": 5, "b": 3},
}


def test_costs_by_name_and_by_position_settle_to_the_same_prices():
    by_name = Costs({"c": 3, "a": 1, "b": 2}).price_list(TESTS)
    by_position = Costs([1, 2, 3]).price_list(TESTS)
    for prices in (by_name, by_position):
        assert prices.full.tolist() == prices.discounted.tolist() == [1, 2, 3]
        assert prices.group == (None, None, None)
        assert not prices.delayed.any()
        assert prices.by_outcome == {}


@pytest.mark.parametrize(
    "costs",
    [
        (1, 2, 3),
        np.array([1, 2, 3]),
        np.array([1, 2, 3], dtype=np.float32),
        pd.Series([1, 2, 3]),
        pl.Series([1, 2, 3]),
        {0: 1, 1: 2, 2: 3},
        {np.int64(0): 1, np.int64(1): 2, np.int64(2): 3},
        pd.Series({"c": 3, "a": 1, "b": 2}),
        (price for price in (1, 2, 3)),
        {"a": 1, 1: 2, "c": 3}.values(),
    ],
    ids=lambda costs: type(costs).__name__,
)
def test_costs_come_in_many_forms(costs):
    assert Costs(costs).price_list(TESTS).full.tolist() == [1, 2, 3]


def test_groups_and_discounts_settle_by_position():
    prices = Costs(**BLOOD).price_list(TESTS)
    assert prices.full.tolist() == [7, 5, 40]
    assert prices.discounted.tolist() == [5, 3, 40]
    assert prices.group == ("blood", "blood", None)


def test_a_grouped_test_without_a_discount_pays_in_full():
    prices = Costs([7, 5, 40], groups={"g": [0, 1]}).price_list(TESTS)
    assert prices.discounted.tolist() == [7, 5, 40]


def test_names_and_positions_may_be_mixed():
    costs = Costs([7, 5, 40], groups={"g": ["a", 1]}, discounted={0: 5}, delayed=["c"])
    prices = costs.price_list(TESTS)
    assert prices.group == ("g", "g", None)
    assert prices.discounted.tolist() == [5, 5, 40]
    assert prices.delayed.tolist() == [False, False, True]


def test_a_group_and_the_delayed_may_be_sets():
    costs = Costs([1, 2, 3], groups={"g": {"a", "b"}}, delayed={"c", "a"})
    assert costs.groups == {"g": ("a", "b")}
    assert costs.delayed == ("a", "c")


def test_prices_by_outcome_settle_by_level():
    costs = Costs([1, 2, 3], by_outcome={"b": {"yes": 9}})
    assert costs.price_list(TESTS).by_outcome[1].tolist() == [2, 9]


def test_a_number_that_is_no_position_may_be_a_name():
    years = [Test("2023", "number"), Test("2024", "number")]
    assert Costs({2024: 2, 2023: 1}).price_list(years).full.tolist() == [1, 2]


def test_minus_zero_is_zero():
    assert math.copysign(1, Costs([-0.0]).costs[0]) == 1


@pytest.mark.parametrize(
    "wrong", [-3, math.nan, math.inf, -math.inf, None, "dear", [1], 10**400, pd.NA]
)
@pytest.mark.parametrize(
    ("what", "make"),
    [
        ("The cost of test 'a'", lambda v: Costs({"a": v})),
        ("The cost of test 1", lambda v: Costs([1, v])),
        (
            "The discounted cost of test 'a'",
            lambda v: Costs([1, 2], groups={"g": ["a", "b"]}, discounted={"a": v}),
        ),
        (
            "The cost of outcome 'yes' of test 'a'",
            lambda v: Costs({"a": 1}, by_outcome={"a": {"yes": v}}),
        ),
        (
            "The cost of deciding 'x' for 'y'",
            lambda v: Costs([1], mistakes={"y": {"x": v}}),
        ),
    ],
    ids=["by name", "by position", "discounted", "by outcome", "mistake"],
)
def test_a_price_is_a_finite_number_that_is_not_negative(what, make, wrong):
    message = rf"^{what} must be a finite number >= 0\. Got "
    with pytest.raises(InvalidCostsError, match=message):
        make(wrong)


def test_a_bad_cost_says_what_to_do():
    with pytest.raises(InvalidCostsError, match=r"Got -3\. To keep a policy from ever"):
        Costs({"a": -3})
    with pytest.raises(InvalidCostsError, match=r"Got -3\. A right decision costs 0"):
        Costs([1], mistakes=-3)


@pytest.mark.parametrize("wrong", [5, None, "costs.csv", b"x", {1.0, 2.0}])
def test_costs_are_a_mapping_or_a_sequence(wrong):
    message = r"costs must be a mapping of test to cost, .* Got \w+\. For a file, use"
    with pytest.raises(InvalidCostsError, match=message):
        Costs(wrong)


@pytest.mark.parametrize("nothing", [{}, []])
def test_no_costs_at_all_are_refused(nothing):
    message = r"Got no costs at all\. For unit costs, pass costs=None\."
    with pytest.raises(InvalidCostsError, match=message):
        Costs(nothing)


def test_two_costs_of_one_name_are_refused():
    message = r"must have one cost\. Got two for 'a'\. Remove one of them\."
    with pytest.raises(InvalidCostsError, match=message):
        Costs(pd.Series([1, 2], index=["a", "a"]))


def test_a_cost_for_a_test_that_is_not_there_is_refused():
    message = (
        r"must name tests of the problem\. Got 'socet', which is none of 'lamp', "
        r"'socket'\. Did you mean 'socket'\? Leave out what is not a test\."
    )
    with pytest.raises(InvalidCostsError, match=message):
        Table(
            [[0, 1], [1, 0]],
            [0, 1],
            tests=["lamp", "socket"],
            costs={"lamp": 1, "socket": 2, "socet": 3},
        )


@pytest.mark.parametrize(
    "options",
    [
        {"groups": {"g": ["a", "z"]}},
        {"groups": {"g": ["a", "b"]}, "discounted": {"z": 1}},
        {"delayed": ["z"]},
        {"by_outcome": {"z": {"yes": 1}}},
    ],
    ids=lambda options: list(options)[-1],
)
def test_every_part_must_name_tests_that_are_there(options):
    message = (
        r"must name tests of the problem\. Got 'z', which is none of 'a', 'b', 'c'"
    )
    with pytest.raises(InvalidCostsError, match=message):
        Costs({"a": 1, "b": 2, "c": 3}, **options).price_list(TESTS)


def test_a_test_without_a_cost_is_named():
    message = (
        r"Every test must have a cost\. Got none for 'b', 'c' \(2 of 3 tests\)\. A "
        r"test that is free has cost 0; a column that is no test is left out, or named "
        r"as what it is\."
    )
    with pytest.raises(InvalidCostsError, match=message):
        Costs({"a": 1}).price_list(TESTS)


def test_too_few_costs_by_position_are_refused():
    message = r"Every test must have a cost\. Got none for 'c' \(1 of 3 tests\)"
    with pytest.raises(InvalidCostsError, match=message):
        Costs([1, 2]).price_list(TESTS)


def test_too_many_costs_by_position_are_refused():
    message = r"Got one for position 3, and there are 3 tests\. Give one cost for each"
    with pytest.raises(InvalidCostsError, match=message):
        Costs([1, 2, 3, 4]).price_list(TESTS)


def test_a_negative_position_is_refused():
    message = r"Got one for position -1, and there are 3 tests"
    with pytest.raises(InvalidCostsError, match=message):
        Costs([1, 2, 3], delayed=[-1]).price_list(TESTS)


def test_a_test_named_twice_in_different_ways_is_found():
    message = r"Every test must have one cost\. Got two for 'a', by 'a' and by 0"
    with pytest.raises(InvalidCostsError, match=message):
        Costs({"a": 1, 0: 2, "b": 3, "c": 4}).price_list(TESTS)


@pytest.mark.parametrize("members", [["a"], ["a", "a"], []], ids=str)
def test_a_group_of_fewer_than_two_tests_is_refused(members):
    message = (
        r"at least two tests\. Got [01] \(.*\) in group 'blood'\. Check how the "
        r"group's name is spelled, or leave the group out\."
    )
    with pytest.raises(InvalidCostsError, match=message):
        Costs([1, 2], groups={"blood": members})


def test_a_group_of_one_test_in_two_spellings_is_refused():
    message = r"at least two tests\. Got 1 \('a'\) in group 'g'"
    with pytest.raises(InvalidCostsError, match=message):
        Costs([1, 2, 3], groups={"g": ["a", 0]}).price_list(TESTS)


@pytest.mark.parametrize(
    "groups", [{"g": ["a", "b"], "h": ["b", "c"]}, {"g": ["a", "b"], "h": [1, 2]}]
)
def test_a_test_in_two_groups_is_refused(groups):
    message = r"at most one group\. Got 'b' in 'g' and 'h'\. Keep it in one of them\."
    with pytest.raises(InvalidCostsError, match=message):
        Costs([1, 2, 3], groups=groups).price_list(TESTS)


@pytest.mark.parametrize("wrong", ["a,b", 5, {"a": 1}, None])
def test_a_group_is_a_list(wrong):
    message = r"A group must be a list of its tests\. Got .* for 'g'\. Write \{group"
    with pytest.raises(InvalidCostsError, match=message):
        Costs([1, 2], groups={"g": wrong})


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("groups", ["a", "b"]), ("groups", 5), ("discounted", [1]), ("by_outcome", "a")],
)
def test_parts_that_go_by_name_are_mappings(name, wrong):
    message = rf"{name} must be a mapping of .* Got \w+\. Write it as \{{name"
    with pytest.raises(InvalidCostsError, match=message):
        Costs([1, 2], **{name: wrong})


def test_prices_of_outcomes_are_a_mapping():
    message = r"by_outcome\['a'\] must be a mapping of outcome to price\. Got int"
    with pytest.raises(InvalidCostsError, match=message):
        Costs([1], by_outcome={"a": 5})


@pytest.mark.parametrize("wrong", ["a", 5, {"a": True}, None])
def test_the_delayed_are_a_list(wrong):
    message = r"delayed must be a list of tests\. Got .*\. Write \[test, test, \.\.\.\]"
    with pytest.raises(InvalidCostsError, match=message):
        Costs([1], delayed=wrong)


@pytest.mark.parametrize("costs", [{"a": 7, "b": 5, "c": 1}, [7, 5, 1]], ids=str)
def test_a_discount_above_the_cost_is_refused(costs):
    message = (
        r"must not be above the cost\. Got 9 for 'a', which costs 7\. Swap the two, or "
        r"leave the discount out\."
    )
    with pytest.raises(InvalidCostsError, match=message):
        Costs(costs, groups={"g": ["a", "b"]}, discounted={"a": 9}).price_list(TESTS)


@pytest.mark.parametrize("costs", [{"a": 7, "b": 5, "c": 6}, [7, 5, 6]], ids=str)
def test_a_discount_without_a_group_is_refused(costs):
    message = (
        r"must be of a test in a group\. Got one for 'c', which is in none\. Name its "
        r"group, or leave the discount out\."
    )
    with pytest.raises(InvalidCostsError, match=message):
        Costs(costs, groups={"g": ["a", "b"]}, discounted={"c": 1}).price_list(TESTS)


def test_a_plain_price_repeated_as_the_discounted_one_is_let_through():
    costs = Costs({"a": 7, "b": 5, "c": 6}, discounted={"c": 6})
    assert costs.price_list(TESTS).discounted.tolist() == [7, 5, 6]


@pytest.mark.parametrize("test", ["a", 0])
def test_a_test_priced_by_outcome_is_in_no_group(test):
    message = r"must be in no group\. Got 'a' in 'g'\. Keep one of the two\."
    with pytest.raises(InvalidCostsError, match=message):
        Costs(
            [1, 2, 3], groups={"g": ["a", "b"]}, by_outcome={test: {"yes": 1}}
        ).price_list(TESTS)


def test_prices_by_outcome_cannot_be_combined_with_delays():
    message = (
        r"cannot be combined with delayed tests, .* Got 'a' priced by outcome and 'b' "
        r"delayed\. Keep one of the two\."
    )
    with pytest.raises(InvalidCostsError, match=message):
        Costs([1, 2], by_outcome={"a": {"yes": 1}}, delayed=["b"])


def test_a_price_of_an_unknown_outcome_is_refused():
    message = (
        r"must name outcomes of the test\. Got 'yess' for 'a', which shows 'no', "
        r"'yes'\. Did you mean 'yes'\? Leave out what it never shows\."
    )
    with pytest.raises(InvalidCostsError, match=message):
        Costs([1, 2, 3], by_outcome={"a": {"yess": 1}}).price_list(TESTS)


def test_a_number_cannot_be_priced_by_outcome():
    message = r"must show categories\. Got 'n', which shows numbers\. Give it one price"
    with pytest.raises(InvalidCostsError, match=message):
        Costs([1], by_outcome={"n": {1: 1}}).price_list([Test("n", "number")])


def test_a_number_of_mistakes_makes_a_matrix():
    assert Costs([1], mistakes=5).mistake_matrix("abc").tolist() == [
        [0, 5, 5],
        [5, 0, 5],
        [5, 5, 0],
    ]
    assert Costs([1]).mistake_matrix("ab") is None
    assert Costs([1], mistakes=np.float64(5)).mistakes == 5.0


def test_mistakes_by_name_find_their_place():
    rows = {"b": {"a": 2}, "a": {"b": 1, "a": 0}}
    for mistakes in (rows, pd.DataFrame({"b": [0, 1], "a": [2, 0]}, index=["b", "a"])):
        costs = Costs([1], mistakes=mistakes)
        assert costs.mistake_matrix(["a", "b"]).tolist() == [[0, 1], [2, 0]]


def test_mistakes_by_name_find_classes_that_are_numbers():
    costs = Costs([1], mistakes={"0": {"1": 3}, "1": {"0": 4}})
    assert costs.mistake_matrix([0, 1]).tolist() == [[0, 3], [4, 0]]


@pytest.mark.parametrize(
    ("mistakes", "message"),
    [
        ([[0, 1], [1]], r"square matrix, .* Got ragged rows or text\. Give a row and"),
        ([["a", "b"], ["c", "d"]], r"square matrix, .* Got ragged rows or text"),
        (
            [[0, 1]],
            r"square matrix, mistakes\[true\]\[decision\]\. Got the shape \(1, 2",
        ),
        ([0, 1], r"square matrix, .* Got the shape \(2,\)"),
        ([], r"square matrix, .* Got the shape \(0,\)"),
        ([[[0]]], r"square matrix, .* Got the shape \(1, 1, 1\)"),
        ([[0, -1], [1, 0]], r"finite and >= 0\. Got -1\.0 in row 0, column 1\."),
        ([[0, 1], [math.nan, 0]], r"finite and >= 0\. Got nan in row 1, column 0\."),
        ([[0, 1], [math.inf, 0]], r"finite and >= 0\. Got inf in row 1, column 0\."),
        ([[0, 1], [1, 2]], r"diagonal of mistakes is zero\. Got 2 in row 1\. Set the"),
        (-5, r"cost of a mistake must be a finite number >= 0\. Got -5"),
        (math.nan, r"cost of a mistake must be a finite number >= 0\. Got nan"),
        ("dear", r"cost of a mistake must be a finite number >= 0\. Got 'dear'"),
        ({"a": 5}, r"mistakes\['a'\] must be a mapping of class to cost\. Got int"),
    ],
    ids=str,
)
def test_mistakes_that_make_no_sense_are_refused(mistakes, message):
    with pytest.raises(InvalidCostsError, match=message):
        Costs([1], mistakes=mistakes)


@pytest.mark.parametrize(
    ("mistakes", "message"),
    [
        (
            [[0, 1], [1, 0]],
            r"a row and a column for each class\. Got a 2 x 2 matrix for 3 classes "
            r"\('a', 'b', 'cc'\)\. Order both by class, ascending\.",
        ),
        (
            {"ccc": {"a": 1}},
            r"must name classes\. Got 'ccc', which is none of 'a', 'b', 'cc'\. Did you "
            r"mean 'cc'\? Leave out what is not a class\.",
        ),
        (
            {"a": {"z": 1}},
            r"must name classes\. Got 'z', which is none of 'a', 'b', 'cc'",
        ),
        (
            {"a": {"a": 1}},
            r"must cost nothing\. Got 1 for deciding 'a' when it is true",
        ),
        (
            {"a": {"b": 1, "cc": 1}, "b": {"a": 1}},
            r"cost for every wrong decision\. Got none for deciding 'cc' when 'b'",
        ),
    ],
    ids=str,
)
def test_mistakes_that_do_not_fit_the_classes_are_refused(mistakes, message):
    with pytest.raises(InvalidCostsError, match=message):
        Costs([1], mistakes=mistakes).mistake_matrix(["a", "b", "cc"])


def test_costs_do_not_change_with_what_they_were_made_of():
    prices, matrix = {"a": 1}, np.array([[0.0, 1.0], [1.0, 0.0]])
    costs = Costs(prices, mistakes=matrix)
    prices["a"], matrix[0, 1] = 9, 9
    assert costs.costs == {"a": 1.0}
    assert costs.mistakes.tolist() == [[0, 1], [1, 0]]
    given = costs.mistake_matrix("ab")
    given[0, 1] = 9
    assert costs.mistake_matrix("ab").tolist() == [[0, 1], [1, 0]]


MATRIX = [[0, 1], [2, 0]]


@pytest.mark.parametrize("mistakes", [None, 5, MATRIX, {"a": {"b": 1}}], ids=str)
def test_costs_are_equal_if_all_their_parts_are(mistakes):
    costs = Costs(**BLOOD, delayed=["c"], mistakes=mistakes)
    assert costs == Costs(**BLOOD, delayed=["c"], mistakes=mistakes)
    assert copy.deepcopy(costs) == pickle.loads(pickle.dumps(costs)) == costs
    assert costs != Costs(**BLOOD, mistakes=mistakes)
    others = [None, 5, 6, MATRIX, [[0, 9], [2, 0]], {"a": {"b": 1}}]
    same = [costs == Costs(**BLOOD, delayed=["c"], mistakes=m) for m in others]
    assert sum(same) == 1
    assert costs != "costs"


def test_costs_show_what_they_hold():
    assert repr(Costs([1])) == "Costs(1 test)"
    assert repr(Costs(**BLOOD, delayed=["c"])) == "Costs(3 tests, 1 group, 1 delayed)"
    costs = Costs([1, 2, 3, 4], groups={"g": [0, 1], "h": [2, 3]}, mistakes=1)
    assert repr(costs) == "Costs(4 tests, 2 groups, mistakes)"
    costs = Costs([1, 2], by_outcome={"a": {"yes": 1}})
    assert repr(costs) == "Costs(2 tests, 1 by outcome)"


def test_some_of_the_tests_keep_their_costs():
    costs = Costs(**BLOOD, delayed=["c"], mistakes=5)
    kept = costs.subset(["c", "a"], all_names="abc")
    assert kept == Costs({"c": 40, "a": 7}, delayed=["c"], mistakes=5)
    assert costs.subset(["b", "a"], all_names="abc") == Costs(
        {"b": 5, "a": 7},
        groups={"blood": ["a", "b"]},
        discounted={"a": 5, "b": 3},
        mistakes=5,
    )


def test_a_subset_of_tests_without_costs_is_refused():
    with pytest.raises(InvalidCostsError, match=r"Got none for 'z' \(1 of 1 tests\)"):
        Costs([1, 2]).subset(["z"], all_names=["a", "b"])


def test_other_mistakes_leave_the_first_ones_alone():
    costs = Costs([1], mistakes=5)
    other = costs.with_mistakes(MATRIX)
    assert costs.mistakes == 5
    assert other.mistake_matrix("ab").tolist() == MATRIX
    with pytest.raises(InvalidCostsError, match="finite number >= 0"):
        costs.with_mistakes(-1)


# Other names, and what else may describe costs.


def test_costs_can_be_renamed_in_every_part():
    costs = Costs(
        {"iron": 7, "sugar": 5, "x-ray": 40},
        groups={"blood": ["iron", "sugar"]},
        discounted={"iron": 5, "sugar": 3},
        delayed=["x-ray"],
        mistakes=9,
    )
    places = {"iron": 0, "sugar": 1, "x-ray": 2}
    by_place = Costs(
        [7, 5, 40],
        groups={"blood": [0, 1]},
        discounted={0: 5, 1: 3},
        delayed=[2],
        mistakes=9,
    )
    assert costs.renamed(places) == by_place
    assert by_place.renamed(list(places).__getitem__) == costs
    assert costs.renamed({}) == costs


def test_prices_by_outcome_are_renamed():
    costs = Costs([1, 2], by_outcome={1: {"yes": 4}})
    assert costs.renamed({1: "b"}).by_outcome == {"b": {"yes": 4.0}}


def test_two_tests_cannot_be_given_one_name():
    message = r"Every test must have one cost\. Got two for 'a', by 0 and by 1\. Remove"
    with pytest.raises(InvalidCostsError, match=message):
        Costs([1, 2]).renamed(lambda key: "a")


def test_anything_that_describes_costs_becomes_costs():
    costs = Costs({"a": 2, "b": 3}, mistakes=4)
    assert as_costs(costs, 2) is costs
    assert as_costs({"a": 2, "b": 3}, 2) == Costs({"a": 2, "b": 3})
    assert as_costs(np.array([2, 3]), 2) == Costs([2, 3])
    assert as_costs(None, 3) == Costs([1, 1, 1])
    with pytest.raises(InvalidCostsError, match=r"costs must be a mapping .* Got int"):
        as_costs(3, 1)
