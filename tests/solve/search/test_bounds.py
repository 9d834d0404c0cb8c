"""Lower bounds hold: no policy of a small table is cheaper, told apart or not."""

from __future__ import annotations

import pytest

import askless
from askless.solve._solve import _make_task
from askless.solve._task import find_blocks
from askless.solve.search._bounds import BOUNDS
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
        task = _make_task(table, objective, stop)
        n_loose += len(set(find_blocks(task).tolist())) < len(set(task.class_ids))
        best = brute_force_unknown(table, objective, **STOPS[stop])
        for name, bound in BOUNDS.items():
            assert bound(task) <= best + 1e-9, name
    assert n_loose > 5


def test_what_need_not_be_told_apart_bounds_nothing():
    # Only the dear test may tell a from b, and no policy has to buy it.
    cells = [[0, 0], [0, None], [1, 0]]
    table = askless.Table(cells, ["a", "b", "c"], costs=[1, 100])
    task = _make_task(table, "expected", "class")
    assert {name: bound(task) for name, bound in BOUNDS.items()} == {
        "certificate": 0,
        "entropy": pytest.approx(0.918296, abs=1e-6),
        "huffman": 1,
        "pairs": 1,
    }


def test_cases_that_look_alike_are_one_block():
    table = make_loose()
    for stop in ("class", "clique", "neighbourhood"):
        task = _make_task(table, "expected", stop)
        assert find_blocks(task).tolist() == [0, 1, 2, 2, 2]
    # Two cases of one class that show the same cannot be told apart as cases.
    twins = askless.Table([[0], [0], [1]], ["a", "a", "b"])
    assert find_blocks(_make_task(twins, "expected", "class")).tolist() == [0, 0, 1]
    assert find_blocks(_make_task(twins, "expected", "case")).tolist() == [0, 0, 1]
    solution = solve_quietly(twins, stop="case", method="gbs")
    assert solution.lower_bound <= 1


@pytest.mark.parametrize("limit", [{"budget": 3}, {"max_error": 0.2}], ids=str)
def test_a_budget_stops_at_classes(limit):
    with pytest.raises(askless.exceptions.InvalidOptionError, match="stop must be"):
        askless.solve(make_loose(), stop="clique", **limit)
