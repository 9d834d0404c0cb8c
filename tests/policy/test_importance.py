"""How much each test matters: by what its splits tell, and by what it saves."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import askless
from askless.datasets import make_clinic
from askless.exceptions import InvalidOptionError, InvalidTableError
from askless.policy._walk_rows import walk_rows


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 5))
    y = (X[:, 0] + 0.4 * X[:, 1] + 0.5 * rng.normal(size=300) > 0).astype(int)
    return X, y


@pytest.fixture(scope="module")
def clinic():
    return make_clinic(250, random_state=1)


@pytest.mark.parametrize("kind", ["one tree", "forest"])
def test_gain_is_what_scikit_learn_says_of_its_own_trees(rows, kind):
    X, y = rows
    if kind == "one tree":
        # One tree by another way: a forest of one that sees every row.
        model = RandomForestClassifier(1, bootstrap=False, max_features=None,
                                       max_depth=4, random_state=0)  # fmt: skip
    else:
        model = RandomForestClassifier(7, bootstrap=False, max_depth=4, random_state=0)
    model.fit(X, y)
    own = askless.AdaptiveEnsemble(model).fit().feature_importances_
    expected = model.feature_importances_
    assert own == pytest.approx(expected, abs=0.02)
    if kind == "one tree":
        tree = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y)
        assert tree.feature_importances_ == pytest.approx(expected, abs=0.2)


def test_estimators_have_importances_that_add_up_to_one(rows):
    X, y = rows
    for model in (
        askless.GreedyTreeClassifier(max_depth=3),
        askless.BudgetForestClassifier(n_estimators=5, random_state=0),
        askless.BudgetBoostClassifier(n_estimators=20, random_state=0),
        askless.CostTreeClassifier(n_estimators=9, mistakes=100),
    ):
        found = model.fit(X, y).feature_importances_
        assert found.shape == (5,)
        assert found.sum() == pytest.approx(1)
        assert found.argmax() == 0
        assert (found >= 0).all()


def test_a_policy_that_never_asks_has_no_importances(rows):
    X, _ = rows
    tree = askless.GreedyTreeClassifier().fit(X, np.zeros(len(X)))
    assert tree.feature_importances_.tolist() == [0.0] * 5


def make_models(clinic):
    costs = clinic.costs
    return [
        askless.CostTreeClassifier(costs, mistakes=300, n_estimators=9),
        askless.BudgetForestClassifier(costs, n_estimators=3, random_state=0),
        askless.BudgetBoostClassifier(costs, n_estimators=9, random_state=0),
    ]


@pytest.mark.parametrize("which", [0, 1, 2])
def test_savings_add_up_to_deciding_at_once_less_the_total_cost(clinic, which, rng):
    X, y = clinic.to_frame(), clinic.y
    model = make_models(clinic)[which].fit(X, y)
    policy = model.policy_
    weights = rng.integers(1, 4, len(y))
    wrong = 300 * (1 - np.eye(len(policy.classes)))
    saved = policy.importances(X, y, by="saving", mistakes=wrong, sample_weight=weights)
    at_once = policy.classes[policy.decision(policy.initial_state())]
    decided, paid = policy.predict_and_cost(X)
    total = paid + 300.0 * (decided != y)
    expected = 300.0 * (at_once != np.asarray(y)) - total
    assert sum(saved.values()) == pytest.approx(np.average(expected, weights=weights))


@pytest.mark.parametrize("which", [0, 1, 2])
def test_rows_walk_as_they_are_charged(clinic, which):
    X = clinic.to_frame()
    policy = make_models(clinic)[which].fit(X, clinic.y).policy_
    paid = np.zeros(len(clinic.y))
    decision = np.full(len(paid), policy.decision(policy.initial_state()))
    for step in walk_rows(policy, X):
        paid[step.rows] += step.charged
        decision[step.rows] = policy.decision(step.after)
        assert (step.charged > 0) <= bool(step.bought)
    decided, cost = policy.predict_and_cost(X)
    assert paid == pytest.approx(cost)
    assert [policy.classes[d] for d in decision] == decided.tolist()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"by": "weight"}, InvalidOptionError, "'gain' or 'saving'"),
        ({"by": "saving"}, InvalidOptionError, "rows whose class is known"),
        ({"by": "saving", "X": [[0]], "y": ["a"]}, InvalidOptionError, "mistakes cost"),
        (
            {"by": "saving", "X": [[0]], "y": ["z"], "mistakes": 3},
            InvalidTableError,
            "class that the policy knows",
        ),
    ],
)
def test_what_is_missing_is_said(options, error, message):
    policy = askless.solve(askless.Table([[0], [1]], ["a", "b"])).policy
    with pytest.raises(error, match=message):
        policy.importances(**options)
