"""Tests that can err: read how likely each case shows what, and settle it in arrays.

What a table is must not be known here: functions take and return tests, arrays and
names, and :mod:`askless.problem._table` puts them together.
"""

from askless.problem.likelihood._files import is_long

__all__ = ["is_long"]
