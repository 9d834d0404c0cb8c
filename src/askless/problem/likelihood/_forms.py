"""Read likelihoods in whatever form they are given: mappings, rows, frames, arrays.

All forms become :class:`Cells`, which :func:`build_grid` checks and turns into arrays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from askless.exceptions import InvalidTableError, suggest_name
from askless.problem._column import is_missing
from askless.problem._frames import clean_columns, is_frame, list_some
from askless.problem.likelihood._arrays import read_arrays
from askless.problem.likelihood._cells import Grid
from askless.problem.likelihood._grid import (
    Cell,
    CellReading,
    Cells,
    as_probability,
    build_grid,
)

__all__ = ["LONG_COLUMNS", "CellReading", "LongRow", "gather_rows", "read_grid"]

LONG_COLUMNS = ("case", "test", "outcome", "probability")


class LongRow(NamedTuple):
    """A row of a long table; `place` says where it stands, as " in row 3"."""

    case: Any
    test: Any
    outcome: Any
    probability: Any
    case_class: Any = None
    prior: Any = None
    place: str = ""


def read_grid(data: Any, reading: CellReading) -> Grid:
    """Return the arrays of likelihoods, whatever they are given as."""
    if isinstance(data, Mapping) and all(isinstance(v, Mapping) for v in data.values()):
        return build_grid(_name_cells(data), reading)
    if isinstance(data, Mapping) or is_frame(data):
        return build_grid(gather_rows(_frame_rows(data)), reading)
    if _is_rows(data):
        return build_grid(gather_rows(_listed_rows(data)), reading)
    return read_arrays(data, reading)


def _name_cells(data: Mapping[Any, Mapping[Any, Cell]]) -> Cells:
    """Return cells with the names of tests and cases as text."""
    by_test: dict[str, dict[str, Cell]] = {}
    for test, row in data.items():
        if str(test) in by_test:
            raise _twice(f"the test {str(test)!r}")
        named = by_test.setdefault(str(test), {})
        for case, cell in row.items():
            if str(case) in named:
                raise _twice(f"{str(test)!r} of {str(case)!r}")
            named[str(case)] = cell
    return Cells(by_test)


def _twice(what: str) -> InvalidTableError:
    return InvalidTableError(
        f"Every cell must be given once. Got {what} twice. Remove one of them."
    )


# Rows of case, test, outcome, probability.


def _is_rows(data: Any) -> bool:
    """Return whether data are rows that name cases and tests, and not numbers."""
    if isinstance(data, np.ndarray) or not isinstance(data, Sequence) or not len(data):
        return False
    first = data[0]
    return isinstance(first, Mapping) or (
        isinstance(first, Sequence) and any(isinstance(v, str) for v in first)
    )


def _frame_rows(data: Any) -> Iterator[LongRow]:
    columns = clean_columns(data)
    _check_columns(list(columns))
    lists = {name: column.tolist() for name, column in columns.items()}
    n_rows = len(lists["case"])
    nothing = [None] * n_rows
    kept = [lists.get(name, nothing) for name in (*LONG_COLUMNS, "class", "prior")]
    places = [f" in row {i}" for i in range(n_rows)]
    yield from map(LongRow, *kept, places)


def _check_columns(names: Sequence[str]) -> None:
    absent = [name for name in LONG_COLUMNS if name not in names]
    if absent:
        raise InvalidTableError(
            "Likelihoods in rows must have the columns case, test, outcome and "
            f"probability. Got no column {absent[0]!r}; the columns are "
            f"{list_some(names)}. {suggest_name(absent[0], names)}Name the columns so."
        )


def _listed_rows(data: Sequence[Any]) -> Iterator[LongRow]:
    for i, row in enumerate(data):
        if isinstance(row, Mapping):
            _check_columns([str(name) for name in row])
            values = [row.get(name) for name in (*LONG_COLUMNS, "class", "prior")]
        else:
            values = [*row, None, None]
        if len(values) != 6:
            raise InvalidTableError(
                "A row must be a case, a test, an outcome and its probability. Got "
                f"{len(values) - 2} values in row {i}. Write all four."
            )
        case, test, outcome, probability, case_class, prior = values
        yield LongRow(
            case, test, outcome, probability, case_class, prior, f" in row {i}"
        )


def gather_rows(rows: Iterable[LongRow], source: str = "") -> Cells:
    """Return the cells of rows of case, test, outcome and probability.

    An outcome that is left empty marks an unknown cell, whose probability is left
    empty too.
    """
    cells = Cells({}, source=source)
    for row in rows:
        for name in ("case", "test"):
            if is_missing(getattr(row, name)):
                raise InvalidTableError(
                    f"Every row must name its {name}. Got none{row.place}. Write it, "
                    "or remove the row."
                )
        test, case = str(row.test), str(row.case)
        cells.places.setdefault((test, case), row.place)
        _add_row(cells.by_test.setdefault(test, {}), test, case, row)
        _keep_same(cells.classes, case, row.case_class, "class", row.place)
        _keep_same(cells.prior, case, row.prior, "prior", row.place)
    _check_all_have(cells.classes, cells, "class")
    _check_all_have(cells.prior, cells, "prior")
    return cells


def _add_row(cells: dict[str, Cell], test: str, case: str, row: LongRow) -> None:
    what = f"{test!r} of {case!r}{row.place}"
    if is_missing(row.outcome):
        if not is_missing(row.probability):
            raise InvalidTableError(
                "A probability must be of an outcome. Got none beside "
                f"{row.probability!r} for {what}. Name the outcome; leave both empty "
                "if nothing is known."
            )
        if case in cells:
            raise _twice(what)
        cells[case] = None
        return
    if is_missing(row.probability):
        raise InvalidTableError(
            f"Every outcome must have a probability. Got none for {row.outcome!r} of "
            f"{what}. Write 0 if it is never seen."
        )
    cell = cells.setdefault(case, {})
    if not isinstance(cell, dict) or row.outcome in cell:
        raise _twice(f"{row.outcome!r} of {what}")
    cell[row.outcome] = as_probability(row.probability, f"{row.outcome!r} for {what}")


def _keep_same(
    values: dict[str, Any], case: str, value: Any, what: str, place: str
) -> None:
    if is_missing(value):
        return
    if values.setdefault(case, value) != value:
        raise InvalidTableError(
            f"All rows of a case must have the same {what}. Got {value!r} for "
            f"{case!r}{place}, and {values[case]!r} before. Correct one of them."
        )


def _check_all_have(values: dict[str, Any], cells: Cells, what: str) -> None:
    """Check that every case has a value, or none has."""
    for (_, case), place in cells.places.items():
        if values and case not in values:
            raise InvalidTableError(
                f"Every case must have a {what}, or none. Got none for "
                f"{case!r}{place}. Write it in one of its rows."
            )
