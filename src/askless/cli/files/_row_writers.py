"""Write rows of columns to CSV or Parquet, part by part.

It must not know what the rows are.
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import click

from askless._text import escape_unprintable
from askless.exceptions import DataFileError, MissingExtraError
from askless.problem._column import is_missing
from askless.problem._files import PARQUET

__all__ = ["Part", "RowWriter", "check_output", "make_writer"]

# Columns by name, each with a value for every row: lists, or arrays of Arrow.
Part = Mapping[str, Any]


class RowWriter(Protocol):
    """Takes in rows, part by part."""

    def write(self, part: Part) -> None:
        """Write some rows; the first part says which columns there are."""

    def close(self) -> None:
        """Write what belongs to the end."""


def check_output(path: Path | None) -> None:
    """Refuse a name that does not say how the rows are to be written."""
    if path is not None and path.suffix.lower() not in (".csv", *PARQUET):
        raise click.UsageError(
            f"-o must end in .csv or .parquet, not {path.suffix or 'nothing'!r}."
        )


def make_writer(path: Path | None, file: BinaryIO) -> RowWriter:
    """Return what writes to a file as its name says; without one, CSV."""
    if path is not None and path.suffix.lower() in PARQUET:
        return _ParquetWriter(file)
    return _CsvWriter(file, is_seen=path is None and _is_terminal())


def _is_terminal() -> bool:
    return sys.stdout.isatty()


class _CsvWriter:
    def __init__(self, file: BinaryIO, *, is_seen: bool) -> None:
        self._file = file
        # A terminal must not obey what is in a cell; a file gets it as it is.
        self._show = _make_safe if is_seen else _blank_missing
        self._is_begun = False

    def write(self, part: Part) -> None:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        if not self._is_begun:
            writer.writerow(map(self._show, part))
            self._is_begun = True
        listed = [_as_list(column) for column in part.values()]
        shown = [map(self._show, column) for column in listed]
        writer.writerows(zip(*shown, strict=True))
        # What is half of a surrogate pair has no bytes in UTF-8.
        self._file.write(text.getvalue().encode("utf-8", errors="replace"))

    def close(self) -> None:
        self._file.flush()


def _as_list(column: Any) -> list[Any]:
    return column.to_pylist() if hasattr(column, "to_pylist") else list(column)


def _blank_missing(value: Any) -> Any:
    return "" if is_missing(value) else value


def _make_safe(value: Any) -> Any:
    return (
        escape_unprintable(value) if isinstance(value, str) else _blank_missing(value)
    )


class _ParquetWriter:
    def __init__(self, file: BinaryIO) -> None:
        try:
            import pyarrow
            from pyarrow import parquet
        except ImportError as error:
            raise MissingExtraError(
                "Writing Parquet needs pyarrow. Got none. Run: pip install "
                "'askless[parquet]', or write to a .csv file."
            ) from error
        self._arrow, self._parquet = pyarrow, parquet
        self._file = file
        self._writer: Any = None

    def write(self, part: Part) -> None:
        if all(isinstance(column, self._arrow.Array) for column in part.values()):
            self._write_table(self._arrow.table(dict(part)))
            return
        columns = {name: _as_list(column) for name, column in part.items()}
        if self._writer is None:
            table = self._arrow.table(
                {name: self._as_array(values) for name, values in columns.items()}
            )
        else:
            # A column that was text stays so, and one of whole numbers may not.
            schema = self._writer.schema
            try:
                arrays = [self._as_array(columns[f.name], f.type) for f in schema]
            except self._arrow.ArrowException as error:
                raise DataFileError(
                    "A column of a Parquet file must hold one kind of value. Got "
                    f"another one below: {error}. Write to a .csv file."
                ) from error
            table = self._arrow.Table.from_arrays(arrays, schema=schema)
        self._write_table(table)

    def _write_table(self, table: Any) -> None:
        if self._writer is None:
            self._writer = self._parquet.ParquetWriter(self._file, table.schema)
        self._writer.write_table(table)

    def _as_array(self, values: list[Any], kind: Any = None) -> Any:
        arrow = self._arrow
        plain = [None if is_missing(value) else value for value in values]
        kinds = {type(value) for value in plain if value is not None}
        if kind is not None and arrow.types.is_string(kind) and kinds != {str}:
            plain = [None if value is None else str(value) for value in plain]
        if kind is None and len(kinds) > 1 and kinds != {int, float}:
            plain = [None if value is None else str(value) for value in plain]
        if kind is None and kinds <= {int, float} and kinds:
            # Whole numbers here may be followed by others.
            kind = arrow.float64() if float in kinds else arrow.int64()
        return arrow.array(plain, type=kind or (None if kinds else arrow.string()))

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
