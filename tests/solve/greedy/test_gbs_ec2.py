"""GBS and EC2: the numbers of the five-object example, and plain twins."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import askless
from askless._core.greedy._criteria import Pairs, WeightRemoved, score_split
from askless.datasets import make_random_table

TOLERANCE = Fraction(1, 10**12)


@pytest.fixture
def five_objects():
    return askless.Table(
        [[1, 1, 2], [1, 2, 1], [2, 2, 1], [1, 2, 2], [2, 2, 2]],
        ["A", "A", "B", "C", "C"],
        costs=[2, 1, 3],
        tests=["t1", "t2", "t3"],
        prior=[0.1, 0.2, 0.4, 0.25, 0.05],
    )


def class_weights(table, test):
    """Return the weight of each class in each outcome of a test."""
    weights = np.zeros((table.tests[test].n_levels, table.n_classes))
    np.add.at(weights, (table.codes[test], table.class_ids), table.prior)
    return weights


@pytest.mark.parametrize(
    ("criterion", "scores"),
    [
        (WeightRemoved(), [0.2475, 0.18, 0.16]),
        (Pairs(is_expected=True), [0.139875, 0.096, 0.09]),
    ],
    ids=["gbs", "ec2"],
)
def test_the_five_objects_score_as_computed(five_objects, criterion, scores):
    for test, score in enumerate(scores):
        weights = class_weights(five_objects, test)
        prices = np.full(len(weights), five_objects.prices.full[test])
        ratio, removed = score_split(criterion, weights, prices)
        assert 1 / ratio == pytest.approx(score, abs=1e-12)
        assert removed == pytest.approx(score * prices[0], abs=1e-12)


@pytest.mark.parametrize("method", ["gbs", "ec2"])
def test_the_trees_of_the_five_objects_are_as_computed(five_objects, method):
    solution = askless.solve(five_objects, method=method)
    tree = solution.policy
    assert tree.tests[tree.test[0]].name == "t1"
    assert solution.worst_cost == 6
    assert solution.expected_cost == pytest.approx(5.25)
    assert solution.error == 0


# Plain twins: cost by cost, on sets and fractions.


def parts_of(table, cases, test):
    codes = sorted({int(table.codes[test, case]) for case in cases})
    return [[c for c in cases if table.codes[test, c] == code] for code in codes]


def mass(table, cases):
    return sum((Fraction(float(table.prior[c])) for c in cases), Fraction(0))


def cut_weight(table, cases):
    """Return the weight of all edges between cases of different class."""
    prior = [Fraction(float(p)) for p in table.prior]
    return sum(
        (
            prior[a] * prior[b]
            for i, a in enumerate(cases)
            for b in cases[:i]
            if table.class_ids[a] != table.class_ids[b]
        ),
        Fraction(0),
    )


def gbs_gain(table, cases, parts):
    whole = mass(table, cases)
    return whole - sum(mass(table, part) ** 2 for part in parts) / whole


def ec2_gain(table, cases, parts):
    whole = mass(table, cases)
    left = sum(mass(table, part) / whole * cut_weight(table, part) for part in parts)
    return cut_weight(table, cases) - left


GAINS = {"gbs": gbs_gain, "ec2": ec2_gain}


def plain_costs(table, gain):
    """Return (worst, expected) cost of the tree that takes most gain for its price."""
    price = [Fraction(float(p)) for p in table.prices.full]

    def walk(cases):
        if len({int(table.class_ids[case]) for case in cases}) == 1:
            return Fraction(0), Fraction(0)
        scores = {}
        for test in range(table.n_tests):
            parts = parts_of(table, cases, test)
            if len(parts) > 1:
                scores[test] = gain(table, cases, parts) / price[test]
        least = max(scores.values()) * (1 - TOLERANCE)
        chosen = min(test for test, score in scores.items() if score >= least)
        below = [(walk(p), mass(table, p)) for p in parts_of(table, cases, chosen)]
        worst = price[chosen] + max(paid[0] for paid, _ in below)
        mean = sum(weight * paid[1] for paid, weight in below)
        return worst, price[chosen] + mean / mass(table, cases)

    return tuple(map(float, walk(list(range(table.n_cases)))))


def random_table(rng, **options):
    while True:
        drawn = {
            "n_outcomes": int(rng.integers(2, 4)),
            "n_classes": int(rng.integers(2, 5)),
            "costs": str(rng.choice(["unit", "integers", "uniform"])),
            "prior": "random",
            "random_state": int(rng.integers(2**31)),
        }
        sizes = int(rng.integers(2, 9)), int(rng.integers(3, 7))
        try:
            return make_random_table(*sizes, **(drawn | options))
        except askless.exceptions.InvalidOptionError:
            continue


@pytest.mark.parametrize("method", ["gbs", "ec2"])
def test_the_methods_equal_their_plain_twins(rng, method):
    for _ in range(200):
        table = random_table(rng)
        worst, expected = plain_costs(table, GAINS[method])
        solution = askless.solve(table, method=method)
        assert solution.error == 0
        assert solution.worst_cost == pytest.approx(worst, rel=1e-9)
        assert solution.expected_cost == pytest.approx(expected, rel=1e-9)


def test_gbs_takes_the_most_even_of_binary_tests_of_one_price(rng):
    for _ in range(50):
        table = random_table(rng, n_outcomes=2, costs="unit")
        lighter = [
            min((mass(table, part) for part in parts), default=Fraction(0))
            if len(parts := parts_of(table, list(range(table.n_cases)), test)) > 1
            else Fraction(0)
            for test in range(table.n_tests)
        ]
        chosen = askless.solve(table, method="gbs").policy.test[0]
        assert lighter[chosen] >= max(lighter) * (1 - TOLERANCE)


@pytest.mark.parametrize("method", ["gbs", "ec2"])
def test_no_test_is_bought_that_shows_nothing(method):
    table = askless.Table([[0, 5], [1, 5]], ["a", "b"], costs=[9, 0.1])
    assert askless.solve(table, method=method).policy.used_tests == [0]
