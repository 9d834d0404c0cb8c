"""Every learner of one tree as an estimator: scikit-learn's checks, frames, weights."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from askless import (
    ACTClassifier,
    C45Classifier,
    CSID3Classifier,
    DTMCClassifier,
    EG2Classifier,
    ICETClassifier,
    IDXClassifier,
    LSID3Classifier,
)
from askless.datasets import make_clinic

GREEDY = [
    C45Classifier(),
    EG2Classifier(),
    IDXClassifier(),
    CSID3Classifier(),
    DTMCClassifier(),
]
SAMPLED = [
    LSID3Classifier(samples=2, random_state=0),
    ACTClassifier(samples=2, random_state=0),
    ICETClassifier(trials=40, population=10, random_state=0),
]
ALL = [*GREEDY, *SAMPLED]


@parametrize_with_checks(ALL)
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)


def same_tree(one, other) -> bool:
    names = ("test", "cut", "branch_code", "branch_child", "default_branch", "weight")
    return all(
        np.array_equal(getattr(one.policy_, name), getattr(other.policy_, name))
        for name in names
    )


@pytest.mark.parametrize("model", ALL, ids=lambda m: type(m).__name__)
def test_frames_of_every_kind_give_the_tree_of_the_array(model, rng):
    X = rng.normal(size=(120, 4)).round(1)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = rng.integers(0, 3, 120)
    names = ["a", "b", "c", "d"]
    costs = dict(zip(names, [4, 3, 2, 1], strict=True))
    model = model.set_params(costs=list(costs.values()))
    tree = type(model)(**model.get_params()).fit(X, y)
    for frame in (
        pd.DataFrame(X, columns=names),
        pl.DataFrame(dict(zip(names, X.T, strict=True)), nan_to_null=True),
    ):
        by_frame = type(model)(**{**model.get_params(), "costs": costs}).fit(frame, y)
        assert same_tree(by_frame, tree)
        assert np.array_equal(by_frame.predict(frame), tree.predict(X))
        assert np.array_equal(by_frame.cost(frame), tree.cost(X))
    model.set_params(costs=None)


@pytest.mark.parametrize("model", ALL, ids=lambda m: type(m).__name__)
def test_categories_groups_delays_and_missing_values_are_learned_from(model):
    examples = make_clinic(400, random_state=5)
    params = {**model.get_params(), "costs": examples.costs}
    by_pandas = type(model)(**params).fit(examples.to_frame("pandas"), examples.y)
    by_polars = type(model)(**params).fit(examples.to_frame("polars"), examples.y)
    assert same_tree(by_pandas, by_polars)
    assert {test.kind for test in by_pandas.policy_.tests} == {"category", "number"}
    X = examples.to_frame("pandas")
    # IDX and CS-ID3 live on the tests that cost nothing.
    assert by_pandas.score(X, examples.y) > 0.4
    assert by_pandas.cost(X).mean() < by_pandas.policy_.prices.cost_of_all()


@pytest.mark.parametrize(
    "model", [*GREEDY, *SAMPLED[:2]], ids=lambda m: type(m).__name__
)
def test_weights_are_the_same_as_repeated_rows(model, rng):
    X = rng.integers(0, 9, (60, 3)).astype(float)
    y = rng.integers(0, 3, 60)
    weights = rng.integers(0, 4, 60)
    weighted = type(model)(**model.get_params()).fit(X, y, sample_weight=weights)
    repeated = type(model)(**model.get_params()).fit(
        np.repeat(X, weights, axis=0), np.repeat(y, weights)
    )
    assert same_tree(weighted, repeated)


@pytest.mark.parametrize("model", SAMPLED, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("n_jobs", [2, 3])
def test_the_tree_does_not_depend_on_the_number_of_threads(model, n_jobs):
    examples = make_clinic(500, random_state=2)
    X = examples.to_frame()
    params = {**model.get_params(), "costs": examples.costs}
    weights = np.random.default_rng(0).uniform(0.5, 2, 500)
    one = type(model)(**params).fit(X, examples.y, weights)
    many = type(model)(**{**params, "n_jobs": n_jobs}).fit(X, examples.y, weights)
    assert same_tree(one, many)


@pytest.mark.parametrize("model", SAMPLED, ids=lambda m: type(m).__name__)
def test_the_seed_decides(model, rng):
    X = rng.integers(0, 3, (80, 8)).astype(str)
    y = rng.integers(0, 2, 80)
    params = {**model.get_params(), "mistakes": 50, "random_state": 3}
    first, again = (type(model)(**params).fit(X, y) for _ in range(2))
    assert same_tree(first, again)
