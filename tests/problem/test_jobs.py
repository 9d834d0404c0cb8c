"""``n_jobs`` means the same everywhere."""

import os
import subprocess
import sys

import pytest

import askless
from askless.exceptions import InvalidOptionError
from askless.problem import _jobs
from askless.problem._jobs import (
    _note_fork,
    _Threads,
    count_threads,
    starting_threads,
    threads_for,
)


@pytest.fixture
def four_cores(monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    # What is counted here is started nowhere.
    monkeypatch.setattr(_Threads, "were_started", _Threads.were_started)


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


def test_little_work_starts_no_threads(four_cores):
    assert threads_for(4, 99, least=100) == 1
    assert threads_for(4, 100, least=100) == 4
    assert threads_for(None, 1e9, least=100) == 1
    with pytest.raises(InvalidOptionError, match="n_jobs must be"):
        threads_for(0, 1, least=100)


@pytest.mark.parametrize(("room", "threads"), [(10, 1), (300, 1), (600, 2), (9000, 4)])
def test_little_address_space_has_room_for_few_threads(
    four_cores, monkeypatch, room, threads
):
    monkeypatch.setattr(_jobs, "_find_room", lambda: room * 2**20)
    assert count_threads(4) == threads


def test_a_thread_without_room_is_a_lack_of_memory(monkeypatch):
    with starting_threads():
        pass
    with pytest.raises(RuntimeError, match="another"), starting_threads():
        raise RuntimeError("another")
    monkeypatch.setattr(_jobs, "_find_room", lambda: 2**20)
    with pytest.raises(MemoryError, match="must have room"), starting_threads():
        pytest.fail("begun")


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux's")
def test_the_room_is_what_the_limit_leaves(monkeypatch):
    none = _jobs.resource.RLIM_INFINITY
    monkeypatch.setattr(_jobs.resource, "getrlimit", lambda what: (none, none))
    assert _jobs._find_room() == sys.maxsize
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    monkeypatch.setattr(
        _jobs.resource, "getrlimit", lambda what: (used + 2**30, used + 2**30)
    )
    assert 2**29 < _jobs._find_room() < 2**31


FORKED = """
import os, signal
import numpy as np
import askless
from sklearn.ensemble import RandomForestClassifier
from askless.policy import Rule

rng = np.random.default_rng(0)
X = rng.normal(size=(4000, 6))
y = rng.integers(0, 3, 4000)
forest = RandomForestClassifier(10, random_state=0).fit(X[:300], y[:300])
ensemble = askless.AdaptiveEnsemble(forest).fit().policy_
table = askless.Table(rng.integers(0, 2, (20_000, 20)), y.tolist() * 5)
rule = askless.policy.Rule(
    table.tests, table.classes, table.prices, rule="elimination", n_threads=2,
    case_codes=table.codes, case_class=table.class_ids, case_weights=table.prior,
    chances=table.chances,
)
tree = askless.GreedyTreeClassifier(n_jobs=2).fit(X, y)

def work():
    assert ensemble.predict(X, n_jobs=2).tolist() == expected
    assert rule._choose(rule.initial_state()) is not None
    tree.predict(X)
    askless.BudgetForestClassifier(n_estimators=3, n_jobs=2).fit(X[:500], y[:500])

expected = ensemble.predict(X).tolist()
work()
child = os.fork()
if child == 0:
    signal.alarm(60)  # what hangs is ended, and not waited for
    work()
    os._exit(0)
raise SystemExit(os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_forked_process_does_not_wait_for_threads_that_it_left_behind():
    env = {k: v for k, v in os.environ.items() if not k.startswith("OMP_")}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED],
        env=env, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_a_process_that_never_had_threads_may_fork_and_have_some(
    four_cores, monkeypatch
):
    monkeypatch.setattr(_Threads, "were_started", False)
    monkeypatch.setattr(_Threads, "are_lost", False)
    assert count_threads(1) == 1
    _note_fork()
    assert count_threads(2) == 2
    _note_fork()
    assert count_threads(2) == 1
