"""Scorers of what estimators cost, and what groups of tests are worth."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score

import askless
from askless import Costs, CostTreeClassifier, GreedyTreeClassifier
from askless.exceptions import InvalidOptionError
from askless.learn import LEARNERS
from askless.learn._scoring import standard_cost


@pytest.fixture
def clinic():
    return askless.datasets.make_clinic(300, random_state=0)


def test_the_score_is_minus_the_mean_of_the_costs(clinic):
    X, y = clinic.to_frame(), clinic.y
    tree = CostTreeClassifier(clinic.costs, 200, n_estimators=10).fit(X, y)
    paid = tree.cost(X)
    wrong = 200 * (tree.predict(X) != y)
    assert np.array_equal(tree.total_cost(X, y), paid + wrong)
    weights = np.arange(len(y), dtype=float)
    assert askless.neg_total_cost(tree, X, y) == pytest.approx(-np.mean(paid + wrong))
    assert askless.neg_test_cost(tree, X) == pytest.approx(-np.mean(paid))
    assert askless.neg_total_cost(tree, X, y, sample_weight=weights) == pytest.approx(
        -np.average(paid + wrong, weights=weights)
    )
    every = tree.policy_.prices.cost_of_all()
    standard = standard_cost(every, y, 200 * (1 - np.eye(len(tree.classes_))))
    assert askless.neg_normalised_cost(tree, X, y) == pytest.approx(
        -np.mean(paid + wrong) / standard
    )


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=lambda learner: learner.name)
def test_every_learner_can_be_scored(clinic, learner):
    if learner.name == "boost":
        pytest.importorskip("lightgbm")
    X, y = clinic.to_frame(), clinic.y
    estimator = learner.estimator(clinic.costs)
    if "n_estimators" in estimator.get_params():
        estimator.set_params(n_estimators=20)
    for scorer in (
        askless.make_cost_scorer(mistakes=200),
        askless.make_cost_scorer(mistakes=200, normalised=True),
        askless.neg_test_cost,
    ):
        scores = cross_val_score(estimator, X, y, scoring=scorer, cv=2)
        assert scores.shape == (2,)
        assert np.all(scores <= 0)


def test_a_grid_search_finds_the_cheaper_setting(clinic):
    X, y = clinic.to_frame(), clinic.y
    search = GridSearchCV(
        CostTreeClassifier(clinic.costs, 200, n_estimators=10),
        {"leaf_cost": [0.6, 1e6]},
        scoring=askless.neg_total_cost,
        cv=2,
    )
    search.fit(X, y)
    # Where every leaf costs a fortune nothing is asked.
    assert search.best_params_ == {"leaf_cost": 0.6}


def test_without_costs_of_mistakes_they_cannot_be_priced(clinic):
    X, y = clinic.to_frame(), clinic.y
    tree = GreedyTreeClassifier(Costs(clinic.costs.costs)).fit(X, y)
    with pytest.raises(InvalidOptionError, match="what they cost"):
        askless.neg_total_cost(tree, X, y)
    with pytest.raises(InvalidOptionError, match="part must be"):
        askless.make_cost_scorer(part="none")


def test_a_class_never_seen_is_priced_if_all_mistakes_cost_the_same():
    X, y = [[0], [1]] * 20, ["a", "b"] * 20
    even = CostTreeClassifier([1], 8).fit(X, y)
    assert even.total_cost([[0]], ["c"]) == [9.0]
    uneven = CostTreeClassifier([1], [[0, 8], [9, 0]]).fit(X, y)
    with pytest.raises(InvalidOptionError, match="seen in training"):
        uneven.total_cost([[0]], ["c"])


def test_what_a_group_is_worth(rng):
    n = 400
    X = rng.integers(0, 2, (n, 4)).astype(float)
    y = (X[:, 0] + X[:, 1] > 1).astype(int)
    costs = Costs(
        [1, 1, 1, 1],
        groups={"needed": [0, 1], "useless": [2, 3]},
        discounted={0: 0.5, 1: 0.5},
        delayed=[0, 1],
    )
    tree = CostTreeClassifier(costs, 100, n_estimators=10)
    worths = {worth.name: worth for worth in askless.group_worth(tree, X, y, cv=2)}
    assert list(worths) == ["needed", "useless", "no delays"]
    assert worths["needed"].tests == ("x0", "x1")
    assert worths["needed"].worth > 15
    assert worths["useless"].worth == pytest.approx(0, abs=1e-9)
    # Half of the rows need not ask for the second test if the first is not late.
    assert 0.1 < worths["no delays"].worth < 0.5
    alone = askless.group_worth(tree, X, y, cv=2, tests=True)
    assert len(alone) == 3


def test_a_group_of_all_tests_has_no_worth_to_tell():
    costs = Costs([1, 1], groups={"all": [0, 1]}, discounted={0: 0, 1: 0})
    with pytest.raises(InvalidOptionError, match="Some test must be left"):
        askless.group_worth(
            CostTreeClassifier(costs, 5, n_estimators=0),
            [[0, 1], [1, 0]] * 9,
            [0, 1] * 9,
        )
