"""What users will do to the learners of one tree: odd data and wrong parameters."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from askless import (
    ACTClassifier,
    C45Classifier,
    Costs,
    CSID3Classifier,
    DTMCClassifier,
    EG2Classifier,
    ICETClassifier,
    IDXClassifier,
    LSID3Classifier,
)

KINDS = [
    ACTClassifier,
    C45Classifier,
    CSID3Classifier,
    DTMCClassifier,
    EG2Classifier,
    ICETClassifier,
    IDXClassifier,
    LSID3Classifier,
]


def make(kind, *args, **options):
    if kind is ICETClassifier:
        options.setdefault("trials", 30)
        options.setdefault("population", 10)
    return kind(*args, **options)


@pytest.mark.parametrize("kind", KINDS)
def test_a_class_seen_once(kind, rng):
    X = rng.normal(size=(30, 3))
    y = np.array(["often"] * 29 + ["once"])
    model = make(kind).fit(X, y)
    assert model.classes_.tolist() == ["often", "once"]
    assert set(model.predict(X)) <= {"often", "once"}


@pytest.mark.parametrize("kind", KINDS)
def test_more_classes_than_most_rows_have_company(kind, rng):
    X = rng.normal(size=(12, 2))
    model = make(kind).fit(X, [f"c{i}" for i in range(12)])
    assert model.predict_proba(X).shape == (12, 12)


@pytest.mark.parametrize("kind", KINDS)
def test_constant_and_missing_columns_are_never_asked(kind, rng):
    X = pd.DataFrame(
        {
            "same": np.ones(40),
            "one word": ["x"] * 40,
            "nothing": np.full(40, np.nan),
            "no words": [None] * 40,
            "useful": np.arange(40.0),
        }
    )
    model = make(kind, dict.fromkeys(X.columns, 1), 100).fit(X, np.arange(40) > 19)
    assert model.policy_.used_tests == [4]
    assert model.score(X, np.arange(40) > 19) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_to_ask_ends_in_one_leaf(kind):
    model = make(kind).fit(np.full((10, 2), np.nan), [0, 1] * 5)
    assert model.policy_.n_leaves == 1
    assert model.cost(np.zeros((3, 2))).tolist() == [0, 0, 0]


@pytest.mark.parametrize("kind", KINDS)
def test_one_class_ends_in_one_leaf(kind, rng):
    model = make(kind).fit(rng.normal(size=(10, 2)), ["only"] * 10)
    assert model.predict([[0.0, 0.0]]) == ["only"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("mistakes", "message"),
    [
        ([[0, 1, 1], [1, 0, 1], [1, 1, 0]], "a row and a column for each class"),
        ([[0, 1]], "square matrix"),
        ([[0, -1], [1, 0]], "finite and >= 0"),
        ([[0, np.nan], [1, 0]], "finite and >= 0"),
        ([[2, 1], [1, 0]], "diagonal of mistakes is zero"),
        (-5, "must be a finite number >= 0"),
        ({"no": {"yes": 1}}, "must have a cost for every wrong decision"),
    ],
)
def test_wrong_mistakes_are_explained(kind, mistakes, message):
    with pytest.raises(ValueError, match=message):
        make(kind, None, mistakes).fit([[0], [1], [2]], ["no", "yes", "no"])


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (C45Classifier(min_weight=-1), "min_weight must be a finite number >= 0"),
        (C45Classifier(confidence=0), "confidence must be between 0 and 1"),
        (EG2Classifier(cost_weight=-1), "cost_weight must be a finite number >= 0"),
        (ACTClassifier(samples=-1), "samples must be a whole number >= 0"),
        (ACTClassifier(samples=2.5), "samples must be a whole number >= 0"),
        (ACTClassifier(time_limit=-1), "time_limit must be a finite number >= 0"),
        (ACTClassifier(cost_weight="high"), "a number, 'auto' or 'tuned'"),
        (ACTClassifier(confidence=2.0), "confidence must be between 0 and 1"),
        (LSID3Classifier(confidence="x"), "confidence must be between 0 and 1"),
        (ICETClassifier(trials=0), "trials must be a whole number >= 1"),
        (ICETClassifier(population=1), "population must be a whole number >= 2"),
        (ICETClassifier(train_share=1), "train_share must be between 0 and 1"),
        (DTMCClassifier({"x0": 1, "z": 2}), "Costs must name tests"),
    ],
)
def test_wrong_parameters_are_explained_by_fit(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit([[0.0], [1.0]], [0, 1])


def test_mistakes_of_the_estimator_come_before_those_of_the_costs():
    X, y = [[1], [2], [8], [9]], [0, 0, 1, 1]
    costs = Costs([5], mistakes=2)
    assert DTMCClassifier(costs).fit(X, y).policy_.n_leaves == 1
    assert DTMCClassifier(costs, 100).fit(X, y).policy_.n_leaves == 2


def test_free_tests_are_no_reason_to_divide_by_zero():
    X, y = [[1, 1], [2, 1], [8, 2], [9, 2]] * 3, [0, 0, 1, 1] * 3
    for kind in KINDS:
        model = make(kind, [0, 0], 10).fit(X, y)
        assert model.score(X, y) == 1
        assert model.cost(X).sum() == 0


def test_a_category_never_seen_goes_the_default_way():
    X = pd.DataFrame({"a": ["x"] * 6 + ["y"] * 4})
    model = EG2Classifier().fit(X, [0] * 6 + [1] * 4)
    assert model.predict(pd.DataFrame({"a": ["z"]})) == [0]


def test_settings_are_tuned_on_the_examples(rng):
    X = rng.integers(0, 3, (90, 4)).astype(str)
    y = (X[:, 0] == X[:, 1]).astype(int)
    frame = pd.DataFrame(X, columns=list("abcd"))
    options = {"mistakes": 30, "samples": 1, "random_state": 0}
    tuned = ACTClassifier(
        [1, 1, 5, 5], cost_weight="tuned", confidence="tuned", **options
    ).fit(X, y)
    assert tuned.cost_weight_ in (0.5, 1.0, 1.5)
    assert tuned.confidence_ in (0.15, 0.25, 0.35)
    half = ACTClassifier(
        dict(zip("abcd", [1, 1, 5, 5], strict=True)), confidence="tuned", **options
    ).fit(frame, y, sample_weight=np.ones(90))
    assert (
        half.cost_weight_
        == ACTClassifier([1, 1, 5, 5], **options).fit(X, y).cost_weight_
    )
