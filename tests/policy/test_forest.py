"""Forests: many trees, one bill; walked compiled as the plain twin walks them."""

import dataclasses
import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import askless
from askless.exceptions import InvalidPolicyError
from askless.policy import Forest, Tree
from askless.problem import PriceList, Test
from askless.testing import check_policy, plain_evaluate, plain_run
from tests.policy.examples import make_example
from tests.strategies import (
    forest_at_random,
    generators,
    number_trees,
    random_rows,
    tables_with_policies,
    tree_of,
)


def codes_of_rows(policy, rows):
    columns = [
        [test.code_of(value) for value in rows[test.name]] for test in policy.tests
    ]
    return list(zip(*columns, strict=True))


def check_against_twin(forest, rows, X):
    decided, costs = forest.predict_and_cost(X)
    assert decided.tolist() == forest.predict(X).tolist()
    assert costs.tolist() == forest.cost(X).tolist()
    shares = forest.predict_proba(X)
    for row, codes in enumerate(codes_of_rows(forest, rows)):
        run = plain_run(forest, codes)
        assert decided[row] == forest.classes[run.decision]
        assert costs[row] == run.cost
        total = sum(run.class_weights)
        if total:
            assert np.allclose(shares[row], np.array(run.class_weights) / total)


@settings(max_examples=150)
@given(drawn=tables_with_policies(kinds=("forest",)), rng=generators())
def test_a_forest_keeps_the_promises_of_a_policy(drawn, rng):
    _, forest = drawn
    rows = random_rows(rng, forest.tests, 5)
    check_policy(forest, rows)
    check_against_twin(forest, rows, rows)


@settings(max_examples=60)
@given(drawn=tables_with_policies(kinds=("forest",), max_cases=5, max_unknown=4))
def test_a_forest_is_evaluated_exactly_on_a_table(drawn):
    table, forest = drawn
    found, plain = askless.evaluate(forest, table), plain_evaluate(forest, table)
    assert np.isclose(found.expected_cost, plain.expected_cost)
    assert np.isclose(found.worst_cost, plain.worst_cost)
    assert np.isclose(found.error, plain.error)


@settings(max_examples=150)
@given(
    forest=number_trees(grow=forest_at_random, max_tests=80)
    | number_trees(grow=forest_at_random, prices=(0.0, 0.25, 1.0, 3.0, 7.5)),
    rng=generators(),
    dtype=st.sampled_from([np.float64, np.float32]),
)
def test_matrices_of_numbers_are_walked_without_a_branch(forest, rng, dtype):
    rows = random_rows(rng, forest.tests, int(rng.integers(1, 30)))
    X = np.array([rows[test.name] for test in forest.tests], dtype=dtype).T
    rows = {test.name: X[:, i].tolist() for i, test in enumerate(forest.tests)}
    assert forest._rows.walker.is_fast
    check_against_twin(forest, rows, np.ascontiguousarray(X))
    check_against_twin(forest, rows, rows)
    leaves = forest.apply(X)
    for index in range(forest.n_trees):
        start = forest.tree_start[index]
        alone = forest.tree(index).apply(X)
        assert (leaves[:, index] - start).tolist() == alone.tolist()


def test_blocks_of_rows_and_threads_do_not_matter(rng):
    tests = tuple(Test(f"x{i}", "number", cuts=(0.0, 1.0, 2.0)) for i in range(70))
    prices = PriceList.plain(rng.choice([0.1, 0.2, 0.7], len(tests)))
    forest = forest_at_random(
        rng, tests, ("a", "b", "c"), prices, max_depth=6, cuts_only=True
    )
    X = rng.normal(1, 1, (33_000, len(tests)))
    decided, costs = forest.predict_and_cost(X)
    again, paid = forest.predict_and_cost(X, n_jobs=2)
    assert decided.tolist() == again.tolist()
    assert costs.tolist() == paid.tolist()
    one_by_one = [forest.cost(X[i : i + 1])[0] for i in range(0, 33_000, 997)]
    assert costs[::997].tolist() == one_by_one


def forest_of_paths(paths, costs):
    """Return a forest whose trees ask the given tests in a row, on every branch."""
    tests = tuple(Test(f"f{i}", "category", outcomes=(0, 1)) for i in range(len(costs)))
    leaf = {"test": -1, "cut": -1, "codes": [], "children": [], "default": -1}
    trees = []
    for first, zero, one in paths:
        # The first test, then on either outcome one more test or none.
        nodes = [
            {"test": first, "cut": -1, "codes": [0, 1], "children": [], "default": 0}
        ]
        for test in (zero, one):
            nodes[0]["children"].append(len(nodes))
            if test is None:
                nodes.append(dict(leaf))
                continue
            at = len(nodes)
            nodes.append(
                {"test": test, "cut": -1, "codes": [0, 1], "default": 0,
                 "children": [at + 1, at + 2]}
            )  # fmt: skip
            nodes += [dict(leaf), dict(leaf)]
        for node in nodes:
            node["weights"] = {0: 1.0, 1: 1.0}
        trees.append(tree_of(nodes, tests, ("no", "yes"), PriceList.plain(costs)))
    return Forest.from_trees(trees)


def test_a_case_pays_once_over_the_whole_forest():
    # Two examples touch {0, 1} and {0} in the first tree, {1, 2} and {0, 3} in the
    # second; the first row shows f0 = 0 and f1 = 0, the second f0 = 1.
    forest = forest_of_paths([(0, 1, None), (1, 2, None)], [1.0, 2.0, 4.0, 8.0])
    second = forest_of_paths([(0, 1, None), (0, 3, 3)], [1.0, 2.0, 4.0, 8.0])
    X = [[0, 0, 0, 0], [1, 0, 0, 0]]
    assert forest.first_trees(1).cost(X).tolist() == [3.0, 1.0]
    assert forest.first_trees(1).cost(X).mean() == 2.0
    costs = [forest.cost(X)[0], second.cost(X)[1]]
    assert costs == [7.0, 9.0]
    assert np.mean(costs) == 8.0


@settings(max_examples=60)
@given(drawn=tables_with_policies(kinds=("forest",)), rng=generators())
def test_more_trees_never_cost_less_nor_more_than_apart(drawn, rng):
    _, forest = drawn
    rows = random_rows(rng, forest.tests, 4)
    if forest.prices.engine.has_groups or forest.prices.engine.has_delays:
        return
    costs = [forest.first_trees(n + 1).cost(rows) for n in range(forest.n_trees)]
    assert all(np.all(b >= a) for a, b in itertools.pairwise(costs))
    apart = sum(forest.tree(i).cost(rows) for i in range(forest.n_trees))
    assert np.all(costs[-1] <= apart * (1 + 1e-12))
    assert np.all(costs[-1] <= forest.prices.cost_of_all() * (1 + 1e-12))


def leaf_of(weights, tests=(), classes=("0", "1")):
    nodes = [
        {"test": -1, "cut": -1, "codes": [], "children": [], "default": -1,
         "weights": dict(enumerate(weights))}
    ]  # fmt: skip
    return tree_of(nodes, tests, classes, PriceList.plain([]))


def test_leaf_counts_are_added_over_the_trees():
    leaves = [leaf_of([7.0, 3.0]), leaf_of([0.0, 10.0])]
    counts = Forest.from_trees(leaves, voting="counts")
    X = {"none": [1]}
    assert counts.predict_proba(X)[0, 1] == 0.65
    assert counts.predict(X).tolist() == ["1"]
    assert counts.count_leaves(X).tolist() == [[7.0, 13.0]]
    votes = Forest.from_trees(leaves)
    assert votes.predict_proba(X).tolist() == [[0.5, 0.5]]
    # A tie of votes goes to the first class.
    assert votes.predict(X).tolist() == ["0"]


def test_a_session_asks_what_the_first_open_tree_needs():
    forest = forest_of_paths([(0, 1, None), (1, 2, None)], [1.0, 2.0, 4.0, 8.0])
    session = forest.start()
    assert session.test == "f0"
    session.answer(0)
    assert session.test == "f1"
    session.answer(0)
    # The second tree knows f1 already, and only needs f2.
    assert session.test == "f2"
    session.skip()
    assert session.test is None
    assert session.decision == "no"
    assert session.spent == 3.0
    session.undo()
    assert session.test == "f2"


def test_a_forest_survives_pickling():
    forest = make_example("forest")
    rows = random_rows(np.random.default_rng(1), forest.tests, 9)
    forest.predict(rows)
    again = pickle.loads(pickle.dumps(forest))
    assert again.predict_proba(rows).tolist() == forest.predict_proba(rows).tolist()


def test_bad_forests_are_refused_in_words():
    tree = make_example("numbers")
    with pytest.raises(InvalidPolicyError, match="must have a tree"):
        Forest.from_trees([])
    with pytest.raises(InvalidPolicyError, match="same tests and classes"):
        Forest.from_trees([tree, make_example("groups")])
    with pytest.raises(InvalidPolicyError, match="'votes' or 'counts'"):
        Forest.from_trees([tree], voting="mean")
    forest = Forest.from_trees([tree, tree])
    with pytest.raises(InvalidPolicyError, match="from 1 to 2 trees"):
        forest.first_trees(0)
    for starts in ([0], [0, 1, 1, forest.n_nodes], [1, forest.n_nodes], [0, 3]):
        wrong = np.array(starts, dtype=np.int32)
        nodes = dataclasses.replace(forest.nodes, tree_start=wrong)
        with pytest.raises(InvalidPolicyError, match="Trees must follow one another"):
            Forest(tree.tests, tree.classes, tree.prices, nodes=nodes)


def test_a_tree_of_a_forest_is_the_tree_it_was_made_of():
    trees = [make_example("numbers")] * 2
    forest = Forest.from_trees(trees)
    assert isinstance(forest.tree(1), Tree)
    rows = random_rows(np.random.default_rng(3), forest.tests, 20)
    assert forest.tree(1).apply(rows).tolist() == trees[1].apply(rows).tolist()
    assert "Tree 2 of 2" in askless.show(forest)
    assert "... 1 more trees" in askless.show(forest, max_trees=1)
