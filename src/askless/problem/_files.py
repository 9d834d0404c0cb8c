"""Read columns from CSV, gzipped CSV and Parquet files.

Only the standard library is needed for CSV. This module must not know which column is
a test and which the class.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from askless.exceptions import DataFileError, InvalidTableError, MissingExtraError
from askless.problem._column import EXACT_WHOLE, Column, clean_column
from askless.problem._frames import Columns, clean_columns

__all__ = [
    "load_columns",
    "open_text",
    "parse_cells",
    "read_columns",
    "read_names",
    "read_rows",
]


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


def read_columns(path: str | Path, *, unknown: Any = None) -> dict[str, Column]:
    r"""Read a file of rows into columns.

    Parameters
    ----------
    path : str or Path
        A CSV file (``.csv``, ``.csv.gz``, or anything else that is text) with names in
        the first line, or a Parquet file (``.parquet``; needs pyarrow or polars).
    unknown : object, optional
        A text in a CSV file that stands for an unknown outcome, such as ``"?"``. It
        stays in the column, but does not make text of the numbers around it.

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
    return dict(load_columns(path, unknown=unknown))


def load_columns(path: str | Path, *, unknown: Any = None) -> Columns:
    """Do what :func:`read_columns` does, and keep in mind that columns are clean."""
    path = Path(path)
    if path.suffix.lower() in (".parquet", ".pq"):
        return _read_parquet(path)
    names, rows = read_rows(path)
    columns = zip(*(cells for _, cells in rows), strict=True)
    # What is parsed here is clean: numbers, or text with None for empty cells.
    return Columns(
        (name, parse_cells([cell.strip() for cell in cells], unknown))
        for name, cells in zip(names, columns, strict=True)
    )


def read_names(path: Path) -> list[str]:
    """Return the names of the columns of a CSV or Parquet file.

    Of CSV only the first line is read.
    """
    if path.suffix.lower() in (".parquet", ".pq"):
        return list(load_columns(path))
    with open_text(path) as file:
        return [name.strip() for name in next(csv.reader(file), [])]


def read_rows(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return the names in the first line of a CSV file, and each line with its number.

    Every line has a cell for each name. Empty lines are left out.
    """
    with open_text(path) as file:
        reader = csv.reader(file)
        names = [name.strip() for name in next(reader, [])]
        _check_names(names, path)
        rows = []
        for row in reader:
            if not row:
                continue
            if len(row) != len(names):
                raise DataFileError(
                    f"Every line must have {len(names)} cells, as the first one has. "
                    f"Got {len(row)} in line {reader.line_num} of {path}. Quote cells "
                    "that contain commas, and check for a line cut short."
                )
            rows.append((reader.line_num, row))
    if not rows:
        raise DataFileError(
            f"A CSV file must have lines below its names. Got none in {path}. Add a "
            "line for each case, or for each test of a file of costs."
        )
    return names, rows


def _check_names(names: list[str], path: Path) -> None:
    if not any(names):
        raise DataFileError(
            f"A CSV file must have names in its first line. Got an empty line in "
            f"{path}. Add a line of names and a line for each case."
        )
    if "" in names:
        raise DataFileError(
            "Every column must have a name. Got none for column "
            f"{names.index('') + 1} in the first line of {path}. Name it or remove it."
        )
    if len(names) == 1 and (";" in names[0] or "\t" in names[0]):
        raise DataFileError(
            f"The cells of a CSV file must be separated by commas. Got {names[0]!r} as "
            f"the first line of {path}. Save the file with commas."
        )
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise DataFileError(
                f"Columns must have different names. Got {name!r} twice in the first "
                f"line of {path}. Rename one of them."
            )
        seen.add(name)


def parse_cells(cells: Sequence[str], unknown: Any = None) -> Column:
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
