"""Learn policies from examples: scikit-learn estimators that know what tests cost.

This package knows examples, tables' codes and policies. It does not know how a policy
is evaluated, shown or run.
"""

from askless.learn._adaptive import AdaptiveEnsemble
from askless.learn._anytime import Stage
from askless.learn._astc import ASTCClassifier
from askless.learn._budget_boost import BudgetBoostClassifier
from askless.learn._budget_forest import BudgetForestClassifier, ForestPoint
from askless.learn._cegb import CEGBClassifier
from askless.learn._cost_tree import CostTreeClassifier
from askless.learn._greedy_family import (
    C45Classifier,
    CSID3Classifier,
    DTMCClassifier,
    EG2Classifier,
    IDXClassifier,
)
from askless.learn._greedy_tree import GreedyTreeClassifier
from askless.learn._icet import ICETClassifier
from askless.learn._look_ahead import ACTClassifier, LSID3Classifier
from askless.learn._plain_forest import PlainForestClassifier
from askless.learn._registry import LEARNERS, Learner
from askless.learn._scoring import (
    make_cost_scorer,
    neg_normalised_cost,
    neg_test_cost,
    neg_total_cost,
)
from askless.learn._worth import Worth, group_worth

__all__ = [
    "ACTClassifier",
    "ASTCClassifier",
    "AdaptiveEnsemble",
    "BudgetBoostClassifier",
    "BudgetForestClassifier",
    "C45Classifier",
    "CEGBClassifier",
    "CSID3Classifier",
    "CostTreeClassifier",
    "DTMCClassifier",
    "EG2Classifier",
    "ForestPoint",
    "GreedyTreeClassifier",
    "ICETClassifier",
    "IDXClassifier",
    "LEARNERS",
    "LSID3Classifier",
    "Learner",
    "PlainForestClassifier",
    "Stage",
    "Worth",
    "group_worth",
    "make_cost_scorer",
    "neg_normalised_cost",
    "neg_test_cost",
    "neg_total_cost",
]
