"""How many threads ``n_jobs`` stands for."""

import os

import pytest

from askless.exceptions import InvalidOptionError
from askless.problem._jobs import count_threads


def test_none_is_one_thread():
    assert count_threads(None) == 1
    assert count_threads(1) == 1


@pytest.mark.parametrize(
    ("n_jobs", "n_threads"),
    [(2, 2), (4, 4), (9, 4), (-1, 4), (-2, 3), (-4, 1), (-99, 1)],
)
def test_negatives_count_back_from_the_cores(monkeypatch, n_jobs, n_threads):
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    assert count_threads(n_jobs) == n_threads


def test_no_threads_at_all_are_refused():
    with pytest.raises(InvalidOptionError, match=r"or -1 for one on each core\. Got 0"):
        count_threads(0)
