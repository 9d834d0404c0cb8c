"""Every setting of LightGBM that changes its predictions is honoured, or refused."""

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

lightgbm = pytest.importorskip("lightgbm")

SMALL = {"n_estimators": 12, "num_leaves": 6, "min_child_samples": 5, "n_jobs": 1,
         "verbose": -1}  # fmt: skip
RF = {"boosting_type": "rf", "subsample": 0.7, "subsample_freq": 1}


def own(model):
    """Return what a model of LightGBM says."""

    def answer(rows):
        if isinstance(model, lightgbm.Booster):
            found = model.predict(rows)
            if found.ndim == 2:
                return found.argmax(axis=1), found
            if "binary" in model.model_to_string().split("\nTree=")[0]:
                shares = np.column_stack([1.0 - found, found])
                return shares.argmax(axis=1), shares
            return found, None
        proba = getattr(model, "predict_proba", None)
        return model.predict(rows), None if proba is None else proba(rows)

    return answer


def fit(model, X, y, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y, **options)


def check_model(model, rng, has_missing=True):
    tests = askless.AdaptiveEnsemble(model).fit().policy_
    rows_list = [
        make_rows(rng, 200, has_missing),
        adversarial_rows(tests, rng, 300, special=(np.inf, -np.inf)),
        to_single(adversarial_rows(tests, rng, 100)),
    ]
    check_equal(model, rows_list, own(model))


CLASSIFIERS = {
    "plain": ({}, "two"),
    "three classes": ({}, "three"),
    "ten classes": ({}, "many"),
    "sigmoid": ({"sigmoid": 0.123456789}, "two"),
    "large sigmoid": ({"sigmoid": 30.0}, "two"),
    "cross entropy": ({"objective": "cross_entropy"}, "two"),
    "one against the rest": ({"objective": "multiclassova", "sigmoid": 2.5}, "three"),
    "dart": ({"boosting_type": "dart", "drop_rate": 0.5}, "two"),
    "dart of three": ({"boosting_type": "dart", "drop_rate": 0.5}, "three"),
    "forest": (RF, "two"),
    "forest of three": (RF, "three"),
    "goss": ({"data_sample_strategy": "goss"}, "two"),
    "no missing": ({"use_missing": False}, "two"),
    "zero is missing": ({"zero_as_missing": True}, "three"),
    "no average": ({"boost_from_average": False}, "two"),
    "extra trees": ({"extra_trees": True}, "two"),
    "class weights": ({"class_weight": "balanced"}, "three"),
    "unbalanced": ({"is_unbalance": True}, "two"),
    "monotone": ({"monotone_constraints": [1, -1, 0, 0, 0]}, "two"),
    "path smooth": ({"path_smooth": 3.0}, "two"),
    "quantized": ({"use_quantized_grad": True}, "two"),
    "not the trees of a vote": ({"start_iteration_predict": 3}, "two"),
}
REGRESSORS = {
    "plain": ({}, "number"),
    "absolute": ({"objective": "regression_l1"}, "number"),
    "huber": ({"objective": "huber"}, "number"),
    "fair": ({"objective": "fair"}, "number"),
    "quantile": ({"objective": "quantile", "alpha": 0.7}, "number"),
    "percentage": ({"objective": "mape"}, "positive"),
    "poisson": ({"objective": "poisson"}, "positive"),
    "gamma": ({"objective": "gamma"}, "positive"),
    "tweedie": ({"objective": "tweedie", "tweedie_variance_power": 1.2}, "positive"),
    "shares": ({"objective": "cross_entropy"}, "share"),
    "shares of two classes": ({"objective": "binary", "sigmoid": 0.7}, "two"),
    "forest": (RF, "number"),
    "forest of shares": ({"objective": "cross_entropy", **RF}, "share"),
    "forest of counts": ({"objective": "poisson", **RF}, "positive"),
    "dart": ({"boosting_type": "dart", "drop_rate": 0.5}, "number"),
    "zero is missing": ({"zero_as_missing": True}, "number"),
    "own objective": (
        {"objective": lambda y, p: (p - y, np.ones_like(y))}, "number",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classes_are_lightgbm_s(name, rng):
    options, kind = CLASSIFIERS[name]
    X = make_rows(rng, 300)
    model = lightgbm.LGBMClassifier(**{**SMALL, **options})
    check_model(fit(model, X, make_target(X, kind)), rng)


@pytest.mark.parametrize("name", REGRESSORS)
def test_numbers_are_lightgbm_s(name, rng):
    options, kind = REGRESSORS[name]
    X = make_rows(rng, 300)
    model = lightgbm.LGBMRegressor(**{**SMALL, **options})
    check_model(fit(model, X, make_target(X, kind)), rng)


def test_a_model_that_never_saw_a_missing_value_reads_it_as_zero(rng):
    X = make_rows(rng, 300, has_missing=False)
    check_model(fit(lightgbm.LGBMClassifier(**SMALL), X, make_target(X, "three")), rng)


def test_the_best_iteration_is_where_a_model_stops(rng):
    X = make_rows(rng, 400)
    y = make_target(X, "two") ^ (rng.random(400) < 0.2)
    stopped = fit(
        lightgbm.LGBMClassifier(**{**SMALL, "n_estimators": 60}), X[:200], y[:200],
        eval_set=[(X[200:], y[200:])],
        callbacks=[lightgbm.early_stopping(3, verbose=False)],
    )  # fmt: skip
    assert stopped.best_iteration_ < 60
    check_model(stopped, rng)
    check_model(stopped.booster_, rng)


def test_a_ranking_is_lightgbm_s(rng):
    X = make_rows(rng, 300)
    model = lightgbm.LGBMRanker(**SMALL)
    check_model(fit(model, X, make_target(X, "three"), group=[100, 200]), rng)


@pytest.mark.parametrize("is_live", [False, True])
@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"objective": "binary", "sigmoid": 0.123456789}, "two"),
        ({"objective": "multiclassova", "num_class": 3, "sigmoid": 1.2345678}, "three"),
        ({"objective": "multiclass", "num_class": 3}, "three"),
        ({"objective": "cross_entropy"}, "share"),
        ({"objective": "tweedie"}, "positive"),
        ({"objective": lambda p, d: (p - d.get_label(), np.ones_like(p))}, "number"),
    ],
)  # fmt: skip
def test_a_booster_is_read_as_it_predicts(options, kind, is_live, rng):
    X = make_rows(rng, 300)
    data = lightgbm.Dataset(X, make_target(X, kind))
    booster = lightgbm.train(
        {"num_leaves": 6, "verbose": -1, "num_threads": 1, **options}, data, 10,
        keep_training_booster=is_live,
    )  # fmt: skip
    check_model(booster, rng)


@pytest.mark.parametrize("factor", [3.0, 30.0, 300.0, 1000.0, 3e4])
@pytest.mark.parametrize("objective", ["multiclassova", "multiclass"])
def test_probabilities_that_round_to_one_are_not_settled_early(objective, factor, rng):
    # One against the rest: beyond 37 a sigmoid is 1 whatever the sum, below -709 it is
    # 0, and the first of such classes is taken.
    X = make_rows(rng, 300)
    data = lightgbm.Dataset(X, make_target(X, "three"))
    options = {"objective": objective, "num_class": 3, "num_leaves": 4, "verbose": -1}
    booster = lightgbm.train(options, data, 8)
    for tree in booster.dump_model()["tree_info"]:
        for leaf in range(tree["num_leaves"]):
            value = factor * booster.get_leaf_output(tree["tree_index"], leaf)
            booster.set_leaf_output(tree["tree_index"], leaf, value)
    check_model(booster, rng)
    if objective == "multiclassova" and factor > 1e4:
        found = np.sort(booster.predict(X))
        assert (found[:, -1] == found[:, -2]).any()


REFUSED = {
    "pred_early_stop": ({"pred_early_stop": True}, "two", "pred_early_stop=True"),
    "linear_tree": ({"linear_tree": True}, "two", "linear trees"),
    "own objective": (
        {"objective": lambda y, p: (p - y, np.ones_like(y))}, "two",
        "objective for classes. Got 'one of your own'",
    ),
    "regression": ({"objective": "regression"}, "two", "Got 'regression'"),
    "one class": ({}, "one", "must have seen them all"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_honoured_is_refused_by_name(name, rng):
    options, kind, match = REFUSED[name]
    X = make_rows(rng, 200, has_missing=False)
    y = np.zeros(200) if kind == "one" else make_target(X, kind)
    model = fit(lightgbm.LGBMClassifier(**{**SMALL, **options}), X, y)
    with pytest.raises(InvalidOptionError, match=match):
        askless.AdaptiveEnsemble(model).fit()


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"reg_sqrt": True}, "reg_sqrt=True"),
        ({"objective": "cross_entropy_lambda"}, "Got 'cross_entropy_lambda'"),
        ({"objective": "multiclass", "num_class": 3}, "objective for numbers"),
    ],
)
def test_numbers_that_cannot_be_honoured_are_refused_by_name(options, match, rng):
    X = make_rows(rng, 200)
    model = lightgbm.LGBMRegressor(**{**SMALL, **options})
    fit(model, X, make_target(X, "two"))
    with pytest.raises(InvalidOptionError, match=match):
        askless.AdaptiveEnsemble(model).fit()


# Categories.


def category_frame(rng, n_rows, *, ordered=False, constant=False, strange=False):
    names = ["red", "green", "blue", "pink", "grey"]
    colour = rng.choice([*names, "lime"] if strange else names, n_rows).astype(object)
    colour[rng.random(n_rows) < 0.1] = None
    size = ["m"] * n_rows if constant else rng.choice(["s", "m", "l"], n_rows)
    every = [*names, "lime"] if strange else names
    return pd.DataFrame(
        {
            "weight": rng.normal(size=n_rows).round(1),
            "colour": pd.Categorical(colour, categories=every),
            "size": pd.Categorical(size, ["s", "m", "l"], ordered=ordered),
        }
    )


CATEGORICAL = {"max_cat_to_onehot": 1, "min_data_per_group": 5, "cat_smooth": 1.0}


@pytest.mark.parametrize("constant", [False, True])
def test_categories_of_a_frame_are_lightgbm_s(constant, rng):
    frame = category_frame(rng, 400, constant=constant)
    y = frame["colour"].isin(["red", "pink"]) ^ (frame["weight"] > 0.3)
    model = fit(lightgbm.LGBMClassifier(**SMALL, **CATEGORICAL), frame, y)
    rows_list = [
        category_frame(rng, 300, constant=constant, strange=strange)
        for strange in (False, True)
    ]
    check_equal(model, rows_list, own(model))


@pytest.mark.parametrize("zero", [False, True])
@pytest.mark.parametrize("constant", [False, True])
def test_ordered_categories_of_a_frame_are_lightgbm_s(constant, zero, rng):
    frame = category_frame(rng, 400, ordered=True, constant=constant)
    y = (frame["size"] >= "m") ^ (frame["weight"] > 0.3) ^ (frame["colour"] == "red")
    model = lightgbm.LGBMClassifier(**SMALL, **CATEGORICAL, zero_as_missing=zero)
    fit(model, frame, y)
    rows_list = [
        category_frame(rng, 300, ordered=True, constant=constant, strange=strange)
        for strange in (False, True)
    ]
    rows_list[1]["size"] = pd.Categorical(
        rng.choice(["l", "s", "m", "xl"], 300), ["s", "m", "l", "xl"], ordered=True
    )
    check_equal(model, rows_list, own(model))
    policy = askless.AdaptiveEnsemble(model).fit().policy_
    assert [test.kind for test in policy.tests] == ["number", "category", "category"]
    rows = {"weight": [0.1], "colour": ["red"], "size": ["m"]}
    assert len(policy.predict(rows)) == 1


def test_ordered_categories_are_told_by_order_and_range(rng):
    n = 500
    frame = pd.DataFrame(
        {
            "grade": pd.Categorical(rng.choice(list("abc"), n), ordered=True),
            "count": rng.integers(0, 9, n),
            "colour": pd.Categorical(rng.choice(["red", "blue"], n)),
            "level": pd.Categorical(
                rng.choice([10, 20, 30, 40], n), [40, 10, 20, 30], ordered=True
            ),
            "age": rng.normal(size=n),
        }
    )
    score = frame["grade"].cat.codes + frame["count"] % 4 + frame["level"].cat.codes
    model = fit(lightgbm.LGBMRegressor(**SMALL, **CATEGORICAL), frame, score)
    lossless = askless.AdaptiveEnsemble(model, stop="complete").fit()
    np.testing.assert_array_equal(lossless.predict(frame), model.predict(frame))
    assert lossless.policy_.tests[3].outcomes == (40, 10, 20, 30)
    assert lossless.policy_.tests[1].kind == "number"


def test_a_category_that_is_left_out_is_a_number(rng):
    frame = category_frame(rng, 400)
    y = frame["colour"].isin(["red", "pink"]) ^ (frame["weight"] > 0.3)
    model = lightgbm.LGBMClassifier(**SMALL, **CATEGORICAL)
    fit(model, frame, y, categorical_feature=["size"])
    check_equal(model, [frame, category_frame(rng, 300, strange=True)], own(model))


def test_an_ordered_category_beside_its_like_is_refused_with_the_reason(rng):
    frame = category_frame(rng, 300, ordered=True)
    frame["rooms"] = rng.integers(0, 3, 300)
    y = (frame["rooms"] == 1) ^ (frame["size"] == "m")
    model = fit(lightgbm.LGBMClassifier(**SMALL), frame, y)
    with pytest.raises(InvalidOptionError, match=r"the columns \[2, 3\], any of which"):
        askless.AdaptiveEnsemble(model).fit()


def test_categorical_features_that_are_no_categories_are_refused(rng):
    frame = category_frame(rng, 300)
    frame["rooms"] = rng.integers(0, 9, 300)
    model = lightgbm.LGBMClassifier(**SMALL, **CATEGORICAL)
    y = (frame["rooms"] % 3 == 1) ^ (frame["size"] == "m")
    fit(model, frame, y, categorical_feature=["rooms", "colour", "size"])
    with pytest.raises(InvalidOptionError, match="which do not fit"):
        askless.AdaptiveEnsemble(model).fit()


def test_whole_numbers_as_categories_are_lightgbm_s(rng):
    X = make_rows(rng, 400)
    X[:, 0] = rng.integers(0, 40, 400)
    y = np.isin(X[:, 0] % 7, [1, 4, 6]) ^ (np.nan_to_num(X[:, 1]) > 0.3)
    model = lightgbm.LGBMClassifier(**SMALL, **CATEGORICAL)
    fit(model, X, y, categorical_feature=[0])
    rows = make_rows(rng, 400)
    rows[:, 0] = rng.choice(
        [-2, -1, -0.5, -1e-50, 0, 0.5, 1, 3.99, 4, 6, 8.5, 31, 32, 39, 40, 64, 1e12,
         np.inf, -np.inf, np.nan],
        400,
    )  # fmt: skip
    check_equal(model, [X, rows], own(model))
