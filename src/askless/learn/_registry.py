"""The learners by name, for the command line. A new learner is one entry here."""

from __future__ import annotations

from dataclasses import dataclass

from askless.learn._base import PolicyEstimator
from askless.learn.boost._budget_boost import BudgetBoostClassifier
from askless.learn.cost_tree._cost_tree import CostTreeClassifier
from askless.learn.forest._budget_forest import BudgetForestClassifier
from askless.learn.regress._budget_boost import BudgetBoostRegressor
from askless.learn.regress._cost_tree import CostTreeRegressor
from askless.learn.trees._greedy_family import (
    C45Classifier,
    CSID3Classifier,
    DTMCClassifier,
    EG2Classifier,
    IDXClassifier,
)
from askless.learn.trees._greedy_tree import GreedyTreeClassifier
from askless.learn.trees._icet import ICETClassifier
from askless.learn.trees._look_ahead import ACTClassifier, LSID3Classifier

__all__ = ["LEARNERS", "NUMBER_LEARNERS", "Learner"]


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
    estimator: type[PolicyEstimator]
    summary: str
    is_anytime: bool = False


_LEARNERS = [
    Learner(
        "cost-tree",
        CostTreeClassifier,
        "Least total cost, tests and mistakes together: prices each split by growing "
        "subtrees below it, on classes that a forest has smoothed. Recommended.",
        is_anytime=True,
    ),
    Learner(
        "forest",
        BudgetForestClassifier,
        "Random forest whose mean cost stays within a budget; a test is paid once for "
        "all trees.",
    ),
    Learner(
        "boost",
        BudgetBoostClassifier,
        "Boosted trees that keep an average budget and buy features one by one.",
    ),
    Learner(
        "greedy",
        GreedyTreeClassifier,
        "Buys the test that separates the most pairs of different class for its price, "
        "in its worst outcome.",
    ),
    Learner(
        "act",
        ACTClassifier,
        "Chooses the test after which sampled trees cost least, in tests and mistakes.",
        is_anytime=True,
    ),
    Learner(
        "icet",
        ICETClassifier,
        "Searches genetically for the costs by which EG2 grows the cheapest tree.",
        is_anytime=True,
    ),
    Learner(
        "dtmc",
        DTMCClassifier,
        "Buys the test that lowers total cost most at once; stops if none does.",
    ),
    Learner(
        "eg2",
        EG2Classifier,
        "Buys the most information for its price; stops and prunes as C4.5 does.",
    ),
    Learner(
        "idx",
        IDXClassifier,
        "Buys the highest gain / price; stops and prunes as C4.5 does.",
    ),
    Learner(
        "csid3",
        CSID3Classifier,
        "Buys the highest gain squared / price; stops and prunes as C4.5 does.",
    ),
    Learner(
        "lsid3",
        LSID3Classifier,
        "Chooses the test after which the smallest sampled trees follow, whatever it "
        "costs.",
        is_anytime=True,
    ),
    Learner(
        "c45",
        C45Classifier,
        "Chooses the best gain ratio, whatever it costs.",
    ),
]

_NUMBER_LEARNERS = [
    Learner(
        "number-tree",
        CostTreeRegressor,
        "Of numbers: a tree of least total cost, tests and the size of errors "
        "together. Taken by default where the target has fractions.",
        is_anytime=True,
    ),
    Learner(
        "number-boost",
        BudgetBoostRegressor,
        "Of numbers: boosted trees that keep an average budget and buy features one by "
        "one.",
    ),
]

# Learners of classes, and of numbers.
LEARNERS: dict[str, Learner] = {learner.name: learner for learner in _LEARNERS}
NUMBER_LEARNERS: dict[str, Learner] = {one.name: one for one in _NUMBER_LEARNERS}
