"""GreedyTreeClassifier: scikit-learn's checks, frames, and the papers' numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import (
    check_class_weight_classifiers,
    parametrize_with_checks,
)

import askless
from askless import Costs, GreedyTreeClassifier
from askless.datasets import make_clinic
from askless.solve.tradeoff._prune import prune_tree

# scikit-learn gives its own trees a least weight of leaves for this check.
PURE_LEAVES = {
    "check_class_weight_classifiers": "leaves are pure, whatever the classes weigh"
}


@parametrize_with_checks(
    [GreedyTreeClassifier()], expected_failed_checks=lambda estimator: PURE_LEAVES
)
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)


def test_the_two_stumps_example_is_as_computed():
    # Eight rows, four of each class; by minimax the cheap test wins, cut in the middle.
    X = np.array([[1, 2, 3, 4, 5, 6, 7, 8], [1, 2, 3, 5, 4, 6, 7, 8]], float).T
    y = [0, 0, 0, 0, 1, 1, 1, 1]
    tree = GreedyTreeClassifier([3, 1], max_depth=1).fit(X, y).policy_
    assert tree.test[0] == 1
    assert tree.thresholds[0] == 4.5
    left, right = (tree.class_weights(child) for child in (1, 2))
    assert left.tolist() == [3, 1]
    assert right.tolist() == [1, 3]


def test_frames_of_every_kind_give_the_tree_of_the_array():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 4)).round(2)
    y = rng.integers(0, 3, 200)
    names = ["a", "b", "c", "d"]
    costs = dict(zip(names, [4, 3, 2, 1], strict=True))
    by_array = GreedyTreeClassifier(list(costs.values())).fit(X, y)
    for frame in (
        pd.DataFrame(X, columns=names),
        pl.DataFrame(dict(zip(names, X.T, strict=True))),
    ):
        by_frame = GreedyTreeClassifier(costs).fit(frame, y)
        assert by_frame.feature_names_in_.tolist() == names
        assert np.array_equal(by_frame.predict(frame), by_array.predict(X))
        assert np.array_equal(by_frame.cost(frame), by_array.cost(X))
        assert np.array_equal(by_frame.policy_.test, by_array.policy_.test)


@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_categories_numbers_and_missing_values_are_learned_from(backend):
    examples = make_clinic(600, random_state=5)
    X = examples.to_frame(backend)
    model = GreedyTreeClassifier(examples.costs, max_depth=8).fit(X, examples.y)
    kinds = {test.kind for test in model.policy_.tests}
    assert kinds == {"category", "number"}
    assert model.score(X, examples.y) > 0.8
    assert 0 < model.cost(X).mean() < model.policy_.prices.cost_of_all()


def test_weights_are_the_same_as_repeated_rows():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 9, (60, 3)).astype(float)
    y = rng.integers(0, 3, 60)
    weights = rng.integers(0, 4, 60)
    weighted = GreedyTreeClassifier(max_depth=4).fit(X, y, sample_weight=weights)
    repeated = GreedyTreeClassifier(max_depth=4).fit(
        np.repeat(X, weights, axis=0), np.repeat(y, weights)
    )
    assert np.array_equal(weighted.policy_.test, repeated.policy_.test)
    assert np.array_equal(
        weighted.policy_.thresholds, repeated.policy_.thresholds, True
    )
    assert np.array_equal(weighted.policy_.weight, repeated.policy_.weight)


def test_the_tree_does_not_depend_on_the_number_of_threads():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(5000, 6))
    y = rng.integers(0, 4, 5000)
    one = GreedyTreeClassifier(max_depth=6, n_jobs=1).fit(X, y)
    two = GreedyTreeClassifier(max_depth=6, n_jobs=2).fit(X, y)
    for name in ("test", "cut", "branch_child", "weight"):
        assert np.array_equal(getattr(one.policy_, name), getattr(two.policy_, name))
    assert np.array_equal(one.predict(X), two.predict(X))


def test_a_missing_value_follows_its_training_rows():
    X = np.array([[1.0], [2.0], [8.0], [np.nan], [np.nan]])
    model = GreedyTreeClassifier().fit(X, ["low", "low", "high", "gone", "gone"])
    assert model.predict([[np.nan], [1.5], [9.0]]).tolist() == ["gone", "low", "high"]


def test_a_missing_value_never_met_follows_the_heavier_side():
    model = GreedyTreeClassifier().fit([[1.0], [2.0], [3.0], [9.0]], [0, 0, 0, 1])
    assert model.predict([[np.nan]]) == [0]


def test_a_bought_test_is_paid_once_however_often_it_is_asked():
    X = np.arange(8, dtype=float)[:, None]
    model = GreedyTreeClassifier([5.0]).fit(X, [0, 1, 0, 1, 0, 1, 0, 1])
    assert model.policy_.depth >= 3
    assert model.cost(X).tolist() == [5.0] * 8


def test_free_reuse_keeps_to_the_test_that_was_bought():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (X.sum(axis=1) > 0).astype(int)
    free = GreedyTreeClassifier(max_depth=3, free_reuse=True).fit(X, y)
    paid = GreedyTreeClassifier(max_depth=3).fit(X, y)
    assert free.cost(X).mean() == 1
    assert paid.score(X, y) > free.score(X, y)


def test_thresholds_are_exact_in_single_precision():
    X = np.random.default_rng(0).normal(size=(500, 3))
    tree = GreedyTreeClassifier().fit(X, X[:, 0] * X[:, 1] > 0).policy_
    cuts = tree.thresholds[tree.cut >= 0]
    assert cuts.size
    assert np.array_equal(cuts, cuts.astype(np.float32))
    single = X.astype(np.float32)
    assert np.array_equal(tree.apply(X), tree.apply(single))


def test_groups_and_mistakes_are_used():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, dtype=float)
    y = ["ill", "well", "well", "well"] * 5
    costs = Costs(
        [4, 4],
        groups={"blood": [0, 1]},
        discounted={0: 1, 1: 1},
        mistakes=[[0, 50], [1, 0]],
    )
    model = GreedyTreeClassifier(costs).fit(X, y)
    assert model.cost([[0, 0]]) == [5]
    stump = GreedyTreeClassifier(costs, max_depth=0).fit(X, y)
    # Missing an illness is so dear that without a test everyone is called ill.
    assert stump.predict([[1, 1]]) == ["ill"]


def test_it_works_in_cross_validation_and_survives_cloning():
    examples = make_clinic(300, random_state=1)
    model = clone(GreedyTreeClassifier(examples.costs, max_depth=4))
    scores = cross_val_score(model, examples.to_frame(), examples.y, cv=3)
    assert scores.mean() > 0.5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"costs": {"x0": 1}}, "Every test must have a cost"),
        ({"costs": {"x0": 1, "x1": 1, "x2": 3}}, "Costs must name tests"),
        ({"costs": [1, -1]}, "must be a finite number >= 0"),
        ({"delta": -1}, "delta must be a finite number >= 0"),
        ({"min_weight": -1}, "min_weight must be a finite number >= 0"),
        ({"max_depth": -2}, "max_depth must be >= 0"),
    ],
)
def test_wrong_parameters_are_explained_by_fit(options, message):
    with pytest.raises(ValueError, match=message):
        GreedyTreeClassifier(**options).fit([[0, 1], [1, 0]], [0, 1])


def test_infinity_in_a_frame_is_refused():
    frame = pd.DataFrame({"a": [1.0, np.inf]})
    with pytest.raises(
        askless.exceptions.InvalidOptionError, match="infinity in column"
    ):
        GreedyTreeClassifier().fit(frame, [0, 1])


def test_weights_of_zero_only_are_refused():
    with pytest.raises(ValueError, match="at least one non-zero"):
        GreedyTreeClassifier().fit([[0.0], [1.0]], [0, 1], sample_weight=[0, 0])


class LeastLeaves(GreedyTreeClassifier):
    """The same, with leaves of a least share of the weight, as scikit-learn's trees."""

    def __init__(self, class_weight=None, min_weight_fraction_leaf=0.0):
        super().__init__(class_weight=class_weight)
        self.min_weight_fraction_leaf = min_weight_fraction_leaf

    def _grow(self, examples):
        tree = super()._grow(examples)
        least = self.min_weight_fraction_leaf * tree.node_weight[0]
        is_small = tree.node_weight < least
        is_cut = np.zeros(tree.n_nodes, dtype=bool)
        is_cut[tree.parent[np.flatnonzero(is_small & (tree.parent >= 0))]] = True
        return prune_tree(tree, is_cut)


def test_pure_leaves_are_why_a_check_of_class_weights_fails():
    # The check gives trees that have it a least weight of leaves: then we pass it too.
    check_class_weight_classifiers("LeastLeaves", LeastLeaves())
    with pytest.raises(AssertionError):
        check_class_weight_classifiers("GreedyTreeClassifier", GreedyTreeClassifier())
