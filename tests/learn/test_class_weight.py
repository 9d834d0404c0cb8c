"""Some classes count more than others: the same as weights of their rows."""

from __future__ import annotations

import numpy as np
import pytest

import askless
from askless.exceptions import InvalidOptionError
from askless.learn import LEARNERS, ASTCClassifier, CEGBClassifier
from askless.learn.rivals._plain_forest import PlainForestClassifier

SMALL = {
    "boost": {"n_estimators": 9, "random_state": 0},
    "forest": {"n_estimators": 5, "random_state": 0},
    "icet": {"trials": 30, "population": 10, "random_state": 0},
    "act": {"samples": 1, "random_state": 0},
    "lsid3": {"samples": 1, "random_state": 0},
}
OTHERS = [ASTCClassifier, CEGBClassifier, PlainForestClassifier]


def make_learners():
    listed = [
        learner.estimator(**SMALL.get(name, {}))
        for name, learner in LEARNERS.items()
        if name != "cost-tree"
    ]
    return listed + [
        kind(**({} if kind is ASTCClassifier else {"random_state": 0}))
        for kind in OTHERS
    ]


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(240, 4))
    y = np.where(X[:, 0] + rng.normal(size=240) > 1, "rare", "usual")
    return X, y


@pytest.mark.parametrize("model", make_learners(), ids=lambda m: type(m).__name__)
def test_a_class_that_counts_thrice_is_rows_that_count_thrice(model, rows):
    X, y = rows
    kind, params = type(model), model.get_params()
    by_class = kind(**{**params, "class_weight": {"rare": 3}}).fit(X, y)
    by_row = kind(**params).fit(X, y, sample_weight=np.where(y == "rare", 3, 1))
    assert np.array_equal(by_class.predict(X), by_row.predict(X))
    assert np.array_equal(by_class.cost(X), by_row.cost(X))


@pytest.mark.parametrize("model", make_learners(), ids=lambda m: type(m).__name__)
def test_class_weight_multiplies_the_weights_of_rows(model, rows, rng):
    X, y = rows
    own = rng.integers(1, 3, len(y))
    kind, params = type(model), model.get_params()
    both = kind(**{**params, "class_weight": {"usual": 2}}).fit(X, y, own)
    by_row = kind(**params).fit(X, y, own * np.where(y == "usual", 2, 1))
    assert np.array_equal(both.predict(X), by_row.predict(X))


@pytest.mark.parametrize(
    "model",
    [
        askless.CostTreeClassifier(mistakes=3),
        askless.GreedyTreeClassifier(max_depth=1),
        askless.BudgetBoostClassifier(budget=2, n_estimators=20, random_state=0),
        askless.C45Classifier(),
    ],
    ids=lambda m: type(m).__name__,
)
def test_balanced_classes_find_more_of_the_rare_one(model, rng):
    X = rng.normal(size=(3600, 2))
    y = (X[:, 0] + rng.normal(size=3600) > 1.8).astype(int)
    # Of new rows: whoever learns rows by heart finds the rare ones among them anyway.
    known, new = slice(0, 600), slice(600, None)
    plain = type(model)(**model.get_params()).fit(X[known], y[known])
    balanced = type(model)(**{**model.get_params(), "class_weight": "balanced"})
    balanced.fit(X[known], y[known])
    is_rare = y[new] == 1
    found = balanced.predict(X[new])[is_rare].mean()
    assert found > plain.predict(X[new])[is_rare].mean() + 0.1


def test_validation_rows_count_by_their_class_too(rows):
    X, y = rows
    forest = askless.BudgetForestClassifier(
        budget=2, n_estimators=3, class_weight={"rare": 5}, random_state=0
    )
    forest.fit(X[:150], y[:150], X_valid=X[150:], y_valid=y[150:])
    wrong = forest.predict(X[150:]) != y[150:]
    weights = np.where(y[150:] == "rare", 5, 1)
    assert forest.point_.error == pytest.approx(wrong @ weights / weights.sum())


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"other": 2}, "must name classes"),
        ("even", "or 'balanced'"),
        ({"rare": -1}, ">= 0"),
    ],
)
def test_what_weighs_no_class_is_refused(wrong, message, rows):
    X, y = rows
    with pytest.raises(InvalidOptionError, match=message):
        askless.GreedyTreeClassifier(class_weight=wrong).fit(X, y)
