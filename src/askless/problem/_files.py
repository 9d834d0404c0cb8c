"""Read columns from CSV, gzipped CSV and Parquet files.

Only the standard library is needed for CSV. This module must not know which column is
a test and which the class.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import numpy as np

from askless.exceptions import DataFileError, MissingExtraError
from askless.problem._frames import Column, as_columns

__all__ = ["open_text", "read_columns"]


@contextmanager
def open_text(path: Path) -> Iterator[TextIO]:
    """Open a text file, gzipped or not, and turn what goes wrong into clear words."""
    try:
        opened = gzip.open(path, "rb") if path.suffix == ".gz" else open(path, "rb")
        with opened as raw, io.TextIOWrapper(
            raw, encoding="utf-8-sig", newline=""  # type: ignore[arg-type]
        ) as text:
            yield text
    except UnicodeDecodeError as error:
        raise DataFileError(
            f"A text file must be encoded in UTF-8. Got the byte 0x{error.object[error.start]:02x} "
            f"in {path}. Save the file as UTF-8 and try again."
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


def read_columns(path: str | Path) -> dict[str, Column]:
    """Read a file of rows into columns.

    Parameters
    ----------
    path : str or Path
        A CSV file (``.csv``, ``.csv.gz``, or anything else that is text) with names in
        the first line, or a Parquet file (``.parquet``; needs pyarrow or polars).

    Returns
    -------
    dict of str to ndarray
        Columns in order: int64, float64 with NaN for empty cells, or object with None.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp(), "cars.csv")
    >>> _ = path.write_text("lights,volts\\non,12.5\\noff,\\n")
    >>> read_columns(path)
    {'lights': array(['on', 'off'], dtype=object), 'volts': array([12.5,  nan])}
    """
    path = Path(path)
    if path.suffix in (".parquet", ".pq"):
        return _read_parquet(path)
    return _read_csv(path)


def _read_csv(path: Path) -> dict[str, Column]:
    with open_text(path) as file:
        reader = csv.reader(file)
        header = next(reader, None)
        if not header or not any(name.strip() for name in header):
            raise DataFileError(
                f"A CSV file must have names in its first line. Got an empty file in "
                f"{path}. Add a line of names and a line for each case."
            )
        names = [name.strip() for name in header]
        repeated = [n for i, n in enumerate(names) if n in names[:i]]
        if repeated:
            raise DataFileError(
                f"Columns must have different names. Got {repeated[0]!r} twice in the "
                f"first line of {path}. Rename one of them."
            )
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
            rows.append(row)
    if not rows:
        raise DataFileError(
            "A CSV file must have a line for each case below its names. Got no line in "
            f"{path}. Add the cases."
        )
    return {
        name: _parse_cells(cells)
        for name, cells in zip(names, zip(*rows, strict=True), strict=True)
    }


def _parse_cells(cells: tuple[str, ...]) -> Column:
    """Return cells as whole numbers, as numbers, or as text; empty cells are missing."""
    try:
        return np.array(cells, dtype=object).astype(np.int64)
    except (ValueError, OverflowError):
        pass
    try:
        floats = np.array(
            [c if c.strip() else "nan" for c in cells], dtype=object
        ).astype(np.float64)
    except ValueError:
        floats = None
    # "nan" and "inf" written out are read as text unless the rest is numbers too.
    if floats is not None and not np.all(np.isnan(floats)):
        return floats
    text = np.empty(len(cells), dtype=object)
    text[:] = [c.strip() or None for c in cells]
    return text


def _read_parquet(path: Path) -> dict[str, Column]:
    if not path.exists():
        raise DataFileError(
            f"The file must be there and readable. Got no file {path}. Check the path."
        )
    for read in (_parquet_by_pyarrow, _parquet_by_polars):
        try:
            return as_columns(read(path))
        except ImportError:
            continue
        except (OSError, ValueError, RuntimeError) as error:
            raise DataFileError(
                f"A Parquet file must be whole. Got: {error} in {path}. Write it again."
            ) from error
    raise MissingExtraError(
        "Reading Parquet needs pyarrow or polars. Got neither. Run: pip install "
        "'askless[parquet]'"
    )


def _parquet_by_pyarrow(path: Path) -> object:
    import pyarrow.parquet

    return pyarrow.parquet.read_table(path)


def _parquet_by_polars(path: Path) -> object:
    import polars

    return polars.read_parquet(path)
