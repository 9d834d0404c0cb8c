"""Nodes: one immutable layout under trees, forests, files and growers."""

import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import given

from askless.exceptions import InvalidPolicyError
from askless.policy import Forest, Nodes, NodesBuilder, Tree
from askless.problem import PriceList, Test
from tests.policy.examples import make_example
from tests.strategies import forest_at_random, generators, grow_at_random

TESTS = (
    Test("lamp", "category", outcomes=("dark", "dim")),
    Test("volts", "number", cuts=(5.0, 8.0)),
)
PRICES = PriceList.plain([1.0, 3.0])


def two_trees():
    """Return  lamp -dark-> volts -low-> 0, -high-> 1;  -dim-> 1  and a leaf."""
    builder = NodesBuilder()
    builder.add_test(0, [0, 1], {0: 1.0, 1: 2.0}, default=1)
    builder.add_test(1, [0, 1], {0: 1.0, 1: 1.0}, default=0, cut=0)
    builder.add_leaf({0: 1.0})
    builder.add_leaf({1: 1.0})
    builder.add_leaf({1: 1.0})
    builder.add_leaf({0: 4.0})
    return builder.build()


def same(a, b):
    """Return whether nodes are the same, type for type."""
    ours, theirs = a.arrays(), b.arrays()
    return list(ours) == list(theirs) and all(
        ours[name].dtype == theirs[name].dtype
        and ours[name].tolist() == theirs[name].tolist()
        for name in ours
    )


def test_a_builder_hangs_each_node_on_the_first_open_branch():
    nodes = two_trees()
    assert (nodes.n_nodes, nodes.n_trees) == (6, 2)
    assert nodes.tree_start.tolist() == [0, 5, 6]
    assert nodes.test.tolist() == [0, 1, -1, -1, -1, -1]
    assert nodes.cut.tolist() == [-1, 0, -1, -1, -1, -1]
    assert nodes.default_branch.tolist() == [1, 0, -1, -1, -1, -1]
    assert nodes.branch_start.tolist() == [0, 2, 4, 4, 4, 4, 4]
    assert nodes.branch_code.tolist() == [0, 1, 0, 1]
    assert nodes.branch_child.tolist() == [1, 4, 2, 3]
    assert nodes.weight_start.tolist() == [0, 2, 4, 5, 6, 7, 8]
    assert nodes.weight_class.tolist() == [0, 1, 0, 1, 0, 1, 1, 0]
    assert nodes.weight.tolist() == [1, 2, 1, 1, 1, 1, 1, 4]
    assert nodes.decision is None
    Forest(TESTS, ("a", "b"), PRICES, nodes=nodes)


def test_the_shape_is_read_off_the_arrays():
    nodes = two_trees()
    assert nodes.used_tests == [0, 1]
    assert nodes.parent.tolist() == [-1, 0, 1, 1, 0, -1]
    assert nodes.parent_code.tolist() == [-1, 0, 0, 1, 1, -1]
    assert nodes.subtree_end.tolist() == [5, 4, 3, 4, 5, 6]
    assert nodes.depth.tolist() == [0, 1, 2, 2, 1, 0]
    assert nodes.total_weight.tolist() == [3, 2, 1, 1, 1, 4]
    assert nodes.children(0) == [1, 4]
    assert nodes.tests_below(0) == [0, 1]
    assert nodes.tests_below(5) == []


def test_a_branch_that_leads_nowhere_is_refused():
    builder = NodesBuilder()
    builder.add_test(0, [0, 1], {0: 1.0}, default=0)
    builder.add_leaf({0: 1.0})
    with pytest.raises(InvalidPolicyError, match="Got 1 that lead nowhere, of 2"):
        builder.build()
    assert builder.n_nodes == 2


def test_no_trees_cannot_be_joined():
    with pytest.raises(InvalidPolicyError, match=r"must have a tree\. Got none"):
        Nodes.join([])


def test_a_tree_has_one_root():
    with pytest.raises(InvalidPolicyError, match=r"one root\. Got the nodes of 2"):
        Tree(TESTS, ("a", "b"), PRICES, nodes=two_trees())


def test_nothing_can_be_changed_not_even_after_pickling():
    nodes = two_trees().decide()
    again = pickle.loads(pickle.dumps(nodes))
    assert same(again, nodes)
    assert pickle.loads(pickle.dumps(two_trees())).decision is None
    for made in (nodes, again):
        with pytest.raises(dataclasses.FrozenInstanceError):
            made.test = made.cut
        for name, array in made.arrays().items():
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0
            assert getattr(made, name) is array


def test_arrays_of_a_grower_are_taken_without_a_copy():
    arrays = two_trees().take_trees(0, 1).arrays()
    del arrays["tree_start"]
    nodes = Nodes.from_arrays(arrays)
    assert nodes.tree_start.tolist() == [0, 5]
    assert nodes.tree_start.dtype == np.int32
    assert all(getattr(nodes, name) is array for name, array in arrays.items())


def test_decisions_are_worked_out_once_and_follow_the_mistakes():
    nodes = two_trees()
    assert nodes.decide().decision.tolist() == [1, 0, 0, 1, 1, 0]
    mistakes = np.array([[0.0, 9.0], [1.0, 0.0]])
    decided = nodes.decide(mistakes)
    assert decided.decision.tolist() == [0, 0, 0, 1, 1, 0]
    assert decided.decide() is decided


def test_decisions_are_joined_if_all_have_them():
    nodes = two_trees()
    assert Nodes.join([nodes.decide(), nodes]).decision is None
    joined = Nodes.join([nodes.decide(), nodes.decide()])
    assert joined.decision.tolist() == [1, 0, 0, 1, 1, 0] * 2
    assert Nodes.join([nodes]) is nodes


@given(rng=generators())
def test_trees_that_were_joined_come_apart_again(rng):
    base = make_example("groups")
    parts = [
        grow(rng, base.tests, base.classes, base.prices).nodes
        for grow in (grow_at_random, forest_at_random, grow_at_random)
    ]
    joined = Nodes.join(parts)
    first = 0
    for part in parts:
        assert same(joined.take_trees(first, first + part.n_trees), part)
        first += part.n_trees
    assert first == joined.n_trees
    assert same(joined.take_trees(0, first), joined)
    Forest(base.tests, base.classes, base.prices, nodes=joined)


@given(rng=generators())
def test_a_builder_gives_the_tree_that_it_copies(rng):
    base = make_example("numbers")
    nodes = forest_at_random(rng, base.tests, base.classes, base.prices).nodes
    builder = NodesBuilder()
    for node in range(nodes.n_nodes):
        labels, weights = nodes.weights_at(node)
        listed = dict(zip(labels.tolist(), weights.tolist(), strict=True))
        start, end = nodes.branch_start[node : node + 2]
        if nodes.test[node] < 0:
            builder.add_leaf(listed)
        else:
            builder.add_test(
                nodes.test[node], nodes.branch_code[start:end], listed,
                default=nodes.default_branch[node], cut=nodes.cut[node],
            )  # fmt: skip
    assert same(builder.build(), dataclasses.replace(nodes, decision=None))


@given(rng=generators())
def test_depths_and_subtrees_are_those_of_a_plain_walk(rng):
    base = make_example("outcome prices")
    nodes = forest_at_random(
        rng, base.tests, base.classes, base.prices, max_depth=6
    ).nodes
    depth, end = [0] * nodes.n_nodes, list(range(1, nodes.n_nodes + 1))
    for node in range(nodes.n_nodes):
        for child in nodes.children(node):
            depth[child] = depth[node] + 1
    for node in reversed(range(nodes.n_nodes)):
        end[node] = max([end[node], *(end[child] for child in nodes.children(node))])
    assert nodes.depth.tolist() == depth
    assert nodes.subtree_end.tolist() == end
