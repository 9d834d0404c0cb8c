"""What commands that read data share: columns with a role, empty cells, warnings.

This module must not know what is done with what is read.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from askless.exceptions import AsklessWarning, InvalidTableError, suggest_name
from askless.problem._files import load_columns, read_names
from askless.problem._frames import Columns
from askless.problem._outcomes import blank_marked, find_marked

__all__ = ["check_roles", "collect_notes", "find_role", "read_data", "read_names"]

ROLES = {"prior": "weights", "case": "names"}


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


def find_role(
    role: str,
    chosen: str | None,
    names: Collection[str],
    taken: Collection[str],
    notes: list[str],
) -> str | None:
    """Return the column that holds the weights or the names of the cases.

    Parameters
    ----------
    role : {"prior", "case"}
        Which of the two; a column of this name is taken unless another one is chosen.
    chosen : str or None
        What the user asked for; an empty text asks for none.
    names, taken : collection of str
        All columns, and those that have another role already.
    notes : list of str
        Gets a note if a column was taken without being asked for.

    Examples
    --------
    >>> notes = []
    >>> find_role("prior", None, ["lamp", "prior"], ["lamp"], notes)
    'prior'
    >>> notes
    ["Column 'prior' gives the weights of cases; --prior '' makes it a test."]
    """
    if chosen is not None:
        return chosen or None
    if role not in names or role in taken:
        return None
    notes.append(
        f"Column {role!r} gives the {ROLES[role]} of cases; --{role} '' makes it a "
        "test."
    )
    return role


@contextmanager
def collect_notes(notes: list[str]) -> Iterator[None]:
    """Add what the library warns of inside to the notes, each warning once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", AsklessWarning)
        yield
    notes += dict.fromkeys(str(warning.message) for warning in caught)
