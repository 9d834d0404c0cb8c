"""``n_jobs`` means the same everywhere."""

import os

import pytest

import askless
from askless.exceptions import InvalidOptionError
from askless.problem._jobs import count_threads


@pytest.fixture
def four_cores(monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 4)


@pytest.mark.parametrize(
    ("n_jobs", "threads"),
    [(None, 1), (1, 1), (3, 3), (4, 4), (99, 4), (-1, 4), (-2, 3), (-4, 1), (-9, 1)],
)
def test_threads_are_counted_as_joblib_does(four_cores, n_jobs, threads):
    assert count_threads(n_jobs) == threads


def test_no_threads_at_all_are_refused():
    with pytest.raises(InvalidOptionError, match=r"n_jobs must be .* Got 0\. Leave"):
        count_threads(0)


def test_a_machine_that_does_not_say_has_one_core(monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert [count_threads(n) for n in (-1, 2, -3)] == [1, 1, 1]


def test_solvers_learners_and_policies_refuse_no_threads():
    table = askless.Table([[0], [1]], ["even", "odd"])
    policy = askless.solve(table).policy
    with pytest.raises(InvalidOptionError, match="n_jobs must be"):
        askless.solve(table, n_jobs=0)
    with pytest.raises(InvalidOptionError, match="n_jobs must be"):
        policy.predict([[0]], n_jobs=0)
    with pytest.raises(InvalidOptionError, match="n_jobs must be"):
        askless.GreedyTreeClassifier(n_jobs=0).fit([[0.0], [1.0]], [0, 1])
