"""Pipelines of scikit-learn as policies that buy raw columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

import askless
from askless.exceptions import InvalidOptionError


def make_frame(rng, n=300):
    frame = pd.DataFrame(
        {
            "age": rng.normal(50, 15, n).round(),
            "iron": rng.gamma(2, 30, n),
            "pain": rng.choice(["none", "some", "much"], n),
            "ward": rng.choice([1, 2, 3, 7], n),
            "notes": rng.choice(["a", "b"], n),
        }
    )
    frame.loc[rng.random(n) < 0.1, "iron"] = np.nan
    ill = (frame.age > 55).astype(int) + (frame.pain == "much") + (frame.ward == 7)
    return frame, np.where(ill + rng.random(n) > 1.2, "ill", "well")


def make_columns(**others):
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    return ColumnTransformer(
        [
            ("numbers", numbers, ["age", "iron"]),
            ("words", OneHotEncoder(handle_unknown="ignore"), ["pain", "ward"]),
        ],
        **others,
    )


@pytest.mark.parametrize("kind", ["forest", "boosting", "lightgbm", "xgboost"])
def test_a_pipeline_predicts_the_same_and_buys_raw_columns(kind, rng):
    frame, y = make_frame(rng)
    if kind == "lightgbm":
        lightgbm = pytest.importorskip("lightgbm")
        model = lightgbm.LGBMClassifier(n_estimators=20, verbose=-1)
    elif kind == "xgboost":
        xgboost = pytest.importorskip("xgboost")
        model, y = xgboost.XGBClassifier(n_estimators=9), (y == "ill").astype(int)
    elif kind == "forest":
        model = RandomForestClassifier(15, random_state=0)
    else:
        model = GradientBoostingClassifier(n_estimators=15, random_state=0)
    pipeline = Pipeline([("columns", make_columns()), ("model", model)])
    pipeline.fit(frame[:200], y[:200])
    costs = {"age": 1, "iron": 20, "pain": 2, "ward": 1, "notes": 5}
    adaptive = askless.AdaptiveEnsemble(pipeline, costs).fit()
    policy = adaptive.policy_
    assert policy.test_names == ("age", "iron", "pain", "ward", "notes")
    assert [test.kind for test in policy.tests][:4] == [
        "number", "number", "category", "category",
    ]  # fmt: skip
    assert adaptive.predict(frame).tolist() == pipeline.predict(frame).tolist()
    # One-hot columns are one purchase: nobody pays for a word twice.
    assert adaptive.cost(frame).max() <= 24
    full = askless.AdaptiveEnsemble(pipeline, costs, stop="complete").fit()
    assert full.predict_proba(frame) == pytest.approx(pipeline.predict_proba(frame))
    session = policy.start()
    while session.test is not None:
        session.answer(frame.iloc[0][session.test])
    assert session.decision == pipeline.predict(frame[:1])[0]


def test_categories_never_seen_and_missing_numbers_go_where_the_pipeline_says(rng):
    frame, y = make_frame(rng)
    pipeline = make_pipeline(make_columns(), RandomForestClassifier(9, random_state=0))
    pipeline.fit(frame, y)
    strange = frame.copy()
    strange["pain"] = rng.choice(["none", "unheard of"], len(frame))
    strange["ward"] = rng.choice([1, 99], len(frame))
    strange.loc[::2, "iron"] = np.nan
    adaptive = askless.AdaptiveEnsemble(pipeline).fit()
    assert adaptive.predict(strange).tolist() == pipeline.predict(strange).tolist()


@pytest.mark.parametrize(
    "transformer",
    [
        StandardScaler(),
        MinMaxScaler((3, 7)),
        MaxAbsScaler(),
        RobustScaler(),
        SimpleImputer(add_indicator=True),
        make_pipeline(SimpleImputer(), StandardScaler(), SelectKBest(k=2)),
        ColumnTransformer([("two", StandardScaler(), [2, 0])], remainder="passthrough"),
        ColumnTransformer([("two", MinMaxScaler(), slice(1, 3))], remainder="drop"),
        "passthrough",
    ],
    ids=str,
)
def test_numbers_split_at_the_same_values(transformer, rng):
    X = rng.normal(size=(200, 4)).round(2)
    y = (X[:, 0] - X[:, 2] > 0).astype(int)
    if "Imputer" in str(transformer):
        X[rng.random(X.shape) < 0.1] = np.nan
    pipeline = make_pipeline(transformer, RandomForestClassifier(9, random_state=0))
    pipeline.fit(X, y)
    policy = askless.AdaptiveEnsemble(pipeline).fit().policy_
    # Where a split could be off by one: beside every cut.
    beside = [
        np.nextafter(cut, side)
        for test in policy.tests
        for cut in test.cuts
        for side in (-np.inf, cut, np.inf)
    ]
    rows = np.vstack([X, rng.choice(beside, size=(400, 4))])
    assert policy.predict(rows).tolist() == pipeline.predict(rows).tolist()


def test_a_column_that_falls_is_split_the_other_way(rng):
    X = rng.normal(size=(200, 2))
    y = (X[:, 0] > 0.3).astype(int)
    scaler = StandardScaler()
    pipeline = make_pipeline(scaler, RandomForestClassifier(9, random_state=0))
    pipeline.fit(X, y)
    scaler.scale_ = -scaler.scale_
    adaptive = askless.AdaptiveEnsemble(pipeline).fit()
    assert adaptive.predict(X).tolist() == pipeline.predict(X).tolist()


def test_words_may_be_numbered(rng):
    frame, y = make_frame(rng)
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    columns = ColumnTransformer([("words", encoder, ["pain", "ward"])])
    pipeline = make_pipeline(columns, RandomForestClassifier(5, random_state=0))
    pipeline.fit(frame, y)
    adaptive = askless.AdaptiveEnsemble(pipeline).fit()
    assert adaptive.predict(frame).tolist() == pipeline.predict(frame).tolist()


@pytest.mark.parametrize(
    "transformer",
    [
        PCA(2),
        KNNImputer(),
        FunctionTransformer(np.log1p),
        QuantileTransformer(n_quantiles=9),
    ],
    ids=lambda t: type(t).__name__,
)
def test_what_may_mix_columns_is_refused_by_name(transformer, rng):
    X = rng.random(size=(80, 3))
    pipeline = make_pipeline(transformer, RandomForestClassifier(3)).fit(
        X, X[:, 0] > 0.5
    )
    with pytest.raises(InvalidOptionError, match=type(transformer).__name__) as error:
        askless.AdaptiveEnsemble(pipeline).fit()
    assert "prepare the columns before" in str(error.value)


def test_a_column_that_is_number_and_word_is_refused(rng):
    frame, y = make_frame(rng)
    both = ColumnTransformer(
        [("words", OneHotEncoder(), ["ward"]), ("numbers", StandardScaler(), ["ward"])]
    )
    pipeline = make_pipeline(both, RandomForestClassifier(3)).fit(frame, y)
    with pytest.raises(InvalidOptionError, match="a number or a category"):
        askless.AdaptiveEnsemble(pipeline).fit()
