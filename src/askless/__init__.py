"""Askless: ask less, decide right.

Which test to buy next, when to stop, and what to conclude, when every test has a price.

>>> import askless
>>> table = askless.datasets.load_car()
>>> solution = askless.solve(table)
>>> session = solution.policy.start()
>>> session.test is not None
True
"""

from importlib.metadata import version as _version

from askless import datasets
from askless.evaluate import Evaluation, evaluate
from askless.export import show
from askless.learn import GreedyTreeClassifier
from askless.policy import Policy, Sequence, Session, Tree, load
from askless.problem import Costs, Table, Test, read_costs, read_table
from askless.solve import Solution, solve

__version__ = _version("askless")

__all__ = [
    "Costs",
    "Evaluation",
    "GreedyTreeClassifier",
    "Policy",
    "Sequence",
    "Session",
    "Solution",
    "Table",
    "Test",
    "Tree",
    "datasets",
    "evaluate",
    "load",
    "read_costs",
    "read_table",
    "show",
    "solve",
]
