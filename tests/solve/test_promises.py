"""What every method promises on any small table: costs, bounds, proofs.

The tables are as awkward as they get: cases that nothing tells apart, cases that never
come, tests that are free or show nothing, groups.
"""

from __future__ import annotations

import pytest

import askless
from askless import Table
from askless.testing import brute_force_cost, brute_force_unknown
from tests.solve.search.test_search import cost_of, with_groups

KNOWN = ("greedy", "dectree", "gbs", "ec2", "exact", "search", "auto")
UNKNOWN = (
    "gbs", "ec2", "elimination", "information", "odtn-r", "odtn-h", "low-adaptive",
    "non-adaptive", "sparse", "search", "exact", "auto",
)  # fmt: skip
PROVERS = ("exact", "auto")

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def draw_prior(rng, n_cases):
    prior = rng.integers(0, 4, n_cases).astype(float)
    return None if rng.random() < 0.5 or prior.sum() == 0 else prior


def draw_costs(rng, n_tests):
    costs = rng.integers(0, 6, n_tests) + (rng.random() < 0.3) * rng.random(n_tests)
    return costs.tolist()


def check_promises(table, method, objective, stop, best):
    solution = askless.solve(
        table, method=method, objective=objective, stop=stop, n_jobs=1
    )
    cost, close = cost_of(solution), 1e-6 * (1 + best)
    assert cost >= best - close
    assert solution.lower_bound <= best + close
    if solution.status == "optimal" or method in PROVERS:
        assert cost <= best + close
    again = askless.evaluate(solution.policy, table)
    if again.is_exact and solution.is_exact:
        assert again.expected_cost == pytest.approx(solution.expected_cost)
        assert again.worst_cost == pytest.approx(solution.worst_cost)


@pytest.mark.parametrize("stop", ["class", "case"])
def test_known_tables(rng, stop):
    for own in rng.spawn(60):
        n_cases, n_tests = int(own.integers(1, 8)), int(own.integers(1, 5))
        table = Table(
            own.integers(0, int(own.integers(2, 4)), (n_cases, n_tests)),
            own.integers(0, int(own.integers(1, 7)), n_cases),
            prior=draw_prior(own, n_cases),
            costs=draw_costs(own, n_tests),
        )
        if own.random() < 0.3 and n_tests > 1:
            table = with_groups(table, own)
        told = table
        if stop == "case":
            told = Table(
                table.rows(), range(n_cases), prior=table.prior, costs=table.costs
            )
        for objective in ("expected", "worst"):
            best = brute_force_cost(told, objective)
            for method in KNOWN:
                check_promises(table, method, objective, stop, best)


@pytest.mark.parametrize("stop", ["class", "case"])
def test_tables_with_unknown_outcomes(rng, stop):
    for own in rng.spawn(25):
        n_cases, n_tests = int(own.integers(1, 6)), int(own.integers(1, 5))
        n_outcomes = int(own.integers(2, 4))
        cells = own.integers(0, n_outcomes, (n_cases, n_tests)).astype(object)
        cells[own.random(cells.shape) < own.choice([0.1, 0.3, 0.6])] = None
        names = [f"t{i}" for i in range(n_tests)]
        table = Table(
            cells,
            own.integers(0, int(own.integers(1, 7)), n_cases),
            prior=draw_prior(own, n_cases),
            costs=draw_costs(own, n_tests),
            tests=names,
            alphabet={name: list(range(n_outcomes)) for name in names},
        )
        for objective in ("expected", "worst"):
            best = brute_force_unknown(table, objective, find_case=stop == "case")
            for method in UNKNOWN:
                check_promises(table, method, objective, stop, best)


def test_a_case_that_never_comes_is_told_all_the_same():
    table = Table([[0, 1], [1, 0], [0, 0]], ["a", "b", "c"], prior=[0.6, 0.4, 0])
    for method in KNOWN:
        policy = askless.solve(table, method=method).policy
        assert policy.predict(table.rows()).tolist() == ["a", "b", "c"]
