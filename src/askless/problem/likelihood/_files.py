"""Read likelihoods from files: long, wide, or sensitivity and specificity.

Each kind of file becomes :class:`Cells`, with the line and column of every cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from askless.exceptions import DataFileError, InvalidTableError, suggest_name
from askless.problem._column import is_missing
from askless.problem._files import PARQUET, load_columns, parse_cells
from askless.problem._frames import list_some
from askless.problem.likelihood._cell_text import (
    parse_cell,
    parse_probability,
    split_header,
)
from askless.problem.likelihood._forms import LONG_COLUMNS, LongRow, gather_rows
from askless.problem.likelihood._grid import Cell, CellReading, Cells
from askless.problem.likelihood._words import Legend
from askless.problem.sheets import read_sheet

__all__ = ["KINDS", "FileReading", "is_long", "read_cases", "read_cells"]

ACCURACY_COLUMNS = ("test", "condition", "sensitivity", "specificity")
NONE_OF_THEM = "none of them"


@dataclass(frozen=True)
class FileReading:
    """How a file of likelihoods is read; see the parameters of read_table."""

    target: str | None = None
    prior: str | None = None
    case: str | None = None
    drop: Sequence[str] = ()
    unknown: Any = None
    legend: Legend = field(default_factory=Legend)
    cells: CellReading = field(default_factory=CellReading)
    separator: str | None = None
    decimal: str | None = None

    def with_defaults(self, names: Sequence[str]) -> FileReading:
        """Return the reading with columns found that are named as what they hold."""

        def find(chosen: str | None, name: str) -> str | None:
            is_free = name in names and name not in self.drop
            return name if chosen is None and is_free else chosen

        return replace(
            self,
            target=find(self.target, "class"),
            prior=find(self.prior, "prior"),
            case=find(self.case, "case"),
        )


class Line(NamedTuple):
    """A line of a file: where it stands, and its cells by column."""

    place: str
    cells: dict[str, str]

    def at(self, column: str) -> str:
        """Return where a cell stands, for a message."""
        return f" in {self.place}, column {column!r}"


def is_long(names: Sequence[str]) -> bool:
    """Return whether columns are those of a long file of likelihoods."""
    return all(name in names for name in LONG_COLUMNS)


def read_lines(path: Path, **written: str | None) -> tuple[list[str], list[Line]]:
    """Return the names of the columns of a file, and its lines as text."""
    if path.suffix.lower() not in PARQUET:
        sheet = read_sheet(path, **written)
        return sheet.names, [
            Line(f"line {number} of {path}", dict(zip(sheet.names, row, strict=True)))
            for number, row in zip(sheet.lines, sheet.rows, strict=True)
        ]
    columns = load_columns(path)
    lists = [
        ["" if is_missing(v) else str(v) for v in column.tolist()]
        for column in columns.values()
    ]
    return list(columns), [
        Line(f"row {i} of {path}", dict(zip(columns, row, strict=True)))
        for i, row in enumerate(zip(*lists, strict=True))
    ]


def read_cells(path: Path, kind: str, reading: FileReading) -> Cells:
    """Return the cells of a file of one of the kinds."""
    names, lines = read_lines(
        path, separator=reading.separator, decimal=reading.decimal
    )
    reading = reading.with_defaults(names)
    for role in ("target", "prior", "case"):
        name = getattr(reading, role)
        if name is not None and name not in names:
            raise InvalidTableError(
                f"The {role} must be a column of the table. Got {name!r}, which is "
                f"none of {list_some(names)} in {path}. {suggest_name(name, names)}"
                "Name a column of the file."
            )
    cells = KINDS[kind](path, names, lines, reading)
    for name in reading.drop:
        if name not in cells.by_test and name not in names:
            raise InvalidTableError(
                f"Only columns or tests of the table can be dropped. Got {name!r} for "
                f"{path}. {suggest_name(name, [*cells.by_test, *names])}Leave it out."
            )
        cells.by_test.pop(name, None)
    return cells


def _check_header(needed: Sequence[str], names: Sequence[str], path: Path) -> None:
    for name in needed:
        if name not in names:
            raise DataFileError(
                f"Such a file must have the columns {', '.join(needed)}. Got "
                f"{list_some(names)} in {path}. {suggest_name(name, names)}Add the "
                f"column {name!r}."
            )


# Long: case, test, outcome, probability.


def _read_long(
    path: Path, names: list[str], lines: list[Line], reading: FileReading
) -> Cells:
    case = reading.case or "case"
    _check_header((case, *LONG_COLUMNS[1:]), names, path)
    values = _outcome_values(lines, reading.unknown)
    rows = []
    for line in lines:
        test, outcome = line.cells["test"], line.cells["outcome"]
        prior = line.cells.get(reading.prior or "")
        rows.append(
            LongRow(
                line.cells[case] or None,
                test or None,
                values[test, outcome],
                line.cells["probability"] or None,
                line.cells.get(reading.target or "") or None,
                _as_weight(prior, line.at(str(reading.prior))) if prior else None,
                line.at("probability"),
            )
        )
    cells = gather_rows(rows, f" in {path}")
    return replace(cells, classes=_parse_values(cells.classes))


def _outcome_values(lines: list[Line], unknown: Any) -> dict[tuple[str, str], Any]:
    """Return what the text of each outcome of each test stands for.

    Outcomes are numbers if all of a test are.
    """
    texts: dict[str, dict[str, None]] = {}
    for line in lines:
        found = texts.setdefault(line.cells["test"], {})
        found[line.cells["outcome"]] = None
    values: dict[tuple[str, str], Any] = {(test, ""): None for test in texts}
    for test, found in texts.items():
        named = [text for text in found if text and text != unknown]
        parsed = parse_cells(named).tolist() if named else []
        for text, value in zip(named, parsed, strict=True):
            values[test, text] = text if is_missing(value) else value
        if unknown is not None:
            values[test, str(unknown)] = None
    return values


def _parse_values(texts: dict[str, Any]) -> dict[str, Any]:
    """Return values by case, as numbers if all are."""
    if not texts:
        return texts
    parsed = parse_cells([str(text) for text in texts.values()]).tolist()
    return dict(zip(texts, parsed, strict=True))


# Wide: a line for each case, a column for each test.


def _read_wide(
    path: Path, names: list[str], lines: list[Line], reading: FileReading
) -> Cells:
    roles = {reading.target, reading.prior, reading.case, *reading.drop}
    columns = [name for name in names if name not in roles]
    tests = {name: split_header(name, reading.cells.binary) for name in columns}
    if reading.case is None and reading.target is None:
        raise InvalidTableError(
            "A table must name its cases or their classes. Got no column 'case' and no "
            f"target in {path}. Name the column of cases, or that of classes."
        )
    cells = Cells({test: {} for test, _ in tests.values()}, source=f" in {path}")
    if len(cells.by_test) < len(tests):
        raise InvalidTableError(
            f"Tests must have different names. Got one name twice in the first line of "
            f"{path}. Rename one of them."
        )
    for i, line in enumerate(lines):
        case = f"case {i}" if reading.case is None else line.cells[reading.case]
        if not case or case in cells.cases:
            raise InvalidTableError(
                f"Every case must have a name of its own. Got {case!r}"
                f"{line.at(str(reading.case))}. Name it, or remove the line."
            )
        cells.cases[case] = None
        for column, (test, outcomes) in tests.items():
            cells.places[test, case] = line.at(column)
            text = line.cells[column]
            if text and text == reading.unknown:
                cells.by_test[test][case] = None
            elif text:
                place = cells.place(test, case)
                found = parse_cell(text, outcomes, reading.legend, place)
                cells.by_test[test][case] = found
        _take_role(cells.classes, case, line, reading.target, "class")
        _take_role(cells.prior, case, line, reading.prior, "prior")
    return replace(cells, classes=_parse_values(cells.classes))


def _take_role(
    values: dict[str, Any], case: str, line: Line, column: str | None, what: str
) -> None:
    if column is None:
        return
    text = line.cells[column]
    if not text:
        raise InvalidTableError(
            f"Every case must have a {what}. Got none for {case!r}{line.at(column)}. "
            "Write it, or remove the line."
        )
    values[case] = text if what == "class" else _as_weight(text, line.at(column))


def _as_weight(text: str, place: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InvalidTableError(
            f"A prior must be a number. Got {text!r}{place}. Write how common the case "
            "is, on any scale."
        ) from None


# Sensitivity and specificity of each test for a condition.


def _read_accuracy(
    path: Path, names: list[str], lines: list[Line], reading: FileReading
) -> Cells:
    _check_header(ACCURACY_COLUMNS, names, path)
    if reading.target is not None:
        raise InvalidTableError(
            "The classes of conditions must stand in a file of cases. Got the column "
            f"{reading.target!r} of {path}. Move it there: case,prior,class."
        )
    negative, positive = reading.cells.binary
    cells = Cells({}, source=f" in {path}")
    false_alarms: dict[str, tuple[float, str]] = {}
    for line in lines:
        test, case = line.cells["test"], line.cells["condition"]
        for column in ("test", "condition"):
            if not line.cells[column]:
                raise InvalidTableError(
                    f"Every line must name its {column}. Got none{line.at(column)}. "
                    "Write it, or remove the line."
                )
        row = cells.by_test.setdefault(test, {})
        if case in row:
            raise InvalidTableError(
                f"Every test must be listed once for a condition. Got {test!r} for "
                f"{case!r} again{line.at('test')}. Remove one of the two lines."
            )
        hit, right = (
            parse_probability(line.cells[c], f"{test!r} for {case!r}{line.at(c)}")
            for c in ("sensitivity", "specificity")
        )
        row[case] = {positive: hit, negative: round(1.0 - hit, 15)}
        cells.places[test, case] = line.at("sensitivity")
        known = false_alarms.setdefault(test, (right, line.place))
        if known[0] != right:
            raise InvalidTableError(
                "A test must have one specificity: how often it is negative where none "
                f"of its conditions holds. Got {right:g} for {test!r}"
                f"{line.at('specificity')}, and {known[0]:g} in {known[1]}. Correct "
                "one of them, or write a long table."
            )
        if reading.prior is not None:
            _keep_prior(cells.prior, case, line, reading.prior)
    _fill_healthy(cells, false_alarms, reading.cells)
    return cells


def _keep_prior(prior: dict[str, Any], case: str, line: Line, column: str) -> None:
    text = line.cells[column]
    if not text:
        return
    weight = _as_weight(text, line.at(column))
    if prior.setdefault(case, weight) != weight:
        raise InvalidTableError(
            f"All lines of a condition must have the same prior. Got {weight:g} for "
            f"{case!r}{line.at(column)}, and {prior[case]:g} before. Correct one of "
            "them."
        )


def _fill_healthy(
    cells: Cells, false_alarms: dict[str, tuple[float, str]], reading: CellReading
) -> None:
    """Let each test be right as often as its specificity says in all other cases."""
    negative, positive = reading.binary
    listed = cells.all_cases()
    cases = [str(c) for c in reading.cases or [*listed, NONE_OF_THEM]]
    for test, row in cells.by_test.items():
        right = false_alarms[test][0]
        missed: Cell = {negative: right, positive: round(1.0 - right, 15)}
        # In the order of the cases, whatever that of the lines.
        cells.by_test[test] = {case: row.get(case, missed) for case in cases} | row
    if cells.prior and reading.cases is None:
        rest = 1.0 - sum(cells.prior.values())
        if len(cells.prior) < len(listed) or rest < 0:
            raise InvalidTableError(
                "The priors of all conditions must be given, and sum to at most 1. Got "
                f"{len(cells.prior)} for {len(listed)} conditions, with the sum "
                f"{1.0 - rest:g}{cells.source}. The rest is the share of "
                f"{NONE_OF_THEM!r}."
            )
        cells.prior[NONE_OF_THEM] = rest


KINDS = {"long": _read_long, "wide": _read_wide, "accuracy": _read_accuracy}


# The cases in a file of their own.


def read_cases(
    path: str | Path,
) -> tuple[list[str], list[Any] | None, list[Any] | None]:
    """Return names, weights and classes of the cases that a file lists."""
    path = Path(path)
    names, lines = read_lines(path)
    _check_header(("case",), names, path)
    cases: dict[str, None] = {}
    for line in lines:
        case = line.cells["case"]
        if not case or case in cases:
            raise InvalidTableError(
                f"Every case must be listed once. Got {case!r}{line.at('case')}. Name "
                "it, or remove the line."
            )
        cases[case] = None
    prior: dict[str, Any] = {}
    classes: dict[str, Any] = {}
    for case, line in zip(cases, lines, strict=True):
        _take_role(prior, case, line, "prior" if "prior" in names else None, "prior")
        _take_role(classes, case, line, "class" if "class" in names else None, "class")
    return (
        list(cases),
        list(prior.values()) or None,
        list(_parse_values(classes).values()) or None,
    )
