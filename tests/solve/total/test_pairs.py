"""The bound by pairs of cases."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import askless
from askless import Costs, Table
from askless._core.total._pairs import PairProblem, PairRoom
from askless.solve._solve import make_task
from askless.solve.total import _pairs, _search
from askless.solve.total._pairs import CostSplit, list_pairs, raise_by_pairs
from askless.testing import plain_pair_cost, reference_total
from tests.solve.total.tables import build
from tests.solve.total.test_total import FEATURES


def draw_tests(rng, n_tests):
    """Return the chances of some tests for two cases, a few of them facts."""
    tests = []
    for _ in range(n_tests):
        n = rng.integers(2, 4)
        shares = rng.integers(0, 4, (2, n)) + (rng.random((2, 1)) < 0.7) * 0.1
        shares[shares.sum(axis=1) == 0] = 1
        tests.append((shares / shares.sum(axis=1, keepdims=True)).T)
    return tests


def join(tests):
    """Return the rows of some tests, and the first one of each."""
    firsts = np.cumsum([0, *map(len, tests)]).astype(np.int32)
    return np.concatenate([np.zeros((0, 2)), *tests]), firsts


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_two_cases_on_a_grid_are_as_on_exact_odds_and_never_above(seed):
    rng = np.random.default_rng(seed)
    asked, free = draw_tests(rng, rng.integers(0, 4)), draw_tests(rng, rng.integers(3))
    weight = rng.random(2) + 0.01
    price = rng.random((2, len(asked))) * rng.integers(0, 2, (1, len(asked)))
    loss = rng.random((2, rng.integers(2, 4))) * rng.integers(1, 20)
    exact = plain_pair_cost(tuple(weight), asked, free, price.tolist(), loss.tolist())
    found = []
    for step in (1.0, 0.2, 0.01):
        pair = PairProblem(weight, *join(asked), *join(free), step=step, reach=12.0)
        found.append(pair.solve(price, loss, PairRoom(len(asked), pair.n_places)))
        # What is asked and decided is what the value is made of.
        spent = (pair.asked * price).sum(axis=1) + (pair.decided * loss).sum(axis=1)
        assert spent @ weight == pytest.approx(found[-1], rel=1e-9, abs=1e-12)
    assert max(found) <= exact * (1 + 1e-9) + 1e-12
    assert found[-1] == pytest.approx(exact, rel=2e-2, abs=1e-3)


@pytest.mark.parametrize("features", FEATURES, ids=str)
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_whatever_the_split_it_is_never_above_the_least_cost(features, seed):
    rng = np.random.default_rng(seed)
    table = build(rng, **features)
    weight = float(rng.choice([0.0, 1.0, 2.5]))
    task = make_task(table, "total", "class")
    least = reference_total(table, cost_weight=weight) / table.prior.sum()
    for count, bound in enumerate(raise_by_pairs(task, weight, lambda: False)):
        assert bound <= least * (1 + 1e-9) + 1e-12
        if count > 12:
            break


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_no_price_and_no_loss_is_given_twice(seed):
    table = build(np.random.default_rng(seed))
    arrays = _search.state_total(make_task(table, "total", "class"))
    pairs = list_pairs(arrays)
    if not pairs:
        return
    split = CostSplit(arrays, table.prices.full, pairs)
    assert split.lay_grid(0.5, lambda: False)
    for _ in range(4):
        given_out = np.zeros((arrays.n_cases, table.n_tests + 1))
        lost = np.zeros((arrays.n_cases, len(arrays.mistakes)))
        for number, pair in enumerate(pairs):
            for side, case in enumerate(pair):
                for place, test in enumerate(split.test[number, 0]):
                    given_out[case, test] += split.price_shares[number, side, place]
                lost[case] += split.loss_shares[number, side]
        assert given_out[:, : table.n_tests].max() <= 1 + 1e-9
        assert lost.max() <= 1 + 1e-9
        split.solve(lambda: False)
        split.move()


def test_two_cases_are_bounded_by_what_they_cost():
    table = Table.from_likelihoods(
        {"t": {"a": {"+": 0.9, "-": 0.1}, "b": {"+": 0.2, "-": 0.8}}},
        costs=Costs({"t": 1.0}, mistakes=20.0),
    )
    task = make_task(table, "total", "class")
    best = max(raise_by_pairs(task, 1.0, lambda: False))
    assert best == pytest.approx(askless.solve(table, objective="total").total_cost)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_proof_that_begins_with_pairs_ends_at_the_same_cost(seed):
    table = build(np.random.default_rng(seed))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_search, "QUICK_SECONDS", 0.0)
        patch.setattr(_pairs, "STEPS", (0.5,))
        solution = askless.solve(table, objective="total", method="exact", n_jobs=1)
    assert solution.status == "optimal"
    assert solution.total_cost == pytest.approx(reference_total(table), abs=1e-7)


def test_too_many_pairs_are_left_alone():
    n = 200
    rows = [[int(bit) for bit in f"{i:08b}"] for i in range(n)]
    table = Table(rows, [str(i) for i in range(n)], costs=Costs([1.0] * 8, mistakes=5))
    task = make_task(table, "total", "class")
    assert not list(raise_by_pairs(task, 1.0, lambda: False))
