"""Boosting with a budget: kept on validation, run adaptively, any kind of column."""

import dataclasses
import sys
import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

import askless
from askless import BudgetBoostClassifier
from askless.exceptions import (
    DegeneratePolicyWarning,
    InvalidOptionError,
    MissingExtraError,
)
from askless.learn.boost import _budget_boost
from askless.learn.boost._boosters import BoosterPlan, ForestPlan
from askless.learn.boost._calibrate import Stops, fall, fill_budget, trace_stops
from askless.learn.boost._candidates import Candidates
from askless.learn.boost._families import usual_grid

pytest.importorskip("lightgbm")
QUICK = {"n_estimators": 20, "n_folds": 0, "random_state": 0}


@parametrize_with_checks(
    [
        BudgetBoostClassifier(
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
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1500, 6))
    y = np.where(X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=1500) > 0, "yes", "no")
    return X, y


def test_a_budget_is_kept(rows):
    X, y = rows
    costs = [4, 5, 1, 1, 1, 1]
    free = BudgetBoostClassifier(costs, **QUICK).fit(X[:1000], y[:1000])
    tight = BudgetBoostClassifier(costs, budget=5, **QUICK).fit(X[:1000], y[:1000])
    assert tight.point_.cost <= 5
    assert tight.cost(X[1000:]).mean() <= 5 * 1.1
    assert free.score(X[1000:], y[1000:]) > 0.9
    assert free.score(X[1000:], y[1000:]) >= tight.score(X[1000:], y[1000:]) - 0.02
    # Choosing again grows nothing, and gives the same as asking for it at once.
    again = free.at_budget(5)
    assert again.predict(X).tolist() == tight.predict(X).tolist()


def test_the_path_goes_from_cheap_to_accurate(rows):
    X, y = rows
    path = BudgetBoostClassifier([4, 5, 1, 1, 1, 1], **QUICK).fit(X, y).path()
    costs, errors = [p.cost for p in path], [p.error for p in path]
    assert costs == sorted(costs)
    assert errors == sorted(errors, reverse=True)
    assert costs[0] == 0
    assert len(path) > 3


def test_other_budgets_need_no_other_fit(rows):
    X, y = rows
    model = BudgetBoostClassifier(budget=4, **QUICK).fit(X, y)
    other = BudgetBoostClassifier(budget=2, **QUICK).fit(X, y)
    assert model.at_budget(2.0).cost(X).tolist() == other.cost(X).tolist()
    assert model.at_budget(0.0).cost(X).max() == 0.0


def test_no_result_depends_on_threads(rows):
    X, y = rows
    one = BudgetBoostClassifier(budget=2, **QUICK).fit(X, y)
    two = BudgetBoostClassifier(budget=2, n_jobs=2, **QUICK).fit(X, y)
    assert one.point_ == two.point_
    assert one.cost(X).tolist() == two.cost(X).tolist()


def test_categories_missing_values_and_groups(rows):
    rng = np.random.default_rng(5)
    n = 800
    colour = rng.choice(["red", "green", "blue", "grey"], n).astype(object)
    colour[rng.random(n) < 0.1] = None
    size = np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n))
    frame = pd.DataFrame({"colour": colour, "size": size, "noise": rng.normal(size=n)})
    y = np.isin(colour, ["red", "grey"]).astype(int) + (np.nan_to_num(size) > 0)
    costs = askless.Costs(
        {"colour": 3, "size": 3, "noise": 1},
        groups={"look": ["colour", "size"]},
        discounted={"colour": 1, "size": 1},
    )
    boost = BudgetBoostClassifier(costs, **QUICK).fit(frame, y)
    assert boost.score(frame, y) > 0.9
    assert boost.cost(frame).max() <= 5
    frame.loc[:50, "colour"] = "never seen"
    assert boost.predict(frame).shape == (n,)


def test_validation_rows_can_be_given(rows):
    X, y = rows
    boost = BudgetBoostClassifier(budget=3, **QUICK)
    boost.fit(X[:800], y[:800], X_valid=X[800:], y_valid=y[800:])
    assert boost.point_.cost == pytest.approx(boost.cost(X[800:]).mean())
    assert boost.point_.error == pytest.approx(1 - boost.score(X[800:], y[800:]))


def test_with_few_rows_those_left_out_of_growing_are_chosen_by_too(rows):
    X, y = rows[0][:300], rows[1][:300]
    few = {"n_estimators": 15, "tradeoffs": (0.01, 0.1), "bagged_tradeoffs": (0.03,)}
    few["family"] = "boost"
    boost = BudgetBoostClassifier(budget=3, n_folds=3, random_state=0, **few).fit(X, y)
    # Three boosters, each with two ways to say how sure it is.
    assert [stops.n_rows for stops in boost._candidates.stops] == [300] * 6
    assert sorted(boost._candidates.true.tolist()) == sorted((y == "yes").tolist())
    assert boost.point_.cost <= 3
    # The first rows are the validation rows, run by the boosters that are kept.
    alone = BudgetBoostClassifier(budget=3, n_folds=0, random_state=0, **few).fit(X, y)
    for stops, valid in zip(
        boost._candidates.stops, alone._candidates.stops, strict=True
    ):
        for threshold in (0.0, 2.0, np.inf):
            both = zip(stops.at(threshold), valid.at(threshold), strict=True)
            assert all(np.array_equal(joined[:60], some) for joined, some in both)


def test_no_point_lets_only_some_folds_buy_a_first_feature(rows):
    """With a price of 1 each, a mean cost between 0 and 1 cannot be had."""
    X, y = rows[0][:300], rows[1][:300]
    few = {"n_estimators": 15, "tradeoffs": (0.01, 0.1), "bagged_tradeoffs": ()}
    few |= {"family": "boost", "n_folds": 3, "random_state": 0}
    boost = BudgetBoostClassifier(**few).fit(X, y)
    costs = [point.cost for _, point in boost._candidates.points()]
    assert min(costs) == 0.0
    assert not any(0.0 < cost < 1.0 for cost in costs)


def test_folds_are_left_out_where_a_class_is_rare_or_rows_are_many(rows, monkeypatch):
    X, y = rows
    rare = np.where(np.arange(200) < 3, "rare", y[:200])
    quick = {"n_estimators": 5, "tradeoffs": (0.05,), "bagged_tradeoffs": ()}
    quick["family"] = "boost"
    boost = BudgetBoostClassifier(n_folds=5, random_state=0, **quick)
    assert boost.fit(X[:200], rare).point_.n_rows == 40
    # More than two classes: fewer folds, and none for very many.
    three = np.where(X[:200, 2] > 0.5, "third", y[:200])
    boost = BudgetBoostClassifier(random_state=0, **quick).fit(X[:200], three)
    assert boost.point_.n_rows == 200
    assert len(np.unique(boost._candidates.groups)) == 4
    many = np.arange(200) % 13
    boost = BudgetBoostClassifier(random_state=0, **quick).fit(X[:200], many)
    assert boost.point_.n_rows == 40
    boost = BudgetBoostClassifier(random_state=0, **quick).fit(X[:200], y[:200])
    assert boost.point_.n_rows == 200
    monkeypatch.setattr("askless.learn.boost._budget_boost.FEW_ROWS", 300)
    boost = BudgetBoostClassifier(random_state=0, **quick).fit(X, y)
    assert boost.point_.n_rows == 300


@pytest.mark.parametrize("unit", [5e-324, 1e-310, 1e-200, 1e120])
def test_prices_may_be_far_from_one(unit, rows):
    X, y = rows[0][:300], rows[1][:300]
    options = QUICK | {"tradeoffs": (0.01,), "bagged_tradeoffs": ()}
    # Means of the least numbers are rounded: of more models, others tie in cost.
    options["family"] = "boost"
    plain = BudgetBoostClassifier([4, 5, 1, 1, 1, 0], **options).fit(X, y)
    costs = [4 * unit, 5 * unit, unit, unit, unit, 0]
    scaled = BudgetBoostClassifier(costs, **options).fit(X, y)
    assert scaled.predict(X).tolist() == plain.predict(X).tolist()
    # Beside one that counts, a price next to zero is nothing to LightGBM.
    mixed = BudgetBoostClassifier([1, 1e-320, 1, 1, 1, 1e-300], **options).fit(X, y)
    assert set(mixed.predict(X)) == {"yes", "no"}


def test_one_class_buys_nothing(rows):
    boost = BudgetBoostClassifier(**QUICK).fit(rows[0], ["same"] * len(rows[0]))
    assert boost.path() == []
    assert boost.at_budget(1.0).cost(rows[0]).max() == 0


def test_bagged_boosters_are_among_those_chosen_from(rows):
    X, y = rows
    boost = BudgetBoostClassifier(
        tradeoffs=(0.01,), bagged_tradeoffs=(0.01, 0.1), family="boost", **QUICK
    ).fit(X, y)
    assert len(boost.models_) == 3
    found = {
        (point.tradeoff, point.is_bagged) for _, point in boost._candidates.points()
    }
    assert found == {(0.01, False), (0.01, True), (0.1, True)}
    # Each tree saw other rows: not the same booster.
    plain, bagged = (model.predict_proba(X) for model in boost.models_[:2])
    assert not np.allclose(plain, bagged)


def test_a_lucky_threshold_is_not_chosen(rows, monkeypatch):
    X, y = rows
    boost = BudgetBoostClassifier(
        tradeoffs=(0.01,), bagged_tradeoffs=(), family="boost", **QUICK
    ).fit(X, y)
    some = boost._candidates
    first = {
        name: getattr(some, name)[:1]
        for name in ("plans", "models", "thresholds", "stops")
    }
    some = dataclasses.replace(some, **first)
    found = some.points()
    n = len(found)
    errors = np.full(n, 0.3)
    errors[n // 4] = 0.1  # alone: whoever buys more errs more
    errors[3 * n // 4 :] = 0.2  # and so does whoever buys still more
    points = [
        (i, dataclasses.replace(point, loss=float(error)))
        for (i, point), error in zip(found, errors, strict=True)
    ]
    monkeypatch.setattr(Candidates, "points", lambda self, goal: list(points))
    # The cheapest, or for a budget the dearest.
    assert some.choose(None)[1] == points[3 * n // 4][1]
    budget = max(point.cost for _, point in points)
    assert some.choose(budget)[1].cost == budget


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=12))
def test_losses_fall_to_the_nearest_values_that_never_rise(values):
    found = fall(np.array(values))
    assert (np.diff(found) <= 1e-9).all()
    # The slow way: of all means over intervals, the least of the largest.
    n = len(values)
    for i in range(n):
        slow = max(
            min(np.mean(values[a : b + 1]) for a in range(i + 1)) for b in range(i, n)
        )
        assert found[i] == pytest.approx(slow, abs=1e-9)


def test_rows_to_choose_on_count_by_their_weights(rows):
    X, y = rows
    boost = BudgetBoostClassifier(budget=3, **QUICK).fit(X, y)
    some = boost._candidates
    counts = np.random.default_rng(0).integers(1, 4, len(some.true))
    weighted = dataclasses.replace(some, weights=counts.astype(float))
    again = np.repeat(np.arange(len(counts)), counts)
    repeated = dataclasses.replace(
        some,
        true=some.true[again],
        stops=[
            Stops(s.reached[again], s.cost[again], s.predicted[again], s.last[again])
            for s in some.stops
        ],
    )
    for (_, one), (_, other) in zip(weighted.points(), repeated.points(), strict=True):
        assert one.cost == pytest.approx(other.cost)
        assert one.cost_spread == pytest.approx(other.cost_spread)
        assert one.error == pytest.approx(other.error)
    assert weighted.choose(3)[1].threshold == repeated.choose(3)[1].threshold
    # Rows that are set aside bring their weights.
    heavy = np.where(y == "yes", 5.5, 1.0)
    boost = BudgetBoostClassifier(**QUICK).fit(X, y, sample_weight=heavy)
    assert set(boost._candidates.weights) == {1.0, 5.5}
    is_yes = boost._candidates.true == 1
    assert np.array_equal(boost._candidates.weights, np.where(is_yes, 5.5, 1.0))


def test_a_budget_that_buys_nothing_says_so(rows):
    X, y = rows
    boost = BudgetBoostClassifier([9.0] * 6, budget=1.0, **QUICK)
    with pytest.warns(DegeneratePolicyWarning, match="cheapest feature costs 9"):
        boost.fit(X, y)
    assert boost.cost(X).max() == 0


def test_a_budget_holds_for_new_rows_with_the_confidence_asked_for(rows):
    X, y = rows
    costs = [4, 5, 1, 1, 1, 1]
    boost = BudgetBoostClassifier(costs, family="boost", **QUICK).fit(X[:900], y[:900])
    new = X[900:]
    over, spent = [], []
    for budget in np.linspace(4.2, 9, 15):
        cost = boost.at_budget(budget).cost(new)
        over.append((cost.mean() - budget) / (cost.std() / len(new) ** 0.5 + 1e-12))
        spent.append(cost.mean() / budget)
    assert np.mean(np.array(over) > 2) <= 0.05
    assert np.mean(spent) > 0.75
    # On the rows to choose on alone, more is spent, and never more than the budget.
    boost.set_params(budget_confidence=None)
    for budget in np.linspace(2, 9, 15):
        point = boost._candidates.choose(boost._goal(budget))[1]
        assert point.cost <= budget


def test_a_gap_between_thresholds_is_filled_by_a_limit_for_every_row():
    def mean(cost, _):
        return float(cost.mean())

    # All rows buy the first test or none: nothing in between without a limit.
    reached = np.array([[1.0, 1.0, 1.0, np.inf]] * 4)
    cost = np.array([[0.0, 2.0, 6.0, 9.0]] * 4)
    stops = Stops(reached, cost, np.zeros((4, 4)), np.full(4, 3))
    assert fill_budget(stops, mean, 5.0)[0] == (0.0, np.inf)
    threshold, most = fill_budget(stops, mean, 5.0)[1]
    paid, _ = stops.limit(most).at(threshold)
    assert paid.tolist() == [2.0] * 4
    assert fill_budget(stops, mean, 9.0) == [(np.inf, np.inf)]


@pytest.mark.parametrize("is_priced_by_outcome", [False, True])
def test_no_row_pays_more_than_max_cost(rows, is_priced_by_outcome):
    X, y = rows
    costs = askless.Costs({f"x{i}": 1.0 + i for i in range(6)})
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(6)])
    if is_priced_by_outcome:
        frame["x0"] = np.where(X[:, 0] > 0, "high", "low")
        costs = askless.Costs(
            {"x0": 3.0} | {f"x{i}": 1.0 + i for i in range(1, 6)},
            by_outcome={"x0": {"high": 3.0, "low": 1.0}},
        )
    for most in (0.5, 3.5, 7.0):
        boost = BudgetBoostClassifier(costs, max_cost=most, family="boost", **QUICK)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DegeneratePolicyWarning)
            boost.fit(frame, y)
        paid = boost.cost(frame)
        assert paid.max() <= most
        assert boost.point_.max_cost == most
        # Row by row it is the same as in a batch.
        for i in range(20):
            session = boost.policy_.start()
            while (asked := session.test) is not None:
                session.answer(frame[asked][i])
            assert session.spent == pytest.approx(paid[i])


def test_large_boosters_few_columns_and_a_forest_are_among_those_chosen_from():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 12))
    y = (X[:, 0] + X[:, 5] > 0).astype(int)
    boost = BudgetBoostClassifier(**QUICK).fit(X, y)
    found = {(p.family, p.n_leaves) for _, p in boost._candidates.points()}
    wanted = {("boost", 8), ("bagged", 16), ("boost", 31), ("few columns", 31)}
    assert found == wanted | {("forest", 4_096), ("blend", 8), ("bayes", 24)}
    _, few, _ = [
        model
        for plan, model in zip(
            boost._candidates.plans[: 2 * len(boost.models_) : 2],
            boost.models_,
            strict=True,
        )
        if plan.family == "few columns"
    ]
    assert {0, 5} <= set(few.used_tests)
    assert len(few.used_tests) <= 3
    assert (
        boost.models_[-1].predict(X).tolist()
        == boost.models_[-1].with_stop(is_complete=True).predict(X).tolist()
    )


def test_many_rows_grow_fewer_boosters():
    for n_classes in (2, 3, 4):
        many, usual = (usual_grid(n, n_classes) for n in (6_000, 4_000))
        assert count_boosters(many) < count_boosters(usual)
        # What errs least is always there.
        wide = [kind for kind in many.others if kind.leaves == "wide"]
        assert any(0.0 in kind.tradeoffs and not kind.is_own for kind in wide)
        assert many.bagged == ()
        assert len(usual.bagged) > 0


def count_boosters(grid):
    kinds = (grid.small, *grid.others)
    return len(grid.bagged) + sum(len(kind.tradeoffs) for kind in kinds)


def plans_of(n_rows, n_classes, **options):
    """Return what is grown for so many rows, before anything is."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n_rows, 10)), columns=list("abcdefghij"))
    boost = BudgetBoostClassifier(random_state=0, **options)
    plans = []
    boost._list_folds = lambda *_: []

    def stop(listed, *_, **__):
        plans.extend(listed)
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_budget_boost, "grow_all", stop)
        with pytest.raises(KeyboardInterrupt):
            boost.fit(X, np.arange(n_rows) % n_classes)
    return plans


def test_with_more_than_three_classes_most_boosters_share_their_trees():
    def kinds(plans):
        return [p for p in plans if isinstance(p, BoosterPlan) and not p.is_bagged]

    assert not any(plan.is_own for plan in kinds(plans_of(400, 2)))
    of_three = kinds(plans_of(4_000, 3))
    assert 0 < sum(plan.is_own for plan in of_three) < len(of_three) / 2
    for some in (kinds(plans_of(400, 3)), kinds(plans_of(4_000, 4))):
        assert sum(plan.is_own for plan in some) > len(some) / 2
        assert not all(plan.is_own for plan in some)
        assert {p.n_leaves for p in some if not p.is_own} == {8, 31}
    small = plans_of(400, 4, family="boost", tradeoffs=(0.1,), bagged_tradeoffs=(0.2,))
    assert [(p.is_own, p.n_leaves) for p in small] == [(True, 16), (True, 16)]
    many = plans_of(8_000, 4, family="boost", tradeoffs=(0.1,), bagged_tradeoffs=())
    assert [(p.is_own, p.n_leaves) for p in many] == [(True, 128)]


def test_blends_of_several_classes_grow_no_booster_of_their_own():
    plans = plans_of(4_000, 4)
    blends = [plan for plan in plans if plan.family == "blend"]
    assert len(blends) == 3
    assert {plan.is_bagged for plan in blends} == {False, True}
    for plan in blends:
        assert dataclasses.replace(plan, bayes_share=0.0) in plans


@pytest.mark.parametrize("n_classes", [3, 4])
def test_with_several_classes_there_are_two_forests_unless_rows_are_many(n_classes):
    def forests(n_rows):
        plans = plans_of(n_rows, n_classes)
        return [p.has_random_cuts for p in plans if isinstance(p, ForestPlan)]

    assert forests(400) == forests(4_000) == [False, True]
    assert forests(8_000) == []
    few = plans_of(400, n_classes, family="forest")
    assert [p.has_random_cuts for p in few if isinstance(p, ForestPlan)] == [False]


def test_with_many_rows_of_two_classes_boosters_with_penalties_are_ours():
    plans = plans_of(8_000, 2)
    assert all(plan.is_own for plan in plans if plan.tradeoff > 0)
    # LightGBM's default is always there.
    assert [(p.tradeoff, p.n_leaves) for p in plans if not p.is_own] == [(0.0, 31)]


def test_no_booster_is_listed_twice():
    for n_rows in (400, 4_000, 8_000):
        for n_classes in (2, 3, 4):
            plans = plans_of(n_rows, n_classes)
            assert len(set(plans)) == len(plans)


def test_where_our_sums_would_fill_the_memory_all_boosters_are_of_lightgbm(monkeypatch):
    monkeypatch.setattr("askless.learn.boost._families.can_grow", lambda *_: False)
    plans = [p for p in plans_of(400, 4) if isinstance(p, BoosterPlan)]
    assert not any(plan.is_own or plan.is_apart for plan in plans)
    assert len(set(plans)) == len(plans)


def test_several_classes_are_told_apart_within_a_budget():
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(1_500, 4)).round(2), columns=list("abcd"))
    X["text"] = rng.choice(["x", "y", "z"], 1_500)
    X.loc[rng.random(1_500) < 0.1, "text"] = None
    y = 2 * (X.a > 0) + ((X.b > 0) ^ (X.text == "x")).astype(int)
    boost = BudgetBoostClassifier(budget=3.2, n_estimators=40, random_state=0)
    boost.fit(X[:1_000], y[:1_000])
    found, paid = boost.predict_and_cost(X[1_000:])
    assert np.mean(found != y[1_000:]) < 0.08
    assert paid.mean() < 3.2
    assert any(plan.is_own for plan in own_plans(boost))


def own_plans(boost):
    return [p for p in boost._candidates.plans if isinstance(p, BoosterPlan)]


def test_fewer_columns_are_the_best_of_more():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 12))
    y = (X[:, 0] + X[:, 5] > 0).astype(int)
    boost = BudgetBoostClassifier(**QUICK).fit(X, y)
    columns = [
        set(plan.columns)
        for plan in boost._candidates.plans[::2]
        if plan.family == "few columns"
    ]
    assert len(columns) > 1
    for fewer, more in pairwise(columns):
        assert fewer < more


def test_boosters_are_the_same_whether_rows_are_binned_once_or_anew(rows):
    X, y = rows
    options = {**QUICK, "family": "boost", "bagged_tradeoffs": ()}
    both = BudgetBoostClassifier(**options | {"tradeoffs": (0.0, 0.05)}).fit(X, y)
    for i, tradeoff in enumerate((0.0, 0.05)):
        alone = BudgetBoostClassifier(**options | {"tradeoffs": (tradeoff,)}).fit(X, y)
        ours, theirs = both.models_[i].trees, alone.models_[0].trees
        assert np.array_equal(ours.value, theirs.value)
        assert np.array_equal(ours.test, theirs.test)


def test_the_way_to_be_sure_that_errs_less_is_taken(rows):
    X, y = rows
    boost = BudgetBoostClassifier(budget=2, **QUICK).fit(X, y)
    some = boost._candidates
    assert [m.varies_together for m in some.models[:4]] == [False, True] * 2
    for model, point in some.points()[::40]:
        policy = some.policy_at(model, point)
        assert policy.varies_together == point.varies_together
    policy = some.policy_at(1, dataclasses.replace(some.points()[-1][1], threshold=0.6))
    stops = trace_stops(policy, X[:50], 1)[0]
    assert stops.at(0.6)[0].tolist() == policy.cost(X[:50]).tolist()


def test_mistakes_say_when_the_next_test_is_not_worth_its_price(rows):
    X, y = rows
    costs = [4, 5, 1, 1, 1, 1]
    points = [
        BudgetBoostClassifier(costs, mistakes=m, family="boost", **QUICK)
        .fit(X, y)
        .point_
        for m in (1.0, 30.0, 3000.0)
    ]
    assert points[0].cost < points[1].cost <= points[2].cost
    assert points[0].error > points[1].error >= points[2].error
    assert points[1].loss == pytest.approx(points[1].cost + 30 * points[1].error)


def test_probabilities_fit_where_rows_stop_and_no_decision_changes(rows):
    X, y = rows
    X, y = np.vstack([X, X + 0.01]), np.concatenate([y, y])
    boost = BudgetBoostClassifier(family="boost", **QUICK).fit(X[:1500], y[:1500])
    is_yes = y[1500:] == "yes"

    def loss(policy):
        share = policy.predict_proba(X[1500:])[np.arange(1500), is_yes.astype(int)]
        return -np.log(share).mean()

    gained = []
    for budget in (1.0, 1.5, 2.0):
        fitted = boost.at_budget(budget)
        as_it_was = fitted.with_slope(1.0)
        assert fitted.predict(X).tolist() == as_it_was.predict(X).tolist()
        gained.append(loss(as_it_was) - loss(fitted))
    assert np.mean(gained) > 0


def test_it_can_be_saved_and_run_without_lightgbm(rows, tmp_path):
    X, y = rows
    boost = BudgetBoostClassifier(budget=2, **QUICK).fit(X, y)
    boost.policy_.save(tmp_path / "boost.json")
    policy = askless.load(tmp_path / "boost.json")
    assert policy.predict(X).tolist() == boost.predict(X).tolist()
    assert policy.cost(X).tolist() == boost.cost(X).tolist()
    assert "trees" in askless.show(policy)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"budget": -1}, "budget must be a number >= 0"),
        ({"n_estimators": 0}, "n_estimators must be a whole number >= 1"),
        ({"tradeoffs": ()}, "at least one number"),
        ({"bagged_tradeoffs": (-1.0,)}, "bagged_tradeoffs must be numbers >= 0"),
        ({"n_folds": 1}, "n_folds must be at least 2"),
        ({"validation_fraction": 2}, "between 0 and 1"),
        ({"family": "oak"}, "family must be"),
        ({"max_cost": -1.0}, "max_cost must be >= 0"),
        ({"budget_confidence": 1.0}, "budget_confidence must be at least 0.5"),
    ],
)
def test_options_that_do_not_fit_are_refused(options, match, rows):
    with pytest.raises(InvalidOptionError, match=match):
        BudgetBoostClassifier(**options).fit(*rows)


def test_without_lightgbm_it_says_what_to_install(rows, monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'askless\[boost\]'"):
        BudgetBoostClassifier().fit(*rows)
