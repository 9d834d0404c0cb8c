"""The least total cost of tests and mistakes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import askless
from askless import Costs, Table
from askless.exceptions import InvalidOptionError
from askless.solve._solve import make_task
from askless.solve._task import Limits
from askless.solve.total._search import search_total
from askless.testing import reference_total
from tests.solve.total.tables import build


def least(table, **options):
    task = make_task(table, "total", "class")
    found = search_total(task, Limits(60.0, None, 1), **options)
    return found


FEATURES = [
    {},
    {"mixed": False},
    {"groups": True},
    {"outcome_prices": True},
    {"mistakes": 7.0},
    {"delays": True},
    {"delays": True, "groups": True, "mistakes": 20.0},
]


@pytest.mark.parametrize("features", FEATURES, ids=str)
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_it_is_the_least_of_all_policies(features, seed):
    table = build(np.random.default_rng(seed), **features)
    solution = askless.solve(table, objective="total", method="exact", n_jobs=1)
    assert solution.status == "optimal"
    assert solution.total_cost == pytest.approx(reference_total(table), abs=1e-7)
    assert solution.lower_bound == pytest.approx(solution.total_cost, abs=1e-6)


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_within_a_budget_it_is_the_least_too(seed):
    rng = np.random.default_rng(seed)
    table = build(rng, groups=bool(rng.integers(2)), delays=bool(rng.integers(2)))
    budget = float(rng.integers(0, 12))
    solution = askless.solve(table, objective="total", budget=budget, n_jobs=1)
    assert solution.worst_cost <= budget + 1e-9
    best = reference_total(table, budget=budget)
    assert solution.total_cost == pytest.approx(best, abs=1e-7)


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_last_test_that_a_budget_pays_for_is_the_best_one(seed):
    rng = np.random.default_rng(seed)
    features = {"cheapest": 2, "mistakes": (None, 9.0)[rng.integers(2)]}
    features |= [{}, {"groups": True}, {"outcome_prices": True}][rng.integers(3)]
    table = build(rng, **features)
    # Pays for none to three of the cheapest tests.
    budget = float(rng.integers(0, 8))
    solution = askless.solve(table, objective="total", budget=budget, n_jobs=1)
    best = reference_total(table, budget=budget)
    assert solution.status == "optimal"
    assert solution.total_cost == pytest.approx(best, abs=1e-7)
    assert solution.worst_cost <= budget + 1e-9


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_switches_change_no_answer(seed):
    table = build(np.random.default_rng(seed))
    best = least(table).lower_bound
    for switches in (
        {"use_information": False},
        {"use_shares": False},
        {"max_memory": 2**20},
    ):
        assert least(table, **switches).lower_bound == pytest.approx(best, abs=1e-7)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_rules_are_policies_and_never_below_the_least(seed):
    table = build(np.random.default_rng(seed))
    best = reference_total(table)
    for method in ("information", "value", "search"):
        solution = askless.solve(table, objective="total", method=method, n_jobs=1)
        assert solution.total_cost >= best - 1e-7


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_what_it_says_is_what_evaluation_finds(seed):
    table = build(np.random.default_rng(seed))
    solution = askless.solve(table, objective="total", n_jobs=1)
    report = askless.evaluate(solution.policy, table)
    assert report.expected_cost == pytest.approx(solution.expected_cost)
    assert report.error == pytest.approx(solution.error)


def test_an_error_free_table_stops_early_on_purpose():
    table = Table(
        [[0, 0], [0, 1], [1, 1]],
        ["a", "b", "c"],
        costs=Costs([1.0, 3.0], mistakes=2.0),
        tests=["cheap", "dear"],
    )
    solution = askless.solve(table, objective="total")
    # Telling a from b would cost 3 for two of three cases, to save a mistake of 2.
    assert solution.total_cost == pytest.approx(4 / 3)
    assert solution.policy.worst_cost == 0
    assert solution.error == pytest.approx(2 / 3)


def test_mistakes_that_are_dear_leave_the_policy_without_error():
    costs = Costs([1.0, 3.0], mistakes=1000.0)
    rows, classes = [[0, 0], [0, 1], [1, 1]], ["a", "b", "c"]
    total = askless.solve(Table(rows, classes, costs=costs), objective="total")
    expected = askless.solve(Table(rows, classes, costs=costs))
    assert total.error == 0
    assert total.total_cost == pytest.approx(expected.expected_cost)


def test_what_does_not_go_with_it_is_refused():
    table = Table([[0], [1]], ["a", "b"])
    with pytest.raises(InvalidOptionError, match="mistakes must have a price"):
        askless.solve(table, objective="total")
    priced = Table([[0], [1]], ["a", "b"], costs=Costs([1.0], mistakes=5))
    with pytest.raises(InvalidOptionError, match="is for the methods auto"):
        askless.solve(priced, objective="total", method="gbs")
    with pytest.raises(InvalidOptionError, match="Leave it out"):
        askless.solve(priced, objective="total", max_error=0.1)
    with pytest.raises(InvalidOptionError, match="objective='total'"):
        askless.solve(priced, method="value")
    erring = priced.with_likelihoods({"t0": {"case 0": {0: 0.9, 1: 0.1}}})
    with pytest.raises(InvalidOptionError, match="can err"):
        askless.solve(erring)
    delayed = Costs([1.0], mistakes=5, delayed=[0])
    table = Table([[0], [1]], ["a", "b"], costs=delayed)
    with pytest.raises(InvalidOptionError, match="takes no delays"):
        askless.solve(table, objective="total", method="value")
