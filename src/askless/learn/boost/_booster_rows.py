"""Rows as boosters want them: a matrix.

This module must not know how boosters are grown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.learn._examples import KnownRows, Values
from askless.learn.sources import Source
from askless.problem import Test
from askless.problem._coding import category_test
from askless.problem._column import is_number

__all__ = ["BoosterRows", "choose_tests", "to_matrix"]


@dataclass(frozen=True)
class BoosterRows:
    """Rows of known class as they are, for policies, and as a matrix, for boosters.

    Attributes
    ----------
    rows : KnownRows
        The rows.
    tests : tuple of Test
        The columns; numbers have no cuts yet.
    matrix : ndarray of floats of shape (n_rows, n_tests)
        Numbers as they are and categories as their codes; NaN is missing.
    """

    rows: KnownRows
    tests: tuple[Test, ...]
    matrix: NDArray[Any]
    _kept: dict[Any, Any] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    def __getstate__(self) -> dict[str, Any]:
        # What LightGBM made of the rows does not go to other processes.
        return {**self.__dict__, "_kept": {}}

    def keep(self, key: Any, make: Callable[[], Any]) -> Any:
        """Return what was made of these rows before, or make it."""
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    @classmethod
    def of(cls, rows: KnownRows, tests: tuple[Test, ...]) -> BoosterRows:
        """Return rows with their matrix."""
        return cls(rows, tests, to_matrix(rows.values, tests))

    def take(self, rows: Any) -> BoosterRows:
        """Return some of the rows, by number or mask."""
        return BoosterRows(self.rows.take(rows), self.tests, self.matrix[rows])

    @property
    def raw_rows(self) -> KnownRows:
        """The rows with raw values, for policies to run."""
        return self.rows

    def to_raw(self, source: Source) -> Source:
        """Return a model of the matrix as one of raw values."""
        return source


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
