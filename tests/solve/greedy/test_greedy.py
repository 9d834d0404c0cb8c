"""GreedyTree: the papers' numbers, its plain twin, and its guarantee."""

from __future__ import annotations

import math

import numpy as np
import pytest

import askless
from askless._core.greedy._criteria import Pairs, measure_impurity, score_split
from askless.datasets import make_random_table, make_synthetic_1024
from askless.testing import brute_force_cost, count_pairs, plain_greedy_costs


def every_case(table):
    return frozenset(range(table.n_cases))


# The worked example of the first paper: thirty objects of each of two classes, and
# what two tests leave of them, outcome by outcome.
PARTS_T1 = np.array([[30.0, 10.0], [0.0, 20.0]])
PARTS_T2 = np.array([[15.0, 15.0], [15.0, 15.0]])


def test_pairs_of_the_worked_example_are_900():
    assert measure_impurity(Pairs(), np.array([30.0, 30.0])) == 900


@pytest.mark.parametrize(
    ("parts", "children", "ratio"),
    [(PARTS_T1, [300, 0], 1 / 600), (PARTS_T2, [225, 225], 1 / 675)],
)
def test_the_worked_example_scores_as_printed(parts, children, ratio):
    pairs = [measure_impurity(Pairs(), part) for part in parts]
    assert pairs == children
    assert score_split(Pairs(), parts, np.ones(2))[0] == pytest.approx(ratio)


def worked_example():
    """The sixty objects of the worked example, as a table with both tests."""
    # (t1, t2, class) and how many objects there are of each.
    counts = {
        (0, 0, "a"): 15, (0, 1, "a"): 15, (0, 0, "b"): 5, (0, 1, "b"): 5,
        (1, 0, "b"): 10, (1, 1, "b"): 10,
    }  # fmt: skip
    rows = [key for key, n in counts.items() for _ in range(n)]
    return askless.Table(
        [row[:2] for row in rows], [row[2] for row in rows], tests=["t1", "t2"]
    )


def test_greedy_takes_the_balanced_test_of_the_worked_example_first():
    with pytest.warns(askless.exceptions.IndistinctCasesWarning):
        tree = askless.solve(worked_example(), method="greedy").policy
    assert tree.tests[tree.test[0]].name == "t2"


@pytest.mark.parametrize(("name", "error"), [("t1", 1 / 6), ("t2", 1 / 2)])
def test_the_error_after_one_test_is_as_printed(name, error):
    table = worked_example()
    alone = askless.Table(
        {name: table.rows()[name]}, table.case_classes, missing="outcome"
    )
    with pytest.warns(askless.exceptions.IndistinctCasesWarning):
        assert askless.solve(alone).error == pytest.approx(error)


# The synthetic example of 1,024 objects.


@pytest.fixture(scope="module")
def synthetic():
    return make_synthetic_1024()


def test_the_synthetic_example_has_393216_pairs(synthetic):
    counts = np.bincount(synthetic.class_ids).astype(float)
    assert measure_impurity(Pairs(), counts) == 393216


def test_the_synthetic_tree_asks_test_1_then_test_2_on_both_sides(synthetic):
    tree = askless.solve(synthetic, method="greedy").policy
    children = tree.branch_child[: tree.branch_start[1]]
    assert tree.tests[tree.test[0]].name == "t1"
    assert [tree.tests[tree.test[c]].name for c in children] == ["t2", "t2"]


def test_the_synthetic_tree_without_error_is_as_large_as_printed(synthetic):
    solution = askless.solve(synthetic, method="greedy")
    tree = solution.policy
    assert (tree.n_leaves, tree.depth) == (36, 10)
    assert solution.error == 0
    assert solution.expected_cost == pytest.approx(3.9921875, abs=1e-12)
    assert solution.worst_cost == 10


@pytest.mark.parametrize(
    ("depth", "errors"), [(0, 768), (1, 512), *((d, 4) for d in range(2, 10)), (10, 0)]
)
def test_the_error_by_depth_is_as_printed(synthetic, depth, errors):
    solution = askless.solve(synthetic, method="greedy", max_depth=depth)
    assert solution.error == pytest.approx(errors / 1024, abs=1e-12)


@pytest.mark.parametrize(("delta", "leaves", "depth"), [(255, 4, 2), (254, 8, 3)])
def test_early_stopping_is_as_printed(synthetic, delta, leaves, depth):
    solution = askless.solve(synthetic, method="greedy", delta=delta)
    assert (solution.policy.n_leaves, solution.policy.depth) == (leaves, depth)
    assert solution.error == pytest.approx(4 / 1024, abs=1e-12)


def test_object_0_needs_ten_tests(synthetic):
    # It differs from ten objects of another class in one test each.
    cost = askless.evaluate(askless.solve(synthetic).policy, synthetic).case_cost
    assert cost[0] == 10


# Outcome-dependent costs.


@pytest.fixture
def priced_by_outcome():
    return askless.Table(
        [[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1]],
        ["A", "B", "B", "A"],
        tests=["a", "b", "d"],
        costs=askless.Costs(
            {"a": 1, "b": 2, "d": 1}, by_outcome={"a": {0: 1, 1: 5}, "d": {0: 1, 1: 1}}
        ),
    )


def test_outcome_dependent_costs_are_as_computed(priced_by_outcome):
    solution = askless.solve(priced_by_outcome, method="greedy")
    tree = solution.policy
    assert tree.tests[tree.test[0]].name == "d"
    assert (solution.worst_cost, solution.expected_cost) == (8, 4)
    assert brute_force_cost(priced_by_outcome, "worst") == 7


# The five-object example of the diagnosis paper.


@pytest.fixture
def five_objects():
    return askless.Table(
        [[1, 1, 2], [1, 2, 1], [2, 2, 1], [1, 2, 2], [2, 2, 2]],
        ["A", "A", "B", "C", "C"],
        costs=[2, 1, 3],
        tests=["t1", "t2", "t3"],
        prior=[0.1, 0.2, 0.4, 0.25, 0.05],
    )


def test_the_five_objects_tie_and_the_first_test_wins(five_objects):
    solution = askless.solve(five_objects, method="greedy")
    tree = solution.policy
    assert count_pairs(five_objects, every_case(five_objects)) == 8
    assert tree.tests[tree.test[0]].name == "t1"
    assert solution.worst_cost == 6
    assert solution.expected_cost == pytest.approx(5.25)
    assert brute_force_cost(five_objects, "worst") == 5
    assert brute_force_cost(five_objects, "expected") == pytest.approx(4.6)


# Rules.


def test_a_free_test_that_parts_something_comes_first():
    table = askless.Table(
        [[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 1, 1]],
        ["a", "b", "c", "d"],
        costs=[0, 0, 1],
    )
    tree = askless.solve(table, method="greedy").policy
    # Both free tests score zero; the second one parts more pairs in its worst outcome.
    assert tree.test[0] == 1


def test_a_test_that_shows_nothing_is_never_bought():
    table = askless.Table([[0, 5], [1, 5]], ["a", "b"], costs=[9, 0.1])
    assert askless.solve(table).policy.used_tests == [0]


def test_the_second_test_of_a_group_is_chosen_at_its_discount():
    # After "opens", its group makes "inside" cheaper than "outside".
    table = askless.Table(
        [[0, 0, 0], [0, 1, 1], [1, 0, 0], [1, 1, 1]],
        ["a", "b", "c", "d"],
        tests=["opens", "inside", "outside"],
        costs=askless.Costs(
            {"opens": 1, "inside": 9, "outside": 5},
            groups={"lid": ["opens", "inside"]},
            discounted={"inside": 1},
        ),
    )
    tree = askless.solve(table).policy
    assert [tree.tests[t].name for t in tree.used_tests] == ["opens", "inside"]
    assert tree.worst_cost == 2


def test_two_cases_that_nothing_parts_give_a_majority_leaf_and_a_warning():
    table = askless.Table(
        [[0], [0], [1]], ["a", "b", "c"], prior=[1, 2, 1], cases=["x", "y", "z"]
    )
    with pytest.warns(askless.exceptions.IndistinctCasesWarning, match="'x' from 'y'"):
        solution = askless.solve(table)
    assert solution.error == pytest.approx(0.25)
    assert solution.policy.predict([[0]]) == ["b"]


def test_one_class_needs_no_test_and_says_so():
    table = askless.Table([[0], [1]], ["a", "a"])
    with pytest.warns(
        askless.exceptions.DegeneratePolicyWarning, match="at least two classes"
    ):
        solution = askless.solve(table)
    assert (solution.policy.n_nodes, solution.worst_cost) == (1, 0)
    assert solution.status == "optimal"


def test_stop_case_finds_out_which_case_it_is():
    table = askless.Table([[0, 0], [0, 1], [1, 1]], ["a", "a", "b"], cases=list("xyz"))
    by_class = askless.solve(table)
    by_case = askless.solve(table, stop="case")
    assert by_class.worst_cost == 1
    assert by_case.worst_cost == 2
    assert by_case.policy.predict([[0, 1]]) == ["y"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "gredy"}, "method must be one of .*Did you mean 'greedy'"),
        ({"objective": "worse"}, "objective must be .*Did you mean 'worst'"),
        ({"stop": "soon"}, "stop must be"),
        ({"method": "greedy", "max_depth": -1}, "max_depth must be >= 0"),
        ({"method": "greedy", "delta": -1}, "delta must be >= 0"),
        ({"method": "greedy", "delta": math.nan}, "delta must be >= 0"),
        ({"method": "greedy", "weights": "none"}, "weights must be"),
        ({"method": "greedy", "max_dept": 3}, "Did you mean 'max_depth'"),
        ({"method": "greedy", "impurity": "pair"}, "Did you mean 'pairs'"),
        ({"method": "greedy", "split": "minmax"}, "Did you mean 'minimax'"),
        ({"method": "greedy", "impurity": "powers", "power": 1}, "power must be"),
        ({"method": "greedy", "impurity": "hinged", "alpha": -1}, "alpha must be"),
        ({"budget": -3}, "budget must be a number >= 0"),
        ({"budget": math.nan}, "budget must be a number >= 0"),
        ({"max_error": 1.5}, "max_error must be a share"),
        ({"max_error": math.nan}, "max_error must be a share"),
        ({"budget": 3, "method": "gbs"}, "must be 'auto' or 'greedy'"),
        ({"max_error": 0.1, "method": "dectree"}, "must be 'auto' or 'greedy'"),
    ],
)
def test_wrong_options_are_explained(options, message):
    table = askless.Table([[0], [1]], ["a", "b"])
    with pytest.raises(askless.exceptions.InvalidOptionError, match=message):
        askless.solve(table, **options)


def test_stop_case_wants_different_names():
    table = askless.Table([[0], [1]], ["a", "b"], cases=["x", "x"])
    with pytest.raises(askless.exceptions.InvalidTableError, match="different names"):
        askless.solve(table, stop="case")


# Random tables.


def random_table(rng):
    return make_random_table(
        int(rng.integers(2, 9)),
        int(rng.integers(3, 7)),
        n_outcomes=int(rng.integers(2, 4)),
        n_classes=int(rng.integers(2, 5)),
        costs=str(rng.choice(["unit", "integers", "uniform"])),
        prior=str(rng.choice(["uniform", "random"])),
        outcome_costs=bool(rng.integers(2)),
        random_state=int(rng.integers(2**31)),
    )


def tables(rng, n):
    """Yield n random tables; draws that cannot be completed are redrawn."""
    made = 0
    while made < n:
        try:
            table = random_table(rng)
        except askless.exceptions.AsklessError:
            continue
        if table.n_classes > 1:
            made += 1
            yield table


def test_greedy_equals_its_plain_twin(rng):
    for table in tables(rng, 300):
        solution = askless.solve(table, method="greedy")
        worst, expected = plain_greedy_costs(table)
        assert solution.worst_cost == pytest.approx(worst, rel=1e-9)
        assert solution.expected_cost == pytest.approx(expected, rel=1e-9)


def test_greedy_with_groups_equals_its_plain_twin(rng):
    for plain in tables(rng, 200):
        costs = rng.integers(2, 9, plain.n_tests).tolist()
        members = rng.choice(plain.n_tests, 2, replace=False).tolist()
        table = askless.Table(
            plain.rows(),
            plain.case_classes,
            prior=plain.prior,
            missing="outcome",
            costs=askless.Costs(
                dict(zip(plain.test_names, costs, strict=True)),
                groups={"g": [plain.test_names[m] for m in members]},
                discounted={plain.test_names[m]: costs[m] / 2 for m in members},
            ),
        )
        worst, expected = plain_greedy_costs(table)
        solution = askless.solve(table, method="greedy")
        assert solution.worst_cost == pytest.approx(worst, rel=1e-9)
        assert solution.expected_cost == pytest.approx(expected, rel=1e-9)


def test_greedy_is_within_its_guarantee_and_above_its_bound(rng):
    for table in tables(rng, 1000):
        pairs = count_pairs(table, every_case(table))
        best = brute_force_cost(table, "worst")
        solution = askless.solve(table, method="greedy", objective="worst")
        assert solution.error == 0
        assert solution.worst_cost <= (math.log(pairs) + 1) * best + 1e-9
        assert solution.lower_bound <= best + 1e-9 <= solution.worst_cost + 2e-9
        if solution.status == "optimal":
            assert solution.worst_cost == pytest.approx(best)


def test_the_expected_bound_is_below_the_optimum(rng):
    for table in tables(rng, 200):
        best = brute_force_cost(table, "expected")
        solution = askless.solve(table, method="greedy")
        assert solution.lower_bound <= best + 1e-9 <= solution.expected_cost + 2e-9


def test_scaling_all_prices_scales_the_costs(rng):
    for table in tables(rng, 50):
        if table.costs.by_outcome:
            continue
        prices = {
            n: 3 * p for n, p in zip(table.test_names, table.prices.full, strict=True)
        }
        scaled = askless.Table(
            table.rows(), table.case_classes, prior=table.prior, costs=prices,
            missing="outcome",
        )  # fmt: skip
        assert askless.solve(scaled).worst_cost == pytest.approx(
            3 * askless.solve(table).worst_cost
        )


def test_a_delta_tree_is_the_whole_tree_cut_where_delta_is_met(rng):
    for table in tables(rng, 100):
        for delta in (0, 1, 2, 5):
            worst, expected = plain_greedy_costs(table, delta=delta)
            solution = askless.solve(table, method="greedy", delta=delta)
            assert solution.worst_cost == pytest.approx(worst)
            assert solution.expected_cost == pytest.approx(expected)
