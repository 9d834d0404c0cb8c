"""Examples to learn from: read once, then coded in the order of the classes.

:class:`Examples` is what every learner starts from, :class:`CodedExamples` what the
growers want. Rows are written straight to their place in the order of the classes, so
that the codes exist only once. This module must not know which learner asks.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless._core.bagging._samples import Bundles
from askless._core.code._codes import encode_matrix
from askless._progress import Reporter
from askless.exceptions import InvalidTableError
from askless.learn._row_keys import key_values, sample_rows
from askless.problem import Costs, Outcome, Test
from askless.problem._coding import (
    SAMPLE_ROWS,
    category_test,
    quantile_test,
    quantile_tests,
)
from askless.problem._column import is_number
from askless.problem._frames import Columns, take_rows
from askless.problem._tests import CodeArray, code_dtype

__all__ = [
    "CodedExamples",
    "Examples",
    "KnownRows",
    "StoredExamples",
    "Values",
    "as_matrix",
    "choose_tests",
    "code_examples",
    "code_rows",
    "count_rows",
    "cut_sample",
]

# Raw values: a matrix of floats, or columns if some of them are no numbers.
Values = NDArray[Any] | Columns


@dataclass(frozen=True)
class KnownRows:
    """Rows whose class is known, such as validation rows.

    Attributes
    ----------
    values : ndarray of floats of shape (n_rows, n_tests), or Columns
        Raw values; NaN and None are missing.
    class_ids : ndarray of integers of shape (n_rows,)
        The class of each row; -1 for one that the learner has not met. Of learners of
        numbers, the number of each row.
    weights : ndarray of shape (n_rows,) or None
        The weight of each row; None for 1 each.
    """

    values: Values
    class_ids: NDArray[Any]
    weights: NDArray[np.float64] | None = None

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.class_ids)

    def take(self, rows: Any) -> KnownRows:
        """Return some of the rows, by number, mask or slice."""
        return KnownRows(
            take_rows(self.values, rows),
            self.class_ids[rows],
            None if self.weights is None else self.weights[rows],
        )


@dataclass(frozen=True)
class Examples:
    """What a learner starts from: rows, classes, costs and threads, all checked.

    Attributes
    ----------
    rows : KnownRows
        The rows to learn from; none of them has the weight 0.
    names : list of str
        The names of the tests.
    classes : tuple
        The classes, ascending; none for learners of numbers.
    costs : Costs
        What tests and, if anyone has said so, mistakes cost.
    n_threads : int
        How many threads may be used.
    valid : KnownRows or None
        Validation rows that were given.
    reporter : Reporter
        Whom to tell how the fit goes.
    """

    rows: KnownRows
    names: list[str]
    classes: tuple[Outcome, ...]
    costs: Costs
    n_threads: int = 1
    valid: KnownRows | None = None
    reporter: Reporter = field(default_factory=Reporter)

    @property
    def n_rows(self) -> int:
        """How many rows there are to learn from."""
        return self.rows.n_rows

    def take(self, rows: Any) -> Examples:
        """Return the examples of some of the rows; all else stays."""
        return replace(self, rows=self.rows.take(rows))

    def code(self, tests: tuple[Test, ...] | None = None) -> CodedExamples:
        """Return coded examples, by levels of their own or those of given tests."""
        return code_examples(
            self.rows.values,
            self.names,
            self.rows.class_ids,
            len(self.classes),
            self.rows.weights,
            self.n_threads,
            tests,
        )


@dataclass(frozen=True)
class StoredExamples(Examples):
    """Examples that are coded already, in a store; they have no raw values.

    Attributes
    ----------
    coded : CodedExamples
        The codes, which must not be written to.
    """

    coded: CodedExamples | None = None

    @property
    def n_rows(self) -> int:
        """How many rows there are to learn from."""
        return 0 if self.coded is None else self.coded.n_rows

    def code(self, tests: tuple[Test, ...] | None = None) -> CodedExamples:
        """Return the codes; tests that were chosen before must be the same."""
        assert self.coded is not None
        if tests is not None and tests != self.coded.tests:
            raise InvalidTableError(
                "A warm start must see the same rows. Got a store of other tests. Set "
                "warm_start=False to start again."
            )
        return self.coded


class CodedTests:
    """What kernels want to know of the tests of coded rows."""

    tests: tuple[Test, ...]

    @property
    def n_levels(self) -> NDArray[np.int32]:
        """How many levels each test has."""
        return np.array([test.n_levels for test in self.tests], dtype=np.int32)

    @property
    def is_ordered(self) -> NDArray[np.uint8]:
        """Which tests are compared with a threshold."""
        return np.array([test.kind == "number" for test in self.tests], dtype=np.uint8)


@dataclass(frozen=True)
class CodedExamples(CodedTests):
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
    is_kept : ndarray of bool of shape (n_rows,) or None
        Which rows to learn from, if some are set aside; None for all.
    bundles : Bundles or None
        Tests of two outcomes eight to a byte, if they were made.
    """

    tests: tuple[Test, ...]
    codes: CodeArray
    class_rows: NDArray[np.int64]
    weights: NDArray[np.float64] | None
    is_kept: NDArray[np.bool_] | None = None
    bundles: Bundles | None = None

    @property
    def n_rows(self) -> int:
        """How many rows there are, those that are set aside included."""
        return int(self.codes.shape[1])

    @property
    def class_ids(self) -> NDArray[np.int32]:
        """The class of each row."""
        n_classes = len(self.class_rows)
        return np.repeat(np.arange(n_classes, dtype=np.int32), self.class_rows)

    @property
    def class_totals(self) -> NDArray[np.float64]:
        """The weight of all rows of each class that are learned from."""
        if self.weights is None and self.is_kept is None:
            return self.class_rows.astype(np.float64)
        weights = np.ones(self.n_rows) if self.weights is None else self.weights
        if self.is_kept is not None:
            weights = weights * self.is_kept
        n_classes = len(self.class_rows)
        totals = np.bincount(self.class_ids, weights, minlength=n_classes)
        return totals.astype(np.float64)


def code_examples(
    X: Values,
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
    X : ndarray of floats of shape (n_rows, n_tests), or Columns
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
    if tests is None:
        tests = choose_tests(X, names, weights)
    if weights is not None:
        weights = weights[order]
    position = np.empty(len(order), dtype=np.uint32)
    position[order] = np.arange(len(order), dtype=np.uint32)
    del order
    return CodedExamples(tests, _code(X, tests, position, n_jobs), class_rows, weights)


def code_rows(values: Values, tests: tuple[Test, ...], n_jobs: int = 1) -> CodeArray:
    """Return the codes of rows in their own order, of shape (n_tests, n_rows)."""
    return _code(values, tests, np.arange(count_rows(values), dtype=np.uint32), n_jobs)


def count_rows(values: Values) -> int:
    """Return how many rows a matrix, or columns, have."""
    if isinstance(values, np.ndarray):
        return len(values)
    return len(next(iter(values.values()), ()))


def as_matrix(values: Values, whose: str) -> NDArray[np.float64]:
    """Return values as a matrix of floats, for learners that read numbers only.

    Parameters
    ----------
    values : ndarray of floats, or Columns
        Raw values.
    whose : str
        The learner, for the message.
    """
    if isinstance(values, np.ndarray):
        return values.astype(np.float64, copy=False)
    for name, column in values.items():
        if column.dtype.kind != "b" and not is_number(column):
            raise InvalidTableError(
                f"{whose} must be given numbers. Got text in column {name!r}. Leave "
                "the column out, or write it as numbers."
            )
    return np.column_stack([column.astype(np.float64) for column in values.values()])


def choose_tests(
    values: Values, names: list[str], weights: NDArray[np.float64] | None = None
) -> tuple[Test, ...]:
    """Compare numbers with thresholds; give every other value a branch of its own.

    Thresholds of many rows are chosen on a sample of them, drawn by what rows hold.
    """
    if weights is None and count_rows(values) > SAMPLE_ROWS:
        rows, counts = sample_rows(key_values(values), SAMPLE_ROWS)
        some = take_rows(values, rows)
        if isinstance(values, np.ndarray):
            return cut_sample(names, some, counts)
        numbers = [name for name in names if is_number(values[name])]
        taken = Columns({name: some[name] for name in numbers})
        cut = dict(zip(numbers, cut_sample(numbers, taken, counts), strict=True))
        return tuple(
            cut[name] if name in cut else category_test(name, values[name])
            for name in names
        )
    if isinstance(values, np.ndarray):
        if weights is None:
            return quantile_tests(names, values)
        return tuple(
            quantile_test(name, values[:, i], weights=weights)
            for i, name in enumerate(names)
        )
    return tuple(
        quantile_test(name, values[name], weights=weights)
        if is_number(values[name])
        else category_test(name, values[name])
        for name in names
    )


def cut_sample(
    names: list[str], values: Values, counts: NDArray[np.int64]
) -> tuple[Test, ...]:
    """Return tests of numbers, cut by different rows that occur so many times each."""
    weights = None if counts.max(initial=1) == 1 else counts.astype(np.float64)
    if isinstance(values, np.ndarray):
        if weights is None:
            return quantile_tests(names, np.ascontiguousarray(values))
        values = Columns({name: values[:, i] for i, name in enumerate(names)})
    return tuple(quantile_test(n, values[n], weights=weights) for n in names)


def _code(
    X: Values,
    tests: tuple[Test, ...],
    position: NDArray[np.uint32],
    n_jobs: int,
) -> CodeArray:
    """Return the codes of rows, each at its position."""
    if isinstance(X, np.ndarray):
        return _code_matrix(X, tests, position, n_jobs)
    widest = max(test.n_levels for test in tests)
    codes: CodeArray = np.empty((len(tests), len(position)), dtype=code_dtype(widest))
    for i, test in enumerate(tests):
        codes[i, position] = test.encode_clean(X[test.name])
    return codes


def _code_matrix(
    X: NDArray[Any], tests: tuple[Test, ...], position: NDArray[np.uint32], n_jobs: int
) -> CodeArray:
    starts = np.cumsum([0] + [len(test.cuts) for test in tests]).astype(np.int64)
    cuts = np.concatenate([*(test.cut_array for test in tests), np.zeros(1)])
    codes: CodeArray = np.empty((len(tests), len(X)), dtype=np.uint8)
    encode_matrix(X, cuts, starts, position, codes, n_jobs)
    return codes
