"""One way to be told how a long search or fit goes, for all that take long."""

from __future__ import annotations

import _thread

import numpy as np
import pytest

import askless
from askless._progress import Progress, Reporter
from askless.datasets import make_clinic, make_random_table
from askless.exceptions import InvalidOptionError, StoppedEarlyWarning


@pytest.fixture(scope="module")
def clinic():
    return make_clinic(300, random_state=3)


def make_learners():
    return [
        askless.CostTreeClassifier(n_estimators=9),
        askless.ACTClassifier(samples=1, random_state=0),
        askless.LSID3Classifier(samples=1, random_state=0),
        askless.ICETClassifier(trials=40, population=10, random_state=0),
        askless.BudgetForestClassifier(budget=60, n_estimators=3, random_state=0),
        askless.BudgetBoostClassifier(budget=60, n_estimators=9, random_state=0),
    ]


@pytest.mark.parametrize("learner", make_learners(), ids=lambda m: type(m).__name__)
def test_every_long_fit_tells_its_callbacks(learner, clinic):
    told, also = [], []
    X, y = clinic.to_frame(), clinic.y
    learner.set_params(costs=clinic.costs)
    learner.fit(X, y, callbacks=[told.append, also.append])
    assert told
    assert told == also
    assert all(isinstance(progress, Progress) for progress in told)
    assert all(progress.name for progress in told)
    seconds = [progress.seconds for progress in told]
    assert seconds == sorted(seconds)
    if told[-1].done is not None:
        assert told[-1].done == 1
    silent = learner.__class__(**learner.get_params()).fit(X, y)
    assert np.array_equal(silent.predict(X), learner.predict(X))


def test_verbose_prints_lines(clinic, capsys):
    askless.CostTreeClassifier(clinic.costs, n_estimators=9).fit(
        clinic.to_frame(), clinic.y, verbose=True
    )
    lines = capsys.readouterr().out.splitlines()
    names = [line.split(", ")[1] for line in lines if "best" in line]
    assert {"greedy", "two steps", "1 sample"} <= set(names)
    assert "best" in lines[-1]
    assert "100 % done" in lines[-1]


def test_nothing_is_printed_unless_asked(clinic, capsys):
    askless.CostTreeClassifier(clinic.costs, n_estimators=9).fit(
        clinic.to_frame(), clinic.y
    )
    assert capsys.readouterr().out == ""


def test_a_callback_that_returns_true_ends_with_the_best_so_far(clinic):
    X, y = clinic.to_frame(), clinic.y
    tree = askless.CostTreeClassifier(clinic.costs, samples=10**6)
    tree.fit(X, y, callbacks=lambda told: told.name == "greedy")
    # A stage that was under way is cut short; the others were never begun.
    assert [stage.name for stage in tree.stages_] == ["greedy"]
    forest = askless.BudgetForestClassifier(budget=60, n_estimators=2, random_state=0)
    forest.fit(X, y, callbacks=lambda told: True)
    assert len(forest.forests_) == 1
    boost = askless.BudgetBoostClassifier(budget=60, n_estimators=5, random_state=0)
    boost.fit(X, y, callbacks=lambda told: told.name.startswith("booster 2 "))
    assert len(boost.models_) == 2
    assert boost.score(X, y) > 0.3


def test_ctrl_c_keeps_the_boosters_and_forests_that_are_grown(clinic):
    def interrupt(told):
        if told.done < 1:
            _thread.interrupt_main()

    X, y = clinic.to_frame(), clinic.y
    boost = askless.BudgetBoostClassifier(n_estimators=5, random_state=0)
    with pytest.warns(StoppedEarlyWarning, match="boosters grown so far"):
        boost.fit(X, y, callbacks=interrupt)
    assert len(boost.models_) == 1
    forest = askless.BudgetForestClassifier(budget=60, n_estimators=2, random_state=0)
    with pytest.warns(StoppedEarlyWarning, match="forests grown so far"):
        forest.fit(X, y, callbacks=interrupt)
    assert len(forest.forests_) < 5


def test_a_search_is_ended_by_a_callback():
    hard_table = make_random_table(300, 40, n_classes=2, random_state=3)
    told = []

    def enough(progress):
        told.append(progress)
        return len(told) == 3

    solution = askless.solve(hard_table, method="exact", callbacks=enough)
    assert solution.status == "feasible"
    assert len(told) <= 5


def test_a_frontier_tells_what_is_fitted_and_can_be_ended(clinic):
    told = []

    def second_fold(progress):
        told.append(progress)
        return progress.name.startswith("fold 2")

    tree = askless.GreedyTreeClassifier(max_depth=1)
    found = askless.frontier(
        {"tree": tree}, clinic.to_frame(), clinic.y, cv=4, callbacks=second_fold
    )
    assert [progress.done for progress in told] == [0.25, 0.5]
    assert 0 <= told[1].best <= told[0].best <= 1
    assert found.n_folds == 2


@pytest.mark.parametrize("wrong", [3, [print, 4], "print"])
def test_what_cannot_be_called_is_refused(wrong):
    with pytest.raises(InvalidOptionError, match="callbacks must be a function"):
        Reporter(wrong)


def test_no_callbacks_are_no_error():
    assert Reporter([]).tell("nothing") is False
