"""Error against cost: prunings, budgets, allowed errors, and the papers' numbers."""

from __future__ import annotations

import math
import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import askless
from askless._core.greedy._criteria import measure_impurity, score_split
from askless.datasets import make_random_table, make_synthetic_1024
from askless.exceptions import (
    AsklessError,
    DegeneratePolicyWarning,
    InvalidOptionError,
    NoPolicyError,
)
from askless.solve._task import Task
from askless.solve.greedy._greedy import grow_by_criterion, grow_greedy_tree
from askless.solve.greedy._impurities import make_criterion
from askless.solve.tradeoff._cheapest import find_cheapest
from askless.solve.tradeoff._error_curve import error_cost_curve
from askless.solve.tradeoff._last_test import LastTest, LastTests, graft_tests
from askless.solve.tradeoff._portfolio import Member, grow_in_budget, list_members
from askless.solve.tradeoff._prune import prune_tree, wrong_weights
from askless.solve.tradeoff._prunings import Prunings
from askless.solve.tradeoff._within_budget import solve_within_budget
from askless.solve.tradeoff._within_error import solve_within_error
from askless.testing import brute_force_tradeoffs, list_prunings
from tests.strategies import generators, grow_at_random, tables

SHORT_GRID = (0.01, 0.1)


def make_task(table, objective="worst"):
    mistakes = table.costs.mistake_matrix(table.classes)
    return Task(table, table.classes, table.class_ids, mistakes, objective)


def error_of(tree):
    leaves = tree.test < 0
    return float(wrong_weights(tree)[leaves].sum() / tree.node_weight[leaves].sum())


def quietly(solve, *arguments, **options):
    """Call a solver that may find that nothing is worth a test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegeneratePolicyWarning)
        return solve(*arguments, **options)


# The impurities, on the worked example of the first paper: what two tests leave of
# thirty objects of each of two classes.

PARTS = {
    "t1": np.array([[30.0, 10.0], [0.0, 20.0]]),
    "t2": np.array([[15.0, 15.0], [15.0, 15.0]]),
}


@pytest.mark.parametrize(
    ("options", "whole", "children", "ratios"),
    [
        ({}, 900, [(300, 0), (225, 225)], (600, 675)),
        (
            {"impurity": "hinged", "alpha": 8},
            420,
            [(0, 0), (0, 0)],
            (420, 420),
        ),
        (
            {"impurity": "product-hinge", "alpha": 8},
            484,
            [(44, 0), (49, 49)],
            (440, 435),
        ),
        (
            {"impurity": "powers", "power": 2},
            1800,
            [(600, 0), (450, 450)],
            (1200, 1350),
        ),
        (
            {"impurity": "powers", "power": 3},
            162000,
            [(36000, 0), (20250, 20250)],
            (126000, 141750),
        ),
        (
            {"impurity": "powers", "power": 5},
            729000000,
            [(78000000, 0), (22781250, 22781250)],
            (651000000, 706218750),
        ),
        (
            {"impurity": "polynomial", "terms": [(1, {"a": 1, "b": 1})]},
            900,
            [(300, 0), (225, 225)],
            (600, 675),
        ),
        (
            # Powers(3) of two classes, written out.
            {
                "impurity": "polynomial",
                "terms": [(3, {"a": 2, "b": 1}), (3, {"a": 1, "b": 2})],
            },
            162000,
            [(36000, 0), (20250, 20250)],
            (126000, 141750),
        ),
    ],
)
def test_the_worked_example_measures_as_computed(options, whole, children, ratios):
    criterion = make_criterion(["a", "b"], **options)
    assert measure_impurity(criterion, np.array([30.0, 30.0])) == whole
    for parts, below, reduction in zip(PARTS.values(), children, ratios, strict=True):
        assert tuple(measure_impurity(criterion, part) for part in parts) == below
        ratio, _ = score_split(criterion, parts, np.ones(2))
        assert ratio == pytest.approx(1 / reduction, rel=1e-14)


@pytest.mark.parametrize(
    ("options", "choice"),
    [
        ({"impurity": "pairs"}, "t2"),
        ({"impurity": "hinged", "alpha": 8}, "t1"),  # a tie: the first test
        ({"impurity": "hinged", "alpha": 7}, "t2"),
        ({"impurity": "product-hinge", "alpha": 8}, "t1"),
        ({"impurity": "powers", "power": 2}, "t2"),
        ({"impurity": "powers", "power": 3}, "t2"),
        ({"impurity": "powers", "power": 5}, "t2"),
    ],
)
def test_the_worked_example_chooses_as_computed(options, choice):
    # (t1, t2, class) and how many objects there are of each.
    counts = {
        (0, 0, "a"): 15, (0, 1, "a"): 15, (0, 0, "b"): 5, (0, 1, "b"): 5,
        (1, 0, "b"): 10, (1, 1, "b"): 10,
    }  # fmt: skip
    rows = [key for key, n in counts.items() for _ in range(n)]
    table = askless.Table(
        [row[:2] for row in rows], [row[2] for row in rows], tests=["t1", "t2"]
    )
    tree = grow_greedy_tree(make_task(table), **options)
    assert tree.tests[tree.test[0]].name == choice


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ([], "must have terms. Got none"),
        ([(1, {"a": 2})], "at least two classes.* Got 1 in term 0"),
        ([(1, {"a": 1, "b": 1}), (1, {})], "at least two classes.* Got 0 in term 1"),
        ([(1, {"a": 1, "b": 0})], "at least two classes.* Got 1 in term 0"),
        ([(-1, {"a": 1, "b": 1})], "no coefficient is negative.* Got -1 in term 0"),
        ([(math.nan, {"a": 1, "b": 1})], "no coefficient is negative.* Got nan"),
        ([(1, {"a": 1, "b": -1})], "exponents are whole numbers.* Got -1 for 'b'"),
        ([(1, {"a": 1, "b": 1.5})], "exponents are whole numbers.* Got 1.5 for 'b'"),
        ([(1, {"a": 1, "c": 1})], "must name classes. Got 'c' in term 0"),
    ],
)
def test_polynomials_that_are_not_admissible_are_refused(terms, message):
    with pytest.raises(InvalidOptionError, match=message):
        make_criterion(["a", "b"], impurity="polynomial", terms=terms)


# The synthetic example of 1,024 objects.


@pytest.fixture(scope="module")
def synthetic():
    return make_task(make_synthetic_1024())


SYNTHETIC_ERRORS = [(0, 768), (1, 512), *((b, 4) for b in range(2, 10)), (10, 0)]


@pytest.mark.parametrize(("budget", "errors"), SYNTHETIC_ERRORS)
def test_the_synthetic_error_by_budget_is_as_printed(synthetic, budget, errors):
    tree, _ = quietly(solve_within_budget, synthetic, budget, grid=(0.01,))
    assert 1024 * error_of(tree) == pytest.approx(errors, abs=1e-9)
    assert tree.worst_cost <= budget
    if errors == 4:
        # Asking on would cost more and decide no better.
        assert (tree.n_leaves, tree.worst_cost) == (4, 2)


@pytest.mark.parametrize(
    ("max_errors", "cost"), [(768, 0), (767, 1), (512, 1), (4, 2), (3, 10), (0, 10)]
)
def test_the_synthetic_cost_by_error_is_as_printed(synthetic, max_errors, cost):
    tree, _ = quietly(solve_within_error, synthetic, max_errors / 1024, grid=(0.01,))
    assert tree.worst_cost == cost
    assert 1024 * error_of(tree) <= max_errors + 1e-9


def test_the_synthetic_curve_is_as_printed(synthetic):
    points = error_cost_curve(synthetic)
    best = {}
    for point in points:
        errors = 1024 * point.error
        best[point.worst_cost] = min(best.get(point.worst_cost, 1024), errors)
    assert best == pytest.approx(dict(SYNTHETIC_ERRORS), abs=1e-9)
    assert points[0].delta == 393216
    # The largest delta that still asks two tests, and a smaller one.
    assert min(p.delta for p in points if p.worst_cost == 2) == 255
    assert max(p.delta for p in points if p.worst_cost == 3) < 255


@pytest.mark.parametrize("power", [2, 3, 4, 5])
def test_powers_ask_test_1_then_test_2_of_the_synthetic_example(synthetic, power):
    tree = grow_greedy_tree(synthetic, impurity="powers", power=power)
    children = tree.branch_child[: tree.branch_start[1]]
    names = [tree.tests[tree.test[node]].name for node in [0, *children]]
    assert names == ["t1", "t2", "t2"]
    assert (tree.n_leaves, tree.depth) == (36, 10)


@pytest.mark.parametrize(("delta", "leaves", "depth"), [(255, 4, 2), (254, 8, 3)])
def test_one_synthetic_tree_is_cut_as_printed(synthetic, delta, leaves, depth):
    stopped = grow_greedy_tree(synthetic, delta=delta)
    assert (stopped.n_leaves, stopped.depth) == (leaves, depth)
    assert 1024 * error_of(stopped) == pytest.approx(4)
    point = next(p for p in error_cost_curve(synthetic) if p.delta <= delta)
    assert (point.worst_cost, 1024 * point.error) == (depth, pytest.approx(4))


@pytest.mark.parametrize("alpha", [1, 2, 4, 8])
def test_hinged_pairs_stop_after_two_tests_of_the_synthetic_example(synthetic, alpha):
    tree = grow_greedy_tree(synthetic, impurity="hinged", alpha=alpha)
    assert (tree.n_leaves, tree.depth) == (4, 2)
    assert 1024 * error_of(tree) == pytest.approx(4)
    children = tree.branch_child[: tree.branch_start[1]]
    names = [tree.tests[tree.test[node]].name for node in [0, *children]]
    assert names == ["t2", "t1", "t1"]


# One grown tree for every delta.


def random_tables(rng, n, **options):
    """Yield n random tables; draws that cannot be completed are drawn again."""
    made = 0
    while made < n:
        sizes = {"n_outcomes": int(rng.integers(2, 4)), "n_classes": 2}
        sizes["n_classes"] += int(rng.integers(3))
        sizes["costs"] = str(rng.choice(["unit", "integers", "uniform"]))
        sizes["prior"] = str(rng.choice(["uniform", "random"]))
        sizes["outcome_costs"] = bool(rng.integers(2))
        sizes |= {"n_cases": int(rng.integers(4, 8)), "n_tests": 4, **options}
        try:
            table = make_random_table(**sizes, random_state=int(rng.integers(2**31)))
        except AsklessError:
            continue
        made += 1
        yield table


RULES = [
    {},
    {"impurity": "powers", "power": 3},
    {"impurity": "powers", "power": 5},
    {"impurity": "hinged", "alpha": 1},
    {"impurity": "product-hinge", "alpha": 0.5},
    {"split": "expected"},
]


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("unknown", [0.0, 0.15])
def test_one_tree_cut_at_delta_is_the_tree_grown_to_delta(rng, rule, unknown):
    for table in random_tables(rng, 8, n_cases=20, n_tests=6, unknown=unknown):
        task = make_task(table)
        for point in error_cost_curve(task, **rule)[::3]:
            grown = grow_greedy_tree(task, delta=point.delta, **rule)
            assert grown.worst_cost == pytest.approx(point.worst_cost)
            assert error_of(grown) == pytest.approx(point.error)


def test_the_curve_cuts_the_same_tests(rng):
    for table in random_tables(rng, 10, n_cases=30, n_tests=6):
        task = make_task(table)
        whole = grow_by_criterion(task, make_criterion(task.classes), keeps_counts=True)
        pairs = np.array(
            [
                measure_impurity(
                    make_criterion(task.classes), whole.class_weights(node)
                )
                for node in range(whole.n_nodes)
            ]
        )
        for delta in np.unique(pairs):
            cut = prune_tree(whole, pairs <= delta)
            grown = grow_greedy_tree(task, delta=float(delta))
            assert cut.test.tolist() == grown.test.tolist()
            assert cut.branch_code.tolist() == grown.branch_code.tolist()


# Pruning one tree.


@st.composite
def random_trees(draw, max_depth=3):
    """Trees of every kind: repeated tests, groups, delays, leaves without weight."""
    table = draw(tables())
    return grow_at_random(
        draw(generators()),
        table.tests,
        table.classes,
        table.prices,
        mistakes=table.costs.mistake_matrix(table.classes),
        max_depth=max_depth,
    )


@given(tree=random_trees(), rng=generators())
def test_a_pruned_tree_is_the_tree_cut(tree, rng):
    is_cut = rng.random(tree.n_nodes) < 0.3
    pruned = prune_tree(tree, is_cut)
    pairs = [(0, 0)]
    seen = []
    while pairs:
        old, new = pairs.pop()
        seen.append(new)
        assert pruned.class_weights(new).tolist() == tree.class_weights(old).tolist()
        assert pruned.decision(new) == tree.decision(old)
        if is_cut[old] or tree.test[old] < 0:
            assert pruned.test[new] == -1
            continue
        assert pruned.test[new] == tree.test[old]
        assert pruned.cut[new] == tree.cut[old]
        assert pruned.default_branch[new] == tree.default_branch[old]
        before = slice(tree.branch_start[old], tree.branch_start[old + 1])
        after = slice(pruned.branch_start[new], pruned.branch_start[new + 1])
        assert pruned.branch_code[after].tolist() == tree.branch_code[before].tolist()
        children = zip(
            tree.branch_child[before], pruned.branch_child[after], strict=True
        )
        pairs.extend(children)
    assert sorted(seen) == list(range(pruned.n_nodes))


def test_pruning_nothing_changes_nothing_and_pruning_the_root_leaves_it(synthetic):
    tree = grow_greedy_tree(synthetic)
    same = prune_tree(tree, np.zeros(tree.n_nodes, dtype=bool))
    assert same.test.tolist() == tree.test.tolist()
    assert same.expected_cost == tree.expected_cost
    root = prune_tree(tree, np.arange(tree.n_nodes) == 0)
    assert (root.n_nodes, root.worst_cost) == (1, 0)


def every_pruning(tree):
    """Return (worst, expected, error) of each pruning, priced by the cost engine."""
    found = []
    for leaves in list_prunings(tree):
        pruned = prune_tree(tree, np.isin(np.arange(tree.n_nodes), list(leaves)))
        found.append((pruned.worst_cost, pruned.expected_cost, error_of(pruned)))
    return np.array(found)


def is_small(tree):
    def count(node):
        start, end = tree.branch_start[node], tree.branch_start[node + 1]
        below = [count(child) for child in tree.branch_child[start:end]]
        return 1 + math.prod(below) if below else 1

    return count(0) <= 300


def has_uneven_discounts(tree):
    """Whether a test may be bought only to make others cheaper."""
    prices = tree.prices
    return prices.delayed.any() and any(group is not None for group in prices.group)


@settings(max_examples=150)
@given(tree=random_trees())
def test_the_best_prunings_are_those_of_brute_force(tree):
    if not is_small(tree):
        return
    ways = every_pruning(tree)
    prunings = Prunings(tree)
    is_exact = not has_uneven_discounts(tree)
    for budget in np.unique(ways[:, 0]):
        found = prunings.least_error(budget)
        pruned = prune_tree(tree, found.is_cut)
        assert pruned.worst_cost <= budget * (1 + 1e-9)
        assert error_of(pruned) == pytest.approx(found.error, abs=1e-9)
        assert pruned.expected_cost == pytest.approx(found.expected_cost)
        fits = ways[ways[:, 0] <= budget * (1 + 1e-12)]
        assert found.error >= fits[:, 2].min() - 1e-9
        if is_exact:
            assert found.error == pytest.approx(fits[:, 2].min(), abs=1e-9)
    for max_error in [0.0, *np.unique(ways[:, 2])]:
        fits = ways[ways[:, 2] <= max_error + 1e-12]
        cheapest = find_cheapest(prunings, max_error)
        relaxed = prunings.relax(max_error)
        least = prunings.least_budget(max_error)
        if not len(fits):
            assert cheapest is None
            assert relaxed is None
            assert least is None
        elif is_exact:
            expected = fits[:, 1].min()
            assert cheapest.expected_cost == pytest.approx(expected, abs=1e-9)
            assert relaxed[1] <= expected * (1 + 1e-9) + 1e-9
            assert relaxed[0].expected_cost >= expected * (1 - 1e-9)
            assert relaxed[0].error <= max_error + 1e-9
            assert least == pytest.approx(fits[:, 0].min(), abs=1e-9)
        if cheapest is not None:
            pruned = prune_tree(tree, cheapest.is_cut)
            assert error_of(pruned) <= max_error + 1e-9
            assert pruned.expected_cost == pytest.approx(
                cheapest.expected_cost, abs=1e-9
            )


def test_delayed_tests_are_left_out_one_by_one_when_there_are_many():
    # Eight delayed tests of which each says something about the class.
    rng = np.random.default_rng(0)
    n = 200
    classes = rng.integers(0, 3, n)
    tests = [
        np.where(rng.random(n) < 0.4, classes, rng.integers(0, 3, n)) for _ in range(8)
    ]
    costs = rng.integers(1, 9, 8).astype(float).tolist()
    table = askless.Table(
        np.column_stack(tests).tolist(),
        classes.tolist(),
        costs=askless.Costs(costs, delayed=range(8)),
    ).merged()
    task = make_task(table)
    tree = grow_greedy_tree(task)
    assert len(tree.used_tests) == 8
    prunings = Prunings(tree)
    errors = []
    for budget in range(int(sum(costs)) + 1):
        found = prunings.least_error(budget)
        pruned = prune_tree(tree, found.is_cut)
        assert pruned.worst_cost <= budget
        assert error_of(pruned) == pytest.approx(found.error)
        errors.append(found.error)
    assert errors == sorted(errors, reverse=True)
    assert len(set(errors)) > 4


def test_leaving_out_the_opener_of_a_group_can_cost_more():
    # Both tests are bought together: 2 + 1. Without the first, the second costs 9.
    table = askless.Table(
        [[0, 0], [0, 1], [1, 0], [1, 1]],
        ["a", "b", "a", "c"],
        costs=askless.Costs(
            [2, 9], groups={"g": [0, 1]}, discounted={0: 1, 1: 1}, delayed=[0, 1]
        ),
    )
    tree = grow_greedy_tree(make_task(table))
    assert tree.worst_cost == 3
    prunings = Prunings(tree)
    for budget in (0, 2, 3, 9):
        assert (
            prune_tree(tree, prunings.least_error(budget).is_cut).worst_cost <= budget
        )


# Within a budget.


@settings(max_examples=40)
@given(table=tables(max_cases=6), share=st.floats(0, 1.1))
def test_a_budget_is_never_exceeded(table, share):
    task = make_task(table)
    budget = share * table.prices.cost_of_all()
    tree, name = quietly(solve_within_budget, task, budget, grid=SHORT_GRID)
    assert tree.worst_cost <= budget * (1 + 1e-9)
    assert name
    assert error_of(tree) <= wrong_weights(tree)[0] / tree.node_weight[0] + 1e-12 or (
        task.mistakes is not None
    )


@settings(max_examples=20)
@given(table=tables(max_cases=6))
def test_more_budget_never_gives_more_error(table):
    task = make_task(table)
    errors = []
    for share in (0.1, 0.3, 0.5, 0.7, 1.0):
        budget = share * table.prices.cost_of_all()
        tree, _ = quietly(solve_within_budget, task, budget, grid=SHORT_GRID)
        errors.append(error_of(tree))
    for more, less in pairwise(errors):
        assert less <= more + 1e-9


def test_no_tree_in_a_budget_beats_the_optimum_and_most_meet_it(rng):
    n_met = n_tried = 0
    for table in random_tables(rng, 15):
        optimal = np.array(brute_force_tradeoffs(table))
        for budget in np.unique(optimal[:, 0]).tolist():
            tree, _ = quietly(
                solve_within_budget, make_task(table), budget, grid=SHORT_GRID
            )
            least = optimal[optimal[:, 0] <= budget * (1 + 1e-12), 2].min()
            assert error_of(tree) >= least - 1e-9
            n_met += error_of(tree) <= least + 1e-9
            n_tried += 1
    assert n_met > 0.8 * n_tried


def test_tests_that_no_longer_fit_are_left_out():
    # The dear test tells everything, so every rule takes it first.
    table = askless.Table(
        [[0, 0], [1, 0], [2, 1], [3, 1]],
        ["a", "b", "c", "d"],
        costs=[2.01, 2],
        tests=["dear", "half"],
    )
    task = make_task(table)
    assert Member("pairs").grow(task).used_tests == [0]
    assert Member("pairs").grow(task, budget=2).used_tests == [1]
    tree, _ = solve_within_budget(task, 2)
    assert (tree.worst_cost, error_of(tree)) == (2, pytest.approx(0.5))


# Last tests.


@settings(max_examples=60)
@given(table=tables(unknown=False, max_cases=7), room=st.floats(0, 3))
def test_the_last_test_leaves_the_least_wrong(table, room):
    task = make_task(table)
    tree = grow_greedy_tree(task)
    last_tests = LastTests(task, tree)
    is_delayed = (tree.test >= 0) & table.prices.delayed[tree.test]
    for node in range(tree.n_nodes):
        if any(is_delayed[v] and v < node < tree.subtree_end[v] for v in range(node)):
            continue
        found = last_tests.find(node, room, 1e-13)
        ways = {}
        for test in range(table.n_tests):
            cuts = range(table.tests[test].n_levels) if table.is_ordered[test] else [-1]
            for cut in cuts:
                last = LastTest(test, cut, 0.0, 0.0)
                if len(last_tests.split(node, last)) > 1:
                    is_root = np.arange(tree.n_nodes) == node
                    grafted = graft_tests(last_tests, is_root, {node: last})
                    ways[test, cut] = grafted
        # Grafted at `node`, a test costs this much more than what was spent before.
        ways = {
            key: error_of(grafted)
            for key, grafted in ways.items()
            if grafted.spent[node:].max(initial=0, where=below(grafted, node)[node:])
            <= tree.spent[node] + room
        }
        if found is None:
            assert not ways
            continue
        assert ways[found.test, found.cut] == pytest.approx(min(ways.values()))


def below(tree, node):
    """Which nodes are below a node."""
    return (np.arange(tree.n_nodes) > node) & (
        np.arange(tree.n_nodes) < tree.subtree_end[node]
    )


def test_a_tree_with_last_tests_is_right_about_itself(rng):
    n_asked = 0
    for table in random_tables(rng, 12, n_cases=20, n_tests=5):
        task = make_task(table)
        budget = rng.uniform(0.3, 0.8) * table.prices.cost_of_all()
        tree, name = quietly(solve_within_budget, task, budget, grid=SHORT_GRID)
        n_asked += "last tests" in name
        leaf = tree.apply_codes(table.codes)
        is_wrong = tree.node_decision[leaf] != table.class_ids
        assert error_of(tree) == pytest.approx(table.prior[is_wrong].sum())
        paid = tree.charge_codes(table.codes)
        assert paid.max() == pytest.approx(tree.worst_cost)
        assert paid @ table.prior == pytest.approx(tree.expected_cost)
        weight = np.bincount(leaf, weights=table.prior, minlength=tree.n_nodes)
        leaves = tree.test < 0
        assert weight[leaves] == pytest.approx(tree.node_weight[leaves], abs=1e-12)
    assert n_asked > 0


@settings(max_examples=60)
@given(table=tables(max_cases=7), share=st.floats(0.05, 1))
def test_a_tree_grown_in_a_budget_keeps_to_it(table, share):
    if table.prices.delayed.any():
        return
    task = make_task(table)
    budget = share * table.prices.cost_of_all()
    worst = []
    for tree in grow_in_budget(task, Member("pairs"), budget):
        assert tree.worst_cost <= budget * (1 + 1e-9)
        again = Member("pairs").grow(task, budget=tree.worst_cost)
        assert again.test.tolist() == tree.test.tolist()
        worst.append(tree.worst_cost)
    assert worst == sorted(worst, reverse=True)
    assert len(set(worst)) == len(worst)


@given(table=tables(max_cases=7))
def test_a_budget_for_everything_changes_no_tree(table):
    task = make_task(table)
    for member in list_members(task, SHORT_GRID)[::3]:
        free = member.grow(task)
        paid = member.grow(task, budget=table.prices.full.sum() + 1e9)
        assert paid.test.tolist() == free.test.tolist()
        assert paid.weight.tolist() == free.weight.tolist()


def test_of_equal_errors_the_cheaper_on_average_wins():
    # Either test alone is right in three cases of four.
    table = askless.Table(
        [[0, 0], [0, 0], [1, 0], [1, 1]],
        ["a", "a", "b", "b"],
        costs=askless.Costs([2, 2], by_outcome={0: {0: 2, 1: 2}, 1: {0: 1, 1: 2}}),
    )
    tree, _ = solve_within_budget(make_task(table), 2)
    assert (error_of(tree), tree.worst_cost) == (0, 2)


@pytest.fixture
def lamp():
    return askless.Table(
        [[0, 0], [0, 1], [1, 1]],
        ["a", "b", "c"],
        costs=[2, 5],
        tests=["switch", "socket"],
    )


def test_a_budget_below_every_test_decides_at_once_and_says_so(lamp):
    with pytest.warns(
        DegeneratePolicyWarning,
        match="A budget should pay for a test. Got 1.5, .*'switch', costs 2, .*Raise",
    ):
        tree, _ = solve_within_budget(make_task(lamp), 1.5)
    assert (tree.n_nodes, tree.worst_cost) == (1, 0)


def test_the_price_named_is_that_of_the_dearest_outcome():
    table = askless.Table(
        [[0], [1]],
        ["a", "b"],
        costs=askless.Costs([4], by_outcome={0: {0: 1, 1: 3}}),
        tests=["scan"],
    )
    with pytest.warns(DegeneratePolicyWarning, match="'scan', costs 3"):
        solve_within_budget(make_task(table), 2)


def test_a_budget_that_pays_for_useless_tests_only_says_so():
    table = askless.Table(
        [[0, 0], [0, 1], [1, 0], [1, 1]],
        ["a", "b", "b", "a"],
        costs=[1, 1],
    )
    with pytest.warns(DegeneratePolicyWarning, match="tests that lower the error"):
        tree, _ = solve_within_budget(make_task(table), 1)
    assert tree.n_nodes == 1


def test_one_class_needs_no_budget_and_no_warning():
    table = askless.Table([[0], [1]], ["a", "a"])
    tree, _ = solve_within_budget(make_task(table), 0)
    assert tree.n_nodes == 1


def test_an_endless_budget_is_no_budget(lamp):
    tree, _ = solve_within_budget(make_task(lamp), math.inf)
    assert error_of(tree) == 0


def test_prices_that_add_up_with_a_rounding_error_still_fit():
    table = askless.Table(
        [[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]],
        ["a", "b", "c", "d"],
        costs=[0.1, 0.1, 0.1],
    )
    tree, _ = solve_within_budget(make_task(table), 0.3)
    assert error_of(tree) == 0


@pytest.mark.parametrize("budget", [-1, math.nan, -math.inf, "3", None])
def test_a_budget_that_is_none_is_refused(lamp, budget):
    with pytest.raises(InvalidOptionError, match=r"budget must be a number >= 0. Got"):
        solve_within_budget(make_task(lamp), budget)


@pytest.mark.parametrize("max_error", [-0.1, 1.1, math.nan, "3", None])
def test_an_error_that_is_no_share_is_refused(lamp, max_error):
    message = "max_error must be a share from 0 to 1. Got"
    with pytest.raises(InvalidOptionError, match=message):
        solve_within_error(make_task(lamp), max_error)
    with pytest.raises(InvalidOptionError, match=message):
        solve_within_budget(make_task(lamp), 3, max_error=max_error)


def test_a_budget_and_an_error_that_do_not_meet_are_explained(lamp):
    with pytest.raises(
        NoPolicyError,
        match=r"at most 3 in the worst case .*0.1 .*least error found .*0.3333. Raise",
    ):
        solve_within_budget(make_task(lamp), 3, max_error=0.1)


def test_a_budget_and_an_error_that_meet_are_kept(lamp):
    tree, _ = solve_within_budget(make_task(lamp), 3, max_error=0.34)
    assert (tree.worst_cost, error_of(tree)) == (2, pytest.approx(1 / 3))


# Within an error.


@settings(max_examples=40)
@given(
    table=tables(max_cases=6),
    max_error=st.floats(0, 1),
    objective=st.sampled_from(["worst", "expected"]),
)
def test_an_error_is_never_exceeded(table, max_error, objective):
    task = make_task(table, objective)
    try:
        tree, _ = quietly(solve_within_error, task, max_error, grid=SHORT_GRID)
    except NoPolicyError:
        # Mistakes that cost nothing make trees decide wrongly on purpose.
        assert table.indistinct or table.has_unknown or task.mistakes is not None
        return
    assert error_of(tree) <= max_error + 1e-9


@settings(max_examples=15)
@given(table=tables(max_cases=6), objective=st.sampled_from(["worst", "expected"]))
def test_more_error_allowed_never_costs_more(table, objective):
    task = make_task(table, objective)
    costs = []
    for max_error in (0.0, 0.05, 0.1, 0.2, 0.3, 0.5):
        try:
            tree, _ = quietly(solve_within_error, task, max_error, grid=SHORT_GRID)
        except NoPolicyError:
            costs.append(math.inf)
            continue
        cost = tree.worst_cost if objective == "worst" else tree.expected_cost
        costs.append(cost)
    for dearer, cheaper in pairwise(costs):
        assert cheaper <= dearer * (1 + 1e-9)


@pytest.mark.parametrize("objective", ["worst", "expected"])
def test_no_tree_within_an_error_beats_the_optimum(rng, objective):
    column = 0 if objective == "worst" else 1
    for table in random_tables(rng, 10):
        optimal = np.array(brute_force_tradeoffs(table))
        for max_error in (0.0, 0.1, 0.25):
            least = optimal[optimal[:, 2] <= max_error + 1e-12, column].min()
            task = make_task(table, objective)
            tree, _ = quietly(solve_within_error, task, max_error, grid=SHORT_GRID)
            cost = tree.worst_cost if objective == "worst" else tree.expected_cost
            assert cost >= least * (1 - 1e-9)


def test_allowing_an_error_of_never_testing_says_so(lamp):
    with pytest.warns(
        DegeneratePolicyWarning, match="Got 0.7, and always deciding 'a' errs in 0.6667"
    ):
        tree, _ = solve_within_error(make_task(lamp), 0.7)
    assert tree.n_nodes == 1


@pytest.mark.parametrize("objective", ["worst", "expected"])
def test_cases_that_nothing_parts_limit_the_error(objective):
    table = askless.Table([[0], [0], [1]], ["a", "b", "c"], prior=[1, 2, 1])
    task = make_task(table, objective)
    with pytest.raises(
        NoPolicyError, match=r"0.1 .*any policy reaches is 0.25, .*Raise"
    ):
        solve_within_error(task, 0.1)
    tree, _ = solve_within_error(task, 0.25)
    assert error_of(tree) == pytest.approx(0.25)


def test_unknown_outcomes_limit_the_error_that_is_found():
    table = askless.Table([[0], [None], [1]], ["a", "b", "c"])
    with pytest.raises(NoPolicyError, match=r"least error found is 0.3333.*unknown"):
        solve_within_error(make_task(table), 0.1)


def test_mistakes_that_cost_nothing_limit_the_error_that_is_found():
    # To take b for a costs nothing, so a is always the safe decision.
    table = askless.Table(
        [[0], [1]],
        ["a", "b"],
        costs=askless.Costs([1], mistakes=[[0, 9], [0, 0]]),
    )
    with pytest.raises(NoPolicyError, match=r"least error found is 0.5.* of mistakes"):
        solve_within_error(make_task(table), 0.1)


@pytest.mark.parametrize("objective", ["worst", "expected"])
def test_the_cheapest_tree_for_an_error_is_found(objective):
    # One case in ten needs the dear test.
    table = askless.Table(
        [[0, 0], [1, 0], [1, 1]],
        ["a", "b", "c"],
        costs=[1, 20],
        prior=[0.5, 0.4, 0.1],
    )
    task = make_task(table, objective)
    cheap, _ = solve_within_error(task, 0.1)
    whole, _ = solve_within_error(task, 0.09)
    assert (cheap.worst_cost, cheap.expected_cost) == (1, pytest.approx(1))
    assert whole.worst_cost == 21
