"""What every row may cost is kept by every row, whatever its tests show."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier

import askless
from askless.exceptions import DegeneratePolicyWarning, InvalidOptionError
from askless.learn import LEARNERS, NUMBER_LEARNERS
from askless.learn._max_cost import limit_tree
from askless.policy import Ensemble
from askless.problem import Costs
from askless.testing import check_policy, make_hard_rows
from tests.strategies import tables_with_policies

SMALL = {
    "boost": {"n_estimators": 9, "random_state": 0, "n_folds": 0},
    "number-boost": {"n_estimators": 9, "random_state": 0, "n_folds": 0},
    "forest": {"n_estimators": 5, "random_state": 0},
    "icet": {"trials": 30, "population": 10, "random_state": 0},
    "act": {"samples": 1, "random_state": 0},
    "lsid3": {"samples": 1, "random_state": 0},
    "cost-tree": {"n_estimators": 5},
    "number-tree": {"n_estimators": 5},
}
EVERY = LEARNERS | NUMBER_LEARNERS


def draw_rows(rng):
    """Return rows of numbers and categories, missing ones too, and a target."""
    n = 150
    X = {
        "smear": rng.choice(["+", "-", "odd"], n),
        "iron": rng.normal(size=n).round(2),
        "sugar": rng.normal(size=n).round(2),
        "scan": rng.choice(["clear", "shadow"], n),
        "age": rng.integers(20, 90, n).astype(float),
    }
    X["iron"][rng.random(n) < 0.1] = np.nan
    score = X["iron"] + (X["scan"] == "shadow") - X["sugar"] + rng.normal(size=n)
    return X, np.nan_to_num(score) + 0.02 * X["age"]


def draw_costs(rng, by_outcome):
    full = {name: int(rng.integers(1, 9)) for name in ("smear", "scan", "age")}
    full |= {"iron": int(rng.integers(4, 9)), "sugar": int(rng.integers(4, 9))}
    priced = {}
    if by_outcome:
        priced = {"smear": {"+": 9, "odd": float(rng.integers(0, 20))}}
    return Costs(
        full,
        groups={"blood": ["iron", "sugar"]},
        discounted={"iron": 2, "sugar": 1},
        by_outcome=priced,
        delayed=[] if by_outcome else list(rng.choice(["age", "iron"], 1)),
    )


@pytest.mark.parametrize("name", EVERY)
@settings(max_examples=8)
@given(seed=st.integers(0, 2**31), most=st.sampled_from([0.0, 3.0, 7.0, 12.0, 20.0]))
def test_no_row_pays_more(name, seed, most):
    rng = np.random.default_rng(seed)
    X, score = draw_rows(rng)
    y = score if name in NUMBER_LEARNERS else np.digitize(score, [1.0, 2.0])
    costs = draw_costs(rng, by_outcome=bool(rng.integers(2)))
    model = EVERY[name].estimator(costs, max_cost=most, **SMALL.get(name, {}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegeneratePolicyWarning)
        model.fit(X, y)
    assert model.cost(X).max() <= most
    # Nor do rows at thresholds, with missing values and outcomes never seen.
    policy = model.policy_
    hard = make_hard_rows(policy)
    assert policy.cost(hard).max() <= most
    session = policy.start()
    while session.test is not None:
        session.answer(X[session.test][0])
    assert session.spent <= most


@given(drawn=tables_with_policies(kinds=("solved", "random")), share=st.floats(0, 1))
def test_a_cut_tree_asks_the_beginning_of_what_the_tree_asks(drawn, share):
    _, tree = drawn
    most = share * tree.worst_cost
    cut = limit_tree(tree, most)
    rows = make_hard_rows(tree)
    assert (cut.cost(rows) <= most).all()
    if most == tree.prices.cost_of_all():
        assert cut is tree
    for row in range(min(8, len(cut.cost(rows)))):
        short, whole = cut.start(), tree.start()
        while short.test is not None:
            assert short.test == whole.test
            value = rows[short.test][row]
            short.answer(value, allow_unseen=True)
            whole.answer(value, allow_unseen=True)
        assert short.decision == whole.decision_now


def test_a_limit_that_is_never_reached_changes_nothing():
    X, score = draw_rows(np.random.default_rng(0))
    y = score > 1
    costs = draw_costs(np.random.default_rng(0), by_outcome=False)
    for name in ("cost-tree", "c45", "greedy", "act"):
        kind, options = LEARNERS[name].estimator, SMALL.get(name, {})
        plain = kind(costs, **options).fit(X, y)
        limited = kind(costs, max_cost=1000, **options).fit(X, y)
        assert plain.predict(X).tolist() == limited.predict(X).tolist()
        assert plain.cost(X).tolist() == limited.cost(X).tolist()


def test_tests_that_are_too_dear_leave_the_limit_to_others():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 3))
    y = X[:, 0] > 0
    X[:, 1] = X[:, 0] + rng.normal(0, 0.3, 400)
    # The first column tells all and costs more than a row may pay.
    for model in (askless.CostTreeClassifier, askless.C45Classifier):
        tree = model([9, 2, 2], max_cost=5).fit(X, y)
        assert tree.policy_.used_tests != []
        assert 0 not in tree.policy_.used_tests
        assert tree.score(X, y) > 0.85


def test_a_forest_with_a_limit_is_an_ensemble_at_every_budget():
    X, score = draw_rows(np.random.default_rng(0))
    y = np.digitize(score, [1.0, 2.0])
    costs = draw_costs(np.random.default_rng(0), by_outcome=False)
    forest = askless.BudgetForestClassifier(
        costs, 12, max_cost=9, n_estimators=9, random_state=0
    ).fit(X, y)
    assert isinstance(forest.policy_, Ensemble)
    check_policy(forest.policy_)
    for point in forest.path():
        assert forest.policy_at(point).cost(X).max() <= 9
    assert forest.at_budget(10).cost(X).max() <= 9
    with pytest.raises(InvalidOptionError, match=r"Leave max_cost out\."):
        forest.confidence(X)


def test_somebody_elses_forest_keeps_the_limit_too(rng):
    X = rng.normal(size=(200, 5))
    y = X[:, 0] + X[:, 1] > 0
    forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    for most in (0.0, 3.0, 8.0):
        model = askless.AdaptiveEnsemble(forest, [1, 2, 3, 4, 5], max_cost=most).fit()
        assert model.cost(X).max() <= most


@pytest.mark.parametrize("name", LEARNERS)
def test_a_limit_must_be_a_number(name):
    model = LEARNERS[name].estimator(max_cost=-1, **SMALL.get(name, {}))
    with pytest.raises(InvalidOptionError, match=r"max_cost must be >= 0\. Got -1\."):
        model.fit([[0.0], [1.0]] * 9, [0, 1] * 9)
