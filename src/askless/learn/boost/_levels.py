"""Rows by the levels of their values, as the boosters of Askless want them.

Numbers are put into levels once, before any tree grows. This module must not know
trees, losses nor prices.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.learn._examples import code_rows
from askless.learn.boost._booster_rows import BoosterRows
from askless.learn.boost._coded_rows import CodedRows
from askless.problem import Test
from askless.problem._coding import quantile_test

__all__ = ["LevelRows", "can_grow", "choose_levels", "list_marks"]

# Levels of a number, and how many sums over levels there are at most: they are added up
# for each leaf, column, level and class.
LEVELS, LEAST_LEVELS, MOST_CELLS = 128, 8, 32_000_000
# Codes of two bytes have room for so many levels, a missing value and an unknown one.
MOST_LEVELS = 65_533


@dataclass(frozen=True)
class LevelRows:
    """Rows by the levels of their values.

    Attributes
    ----------
    tests : tuple of Test
        The columns with their levels.
    codes : ndarray of shape (n_columns, n_rows)
    class_ids, weights : ndarray of shape (n_rows,)
    """

    tests: tuple[Test, ...]
    codes: NDArray[np.uint16]
    class_ids: NDArray[np.int32]
    weights: NDArray[np.float64]

    @classmethod
    def of(cls, rows: BoosterRows, tests: tuple[Test, ...]) -> LevelRows:
        """Return rows of known classes by the levels of tests."""
        is_known = rows.rows.class_ids >= 0
        known = rows if is_known.all() else rows.take(is_known)
        codes = np.ascontiguousarray(_code(known, tests), dtype=np.uint16)
        ids, weights = known.rows.class_ids, known.rows.weights
        return cls(
            tests,
            codes,
            np.ascontiguousarray(ids, dtype=np.int32),
            np.ones(len(ids)) if weights is None else np.asarray(weights, dtype=float),
        )

    @cached_property
    def n_levels(self) -> NDArray[np.int32]:
        """How many levels each column has."""
        return np.array([test.n_levels for test in self.tests], dtype=np.int32)

    @cached_property
    def is_category(self) -> NDArray[np.uint8]:
        """Whether the levels of each column have no order."""
        return np.array([t.kind == "category" for t in self.tests], dtype=np.uint8)


def _code(rows: BoosterRows, tests: tuple[Test, ...]) -> NDArray[Any]:
    if not isinstance(rows, CodedRows):
        return code_rows(rows.rows.values, tests)
    # Rows of a store do not tell a missing category from an unknown one: both are taken
    # for unknown ones, which go right.
    nothing = [test.missing_code + (test.kind == "category") for test in tests]
    return np.where(np.isnan(rows.matrix), np.array(nothing), rows.matrix).T


def choose_levels(rows: BoosterRows, n_classes: int, n_leaves: int) -> tuple[Test, ...]:
    """Return the columns with the levels that trees part by.

    Parameters
    ----------
    rows : BoosterRows
        Rows to grow on.
    n_classes, n_leaves : int
        Classes, and the most leaves of a tree.
    """
    if isinstance(rows, CodedRows):
        return rows.tests
    n_sums = n_leaves * len(rows.tests) * (2 * n_classes + 1)
    most = min(LEVELS, max(LEAST_LEVELS, MOST_CELLS // max(n_sums, 1)))
    return tuple(
        quantile_test(test.name, rows.matrix[:, i], most, rows.rows.weights)
        if test.kind == "number"
        else test
        for i, test in enumerate(rows.tests)
    )


def can_grow(rows: BoosterRows, n_classes: int, n_leaves: int) -> bool:
    """Return whether the levels of all columns are few enough to be summed up.

    Parameters
    ----------
    rows : BoosterRows
        Rows to grow on.
    n_classes, n_leaves : int
        Classes, and the most leaves of a tree.
    """
    is_coded = isinstance(rows, CodedRows)
    levels = [
        test.n_levels if is_coded or test.kind == "category" else LEAST_LEVELS
        for test in rows.tests
    ]
    n_sums = (sum(levels) + 2 * len(levels)) * n_leaves * (2 * n_classes + 1)
    return n_sums <= MOST_CELLS and max(levels, default=0) <= MOST_LEVELS


def list_marks(rows: BoosterRows, tests: tuple[Test, ...]) -> list[NDArray[np.float64]]:
    """Return, for each level of each number, the largest value that rows hold of it.

    Rows of a store hold levels in place of values.

    Parameters
    ----------
    rows : BoosterRows
    tests : tuple of Test
        Their columns with levels.
    """
    if isinstance(rows, CodedRows):
        return [np.arange(test.n_levels, dtype=float) for test in tests]
    # Beyond the last cut there are missing values only.
    return [np.array([*test.cuts, np.inf]) for test in tests]
