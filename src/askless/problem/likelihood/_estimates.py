"""Estimate likelihoods from examples: how often rows of a class show each outcome."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidTableError
from askless.problem._coding import category_test, quantile_test
from askless.problem._column import Column, is_number
from askless.problem._frames import Columns
from askless.problem._tests import MAX_LEVELS, Outcome, Test
from askless.problem.likelihood._cells import Grid

__all__ = ["Estimate", "estimate_grid"]


@dataclass(frozen=True)
class Estimate:
    """How likelihoods are estimated; see the parameters of Table.from_examples."""

    levels: int = 4
    smoothing: float = 1.0
    sample_weight: Any = None

    def __post_init__(self) -> None:
        is_whole = isinstance(self.levels, (int, np.integer))
        if not is_whole or not 2 <= self.levels <= MAX_LEVELS:
            raise InvalidTableError(
                f"levels must be a whole number from 2 to {MAX_LEVELS:,}. Got "
                f"{self.levels!r}. Few levels need few rows."
            )
        if not (math.isfinite(self.smoothing) and self.smoothing >= 0):
            raise InvalidTableError(
                f"smoothing must be a finite number >= 0. Got {self.smoothing!r}. It "
                "is a number of rows; 1 is usual."
            )

    def weights(self, n_rows: int) -> NDArray[np.float64]:
        """Return the weight of each row."""
        if self.sample_weight is None:
            return np.ones(n_rows)
        try:
            weights = np.asarray(self.sample_weight, dtype=np.float64)
        except (TypeError, ValueError):
            weights = np.empty(0)
        is_right = weights.shape == (n_rows,) and np.all(np.isfinite(weights))
        if not is_right or np.any(weights < 0) or not weights.any():
            raise InvalidTableError(
                f"sample_weight must have {n_rows} finite values >= 0, not all 0. Got "
                "others. Leave it out for equal weights."
            )
        return weights


def estimate_grid(
    columns: Columns,
    classes: tuple[Outcome, ...],
    class_ids: NDArray[np.int32],
    how: Estimate,
) -> Grid:
    """Return the likelihoods of the tests for each class.

    Parameters
    ----------
    columns : Columns
        What each test shows in each row.
    classes : tuple
    class_ids : ndarray of shape (n_rows,)
        The number of each row's class.
    how : Estimate

    Notes
    -----
    The estimate of a probability is (n + m p) / (N + m), where n of the N rows of the
    class show the outcome, p is its share among all rows, and m is the smoothing. Empty
    cells count nowhere.
    """
    weights = how.weights(len(class_ids))
    tests, chances = [], []
    for name, column in columns.items():
        test = _choose_levels(name, column, how.levels)
        codes = test.encode_clean(column)
        counts = _count(codes, class_ids, weights, (test.n_levels, len(classes)))
        tests.append(test)
        chances.append(smooth_counts(counts, how.smoothing))
    shares = np.bincount(class_ids, weights=weights, minlength=len(classes))
    return Grid(
        tuple(tests),
        tuple(str(one) for one in classes),
        chances,
        list(classes),
        shares.tolist(),
    )


def _choose_levels(name: str, column: Column, levels: int) -> Test:
    """Return the test of a column: its categories, or quantiles of its numbers."""
    if column.dtype.kind != "b" and is_number(column):
        numbers = column.astype(np.float64)
        if np.isinf(numbers).any():
            raise InvalidTableError(
                f"Numbers must be finite. Got an infinite value of {name!r}. Write it "
                "as missing, or as text."
            )
        return quantile_test(name, numbers, levels)
    test = category_test(name, column)
    if not test.outcomes:
        raise InvalidTableError(
            f"A test must show something. Got no value of {name!r} in any row. Leave "
            "it out."
        )
    return test


def _count(
    codes: NDArray[Any],
    class_ids: NDArray[np.int32],
    weights: NDArray[np.float64],
    shape: tuple[int, int],
) -> NDArray[np.float64]:
    """Return the weight of the rows of each level and class, without empty cells."""
    n_levels, n_classes = shape
    known = np.flatnonzero(codes < n_levels)
    keys = codes[known].astype(np.int64) * n_classes + class_ids[known]
    counted: NDArray[Any] = np.bincount(
        keys, weights=weights[known], minlength=n_levels * n_classes
    )
    return counted.reshape(shape)


def smooth_counts(counts: NDArray[np.float64], smoothing: float) -> NDArray[np.float64]:
    """Return the share of each level in each class; NaN where nothing is known.

    Examples
    --------
    >>> smooth_counts(np.array([[3.0, 0.0], [1.0, 4.0]]), 1.0)
    array([[0.675, 0.075],
           [0.325, 0.925]])
    """
    total = float(counts.sum())
    overall = counts.sum(axis=1, keepdims=True) / (total or 1.0)
    added = smoothing if total else 0.0
    sums = counts.sum(axis=0) + added
    smoothed: NDArray[np.float64] = np.full(counts.shape, np.nan)
    np.divide(counts + added * overall, sums, out=smoothed, where=sums > 0)
    return smoothed
