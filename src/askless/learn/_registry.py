"""The learners by name, for the command line. A new learner is one entry here."""

from __future__ import annotations

from dataclasses import dataclass

from askless.learn._base import PolicyClassifier
from askless.learn._greedy_tree import GreedyTreeClassifier

__all__ = ["LEARNERS", "Learner"]


@dataclass(frozen=True)
class Learner:
    """A way to learn a policy from examples.

    Attributes
    ----------
    name : str
        How to ask for it.
    estimator : type
        The scikit-learn estimator; its parameters are the options.
    summary : str
        What it does, in a sentence.
    is_anytime : bool
        Whether it takes ``time_limit``, and returns the best so far when stopped.
    """

    name: str
    estimator: type[PolicyClassifier]
    summary: str
    is_anytime: bool = False


_LEARNERS = [
    Learner(
        "greedy",
        GreedyTreeClassifier,
        "Buys the test that parts the most pairs of different class for its price, in "
        "its worst outcome.",
    ),
]

LEARNERS: dict[str, Learner] = {learner.name: learner for learner in _LEARNERS}
