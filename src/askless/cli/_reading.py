"""What commands that read data share: columns with a role, empty cells, warnings.

This module must not know what is done with what is read.
"""

from __future__ import annotations

import csv
import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from askless.exceptions import AsklessWarning, InvalidTableError, suggest_name
from askless.problem._files import load_columns, open_text
from askless.problem._frames import Columns
from askless.problem._outcomes import blank_marked, find_marked
from askless.problem._roles import WHAT, Roles

__all__ = ["check_roles", "collect_notes", "read_data", "read_names", "tell_roles"]


def read_names(path: Path) -> list[str]:
    """Return the names of the columns of a CSV or Parquet file.

    Of CSV only the first line is read.
    """
    if path.suffix.lower() in (".parquet", ".pq"):
        return list(load_columns(path))
    with open_text(path) as file:
        return [name.strip() for name in next(csv.reader(file), [])]


def read_data(path: Path, unknown: str | None = None) -> Columns:
    r"""Return the columns of a CSV or Parquet file.

    Parameters
    ----------
    path : Path
        The file.
    unknown : str, optional
        A text that is read as an empty cell.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp(), "t.csv")
    >>> _ = path.write_text("volts\n12\n?\n")
    >>> read_data(path, "?")
    {'volts': array([12., nan])}
    """
    columns = load_columns(path, unknown=unknown)
    for name, column in columns.items():
        columns[name] = blank_marked(column, find_marked(column, unknown), name)
    return columns


def check_roles(columns: Collection[str], path: Path, **roles: str | None) -> None:
    """Refuse a column for a role, such as the target, that the file does not have."""
    for role, name in roles.items():
        if name is not None and name not in columns:
            raise InvalidTableError(
                f"The {role} must be a column of the data. Got {name!r}, which is not "
                f"in {path}. {suggest_name(name, columns)}Name a column of the file."
            )


def tell_roles(roles: Roles) -> list[str]:
    """Return a note for each column whose role was found out and not asked for.

    Examples
    --------
    >>> from askless.problem._roles import find_roles
    >>> tell_roles(find_roles(["lamp", "prior"]))
    ["Column 'prior' gives the weights of cases; --prior '' makes it a test."]
    """
    notes = []
    for column, role in roles.found.items():
        if role == "drop":
            notes.append(f"Column {column!r} is no test; --drop '' makes it one.")
        else:
            notes.append(
                f"Column {column!r} gives {WHAT[role]}; --{role} '' makes it a test."
            )
    return notes


@contextmanager
def collect_notes(notes: list[str]) -> Iterator[None]:
    """Add what the library warns of inside to the notes, each warning once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", AsklessWarning)
        yield
    notes += dict.fromkeys(str(warning.message) for warning in caught)
