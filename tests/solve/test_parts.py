"""What is worked out from a task is worked out once, however it is solved."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import askless
from askless import Costs, Table
from askless.datasets import make_random_table
from askless.problem._possible import Possible
from askless.solve import _auto
from askless.solve._solve import make_task
from askless.solve._task import find_blocks, part_of_task
from askless.solve.search import _integers
from askless.solve.unknown import _rules, _table
from tests.solve.unknown.tables import make_loose, solve_quietly


@pytest.fixture
def made(monkeypatch):
    """Count what is made: the tables of the kernels, and comparisons of pairs."""
    counts = Counter()

    def count(module, name):
        original = getattr(module, name)

        def make(*args, **options):
            counts[name] += 1
            return original(*args, **options)

        monkeypatch.setattr(module, name, make)

    count(_integers, "IntegerTable")
    count(_integers, "KnownTable")
    count(_table, "UnknownTable")
    count(_table, "UnknownProblem")
    tells, rules_out = Possible.tells, Possible.rules_out

    def tell(self, *args):
        counts["tells"] += 1
        return tells(self, *args)

    def rule_out(self, *args):
        counts["rules_out"] += 1
        return rules_out(self, *args)

    monkeypatch.setattr(Possible, "tells", tell)
    monkeypatch.setattr(Possible, "rules_out", rule_out)
    return counts


@pytest.mark.parametrize("objective", ["expected", "worst", "both"])
@pytest.mark.parametrize("method", ["auto", "exact"])
def test_a_known_table_is_stated_once(made, method, objective):
    table = make_random_table(20, 10, n_classes=3, random_state=0)
    solution = askless.solve(table, method=method, objective=objective)
    assert solution.status == "optimal"
    assert made == {"IntegerTable": 1, "KnownTable": 1}


def test_a_greedy_policy_needs_no_kernel(made):
    table = make_random_table(20, 10, n_classes=3, random_state=0)
    solution = askless.solve(table, method="greedy")
    assert solution.bound_name == "certificate"
    assert made == {"IntegerTable": 1}


@pytest.mark.parametrize("objective", ["expected", "worst"])
@pytest.mark.parametrize("method", ["auto", "exact"])
@pytest.mark.parametrize("stop", ["class", "clique", "neighbourhood"])
def test_a_table_with_unknown_outcomes_is_stated_once(made, method, stop, objective):
    table = make_loose()
    found = []
    solution = solve_quietly(
        table, method=method, stop=stop, objective=objective, callbacks=found.append
    )
    assert solution.status == "optimal"
    # The rule that begins sees all cases, the search merged ones: a table each.
    assert made == {
        "UnknownTable": 2,
        "UnknownProblem": 1,
        "tells": table.n_tests,
        "rules_out": table.n_tests,
    }


def test_a_table_too_large_to_search_is_stated_once(made, monkeypatch):
    monkeypatch.setattr(_rules, "MAX_NODES", 3)
    monkeypatch.setattr(_auto, "MOST_UNKNOWN_CELLS", 10**6)
    table = Table(
        [[0, 0, None], [0, 1, 0], [1, None, 1], [1, 1, 0]],
        list("abcd"),
        costs=Costs([1, 2, 3]),
    )
    # The search has no tree to begin with; the rule goes on with the same kernel.
    solution = solve_quietly(table)
    assert solution.method == "elimination"
    assert made == {
        "UnknownTable": 2,
        "UnknownProblem": 1,
        "tells": table.n_tests,
        "rules_out": table.n_tests,
    }


def test_a_part_belongs_to_its_task():
    calls = []

    @part_of_task
    def count_cases(task):
        """Count."""
        calls.append(task)
        return task.table.n_cases

    table = make_loose()
    one, two = (make_task(table, "expected", stop) for stop in ("class", "case"))
    assert [count_cases(task) for task in (one, one, two)] == [5, 5, 5]
    assert calls == [one, two]
    assert count_cases.__doc__ == "Count."
    assert find_blocks(one) is find_blocks(one)


def test_what_cannot_be_made_is_refused_each_time():
    table = Table([[0, None], [1, 0]], list("ab"))
    task = make_task(table, "expected", "class")
    for _ in range(2):
        with pytest.raises(askless.exceptions.InvalidOptionError, match="unknown"):
            _integers.state_in_integers(task)


def test_merged_cases_stand_for_all():
    table = Table([[0, 1], [0, 1], [1, None], [1, None]], ["a", "a", "b", "c"])
    task = make_task(table, "expected", "neighbourhood")
    merged = _table.merge_cases(task)
    assert merged.kept.tolist() == [0, 2, 3]
    assert merged.place.tolist() == [0, 0, 1, 2]
    bits = _table.find_neighbourhoods(task)[:, 0]
    near = (bits[:, None] >> np.arange(4, dtype=np.uint64)) & np.uint64(1)
    assert near.tolist() == [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]]
