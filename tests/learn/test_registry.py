"""The learners by name, and what all of them share."""

import inspect

import pytest

import askless
from askless.learn import LEARNERS, CEGBClassifier, PlainForestClassifier
from askless.learn._base import PolicyClassifier

RIVALS = {CEGBClassifier, PlainForestClassifier}
# What anytime learners and learners that choose have beside these is their own.
SHARED = {"costs", "mistakes", "n_jobs"}


def public_learners():
    every = (getattr(askless.learn, name) for name in askless.learn.__all__)
    return {
        kind
        for kind in every
        if isinstance(kind, type) and issubclass(kind, PolicyClassifier)
    }


def test_every_learner_is_registered_once():
    registered = [learner.estimator for learner in LEARNERS.values()]
    assert len(registered) == len(set(registered))
    assert set(registered) == public_learners() - RIVALS


@pytest.mark.parametrize("name", LEARNERS)
def test_a_learner_is_listed_as_what_it_is(name):
    learner = LEARNERS[name]
    params = learner.estimator().get_params()
    assert learner.name == name
    assert params.keys() >= SHARED
    assert learner.is_anytime == ("time_limit" in params)
    assert learner.summary.endswith(".")


@pytest.mark.parametrize(
    "kind",
    sorted(public_learners(), key=lambda kind: kind.__name__),
    ids=lambda kind: kind.__name__,
)
def test_all_learners_speak_the_same_language(kind):
    fit = inspect.signature(kind.fit)
    assert list(fit.parameters) == [
        "self", "X", "y", "sample_weight", "X_valid", "y_valid", "eval_set",
        "verbose", "callbacks",
    ]  # fmt: skip
    params = inspect.signature(kind).parameters
    assert params["costs"].default is None
    assert params["mistakes"].default is None
    assert params["n_jobs"].default is None
    # Other words for the same things.
    assert not params.keys() & {
        "n_trees", "n_rounds", "rule", "validation", "min_rows", "jobs", "seed",
    }  # fmt: skip
