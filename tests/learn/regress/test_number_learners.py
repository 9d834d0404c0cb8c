"""Learners of numbers: budgets, limits, losses, and LightGBM to the last bit."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

import askless
from askless.exceptions import (
    DegeneratePolicyWarning,
    InvalidOptionError,
    InvalidTableError,
)
from askless.learn._examples import KnownRows
from askless.learn.boost._booster_rows import BoosterRows, choose_tests
from askless.learn.boost._boosters import BoosterPlan
from askless.learn.regress._boosters import grow_number_policy, train_booster
from askless.learn.regress._cost_tree import group_numbers
from askless.learn.regress._losses import LOSSES
from askless.problem import Costs
from askless.testing import check_policy

BOTH = ("squared", "absolute")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(600, 4))
    y = 10 * X[:, 0] + 5 * (X[:, 1] > 0.5) + rng.normal(0, 0.5, 600)
    return X, y


def small_boost(**options):
    options = {"n_estimators": 30, "random_state": 0, "n_folds": 0} | options
    return askless.BudgetBoostRegressor([1, 2, 3, 4], **options)


@pytest.mark.parametrize("loss", BOTH)
@pytest.mark.parametrize("tradeoff", [0.0, 0.05])
def test_a_lossless_run_is_lightgbm_to_the_last_bit(rows, loss, tradeoff):
    X, y = rows
    X = X.copy()
    X[::13, 2] = np.nan
    names = ["a", "b", "c", "d"]
    tests = choose_tests(X, names)
    train = BoosterRows.of(KnownRows(X[:400], y[:400]), tests)
    valid = BoosterRows.of(KnownRows(X[400:], y[400:]), tests)
    plan = BoosterPlan(tradeoff, False, 40, 8, 0.1, None, 1)
    costs = Costs([1, 2, 3, 4])
    booster = train_booster(plan, LOSSES[loss], train, valid, costs)
    policy = grow_number_policy(plan, LOSSES[loss], train, valid, costs, names)
    expected = booster.predict(X)
    assert policy.predict(X).tolist() == expected.tolist()
    assert policy.cost(X).max() <= 10
    check_policy(policy, X[:8])


@pytest.mark.parametrize("loss", BOTH)
def test_a_budget_is_kept_and_more_money_errs_less(rows, loss):
    X, y = rows
    boost = small_boost(budget=3, loss=loss).fit(X[:400], y[:400])
    assert boost.point_.cost <= 3
    errors = []
    for budget in (0.5, 1.5, 10):
        policy = boost.at_budget(budget)
        said, paid = policy.predict_and_cost(X[400:])
        assert paid.mean() <= 1.1 * budget
        errors.append(LOSSES[loss].errors(said, y[400:]).mean())
    assert errors[0] > errors[1] > errors[2]
    front = boost.path()
    assert all(a.cost < b.cost and a.error > b.error for a, b in pairwise(front))


def test_each_loss_is_better_at_itself(rows):
    X, y = rows
    rng = np.random.default_rng(0)
    # A few numbers far off: the median does not mind them.
    y = y + 100 * (rng.random(600) < 0.05)
    for make in (
        lambda loss: small_boost(loss=loss),
        lambda loss: askless.CostTreeRegressor([1, 2, 3, 4], loss=loss),
    ):
        errors = {}
        for loss in BOTH:
            said = make(loss).fit(X[:400], y[:400]).predict(X[400:])
            errors[loss] = np.abs(said - y[400:]).mean()
        assert errors["absolute"] < errors["squared"]


@pytest.mark.parametrize("most", [0.0, 1.0, 3.5, 6.0])
def test_no_row_pays_more_than_max_cost(rows, most):
    X, y = rows
    for model in (
        small_boost(max_cost=most),
        askless.CostTreeRegressor([1, 2, 3, 4], max_cost=most),
    ):
        if most == 0.0:
            with pytest.warns(DegeneratePolicyWarning, match="at once|buys nothing"):
                model.fit(X[:400], y[:400])
        else:
            model.fit(X[:400], y[:400])
        assert model.cost(X).max() <= most


def test_mistakes_say_how_much_a_tree_buys(rows):
    X, y = rows
    costs = []
    for price in (0.01, 1.0, 100.0):
        tree = askless.CostTreeRegressor([1, 2, 3, 4], mistakes=price).fit(X, y)
        assert tree.mistakes_ == price
        costs.append(tree.cost(X).mean())
    assert costs[0] < costs[1] <= costs[2]
    at_once = askless.CostTreeRegressor([1, 2, 3, 4], mistakes=1.0).fit(X, y)
    assert at_once.total_cost(X, y).mean() < np.var(y)


def test_mistakes_say_when_a_booster_stops(rows):
    X, y = rows
    cheap = small_boost(mistakes=0.05).fit(X, y).cost(X).mean()
    dear = small_boost(mistakes=50).fit(X, y).cost(X).mean()
    assert cheap < dear


@pytest.mark.parametrize("loss", BOTH)
def test_a_leaf_says_the_center_of_its_rows(rows, loss):
    X, y = rows
    tree = askless.CostTreeRegressor([1, 2, 3, 4], loss=loss).fit(X, y)
    leaf = tree.policy_.apply(X)
    center = np.mean if loss == "squared" else np.median
    for one in np.unique(leaf):
        assert tree.policy_.values[one] == pytest.approx(center(y[leaf == one]))
    assert tree.policy_.values[0] == pytest.approx(center(y))


def test_groups_of_numbers_are_neighbours_of_equal_weight(rng):
    numbers = rng.normal(size=1000).round(2)
    groups = group_numbers(numbers, None, 8)
    assert (np.diff(groups[np.argsort(numbers, kind="stable")]) >= 0).all()
    assert np.bincount(groups).min() > 80
    weights = rng.integers(1, 4, 1000)
    repeated = group_numbers(np.repeat(numbers, weights), None, 8)
    weighted = group_numbers(numbers, weights.astype(float), 8)
    assert (np.repeat(weighted, weights) == repeated).all()


def test_the_center_of_weighted_numbers_is_that_of_repeated_ones(rng):
    for loss in LOSSES.values():
        for _ in range(30):
            numbers = rng.integers(0, 9, 7).astype(float)
            weights = rng.integers(1, 4, 7)
            repeated = loss.center(np.repeat(numbers, weights))
            assert loss.center(numbers, weights.astype(float)) == pytest.approx(
                repeated
            )
            plain = np.median if loss.name == "absolute" else np.mean
            assert loss.center(numbers) == pytest.approx(plain(numbers))


def test_groups_delays_and_prices_by_outcome_are_kept_to(rng):
    X = {
        "smear": rng.choice(["+", "-"], 300),
        "iron": rng.normal(size=300),
        "sugar": rng.normal(size=300),
    }
    y = 3 * X["iron"] * (X["smear"] == "+") + X["sugar"]
    costs = Costs(
        {"smear": 1, "iron": 7, "sugar": 5},
        groups={"blood": ["iron", "sugar"]},
        discounted={"iron": 4, "sugar": 2},
    )
    tree = askless.CostTreeRegressor(costs, mistakes=20).fit(X, y)
    check_policy(tree.policy_)
    assert tree.cost(X).max() <= 10


def test_validation_rows_are_told_of(rows):
    X, y = rows
    for model in (small_boost(budget=2), askless.CostTreeRegressor([1, 2, 3, 4])):
        one = type(model)(**model.get_params()).fit(
            X[:400], y[:400], X_valid=X[400:], y_valid=y[400:]
        )
        other = model.fit(X[:400], y[:400], eval_set=[(X[400:], y[400:])])
        assert one.point_ == other.point_
        assert one.point_.n_rows == 200
        said, paid = one.predict_and_cost(X[400:])
        assert one.point_.cost == pytest.approx(paid.mean())
        assert one.point_.error == pytest.approx(np.mean((said - y[400:]) ** 2))


def test_results_do_not_depend_on_threads(rows):
    X, y = rows
    for model in (small_boost(budget=3), askless.CostTreeRegressor([1, 2, 3, 4])):
        one = type(model)(**model.get_params()).fit(X, y)
        two = model.set_params(n_jobs=2).fit(X, y)
        assert one.predict(X).tolist() == two.predict(X).tolist()
        assert one.cost(X).tolist() == two.cost(X).tolist()


def test_every_stage_is_told_and_can_be_the_last(rows):
    X, y = rows
    for model in (small_boost(), askless.CostTreeRegressor([1, 2, 3, 4])):
        told = []
        model.fit(X, y, callbacks=told.append)
        assert len(told) > 2
        model.fit(X, y, callbacks=lambda stage: True)
        assert model.predict(X).shape == y.shape


def test_what_does_not_fit_is_refused(rows):
    X, y = rows
    boost, tree = askless.BudgetBoostRegressor, askless.CostTreeRegressor
    for model, message in [
        (boost(loss="huber"), "loss must be 'squared' or 'absolute'"),
        (boost(mistakes=-1), "mistakes must be a finite number >= 0"),
        (tree(Costs([1, 2, 3, 4], mistakes=5)), "what an error of 1 costs"),
        (tree(n_groups=1), "n_groups must be a whole number >= 2"),
        (boost(budget=-1), "budget must be a number >= 0"),
        (boost(max_cost=-1), "max_cost must be >= 0"),
        (boost(budget_confidence=2), "budget_confidence must be"),
        (boost(tradeoffs=()), "tradeoffs must be at least one"),
        (boost(tradeoffs=(-1,)), "tradeoffs must be a finite number >= 0"),
        (boost(n_folds=1), "n_folds must be a whole number >= 2"),
    ]:
        with pytest.raises(InvalidOptionError, match=message):
            model.fit(X, y)
    with pytest.raises(InvalidTableError, match="Every row must have a finite number"):
        tree().fit(X, ["dear"] * 600)


def test_a_budget_that_buys_nothing_says_so(rows):
    X, y = rows
    boost = askless.BudgetBoostRegressor(
        [5, 6, 7, 8], 1, n_estimators=9, random_state=0
    )
    with pytest.warns(DegeneratePolicyWarning, match="the cheapest feature costs 5"):
        boost.fit(X, y)
    assert boost.cost(X).max() == 0


def test_a_frontier_of_numbers():
    X, y = load_diabetes(return_X_y=True)
    found = askless.frontier(
        {"boost": askless.BudgetBoostRegressor(n_estimators=20, n_folds=0)},
        X, y, cv=2, metric="absolute", budgets=[1, 4],
    )  # fmt: skip
    assert [point.setting for point in found.points] == ["budget=1", "budget=4"]
    assert found.points[0].error > found.points[1].error > 10
    with pytest.raises(InvalidOptionError, match="from 2 folds to 442"):
        askless.frontier([askless.CostTreeRegressor()], X, y, cv=1, metric="squared")
