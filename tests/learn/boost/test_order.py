"""A learned order of purchases: no worse where it was learned, and always the same."""

import warnings

import numpy as np
import pytest

from askless import BudgetBoostClassifier
from askless.learn.boost import _order
from askless.learn.boost._calibrate import Stops
from askless.learn.boost._order import OrderedRun, learn_eagerness, mean_error

pytest.importorskip("lightgbm")


@pytest.fixture(scope="module")
def rows():
    """Each of three causes is seen three times, once clearly and dearly."""
    rng = np.random.default_rng(0)
    causes = rng.normal(size=(1_200, 3))
    X = np.hstack([causes + s * rng.normal(size=causes.shape) for s in (1.5, 0.8, 0.2)])
    return X, (causes[:, 0] * causes[:, 1] + causes[:, 2] > 0).astype(int)


@pytest.fixture(scope="module")
def model(rows):
    boost = BudgetBoostClassifier(
        [1.0] * 3 + [3.0] * 3 + [9.0] * 3, family="boost", tradeoffs=(0.004,),
        bagged_tradeoffs=(), n_estimators=40, n_folds=0, random_state=0,
    )  # fmt: skip
    X, y = rows
    return boost.fit(X[:600], y[:600]).models_[0]


def area(model, eagerness, X, y):
    run = OrderedRun(model, X, y)
    spent = np.array(_order.SHARES) * run.trace(None, 1).at(np.inf)[0].mean()
    return mean_error(run.trace(eagerness, 1), y, spent)


def test_rows_err_less_at_the_same_cost_and_new_rows_no_more(rows, model):
    X, y = rows
    found = learn_eagerness([OrderedRun(model, X[600:900], y[600:900])], 0, 1)
    assert found is not None
    assert len(found) == 9
    assert area(model, found, X[600:900], y[600:900]) < area(
        model, None, X[600:900], y[600:900]
    )
    assert (
        area(model, found, X[900:], y[900:])
        < area(model, None, X[900:], y[900:]) + 0.02
    )


def test_it_depends_on_the_seed_alone(rows, model, monkeypatch):
    monkeypatch.setattr(_order, "N_TRIES", 15)
    run = OrderedRun(model, rows[0][600:800], rows[1][600:800])
    first = learn_eagerness([run], 3, 1)
    assert learn_eagerness([run], 3, 2) == first
    # Rows in two parts are the same rows.
    parts = [
        OrderedRun(model, rows[0][a:b], rows[1][a:b])
        for a, b in ((600, 700), (700, 800))
    ]
    assert learn_eagerness(parts, 3, 1) == first


def test_a_model_of_two_tests_has_no_order_to_learn(rows):
    X, y = rows[0][:, 6:8], rows[1]
    boost = BudgetBoostClassifier(n_estimators=5, n_folds=0, random_state=0).fit(X, y)
    assert all(policy.eagerness is None for policy in boost._candidates.models)


def test_ctrl_c_keeps_what_was_learned_so_far(rows, model, monkeypatch):
    tried = []

    def interrupt(*given):
        tried.append(mean_error(*given))
        if len(tried) > 20:
            raise KeyboardInterrupt
        return tried[-1]

    run = OrderedRun(model, rows[0][600:800], rows[1][600:800])
    monkeypatch.setattr(_order, "mean_error", interrupt)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        stopped = learn_eagerness([run], 0, 1)
    assert any("Interrupted" in str(one.message) for one in told)
    monkeypatch.setattr(_order, "mean_error", mean_error)
    monkeypatch.setattr(_order, "N_TRIES", 19)
    assert stopped == learn_eagerness([run], 0, 1)


def test_errors_are_read_between_thresholds():
    # One row is right at once, the other after a purchase of 2.
    stops = Stops(
        np.array([[0.5, np.inf], [0.2, np.inf]]),
        np.array([[0.0, 2.0], [0.0, 2.0]]),
        np.array([[1.0, 1.0], [0.0, 1.0]]),
        np.array([1, 1]),
    )
    true = np.array([1, 1])
    assert mean_error(stops, true, np.array([0.0])) == 0.5
    assert mean_error(stops, true, np.array([1.0])) == 0.0
    assert mean_error(stops, true, np.array([0.5])) == 0.25


def test_boosters_are_chosen_from_in_both_orders(rows):
    X, y = rows
    options = {"n_estimators": 10, "n_folds": 3, "random_state": 0}
    boost = BudgetBoostClassifier(budget=4, **options).fit(X[:400], y[:400])
    found = boost._candidates
    eager = [policy.eagerness is not None for policy in found.models]
    families = [plan.family for plan in found.plans]
    n_plain = 2 * len(boost.models_)
    assert not any(eager[:n_plain])
    assert all(eager[n_plain:])
    assert families[n_plain:] == [f for f in families[:n_plain] if f != "forest"]
    # What was promised is what the policy does, row by row.
    for model in (n_plain, n_plain + 3):
        threshold = float(np.median(found.thresholds[model][1:-1]))
        cost = found.stops[model].at(threshold)[0][found.groups == 0]
        kept = boost._calibrated_on
        stopped = found.models[model].with_stop(threshold=threshold)
        assert stopped.cost(kept.values) == pytest.approx(cost[: kept.n_rows])


def test_many_rows_of_several_classes_keep_the_order(monkeypatch):
    monkeypatch.setattr("askless.learn.boost._families.LITTLE_ROWS", 100)
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 5))
    y = (X[:, 0] > 0) + 2 * (X[:, 1] > 0)
    boost = BudgetBoostClassifier(n_estimators=4, n_folds=0, random_state=0).fit(X, y)
    assert all(policy.eagerness is None for policy in boost._candidates.models)
