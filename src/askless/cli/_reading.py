"""What commands that read a policy or a table share: options, and columns with a role.

This module must not know what is done with what is read.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import click

from askless.problem import read_columns
from askless.problem._files import open_text

__all__ = ["edited_option", "find_role", "json_option", "policy_argument", "read_names"]

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

policy_argument: Decorator = click.argument(
    "policy", type=click.Path(path_type=Path, dir_okay=False)
)
edited_option: Decorator = click.option(
    "--edited",
    is_flag=True,
    help="Accept a policy file that was edited by hand.",
)
json_option: Decorator = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object and nothing else."
)

ROLES = {"prior": "weights", "case": "names"}


def read_names(path: Path) -> list[str]:
    """Return the names of the columns of a CSV or Parquet file.

    Of CSV only the first line is read.
    """
    if path.suffix.lower() in (".parquet", ".pq"):
        return list(read_columns(path))
    with open_text(path) as file:
        return [name.strip() for name in next(csv.reader(file), [])]


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
