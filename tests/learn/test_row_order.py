"""Learners that draw rows do not care how rows are ordered, or whether they repeat."""

import numpy as np
import pandas as pd
import pytest

import askless
from askless.learn import CEGBClassifier, PlainForestClassifier
from askless.learn._examples import KnownRows
from askless.learn._row_order import MOST_TIMES, mix_rows
from askless.problem._frames import Columns

MODELS = {
    "forest": lambda: askless.BudgetForestClassifier(
        n_estimators=6, budget=4, random_state=0
    ),
    "out-of-bag": lambda: askless.BudgetForestClassifier(
        n_estimators=6, budget=4, out_of_bag=True, random_state=0
    ),
    "plain": lambda: PlainForestClassifier(n_estimators=4, random_state=0),
    "boost": lambda: askless.BudgetBoostClassifier(
        n_estimators=8, budget=3, random_state=0
    ),
    "cegb": lambda: CEGBClassifier(n_estimators=8, random_state=0),
}


@pytest.fixture(params=MODELS)
def make(request):
    if request.param in ("boost", "cegb"):
        pytest.importorskip("lightgbm")
    return MODELS[request.param]


@pytest.fixture
def rows():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(200, 6)).round(1)
    y = (X[:, 0] + X[:, 1] > 0).astype(int) + (X[:, 2] > 1)
    return X, y


def same(a, b, X):
    assert np.array_equal(a.predict(X), b.predict(X))
    assert np.array_equal(a.predict_proba(X), b.predict_proba(X))
    assert np.array_equal(a.cost(X), b.cost(X))


def test_a_whole_weight_is_as_many_rows(make, rows, rng):
    X, y = rows
    times = rng.integers(0, 4, len(y))
    weighted = make().fit(X, y, sample_weight=times)
    repeated = make().fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    same(weighted, repeated, X)


def test_the_order_of_rows_does_not_matter(make, rows, rng):
    X, y = rows
    order = rng.permutation(len(y))
    same(make().fit(X, y), make().fit(X[order], y[order]), X)


def test_other_weights_stay_weights(make, rows):
    X, y = rows
    heavy = np.where(y == 0, 0.5, 2.0)
    assert make().fit(X, y, sample_weight=heavy).predict(X).shape == y.shape
    # Too many to be repeated.
    many = np.full(len(y), MOST_TIMES + 1.0)
    assert make().fit(X, y, sample_weight=many).predict(X).shape == y.shape


def test_text_counts_by_what_it_says(rows, rng):
    X, y = rows
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame["g"] = np.where(X[:, 0] > 0, "high", "low")
    times = rng.integers(1, 3, len(y))
    order = rng.permutation(len(y))
    make = MODELS["forest"]
    weighted = make().fit(frame.iloc[order], y[order], sample_weight=times[order])
    again = np.repeat(np.arange(len(y)), times)
    same(weighted, make().fit(frame.iloc[again], y[again]), frame)


def test_different_rows_have_different_numbers(rng):
    """Few digits, small whole numbers and flags: floats that end in zeros."""
    X = rng.integers(0, 4, (20_000, 8)).astype(float)
    X[:, 0] = rng.normal(size=20_000).round(1)
    X[rng.random(X.shape) < 0.05] = np.nan
    rows = KnownRows(X, rng.integers(0, 2, 20_000).astype(np.int32), None)
    numbers = mix_rows(rows)
    filled = np.column_stack([np.nan_to_num(X, nan=-9.0) + 0.0, rows.class_ids])
    n_different = len(np.unique(filled, axis=0))
    assert len(np.unique(numbers)) == n_different
    # Columns of a frame are mixed as those of a matrix.
    frame = Columns((f"x{i}", X[:, i]) for i in range(8))
    again = mix_rows(KnownRows(frame, rows.class_ids, None))
    assert np.array_equal(again, numbers)
    assert mix_rows(rows.take([0]))[0] == numbers[0]
    # Columns that change places make other rows.
    assert not np.array_equal(
        mix_rows(KnownRows(X[:, ::-1].copy(), rows.class_ids, None)), numbers
    )
