"""Factors of what waits for each test: another order, the same answers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import askless
from askless.exceptions import InvalidOptionError
from tests.policy.random_ensembles import random_ensemble, random_rows


@given(st.integers(0, 10_000))
def test_a_lossless_run_answers_the_same_in_any_order(seed):
    rng = np.random.default_rng(seed)
    policy = random_ensemble(rng)
    columns, _ = random_rows(rng, policy, 20)
    other = policy.with_eagerness(rng.choice([0.1, 1.0, 9.0], len(policy.tests)))
    ours, theirs = policy.predict(columns), other.predict_and_cost(columns)[0]
    assert (
        ours == pytest.approx(theirs)
        if policy.answers_number
        else (ours.tolist() == theirs.tolist())
    )


@given(seed=st.integers(0, 10_000))
def test_files_keep_it(tmp_path_factory, seed):
    rng = np.random.default_rng(seed)
    policy = random_ensemble(rng)
    factors = rng.choice([0.5, 3.0], len(policy.tests)).tolist()
    policy = policy.with_eagerness(factors)
    path = tmp_path_factory.mktemp("files") / "policy.json"
    policy.save(path)
    loaded = askless.load(path)
    assert loaded.eagerness == tuple(factors)
    columns, _ = random_rows(rng, policy, 20)
    assert loaded.cost(columns).tolist() == policy.cost(columns).tolist()


def test_the_eager_test_is_bought_first():
    for seed in range(40):
        policy = random_ensemble(np.random.default_rng(seed), is_plain=True)
        policy = policy.with_eagerness(None)
        prices, state = policy.prices.full, policy.initial_state()
        ahead = policy.tests_ahead(state)
        if state.test < 0 or len(ahead) < 2 or (prices[ahead] == 0).any():
            continue  # what is free comes first in any case
        for test in ahead:
            factors = np.where(np.arange(len(policy.tests)) == test, 1e5, 1.0)
            eager = policy.with_eagerness(factors)
            assert eager.next_test(eager.initial_state()) == test
        return
    raise AssertionError("no ensemble has two tests to choose from")


@pytest.mark.parametrize("wrong", [[1.0], [0.0] * 3, [np.inf] * 3, [np.nan] * 3])
def test_wrong_factors_are_refused(wrong):
    policy = random_ensemble(np.random.default_rng(0), sizes=(3, 2, 2))
    with pytest.raises(InvalidOptionError, match="eagerness must be a number"):
        policy.with_eagerness(wrong)


def test_ones_are_the_same_as_none():
    policy = random_ensemble(np.random.default_rng(0), sizes=(3, 2, 2))
    assert policy.with_eagerness([1.0] * 3).eagerness is None
