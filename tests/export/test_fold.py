"""A tree too large to be looked at is folded: what most cases pass stays open."""

import os
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import askless
from askless.exceptions import InvalidOptionError
from askless.export._fold import MOST_NODES, find_folded
from askless.export._labels import node_shares
from askless.export._picture import picture_of
from askless.policy import Forest
from tests.strategies import number_trees, tables_with_policies

# How many times as long it may take where sanitizers watch.
PATIENCE = 10 if "ASKLESS_SANITIZED" in os.environ else 1


@pytest.fixture(scope="module")
def huge():
    """Grow a tree of some 300,000 nodes from 300,000 rows that say nothing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300_000, 8)).round(2)
    y = rng.integers(0, 3, 300_000)
    return askless.GreedyTreeClassifier().fit(X, y).policy_


@pytest.mark.parametrize("format", ["text", "svg", "html"])
def test_a_huge_policy_is_shown_in_time(huge, format):
    assert huge.n_nodes > 250_000
    start = time.process_time()
    shown = askless.show(huge, format)
    assert time.process_time() - start < 10 * PATIENCE
    assert len(shown) < 20_000_000
    assert "those that most cases pass" in shown
    assert shown.count("\n") < 3 * MOST_NODES or format == "svg"


@given(tables_with_policies(kinds=("random",)), st.integers(1, 30))
@settings(deadline=None)
def test_folding_keeps_what_most_cases_pass(pair, max_nodes):
    tree = pair[1]
    shares = node_shares(tree)
    folded = find_folded(tree, shares, max_nodes=max_nodes)
    picture = picture_of(tree, max_nodes=max_nodes)
    if folded is None:
        assert tree.n_nodes <= max_nodes
        assert len(picture.boxes) == tree.n_nodes
        return
    assert tree.n_nodes > max_nodes
    at_least = 1 + len(tree.nodes.children(0))
    assert len(picture.boxes) <= max(max_nodes, at_least)
    # Every node is drawn, or counted at the one that hides it.
    hidden = sum(box.n_hidden for box in picture.boxes)
    assert len(picture.boxes) + hidden == tree.n_nodes
    shown = {box.node for box in picture.boxes}
    assert all(
        box.parent < 0 or tree.parent[box.node] in shown for box in picture.boxes
    )
    text = askless.show(tree, "text", max_nodes=max_nodes)
    # A line for each node that is shown, one for each fold, and the note.
    n_folds = sum(box.n_hidden > 0 for box in picture.boxes)
    assert len(text.splitlines()) == len(picture.boxes) + n_folds + 1


@given(number_trees(), st.integers(0, 4))
def test_a_depth_folds_as_it_did(tree, depth):
    text = askless.show(tree, "text", max_depth=depth).splitlines()
    shown = int(np.count_nonzero(tree.node_depth <= depth))
    cut = int(np.count_nonzero((tree.node_depth == depth) & (tree.test >= 0)))
    assert len(text) == shown + cut
    assert len(picture_of(tree, max_depth=depth).boxes) == shown


def test_heavy_branches_stay_open():
    table = askless.Table(
        {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1]}, list("wxyz"), prior=[1, 1, 9, 9]
    )
    tree = askless.solve(table).policy
    text = askless.show(tree, max_nodes=5)
    assert text.count("nodes below") == 1
    assert "Shown are 5 of 7 nodes, those that most cases pass (max_nodes)." in text
    # The branch that 90 % take is open.
    heavy = text.index("[90 %")
    assert "45 %" in text[heavy:]
    assert askless.show(tree, max_nodes=None) == askless.show(tree)


def test_the_trees_of_a_forest_share_the_nodes(huge):
    forest = Forest.from_trees([huge] * 3)
    start = time.process_time()
    page = askless.show(forest, "html")
    assert time.process_time() - start < 15 * PATIENCE
    assert len(page) < 5_000_000


def test_a_number_of_nodes_that_is_none_is_refused():
    tree = askless.solve(askless.Table([[0], [1]], ["a", "b"])).policy
    for format in ("text", "svg", "html"):
        with pytest.raises(InvalidOptionError, match="max_nodes must be >= 1"):
            askless.show(tree, format, max_nodes=0)
