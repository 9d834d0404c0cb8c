"""The rivals on the same footing: plain forest, ASTC and CEGB, charged alike."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from askless import Costs
from askless.learn import (
    ASTCClassifier,
    BudgetBoostClassifier,
    CEGBClassifier,
    PlainForestClassifier,
)
from askless.learn._examples import Examples, KnownRows
from askless.learn._row_order import settle_order
from askless.learn.rivals._astc import fit_greedily
from askless.testing import check_policy

ROWS = np.array(
    [[1, 1, 0], [1, -1, 1], [1, 0, -1], [-1, 1, 1], [-1, -1, 0], [-1, 0, -1]], float
)
LABELS = np.array([3.0, 0, 0, 1, -2, -2])


@parametrize_with_checks([ASTCClassifier(), PlainForestClassifier(n_estimators=3)])
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)


@parametrize_with_checks([CEGBClassifier(n_estimators=5)])
def test_scikit_learns_checks_of_cegb_pass(estimator, check):
    pytest.importorskip("lightgbm")
    check(estimator)


@pytest.mark.parametrize(
    ("features", "fit"),
    [
        ([0], 1 / 3), ([1], 1 / 2), ([2], 1 / 8), ([0, 1], 5 / 6), ([0, 2], 0.458333),
        ([1, 2], 0.625), ([0, 1, 2], 0.958333),
    ],
)  # fmt: skip
def test_the_fit_of_sets_of_features(features, fit):
    found = fit_greedily(ROWS, LABELS, np.full(3, 9.0), 0.0, free=features)
    assert np.isclose(found.fit, fit, atol=1e-6)


def test_the_worked_node():
    costs = np.array([4.0, 1.0, 2.0])
    found = fit_greedily(ROWS, LABELS, costs, 5.0)
    assert found.features == [1, 0]
    assert np.allclose(found.coefficients, [1.5, 1.0])
    scores = ROWS[:, found.features] @ found.coefficients
    assert np.allclose(scores, [2.5, -0.5, 1, 0.5, -2.5, -1])
    assert np.median(scores) == 0.0
    # What each step was worth for its price.
    assert np.isclose(found.fit - 0.5, 4 * 0.083333, atol=1e-5)
    third = fit_greedily(ROWS, LABELS, np.full(3, 9.0), 0.0, free=[1, 2]).fit
    assert np.isclose((third - 0.5) / 2, 0.0625)


def test_astc_pays_once_and_never_beyond_its_budgets(rng):
    X = rng.normal(size=(400, 6))
    y = (X[:, 0] + X[:, 1] * (X[:, 2] > 0) > 0).astype(int)
    costs = [1, 2, 3, 1, 2, 3]
    model = ASTCClassifier(costs, node_budget=3, max_depth=2).fit(X, y)
    paid = model.cost(X)
    assert paid.max() <= 3 * 3
    assert model.score(X, y) > 0.75
    dearer = ASTCClassifier(costs, node_budget=12, max_depth=0).fit(X, y)
    assert set(dearer.cost(X)) <= {12.0}
    many = ASTCClassifier(costs, node_budget=3).fit(X, y + 2 * (X[:, 3] > 1))
    assert many.predict(X).max() > 1
    assert many.cost(X).max() <= 12
    grouped = Costs(
        costs, groups={"all": range(6)}, discounted=dict.fromkeys(range(6), 0)
    )
    assert ASTCClassifier(grouped, node_budget=3).fit(X, y).cost(X).max() <= 3


def test_astc_refuses_nonsense():
    with pytest.raises(ValueError, match="node_budget must be a finite number >= 0"):
        ASTCClassifier(node_budget=-1).fit(ROWS, [0, 1] * 3)


def test_the_plain_forest_is_scikit_learns(rng):
    X = rng.normal(size=(500, 6)).astype(np.float32)
    X[rng.random(X.shape) < 0.05] = np.nan
    y = rng.integers(0, 3, 500) + 3 * (np.nan_to_num(X[:, 0]) > 0)
    costs = [1, 2, 3, 1, 2, 3]
    ours = PlainForestClassifier(costs, n_estimators=5, random_state=0).fit(X, y)
    # On the same rows in the same order: samples are drawn by place.
    known = KnownRows(X.astype(np.float64), y.astype(np.int32), None)
    settled = settle_order(
        Examples(known, list("abcdef"), tuple(range(6)), Costs(costs))
    )
    rows = settled.rows
    theirs = RandomForestClassifier(5, random_state=0).fit(rows.values, rows.class_ids)
    new = rng.normal(size=(300, 6)).astype(np.float32)
    new[rng.random(new.shape) < 0.05] = np.nan
    for X_any in (X, new):
        leaves = ours.policy_.apply(X_any) - ours.policy_.tree_start[:-1]
        assert np.array_equal(leaves, theirs.apply(X_any))
    # What a row pays: the columns on its paths, each once.
    price = np.array(costs, float)
    paths, _ = theirs.decision_path(new)
    feature = np.concatenate([e.tree_.feature for e in theirs.estimators_])
    for row in range(20):
        used = {f for f in feature[paths[row].indices] if f >= 0}
        assert ours.cost(new)[row] == price[sorted(used)].sum()
    check_policy(ours.policy_, new[:10].astype(float))


def test_cegb_pays_for_every_feature_on_its_paths(rng):
    pytest.importorskip("lightgbm")
    X = rng.normal(size=(600, 6))
    X[rng.random(X.shape) < 0.05] = np.nan
    y = (np.nan_to_num(X[:, 0] + X[:, 1]) > 0).astype(int)
    prices = np.array([1.0, 2, 3, 1, 2, 3])
    options = {"n_estimators": 20, "random_state": 0}
    model = CEGBClassifier(prices, tradeoff=0.02, **options).fit(X, y)
    new = rng.normal(size=(200, 6))
    new[rng.random(new.shape) < 0.05] = np.nan
    boost = BudgetBoostClassifier(prices, tradeoffs=(0.02,), **options).fit(X, y)
    assert (model.predict(new) == boost.models_[0].predict(new)).all()
    assert (boost.models_[0].cost(new) <= model.cost(new)).all()
    # Walked by hand: the features on the path of each tree, each once.
    trees = model.policy_.trees
    codes = np.column_stack(
        [t.encode(new[:, i]) for i, t in enumerate(model.policy_.tests)]
    )
    for row in range(40):
        used = set()
        for node in trees.tree_start[:-1].tolist():
            while (test := int(trees.test[node])) >= 0:
                used.add(test)
                missing = codes[row, test] >= model.policy_.tests[test].n_levels
                goes_left = codes[row, test] <= trees.cut[node]
                if missing:
                    goes_left = bool(trees.flags[node] & 1)
                node = node + 1 if goes_left else int(trees.right[node])
        assert model.cost(new)[row] == prices[sorted(used)].sum()
