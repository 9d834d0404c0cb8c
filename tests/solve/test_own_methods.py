"""Methods of one's own are priced like any other, whatever they claim."""

from importlib.metadata import EntryPoint

import numpy as np
import pytest
from hypothesis import given, settings

import askless
from askless import Tree, evaluate, solve
from askless.exceptions import (
    AsklessWarning,
    InvalidOptionError,
    InvalidPolicyError,
    UnknownNameError,
)
from askless.policy import NodesBuilder, Sequence
from askless.problem import Costs, Table
from askless.solve import METHODS, _own_methods, register_method
from tests.strategies import generators, solved, tables


@pytest.fixture
def table():
    return Table([[0, 0], [0, 1], [1, 1]], ["a", "b", "c"], costs=[1, 3])


def in_order(table):
    """Ask the tests as they stand."""

    def choose(cases, asked):
        left = [name for name in table.test_names if name not in asked]
        return left[0] if left else None

    return Tree.from_rule(table, choose)


# Trees from a choice.


@given(tables(), generators())
@settings(deadline=None)
def test_a_tree_from_any_choice_is_what_evaluation_says(table, rng):
    def choose(cases, asked):
        left = [t.name for t in table.tests if t.name not in asked]
        if not left or rng.random() < 0.1:
            return None
        name = str(rng.choice(left))
        test = table.tests[table.test_names.index(name)]
        if test.kind == "number" and test.cuts and rng.random() < 0.5:
            codes = table.codes[table.test_names.index(name), cases]
            # A threshold that divides what is known, if there is one.
            known = np.unique(codes[codes < test.n_levels])
            if len(known) > 1:
                return name, test.cuts[known[0]]
        return table.test_names.index(name) if rng.random() < 0.5 else name

    tree = Tree.from_rule(table, choose)
    found = evaluate(tree, table)
    assert tree.expected_cost == pytest.approx(found.expected_cost)
    leaves = tree.test < 0
    assert tree.node_weight[leaves].sum() == pytest.approx(1)


def test_the_choice_sees_the_cases_that_are_left(table):
    seen = []

    def choose(cases, asked):
        seen.append((cases.tolist(), asked))
        return "t1" if asked else "t0"

    tree = Tree.from_rule(table, choose)
    assert seen == [([0, 1, 2], ()), ([0, 1], ("t0",))]
    assert tree.worst_cost == 4.0
    assert tree.predict(table.rows()).tolist() == ["a", "b", "c"]


def test_a_threshold_can_be_chosen():
    table = Table({"x": [1.0, 2.0, 3.0, 4.0]}, list("aabb"), thresholds=True)
    tree = Tree.from_rule(table, lambda cases, asked: ("x", 2.5))
    assert tree.n_nodes == 3
    assert tree.predict({"x": [0.0, 2.4, 2.6]}).tolist() == ["a", "a", "b"]
    with pytest.raises(InvalidPolicyError, match="must divide the cases"):
        Tree.from_rule(table, lambda cases, asked: ("x", 1.0))


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ("t9", r"Got 't9'; the tests are 't0', 't1'\."),
        (7, "Got 7;"),
        (("t0", 1.5), "A threshold must be of a test that compares numbers"),
        ("t0", "must return a test that was not asked before"),
    ],
)
def test_a_choice_that_makes_no_sense_is_refused(table, chosen, message):
    with pytest.raises(InvalidPolicyError, match=message):
        Tree.from_rule(table, lambda cases, asked: chosen)


# Methods.


@given(tables(unknown=False))
@settings(deadline=None)
def test_a_function_is_a_method_with_exact_costs_and_a_bound(table):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solution = solve(table, method=in_order)
    found = evaluate(solution.policy, table)
    assert solution.expected_cost == pytest.approx(found.expected_cost)
    assert solution.worst_cost == pytest.approx(found.worst_cost)
    assert solution.error == pytest.approx(found.error)
    assert solution.lower_bound <= solution.expected_cost + 1e-9
    assert solution.method == "in_order"


def test_a_policy_that_lies_about_its_weights_is_priced_by_the_table(table):
    honest = solved(table)

    def lying(table):
        builder = NodesBuilder()
        builder.add_leaf({0: 1.0})
        return Tree(table.tests, table.classes, table.prices, nodes=builder.build())

    solution = solve(table, method=lying)
    assert solution.error == pytest.approx(2 / 3)
    assert solution.status == "feasible"
    assert honest.expected_cost > 0


def test_other_policies_are_priced_too(table):
    solution = solve(table, method=Sequence.from_table)
    found = evaluate(solution.policy, table)
    assert solution.expected_cost == pytest.approx(found.expected_cost)
    assert solution.is_exact
    unknown = Table([[0, 0], [None, 1], [1, 2]], ["a", "b", "c"], costs=[1, 3])
    sampled = solve(unknown, method=in_order)
    exact = evaluate(sampled.policy, unknown)
    assert not sampled.is_exact
    assert abs(sampled.expected_cost - exact.expected_cost) <= 3 * sampled.margin + 1e-9


def test_options_seeds_and_limits_are_passed_on(table):
    given = {}

    def mine(table, *, depth=3, random_state=None, time_limit=None):
        given.update(depth=depth, seed=random_state, limit=time_limit)
        return in_order(table)

    solve(table, method=mine, depth=5, random_state=7, time_limit=2)
    assert given == {"depth": 5, "seed": 7, "limit": 2}
    with pytest.raises(UnknownNameError, match="The options of 'mine' are depth"):
        solve(table, method=mine, dept=1)


def test_the_case_may_be_what_is_looked_for():
    table = Table([[0, 0], [0, 1], [1, 1]], ["a", "a", "b"], costs=[1, 1])
    solution = solve(table, method=in_order, stop="case")
    assert solution.policy.classes == table.cases
    assert solution.error == 0
    assert solution.worst_cost == 2.0


@pytest.mark.parametrize(
    ("method", "error", "message"),
    [
        (7, InvalidOptionError, "A method must be a name, or a function"),
        (lambda table: None, InvalidPolicyError, "must return a policy. Got NoneType"),
        (
            lambda table: solved(Table([[0], [1]], ["x", "y"])),
            InvalidPolicyError,
            "over the tests and the classes of its table",
        ),
    ],
)
def test_what_is_no_method_is_refused(table, method, error, message):
    with pytest.raises(error, match=message):
        solve(table, method=method)


# Names.


@pytest.fixture
def names():
    before = dict(METHODS)
    yield
    METHODS.clear()
    METHODS.update(before)


def test_a_method_is_registered_by_name(table, names, tmp_path):
    from click.testing import CliRunner

    from askless.cli import main

    register_method("mine", in_order, guarantee="Finds its way home.")
    assert solve(table, method="mine").method == "mine"
    assert METHODS["mine"].summary == "Ask the tests as they stand."
    shown = CliRunner().invoke(main, ["methods"]).output
    assert "Guarantee: Finds its way home." in shown
    (tmp_path / "t.csv").write_text("x,y\n1,a\n2,b\n")
    args = ["solve", str(tmp_path / "t.csv"), "--target", "y", "--method", "mine"]
    assert "mine" in CliRunner().invoke(main, args).output
    with pytest.raises(InvalidOptionError, match="'mine', which is taken"):
        register_method("mine", in_order)
    for wrong in ("", 3):
        with pytest.raises(InvalidOptionError, match="A method must have a name"):
            register_method(wrong, in_order)


def test_packages_offer_methods_by_entry_points(table, names, monkeypatch):
    def points(group):
        assert group == "askless.methods"
        return [
            EntryPoint("of-a-package", f"{__name__}:in_order", group),
            EntryPoint("broken", "askless.nowhere:nothing", group),
            EntryPoint("greedy", "askless.nowhere:nothing", group),
        ]

    monkeypatch.setattr(_own_methods, "entry_points", points)
    with pytest.warns(AsklessWarning, match="'broken' of askless.nowhere:nothing"):
        solution = solve(table, method="of-a-package")
    assert solution.method == "of-a-package"
    with (
        pytest.warns(AsklessWarning, match="broken"),
        pytest.raises(UnknownNameError, match="or a function that returns a policy"),
    ):
        solve(table, method="nowhere")


def test_costs_are_those_of_the_engine(table):
    costs = Costs([2, 3], groups={"g": [0, 1]}, discounted={1: 1})
    grouped = Table([[0, 0], [0, 1], [1, 1]], ["a", "b", "c"], costs=costs)
    assert solve(grouped, method=in_order).worst_cost == 3.0
    assert askless.solve(grouped, method=in_order).policy.kind == "tree"
