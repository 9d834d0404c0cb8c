"""Rows of a store as boosters want them: levels in place of raw values, and back.

A booster of levels compares codes, a policy raw values. A value is on the lower side of
a cut of the store exactly if its code is, so both decide alike. This module must not
know how boosters are grown.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.learn._examples import CodedExamples, KnownRows, Values, code_rows
from askless.learn.boost._booster_rows import BoosterRows
from askless.learn.sources import Source
from askless.problem import Test
from askless.problem._column import Column
from askless.problem._frames import Columns
from askless.problem._tests import CodeArray

__all__ = ["CodedRows", "cut_source", "level_values"]

# Rows that are read from the store at a time.
CHUNK = 1 << 16


@dataclass(frozen=True)
class CodedRows(BoosterRows):
    """Rows of known class by the levels of their values.

    Attributes
    ----------
    rows : KnownRows
        The rows; their values are those of the matrix.
    tests : tuple of Test
        The columns, with the levels of the store.
    matrix : ndarray of float32 of shape (n_rows, n_tests)
        Codes; NaN is missing, or a category that the store has not.
    """

    @classmethod
    def of(cls, rows: KnownRows, tests: tuple[Test, ...]) -> CodedRows:
        """Return raw rows by the levels of tests."""
        codes = code_rows(rows.values, tests)
        matrix = _read(codes, np.arange(rows.n_rows), tests)
        return cls(replace(rows, values=matrix), tests, matrix)

    @classmethod
    def read(cls, coded: CodedExamples, rows: NDArray[np.int64]) -> CodedRows:
        """Return some of the rows of a store, read in parts."""
        matrix = _read(coded.codes, rows, coded.tests)
        return cls(KnownRows(matrix, coded.class_ids[rows]), coded.tests, matrix)

    def take(self, rows: Any) -> CodedRows:
        """Return some of the rows, by number or mask."""
        taken = self.rows.take(rows)
        return CodedRows(taken, self.tests, np.asarray(taken.values))

    @property
    def raw_rows(self) -> KnownRows:
        """The rows with a raw value of each level, for policies to run."""
        return replace(self.rows, values=level_values(self.matrix, self.tests))

    def to_raw(self, source: Source) -> Source:
        """Return a model of codes as one of raw values."""
        return cut_source(source, self.tests)


def _read(
    codes: CodeArray, rows: NDArray[np.int64], tests: tuple[Test, ...]
) -> NDArray[np.float32]:
    """Return the codes of rows as numbers; NaN is missing or unknown."""
    missing = np.array([test.missing_code for test in tests])
    matrix = np.empty((len(rows), len(tests)), dtype=np.float32)
    for start in range(0, len(rows), CHUNK):
        part = codes[:, rows[start : start + CHUNK]].T
        matrix[start : start + CHUNK] = np.where(
            part < missing, part, np.float32(np.nan)
        )
    return matrix


def level_values(matrix: NDArray[Any], tests: tuple[Test, ...]) -> Values:
    """Return a raw value for each code: what a policy takes for the same level.

    Parameters
    ----------
    matrix : ndarray of floats of shape (n_rows, n_tests)
        Codes; NaN is missing.
    tests : tuple of Test
        What the codes are of.

    Examples
    --------
    >>> fever = Test("fever", "number", cuts=(37.0, 38.5))
    >>> values = level_values(np.array([[0], [1], [2], [np.nan]]), (fever,))
    >>> fever.encode(values[:, 0]).tolist()
    [0, 1, 2, 3]
    """
    columns = [_level_column(matrix[:, i], test) for i, test in enumerate(tests)]
    if all(test.kind == "number" for test in tests):
        return np.column_stack(columns)
    names = (test.name for test in tests)
    return Columns(zip(names, columns, strict=True))


def _level_column(codes: NDArray[Any], test: Test) -> Column:
    values: Column
    if test.kind == "category":
        values = np.array([*test.outcomes, None], dtype=object)
    else:
        # A level is stood for by its last value, the last level by one beyond all cuts.
        beyond = np.nextafter(test.cuts[-1], np.inf) if test.cuts else 0.0
        values = np.array([*test.cuts, beyond, np.nan])
    place = np.where(np.isnan(codes), test.missing_code, codes)
    return values[place.astype(np.int64)]


def cut_source(source: Source, tests: tuple[Test, ...]) -> Source:
    """Return a model of codes as one of raw values: the cuts between the same levels.

    Parameters
    ----------
    source : Source
        A model whose numbers are codes from 0 on.
    tests : tuple of Test
        What the codes are of.
    """
    # Beyond the last level there is no cut: every number goes left.
    widest = max(test.n_levels for test in tests)
    cuts = np.full((len(tests), widest), np.inf)
    for row, test in zip(cuts, tests, strict=True):
        row[: len(test.cuts)] = test.cuts
    trees = []
    for tree in source.trees:
        # No split is below code 0; what is, is no threshold but a mark of a leaf.
        level = np.clip(np.floor(tree.threshold), 0, widest - 1).astype(np.int64)
        trees.append(tree.with_threshold(cuts[tree.feature, level]))
    return replace(source, trees=trees)
