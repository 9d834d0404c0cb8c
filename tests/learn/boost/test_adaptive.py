"""Other libraries' ensembles, run losslessly: every answer is the full model's."""

import warnings

import numpy as np
import pandas as pd
import pytest
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
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

import askless
from askless.exceptions import (
    DegeneratePolicyWarning,
    InvalidCostsError,
    InvalidOptionError,
)
from askless.learn.boost._calibrate import threshold_for_loss, trace_stops
from askless.learn.sources._source import single_cuts
from askless.policy import Forest
from tests.policy.examples import make_example
from tests.strategies import grow_at_random, random_rows

lightgbm = pytest.importorskip("lightgbm")
try:
    import xgboost
except ImportError:
    xgboost = None

needs_xgboost = pytest.mark.skipif(xgboost is None, reason="XGBoost is not installed")
N_TESTS = 6
SMALL = {"n_estimators": 12, "max_depth": 4, "random_state": 0}
LGB = {"n_estimators": 15, "num_leaves": 6, "min_child_samples": 5, "n_jobs": 1,
       "verbose": -1}  # fmt: skip
XGB = {"n_estimators": 10, "max_depth": 3, "n_jobs": 1}


def make_rows(rng, n_rows, has_missing):
    X = rng.normal(size=(n_rows, N_TESTS)).round(1)
    if has_missing:
        X[rng.random(X.shape) < 0.15] = np.nan
    return X


def make_target(X, kind):
    filled = np.nan_to_num(X)
    score = filled[:, 0] + filled[:, 1] * filled[:, 2] + 0.1
    if kind == "two":
        return np.where(score > 0, "yes", "no")
    if kind == "three":
        return np.digitize(score, [-0.5, 0.5])
    return np.abs(score) if kind == "positive" else score


def xgb(name, **options):
    return None if xgboost is None else getattr(xgboost, name)(**{**XGB, **options})


MODELS = {
    "forest of two": (RandomForestClassifier(**SMALL), "two", True),
    "forest of three": (RandomForestClassifier(10, random_state=0), "three", True),
    "forest by leaves": (RandomForestClassifier(9, max_leaf_nodes=12), "three", False),
    "extra trees": (ExtraTreesClassifier(**SMALL), "three", False),
    "forest of numbers": (RandomForestRegressor(**SMALL), "number", True),
    "extra trees of numbers": (ExtraTreesRegressor(**SMALL), "number", False),
    "boosting of two": (GradientBoostingClassifier(**SMALL), "two", False),
    "exponential loss": (
        GradientBoostingClassifier(loss="exponential", **SMALL), "two", False,
    ),
    "boosting of three": (GradientBoostingClassifier(**SMALL), "three", False),
    "boosting of numbers": (GradientBoostingRegressor(**SMALL), "number", False),
    "no first guess": (
        GradientBoostingRegressor(init="zero", **SMALL), "number", False,
    ),
    "histograms of two": (HistGradientBoostingClassifier(max_iter=12), "two", True),
    "histograms of three": (HistGradientBoostingClassifier(max_iter=8), "three", True),
    "histograms of numbers": (
        HistGradientBoostingRegressor(max_iter=8), "number", True,
    ),
    "histograms of counts": (
        HistGradientBoostingRegressor(max_iter=8, loss="poisson"), "positive", True,
    ),
    "LightGBM of two": (lightgbm.LGBMClassifier(**LGB), "two", True),
    "LightGBM without missing": (lightgbm.LGBMClassifier(**LGB), "two", False),
    "LightGBM of three": (lightgbm.LGBMClassifier(**LGB), "three", True),
    "LightGBM one against the rest": (
        lightgbm.LGBMClassifier(objective="multiclassova", **LGB), "three", True,
    ),
    "LightGBM, zero is missing": (
        lightgbm.LGBMClassifier(zero_as_missing=True, **LGB), "three", True,
    ),
    "LightGBM forest": (
        lightgbm.LGBMClassifier(
            boosting_type="rf", subsample=0.7, subsample_freq=1, **LGB
        ),
        "three",
        True,
    ),
    "LightGBM of numbers": (lightgbm.LGBMRegressor(**LGB), "number", True),
    "LightGBM of counts": (
        lightgbm.LGBMRegressor(objective="poisson", **LGB), "positive", True,
    ),
    "XGBoost of two": (xgb("XGBClassifier"), "codes", True),
    "XGBoost of three": (xgb("XGBClassifier"), "three", True),
    "XGBoost of numbers": (xgb("XGBRegressor"), "number", True),
}  # fmt: skip


def fit_model(name, rng):
    model, kind, has_missing = MODELS[name]
    if model is None:
        pytest.skip("XGBoost is not installed")
    X = make_rows(rng, 300, has_missing)
    y = make_target(X, "two" if kind == "codes" else kind)
    if kind == "codes":
        y = (y == "yes").astype(int)
    # Several threads for a few rows would mostly wait for one another.
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        return model.fit(X, y), X


def at_thresholds(policy, rng, n_rows, has_missing):
    """Return rows whose values lie on cuts and right beside them."""
    X = np.empty((n_rows, N_TESTS))
    for i, test in enumerate(policy.tests):
        values = rng.choice([*test.cuts, 0.0, -1e9, 1e9], n_rows)
        X[:, i] = np.nextafter(values, rng.choice([-np.inf, np.inf], n_rows))
        keep = rng.random(n_rows) < 0.4
        X[keep, i] = values[keep]
    if has_missing:
        X[rng.random(X.shape) < 0.15] = np.nan
    return X


def full_answers(model, X):
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        return model.predict(X)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("bounds", ["deep", "path"])
def test_lossless_is_the_full_model(name, bounds, rng):
    model, X = fit_model(name, rng)
    has_missing = bool(np.isnan(X).any())
    costs = rng.integers(0, 6, N_TESTS).astype(float)
    adaptive = askless.AdaptiveEnsemble(model, costs, bounds=bounds).fit()
    for rows in (
        make_rows(rng, 300, has_missing),
        at_thresholds(adaptive.policy_, rng, 300, has_missing),
    ):
        expected = full_answers(model, rows)
        assert adaptive.predict(rows).tolist() == expected.tolist()
        if rows.dtype == np.float64 and "LightGBM" not in name:
            single = rows.astype(np.float32)
            answers = adaptive.predict(single)
            assert answers.tolist() == full_answers(model, single).tolist()


@pytest.mark.parametrize("name", MODELS)
def test_probabilities_of_a_complete_run_are_the_model_s(name, rng):
    model, X = fit_model(name, rng)
    complete = askless.AdaptiveEnsemble(model, stop="complete").fit()
    rows = make_rows(rng, 200, bool(np.isnan(X).any()))
    if not hasattr(model, "predict_proba"):
        with pytest.raises(InvalidOptionError, match="must have classes"):
            complete.predict_proba(rows)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = model.predict_proba(rows)
    found = complete.predict_proba(rows)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", ["forest of three", "LightGBM of three"])
def test_a_lossless_run_costs_less_than_every_feature(name, rng):
    model, _ = fit_model(name, rng)
    rows = make_rows(rng, 200, True)
    adaptive = askless.AdaptiveEnsemble(model).fit()
    assert adaptive.cost(rows).mean() < N_TESTS
    assert adaptive.score(rows, full_answers(model, rows)) == 1.0


def category_frame(rng, n_rows, strange=False):
    names = ["red", "green", "blue", "pink", "grey"]
    colour = rng.choice(names, n_rows).astype(object)
    size = rng.choice(["s", "m", "l"], n_rows).astype(object)
    colour[rng.random(n_rows) < 0.1] = None
    if strange:
        colour[rng.random(n_rows) < 0.2] = "ultraviolet"
    return pd.DataFrame(
        {
            "weight": rng.normal(size=n_rows).round(2),
            "colour": pd.Categorical(
                colour, categories=[*names, "ultraviolet"] if strange else names
            ),
            "length": rng.normal(size=n_rows).round(2),
            "size": pd.Categorical(size, categories=["s", "m", "l"]),
        }
    )


@pytest.mark.parametrize(
    "model",
    [
        HistGradientBoostingClassifier(max_iter=15, categorical_features="from_dtype"),
        lightgbm.LGBMClassifier(
            max_cat_to_onehot=1, min_data_per_group=5, cat_smooth=1.0, **LGB
        ),
    ],
    ids=["histograms", "LightGBM"],
)
def test_categories_are_split_as_the_source_splits_them(model, rng):
    frame = category_frame(rng, 500)
    is_odd = frame["colour"].isin(["red", "pink"]) ^ (frame["size"] == "m")
    y = np.where(is_odd ^ (frame["weight"] > 0.5), "a", "b")
    with threadpool_limits(1):
        model.fit(frame, y)
    costs = {"weight": 2, "colour": 1, "length": 5, "size": 1}
    adaptive = askless.AdaptiveEnsemble(model, costs).fit()
    assert [test.kind for test in adaptive.policy_.tests] == [
        "number", "category", "number", "category",
    ]  # fmt: skip
    for strange in (False, True):
        rows = category_frame(rng, 400, strange)
        expected = full_answers(model, rows)
        assert adaptive.predict(rows).tolist() == expected.tolist()
    # By name, in any order, and without what no tree asks.
    shuffled = rows[["size", "length", "colour", "weight"]]
    assert adaptive.predict(shuffled).tolist() == expected.tolist()
    assert adaptive.cost(rows).max() <= 9


def test_categories_that_are_numbers_count_as_their_whole_part(rng):
    X = make_rows(rng, 500, True)
    X[:, 0] = rng.integers(0, 9, 500)
    y = np.isin(X[:, 0], [1, 4, 6]) ^ (np.nan_to_num(X[:, 1]) > 0.3)
    model = lightgbm.LGBMClassifier(
        max_cat_to_onehot=1, min_data_per_group=5, cat_smooth=1.0, **LGB
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y, categorical_feature=[0])
    rows = make_rows(rng, 500, True)
    rows[:, 0] = rng.choice(
        [-1.0, -0.5, 0, 0.5, 1, 3.99, 4, 6, 8, 8.5, 9, 50, np.nan], 500
    )
    adaptive = askless.AdaptiveEnsemble(model).fit()
    assert adaptive.predict(rows).tolist() == full_answers(model, rows).tolist()


def test_a_booster_without_a_face_is_read_too(rng):
    X = make_rows(rng, 300, True)
    y = (np.nan_to_num(X[:, 0]) > 0).astype(int)
    booster = lightgbm.train(
        {"objective": "binary", "verbose": -1, "num_threads": 1},
        lightgbm.Dataset(X, y),
        10,
    )
    adaptive = askless.AdaptiveEnsemble(booster).fit()
    assert adaptive.predict(X).tolist() == (booster.predict(X) > 0.5).tolist()
    if xgboost is not None:
        booster = xgb("XGBClassifier").fit(X, y).get_booster()
        adaptive = askless.AdaptiveEnsemble(booster).fit()
        expected = booster.predict(xgboost.DMatrix(X)) > 0.5
        assert adaptive.predict(X).tolist() == expected.tolist()


def test_single_precision_cuts_are_exact(rng):
    for threshold in rng.normal(size=200) * 10.0 ** rng.integers(-30, 30, 200):
        cut = single_cuts(np.array([threshold]))[0]
        assert np.float32(cut) <= threshold
        assert np.float32(np.nextafter(cut, np.inf)) > threshold


# Sessions.


def test_a_session_buys_what_a_row_buys_in_groups_too(rng):
    model, _ = fit_model("forest of three", rng)
    costs = askless.Costs(
        [3, 5, 5, 2, 2, 1], groups={"lab": [0, 1, 2]}, discounted={0: 1, 1: 1, 2: 1}
    )
    adaptive = askless.AdaptiveEnsemble(model, costs).fit()
    rows = make_rows(rng, 10, True)
    for row, cost, answer in zip(
        rows, adaptive.cost(rows), adaptive.predict(rows), strict=True
    ):
        session = adaptive.start()
        while session.test is not None:
            session.answer(row[int(session.test[1:])])
        assert session.spent == cost
        assert session.decision == answer


def test_a_feature_that_cannot_be_bought_is_skipped(rng):
    model, X = fit_model("LightGBM of two", rng)
    adaptive = askless.AdaptiveEnsemble(model).fit()
    session = adaptive.start()
    first = session.test
    session.skip()
    assert session.test not in (None, first)
    while session.test is not None:
        session.answer(X[0, int(session.test[1:])])
    assert session.decision in ("yes", "no")
    assert first not in [entry["test"] for entry in session.log[1:]]
    assert "Decided" in session.why()


def test_a_session_of_a_number_says_what_it_expects(rng):
    model, X = fit_model("LightGBM of numbers", rng)
    session = askless.AdaptiveEnsemble(model).fit().start()
    assert "is expected so far" in session.why()
    while session.test is not None:
        session.answer(X[0, int(session.test[1:])])
    assert session.decision == model.predict(X[:1])[0]
    assert session.why().startswith("Decided")
    assert session.probabilities == {}


# Stopping early.


@pytest.fixture(scope="module")
def noisy_model():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(3000, 8))
    y = (X[:, 0] + 0.5 * X[:, 1:5].sum(axis=1) + rng.normal(size=3000) > 0).astype(int)
    model = lightgbm.LGBMClassifier(**LGB).fit(X[:800], y[:800])
    return model, X[800:], y[800:]


def test_early_answers_rarely_change(noisy_model, rng):
    model, X, _ = noisy_model
    policy = askless.AdaptiveEnsemble(model).fit().policy_
    stops, final = trace_stops(policy, X, 1)
    worst = stops.worst_threshold(stops.predicted != final[:, None])
    shares, costs = [], []
    for _ in range(300):
        order = rng.permutation(len(X))
        threshold = threshold_for_loss(worst[order[:250]], 0.02)
        cost, answer = stops.at(threshold)
        shares.append(np.mean(answer[order[250:]] != final[order[250:]]))
        costs.append(cost.mean())
    # The bound is on the mean over calibrations; single ones lie to either side.
    assert np.mean(shares) <= 0.02 + 3 * np.std(shares) / np.sqrt(300)
    assert np.max(shares) > 0.02
    assert np.mean(costs) < 0.9 * stops.at(np.inf)[0].mean()
    early = askless.AdaptiveEnsemble(model, max_disagreement=0.02).fit(X[:250])
    assert early.point_.disagreement <= 0.02
    assert early.cost(X).mean() < stops.at(np.inf)[0].mean()


def test_a_budget_is_kept_on_average(noisy_model):
    model, X, y = noisy_model
    full = askless.AdaptiveEnsemble(model).fit().cost(X).mean()
    for budget in (full / 2, full * 2):
        early = askless.AdaptiveEnsemble(model, budget=budget).fit(X[:800], y[:800])
        assert early.point_.cost <= budget
        assert early.cost(X[800:]).mean() <= budget * 1.05
        assert early.point_.error == np.mean(early.predict(X[:800]) != y[:800])
        assert early.point_.n_rows == 800
    assert early.cost(X).mean() == full


def test_a_target_error_is_kept(noisy_model):
    model, X, y = noisy_model
    own = np.mean(model.predict(X[:1000]) != y[:1000])
    early = askless.AdaptiveEnsemble(model, max_error=own + 0.03).fit(
        X[:1000], y[:1000]
    )
    assert early.point_.error <= own + 0.03
    assert early.point_.cost < early.point_.full_cost
    with pytest.raises(InvalidOptionError, match="within reach of the full model"):
        askless.AdaptiveEnsemble(model, max_error=own / 2).fit(X[:1000], y[:1000])


def test_a_budget_that_no_threshold_meets_is_spent_by_a_limit_for_every_row():
    # A rare class: rows are sure at once, then less sure before they grow surer.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 40))
    y = (X[:, :10].sum(axis=1) > 5).astype(int)
    forest = RandomForestClassifier(30, random_state=0, min_samples_leaf=10)
    forest.fit(X[:1000], y[:1000])
    full = askless.AdaptiveEnsemble(forest).fit().cost(X[1000:]).mean()
    for share in (0.2, 0.5):
        early = askless.AdaptiveEnsemble(forest, budget=share * full)
        early.fit(X[1000:1600], y[1000:1600])
        spent = early.cost(X[1600:])
        assert 0.7 * share * full < spent.mean() < 1.1 * share * full
        assert spent.max() <= early.point_.max_cost


def test_no_row_pays_more_than_max_cost(noisy_model):
    model, X, y = noisy_model
    for options in ({}, {"max_disagreement": 0.1}, {"budget": 3.0}):
        early = askless.AdaptiveEnsemble(model, max_cost=4.0, **options)
        early.fit(X[:800], y[:800])
        assert early.cost(X).max() <= 4.0
        # Row by row it is the same.
        session = early.start()
        while session.test is not None:
            session.answer(X[0, early.policy_.test_names.index(session.test)])
        assert session.spent == early.cost(X[:1])[0]


def test_a_budget_that_buys_nothing_says_so(noisy_model):
    model, X, y = noisy_model
    early = askless.AdaptiveEnsemble(model, costs=[5.0] * 8, budget=1.0)
    with pytest.warns(DegeneratePolicyWarning, match="cheapest feature costs 5"):
        early.fit(X, y)
    assert early.cost(X).max() == 0
    assert len(set(early.predict(X).tolist())) == 1


def test_numbers_stop_early_too(rng):
    model, _ = fit_model("LightGBM of numbers", rng)
    rows = make_rows(rng, 400, True)
    full = model.predict(rows)
    near = askless.AdaptiveEnsemble(model, tolerance=0.3).fit()
    assert np.abs(near.predict(rows) - full).max() <= 0.3 + 1e-9
    early = askless.AdaptiveEnsemble(model, tolerance=0.3, max_disagreement=0.1)
    early.fit(rows[:200])
    assert early.cost(rows).mean() <= near.cost(rows).mean()
    assert np.mean(np.abs(early.predict(rows[:200]) - full[:200]) > 0.3) <= 0.1


# Bad input.


def test_a_model_that_cannot_be_run_is_refused():
    with pytest.raises(InvalidOptionError, match="Got 'LogisticRegression'"):
        askless.AdaptiveEnsemble(LogisticRegression()).fit()
    with pytest.raises(InvalidOptionError, match="must be fitted"):
        askless.AdaptiveEnsemble(RandomForestClassifier()).fit()
    forest = RandomForestClassifier(2).fit([[0], [1]], [[0, 1], [1, 0]])
    with pytest.raises(InvalidOptionError, match="Got 2 outputs"):
        askless.AdaptiveEnsemble(forest).fit()
    boosting = GradientBoostingClassifier(init=LogisticRegression())
    boosting.fit([[0.0], [1.0], [0.1], [1.1]], [0, 1, 0, 1])
    with pytest.raises(InvalidOptionError, match="must be constant"):
        askless.AdaptiveEnsemble(boosting).fit()


def test_linear_leaves_are_refused(rng):
    model = lightgbm.LGBMRegressor(linear_tree=True, **LGB)
    X = make_rows(rng, 100, False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, X[:, 0])
    with pytest.raises(InvalidOptionError, match="linear trees"):
        askless.AdaptiveEnsemble(model).fit()


def test_costs_must_name_the_features(rng):
    frame = category_frame(rng, 100)[["weight", "length"]]
    forest = RandomForestClassifier(3).fit(frame, np.arange(100) % 2)
    with pytest.raises(InvalidCostsError, match="Got 'height'"):
        askless.AdaptiveEnsemble(forest, {"height": 1, "length": 2}).fit()
    with pytest.raises(InvalidCostsError, match="Every test must have a cost"):
        askless.AdaptiveEnsemble(forest, {"weight": 1}).fit()
    named = askless.AdaptiveEnsemble(
        RandomForestClassifier(3).fit(frame.to_numpy(), np.arange(100) % 2),
        {"weight": 1, "length": 2},
        feature_names=["weight", "length"],
    ).fit()
    assert named.predict(frame).shape == (100,)
    with pytest.raises(InvalidOptionError, match="a name for each of the 2 features"):
        askless.AdaptiveEnsemble(forest, feature_names=["weight"]).fit()


def test_stopping_early_must_be_calibrated(noisy_model):
    model, X, y = noisy_model
    with pytest.raises(NotFittedError, match="Call 'fit'"):
        askless.AdaptiveEnsemble(model, budget=2.0).predict(X)
    with pytest.raises(InvalidOptionError, match="calibrated on validation rows"):
        askless.AdaptiveEnsemble(model, budget=2.0).fit()
    with pytest.raises(InvalidOptionError, match="no classes of them"):
        askless.AdaptiveEnsemble(model, max_error=0.3).fit(X)
    with pytest.raises(InvalidOptionError, match="needs at least 199 validation rows"):
        askless.AdaptiveEnsemble(model, max_disagreement=0.005).fit(X[:50])
    with pytest.raises(InvalidOptionError, match="a class for each validation row"):
        askless.AdaptiveEnsemble(model, max_error=0.3).fit(X, y[:5])


def test_nothing_is_fitted_before_fit(noisy_model):
    adaptive = askless.AdaptiveEnsemble(noisy_model[0])
    for name in ("policy_", "classes_", "n_features_in_", "point_"):
        assert not hasattr(adaptive, name)
    with pytest.raises(NotFittedError, match="Call 'fit'"):
        adaptive.start()
    adaptive.fit()
    assert adaptive.classes_.tolist() == [0, 1]
    assert adaptive.n_features_in_ == 8
    assert adaptive.point_ is None  # nothing was calibrated


def test_decisions_and_costs_come_from_one_run_and_are_priced(noisy_model, rng):
    model, X, y = noisy_model
    costs = askless.Costs([1.0] * 8, mistakes=2)
    adaptive = askless.AdaptiveEnsemble(model, costs, mistakes=[[0, 3], [5, 0]]).fit()
    decided, paid = adaptive.predict_and_cost(X)
    assert decided.tolist() == adaptive.predict(X).tolist()
    assert paid.tolist() == adaptive.cost(X).tolist()
    wrong = np.where(y == 1, 5.0, 3.0) * (decided != y)
    assert adaptive.total_cost(X, y).tolist() == (paid + wrong).tolist()
    own = askless.AdaptiveEnsemble(model, costs).fit().policy_
    assert own.mistakes.tolist() == [[0, 2], [2, 0]]
    numbers, _ = fit_model("LightGBM of numbers", rng)
    with pytest.raises(InvalidOptionError, match="mistakes must be between classes"):
        askless.AdaptiveEnsemble(numbers, mistakes=3).fit()


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"budget": 1.0, "max_error": 0.1}, "Choose one"),
        ({"budget": 1.0, "stop": "complete"}, "only with stop='settled'"),
        ({"budget": -1.0}, "budget must be >= 0"),
        ({"max_error": 1.5}, "max_error must be between 0 and 1"),
        ({"stop": "soon"}, "stop must be"),
    ],
)
def test_options_that_do_not_fit_are_refused(options, match, noisy_model):
    with pytest.raises(InvalidOptionError, match=match):
        askless.AdaptiveEnsemble(noisy_model[0], **options).fit(*noisy_model[1:])


# Our own.


@pytest.mark.parametrize("rule", ["votes", "counts"])
@pytest.mark.parametrize("name", ["numbers", "groups", "outcome prices"])
def test_a_forest_of_askless_is_run_too(rule, name, rng):
    like = make_example(name)
    trees = [
        grow_at_random(rng, like.tests, like.classes, like.prices, max_depth=3)
        for _ in range(9)
    ]
    forest = Forest.from_trees(trees, voting=rule)
    rows = random_rows(rng, like.tests, 200)
    for bounds in ("deep", "path", *(["vote"] if rule == "votes" else [])):
        adaptive = askless.AdaptiveEnsemble(forest, bounds=bounds).fit()
        assert adaptive.predict(rows).tolist() == forest.predict(rows).tolist()
        if bounds != "deep" and not like.prices.delayed.any():
            # It waits only for what the trees ask. Who looks ahead may buy more.
            assert (adaptive.cost(rows) <= forest.cost(rows) + 1e-9).all()
        complete = askless.AdaptiveEnsemble(
            forest, bounds=bounds, stop="complete"
        ).fit()
        np.testing.assert_allclose(
            complete.predict_proba(rows), forest.predict_proba(rows), atol=1e-12
        )


def test_a_learner_of_askless_is_run_too(rng):
    X = make_rows(rng, 200, True)
    tree = askless.GreedyTreeClassifier([1, 2, 3, 4, 5, 6]).fit(
        X, make_target(X, "three")
    )
    # Who waits for the top alone asks what the tree asks, or stops sooner. Who looks
    # ahead may buy something cheap first that a row turns out not to need.
    all_of_it = sum(test + 1 for test in tree.policy_.used_tests)
    for options, most in (({"bounds": "path"}, tree.cost(X)), ({}, all_of_it)):
        adaptive = askless.AdaptiveEnsemble(tree, **options).fit()
        assert adaptive.predict(X).tolist() == tree.predict(X).tolist()
        assert (adaptive.cost(X) <= most).all()


def test_names_with_spaces_are_those_of_the_costs_or_the_rows(rng):
    lightgbm = pytest.importorskip("lightgbm")
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(rng.normal(size=(80, 2)), columns=["blood iron", "age"])
    y = X["blood iron"] > 0
    model = lightgbm.LGBMClassifier(n_estimators=5, verbose=-1).fit(X, y)
    costs = {"blood iron": 7, "age": 1}
    by_costs = askless.AdaptiveEnsemble(model, costs).fit()
    assert by_costs.policy_.test_names == ("blood iron", "age")
    assert (by_costs.predict(X) == model.predict(X)).all()
    by_rows = askless.AdaptiveEnsemble(model, [7, 1], budget=9).fit(X, y)
    assert by_rows.policy_.test_names == ("blood iron", "age")
    # Nobody knows better: LightGBM's own names.
    own = askless.AdaptiveEnsemble(model, [7, 1]).fit()
    assert own.policy_.test_names == ("blood_iron", "age")
