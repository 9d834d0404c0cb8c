"""Solve known tables: from a table to a policy, and how far from the best it can be.

This package knows tables and policies. It does not know examples, files or screens.
"""

from askless._progress import Progress
from askless.solve._own_methods import load_entry_points, register_method
from askless.solve._registry import METHODS, Method
from askless.solve._solution import Solution
from askless.solve._solve import solve
from askless.solve._solve_many import solve_many
from askless.solve._task import Point
from askless.solve.sensitivity import Change, Influence, Sensitivity

__all__ = [
    "Change",
    "Influence",
    "METHODS",
    "Method",
    "Point",
    "Progress",
    "Sensitivity",
    "Solution",
    "load_entry_points",
    "register_method",
    "solve",
    "solve_many",
]
