"""Every setting of XGBoost that changes its predictions is honoured, or refused."""

import warnings

import numpy as np
import pandas as pd
import pytest

import askless
from askless.exceptions import InvalidOptionError
from tests.learn.sources.compare import (
    adversarial_rows,
    check_equal,
    make_rows,
    make_target,
    to_single,
)

xgboost = pytest.importorskip("xgboost")

SMALL = {"n_estimators": 10, "max_depth": 3, "n_jobs": 1}


def own(model):
    """Return what a model of XGBoost says."""

    def answer(rows):
        if isinstance(model, xgboost.Booster):
            found = model.predict(xgboost.DMatrix(rows))
            objective = model.save_config()
            if found.ndim == 2:
                return found.argmax(axis=1), found
            if '"binary:logistic"' in objective:
                return (found > 0.5).astype(int), np.column_stack([1 - found, found])
            return found, None
        shares = getattr(model, "predict_proba", None)
        if getattr(model, "objective", "") == "multi:softmax":
            shares = None
        return model.predict(rows), None if shares is None else shares(rows)

    return answer


def fit(model, X, y, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y, **options)


def check_model(model, rng, special=()):
    policy = askless.AdaptiveEnsemble(model).fit().policy_
    if not isinstance(model, xgboost.Booster):
        # A DMatrix refuses what is infinite.
        special = (*special, np.inf, -np.inf, 3.4e38, -3.5e38)
    rows_list = [
        make_rows(rng, 200),
        adversarial_rows(policy, rng, 300, special=special),
        to_single(adversarial_rows(policy, rng, 100)),
    ]
    check_equal(model, rows_list, own(model))


CLASSIFIERS = {
    "plain": ({}, "two"),
    "three classes": ({}, "three"),
    "ten classes": ({}, "many"),
    "softmax": ({"objective": "multi:softmax"}, "three"),
    "regression of odds": ({"objective": "reg:logistic"}, "two"),
    "base score": ({"base_score": 0.123456789}, "two"),
    "small base score": ({"base_score": 1e-6}, "two"),
    "base score of three": ({"base_score": 0.3}, "three"),
    "parallel trees": ({"num_parallel_tree": 4, "subsample": 0.6}, "two"),
    "parallel trees of three": ({"num_parallel_tree": 3, "subsample": 0.6}, "three"),
    "weights": ({"scale_pos_weight": 3.0}, "two"),
    "monotone": ({"monotone_constraints": (1, -1, 0, 0, 0)}, "two"),
    "by loss": ({"grow_policy": "lossguide", "max_leaves": 6}, "three"),
    "exact": ({"tree_method": "exact"}, "two"),
    "approximate": ({"tree_method": "approx"}, "three"),
    "own objective": ({"objective": lambda y, p: (p - y, np.ones_like(y))}, "two"),
    "large steps": ({"learning_rate": 40.0, "reg_lambda": 0.0}, "three"),
}
REGRESSORS = {
    "plain": ({}, "number"),
    "absolute": ({"objective": "reg:absoluteerror"}, "number"),
    "huber": ({"objective": "reg:pseudohubererror"}, "number"),
    "quantile": (
        {"objective": "reg:quantileerror", "quantile_alpha": 0.7}, "number",
    ),
    "logarithms": ({"objective": "reg:squaredlogerror"}, "positive"),
    "poisson": ({"objective": "count:poisson"}, "positive"),
    "poisson from": ({"objective": "count:poisson", "base_score": 0.7}, "positive"),
    "gamma": ({"objective": "reg:gamma"}, "positive"),
    "tweedie": (
        {"objective": "reg:tweedie", "tweedie_variance_power": 1.3}, "positive",
    ),
    "shares": ({"objective": "reg:logistic"}, "share"),
    "shares of two": ({"objective": "binary:logistic"}, "two"),
    "base score": ({"base_score": 1234.5678}, "number"),
    "parallel trees": ({"num_parallel_tree": 4, "subsample": 0.6}, "number"),
    "own objective": (
        {"objective": lambda y, p: (p - y, np.ones_like(y))}, "number",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classes_are_xgboost_s(name, rng):
    options, kind = CLASSIFIERS[name]
    X = make_rows(rng, 300)
    model = xgboost.XGBClassifier(**{**SMALL, **options})
    check_model(fit(model, X, make_target(X, kind)), rng)


@pytest.mark.parametrize("name", REGRESSORS)
def test_numbers_are_xgboost_s(name, rng):
    options, kind = REGRESSORS[name]
    X = make_rows(rng, 300)
    model = xgboost.XGBRegressor(**{**SMALL, **options})
    check_model(fit(model, X, make_target(X, kind)), rng)


@pytest.mark.parametrize("missing", [-1.0, 0.0, 0.1, 0.5, -1e30, 3.4e38])
@pytest.mark.parametrize("kind", ["two", "number"])
def test_a_number_that_stands_for_missing_counts_as_missing(missing, kind, rng):
    X = make_rows(rng, 400).round(0)
    fitted = np.where(np.isnan(X), missing, X)
    make = xgboost.XGBClassifier if kind == "two" else xgboost.XGBRegressor
    model = fit(make(**SMALL, missing=missing), fitted, make_target(X, kind))
    check_model(model, rng, (missing,) * 9)
    check_equal(model, [fitted], own(model))


@pytest.mark.parametrize("missing", [np.inf, -np.inf])
def test_infinity_may_stand_for_missing(missing, rng):
    X = make_rows(rng, 400)
    fitted = np.where(np.isnan(X), missing, X)
    model = xgboost.XGBClassifier(**SMALL, missing=missing)
    check_model(fit(model, fitted, make_target(X, "two")), rng, (missing,) * 9)


@pytest.mark.parametrize("kind", ["two", "three", "number"])
def test_an_estimator_stops_at_its_best_iteration_and_its_booster_does_not(kind, rng):
    X = make_rows(rng, 400)
    y = make_target(X, kind)
    y = (
        rng.permutation(y)
        if kind == "number"
        else np.where(rng.random(400) < 0.4, rng.permutation(y), y)
    )
    make = xgboost.XGBRegressor if kind == "number" else xgboost.XGBClassifier
    model = make(**{**SMALL, "n_estimators": 60}, early_stopping_rounds=5)
    fit(model, X[:200], y[:200], eval_set=[(X[200:], y[200:])], verbose=False)
    booster = model.get_booster()
    assert model.best_iteration + 1 < booster.num_boosted_rounds()
    check_model(model, rng)
    check_model(booster, rng)


def test_forests_of_xgboost_are_read_too(rng):
    X = make_rows(rng, 300)
    options = {"n_estimators": 15, "max_depth": 4, "n_jobs": 1}
    for make, kind in (("XGBRFClassifier", "three"), ("XGBRFRegressor", "number")):
        model = getattr(xgboost, make)(**options)
        check_model(fit(model, X, make_target(X, kind)), rng)


def test_a_ranking_is_xgboost_s(rng):
    X = make_rows(rng, 300)
    model = xgboost.XGBRanker(**SMALL)
    check_model(fit(model, X, make_target(X, "three"), qid=np.arange(300) // 50), rng)


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"objective": "binary:logistic"}, "two"),
        ({"objective": "multi:softprob", "num_class": 3}, "three"),
        ({"objective": "multi:softmax", "num_class": 3}, "three"),
        ({"objective": "multi:softprob", "num_class": 2}, "two"),
        ({"objective": "reg:logistic"}, "share"),
        ({"objective": "reg:gamma"}, "positive"),
        ({}, "number"),
    ],
)
def test_a_booster_is_read_as_it_predicts(options, kind, rng):
    X = make_rows(rng, 300)
    data = xgboost.DMatrix(X, make_target(X, kind))
    booster = xgboost.train({"max_depth": 3, "nthread": 1, **options}, data, 8)
    check_model(booster, rng)


def category_frame(rng, n_rows, *, is_reversed=False):
    names = ["red", "green", "blue", "pink", "grey"]
    colour = rng.choice(names, n_rows).astype(object)
    colour[rng.random(n_rows) < 0.1] = None
    every = names[::-1] if is_reversed else names
    return pd.DataFrame(
        {
            "weight": rng.normal(size=n_rows).round(1),
            "colour": pd.Categorical(colour, categories=every),
            "size": pd.Categorical(rng.choice([10, 20, 40], n_rows), [40, 10, 20]),
        }
    )


@pytest.mark.parametrize("onehot", [1, 100])
def test_categories_of_a_frame_are_xgboost_s(onehot, rng):
    frame = category_frame(rng, 400)
    is_odd = frame["colour"].isin(["red", "grey"]) ^ (frame["size"] == 10)
    y = (is_odd ^ (frame["weight"] > 0.3)).astype(int)
    model = xgboost.XGBClassifier(
        **SMALL, enable_categorical=True, max_cat_to_onehot=onehot
    )
    fit(model, frame, y)
    rows_list = [category_frame(rng, 300, is_reversed=s) for s in (False, True)]
    check_equal(model, rows_list, own(model))
    # XGBoost refuses a category that it has not seen; here it counts as missing.
    adaptive = askless.AdaptiveEnsemble(model, stop="complete").fit()
    strange, missing = (
        rows_list[0].assign(colour=pd.Categorical([name] * 300, ["lime"]))
        for name in ("lime", None)
    )
    assert (adaptive.predict(strange) == adaptive.predict(missing)).all()
    kinds = [test.kind for test in askless.AdaptiveEnsemble(model).fit().policy_.tests]
    assert kinds == ["number", "category", "category"]


@pytest.mark.parametrize("missing", [np.nan, 3.0, 0.0])
def test_whole_numbers_as_categories_are_xgboost_s(missing, rng):
    X = make_rows(rng, 500)
    X[:, 0] = rng.integers(0, 40, 500)
    y = (np.isin(X[:, 0] % 7, [1, 4, 6]) ^ (np.nan_to_num(X[:, 1]) > 0.3)).astype(int)
    model = xgboost.XGBClassifier(
        **SMALL, enable_categorical=True, max_cat_to_onehot=1, missing=missing,
        feature_types=["c", "q", "q", "q", "q"],
    )  # fmt: skip
    fit(model, X, y)
    rows = make_rows(rng, 500)
    rows[:, 0] = rng.choice(
        [-2, -1, -0.5, -1e-50, 0, 0.5, 1, 2.9999999999, 3, 4, 6, 8.5, 31, 32, 39, 40,
         64, 1e12, 2.0**24, np.nan],
        500,
    )  # fmt: skip
    check_equal(model, [X, rows], own(model))


REFUSED = {
    "dart": ({"booster": "dart"}, "two", "Got booster='dart'"),
    "linear": ({"booster": "gblinear"}, "two", "Got booster='gblinear'"),
    "raw odds": ({"objective": "binary:logitraw"}, "two", "Got 'binary:logitraw'"),
    "hinge": ({"objective": "binary:hinge"}, "two", "Got 'binary:hinge'"),
    "regression": ({"objective": "reg:squarederror"}, "two", "objective for classes"),
    "softmax of two": (
        {"objective": "multi:softprob", "num_class": 2}, "two", "of two classes",
    ),
    "one class": ({}, "one", "must have seen them all"),
    "several labels": ({}, "labels", "must have one target. Got 2"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_honoured_is_refused_by_name(name, rng):
    options, kind, match = REFUSED[name]
    X = make_rows(rng, 200)
    y = make_target(X, "two")
    y = {"one": y * 0, "labels": np.column_stack([y, 1 - y])}.get(kind, y)
    model = fit(xgboost.XGBClassifier(**{**SMALL, **options}), X, y)
    with pytest.raises(InvalidOptionError, match=match):
        askless.AdaptiveEnsemble(model).fit()


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"booster": "dart"}, "Got booster='dart'"),
        (
            {"objective": "reg:quantileerror", "quantile_alpha": [0.2, 0.8]},
            "quantile_alpha",
        ),
        ({"objective": "survival:cox"}, "Got 'survival:cox'"),
    ],
)
def test_numbers_that_cannot_be_honoured_are_refused_by_name(options, match, rng):
    X = make_rows(rng, 200)
    model = xgboost.XGBRegressor(**{**SMALL, **options})
    fit(model, X, make_target(X, "positive"))
    with pytest.raises(InvalidOptionError, match=match):
        askless.AdaptiveEnsemble(model).fit()


def test_several_values_in_a_leaf_are_refused(rng):
    X = make_rows(rng, 200)
    model = xgboost.XGBClassifier(
        **SMALL, multi_strategy="multi_output_tree", tree_method="hist"
    )
    fit(model, X, make_target(X, "three"))
    with pytest.raises(InvalidOptionError, match="multi_output_tree"):
        askless.AdaptiveEnsemble(model).fit()


def test_names_that_xgboost_cuts_off_are_refused(rng):
    frame = category_frame(rng, 200)
    frame["colour"] = frame["colour"].cat.rename_categories({"grey": "grün"})
    model = xgboost.XGBClassifier(**SMALL, enable_categorical=True)
    fit(model, frame, (frame["weight"] > 0).astype(int))
    with pytest.raises(InvalidOptionError, match="ASCII letters"):
        askless.AdaptiveEnsemble(model).fit()


def test_a_number_for_missing_and_categories_do_not_go_together(rng):
    frame = category_frame(rng, 200)
    model = xgboost.XGBClassifier(**SMALL, enable_categorical=True, missing=1.0)
    fit(model, frame, (frame["weight"] > 0).astype(int))
    with pytest.raises(InvalidOptionError, match="must take NaN alone for missing"):
        askless.AdaptiveEnsemble(model).fit()
