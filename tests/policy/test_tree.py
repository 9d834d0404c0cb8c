"""A tree is checked when it is made: arrays that do not fit together are refused."""

import numpy as np
import pytest
from hypothesis import given

from askless.exceptions import InvalidPolicyError
from askless.policy import Nodes, Tree, decide_classes
from askless.problem import PriceList, Test
from tests.strategies import tables_with_policies

TESTS = (
    Test("lamp", "category", outcomes=("dark", "dim")),
    Test("volts", "number", cuts=(5.0, 8.0)),
)


def parts(**changes):
    """Return the arrays of  lamp -dark-> volts -low-> 0, -high-> 1;  -dim-> 1."""

    def ints(*values):
        return np.array(values, dtype=np.int32)

    arrays = {
        "test": ints(0, 1, -1, -1, -1),
        "cut": ints(-1, 0, -1, -1, -1),
        "branch_start": ints(0, 2, 4, 4, 4, 4),
        "branch_code": ints(0, 1, 0, 1),
        "branch_child": ints(1, 4, 2, 3),
        "default_branch": ints(1, 0, -1, -1, -1),
        "weight_start": np.array([0, 2, 4, 5, 6, 7]),
        "weight_class": ints(0, 1, 0, 1, 0, 1, 1),
        "weight": np.array([1.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0]),
    }
    for name, value in changes.items():
        dtype = arrays[name].dtype if name in arrays else np.int32
        is_list = isinstance(value, list)
        arrays[name] = np.array(value, dtype=dtype) if is_list else value
    return arrays


def tree(**changes):
    nodes = Nodes.from_arrays(parts(**changes))
    return Tree(TESTS, ("a", "b"), PriceList.plain([1.0, 3.0]), nodes=nodes)


def test_the_tree_says_what_it_is():
    made = tree()
    assert (made.n_nodes, made.n_leaves, made.depth) == (5, 3, 2)
    assert made.used_tests == [0, 1]
    assert made.parent.tolist() == [-1, 0, 1, 1, 0]
    assert made.parent_code.tolist() == [-1, 0, 0, 1, 1]
    assert made.subtree_end.tolist() == [5, 4, 3, 4, 5]
    assert made.node_depth.tolist() == [0, 1, 2, 2, 1]
    assert made.spent.tolist() == [0, 1, 4, 4, 1]
    assert made.node_weight.tolist() == [3, 2, 1, 1, 1]
    assert made.thresholds.tolist()[1] == 5.0
    assert made.node_decision.tolist() == [1, 0, 0, 1, 1]
    assert made.expected_cost == 3.0
    assert made.worst_cost == 4.0
    assert made.tests_ahead(0) == [0, 1]
    assert repr(made) == "Tree(5 nodes, depth 2, expected cost 3, worst 4)"


def test_its_arrays_cannot_be_changed():
    made = tree()
    for name in parts():
        with pytest.raises(ValueError, match="read-only"):
            getattr(made, name)[0] = 0
    with pytest.raises(ValueError, match="read-only"):
        made.node_decision[0] = 0


LIES = {
    "not an array": ({"test": (0, 1)}, "test must be a one-dimensional array of int32"),
    "wrong type": (
        {"cut": np.zeros(5)},
        r"cut must be a one-dimensional array of int32\. Got float64",
    ),
    "strided": (
        {"branch_code": np.zeros(8, dtype=np.int32)[::2]},
        "branch_code must be contiguous",
    ),
    "no nodes": (
        {"test": [], "cut": [], "default_branch": []},
        "A tree must have a root",
    ),
    "lengths": ({"cut": [-1, 0]}, r"an entry for each node\. Got the lengths \[2, 5\]"),
    "codes": ({"branch_code": [0, 1, 0]}, "Every branch must have a code and a child"),
    "weights": (
        {"weight": [1.0]},
        "Every weight must have a class. Got 1 weights and 7",
    ),
    "starts": (
        {"branch_start": [0, 2, 1, 4, 4, 4]},
        "The branches of the nodes must follow one another, from 0 to 4",
    ),
    "short starts": ({"weight_start": [0, 7]}, "The weights of the nodes must follow"),
    "test out of range": (
        {"test": [2, 1, -1, -1, -1]},
        r"one of 2 tests, or be a leaf\. Got test 2 at node 0",
    ),
    "test below -1": ({"test": [0, 1, -2, -1, -1]}, "Got test -2 at node 2"),
    "leaf with branches": (
        {"test": [0, -1, -1, -1, -1]},
        r"A leaf must have no branches, .* Got 2 branches at node 1",
    ),
    "test without branches": (
        {"test": [0, 1, 1, -1, -1]},
        r"and any other node some\. Got 0 branches at node 2",
    ),
    "default": (
        {"default_branch": [2, 0, -1, -1, -1]},
        r"The default branch must be one of the node's own.* Got 2 at node 0",
    ),
    "default of a leaf": (
        {"default_branch": [1, 0, 0, -1, -1]},
        r"a leaf has -1\. Got 0 at node 2",
    ),
    "cycle": (
        {"branch_child": [0, 4, 2, 3]},
        r"preorder: .* Got a branch to node 0 where node 1 should come",
    ),
    "two parents": (
        {"branch_child": [1, 2, 2, 3]},
        "Got a branch to node 2 where node 4",
    ),
    "order": ({"branch_child": [4, 1, 2, 3]}, "Got a branch to node 4 where node 1"),
    "nowhere": ({"branch_child": [1, 9, 2, 3]}, "Got a branch to node 9 where node 4"),
    "negative child": (
        {"branch_child": [1, -4, 2, 3]},
        "Got a branch to node -4 where",
    ),
    "cut not there": (
        {"cut": [-1, 3, -1, -1, -1]},
        r"cut 'volts' only where the test has a cut\. Got cut 3 of 2 at node 1",
    ),
    "cut of a category": (
        {"cut": [0, 0, -1, -1, -1]},
        "A node may cut 'lamp' only where",
    ),
    "cut below -1": (
        {"cut": [-2, 0, -1, -1, -1]},
        "A cut must be >= 0, or -1 for none",
    ),
    "cut at a leaf": ({"cut": [-1, 0, 0, -1, -1]}, "A leaf must have no cut"),
    "branches of a cut": (
        {"branch_code": [0, 1, 0, 2]},
        r"two branches, 0 and 1\. Got \[0, 2\] at node 1",
    ),
    "missing ones down": (
        {"cut": [-1, 2, -1, -1, -1]},
        r"must send the missing ones up\. Got the default 0 at node 1",
    ),
    "branch out of range": (
        {"branch_code": [0, 3, 0, 1]},
        r"Branches of 'lamp' must stand for its outcomes, ascending\. Got \[0, 3\]",
    ),
    "branch twice": (
        {"branch_code": [1, 1, 0, 1]},
        r"ascending\. Got \[1, 1\] at node 0",
    ),
    "negative branch": ({"branch_code": [-1, 1, 0, 1]}, r"ascending\. Got \[-1, 1\]"),
    "class out of range": (
        {"weight_class": [0, 2, 0, 1, 0, 1, 1]},
        "Weights must be of one of 2 classes",
    ),
    "negative weight": (
        {"weight": [1.0, 2.0, 1.0, 1.0, -1.0, 1.0, 1.0]},
        "Weights must be finite and >= 0",
    ),
    "NaN weight": (
        {"weight": [1.0, 2.0, 1.0, 1.0, np.nan, 1.0, 1.0]},
        "Weights must be finite and >= 0",
    ),
    "infinite weight": (
        {"weight": [1.0, 2.0, 1.0, 1.0, np.inf, 1.0, 1.0]},
        "Weights must be finite and >= 0",
    ),
    "huge weights": ({"weight": [1e308] * 7}, r"must add up to at most 1e\+300"),
    "no weight at the leaves": (
        {"weight": [1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0]},
        "Some leaf must have a weight, or costs have no mean",
    ),
    "class twice": (
        {"weight_class": [0, 0, 0, 1, 0, 1, 1]},
        "A node must list each class once, ascending",
    ),
    "classes out of order": (
        {"weight_class": [1, 0, 0, 1, 0, 1, 1]},
        "A node must list each class once, ascending",
    ),
    "node without weights": (
        {"weight_start": [0, 2, 4, 5, 7, 7]},
        r"how much of each class gets there\. Got no weights at node 4",
    ),
    "decision out of range": (
        {"decision": [0, 0, 0, 0, 2]},
        "Every node must decide one of 2 classes",
    ),
    "negative decision": (
        {"decision": [0, 0, 0, 0, -1]},
        "must decide one of 2 classes",
    ),
    "too few decisions": ({"decision": [0, 0]}, "must decide one of 2 classes"),
}


@pytest.mark.parametrize("lie", LIES)
def test_arrays_that_are_no_tree_are_refused(lie):
    changes, message = LIES[lie]
    if lie == "node without weights":
        changes = {**changes, "weight_class": [0, 1, 0, 1, 0, 0, 1]}
    with pytest.raises(InvalidPolicyError, match=message):
        tree(**changes)


def test_too_many_branches_for_the_nodes_are_refused():
    with pytest.raises(InvalidPolicyError, match=r"must have 4 branches\. Got 5"):
        tree(
            branch_start=[0, 3, 5, 5, 5, 5],
            branch_code=[0, 1, 2, 0, 1],
            branch_child=[1, 4, 4, 2, 3],
        )


def test_a_branch_may_stand_for_missing():
    made = tree(branch_code=[0, 2, 0, 1])
    rows = {"lamp": ["dark", "dim", None], "volts": [5.0, 5.0, 5.0]}
    assert made.apply(rows).tolist() == [2, 4, 4]


def test_a_node_may_part_numbers_from_missing_ones():
    made = tree(cut=[-1, 2, -1, -1, -1], default_branch=[1, 1, -1, -1, -1])
    assert made.thresholds[1] == np.inf
    rows = {"lamp": ["dark"] * 4, "volts": [-1.0, np.inf, np.nan, None]}
    assert made.apply(rows).tolist() == [2, 2, 3, 3]


def test_a_node_of_little_weight_keeps_it():
    made = tree(weight=[1e16, 1.0, 1e16, 1.0, 1e16, 1.0, 1e-20])
    assert made.node_weight.tolist()[3:] == [1.0, 1e-20]


def test_prices_and_mistakes_must_fit():
    nodes = tree().nodes

    def make(prices, mistakes=None):
        return Tree(TESTS, ("a", "b"), prices, mistakes=mistakes, nodes=nodes)

    with pytest.raises(InvalidPolicyError, match="Got 1 prices for 2 tests"):
        make(PriceList.plain([1.0]))
    for price in (-1.0, np.nan, np.inf, 1e301):
        with pytest.raises(
            InvalidPolicyError, match="Prices must be >= 0, and all tog"
        ):
            make(PriceList.plain([1.0, price]))
    dearer = PriceList(
        np.array([1.0, 3.0]), np.array([1.0, 4.0]), (None, None), np.zeros(2, bool)
    )
    with pytest.raises(InvalidPolicyError, match="Got 4 for test 1, which costs 3"):
        make(dearer)
    plain = PriceList.plain([1.0, 3.0])
    with pytest.raises(
        InvalidPolicyError, match=r"mistakes must have the shape \(2, 2\)"
    ):
        make(plain, np.zeros((3, 3)))
    for wrong in (np.eye(2), np.full((2, 2), np.nan), [[0, -1], [1, 0]]):
        with pytest.raises(InvalidPolicyError, match="mistakes must be from 0 to"):
            make(plain, np.array(wrong, dtype=np.float64))


def test_names_and_classes_must_be_different():
    plain, nodes = PriceList.plain([1.0, 3.0]), tree().nodes
    with pytest.raises(InvalidPolicyError, match="Tests must have different names"):
        Tree((TESTS[0], TESTS[0]), ("a", "b"), plain, nodes=nodes)
    with pytest.raises(InvalidPolicyError, match="none of them empty"):
        Tree((Test("", "number"), TESTS[1]), ("a", "b"), plain, nodes=nodes)
    for classes in ((), ("a", "a"), (1, True)):
        with pytest.raises(InvalidPolicyError, match="Classes must be different, and"):
            Tree(TESTS, classes, plain, nodes=nodes)


def test_codes_beyond_the_tests_are_refused_before_they_are_followed():
    made = tree()
    ok = np.array([[0, 3], [1, 4]], dtype=np.uint8)
    assert made.apply_codes(ok).tolist() == [3, 4]
    for codes in (ok + 1, ok[:1], ok[0]):
        for act in (made.apply_codes, made.charge_codes):
            with pytest.raises(InvalidPolicyError, match="a row for each of 2 tests"):
                act(codes)


@given(drawn=tables_with_policies(kinds=("solved", "random")))
def test_a_delayed_test_orders_each_test_below_in_preorder(drawn):
    _, tree = drawn
    for node in range(tree.n_nodes):
        ahead = []
        stack = [node]
        while stack:
            at = stack.pop()
            if tree.test[at] >= 0:
                ahead.append(int(tree.test[at]))
                start, end = tree.branch_start[at : at + 2]
                stack.extend(tree.branch_child[start:end].tolist()[::-1])
        assert tree.tests_ahead(node) == ahead


# Deciding.


def test_a_tie_goes_to_the_first_class():
    assert decide_classes(np.array([[1.0, 1.0], [0.1 + 0.2, 0.3]])).tolist() == [0, 0]
    assert decide_classes(np.array([[0.3, 0.1 + 0.2]])).tolist() == [0]


def test_mistakes_decide_for_the_cheaper_side():
    mistakes = np.array([[0.0, 1.0], [9.0, 0.0]])
    weights = np.array([[9.0, 1.0], [9.1, 1.0], [8.9, 1.0]])
    assert decide_classes(weights, mistakes).tolist() == [0, 0, 1]


@pytest.mark.parametrize("scale", [1e-200, 1e-13, 1.0, 1e290])
@pytest.mark.parametrize("unit", [1e-200, 1.0, 1e290])
def test_the_unit_of_costs_and_weights_decides_nothing(scale, unit):
    mistakes = np.array([[0.0, 1.0], [9.0, 0.0]])
    weights = np.array([[5.0, 1.0], [30.0, 1.0]])
    decided = decide_classes(weights * unit, mistakes * scale)
    assert decided.tolist() == [1, 0]
