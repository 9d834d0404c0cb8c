"""Rows as LightGBM wants them: a matrix, and some of them set aside for validation.

This module must not know how boosters are grown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from askless.learn._examples import Examples, KnownRows, Values
from askless.problem import Test
from askless.problem._coding import category_test
from askless.problem._column import is_number

__all__ = ["BoosterRows", "choose_tests", "split_rows", "to_matrix"]


@dataclass(frozen=True)
class BoosterRows:
    """Rows of known class as they are, for policies, and as a matrix, for LightGBM.

    Attributes
    ----------
    rows : KnownRows
        The rows.
    tests : tuple of Test
        The columns; numbers have no cuts yet.
    matrix : ndarray of float64 of shape (n_rows, n_tests)
        Numbers as they are and categories as their codes; NaN is missing.
    """

    rows: KnownRows
    tests: tuple[Test, ...]
    matrix: NDArray[np.float64]

    @classmethod
    def of(cls, rows: KnownRows, tests: tuple[Test, ...]) -> BoosterRows:
        """Return rows with their matrix."""
        return cls(rows, tests, to_matrix(rows.values, tests))

    def take(self, rows: Any) -> BoosterRows:
        """Return some of the rows, by number or mask."""
        return BoosterRows(self.rows.take(rows), self.tests, self.matrix[rows])


def choose_tests(values: Values, names: list[str]) -> tuple[Test, ...]:
    """Return a test for each column; numbers have no cuts yet."""
    if isinstance(values, np.ndarray):
        return tuple(Test(name, "number") for name in names)
    return tuple(
        Test(name, "number")
        if is_number(values[name])
        else category_test(name, values[name])
        for name in names
    )


def split_rows(
    examples: Examples, fraction: float, random_state: Any
) -> tuple[BoosterRows, BoosterRows]:
    """Return the rows to grow on and the validation rows, given or drawn.

    Parameters
    ----------
    examples : Examples
        All examples, perhaps with validation rows.
    fraction : float
        The share of the rows that is set aside if no validation rows are given.
    random_state : int or None
        Draws them.
    """
    tests = choose_tests(examples.rows.values, examples.names)
    every = BoosterRows.of(examples.rows, tests)
    if examples.valid is not None:
        return every, BoosterRows.of(examples.valid, tests)
    class_ids = examples.rows.class_ids
    counts = np.bincount(class_ids)
    try:
        train, valid = train_test_split(
            np.arange(len(class_ids)),
            test_size=fraction,
            random_state=random_state,
            stratify=class_ids if counts.min() > 1 else None,
        )
    except ValueError:
        # Too few rows to divide: choose on the rows themselves.
        return every, every
    if len(np.unique(class_ids[train])) < len(counts):
        # Every class must be among the rows that trees are grown on.
        return every, every.take(valid)
    return every.take(train), every.take(valid)


def to_matrix(values: Values, tests: tuple[Test, ...]) -> NDArray[np.float64]:
    """Return numbers as they are and categories as their codes; NaN is missing."""
    if isinstance(values, np.ndarray):
        return values.astype(np.float64, copy=False)
    columns = []
    for test in tests:
        if test.kind == "number":
            columns.append(np.asarray(values[test.name], dtype=np.float64))
            continue
        codes = test.encode_clean(values[test.name]).astype(np.float64)
        codes[codes >= test.missing_code] = np.nan
        columns.append(codes)
    return np.column_stack(columns)
