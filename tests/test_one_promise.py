"""One promise for every policy, learner and source: all ways come to the same."""

import warnings

import numpy as np
import pytest
from sklearn import ensemble
from threadpoolctl import threadpool_limits

import askless
from askless.learn._registry import _LEARNERS
from askless.testing import check_policy, make_hard_rows
from tests.policy.examples import EXAMPLES, make_example


@pytest.mark.parametrize("infinite", [False, True])
@pytest.mark.parametrize("name", EXAMPLES)
def test_every_kind_of_policy(name, infinite):
    policy = make_example(name)
    check_policy(policy, make_hard_rows(policy, 40, infinite=infinite))


def examples(rng, n_rows=300):
    X = rng.normal(size=(n_rows, 5)).round(1)
    X[rng.random(X.shape) < 0.1] = np.nan
    score = np.nan_to_num(X[:, 0] + X[:, 1] * X[:, 2]) + rng.normal(size=n_rows) / 2
    return X, np.digitize(score, [-0.5, 0.7])


LEARNERS = {
    "C4.5": lambda: askless.C45Classifier(),
    "EG2": lambda: askless.EG2Classifier(),
    "IDX": lambda: askless.IDXClassifier(),
    "CS-ID3": lambda: askless.CSID3Classifier(),
    "DTMC": lambda: askless.DTMCClassifier(mistakes=20),
    "LSID3": lambda: askless.LSID3Classifier(random_state=0),
    "ACT": lambda: askless.ACTClassifier(mistakes=20, random_state=0),
    "ICET": lambda: askless.ICETClassifier(
        mistakes=20, population=6, trials=18, random_state=0
    ),
    "greedy tree": lambda: askless.GreedyTreeClassifier(max_depth=5),
    "cost tree": lambda: askless.CostTreeClassifier(mistakes=20, random_state=0),
    "budget forest": lambda: askless.BudgetForestClassifier(
        budget=3, n_estimators=8, random_state=0
    ),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner(name, rng):
    X, y = examples(rng)
    learner = LEARNERS[name]().fit(X, y)
    policy = learner.policy_
    rows = make_hard_rows(policy, 40)
    check_policy(policy, rows)
    matrix = np.array(
        [[np.nan if v is None else v for v in rows[t.name]] for t in policy.tests]
    ).T
    assert learner.predict(matrix).tolist() == policy.predict(rows).tolist()
    assert learner.cost(matrix).tolist() == policy.cost(rows).tolist()


def test_no_learner_is_left_out():
    others = {askless.BudgetBoostClassifier}  # below
    tried = {type(make()) for make in LEARNERS.values()} | others
    assert tried == {learner.estimator for learner in _LEARNERS}


def test_budget_boost(rng):
    pytest.importorskip("lightgbm")
    X, y = examples(rng)
    with threadpool_limits(1):
        learner = askless.BudgetBoostClassifier(budget=3, random_state=0).fit(X, y)
    check_policy(learner.policy_)


SOURCES = {
    "random forest": ensemble.RandomForestClassifier(12, random_state=0),
    "extra trees": ensemble.ExtraTreesClassifier(12, random_state=0),
    "histograms": ensemble.HistGradientBoostingClassifier(max_iter=8),
    "forest of numbers": ensemble.RandomForestRegressor(12, random_state=0),
    "histograms of numbers": ensemble.HistGradientBoostingRegressor(max_iter=8),
}


@pytest.mark.parametrize("bounds", ["deep", "path"])
@pytest.mark.parametrize("name", [*SOURCES, "LightGBM", "XGBoost"])
def test_every_source(name, bounds, rng):
    X, y = examples(rng)
    options = {"n_estimators": 10, "n_jobs": 1}
    if name == "LightGBM":
        lightgbm = pytest.importorskip("lightgbm")
        model = lightgbm.LGBMClassifier(verbose=-1, min_child_samples=5, **options)
    elif name == "XGBoost":
        model = pytest.importorskip("xgboost").XGBClassifier(max_depth=3, **options)
    else:
        model = SOURCES[name]
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
        policy = askless.AdaptiveEnsemble(model, bounds=bounds).fit().policy_
        rows = make_hard_rows(policy, 60)
        matrix = np.array(
            [[np.nan if v is None else v for v in rows[t.name]] for t in policy.tests]
        ).T.astype(float)
        check_policy(policy, matrix, source=model)


def test_a_source_that_says_something_else_is_found(rng):
    X, y = examples(rng)
    X = np.nan_to_num(X)
    model = ensemble.RandomForestClassifier(5, random_state=0).fit(X, y)
    other = ensemble.RandomForestClassifier(5, random_state=1).fit(X, y)
    policy = askless.AdaptiveEnsemble(model).fit().policy_
    with pytest.raises(AssertionError, match=r"row \d+: the source says"):
        check_policy(policy, X[:60], source=other)
