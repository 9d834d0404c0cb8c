"""One fit for every learner: weights, validation rows, mistakes, threads, one run."""

import dataclasses
import warnings

import numpy as np
import pandas as pd
import pytest

from askless import Costs
from askless.exceptions import InvalidOptionError, InvalidTableError
from askless.learn import (
    LEARNERS,
    ASTCClassifier,
    BoostPoint,
    CEGBClassifier,
    ForestPoint,
    PlainForestClassifier,
    ValidationPoint,
)
from askless.problem._coding import BYTE_LEVELS, quantile_test

NUMBERS_ONLY = ("plain-forest", "astc")
KINDS = {name: learner.estimator for name, learner in LEARNERS.items()} | {
    "cegb": CEGBClassifier, "plain-forest": PlainForestClassifier,
    "astc": ASTCClassifier,
}  # fmt: skip
# Rows of these are drawn, or LightGBM counts them, whatever they weigh.
DRAWN = ("forest", "boost", "cegb", "plain-forest")
QUICK = {
    "n_estimators": 5, "trials": 30, "population": 10, "random_state": 0, "samples": 2,
    "tradeoffs": (0.01,), "bagged_tradeoffs": (), "n_folds": 0,
}  # fmt: skip


def make(name, **options):
    if name in ("boost", "cegb"):
        pytest.importorskip("lightgbm")
    known = KINDS[name]().get_params()
    quick = {key: value for key, value in QUICK.items() if key in known}
    return KINDS[name](**{**quick, **options})


def make_rows(rng, n=120):
    X = rng.normal(size=(n, 3)).round(1)
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, "yes", "no")
    return X, y


def as_columns(X):
    return {f"x{i}": column for i, column in enumerate(X.T)}


def same_model(one, other, X) -> bool:
    decided, paid = one.predict_and_cost(X)
    again, paid_again = other.predict_and_cost(X)
    shares = True
    if hasattr(one, "predict_proba"):
        shares = np.array_equal(one.predict_proba(X), other.predict_proba(X))
    return (
        shares and np.array_equal(decided, again) and np.array_equal(paid, paid_again)
    )


@pytest.mark.parametrize("name", KINDS)
def test_weights_go_with_columns_by_name(name, rng):
    X, y = make_rows(rng)
    weights = rng.uniform(0.5, 2, len(y))
    by_name = make(name).fit(as_columns(X), y, sample_weight=weights)
    by_place = make(name).fit(X, y, sample_weight=weights)
    assert by_name.feature_names_in_.tolist() == ["x0", "x1", "x2"]
    assert by_name.predict(as_columns(X)).tolist() == by_place.predict(X).tolist()
    assert by_name.cost(as_columns(X)).tolist() == by_place.cost(X).tolist()


@pytest.mark.parametrize("name", KINDS)
def test_a_row_of_weight_zero_is_not_there(name, rng):
    X, y = make_rows(rng)
    weights = rng.integers(0, 3, len(y)).astype(float)
    kept = weights > 0
    weighted = make(name).fit(X, y, weights)
    without = make(name).fit(X[kept], y[kept], weights[kept])
    assert same_model(weighted, without, X)


@pytest.mark.parametrize("name", [name for name in KINDS if name not in DRAWN])
@pytest.mark.parametrize("decimals", [1, 6])
def test_a_weight_of_two_is_two_rows(name, decimals, rng):
    # With six decimals there are more values than levels, so that cuts are chosen.
    X = rng.normal(size=(400, 3)).round(decimals)
    y = np.where(X[:, 0] + rng.normal(size=400) > 0, "yes", "no")
    counts = rng.integers(0, 4, 400)
    options = {} if name == "astc" else {"mistakes": 30}
    weighted = make(name, **options).fit(X, y, sample_weight=counts)
    rows = np.repeat(np.arange(400), counts)
    repeated = make(name, **options).fit(X[rows], y[rows])
    if name == "astc":
        assert np.allclose(weighted.decision_function(X), repeated.decision_function(X))
    else:
        assert same_model(weighted, repeated, X)


def test_levels_are_chosen_by_weight(rng):
    values = rng.normal(size=2000)
    counts = rng.integers(0, 5, 2000)
    kept = counts > 0
    weighted = quantile_test("x", values[kept], weights=counts[kept].astype(float))
    repeated = quantile_test("x", np.repeat(values, counts))
    assert weighted == repeated
    assert weighted.n_levels > BYTE_LEVELS // 2
    missing = np.full(5, np.nan)
    assert quantile_test("x", missing, weights=np.ones(5)).cuts == ()


def test_levels_of_many_weighted_rows_are_those_of_a_sample(rng):
    values = np.repeat([0.0, 1.0], 150_000)
    weights = np.where(np.arange(300_000) % 150_000 == 0, 1e9, 1e-9)
    assert quantile_test("x", values, weights=weights).cuts == (0.5,)


@pytest.mark.parametrize("name", KINDS)
def test_decisions_and_costs_come_from_one_run(name, rng):
    X, y = make_rows(rng)
    mistakes = np.array([[0.0, 3.0], [8.0, 0.0]])
    model = make(name, costs=[1, 2, 3], mistakes=mistakes).fit(X, y)
    decided, paid = model.predict_and_cost(X)
    assert decided.dtype == model.classes_.dtype
    assert decided.tolist() == model.predict(X).tolist()
    assert paid.tolist() == model.cost(X).tolist()
    wrong = np.where(y == "yes", 8.0, 3.0) * (decided != y)
    assert model.total_cost(X, y).tolist() == (paid + wrong).tolist()


@pytest.mark.parametrize("name", KINDS)
def test_mistakes_of_the_learner_come_before_those_of_the_costs(name, rng):
    X, y = make_rows(rng)
    costs = Costs([1, 2, 3], mistakes=4)
    own = make(name, costs=costs).fit(X, y)
    other = make(name, costs=costs, mistakes=9).fit(X, y)
    wrong = own.predict(X) != y
    assert np.allclose(own.total_cost(X, y) - own.cost(X), 4.0 * wrong)
    wrong = other.predict(X) != y
    assert np.allclose(other.total_cost(X, y) - other.cost(X), 9.0 * wrong)


@pytest.mark.parametrize("name", KINDS)
def test_validation_rows_are_told_of_in_one_way(name, rng):
    X, y = make_rows(rng)
    X_valid, y_valid = make_rows(rng, 50)
    y_valid[:2] = "maybe"  # never seen, so always wrong
    model = make(name).fit(X, y, X_valid=X_valid, y_valid=y_valid)
    point = model.point_
    decided, paid = model.predict_and_cost(X_valid)
    assert isinstance(point, ValidationPoint)
    assert point.cost == pytest.approx(paid.mean())
    assert point.cost_spread == pytest.approx(paid.std())
    assert point.cost_stderr == pytest.approx(paid.std(ddof=1) / np.sqrt(50))
    assert point.error == pytest.approx(np.mean(decided != y_valid))
    assert point.n_rows == 50


@pytest.mark.parametrize("name", KINDS)
def test_an_eval_set_is_a_pair_of_validation_rows(name, rng):
    X, y = make_rows(rng)
    X_valid, y_valid = make_rows(rng, 50)
    expected = make(name).fit(X, y, X_valid=X_valid, y_valid=y_valid)
    for given in ([(X_valid, y_valid)], (X_valid, y_valid)):
        model = make(name).fit(X, y, eval_set=given)
        assert model.point_ == expected.point_
        assert same_model(model, expected, X)


def test_an_eval_set_that_is_none_is_refused(rng):
    X, y = make_rows(rng)
    pair = (X, y)
    for options, got in [
        ({"eval_set": [pair, pair]}, "2 pairs"),
        ({"eval_set": []}, "0 pairs"),
        ({"eval_set": {"valid": pair}}, "dict"),
        ({"eval_set": [pair], "X_valid": X, "y_valid": y}, "a pair and X_valid"),
    ]:
        with pytest.raises(InvalidOptionError, match=f"eval_set must be one .*{got}"):
            make("c45").fit(X, y, **options)


@pytest.mark.parametrize("name", KINDS)
def test_what_is_not_measured_is_not_told(name, rng):
    X, y = make_rows(rng)
    model = make(name).fit(X, y)
    kind = {"boost": BoostPoint, "cegb": ValidationPoint}.get(name, type(None))
    assert type(model.point_) is kind
    if name == "forest":
        assert type(make(name, budget=2).fit(X, y).point_) is ForestPoint
    # A fit without validation rows forgets those of the last one.
    model.fit(X, y, X_valid=X, y_valid=y)
    assert model.point_ is not None
    assert type(model.fit(X, y).point_) is kind


def test_points_have_the_same_fields():
    shared = {field.name for field in dataclasses.fields(ValidationPoint)}
    assert shared == {"cost", "cost_spread", "cost_stderr", "error", "n_rows"}
    for kind in (BoostPoint, ForestPoint):
        assert shared < {field.name for field in dataclasses.fields(kind)}


@pytest.mark.parametrize("name", KINDS)
def test_validation_rows_that_do_not_fit_are_refused(name, rng):
    X, y = make_rows(rng, 60)
    model = make(name)
    with pytest.raises(InvalidOptionError, match="must be given together"):
        model.fit(X, y, X_valid=X)
    with pytest.raises(
        InvalidTableError, match=r"60 rows and 3 classes. Check y_valid"
    ):
        model.fit(X, y, X_valid=X, y_valid=y[:3])
    with pytest.raises(ValueError, match=r"2 features, but .* is expecting 3"):
        model.fit(X, y, X_valid=X[:, :2], y_valid=y)


@pytest.mark.parametrize("name", KINDS)
def test_columns_of_other_lengths_than_y_are_refused(name, rng):
    X, y = make_rows(rng)
    with pytest.raises(InvalidTableError, match=r"120 rows and 100 classes. Check y"):
        make(name).fit(as_columns(X), y[:100])


@pytest.mark.parametrize("name", [name for name in KINDS if name != "astc"])
def test_threads_are_counted_in_one_way(name, rng):
    X, y = make_rows(rng)
    with pytest.raises(InvalidOptionError, match=r"n_jobs must be .* Got 0"):
        make(name, n_jobs=0).fit(X, y)
    assert same_model(make(name).fit(X, y), make(name, n_jobs=-1).fit(X, y), X)


@pytest.mark.parametrize("name", KINDS)
def test_categories_are_read_or_refused_in_words(name, rng):
    X, y = make_rows(rng)
    frame = pd.DataFrame(
        {"number": X[:, 0], "colour": rng.choice(["red", "blue"], 120)}
    )
    if name in NUMBERS_ONLY:
        with pytest.raises(InvalidTableError, match="Got text in column 'colour'"):
            make(name).fit(frame, y)
        return
    assert make(name).fit(frame, y).predict(frame).shape == (120,)


def test_validation_rows_are_coded_once_for_all_alphas(rng, monkeypatch):
    from askless.learn.forest import _set_aside

    coded = []
    code = _set_aside.code_rows
    monkeypatch.setattr(
        _set_aside, "code_rows", lambda *args: coded.append(args) or code(*args)
    )
    X, y = make_rows(rng)
    columns = as_columns(X)
    forest = make("forest", budget=2)
    forest.fit(columns, y, X_valid=columns, y_valid=y)
    assert len({point.alpha for point in forest.path()}) == 10
    assert len(coded) == 1
    # Rows that are set aside are coded with the others.
    make("forest", budget=2).fit(columns, y)
    assert len(coded) == 1


def test_a_fit_that_fails_leaves_the_last_one_usable(rng):
    X, y = make_rows(rng)
    model = make("forest", warm_start=True).fit(X, y)
    before = model.predict(X).tolist()
    with pytest.raises(InvalidOptionError, match="must see the same rows"):
        model.fit(X, np.where(y == "yes", "perhaps", "no"))
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.predict(X).tolist() == before


def test_a_first_fit_that_fails_is_no_warm_start(rng):
    model = make("forest", budget=2, warm_start=True)
    with pytest.raises(InvalidTableError, match="enough rows to set some aside"):
        model.fit([[0.0], [1.0]], ["no", "yes"])
    X, y = make_rows(rng)
    cold = make("forest", budget=2).fit(X, y)
    assert same_model(model.fit(X, y), cold, X)


@pytest.mark.parametrize("name", KINDS)
def test_nothing_warns_on_plain_rows(name, rng):
    X, y = make_rows(rng)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make(name, mistakes=100).fit(X, y)
