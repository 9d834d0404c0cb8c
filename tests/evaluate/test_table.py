"""Evaluating on a table is exact: unknown outcomes go every way that they may go."""

import math

import numpy as np
import pytest
from hypothesis import given, settings

import askless
from askless.evaluate import evaluate
from askless.exceptions import InvalidOptionError, InvalidTableError
from askless.policy import Sequence
from askless.problem import Costs, PriceList, Table, Test
from askless.testing import plain_evaluate
from tests.strategies import (
    generators,
    grow_at_random,
    solved,
    tables,
    tables_with_policies,
    tree_of,
)


def near(value):
    return pytest.approx(value, rel=1e-9, abs=1e-12)


def assert_same(result, plain):
    assert result.expected_cost == near(plain.expected_cost)
    assert result.worst_cost == plain.worst_cost
    assert result.error == near(plain.error)
    assert result.case_cost.tolist() == near(list(plain.case_cost))
    assert result.case_worst.tolist() == list(plain.case_worst)
    assert result.case_error.tolist() == near(list(plain.case_error))
    assert dict(zip(result.costs.tolist(), result.weights.tolist(), strict=True)) == (
        near(plain.costs)
    )
    if plain.mistake_cost is None:
        assert result.mistake_cost is None
    else:
        assert result.mistake_cost == near(plain.mistake_cost)
        assert result.total_cost == near(plain.expected_cost + plain.mistake_cost)
    assert result.is_exact


@settings(max_examples=300)
@given(drawn=tables_with_policies())
def test_it_equals_the_sum_over_every_completion(drawn):
    table, policy = drawn
    assert_same(evaluate(policy, table), plain_evaluate(policy, table))


@settings(max_examples=200)
@given(drawn=tables_with_policies(kinds=("random",), max_tests=2))
def test_it_does_so_for_trees_that_ask_again_and_again(drawn):
    table, tree = drawn
    assert_same(evaluate(tree, table), plain_evaluate(tree, table))


@settings(max_examples=200)
@given(table=tables())
def test_the_weights_of_a_grown_tree_say_what_it_costs(table):
    tree = solved(table)
    result = evaluate(tree, table)
    if not table.prices.by_outcome:
        assert tree.expected_cost == near(result.expected_cost)
        assert tree.worst_cost == result.worst_cost
    leaves = tree.test < 0
    assert tree.node_weight[leaves].sum() == near(1.0)
    wrong = sum(
        tree.class_weights(leaf).sum() - tree.class_weights(leaf)[tree.decision(leaf)]
        for leaf in np.flatnonzero(leaves)
    )
    assert wrong == near(result.error)


@given(table=tables())
def test_with_prices_by_outcome_the_tree_says_so_too(table):
    # Every outcome that a case of the table may show has a branch of its own.
    if not table.prices.by_outcome:
        return
    tree = solved(table)
    result = evaluate(tree, table)
    assert tree.expected_cost == near(result.expected_cost)
    assert tree.worst_cost == result.worst_cost


@given(table=tables(), rng=generators())
def test_the_order_of_cases_and_tests_does_not_matter(table, rng):
    policy = solved(table)
    result = evaluate(policy, table)
    cases = rng.permutation(table.n_cases)
    names = rng.permutation(table.test_names).tolist()
    other = reordered(table, cases, names)
    again = evaluate(policy, other)
    assert again.expected_cost == near(result.expected_cost)
    assert again.case_cost.tolist() == near(result.case_cost[cases].tolist())
    assert again.case_error.tolist() == near(result.case_error[cases].tolist())
    assert again.worst_cost == result.worst_cost


def reordered(table, cases, names):
    """Return a table with cases and tests in another order, and two more tests."""
    tests = [*names, "extra", "odd"]
    position = {name: i for i, name in enumerate(table.test_names)}
    other = object.__new__(Table)
    more = (
        Test("extra", "category", outcomes=("x",)),
        Test("odd", "number", cuts=(1.0,)),
    )
    columns = [position[name] for name in names]
    codes = np.vstack(
        [
            table.codes[columns][:, cases],
            np.full((2, len(cases)), 2, dtype=table.codes.dtype),
        ]
    )
    chosen = (*(table.tests[i] for i in columns), *more)
    other.__dict__.update(
        vars(table)
        | {
            "coding": askless.problem.Coding(chosen),
            "codes": codes,
            "class_ids": table.class_ids[cases],
            "prior": table.prior[cases],
            "cases": tuple(table.cases[i] for i in cases),
            "chances": (
                *(table.chances[i] for i in columns),
                np.ones(1),
                np.full(2, 0.5),
            ),
        }
    )
    for cached in ("possible", "has_unknown", "indistinct", "notes"):
        other.__dict__.pop(cached, None)
    assert other.test_names == tuple(tests)
    return other


# Persistence, by hand.


def twice_cut(first, second):
    """Return a tree that cuts x at ``first``, then the lower part at ``second``."""
    test = Test("x", "number", cuts=(1.0, 2.0, 3.0))
    weights = {0: 1.0, 1: 1.0}
    inner = {"test": 0, "codes": [0, 1], "default": 0, "weights": weights}
    leaf = {"test": -1, "cut": -1, "codes": [], "children": [], "default": -1}
    nodes = [
        {**inner, "cut": first, "children": [1, 4]},
        {**inner, "cut": second, "children": [2, 3]},
        {**leaf, "weights": {0: 1.0}},
        {**leaf, "weights": {1: 1.0}},
        {**leaf, "weights": {1: 1.0}},
    ]
    return tree_of(nodes, [test], ["a", "b"], PriceList.plain([3.0]))


def test_what_an_unknown_number_has_shown_it_shows_again():
    # x is in one of four levels. Of those at most 2 half are at most 1; had x been
    # drawn anew at the second cut, only a quarter would have been.
    values = [0.5, 1.5, 2.5, 3.5, None]
    table = Table(
        {"x": values},
        ["a", "b", "b", "b", "a"],
        thresholds=True,
        prior=[0, 0, 0, 0, 1],
    )
    assert table.tests[0].cuts == (1.0, 2.0, 3.0)
    result = evaluate(twice_cut(1, 0), table)
    assert result.case_error.tolist() == [0.0, 0.0, 0.0, 0.0, 0.75]
    assert result.expected_cost == 3.0
    # Asked the other way round, the second cut finds out nothing new.
    again = evaluate(twice_cut(0, 1), table)
    assert again.case_error[4] == 0.75


def test_a_repeated_outcome_of_a_category_is_the_same_again():
    table = Table({"t": ["x", "y", None]}, ["a", "b", "b"], costs=[1])
    leaf = {"test": -1, "cut": -1, "codes": [], "children": [], "default": -1}
    inner = {"test": 0, "cut": -1, "codes": [0, 1], "default": 0}
    both = {0: 1.0, 1: 1.0}
    nodes = [
        {**inner, "children": [1, 4], "weights": both},
        {**inner, "children": [2, 3], "weights": both},
        {**leaf, "weights": {0: 1.0}},
        {**leaf, "weights": {1: 1.0}},
        {**leaf, "weights": {1: 1.0}},
    ]
    tree = tree_of(nodes, table.tests, ["a", "b"], PriceList.plain([1.0]))
    assert evaluate(tree, table).case_error.tolist() == [0.0, 0.0, 0.5]


def test_a_test_without_any_known_outcome_is_still_paid_for():
    table = Table({"blank": [None, None], "t": [0, 1]}, ["a", "b"], costs=[5, 1])
    result = evaluate(Sequence.from_table(table), table)
    assert result.case_cost.tolist() == [6.0, 6.0]
    assert result.error == 0.0
    assert result.weights.tolist() == [1.0]


def test_outcomes_without_a_chance_are_not_followed():
    table = Table(
        {"t": ["x", "y", "z", None]},
        ["a", "b", "c", "c"],
        costs=Costs([1], by_outcome={0: {"x": 9}}),
        chances={"t": {"y": 0.25, "z": 0.75}},
    )
    result = evaluate(solved(table), table)
    assert result.case_worst.tolist() == [9.0, 1.0, 1.0, 1.0]
    assert result.case_error.tolist() == near([0.0, 0.0, 0.0, 0.25])


def test_cases_without_weight_count_in_the_worst_cost_only():
    table = Table(
        [[0, 0], [1, 0], [1, 1]], ["a", "b", "c"], costs=[1, 4], prior=[1, 0, 0]
    )
    tree = solved(table)
    result = evaluate(tree, table)
    assert (result.expected_cost, result.worst_cost) == (1.0, 5.0)
    assert result.error == 0.0
    assert result.case_error.tolist() == [0.0, 0.0, 0.0]
    assert result.quantile(1.0) == 1.0
    assert tree.expected_cost == 1.0


# Quantiles.


def test_quantiles_are_costs_that_enough_weight_stays_within():
    table = Table(
        np.tri(4, 3, -1, dtype=int),
        list("abcd"),
        costs=[1, 1, 1],
        prior=[0.1, 0.2, 0.3, 0.4],
    )
    result = evaluate(Sequence.from_table(table, [0, 1, 2]), table)
    assert result.costs.tolist() == [1, 2, 3]
    assert result.weights.tolist() == near([0.1, 0.2, 0.7])
    shares = [0, 0.05, 0.1, 0.11, 0.3, 0.31, 1]
    assert [result.quantile(s) for s in shares] == [1, 1, 1, 2, 2, 3, 3]


@given(drawn=tables_with_policies())
def test_a_quantile_covers_its_share_and_nothing_less_does(drawn):
    table, policy = drawn
    result = evaluate(policy, table)
    for share in (0.0, 0.1, 0.5, 0.9, 1.0):
        cost = result.quantile(share)
        assert result.weights[result.costs <= cost].sum() >= share - 1e-9
        assert result.weights[result.costs < cost].sum() < share + 1e-9


@pytest.mark.parametrize("share", [-0.1, 1.1, math.nan])
def test_a_quantile_of_no_share_is_refused(share):
    table = Table([[0], [1]], ["a", "b"])
    result = evaluate(solved(table), table)
    with pytest.raises(InvalidOptionError, match=r"share must be from 0 to 1\. Got"):
        result.quantile(share)


def test_the_summary_is_plain_numbers():
    table = Table([[0], [1]], ["a", "b"], costs=Costs([2], mistakes=7))
    assert evaluate(solved(table), table).to_dict() == {
        "n_cases": 2,
        "expected_cost": 2.0,
        "worst_cost": 2.0,
        "quantiles": {"0.25": 2.0, "0.5": 2.0, "0.75": 2.0, "0.9": 2.0, "0.99": 2.0},
        "error": 0.0,
        "mistake_cost": 0.0,
        "total_cost": 2.0,
        "is_exact": True,
    }


# Another table than the policy's own.


def lamp_table(**options):
    return Table(
        {"lamp": ["dark", "dark", "dim"], "socket": ["dead", "live", "live"]},
        ["fuse", "bulb", "dimmer"],
        costs={"lamp": 1, "socket": 5},
        **options,
    )


def test_a_table_that_lacks_a_test_of_the_policy_is_refused():
    policy = solved(lamp_table())
    short = Table({"lamps": ["dark", "dim"]}, ["bulb", "dimmer"])
    message = "no test 'lamp'. Did you mean 'lamps'. Evaluate the policy on its own"
    with pytest.raises(InvalidTableError, match=message.replace(".", r"[.?]")):
        evaluate(policy, short)
    unknown = Table({"lamps": ["dark", None]}, ["bulb", "dimmer"])
    with pytest.raises(InvalidTableError, match="Got no test 'lamp'"):
        evaluate(policy, unknown)


def test_a_table_may_lack_a_test_that_is_never_asked_for():
    table = Table({"t": [0, 1], "spare": [0, 0]}, ["a", "b"])
    only = Table({"t": [1, 0, 1]}, ["b", "a", "a"])
    assert evaluate(solved(table), only).case_error.tolist() == [0.0, 0.0, 1.0]


def test_an_outcome_that_the_policy_never_saw_takes_the_default_branch():
    policy = solved(lamp_table(prior=[0.2, 0.2, 0.6]))
    other = Table(
        {"lamp": ["dark", "blinks"], "socket": ["live", "live"]}, ["bulb", "dimmer"]
    )
    result = evaluate(policy, other)
    assert result.case_error.tolist() == [0.0, 0.0]
    assert result.case_cost.tolist() == [6.0, 1.0]


def test_a_class_that_the_policy_never_decides_is_refused():
    other = Table({"lamp": ["dark"], "socket": ["dead"]}, ["flood"], costs=[1, 5])
    with pytest.raises(InvalidTableError, match="Got 'flood', which the policy never"):
        evaluate(solved(lamp_table()), other)


def test_finer_levels_of_a_number_fit_a_policy_of_coarser_ones():
    values = [0.0, 1.0, 2.0, 3.0]
    coarse = Table({"x": [0.0, 3.0]}, ["a", "b"], levels=2, thresholds=True)
    fine = Table({"x": values}, list("aabb"), thresholds=True)
    assert set(coarse.tests[0].cuts) <= set(fine.tests[0].cuts)
    assert evaluate(solved(coarse), fine).error == 0.0


def test_levels_cut_elsewhere_are_refused_if_they_are_asked_for():
    table = Table({"x": [0.0, 3.0], "y": [0, 0]}, ["a", "b"], thresholds=True)
    other = Table({"x": [0.0, 8.0], "y": [0, 0]}, ["a", "b"], thresholds=True)
    with pytest.raises(InvalidTableError, match="'x' in the table must fit those of"):
        evaluate(solved(table), other)
    # A policy that never asks for x does not mind.
    free = Table({"x": [0.0, 3.0], "y": [0, 1]}, ["a", "b"], costs=[9, 1], levels=2)
    assert solved(free).start().test == "y"
    moved = Table({"x": [0.0, 8.0], "y": [0, 1]}, ["a", "b"], levels=2)
    assert evaluate(solved(free), moved).error == 0.0


def test_categories_of_numbers_fit_a_policy_with_thresholds():
    with_cuts = solved(Table({"x": [0, 1, 5]}, ["a", "a", "b"], thresholds=True))
    assert evaluate(with_cuts, Table({"x": [0, 1, 5]}, ["a", "a", "b"])).error == 0.0


def test_a_policy_that_finds_the_case_is_judged_by_the_case():
    table = Table([[0, 0], [0, 1], [1, 1]], ["a", "a", "b"], cases=["x", "y", "z"])
    policy = solved(table, stop="case")
    assert policy.classes == ("x", "y", "z")
    assert evaluate(policy, table).error == 0.0


def test_cases_named_like_classes_are_not_taken_for_them():
    table = Table([[0, 0], [0, 1], [1, 1]], ["b", "a", "a"], cases=["a", "b", "c"])
    assert evaluate(solved(table), table).error == 0.0
    assert evaluate(solved(table, stop="case"), table).error == 0.0


def test_a_table_brings_its_own_classes_and_weights():
    table = Table([[0], [1]], ["a", "b"])
    for extra in ({"y": ["a", "b"]}, {"sample_weight": [1, 1]}):
        with pytest.raises(InvalidTableError, match="sample_weight or row_costs"):
            evaluate(solved(table), table, **extra)


def test_many_cases_are_evaluated_without_a_walk_for_each(rng):
    n = 3000
    columns = {f"t{i}": rng.integers(0, 4, n) for i in range(6)}
    table = Table(columns, rng.integers(0, 3, n), prior=rng.random(n))
    tree = grow_at_random(rng, table.tests, table.classes, table.prices, max_depth=5)
    result = evaluate(tree, table)
    assert result.case_cost.tolist() == tree.cost(columns).tolist()
    wrong = tree.predict(columns) != np.array(table.case_classes)
    assert result.error == near(float(table.prior[wrong].sum()))
