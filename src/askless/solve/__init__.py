"""Solve known tables: from a table to a policy, with a bound on how far it is from best.

This package knows tables and policies. It does not know examples, files or screens.
"""

from askless.solve._registry import METHODS, Method
from askless.solve._solution import Solution
from askless.solve._solve import solve

__all__ = ["METHODS", "Method", "Solution", "solve"]
