"""The learners by name."""

from askless.learn import LEARNERS


def test_every_learner_is_an_estimator_under_its_name():
    for name, learner in LEARNERS.items():
        assert learner.name == name
        assert learner.estimator().get_params() is not None
        assert learner.is_anytime == ("time_limit" in learner.estimator().get_params())
        assert learner.summary.endswith(".")
