"""Learn policies from examples: scikit-learn estimators that know what tests cost.

This package knows examples, tables' codes and policies. It does not know how a policy
is evaluated, shown or run.
"""

from askless.learn._group_worth import Worth, group_worth
from askless.learn._registry import LEARNERS, NUMBER_LEARNERS, Learner
from askless.learn._scoring import (
    make_cost_scorer,
    neg_normalised_cost,
    neg_test_cost,
    neg_total_cost,
)
from askless.learn._validation import ValidationPoint
from askless.learn.boost._adaptive import AdaptiveEnsemble, AdaptivePoint
from askless.learn.boost._budget_boost import BudgetBoostClassifier
from askless.learn.boost._candidates import BoostPoint
from askless.learn.cost_tree._cost_tree import CostTreeClassifier
from askless.learn.forest._budget_forest import BudgetForestClassifier
from askless.learn.forest._curve import ForestPoint
from askless.learn.regress._budget_boost import BudgetBoostRegressor
from askless.learn.regress._cost_tree import CostTreeRegressor
from askless.learn.rivals._astc import ASTCClassifier
from askless.learn.rivals._cegb import CEGBClassifier
from askless.learn.rivals._plain_forest import PlainForestClassifier
from askless.learn.store._code_store import CodeStore
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

__all__ = [
    "ACTClassifier",
    "ASTCClassifier",
    "AdaptiveEnsemble",
    "AdaptivePoint",
    "BoostPoint",
    "BudgetBoostClassifier",
    "BudgetBoostRegressor",
    "BudgetForestClassifier",
    "C45Classifier",
    "CEGBClassifier",
    "CSID3Classifier",
    "CodeStore",
    "CostTreeClassifier",
    "CostTreeRegressor",
    "DTMCClassifier",
    "EG2Classifier",
    "ForestPoint",
    "GreedyTreeClassifier",
    "ICETClassifier",
    "IDXClassifier",
    "LEARNERS",
    "LSID3Classifier",
    "Learner",
    "NUMBER_LEARNERS",
    "PlainForestClassifier",
    "ValidationPoint",
    "Worth",
    "group_worth",
    "make_cost_scorer",
    "neg_normalised_cost",
    "neg_test_cost",
    "neg_total_cost",
]
