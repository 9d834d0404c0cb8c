"""Read likelihoods from arrays, all cells of a test at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidTableError
from askless.problem._coding import distinct_outcomes
from askless.problem._column import clean_column
from askless.problem._frames import listed_names
from askless.problem._tests import Outcome, Test
from askless.problem.likelihood._cells import TOLERANCE, Grid
from askless.problem.likelihood._grid import CellReading, as_probability, scale_shares

__all__ = ["read_arrays"]

Array = NDArray[np.float64]


def read_arrays(data: Any, reading: CellReading) -> Grid:
    """Return the grid of arrays: of positive outcomes, or of all outcomes."""
    arrays = _as_arrays(data)
    names = listed_names(reading.tests or [f"t{i}" for i in range(len(arrays))])
    n_cases = len(arrays[0])
    cases = [str(c) for c in reading.cases or [f"case {i}" for i in range(n_cases)]]
    for what, given, n in (("test", names, len(arrays)), ("case", cases, n_cases)):
        if len(given) != n:
            raise InvalidTableError(
                f"There must be a name for each {what}. Got {len(given)} names for "
                f"{n} {what}s. Name every {what} once."
            )
    tests, chances = [], []
    for name, array in zip(names, arrays, strict=True):
        listed = (reading.alphabet or {}).get(name)
        test, places = _name_outcomes(name, array, listed, reading.binary)
        _check_range(array.reshape(n_cases, -1), name, cases)
        both = np.stack([1.0 - array, array], axis=1) if array.ndim == 1 else array
        checked = np.zeros((test.n_levels, n_cases))
        checked[places] = _check_cells(both, name, cases, reading.missing).T
        # An unknown cell is unknown in every level.
        checked[:, np.isnan(checked).any(axis=0)] = np.nan
        tests.append(test)
        chances.append(checked)
    return Grid(tuple(tests), tuple(cases), chances)


def _name_outcomes(
    name: str,
    array: Array,
    listed: Sequence[Any] | None,
    binary: tuple[Outcome, Outcome],
) -> tuple[Test, list[int]]:
    """Return the test of an array, and the level of each of its columns."""
    if array.ndim == 1:
        columns: list[Any] = list(binary)
    elif listed is None:
        columns = list(range(array.shape[1]))
    else:
        columns = list(listed)
        if len(columns) != array.shape[1]:
            raise InvalidTableError(
                "The alphabet of a test must name every outcome of its array. Got "
                f"{len(columns)} names for {array.shape[1]} outcomes of {name!r}. "
                "Name each outcome once, in order."
            )
    outcomes = dict.fromkeys([*columns, *(listed or ())])
    shown = distinct_outcomes(clean_column(list(outcomes), name))
    test = Test(name, "category", outcomes=tuple(shown))
    return test, [test.code_of(outcome) for outcome in columns]


def _check_range(array: Array, name: str, cases: list[str]) -> None:
    is_wrong = (array < 0) | (array > 1 + TOLERANCE)
    if is_wrong.any():
        row, column = np.argwhere(is_wrong)[0]
        as_probability(float(array[row, column]), f"{name!r} of {cases[row]!r}")


def _check_cells(array: Array, name: str, cases: list[str], missing: str) -> Array:
    """Return cells that sum to one; NaN for those that are unknown."""
    is_missing = np.isnan(array)
    absent = np.asarray(is_missing.all(axis=1))

    def place(rows: NDArray[np.bool_]) -> str:
        return f"{name!r} of {cases[int(np.flatnonzero(rows)[0])]!r}"

    partial = np.asarray(is_missing.any(axis=1) & ~absent)
    if partial.any():
        raise InvalidTableError(
            "All probabilities of a cell must be given, or none. Got NaN and numbers "
            f"for {place(partial)}. Write 0 for an outcome that is never seen."
        )
    if absent.any() and missing == "error":
        raise InvalidTableError(
            "Every case must have likelihoods for every test. Got none for "
            f"{place(absent)}. Add them, or pass missing='unknown' if it may show "
            "anything."
        )
    array = np.clip(array, 0.0, 1.0)
    totals = array.sum(axis=1)
    is_off = np.abs(totals - 1.0) > TOLERANCE * array.shape[1]
    if is_off.any():
        scale_shares(array[is_off][0], place(is_off))
    return np.asarray(array / totals[:, None])


def _as_arrays(data: Any) -> list[NDArray[np.float64]]:
    """Return an array for each test, of shape (n_cases,) or (n_cases, n_outcomes)."""
    try:
        if isinstance(data, np.ndarray):
            array = data.astype(np.float64)
        elif isinstance(data[0], np.ndarray) and data[0].ndim == 2:
            # One for each test; they may differ in the number of outcomes.
            arrays = [np.array(part, dtype=np.float64) for part in data]
            if all(a.ndim == 2 and len(a) == len(arrays[0]) for a in arrays):
                return arrays
            raise ValueError("arrays of different lengths")
        else:
            array = np.array(data, dtype=np.float64)
    except (TypeError, ValueError, LookupError) as error:
        raise InvalidTableError(
            "Likelihoods must be a mapping of test to case to cell, rows of case, "
            "test, outcome and probability, or arrays of numbers. Got "
            f"{type(data).__name__}: {error}. See Table.from_likelihoods."
        ) from None
    if array.ndim not in (2, 3) or 0 in array.shape:
        raise InvalidTableError(
            "An array of likelihoods must have the shape (n_cases, n_tests) or "
            f"(n_cases, n_tests, n_outcomes). Got {array.shape}. See "
            "Table.from_likelihoods."
        )
    return [array[:, i] for i in range(array.shape[1])]
