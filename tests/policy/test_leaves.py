"""Rows that are settled by the leaves left: at the first step at which they are.

What bounds of every kind have in common is tested with the other ensembles.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
)

import askless
from askless.exceptions import InvalidOptionError
from askless.learn.boost._compile import compile_source
from askless.learn.sources import read_model
from askless.policy import Ensemble
from askless.policy.ensemble import _bounds
from askless.problem import Costs
from askless.testing import plain_ensemble_answer, plain_ensemble_state
from tests.policy.random_ensembles import random_ensemble, random_rows

SEEDS = st.integers(0, 2**32 - 1)
LINKS = ("logit", "softmax")


def boosters(seed, **options):
    """Yield a random booster of two classes, and one of several."""
    for link in LINKS:
        rng = np.random.default_rng(seed)
        yield random_ensemble(rng, link, "leaves", **options)


def with_outcome_prices(policy, rng):
    """Return a policy whose tests charge by what they show."""
    prices = {test.name: float(rng.integers(0, 6)) for test in policy.tests}
    by_outcome = {
        test.name: {o: float(rng.integers(0, 9)) for o in test.outcomes}
        for test in policy.tests
        if test.kind == "category"
    }
    costs = Costs(prices, by_outcome=by_outcome)
    return Ensemble(
        policy.tests, policy.classes, costs.price_list(policy.tests),
        trees=policy.trees, output=policy.output, eagerness=policy.eagerness,
        bounds="leaves",
    )  # fmt: skip


def first_settled(policy, row):
    """Return the first step at which the twin is settled, and what was paid by then.

    Tests are bought in the order of the policy, until every tree has ended.
    """
    policy = policy.with_stop(is_complete=True)
    state, bill = policy.initial_state(), policy.prices.open_bill()
    while not plain_ensemble_state(policy, state.answers).is_settled:
        test = policy.next_test(state)
        if test is None:
            break
        if policy.prices.delayed[test] and not bill.has_paid(test):
            bill.charge_together(policy.tests_ahead(state))
        else:
            bill.charge(test, int(row[test]))
        state = policy.advance(state, int(row[test]))
    return len(state.answers), bill.spent


@given(seed=SEEDS)
def test_a_row_ends_at_the_first_step_that_the_twin_calls_settled(seed):
    rng = np.random.default_rng(seed)
    for policy in boosters(seed):
        for priced in (policy, with_outcome_prices(policy, rng)):
            X, codes = random_rows(rng, priced, 3)
            raw, cost, n_bought = priced.run_rows(X)
            expected = [first_settled(priced, row) for row in codes]
            assert list(zip(n_bought.tolist(), cost.tolist(), strict=True)) == expected
            full = [plain_ensemble_answer(priced, row) for row in codes]
            assert priced.output.decide(raw).tolist() == full


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("depth", [3, 5, 6])
def test_long_rows_go_back_to_the_right_step(link, depth, rng):
    policy = random_ensemble(rng, link, "leaves", sizes=(16, 40, depth))
    X, codes = random_rows(rng, policy, 300)
    raw, cost, n_bought = policy.run_rows(X, n_jobs=1)
    assert len(set(n_bought.tolist())) > 4
    full = [plain_ensemble_answer(policy, row) for row in codes[:50]]
    assert policy.output.decide(raw[:50]).tolist() == full
    for row in range(3):
        assert first_settled(policy, codes[row]) == (n_bought[row], cost[row])
    # Rows look where those before them were settled, which must change nothing.
    order = rng.permutation(300)
    shuffled = {name: np.asarray(column)[order] for name, column in X.items()}
    for n_jobs in (1, 2):
        again = policy.run_rows(shuffled, n_jobs=n_jobs)
        for a, b in zip((raw, cost, n_bought), again, strict=True):
            assert np.array_equal(a[order], b)


@given(seed=SEEDS)
def test_a_trace_ends_where_the_run_does(seed):
    for policy in boosters(seed):
        X, _ = random_rows(np.random.default_rng(seed), policy, 6)
        raw, cost, n_bought = policy.run_rows(X)
        trace = policy.trace(X)
        last = trace.n_steps - 1
        rows = np.arange(len(last))
        assert last.tolist() == n_bought.tolist()
        assert trace.cost[rows, last].tolist() == cost.tolist()
        assert trace.raw.tolist() == raw.tolist()
        decided = policy.output.decide(raw).tolist()
        assert trace.decision[rows, last].astype(int).tolist() == decided
        # Nothing is left of the steps that were gone back.
        after = np.arange(trace.cost.shape[1]) > last[:, None]
        assert not trace.cost[after].any()


@given(seed=SEEDS)
def test_skipping_everything_leaves_what_is_expected(seed):
    for policy in boosters(seed):
        state = policy.initial_state()
        first = state.raw.tolist()
        while policy.next_test(state) is not None:
            state = policy.skip(state)
        assert state.raw.tolist() == first


@given(seed=SEEDS)
def test_a_file_runs_like_the_booster_it_was_saved_from(seed, tmp_path_factory):
    for policy in boosters(seed):
        path = tmp_path_factory.mktemp("leaves") / "policy.json"
        policy.save(path)
        loaded = askless.load(path)
        assert loaded.bounds == "leaves"
        X, _ = random_rows(np.random.default_rng(seed), policy, 5)
        for a, b in zip(policy.run_rows(X), loaded.run_rows(X), strict=True):
            assert a.tolist() == b.tolist()


# Which bounds are chosen.


def grow(rng, make=GradientBoostingClassifier, n_classes=2, most_leaves=12):
    """Return a model of few trees, and rows with their classes."""
    X = rng.normal(size=(300, 6)).round(2)
    score = X[:, :3].sum(axis=1) + X[:, 3] * X[:, 4]
    if most_leaves > 64:
        # What nobody can learn takes many leaves.
        score = rng.normal(size=300)
    y = np.digitize(score, [0.0, 1.0][: n_classes - 1])
    model = make(
        n_estimators=6, max_depth=None, max_leaf_nodes=most_leaves, random_state=0
    ).fit(X, y)
    return model, X, y


@pytest.mark.parametrize("n_classes", [2, 3])
def test_lossless_boosters_of_large_trees_are_settled_by_leaves(n_classes, rng):
    model, X, _ = grow(rng, n_classes=n_classes)
    policy = askless.AdaptiveEnsemble(model).fit().policy_
    assert policy.bounds == "leaves"
    answers, cost = policy.predict_and_cost(X)
    assert answers.tolist() == model.predict(X).tolist()
    assert cost.mean() < 6


@pytest.mark.parametrize(
    "options",
    [
        {"stop": "complete"},
        {"max_cost": 3},
        {"budget": 2.0},
        {"max_disagreement": 0.1},
        {"max_error": 0.4},
        {"budget": 3.0, "max_cost": 4},
    ],
)
def test_what_may_stop_early_is_bounded_as_ever(options, rng):
    model, X, y = grow(rng)
    policy = askless.AdaptiveEnsemble(model, **options).fit(X, y).policy_
    assert policy.bounds == "joint"


def test_other_models_are_bounded_as_ever(rng):
    small, _, _ = grow(rng, most_leaves=8)
    forest, _, _ = grow(rng, RandomForestClassifier)
    numbers, _, _ = grow(rng, GradientBoostingRegressor)
    wide, _, _ = grow(rng, most_leaves=66)
    for model, bounds in (
        (small, "joint"), (forest, "deep"), (numbers, "deep"), (wide, "joint"),
    ):  # fmt: skip
        assert askless.AdaptiveEnsemble(model).fit().policy_.bounds == bounds


def test_boosters_of_any_size_are_settled_by_leaves_if_words_allow(rng, monkeypatch):
    model, X, _ = grow(rng)
    monkeypatch.setattr(_bounds, "DEEP_NODES", 10)
    policy = askless.AdaptiveEnsemble(model).fit().policy_
    assert policy.bounds == "leaves"
    assert policy.predict_and_cost(X)[0].tolist() == model.predict(X).tolist()
    for limit in ("MOST_BYTES", "MOST_RUNS", "MOST_TESTS"):
        with monkeypatch.context() as patch:
            patch.setattr(_bounds, limit, 5)
            assert askless.AdaptiveEnsemble(model).fit().policy_.bounds == "path"


def test_a_policy_to_be_stopped_early_buys_in_the_order_that_was_traced(rng):
    model, X, _ = grow(rng)
    source = read_model(model)
    assert compile_source(source, None).bounds == "leaves"
    policy = compile_source(source, None, stops_early=True)
    assert policy.bounds == "joint"
    assert policy.with_stop(threshold=1.0).bounds == "joint"
    chosen = compile_source(source, None, stops_early=True, bounds="leaves")
    trace, stopped = chosen.trace(X), chosen.with_stop(threshold=1.0)
    reached = np.maximum.accumulate(trace.z, axis=1) >= 1.0
    reached[np.arange(len(X)), trace.n_steps - 1] = True
    step = reached.argmax(axis=1)
    assert stopped.cost(X).tolist() == trace.cost[np.arange(len(X)), step].tolist()


def test_leaves_that_do_not_fit_are_refused(rng):
    with pytest.raises(InvalidOptionError, match="'leaves' must have classes"):
        random_ensemble(rng, "number", bounds="leaves")
    with pytest.raises(InvalidOptionError, match="trees of at most 64 leaves with one"):
        random_ensemble(rng, "share", bounds="leaves")
    wide, _, _ = grow(rng, most_leaves=66)
    with pytest.raises(InvalidOptionError, match="Got trees of up to 66 leaves"):
        askless.AdaptiveEnsemble(wide, bounds="leaves").fit()
