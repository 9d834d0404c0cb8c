"""Read a spreadsheet into cells of text: CSV with any separator, or a workbook.

Blank rows and columns are left out, and every row remembers its line. It must not know
what a cell stands for.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any, TextIO

from askless.exceptions import DataFileError
from askless.problem.sheets._dialect import (
    MOST_LINES,
    SEPARATORS,
    Dialect,
    find_decimal,
    find_dialect,
    to_point,
)
from askless.problem.sheets._workbook import SUFFIXES, read_workbook

__all__ = [
    "Sheet",
    "open_csv",
    "open_text",
    "read_batches",
    "read_names",
    "read_sheet",
]


@dataclass(frozen=True)
class Sheet:
    """The cells of a spreadsheet, as text without space around it.

    Attributes
    ----------
    path : Path
    names : list of str
        What the columns are called, in the first row.
    rows : list of list of str
        A cell for each name.
    lines : list of int
        The line, or the row of a workbook, that each row was in; the names are in 1.
    remarks : list of str
        What was found out, and what was left out.
    """

    path: Path
    names: list[str]
    rows: list[list[str]]
    lines: list[int]
    remarks: list[str] = field(default_factory=list)

    def columns(self) -> Iterator[tuple[str, ...]]:
        """Yield the cells of each column."""
        yield from zip(*self.rows, strict=True)


@contextmanager
def open_text(path: Path) -> Iterator[TextIO]:
    """Open a text file, gzipped or not, and turn what goes wrong into clear words."""
    open_bytes: Any = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with (
            open_bytes(path, "rb") as raw,
            io.TextIOWrapper(raw, encoding="utf-8-sig", newline="") as text,
        ):
            yield text
    except UnicodeDecodeError as error:
        raise DataFileError(
            "A text file must be encoded in UTF-8. Got the byte "
            f"0x{error.object[error.start]:02x} in {path}. Save the file as UTF-8 and "
            "try again."
        ) from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataFileError(
            f"A .gz file must be whole. Got: {error} in {path}. Fetch or pack it again."
        ) from error
    except csv.Error as error:
        raise DataFileError(
            f"A CSV file must be readable as text. Got: {error} in {path}. Check that "
            "it is a CSV file."
        ) from error
    except OSError as error:
        raise DataFileError(
            f"The file must be there and readable. Got: {error.strerror or error} for "
            f"{path}. Check the path."
        ) from error


@contextmanager
def open_csv(
    path: Path, *, separator: str | None = None, decimal: str | None = None
) -> Iterator[tuple[Dialect, Iterator[tuple[int, list[str]]]]]:
    """Open a CSV file; give its dialect, and its rows, each with its line.

    The first row are the names. Rows without any text are left out.
    """
    with open_text(path) as file:
        beginning = list(islice(file, MOST_LINES))
        dialect = find_dialect(beginning, separator=separator, decimal=decimal)
        reader = csv.reader(chain(beginning, file), delimiter=dialect.separator)
        yield dialect, _number_lines(reader)


def _number_lines(reader: Any) -> Iterator[tuple[int, list[str]]]:
    for row in reader:
        yield reader.line_num, row


def read_names(path: Path, *, separator: str | None = None) -> list[str]:
    """Return the names of the columns; of CSV only the first lines are read.

    Columns without a name, which must be blank, are left out.
    """
    if path.suffix.lower() in SUFFIXES:
        return read_sheet(path).names
    with open_csv(path, separator=separator) as (_, rows):
        first = next(rows, (1, []))[1]
    return [name for name in map(str.strip, first) if name]


def read_sheet(
    path: Path, *, separator: str | None = None, decimal: str | None = None
) -> Sheet:
    r"""Read a CSV file or the first sheet of a workbook.

    Parameters
    ----------
    path : Path
        The file: .xlsx, .ods and the like, or text, gzipped or not.
    separator, decimal
        Of text; see :func:`find_dialect`.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp(), "lamp.csv")
    >>> _ = path.write_text("lamp;volts\ndim;3,5\n;\n")
    >>> sheet = read_sheet(path)
    >>> sheet.names, sheet.rows, sheet.lines
    (['lamp', 'volts'], [['dim', '3.5']], [2])
    """
    if path.suffix.lower() in SUFFIXES:
        cells, remarks = read_workbook(path)
        rows = list(enumerate(cells, 1))
        return _make_sheet(path, rows, Dialect(decimal="."), remarks, is_csv=False)
    with open_csv(path, separator=separator, decimal=decimal) as (dialect, read):
        rows = list(read)
    remarks = []
    if separator is None and dialect.separator != ",":
        remarks.append(
            f"The cells of {path} are separated by {SEPARATORS[dialect.separator]}; "
            "separator=',' reads it with commas."
        )
    return _make_sheet(path, rows, dialect, remarks, is_csv=True)


def read_batches(
    path: Path,
    size: int,
    *,
    separator: str | None = None,
    decimal: str | None = None,
) -> Iterator[Sheet]:
    """Yield a file in parts of so many rows; a workbook is one part.

    What fractions begin with is found out from the first part.
    """
    if path.suffix.lower() in SUFFIXES:
        yield read_sheet(path)
        return
    with open_csv(path, separator=separator, decimal=decimal) as (dialect, rows):
        header = list(islice(rows, 1))
        is_first = True
        while part := list(islice(rows, size)):
            if any(any(map(str.strip, cells)) for _, cells in part):
                sheet = _make_sheet(path, header + part, dialect, [], is_csv=True)
                if dialect.decimal is None:
                    found = _read_decimals([cells for _, cells in part], dialect)[1]
                    dialect = Dialect(dialect.separator, found)
                yield sheet
                is_first = False
        if is_first:
            # Says what is wrong with a file without any row.
            _make_sheet(path, header, dialect, [], is_csv=True)


def _make_sheet(
    path: Path,
    rows: list[tuple[int, list[str]]],
    dialect: Dialect,
    remarks: list[str],
    *,
    is_csv: bool,
) -> Sheet:
    names = [name.strip() for name in rows[0][1]] if rows else []
    body = [(line, list(map(str.strip, cells))) for line, cells in rows[1:]]
    kept = [(line, cells) for line, cells in body if any(cells)]
    # A line without any cell at all is the end of most files.
    blank = [line for line, cells in body if cells and not any(cells)]
    names, kept = _drop_blank_columns(names, kept)
    _check_names(names, path)
    _check_sizes(names, kept, path, dialect, is_csv=is_csv)
    if not kept:
        raise DataFileError(
            f"A file of data must have lines below its names. Got none in {path}. Add "
            "a line for each case, or for each test of a file of costs."
        )
    if blank:
        last = f" to {blank[-1]}" if len(blank) > 1 else ""
        remarks.append(
            f"{len(blank)} blank row{'s' * (len(blank) > 1)} of {path} left out (line "
            f"{blank[0]}{last})."
        )
    cells, decimal = _read_decimals([row for _, row in kept], dialect)
    if decimal == "," and dialect.decimal is None:
        remarks.append(
            f"Fractions in {path} begin with a comma; decimal='.' keeps them as text."
        )
    return Sheet(path, names, cells, [line for line, _ in kept], remarks)


def _read_decimals(
    rows: list[list[str]], dialect: Dialect
) -> tuple[list[list[str]], str]:
    """Return rows in which fractions begin with a point, and what they began with."""
    decimal = dialect.decimal
    if decimal is None:
        decimal = find_decimal(list(zip(*rows, strict=True)))
    if decimal == ",":
        rows = [list(map(to_point, row)) for row in rows]
    return rows, decimal


def _drop_blank_columns(
    names: list[str], rows: list[tuple[int, list[str]]]
) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Leave out columns at the end that have neither a name nor a cell."""
    n = len(names)
    while n > 0 and not names[n - 1]:
        n -= 1
    if n in (0, len(names)) or any(any(cells[n:]) for _, cells in rows):
        return names, rows
    return names[:n], [(line, cells[:n]) for line, cells in rows]


def _check_names(names: Sequence[str], path: Path) -> None:
    if not any(names):
        raise DataFileError(
            f"A file of data must have names in its first line. Got an empty line in "
            f"{path}. Add a line of names and a line for each case."
        )
    if "" in names:
        raise DataFileError(
            "Every column must have a name. Got none for column "
            f"{list(names).index('') + 1} in the first line of {path}. Name it or "
            "remove it."
        )
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise DataFileError(
                f"Columns must have different names. Got {name!r} twice in the first "
                f"line of {path}. Rename one of them."
            )
        seen.add(name)


def _check_sizes(
    names: list[str],
    rows: list[tuple[int, list[str]]],
    path: Path,
    dialect: Dialect,
    *,
    is_csv: bool,
) -> None:
    for line, cells in rows:
        if len(cells) != len(names):
            between = SEPARATORS.get(dialect.separator, repr(dialect.separator))
            quote = (
                f"Quote cells that contain {between}, and check"
                if is_csv
                else ("Check")
            )
            raise DataFileError(
                f"Every line must have {len(names)} cells, as the first one has. Got "
                f"{len(cells)} in line {line} of {path}. {quote} for a line cut short."
            )
