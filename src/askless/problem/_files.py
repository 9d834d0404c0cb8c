"""Read columns from CSV, gzipped CSV and Parquet files, and from workbooks.

Only the standard library is needed for CSV. This module must not know which column is
a test and which the class.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from askless.exceptions import DataFileError, InvalidTableError, MissingExtraError
from askless.problem._column import EXACT_WHOLE, Column, clean_column
from askless.problem._frames import Columns, clean_columns
from askless.problem.sheets import Sheet, read_batches, read_sheet, remark_on_cells
from askless.problem.sheets import read_names as sheet_names

__all__ = [
    "PARQUET",
    "FileColumns",
    "load_batches",
    "load_columns",
    "parse_cells",
    "read_columns",
    "read_names",
]

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
    names : list of str
        What all columns of the file are called, those that were not read included.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.lines: list[int] | None = None
        self.remarks: list[str] = []
        self.odd: dict[str, list[str]] = {}
        self.names = list(self)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        if self.lines is not None:
            return len(self.lines)
        return len(next(iter(self.values()), ()))

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
    return _parse_sheet(sheet, unknown)


def read_names(path: Path, *, separator: str | None = None) -> list[str]:
    """Return the names of the columns of a file.

    Of CSV only the first lines are read, of Parquet only what the file says of itself.
    """
    if path.suffix.lower() in PARQUET:
        return _parquet_names(path)
    return sheet_names(path, separator=separator)


def load_batches(
    path: str | Path,
    size: int,
    *,
    unknown: Any = None,
    separator: str | None = None,
    decimal: str | None = None,
    only: Collection[str] | None = None,
    as_text: Collection[str] = (),
) -> Iterator[FileColumns]:
    """Yield columns of a file in parts of so many rows; see :func:`load_columns`.

    All columns, or only some of them; ``names`` of a part has the others too. Of a
    column that mixes numbers and text, one part may be numbers and another text,
    unless it is among those to be read as text.
    """
    path = Path(path)
    if path.suffix.lower() in PARQUET:
        yield from _read_parquet_batches(path, size, only)
        return
    for sheet in read_batches(path, size, separator=separator, decimal=decimal):
        yield _parse_sheet(sheet, unknown, only, as_text)


def _parse_sheet(
    sheet: Sheet,
    unknown: Any,
    only: Collection[str] | None = None,
    as_text: Collection[str] = (),
) -> FileColumns:
    # What is parsed here is clean: numbers, or text with None for empty cells.
    columns = FileColumns()
    columns.lines, columns.remarks = sheet.lines, list(sheet.remarks)
    columns.names = sheet.names
    for name, cells in zip(sheet.names, sheet.columns(), strict=True):
        if only is not None and name not in only:
            continue
        parse = _as_text if name in as_text else parse_cells
        columns[name] = parse(cells, unknown)
        if columns[name].dtype == object:
            columns.odd[name] = remark_on_cells(name, cells, sheet.lines, unknown)
    return columns


def parse_cells(cells: Sequence[str], unknown: Any = None) -> Column:
    """Return cells as whole numbers, as numbers, or as text; empty ones are missing."""
    if unknown not in cells:
        return _narrowest(cells)
    known = _narrowest(["" if cell == unknown else cell for cell in cells])
    column = known.astype(object)
    column[[cell == "" for cell in cells]] = None
    column[[cell == unknown for cell in cells]] = unknown
    return column


def _as_text(cells: Sequence[str], unknown: Any = None) -> Column:
    """Return cells as text; empty ones are missing."""
    text = np.empty(len(cells), dtype=object)
    text[:] = [cell or None for cell in cells]
    return text


def _narrowest(cells: Sequence[str]) -> Column:
    text = _as_text(cells)
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


def _read_parquet_batches(
    path: Path, size: int, only: Collection[str] | None
) -> Iterator[FileColumns]:
    try:
        from pyarrow import ArrowException, Table, parquet
    except ImportError:
        yield FileColumns(_read_parquet(path))
        return
    if not path.is_file():
        _read_parquet(path)
    try:
        with parquet.ParquetFile(path) as file:
            names = file.schema_arrow.names
            read = names if only is None else [name for name in names if name in only]
            # Without a column there would be no rows.
            for batch in file.iter_batches(size, columns=read or names[:1]):
                columns = FileColumns(clean_columns(Table.from_batches([batch])))
                columns.names = names
                yield columns
    except (ArrowException, OSError) as error:
        raise _broken_parquet(error, path) from error


def _parquet_names(path: Path) -> list[str]:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        return list(load_columns(path))
    try:
        return list(parquet.read_schema(path).names)
    except (ArrowException, OSError) as error:
        raise _broken_parquet(error, path) from error


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
