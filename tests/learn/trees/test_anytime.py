"""Learners that can be given time, be stopped, and say so."""

from __future__ import annotations

import _thread
import threading
import time
import warnings

import numpy as np
import pytest

from askless import (
    ACTClassifier,
    CostTreeClassifier,
    ICETClassifier,
    LSID3Classifier,
)
from askless.datasets import make_clinic
from askless.exceptions import StoppedEarlyWarning
from askless.learn._anytime import StopFlag, run_until


@pytest.fixture(scope="module")
def clinic():
    return make_clinic(800, random_state=3)


def interrupt_after(seconds: float) -> threading.Timer:
    timer = threading.Timer(seconds, _thread.interrupt_main)
    timer.start()
    return timer


def test_more_time_never_costs_more_by_its_own_estimate(clinic):
    model = ACTClassifier(clinic.costs, time_limit=1.0, random_state=0)
    start = time.monotonic()
    model.fit(clinic.to_frame(), clinic.y)
    assert time.monotonic() - start < 10
    best = [stage.best for stage in model.stages_]
    assert len(best) > 1
    assert best == sorted(best, reverse=True)
    assert model.expected_cost_ == best[-1] == min(s.cost for s in model.stages_)
    contract = ACTClassifier(clinic.costs, samples=1, random_state=0)
    contract.fit(clinic.to_frame(), clinic.y)
    assert model.expected_cost_ <= contract.expected_cost_


def test_a_time_limit_that_is_never_reached_ends_at_the_most_samples(clinic):
    model = ACTClassifier(clinic.costs, samples=3, time_limit=600, random_state=0)
    model.fit(clinic.to_frame(), clinic.y)
    names = [stage.name for stage in model.stages_]
    assert names == ["greedy", "1 samples", "2 samples", "3 samples"]


@pytest.mark.parametrize("kind", [ACTClassifier, LSID3Classifier])
def test_too_little_time_for_one_tree_returns_the_greedy_tree(kind, clinic):
    X = clinic.to_frame()
    greedy = kind(clinic.costs, samples=0, random_state=0).fit(X, clinic.y)
    with pytest.warns(StoppedEarlyWarning, match="greedy tree alone took"):
        hasty = kind(clinic.costs, time_limit=1e-9, random_state=0).fit(X, clinic.y)
    assert np.array_equal(hasty.policy_.test, greedy.policy_.test)
    assert np.array_equal(hasty.policy_.cut, greedy.policy_.cut)


@pytest.mark.parametrize("options", [{"samples": 10**6}, {"time_limit": 600}])
def test_ctrl_c_returns_the_best_tree_so_far(options, clinic):
    X = clinic.to_frame()
    model = ACTClassifier(clinic.costs, random_state=0, **options)
    timer = interrupt_after(1.0)
    start = time.monotonic()
    with pytest.warns(StoppedEarlyWarning, match="Interrupted"):
        model.fit(X, clinic.y)
    timer.join()
    assert time.monotonic() - start < 30
    assert model.score(X, clinic.y) > 0.5
    greedy = ACTClassifier(clinic.costs, samples=0).fit(X, clinic.y)
    if "time_limit" in options:
        assert model.expected_cost_ <= greedy.expected_cost_


def test_ctrl_c_stops_the_genetic_search(clinic):
    model = ICETClassifier(clinic.costs, trials=10**6, random_state=0)
    timer = interrupt_after(1.0)
    with pytest.warns(StoppedEarlyWarning, match="Interrupted after"):
        model.fit(clinic.to_frame(), clinic.y)
    timer.join()
    assert 0 < model.n_trials_ < 10**6
    assert np.isfinite(model.fitness_)


def test_time_limits_the_genetic_search(clinic):
    model = ICETClassifier(clinic.costs, trials=10**6, time_limit=0.5, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(clinic.to_frame(), clinic.y)
    assert model.n_trials_ < 10**6


def test_stages_are_told_to_a_listener(clinic):
    heard = []
    model = ICETClassifier(clinic.costs, trials=120, random_state=0)
    model.fit(clinic.to_frame(), clinic.y, callbacks=heard.append)
    assert heard == model.stages_
    assert heard[-1].done == 1
    best = [stage.best for stage in heard]
    assert best == sorted(best, reverse=True)
    assert model.n_trials_ == 120


def test_errors_of_the_work_are_raised_to_the_caller():
    def fail():
        raise ZeroDivisionError("inside")

    with pytest.raises(ZeroDivisionError, match="inside"):
        run_until(fail, StopFlag(), None)


def test_the_clock_raises_the_flag():
    flag = StopFlag()

    def wait():
        while not flag:
            time.sleep(0.01)

    assert run_until(wait, flag, 0.05) == "time"


def test_ctrl_c_while_the_thread_starts_stops_the_work(monkeypatch):
    start = threading.Thread.start

    def interrupted(self):
        start(self)
        raise KeyboardInterrupt

    flag, seen = StopFlag(), []

    def work():
        while not flag:
            time.sleep(0.001)
        seen.append("stopped")

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    assert run_until(work, flag, None) == "interrupt"
    assert seen == ["stopped"]


def test_ctrl_c_before_the_thread_starts_is_raised(monkeypatch):
    def never(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", never)
    monkeypatch.setattr("askless.learn._anytime._START", 0.01)
    with pytest.raises(KeyboardInterrupt):
        run_until(lambda: None, StopFlag(), None)


@pytest.mark.parametrize("kind", [ACTClassifier, LSID3Classifier, CostTreeClassifier])
def test_a_warning_points_to_the_line_that_called_fit(kind, clinic):
    with pytest.warns(StoppedEarlyWarning, match="greedy tree alone") as caught:
        kind(clinic.costs, time_limit=1e-9).fit(clinic.to_frame(), clinic.y)
    assert caught[0].filename == __file__
