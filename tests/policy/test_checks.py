"""The public check of policies finds policies that break their promises."""

import numpy as np
import pytest

from askless.exceptions import InvalidTableError
from askless.policy import Sequence, Tree
from askless.testing import check_policy
from tests.policy.examples import EXAMPLES, make_example
from tests.strategies import random_rows


def rows_of(policy):
    return random_rows(np.random.default_rng(0), policy.tests, 20)


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_sound_policy_passes(name):
    policy = make_example(name)
    check_policy(policy, rows_of(policy))


class Cheap(Tree):
    """Reports a bit less than what is paid."""

    def cost(self, X, *, n_jobs=1):
        return np.nextafter(super().cost(X, n_jobs=n_jobs), 0)


class Sure(Tree):
    """Reports shares that are not what a session believes."""

    def predict_proba(self, X, *, n_jobs=1):
        shares = super().predict_proba(X, n_jobs=n_jobs)
        return np.eye(shares.shape[1])[np.zeros(len(shares), dtype=int)]


class Stubborn(Tree):
    """Predicts the first class, whatever a session comes to."""

    def predict(self, X, *, n_jobs=1):
        return np.array([self.classes[0]] * len(self.apply(X)))


class Threaded(Tree):
    """Charges by the number of threads."""

    def cost(self, X, *, n_jobs=1):
        return super().cost(X) + abs(n_jobs) - 1


class Hasty(Tree):
    """Says something else when it is asked for decisions and costs at once."""

    def predict_and_cost(self, X, *, n_jobs=None):
        decided, paid = super().predict_and_cost(X, n_jobs=n_jobs)
        return decided[::-1], paid


class Generous(Tree):
    """Charges less when it is asked for decisions and costs at once."""

    def predict_and_cost(self, X, *, n_jobs=None):
        decided, paid = super().predict_and_cost(X, n_jobs=n_jobs)
        return decided, np.nextafter(paid, 0)


class Greedy(Tree):
    """Says that it needs less than it does."""

    columns = ("fever",)


class Forgetful(Sequence):
    """Forgets what it has asked, so that it never ends."""

    def advance(self, state, code):
        return state


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (Cheap, "row 0: cost says .*, the session has spent"),
        (Sure, r"row \d+: predict_proba says"),
        (Stubborn, r"row \d+: predict says"),
        (Threaded, "cost must not depend on n_jobs=2"),
        (Hasty, "predict_and_cost must decide as predict does"),
        (Generous, "predict_and_cost must charge as cost does"),
    ],
)
def test_a_policy_that_breaks_a_promise_is_found(kind, message):
    policy = make_example("numbers")
    policy.__class__ = kind
    with pytest.raises(AssertionError, match=message):
        check_policy(policy, rows_of(policy))


def test_a_policy_that_needs_more_than_it_says_is_found():
    policy = make_example("numbers")
    policy.__class__ = Greedy
    with pytest.raises(InvalidTableError, match="Got no column 'age'"):
        check_policy(policy, rows_of(policy))


def test_a_policy_whose_file_is_of_another_is_found(monkeypatch):
    policy = make_example("numbers")
    other = make_example("groups")
    monkeypatch.setattr(policy, "save", other.save)
    with pytest.raises(AssertionError, match="a saved policy must load as it was"):
        check_policy(policy, rows_of(policy))


def test_a_policy_that_never_ends_is_found():
    policy = make_example("long sequence")
    policy.__class__ = Forgetful
    with pytest.raises(AssertionError, match="row 0: the session does not end"):
        check_policy(policy, rows_of(policy))
