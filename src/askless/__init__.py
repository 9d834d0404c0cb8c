"""Askless: ask less, decide right.

Which test to buy next, when to stop, and what to conclude, when every test has a price.

>>> import askless
>>> table = askless.datasets.load_car()
>>> solution = askless.solve(table)
>>> session = solution.policy.start()
>>> session.test is not None
True

A name is looked up when it is first used, so that a command which needs no learner does
not wait for scikit-learn.
"""

import sys as _sys
from importlib import import_module as _import_module
from types import ModuleType as _ModuleType
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

if _TYPE_CHECKING:
    from askless import datasets
    from askless.evaluate import (
        Comparison,
        Evaluation,
        Frontier,
        compare,
        diagnose,
        evaluate,
        frontier,
        precision_at,
    )
    from askless.export import show
    from askless.learn import (
        ACTClassifier,
        AdaptiveEnsemble,
        BudgetBoostClassifier,
        BudgetBoostRegressor,
        BudgetForestClassifier,
        C45Classifier,
        CostTreeClassifier,
        CostTreeRegressor,
        CSID3Classifier,
        DTMCClassifier,
        EG2Classifier,
        GreedyTreeClassifier,
        ICETClassifier,
        IDXClassifier,
        LSID3Classifier,
        group_worth,
        make_cost_scorer,
        neg_normalised_cost,
        neg_test_cost,
        neg_total_cost,
    )
    from askless.policy import (
        Ensemble,
        Forest,
        NumberTree,
        Policy,
        Sequence,
        Tree,
        load,
    )
    from askless.problem import Costs, Table, Test, read_costs, read_table
    from askless.run import SKIP, CaseResult, RunReport, Session
    from askless.solve import Solution, register_method, solve, solve_many

    __version__: str

__all__ = [
    "ACTClassifier",
    "AdaptiveEnsemble",
    "BudgetBoostClassifier",
    "BudgetBoostRegressor",
    "BudgetForestClassifier",
    "C45Classifier",
    "CSID3Classifier",
    "CaseResult",
    "Comparison",
    "CostTreeClassifier",
    "CostTreeRegressor",
    "Costs",
    "DTMCClassifier",
    "EG2Classifier",
    "Ensemble",
    "Evaluation",
    "Forest",
    "Frontier",
    "GreedyTreeClassifier",
    "ICETClassifier",
    "IDXClassifier",
    "LSID3Classifier",
    "NumberTree",
    "Policy",
    "RunReport",
    "SKIP",
    "Sequence",
    "Session",
    "Solution",
    "Table",
    "Test",
    "Tree",
    "compare",
    "datasets",
    "diagnose",
    "evaluate",
    "frontier",
    "group_worth",
    "load",
    "make_cost_scorer",
    "neg_normalised_cost",
    "neg_test_cost",
    "neg_total_cost",
    "precision_at",
    "read_costs",
    "read_table",
    "register_method",
    "show",
    "solve",
    "solve_many",
]

# Where public names are looked for, the quickest to import first.
_HOMES = ("problem", "policy", "run", "export", "evaluate", "solve", "learn")
# Subpackages that are not hidden by a function of the same name.
_SUBPACKAGES = (
    "datasets",
    "exceptions",
    "export",
    "learn",
    "policy",
    "problem",
    "run",
    "scale",
)


def __getattr__(name: str) -> _Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("askless")
    if name in _SUBPACKAGES or name == "testing":
        return _import_module(f"askless.{name}")
    # A function such as `solve` lives in the package of its name: no other is imported.
    homes = sorted(_HOMES, key=lambda home: home != name)
    for home in homes if name in __all__ else ():
        module = _import_module(f"askless.{home}")
        if name in module.__all__:
            globals()[name] = getattr(module, name)
            return globals()[name]
    raise AttributeError(f"module 'askless' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


class _Package(_ModuleType):
    """Askless itself, where ``solve`` is the function and not the folder of its code.

    Importing a subpackage sets an attribute of its parent. Some functions are called
    like the subpackage that they live in, and here the function is what is meant.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if isinstance(value, _ModuleType) and name in __all__:
            value = getattr(value, name, value)
        super().__setattr__(name, value)


_sys.modules[__name__].__class__ = _Package
