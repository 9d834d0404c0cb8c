"""Read columns from CSV, gzipped CSV and Parquet files, and from workbooks.

Only the standard library is needed for CSV. This module must not know which column is
a test and which the class.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from askless.exceptions import DataFileError, InvalidTableError, MissingExtraError
from askless.problem._column import EXACT_WHOLE, Column, clean_column
from askless.problem._frames import Columns, clean_columns
from askless.problem.sheets import read_sheet, remark_on_cells

__all__ = ["PARQUET", "FileColumns", "load_columns", "read_columns"]

PARQUET = (".parquet", ".pq")


class FileColumns(Columns):
    """The columns of a file, with the line of each row and remarks on what was read.

    Attributes
    ----------
    lines : list of int or None
        None for a file that has no lines.
    remarks : list of str
        What was found out about the file.
    odd : dict of str to list of str
        What is odd in a column.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.lines: list[int] | None = None
        self.remarks: list[str] = []
        self.odd: dict[str, list[str]] = {}

    def all_remarks(self, names: Collection[str]) -> list[str]:
        """Return what was found out, and what is odd in some columns."""
        odd = [text for name in names for text in self.odd.get(name, [])]
        return [*self.remarks, *odd]

    def where(self, row: int) -> str:
        """Return a text that says where a row is, counted from 0."""
        return f"row {row + 1}" if self.lines is None else f"line {self.lines[row]}"


def read_columns(
    path: str | Path,
    *,
    unknown: Any = None,
    separator: str | None = None,
    decimal: str | None = None,
) -> dict[str, Column]:
    r"""Read a file of rows into columns.

    Parameters
    ----------
    path : str or Path
        A CSV file (``.csv``, ``.csv.gz``, or anything else that is text) with names in
        the first line, a Parquet file (``.parquet``; needs pyarrow or polars), or a
        workbook (``.xlsx``, ``.ods``; needs python-calamine), of which the first sheet
        is read.
    unknown : object, optional
        A text in a CSV file that stands for an unknown outcome, such as ``"?"``. It
        stays in the column, but does not make text of the numbers around it.
    separator : str, optional
        What stands between the cells of a CSV file: ``","``, ``";"``, ``"tab"`` ...;
        found out by default.
    decimal : {".", ","}, optional
        What fractions in a CSV file begin with; found out by default.

    Returns
    -------
    dict of str to ndarray
        Columns in order: int64, float64 with NaN for empty cells, or object with None.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp(), "cars.csv")
    >>> _ = path.write_text("lights,volts\non,12.5\noff,\n")
    >>> read_columns(path)
    {'lights': array(['on', 'off'], dtype=object), 'volts': array([12.5,  nan])}
    """
    return dict(
        load_columns(path, unknown=unknown, separator=separator, decimal=decimal)
    )


def load_columns(
    path: str | Path,
    *,
    unknown: Any = None,
    separator: str | None = None,
    decimal: str | None = None,
) -> FileColumns:
    """Do what :func:`read_columns` does, and keep in mind that columns are clean."""
    path = Path(path)
    if path.suffix.lower() in PARQUET:
        return FileColumns(_read_parquet(path))
    sheet = read_sheet(path, separator=separator, decimal=decimal)
    # What is parsed here is clean: numbers, or text with None for empty cells.
    columns = FileColumns()
    columns.lines, columns.remarks = sheet.lines, list(sheet.remarks)
    for name, cells in zip(sheet.names, sheet.columns(), strict=True):
        columns[name] = _parse_cells(cells, unknown)
        if columns[name].dtype == object:
            columns.odd[name] = remark_on_cells(name, cells, sheet.lines, unknown)
    return columns


def _parse_cells(cells: Sequence[str], unknown: Any) -> Column:
    """Return cells as whole numbers, as numbers, or as text; empty ones are missing."""
    if unknown not in cells:
        return _narrowest(cells)
    known = _narrowest(["" if cell == unknown else cell for cell in cells])
    column = known.astype(object)
    column[[cell == "" for cell in cells]] = None
    column[[cell == unknown for cell in cells]] = unknown
    return column


def _narrowest(cells: Sequence[str]) -> Column:
    text = np.empty(len(cells), dtype=object)
    text[:] = [cell or None for cell in cells]
    if any("_" in cell for cell in cells):
        # Python reads 1_2 as 12, which would make one outcome of two names.
        return text
    try:
        return np.array(cells, dtype=object).astype(np.int64)
    except OverflowError:
        # Names made of many digits, which as floats would become one.
        return text
    except ValueError:
        pass
    try:
        floats = np.array([cell or "nan" for cell in cells], dtype=object).astype(
            np.float64
        )
    except ValueError:
        return text
    # "nan" and "inf" written out are read as text unless the rest is numbers too.
    if np.all(np.isnan(floats)):
        return text
    if np.nanmax(np.abs(floats)) < EXACT_WHOLE:
        return floats
    try:
        return clean_column([_exact_number(cell) for cell in cells])
    except InvalidTableError:
        return text


def _exact_number(cell: str) -> int | float | None:
    """Return a number with every digit that is written."""
    if not cell:
        return None
    try:
        return int(cell)
    except ValueError:
        return float(cell)


def _read_parquet(path: Path) -> Columns:
    if not path.is_file():
        got = "a directory" if path.is_dir() else "no file"
        raise DataFileError(
            f"The file must be there and readable. Got {got} at {path}. Check the path."
        )
    for read in (_parquet_by_pyarrow, _parquet_by_polars):
        try:
            return clean_columns(read(path))
        except ImportError:
            continue
    raise MissingExtraError(
        "Reading Parquet needs pyarrow or polars. Got neither. Run: pip install "
        "'askless[parquet]'"
    )


def _parquet_by_pyarrow(path: Path) -> object:
    from pyarrow import ArrowException, parquet

    try:
        return parquet.read_table(path)
    except (ArrowException, OSError) as error:
        raise _broken_parquet(error, path) from error


def _parquet_by_polars(path: Path) -> object:
    import polars

    try:
        return polars.read_parquet(path)
    except (polars.exceptions.PolarsError, OSError) as error:
        raise _broken_parquet(error, path) from error


def _broken_parquet(error: Exception, path: Path) -> DataFileError:
    return DataFileError(
        f"A Parquet file must be whole. Got: {error} in {path}. Write it again."
    )
