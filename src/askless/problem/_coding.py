"""Choose the levels of each column, and code whole tables of raw values.

Categories keep their identity; numbers are cut at thresholds that are exact in single
precision, so that a value falls on the same side of a cut in every engine a policy may
be exported to. This module must not know costs or classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless._core.code._value_counts import count_whole, describe_columns
from askless.exceptions import InvalidTableError, suggest_name
from askless.problem._column import EXACT_WHOLE, Column, is_number
from askless.problem._frames import Columns
from askless.problem._tests import MAX_LEVELS, CodeArray, Outcome, Test, code_dtype

__all__ = [
    "Coding",
    "HasCoding",
    "category_test",
    "distinct_outcomes",
    "float32_cuts",
    "number_test",
    "quantile_test",
    "quantile_tests",
    "uniform_test",
]

# Cuts of a long column are chosen on this many of its rows.
SAMPLE_ROWS = 200_000
# The largest finite number of single precision.
F32_MAX = np.finfo(np.float32).max
# One byte holds this many levels beside "missing" and "unknown".
BYTE_LEVELS = 254
# Whole numbers of no larger range are counted instead of sorted.
COUNTED_RANGE = 2**16


def float32_cuts(
    below: NDArray[np.float64], above: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return cuts between pairs of values, exact in single precision.

    A cut t must separate the pair in double and in single precision, so with f the
    rounding to single precision: max(below, f(below)) <= t < min(above, f(above)).

    Returns
    -------
    cuts : ndarray
        The single-precision number nearest to the middle that fits.
    exists : ndarray of bool
        Whether there is one: two values may round to the same number.

    Examples
    --------
    >>> cuts, exists = float32_cuts(np.array([1.0, 1.0]), np.array([2.0, 1.0 + 1e-12]))
    >>> cuts[exists], exists
    (array([1.5]), array([ True, False]))
    """
    with np.errstate(over="ignore", invalid="ignore"):
        low = np.maximum(below, below.astype(np.float32))
        high = np.minimum(above, above.astype(np.float32))
        middle = np.nan_to_num(low) / 2 + np.nan_to_num(high) / 2
        cuts = np.clip(middle.astype(np.float32), -F32_MAX, F32_MAX)
        cuts = np.where(cuts < low, np.nextafter(cuts, np.float32(np.inf)), cuts)
        cuts = np.where(cuts >= high, np.nextafter(cuts, np.float32(-np.inf)), cuts)
        wide = cuts.astype(np.float64)
        return wide, (low <= wide) & (wide < high) & np.isfinite(wide)


def number_test(name: str, distinct: NDArray[np.float64], bins: NDArray[Any]) -> Test:
    """Return a number test that cuts wherever the bin of distinct values changes.

    Where single precision cannot separate the two values at such an edge, the cut moves
    to the nearest two that it can. Seconds since 1970 are 128 apart there: most edges
    would be lost, and the levels to either side of them merged.
    """
    edges = np.flatnonzero(np.diff(bins))
    cuts, exists = float32_cuts(distinct[:-1], distinct[1:])
    possible = np.flatnonzero(exists)
    if possible.size == 0 or edges.size == 0:
        return Test(name, "number")
    after = np.minimum(np.searchsorted(possible, edges), possible.size - 1)
    before = np.maximum(after - 1, 0)
    is_nearer = edges - possible[before] < possible[after] - edges
    chosen = np.where(is_nearer, possible[before], possible[after])
    return Test(name, "number", cuts=tuple(cuts[np.unique(chosen)].tolist()))


def uniform_test(name: str, values: Column, levels: int) -> Test:
    """Cut the range of a column into levels of equal width.

    The level of x is floor(levels * (x - min) / (max - min)), the largest value in the
    last level; levels without a value are left out.
    """
    distinct = _distinct_numbers(values)
    if distinct.size < 2:
        return Test(name, "number")
    # Near the largest doubles the range itself may be infinite. A power of two changes
    # no other digit.
    scale = 2.0**-64 if np.max(np.abs(distinct)) > 2.0**960 else 1.0
    scaled = distinct * scale
    low, high = scaled[0], scaled[-1]
    # Multiplied before divided: 100 * (29 / 100) is below 29.
    bins = np.floor(levels * (scaled - low) / (high - low))
    return number_test(name, distinct, np.minimum(bins, levels - 1))


def quantile_test(
    name: str,
    values: Column,
    max_levels: int = BYTE_LEVELS,
    weights: NDArray[np.float64] | None = None,
) -> Test:
    """Cut a column between values, into levels that hold about equally many rows.

    With no more distinct values than levels, every two neighbours are separated. Longer
    columns than 200,000 rows are represented by a fixed sample of their rows. Rows
    count by their weights, if there are any, so that a weight of 2 is two rows.
    """
    if weights is not None:
        return _weighted_test(name, values, max_levels, weights)
    if len(values) > SAMPLE_ROWS:
        values = values[_sample_rows(len(values))]
    if values.dtype.kind == "f" and len(values):
        # Columns of a matrix lie apart in memory, and are read several times.
        values = np.ascontiguousarray(values)
        pair = _two_values(values)
    else:
        pair = None
    if pair is not None:
        return number_test(name, pair, np.arange(len(pair)))
    rising = np.sort(values.astype(np.float64, copy=False))
    rising = rising[: np.searchsorted(rising, np.nan)]
    if rising.size == 0:
        return Test(name, "number")
    is_first = np.append(True, rising[1:] != rising[:-1])
    ranks = np.flatnonzero(is_first)
    return _ranked_test(name, rising[is_first], ranks, rising.size, max_levels)


def quantile_tests(names: Sequence[str], matrix: NDArray[Any]) -> tuple[Test, ...]:
    """Return what :func:`quantile_test` makes of each column of a matrix of floats.

    Whole numbers, which most columns of real data hold, are counted and not sorted.
    """
    if not len(matrix) or not matrix.flags.c_contiguous:
        return tuple(quantile_test(n, matrix[:, i]) for i, n in enumerate(names))
    rows = None
    if len(matrix) > SAMPLE_ROWS:
        # In their order in memory; the levels do not depend on the order.
        rows = np.sort(_sample_rows(len(matrix)))
    low, high, is_whole, has_missing = describe_columns(matrix, rows)
    tests = []
    for i, name in enumerate(names):
        if is_whole[i] and high[i] - low[i] <= 1 and not has_missing[i]:
            # Both ends occur, and nothing lies between them.
            tests.append(Test(name, "number", cuts=_cuts_of_pair(low[i], high[i])))
        elif is_whole[i] and 0 <= high[i] - low[i] < COUNTED_RANGE:
            counts = np.zeros(int(high[i] - low[i]) + 1, dtype=np.int64)
            count_whole(matrix, i, low[i], counts, rows)
            occurs = np.flatnonzero(counts)
            ranks = np.cumsum(counts)[occurs] - counts[occurs]
            total = int(counts.sum())
            tests.append(_ranked_test(name, low[i] + occurs, ranks, total, BYTE_LEVELS))
        else:
            column = matrix[:, i] if rows is None else matrix[rows, i]
            tests.append(quantile_test(name, column))
    return tuple(tests)


def _weighted_test(
    name: str, values: Column, max_levels: int, weights: NDArray[np.float64]
) -> Test:
    if len(values) > SAMPLE_ROWS:
        ends = np.cumsum(weights)
        places = np.random.default_rng(0).random(SAMPLE_ROWS) * ends[-1]
        rows = np.searchsorted(ends, places, side="right")
        return quantile_test(name, values[np.minimum(rows, len(values) - 1)])
    numbers = values.astype(np.float64, copy=False)
    is_there = ~np.isnan(numbers)
    distinct, where = np.unique(numbers[is_there], return_inverse=True)
    if distinct.size == 0:
        return Test(name, "number")
    totals = np.bincount(where.ravel(), weights=weights[is_there])
    before = np.cumsum(totals) - totals
    return _ranked_test(name, distinct, before, float(totals.sum()), max_levels)


def _sample_rows(n_rows: int) -> NDArray[np.int64]:
    # A fixed seed: the levels depend on the data alone.
    return np.random.default_rng(0).integers(0, n_rows, SAMPLE_ROWS)


def _ranked_test(
    name: str,
    distinct: NDArray[np.float64],
    ranks: NDArray[np.intp] | NDArray[np.float64],
    n_rows: float,
    max_levels: int,
) -> Test:
    """Cut between distinct values by the rank of the first row of each."""
    if distinct.size <= max_levels:
        return number_test(name, distinct, np.arange(distinct.size))
    return number_test(name, distinct, ranks * max_levels // n_rows)


@lru_cache(maxsize=256)
def _cuts_of_pair(low: float, high: float) -> tuple[float, ...]:
    """Return the cut between two values, if they differ."""
    pair = np.unique(np.array([low, high], dtype=np.float64))
    return number_test("pair", pair, np.arange(len(pair))).cuts


def _two_values(values: Column) -> NDArray[np.float64] | None:
    """Return the values of a column of at most two, which need not be sorted.

    None if it has more, or if some are missing.
    """
    if np.unique(values[:64]).size > 2:
        return None
    low, high = values.min(), values.max()
    if not np.all((values == low) | (values == high)):
        return None
    return np.unique(np.array([low, high], dtype=np.float64))


def distinct_outcomes(values: Column) -> list[Outcome]:
    """Return the distinct values of a column in ascending order, none for missing."""
    if values.dtype == object:
        present = {v for v in values.tolist() if v is not None}
        if is_number(values):
            return sorted(present)
        return sorted(present, key=lambda v: (str(type(v)), v))
    distinct = np.unique(values)
    if distinct.dtype.kind == "f":
        distinct = distinct[~np.isnan(distinct)]
        is_whole = np.all(distinct == np.floor(distinct))
        if is_whole and np.all(np.abs(distinct) < EXACT_WHOLE):
            # Whole numbers that became floats because some are missing.
            distinct = distinct.astype(np.int64)
    outcomes: list[Outcome] = distinct.tolist()
    return outcomes


def category_test(name: str, values: Column) -> Test:
    """Return a test with an outcome for each distinct value, in ascending order."""
    outcomes = distinct_outcomes(values)
    if len(outcomes) > MAX_LEVELS:
        raise InvalidTableError(
            f"A test must have at most {MAX_LEVELS:,} outcomes. Got {len(outcomes):,} "
            f"different values of {name!r}. Leave the test out, group its values, or, "
            "if it is a number, cut it into levels."
        )
    return Test(name, "category", outcomes=tuple(outcomes))


def _distinct_numbers(values: Column) -> NDArray[np.float64]:
    numbers = np.unique(values.astype(np.float64))
    return numbers[np.isfinite(numbers)]


@dataclass(frozen=True)
class Coding:
    """How the columns of a problem become codes: a test for each column, in order.

    Examples
    --------
    >>> coding = Coding((Test("cough", "category", outcomes=("no", "yes")),))
    >>> coding.encode({"cough": ["yes", None, "maybe"]})
    array([[1, 2, 3]], dtype=uint8)
    """

    tests: tuple[Test, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the tests, in order."""
        return tuple(test.name for test in self.tests)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type that holds the codes of every test."""
        return code_dtype(max((test.n_levels for test in self.tests), default=0))

    def encode(
        self, columns: Mapping[str, Any], only: Sequence[int] | None = None
    ) -> CodeArray:
        """Return codes of shape (n_tests, n_rows), a row of the result for each test.

        Parameters
        ----------
        columns : mapping of str to array-like
            The raw columns by name.
        only : sequence of int, optional
            Which tests to code; all by default.

        Raises
        ------
        InvalidTableError
            If a column is absent, or longer or shorter than the first one.
        """
        chosen = self.tests if only is None else [self.tests[i] for i in only]
        is_clean = isinstance(columns, Columns)
        n_rows = len(next(iter(columns.values()))) if columns else 0
        codes: CodeArray = np.empty((len(chosen), n_rows), dtype=self.dtype)
        for i, test in enumerate(chosen):
            if test.name not in columns:
                raise InvalidTableError(
                    f"Every test must be a column of the data. Got no column "
                    f"{test.name!r}. {suggest_name(test.name, columns)}Add the column."
                )
            column = columns[test.name]
            column = test.encode_clean(column) if is_clean else test.encode(column)
            if len(column) != n_rows:
                raise InvalidTableError(
                    f"Columns must have the same length. Got {n_rows} in "
                    f"{next(iter(columns))!r} and {len(column)} in {test.name!r}. Give "
                    "every column a value for each row."
                )
            codes[i] = column
        return codes


class HasCoding:
    """What has a coding has its tests."""

    coding: Coding

    @property
    def tests(self) -> tuple[Test, ...]:
        """The tests, in order."""
        return self.coding.tests

    @property
    def test_names(self) -> tuple[str, ...]:
        """Names of the tests, in order."""
        return self.coding.names
