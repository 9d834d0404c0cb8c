"""Every setting of scikit-learn's trees that changes predictions is honoured."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from threadpoolctl import threadpool_limits

import askless
from askless.exceptions import InvalidOptionError
from askless.learn.sources import forest_of_sklearn, tree_of_sklearn
from askless.problem import Costs
from tests.learn.sources.compare import (
    adversarial_rows,
    check_equal,
    make_rows,
    make_target,
)

FOREST = {"n_estimators": 9, "max_depth": 5, "random_state": 0}
BOOST = {"n_estimators": 8, "max_depth": 3, "random_state": 0}
HIST = {"max_iter": 8, "max_leaf_nodes": 8}


def own(model):
    def answer(rows):
        proba = getattr(model, "predict_proba", None)
        return model.predict(rows), None if proba is None else proba(rows)

    return answer


def fit(model, X, y):
    # Several threads for a few rows would mostly wait for one another.
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        return model.fit(X, y)


FORESTS = {
    "tree": (DecisionTreeClassifier(max_depth=5), "many"),
    "tree of numbers": (DecisionTreeRegressor(max_depth=5), "number"),
    "random splits": (DecisionTreeClassifier(splitter="random"), "three"),
    "pruned": (DecisionTreeClassifier(ccp_alpha=0.01), "three"),
    "entropy": (RandomForestClassifier(**FOREST, criterion="entropy"), "three"),
    "log loss": (RandomForestClassifier(**FOREST, criterion="log_loss"), "two"),
    "ten classes": (RandomForestClassifier(**FOREST), "many"),
    "votes": (RandomForestClassifier(9, random_state=0), "three"),
    "no bootstrap": (RandomForestClassifier(**FOREST, bootstrap=False), "two"),
    "class weights": (
        RandomForestClassifier(**FOREST, class_weight="balanced_subsample"), "three",
    ),
    "monotone": (
        RandomForestClassifier(**FOREST, monotonic_cst=[1, -1, 0, 0, 0]), "two",
    ),
    "extra": (ExtraTreesClassifier(**FOREST), "three"),
    "numbers": (RandomForestRegressor(**FOREST), "number"),
    "poisson": (RandomForestRegressor(**FOREST, criterion="poisson"), "positive"),
    "absolute": (
        RandomForestRegressor(**FOREST, criterion="absolute_error"), "number",
    ),
    "extra numbers": (ExtraTreesRegressor(**FOREST), "number"),
    "one class": (RandomForestClassifier(**FOREST), "one"),
}  # fmt: skip
BOOSTERS = {
    "two": (GradientBoostingClassifier(**BOOST), "two"),
    "three": (GradientBoostingClassifier(**BOOST), "three"),
    "ten": (GradientBoostingClassifier(**BOOST), "many"),
    "exponential": (GradientBoostingClassifier(**BOOST, loss="exponential"), "two"),
    "zero": (GradientBoostingClassifier(**BOOST, init="zero"), "three"),
    "frequent": (
        GradientBoostingClassifier(**BOOST, init=DummyClassifier(strategy="uniform")),
        "two",
    ),
    "subsample": (GradientBoostingClassifier(**BOOST, subsample=0.5), "three"),
    "stopped": (GradientBoostingClassifier(**BOOST, n_iter_no_change=1), "two"),
    "numbers": (GradientBoostingRegressor(**BOOST), "number"),
    "huber": (GradientBoostingRegressor(**BOOST, loss="huber"), "number"),
    "quantile": (GradientBoostingRegressor(**BOOST, loss="quantile"), "number"),
    "absolute": (GradientBoostingRegressor(**BOOST, loss="absolute_error"), "number"),
    "from the median": (
        GradientBoostingRegressor(**BOOST, init=DummyRegressor(strategy="median")),
        "number",
    ),
}
HISTOGRAMS = {
    "two": (HistGradientBoostingClassifier(**HIST), "two"),
    "three": (HistGradientBoostingClassifier(**HIST), "three"),
    "ten": (HistGradientBoostingClassifier(**HIST), "many"),
    "weights": (
        HistGradientBoostingClassifier(**HIST, class_weight="balanced"), "three",
    ),
    "stopped": (
        HistGradientBoostingClassifier(**HIST, early_stopping=True), "two",
    ),
    "monotone": (
        HistGradientBoostingClassifier(**HIST, monotonic_cst=[1, -1, 0, 0, 0]), "two",
    ),
    "few bins": (HistGradientBoostingClassifier(**HIST, max_bins=4), "three"),
    "numbers": (HistGradientBoostingRegressor(**HIST), "number"),
    "absolute": (
        HistGradientBoostingRegressor(**HIST, loss="absolute_error"), "number",
    ),
    "quantile": (
        HistGradientBoostingRegressor(**HIST, loss="quantile", quantile=0.3), "number",
    ),
    "poisson": (HistGradientBoostingRegressor(**HIST, loss="poisson"), "positive"),
    "gamma": (HistGradientBoostingRegressor(**HIST, loss="gamma"), "positive"),
}  # fmt: skip


@pytest.mark.parametrize("has_missing", [False, True])
@pytest.mark.parametrize("name", FORESTS)
def test_forests_are_scikit_learn_s(name, has_missing, rng):
    model, kind = FORESTS[name]
    if has_missing and ("absolute" in name or "monotone" in name):
        pytest.skip("scikit-learn refuses missing values here")
    X = make_rows(rng, 300, has_missing)
    y = np.full(300, "only") if kind == "one" else make_target(X, kind)
    fit(model, X, y)
    policy = askless.AdaptiveEnsemble(model).fit().policy_
    rows_list = [
        make_rows(rng, 200, has_missing),
        adversarial_rows(policy, rng, 300, has_missing=has_missing),
    ]
    check_equal(model, rows_list, own(model))


@pytest.mark.parametrize("name", BOOSTERS)
def test_boosting_is_scikit_learn_s(name, rng):
    model, kind = BOOSTERS[name]
    X = make_rows(rng, 300, has_missing=False)
    fit(model, X, make_target(X, kind))
    policy = askless.AdaptiveEnsemble(model).fit().policy_
    rows_list = [
        make_rows(rng, 200, has_missing=False),
        adversarial_rows(policy, rng, 300, has_missing=False),
    ]
    check_equal(model, rows_list, own(model))


@pytest.mark.parametrize("name", HISTOGRAMS)
def test_histogram_boosting_is_scikit_learn_s(name, rng):
    model, kind = HISTOGRAMS[name]
    X = make_rows(rng, 300)
    fit(model, X, make_target(X, kind))
    policy = askless.AdaptiveEnsemble(model).fit().policy_
    rows_list = [
        make_rows(rng, 200),
        adversarial_rows(policy, rng, 300, special=(np.inf, -np.inf)),
    ]
    with threadpool_limits(1):
        check_equal(model, rows_list, own(model))


def test_categories_of_histogram_boosting_are_scikit_learn_s(rng):
    def frame(n_rows, strange=False):
        names = ["red", "green", "blue", "pink"]
        colour = rng.choice([*names, "lime"] if strange else names, n_rows)
        return pd.DataFrame(
            {
                "weight": rng.normal(size=n_rows).round(1),
                "colour": pd.Categorical(
                    np.where(rng.random(n_rows) < 0.1, None, colour)
                ),
                "size": pd.Categorical(
                    rng.choice([10, 20, 40], n_rows), [40, 10, 20], ordered=True
                ),
            }
        )

    train = frame(400)
    is_odd = train["colour"].isin(["red", "pink"]) ^ (train["size"] == 10)
    model = HistGradientBoostingClassifier(**HIST)
    fit(model, train, is_odd ^ (train["weight"] > 0.3))
    with threadpool_limits(1):
        check_equal(model, [frame(300), frame(300, strange=True)], own(model))


def test_categories_by_position_are_scikit_learn_s(rng):
    X = make_rows(rng, 400)
    X[:, 0] = rng.integers(0, 9, 400)
    y = np.isin(X[:, 0], [1, 4, 6]) ^ (np.nan_to_num(X[:, 1]) > 0.3)
    model = HistGradientBoostingClassifier(**HIST, categorical_features=[0])
    fit(model, X, y)
    rows = make_rows(rng, 300)
    rows[:, 0] = rng.choice([-1, 0, 0.5, 1, 4, 6, 8, 9, 77, np.nan], 300)
    with threadpool_limits(1):
        check_equal(model, [X, rows], own(model))


@pytest.mark.parametrize(
    ("init", "got"),
    [
        (LogisticRegression(), "LogisticRegression"),
        (DummyClassifier(strategy="stratified", random_state=0), "DummyClassifier"),
        # Constant for most rows, and not for all.
        (DecisionTreeClassifier(max_depth=1), "DecisionTreeClassifier"),
    ],
)
def test_a_first_guess_that_varies_is_refused(init, got, rng):
    X = make_rows(rng, 300, has_missing=False)
    X[0, 4] = 1e6
    y = make_target(X, "two")
    y[1:], y[0] = y[1:], 1
    model = fit(GradientBoostingClassifier(**BOOST, init=init), X, y)
    with pytest.raises(InvalidOptionError, match=f"Got init={got}"):
        askless.AdaptiveEnsemble(model).fit()


def test_several_outputs_are_refused(rng):
    X = make_rows(rng, 50, has_missing=False)
    for model in (RandomForestClassifier(2), DecisionTreeRegressor()):
        fit(model, X, np.round(X[:, :2]))
        with pytest.raises(InvalidOptionError, match="Got 2 outputs"):
            askless.AdaptiveEnsemble(model).fit()


def test_a_loss_of_one_s_own_is_refused(rng):
    X = make_rows(rng, 100)
    model = fit(HistGradientBoostingRegressor(**HIST), X, make_target(X, "number"))
    model._loss.link = object()
    with pytest.raises(InvalidOptionError, match="one of scikit-learn's losses"):
        askless.AdaptiveEnsemble(model).fit()


def test_one_importer_makes_trees_and_forests_of_askless(rng):
    X = make_rows(rng, 400).astype(np.float32)
    y = make_target(X, "three")
    names = [f"f{i}" for i in range(X.shape[1])]
    costs = Costs(dict.fromkeys(names, 2.0))
    tree = fit(DecisionTreeClassifier(max_depth=6), X, y)
    forest = fit(RandomForestClassifier(**FOREST), X, y)
    new = make_rows(rng, 300).astype(np.float32)
    ours = tree_of_sklearn(tree, names, costs)
    np.testing.assert_array_equal(ours.apply(new), tree.apply(new))
    np.testing.assert_array_equal(ours.predict(new), tree.predict(new))
    many = forest_of_sklearn(forest, names, costs)
    leaves = many.apply(new) - many.tree_start[:-1]
    np.testing.assert_array_equal(leaves, forest.apply(new))
