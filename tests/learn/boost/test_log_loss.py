"""Boosters chosen by their log loss: judged at every step, limited row by row."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss
from sklearn.utils.estimator_checks import parametrize_with_checks

import askless
from askless import BudgetBoostClassifier
from askless.exceptions import InvalidOptionError
from askless.learn import CodeStore
from askless.learn.boost import _budget_boost
from askless.learn.boost._calibrate import trace_both
from askless.learn.boost._candidates import Goal
from askless.learn.boost._log_loss import LIMITS, LogLossCandidates
from askless.learn.boost._step_losses import LEAST_SHARE, StepLosses, join_losses

pytest.importorskip("lightgbm")
QUICK = {"n_estimators": 20, "n_folds": 0, "random_state": 0}
FEW = {"family": "boost", "tradeoffs": (0.004, 0.05), "bagged_tradeoffs": ()}


def make_boost(**options):
    return BudgetBoostClassifier(loss="log_loss", **{**QUICK, **options})


@parametrize_with_checks(
    [
        BudgetBoostClassifier(
            loss="log_loss",
            n_estimators=5,
            tradeoffs=(0.01,),
            bagged_tradeoffs=(),
            n_folds=0,
            family="boost",
        )
    ],
)
def test_it_is_a_scikit_learn_estimator(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def rows():
    """One row in eight is of the second class; no feature tells it alone."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(2_400, 8))
    score = X[:, 0] + X[:, 1] * X[:, 2] + 0.7 * X[:, 3] + rng.normal(size=2_400)
    return X, (score > np.quantile(score, 0.875)).astype(int)


@pytest.fixture(scope="module")
def boost(rows):
    X, y = rows
    return make_boost(budget=3).fit(X[:1_600], y[:1_600])


def walk_losses(policy, X, y):
    """Return the log loss and the Brier score of each step, one row after another."""
    found = []
    for row, true in zip(X, y, strict=True):
        state, steps = policy.initial_state(), []
        while True:
            shares = policy.class_weights(state)
            truth = np.arange(len(shares)) == true
            told = max(shares[true] if true >= 0 else 0.0, LEAST_SHARE)
            distance = ((shares - truth) ** 2).sum() + (true < 0)
            steps.append((-np.log(told), distance))
            test = policy.next_test(state)
            if test is None:
                break
            code = policy.tests[test].code_of(row[test])
            state = policy.advance(state, code)
        found.append(steps)
    return found


@pytest.mark.parametrize("n_classes", [2, 4])
def test_steps_are_judged_as_a_session_walks_them(n_classes, rng):
    X = rng.normal(size=(500, 5)).round(2)
    y = np.digitize(X[:, 0] + X[:, 1] * X[:, 2], [-0.8, 0.0, 0.8][: n_classes - 1])
    fitted = make_boost(**FEW).fit(X, y)
    true = y[:25].copy()
    true[3] = -1  # a class that no booster knows
    for policy in fitted.models_:
        walked = walk_losses(policy, X[:25], true)
        for stops in trace_both(policy, X[:25], 1, true):
            both = np.stack([stops.losses.log_loss, stops.losses.brier], axis=2)
            for found, steps in zip(both, walked, strict=True):
                n = len(steps)
                assert found[:n] == pytest.approx(np.array(steps), rel=1e-3, abs=1e-4)
                # A row stays as it ended.
                assert (found[n:] == found[n - 1]).all()


def test_groups_of_rows_are_joined_as_they_ended():
    narrow = StepLosses(np.array([[3.0, 2.0]]), np.array([[1.0, 0.5]]))
    wide = StepLosses(np.array([[4.0, 3.0, 2.5]]), np.array([[1.0, 0.7, 0.6]]))
    both = join_losses([narrow, wide])
    assert both.log_loss.tolist() == [[3.0, 2.0, 2.0], [4.0, 3.0, 2.5]]
    assert both.brier.tolist() == [[1.0, 0.5, 0.5], [1.0, 0.7, 0.6]]
    assert both.mean(np.array([0, 2]), np.array([3.0, 1.0])) == {
        "log_loss": pytest.approx((9 + 2.5) / 4),
        "brier": pytest.approx((3 + 0.6) / 4),
    }
    assert join_losses([None, None]) is None


def test_the_point_says_how_good_the_probabilities_were(rows):
    X, y = rows
    valid = {"X_valid": X[1_600:], "y_valid": y[1_600:]}
    for budget in (2, None):
        fitted = make_boost(budget=budget).fit(X[:1_600], y[:1_600], **valid)
        point = fitted.point_
        policy = fitted._candidates.choose(fitted._goal(budget))[0]
        shares = policy.predict_proba(X[1_600:])
        assert point.loss == point.log_loss
        told = shares[np.arange(800), y[1_600:]]
        assert point.log_loss == pytest.approx(-np.log(told).mean(), rel=1e-3)
        brier = ((shares - np.eye(2)[y[1_600:]]) ** 2).sum(axis=1).mean()
        assert point.brier == pytest.approx(brier, rel=1e-3)
        assert point.error == pytest.approx(1 - fitted.score(X[1_600:], y[1_600:]))
        assert point.cost == pytest.approx(policy.cost(X[1_600:]).mean())


def test_of_decisions_no_sums_are_written(rows, monkeypatch):
    asked = []
    trace = askless.policy.Ensemble.trace
    monkeypatch.setattr(
        askless.policy.Ensemble,
        "trace",
        lambda self, X, **how: asked.append(how) or trace(self, X, **how),
    )
    fitted = BudgetBoostClassifier(**QUICK).fit(rows[0][:600], rows[1][:600])
    assert asked
    assert not any(how.get("with_sums") for how in asked)
    assert fitted.point_.log_loss is None
    assert fitted.point_.brier is None
    assert all(stops.losses is None for stops in fitted._candidates.stops)


def test_probabilities_are_no_worse_than_those_chosen_by_decisions(rows, boost):
    X, y = rows
    decided = BudgetBoostClassifier(budget=3, **QUICK).fit(X[:1_600], y[:1_600])
    lost = [
        np.mean(
            [
                log_loss(y[1_600:], model.at_budget(b).predict_proba(X[1_600:]))
                for b in (2, 3, 4)
            ]
        )
        for model in (boost, decided)
    ]
    # The standard error of the change is about 0.01, of so few rows.
    assert lost[0] < lost[1] + 0.02


def test_a_budget_is_kept_and_other_budgets_need_no_other_fit(rows, boost):
    X, y = rows
    assert boost.point_.cost <= 3
    assert boost.cost(X[1_600:]).mean() <= 3.2
    other = make_boost(budget=1.5).fit(X[:1_600], y[:1_600])
    again = boost.at_budget(1.5)
    assert np.array_equal(again.cost(X), other.cost(X))
    assert np.array_equal(again.predict_proba(X), other.predict_proba(X))
    assert boost.at_budget(0.0).cost(X).max() == 0.0


def test_rows_are_limited_where_that_loses_less(boost):
    found = boost._candidates
    assert isinstance(found, LogLossCandidates)
    goal = Goal(3.0)
    filled = found._fill(goal)
    limited = found._limit_rows(goal, filled)
    assert {point.max_cost for _, point in limited} == {3.0 * share for share in LIMITS}
    for model, point in limited[:: len(limited) // 6]:
        assert point.cost <= 3.0
        stopped = found.policy_at(model, point)
        assert stopped.cost(boost._calibrated_on.values).max() <= point.max_cost
    chosen = found.choose(goal)[1]
    losses = [p.loss for _, p in limited if found._is_within(0, p, goal, 3.0)]
    assert chosen.loss <= min(losses) + 1e-12
    # The limit of the user stays the limit.
    strict = found._limit_rows(Goal(3.0, max_cost=4.0), filled)
    assert {point.max_cost for _, point in strict} == {3.0}
    assert found._limit_rows(Goal(0.0), filled) == []


def test_the_path_goes_from_cheap_to_good_probabilities(boost):
    path = boost.path()
    costs, losses = [p.cost for p in path], [p.log_loss for p in path]
    assert costs == sorted(costs)
    assert losses == sorted(losses, reverse=True)
    assert costs[0] == 0
    assert len(path) > 3


def test_mistakes_are_refused(rows):
    X, y = rows
    priced = askless.Costs([1.0] * 8, mistakes=5.0)
    for options in ({"mistakes": 5.0}, {"costs": priced}):
        with pytest.raises(InvalidOptionError, match=r"have no mistakes: .* Leave"):
            make_boost(**options).fit(X[:300], y[:300])


def test_a_loss_that_is_none_is_refused(rows):
    with pytest.raises(InvalidOptionError, match="loss must be 'error' or 'log_loss'"):
        BudgetBoostClassifier(loss="logloss").fit(*rows)


def test_no_result_depends_on_threads(rows):
    X, y = rows[0][:900], rows[1][:900]
    one = make_boost(budget=2).fit(X, y)
    two = make_boost(budget=2, n_jobs=2).fit(X, y)
    assert one.point_ == two.point_
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X))
    assert pickle.loads(pickle.dumps(one)).point_ == one.point_


def test_few_rows_and_folds(rows):
    X, y = rows[0][:200], rows[1][:200]
    fitted = make_boost(budget=2, n_folds=3, **FEW).fit(X, y)
    found = fitted._candidates
    assert found.stops[0].losses.brier.shape == found.stops[0].cost.shape
    assert found.stops[0].n_rows == 200
    assert fitted.point_.log_loss > 0
    assert fitted.point_.cost <= 2
    tiny = make_boost(**FEW).fit(X[:12], np.arange(12) % 2)
    assert np.isfinite(tiny.point_.log_loss)


def test_several_classes_and_one(rng):
    X = rng.normal(size=(700, 5))
    y = (X[:, 0] > 0) + 2 * (X[:, 1] > 0.5)
    fitted = make_boost(budget=2.0).fit(X[:500], y[:500])
    shares = fitted.predict_proba(X[500:])
    assert shares.shape == (200, 4)
    assert log_loss(y[500:], shares) < 0.8
    alone = make_boost().fit(X[:50], np.zeros(50))
    assert (alone.point_.log_loss, alone.point_.brier) == (0.0, 0.0)


def test_weights_of_rows_count(rows):
    X, y = rows[0][:800], rows[1][:800]
    fitted = make_boost(class_weight={1: 5.5}, **FEW).fit(X, y)
    found, point = fitted._candidates, fitted.point_
    chosen = (point.tradeoff, point.varies_together)
    both = zip(found.plans, found.models, strict=True)
    model = [(p.tradeoff, m.varies_together) for p, m in both].index(chosen)
    stops = found.stops[model].limit(point.max_cost)
    lost = stops.losses.log_loss[
        np.arange(stops.n_rows), stops.step_at(point.threshold)
    ]
    expected = np.average(lost, weights=np.where(found.true == 1, 5.5, 1.0))
    assert point.log_loss == pytest.approx(expected)


def test_with_many_classes_fewer_rows_are_traced(rows, monkeypatch):
    X, y = rows[0][:1_000], rows[1][:1_000]
    monkeypatch.setattr(_budget_boost, "MOST_SUMS", 9 * 2 * 60)
    monkeypatch.setattr(_budget_boost, "FEW_ROWS", 10)
    fitted = make_boost(**FEW).fit(X, y)
    assert fitted._candidates.stops[0].n_rows == 60
    fitted = BudgetBoostClassifier(**QUICK, **FEW).fit(X, y)
    assert fitted._candidates.stops[0].n_rows == 200


def test_a_store_is_chosen_by_probabilities_too(rows, tmp_path):
    X, y = rows
    frame = pd.DataFrame(X[:1_600], columns=list("abcdefgh")).assign(y=y[:1_600])
    store = CodeStore.write([frame], "y", tmp_path / "store")
    fitted = make_boost(budget=3, **FEW).fit(store)
    new = pd.DataFrame(X[1_600:], columns=list("abcdefgh"))
    assert fitted.point_.log_loss > 0
    assert log_loss(y[1_600:], fitted.predict_proba(new)) < 0.36
    assert fitted.cost(new).mean() <= 3.2
