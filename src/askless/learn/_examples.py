"""Code examples for growing: raw rows in, class-sorted columns of codes out.

The one place where learners meet raw data. Rows are written straight to their place in
the order of the classes, so that the codes exist only once. This module must not know
which learner asks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless._core.code._codes import encode_matrix
from askless.problem import Test
from askless.problem._coding import (
    category_test,
    quantile_test,
    quantile_tests,
)
from askless.problem._column import Column, is_number
from askless.problem._tests import CodeArray, code_dtype

__all__ = ["CodedExamples", "code_examples"]


@dataclass(frozen=True)
class CodedExamples:
    """Examples as the growers want them.

    Attributes
    ----------
    tests : tuple of Test
    codes : ndarray of shape (n_tests, n_rows)
        Columns of codes, rows sorted by class; growing uses them up.
    class_rows : ndarray of int64 of shape (n_classes,)
        How many rows each class has.
    weights : ndarray of shape (n_rows,) or None
        Row weights in the same order.
    """

    tests: tuple[Test, ...]
    codes: CodeArray
    class_rows: NDArray[np.int64]
    weights: NDArray[np.float64] | None

    @property
    def n_levels(self) -> NDArray[np.int32]:
        """How many levels each test has."""
        return np.array([test.n_levels for test in self.tests], dtype=np.int32)

    @property
    def is_ordered(self) -> NDArray[np.uint8]:
        """Which tests are compared with a threshold."""
        return np.array([test.kind == "number" for test in self.tests], dtype=np.uint8)


def code_examples(
    X: NDArray[Any] | Mapping[str, Column],
    names: list[str],
    class_ids: NDArray[Any],
    n_classes: int,
    weights: NDArray[np.float64] | None,
    n_jobs: int = 1,
    tests: tuple[Test, ...] | None = None,
) -> CodedExamples:
    """Choose levels, and code rows in the order of their classes.

    Parameters
    ----------
    X : ndarray of floats of shape (n_rows, n_tests), or mapping of columns
        Raw values; NaN and None are missing.
    names : list of str
        Names of the tests.
    class_ids : ndarray of small integers of shape (n_rows,)
        The class of each row.
    n_classes : int
        How many classes there are.
    weights : ndarray of shape (n_rows,), optional
        Row weights.
    n_jobs : int, default=1
        Threads; the codes do not depend on it.
    tests : tuple of Test, optional
        Levels that were chosen before, to code more rows by the same.
    """
    class_rows = np.bincount(class_ids, minlength=n_classes).astype(np.int64)
    order = np.argsort(class_ids, kind="stable")
    if weights is not None:
        weights = weights[order]
    position = np.empty(len(order), dtype=np.uint32)
    position[order] = np.arange(len(order), dtype=np.uint32)
    del order
    if isinstance(X, np.ndarray):
        if tests is None:
            tests = quantile_tests(names, X)
        codes = _code_matrix(X, tests, position, n_jobs)
    else:
        if tests is None:
            tests = tuple(_choose_test(name, X[name]) for name in names)
        codes = _code_columns(X, tests, position)
    return CodedExamples(tests, codes, class_rows, weights)


def _choose_test(name: str, column: Column) -> Test:
    """Compare numbers with thresholds; give every other value a branch of its own."""
    if is_number(column):
        return quantile_test(name, column)
    return category_test(name, column)


def _code_matrix(
    X: NDArray[Any], tests: tuple[Test, ...], position: NDArray[np.uint32], n_jobs: int
) -> CodeArray:
    starts = np.cumsum([0] + [len(test.cuts) for test in tests]).astype(np.int64)
    cuts = np.concatenate([*(test.cut_array for test in tests), np.zeros(1)])
    codes: CodeArray = np.empty((len(tests), len(X)), dtype=np.uint8)
    encode_matrix(X, cuts, starts, position, codes, n_jobs)
    return codes


def _code_columns(
    X: Mapping[str, Column], tests: tuple[Test, ...], position: NDArray[np.uint32]
) -> CodeArray:
    widest = max(test.n_levels for test in tests)
    codes: CodeArray = np.empty((len(tests), len(position)), dtype=code_dtype(widest))
    for i, test in enumerate(tests):
        codes[i, position] = test.encode_clean(X[test.name])
    return codes
