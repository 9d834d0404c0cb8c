"""What commands that read data share: columns with a role, empty cells, warnings.

This module must not know what is done with what is read.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from askless.exceptions import AsklessWarning, InvalidTableError, suggest_name
from askless.problem._column import is_missing
from askless.problem._files import FileColumns, load_columns, read_names
from askless.problem._outcomes import blank_marked, find_marked

__all__ = ["check_roles", "collect_notes", "read_data", "read_names", "read_weights"]


def read_data(path: Path, unknown: str | None = None, **written: Any) -> FileColumns:
    r"""Return the columns of a CSV or Parquet file, or of a workbook.

    Parameters
    ----------
    path : Path
        The file.
    unknown : str, optional
        A text that is read as an empty cell.
    **written
        How a CSV file is written: ``separator`` and ``decimal``.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp(), "t.csv")
    >>> _ = path.write_text("volts\n12\n?\n")
    >>> read_data(path, "?")
    {'volts': array([12., nan])}
    """
    columns = load_columns(path, unknown=unknown, **written)
    for name, column in columns.items():
        columns[name] = blank_marked(column, find_marked(column, unknown), name)
    return columns


def read_weights(columns: FileColumns, name: str | None, path: Path) -> Any:
    """Return a column of weights as numbers, or None for none; say which line is wrong.

    Parameters
    ----------
    columns : FileColumns
        All columns.
    name : str or None
        The column of weights.
    path : Path
        The file, for messages.
    """
    if name is None:
        return None
    for row, value in enumerate(columns[name].tolist()):
        if not 0 <= _as_number(value) < math.inf:
            got = "an empty cell" if is_missing(value) else repr(value)
            raise InvalidTableError(
                f"Weights must be numbers >= 0. Got {got} in {columns.where(row)} of "
                f"{path}, column {name!r}. Write a number; 0 for what cannot occur."
            )
    return np.asarray(columns[name], dtype=float)


def _as_number(value: Any) -> float:
    """Return a value as a number; one cell of text makes text of a whole column."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan


def check_roles(columns: Collection[str], path: Path, **roles: str | None) -> None:
    """Refuse a column for a role, such as the target, that the file does not have."""
    for role, name in roles.items():
        if name is not None and name not in columns:
            raise InvalidTableError(
                f"The {role} must be a column of the data. Got {name!r}, which is not "
                f"in {path}. {suggest_name(name, columns)}Name a column of the file."
            )


@contextmanager
def collect_notes(notes: list[str]) -> Iterator[None]:
    """Add what the library warns of inside to the notes, each warning once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", AsklessWarning)
        yield
    notes += dict.fromkeys(str(warning.message) for warning in caught)
