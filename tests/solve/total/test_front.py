"""The front of error against cost."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import askless
from askless.exceptions import InvalidOptionError, NoPolicyError
from askless.solve._solve import make_task
from askless.solve._task import Limits
from askless.solve.total._front import trace_expected, trace_worst
from askless.testing import reference_total
from tests.solve.total.tables import build

# Cases that nothing tells apart are part of these tables.
pytestmark = pytest.mark.filterwarnings(
    "ignore::askless.exceptions.IndistinctCasesWarning"
)


def with_price(table, price):
    return table.with_costs(table.costs.with_mistakes(float(price)))


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_no_policy_lies_below_the_expected_front(seed):
    rng = np.random.default_rng(seed)
    table = build(rng, mistakes=1.0, groups=bool(rng.integers(2)))
    points = trace_expected(make_task(table, "expected", "class"), Limits(60, None, 1))
    assert all(point.is_proved for point in points)
    errors = [point.error for point in points]
    assert errors == sorted(errors, reverse=True)
    for price in (0.5, 3.0, 17.0, 200.0):
        best = min(point.expected_cost + price * point.error for point in points)
        least = reference_total(with_price(table, price))
        assert best == pytest.approx(least, abs=1e-6)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_no_policy_lies_below_the_worst_front(seed):
    rng = np.random.default_rng(seed)
    table = build(rng, mistakes=1.0)
    points = trace_worst(make_task(table, "worst", "class"), Limits(60, None, 1))
    for budget in (0.0, 2.0, 3.0, 5.0, 30.0):
        best = min(p.error for p in points if p.worst_cost <= budget + 1e-9)
        least = reference_total(table, budget=budget, cost_weight=0.0)
        assert best == pytest.approx(least, abs=1e-6)
    assert all(point.is_proved for point in points)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_least_error_within_a_budget_is_proved(seed):
    rng = np.random.default_rng(seed)
    table = build(rng, mistakes=1.0)
    budget = float(rng.integers(0, 10))
    solution = askless.solve(table, method="exact", budget=budget, n_jobs=1)
    least = reference_total(table, budget=budget, cost_weight=0.0)
    assert solution.status == "optimal"
    assert solution.worst_cost <= budget + 1e-9
    assert solution.error == pytest.approx(least, abs=1e-6)
    assert solution.error_bound <= least + 1e-9


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), allowed=st.sampled_from([0.1, 0.3, 0.6]))
@example(seed=247, allowed=0.1)  # above it by less than what may be rounding
def test_the_cost_within_an_error_has_a_true_bound(seed, allowed):
    table = build(np.random.default_rng(seed), mistakes=1.0)
    everything = reference_total(table, cost_weight=0.0)
    if everything > allowed + 1e-9:
        with pytest.raises(NoPolicyError, match="least error found"):
            askless.solve(table, method="exact", max_error=allowed, n_jobs=1)
        return
    found = askless.solve(table, method="exact", max_error=allowed, n_jobs=1)
    assert found.error <= allowed + 1e-9
    # No price of a mistake shows a policy below the bound.
    for price in (0.1, 1.0, 5.0, 40.0, 300.0):
        least = reference_total(with_price(table, price)) - price * allowed
        assert found.expected_cost >= least - 1e-6
    assert found.lower_bound <= found.expected_cost + 1e-9


def test_the_tradeoff_has_both_fronts():
    table = askless.datasets.load_car()
    solution = askless.solve(table, objective="tradeoff")
    best = askless.solve(table)
    assert solution.expected_front[0].expected_cost == 0
    assert solution.expected_front[-1].error == pytest.approx(0, abs=1e-12)
    assert solution.expected_front[-1].expected_cost == pytest.approx(
        best.expected_cost
    )
    worst = askless.solve(table, objective="worst")
    assert solution.worst_front[-1].worst_cost >= worst.worst_cost - 1e-9
    with pytest.raises(InvalidOptionError, match="takes no budget"):
        askless.solve(table, objective="tradeoff", budget=3)
