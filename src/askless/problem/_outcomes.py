"""Read the cells of a table as outcomes: choose the levels of each test, and code them.

What a cell may hold and what it means is settled here. It must not know classes,
weights or costs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidTableError, suggest_name
from askless.problem._coding import (
    Coding,
    category_test,
    distinct_outcomes,
    quantile_test,
    uniform_test,
)
from askless.problem._column import Column, clean_column, is_number
from askless.problem._frames import Columns, list_some
from askless.problem._tests import MAX_LEVELS, CodeArray, Outcome, Test

__all__ = [
    "CodedOutcomes",
    "Reading",
    "blank_marked",
    "code_outcomes",
    "example_value",
    "find_marked",
]


@dataclass(frozen=True)
class Reading:
    """How the cells of a table are read; see the parameters of Table."""

    unknown: Any = None
    missing: Literal["unknown", "outcome"] = "unknown"
    levels: int | None = None
    thresholds: bool = False
    alphabet: Mapping[str, Sequence[Any]] | None = None

    def __post_init__(self) -> None:
        if self.missing not in ("unknown", "outcome"):
            raise InvalidTableError(
                f"missing must be 'unknown' or 'outcome'. Got {self.missing!r}. "
                "Choose 'outcome' if an empty cell says something by itself."
            )
        _check_levels(self.levels)


class CodedOutcomes(NamedTuple):
    """The outcomes of a table: its tests, its codes, and which tests are ordered."""

    coding: Coding
    codes: CodeArray
    is_ordered: NDArray[np.bool_]


def code_outcomes(columns: Columns, reading: Reading) -> CodedOutcomes:
    """Return the tests that the columns come from, and what they show as codes."""
    marked = {k: find_marked(column, reading.unknown) for k, column in columns.items()}
    columns = Columns((k, blank_marked(v, marked[k], k)) for k, v in columns.items())
    listed = _check_alphabet(reading.alphabet, columns)
    tests = tuple(
        _choose_levels(name, column, reading, listed.get(name))
        for name, column in columns.items()
    )
    coding = Coding(tests)
    codes = coding.encode(columns)
    for code, test in zip(codes, tests, strict=True):
        if reading.missing == "unknown":
            code[code == test.missing_code] = test.unknown_code
        else:
            code[marked[test.name]] = test.unknown_code
    is_ordered = [reading.thresholds and test.kind == "number" for test in tests]
    return CodedOutcomes(coding, codes, np.array(is_ordered))


def _check_levels(levels: int | None) -> None:
    """Check into how many levels numbers are cut."""
    if levels is None:
        return
    if not isinstance(levels, (int, np.integer)) or not 2 <= levels <= MAX_LEVELS:
        raise InvalidTableError(
            f"levels must be a whole number from 2 to {MAX_LEVELS:,}. Got {levels!r}. "
            "The papers use 10."
        )


def find_marked(column: Column, unknown: Any) -> NDArray[np.bool_]:
    """Return which cells hold the value that marks an unknown outcome."""
    if unknown is None:
        return np.zeros(len(column), dtype=bool)
    return np.array([v == unknown for v in column.tolist()], dtype=bool)


def blank_marked(column: Column, marked: NDArray[np.bool_], name: str) -> Column:
    """Return the column without the marked cells, as numbers if the rest is numbers."""
    if not marked.any():
        return column
    cells = zip(column.tolist(), marked, strict=True)
    return clean_column([None if is_marked else v for v, is_marked in cells], name)


def _check_alphabet(
    alphabet: Mapping[str, Sequence[Any]] | None, columns: dict[str, Column]
) -> dict[str, list[Outcome]]:
    """Return the outcomes of the tests whose outcomes are listed."""
    checked: dict[str, list[Outcome]] = {}
    for name, listed in (alphabet or {}).items():
        if name not in columns:
            raise InvalidTableError(
                f"alphabet must name tests. Got {name!r}. "
                f"{suggest_name(name, columns)}Leave out what is not a test."
            )
        checked[name] = distinct_outcomes(clean_column(list(listed), name))
        shown = distinct_outcomes(columns[name])
        strange = [outcome for outcome in shown if outcome not in checked[name]]
        if strange:
            raise InvalidTableError(
                f"The outcomes of {name!r} must be in its alphabet, which is "
                f"{list_some(checked[name])}. Got {strange[0]!r}. Add it, or correct "
                "the cell."
            ).at(columns[name].tolist().index(strange[0]))
    return checked


def _choose_levels(
    name: str,
    column: Column,
    reading: Reading,
    listed: Sequence[Outcome] | None = None,
) -> Test:
    """Return the test that a column of outcomes comes from."""
    if listed is not None:
        return Test(name, "category", outcomes=tuple(listed))
    if not is_number(column):
        return category_test(name, column)
    numbers = column.astype(np.float64, copy=False)
    if np.isinf(numbers).any():
        raise InvalidTableError(
            f"Numbers must be finite. Got an infinite value of {name!r}. Write it as "
            "missing, or as text."
        ).at(np.flatnonzero(np.isinf(numbers))[0])
    if reading.levels is not None:
        return uniform_test(name, numbers, reading.levels)
    return (quantile_test if reading.thresholds else category_test)(name, column)


def example_value(test: Test, code: int) -> Outcome | None:
    """Return a raw value that has the code."""
    if code >= test.n_levels:
        return None
    if test.kind == "category":
        return test.outcomes[code]
    if code < len(test.cuts):
        return test.cuts[code]
    return test.cuts[-1] + 1.0 + abs(test.cuts[-1]) if test.cuts else 0.0
