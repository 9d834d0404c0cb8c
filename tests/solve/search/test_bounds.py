"""Lower bounds hold: no policy of a small table is cheaper, told apart or not."""

from __future__ import annotations

import numpy as np
import pytest

import askless
from askless.solve._solve import make_task
from askless.solve._task import find_blocks
from askless.solve.search._bounds import BOUNDS, count_outcomes
from askless.testing import brute_force_unknown
from tests.solve.unknown.tables import draw_unknown, make_loose, solve_quietly

STOPS = {
    "class": {},
    "case": {"find_case": True},
    "clique": {},
    "neighbourhood": {"stop": "neighbourhood"},
}


@pytest.mark.parametrize("objective", ["expected", "worst"])
@pytest.mark.parametrize("stop", STOPS)
def test_no_policy_is_cheaper_than_a_bound(rng, stop, objective):
    n_loose = 0
    for own in rng.spawn(40):
        table = draw_unknown(own)
        task = make_task(table, objective, stop)
        n_loose += len(set(find_blocks(task).tolist())) < len(set(task.class_ids))
        best = brute_force_unknown(table, objective, **STOPS[stop])
        for name, bound in BOUNDS.items():
            assert bound(task) <= best + 1e-9, name
    assert n_loose > 5


def draw_with_missing(rng):
    """Return a small random table with missing and unknown outcomes."""
    n_cases, n_tests = int(rng.integers(2, 7)), int(rng.integers(1, 5))
    cells = rng.integers(0, int(rng.integers(1, 4)), (n_cases, n_tests)).astype(object)
    cells[rng.random(cells.shape) < 0.25] = None
    cells[rng.random(cells.shape) < 0.25] = "?"
    return askless.Table(
        {f"t{i}": cells[:, i].tolist() for i in range(n_tests)},
        np.arange(n_cases) % int(rng.integers(1, n_cases + 1)),
        unknown="?",
        missing="outcome",
        costs=rng.integers(1, 5, n_tests).tolist(),
    )


@pytest.mark.parametrize("objective", ["expected", "worst"])
def test_bounds_hold_where_outcomes_are_missing_and_unknown(rng, objective):
    n_met = 0
    for own in rng.spawn(150):
        table = draw_with_missing(own)
        task = make_task(table, objective, "class")
        best = brute_force_unknown(table, objective)
        for name, bound in BOUNDS.items():
            assert bound(task) <= best + 1e-9, name
        solution = solve_quietly(table, method="exact", objective=objective)
        assert solution.cost == pytest.approx(best, abs=1e-9)
        for test, codes in zip(table.tests, table.codes, strict=True):
            n_met += {test.missing_code, test.unknown_code} <= set(codes.tolist())
    assert n_met > 50


def test_a_missing_outcome_counts_among_those_of_a_test():
    # 0, 1 and missing: three outcomes, though where it is unknown only 0 or 1 may come.
    table = askless.Table(
        [[0], [1], [None], ["?"]],
        ["a", "b", "c", "c"],
        unknown="?",
        missing="outcome",
    )
    assert count_outcomes(table).tolist() == [3]
    # What never comes does not count.
    sure = askless.Table(
        [[0], ["?"]],
        ["a", "b"],
        unknown="?",
        alphabet={"t0": [0, 1, 2]},
        chances={"t0": {1: 1}},
    )
    assert count_outcomes(sure).tolist() == [2]


def test_a_test_that_cannot_rule_an_opponent_out_does_not_help_its_bound():
    # Both are unknown to the cheap test: whatever one shows, the other may show too.
    cells = [[None, 0], [None, 1], [0, 0], [1, 0]]
    table = askless.Table(cells, ["a", "b", "a", "a"], costs=[1, 5])
    task = make_task(table, "expected", "class")
    assert BOUNDS["pairs"](task) == pytest.approx(5)
    assert brute_force_unknown(table) == pytest.approx(5)


def test_what_need_not_be_told_apart_bounds_nothing():
    # Only the dear test may tell a from b, and no policy has to buy it.
    cells = [[0, 0], [0, None], [1, 0]]
    table = askless.Table(cells, ["a", "b", "c"], costs=[1, 100])
    task = make_task(table, "expected", "class")
    assert {name: bound(task) for name, bound in BOUNDS.items()} == {
        "certificate": 0,
        "entropy": pytest.approx(0.918296, abs=1e-6),
        "huffman": 1,
        "pairs": 1,
    }


def test_cases_that_look_alike_are_one_block():
    table = make_loose()
    for stop in ("class", "clique", "neighbourhood"):
        task = make_task(table, "expected", stop)
        assert find_blocks(task).tolist() == [0, 1, 2, 2, 2]
    # Two cases of one class that show the same cannot be told apart as cases.
    twins = askless.Table([[0], [0], [1]], ["a", "a", "b"])
    assert find_blocks(make_task(twins, "expected", "class")).tolist() == [0, 0, 1]
    assert find_blocks(make_task(twins, "expected", "case")).tolist() == [0, 0, 1]
    solution = solve_quietly(twins, stop="case", method="gbs")
    assert solution.lower_bound <= 1


@pytest.mark.parametrize("limit", [{"budget": 3}, {"max_error": 0.2}], ids=str)
def test_a_budget_stops_at_classes(limit):
    with pytest.raises(askless.exceptions.InvalidOptionError, match="stop must be"):
        askless.solve(make_loose(), stop="clique", **limit)
