"""The total cost, test by test: what is returned, what it costs, when it stops."""

import numpy as np
import pytest

import askless
from askless import Costs, Table
from askless.exceptions import InvalidOptionError, InvalidPolicyError
from askless.policy import Posterior
from askless.solve.total import _online
from askless.solve.total._online import FACTORS, calibrate_factor
from tests.solve.total.tables import build

METHODS = ["information", "value"]


def solve_online(table, method, **options):
    return askless.solve(
        table, objective="total", method=method, online=True, **options
    )


@pytest.mark.parametrize("method", METHODS)
def test_the_sampled_cost_is_that_of_the_policy(rng, method):
    for own in rng.spawn(8):
        table = build(own, groups=bool(own.integers(2)))
        solution = solve_online(table, method)
        assert isinstance(solution.policy, Posterior)
        assert solution.policy.criterion == method
        assert not solution.is_exact
        assert solution.status == "feasible"
        exact = askless.evaluate(solution.policy, table)
        # 2.6 standard errors are the margin: 5 are rare in any number of runs.
        allowed = 2 * solution.margin + 1e-6
        assert solution.total_cost == pytest.approx(exact.total_cost, abs=allowed)


@pytest.mark.parametrize("method", METHODS)
def test_the_same_table_gives_the_same_policy(rng, method):
    table = build(rng)
    first, second = solve_online(table, method), solve_online(table, method)
    assert first.policy.factor == second.policy.factor


def test_no_other_factor_costs_less_on_the_drawn_cases(rng, monkeypatch):
    monkeypatch.setattr(_online, "LEAST_RUNS", 20_000)
    monkeypatch.setattr(_online, "MOST_RUNS", 20_000)
    table = build(np.random.default_rng(2))
    policy = Posterior.from_table(table, "information")
    costs = {
        factor: askless.evaluate(policy.with_factor(factor), table).total_cost
        for factor in FACTORS
    }
    chosen = calibrate_factor(policy, table)
    assert costs[chosen] == pytest.approx(min(costs.values()), rel=0.02)
    assert len(set(costs.values())) > 1


def test_factors_matter_where_one_test_alone_changes_nothing():
    # Every answer is weak; a decision takes many of them.
    table = Table.from_likelihoods(
        {f"t{i}": {"a": {"x": 0.7, "y": 0.3}, "b": {"x": 0.3, "y": 0.7}}
         for i in range(9)},
        costs=Costs([1.0] * 9, mistakes=40),
    )  # fmt: skip
    solution = solve_online(table, "information")
    at_once = 20.0
    assert solution.total_cost + solution.margin < at_once
    tree = askless.solve(table, objective="total", method="information")
    assert askless.evaluate(solution.policy, table).total_cost < 1.1 * tree.total_cost


def test_what_does_not_go_with_it_is_refused():
    table = build(np.random.default_rng(1), mistakes=9.0)
    with pytest.raises(InvalidOptionError, match=r"takes no budget\. Got 3"):
        solve_online(table, "value", budget=3)
    with pytest.raises(InvalidOptionError, match="objective='total'"):
        askless.solve(table, method="value", online=True)
    late = Table([[0], [1]], ["a", "b"], costs=Costs([1], delayed=[0], mistakes=9))
    with pytest.raises(InvalidPolicyError, match="no delays"):
        solve_online(late, "information")


def test_a_session_buys_until_nothing_is_worth_its_price():
    table = Table.from_likelihoods(
        {"fever": {"flu": {"yes": 0.8, "no": 0.2}, "cold": {"yes": 0.1, "no": 0.9}},
         "smear": {"flu": {"+": 0.95, "-": 0.05}, "cold": {"+": 0.02, "-": 0.98}}},
        costs=Costs({"fever": 1, "smear": 6}, mistakes=500),
    )  # fmt: skip
    session = solve_online(table, "information").policy.start()
    while session.test is not None:
        session.answer({"fever": "yes", "smear": "+"}[session.test])
    assert session.decision == "flu"
    assert session.spent == 7
    assert session.probabilities["flu"] > 0.99
