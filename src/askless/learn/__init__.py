"""Learn policies from examples: scikit-learn estimators that know what tests cost.

This package knows examples, tables' codes and policies. It does not know how a policy
is evaluated, shown or run.

A name is imported when it is first used: a worker that only grows the trees of a store
does not wait for scikit-learn.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

if _TYPE_CHECKING:
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

# The module of each name.
_HOMES = {
    "ACTClassifier": "trees._look_ahead",
    "ASTCClassifier": "rivals._astc",
    "AdaptiveEnsemble": "boost._adaptive",
    "AdaptivePoint": "boost._adaptive",
    "BoostPoint": "boost._candidates",
    "BudgetBoostClassifier": "boost._budget_boost",
    "BudgetBoostRegressor": "regress._budget_boost",
    "BudgetForestClassifier": "forest._budget_forest",
    "C45Classifier": "trees._greedy_family",
    "CEGBClassifier": "rivals._cegb",
    "CSID3Classifier": "trees._greedy_family",
    "CodeStore": "store._code_store",
    "CostTreeClassifier": "cost_tree._cost_tree",
    "CostTreeRegressor": "regress._cost_tree",
    "DTMCClassifier": "trees._greedy_family",
    "EG2Classifier": "trees._greedy_family",
    "ForestPoint": "forest._curve",
    "GreedyTreeClassifier": "trees._greedy_tree",
    "ICETClassifier": "trees._icet",
    "IDXClassifier": "trees._greedy_family",
    "LEARNERS": "_registry",
    "LSID3Classifier": "trees._look_ahead",
    "Learner": "_registry",
    "NUMBER_LEARNERS": "_registry",
    "PlainForestClassifier": "rivals._plain_forest",
    "ValidationPoint": "_validation",
    "Worth": "_group_worth",
    "group_worth": "_group_worth",
    "make_cost_scorer": "_scoring",
    "neg_normalised_cost": "_scoring",
    "neg_test_cost": "_scoring",
    "neg_total_cost": "_scoring",
}


def __getattr__(name: str) -> _Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'askless.learn' has no attribute {name!r}")
    found = getattr(_import_module(f"askless.learn.{_HOMES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
