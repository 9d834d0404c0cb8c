"""Every feature at once, on as many random tables as ``ASKLESS_TABLES`` says.

``ASKLESS_TABLES=5000 python -m pytest tests/solve/total/test_mixed.py -n0 -s`` compares
five thousand, and ``ASKLESS_SEED`` says with which one they begin.
"""

import os
from collections import Counter

import numpy as np
import pytest

import askless
from askless.exceptions import NoPolicyError
from askless.testing import brute_force_cost, reference_total
from tests.solve.total.tables import build

# Cases that nothing tells apart are part of these tables.
pytestmark = pytest.mark.filterwarnings(
    "ignore::askless.exceptions.IndistinctCasesWarning"
)
N_TABLES = int(os.environ.get("ASKLESS_TABLES", "30"))
SEEDS = range(first := int(os.environ.get("ASKLESS_SEED", "0")), first + N_TABLES)


def draw(seed, *, mistakes=None):
    """Return a table with some of the features, and random numbers."""
    rng = np.random.default_rng(seed)
    # Prices by outcome and delays do not go together.
    late = {"delays": bool(rng.integers(2))}
    features = late if rng.integers(2) else {"outcome_prices": bool(rng.integers(2))}
    features["groups"] = bool(rng.integers(2))
    cheapest = int(rng.integers(3))
    return build(rng, cheapest=cheapest, mistakes=mistakes, **features), rng


def count_features(table, counts):
    """Count what a table really has."""
    costs = table.costs
    counts["likelihoods"] += table.has_likelihoods
    counts["unknown cells"] += table.has_unknown
    counts["facts alone"] += not (table.has_likelihoods or table.has_unknown)
    counts["groups"] += bool(costs.groups)
    counts["delays"] += bool(costs.delayed)
    counts["prices by outcome"] += bool(costs.by_outcome)


def test_the_least_total_cost_is_that_of_all_policies():
    counts = Counter()
    for seed in SEEDS:
        table, rng = draw(seed)
        budget = float(rng.integers(0, 15)) if rng.integers(2) else None
        found = askless.solve(
            table, objective="total", method="exact", budget=budget, n_jobs=1
        )
        best = reference_total(table, budget=budget)
        assert found.status == "optimal", seed
        assert found.total_cost == pytest.approx(best, abs=1e-7), seed
        assert found.lower_bound <= best + 1e-7, seed
        assert budget is None or found.worst_cost <= budget + 1e-9, seed
        count_features(table, counts)
        counts["budgets"] += budget is not None
    print(f"{N_TABLES} tables with uneven mistakes, as brute force: {dict(counts)}")


def test_the_least_error_within_a_budget_and_the_cost_within_an_error():
    counts = Counter()
    for seed in SEEDS:
        table, rng = draw(seed, mistakes=1.0)
        budget = float(rng.integers(0, 15))
        found = askless.solve(table, method="exact", budget=budget, n_jobs=1)
        least = reference_total(table, budget=budget, cost_weight=0.0)
        assert found.error == pytest.approx(least, abs=1e-6), seed
        assert found.error_bound <= least + 1e-9, seed
        assert found.worst_cost <= budget + 1e-9, seed
        count_features(table, counts)
        allowed = float(rng.choice([0.1, 0.3, 0.6]))
        try:
            cheap = askless.solve(table, method="exact", max_error=allowed, n_jobs=1)
        except NoPolicyError:
            assert reference_total(table, cost_weight=0.0) > allowed - 1e-9, seed
            continue
        counts["errors allowed"] += 1
        assert cheap.error <= allowed + 1e-9, seed
        for price in (0.5, 4.0, 60.0):
            own = table.with_costs(table.costs.with_mistakes(price))
            line = reference_total(own) - price * allowed
            assert cheap.expected_cost >= line - 1e-6, seed
    print(f"{N_TABLES} tables with budgets and errors, as brute force: {dict(counts)}")


def test_without_error_it_costs_what_it_did_before():
    n_compared = 0
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        groups = bool(rng.integers(2))
        table = build(rng, mixed=False, mistakes=1e6, groups=groups)
        if table.indistinct:
            continue
        n_compared += 1
        found = askless.solve(table, objective="total", n_jobs=1)
        before = askless.solve(table, n_jobs=1)
        assert found.error == 0, seed
        assert found.total_cost == pytest.approx(before.expected_cost), seed
        best = brute_force_cost(table, "expected")
        assert found.total_cost == pytest.approx(float(best)), seed
    print(f"{n_compared} tables without error, as brute force")
