"""Find out what the columns of a file are for: weights, names, remarks, or tests.

One rule for the library and for the command line. It looks at names only, and must not
know what is in the columns.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

__all__ = ["Roles", "find_roles", "note_roles"]

# Columns of these names hold what people write to each other, and no outcomes.
REMARKS = frozenset({"note", "notes", "remark", "remarks", "comment", "comments"})
WHAT = {"prior": "the weights of cases", "case": "the names of cases"}


class Roles(NamedTuple):
    """What the columns are for that are no tests.

    Attributes
    ----------
    prior, case : str or None
        The columns of weights and of names.
    drop : tuple of str
        The columns that are left out.
    found : dict of str to str
        The columns whose role was found out and not asked for: "prior", "case" or
        "drop" by the name of the column.
    """

    prior: str | None
    case: str | None
    drop: tuple[str, ...]
    found: dict[str, str]


def find_roles(
    names: Sequence[str],
    *,
    prior: str | None = None,
    case: str | None = None,
    drop: Iterable[str] | None = None,
    taken: Collection[str] = (),
) -> Roles:
    """Return what columns are for.

    Parameters
    ----------
    names : sequence of str
        All columns.
    prior, case : str, optional
        Which column holds the weights, and the names, of the cases. A column that is
        called so by default, in whatever case of letters; an empty text for none.
    drop : iterable of str, optional
        Columns that are no tests. By default those that are called notes, remarks or
        comments; an empty list for none.
    taken : collection of str, default=()
        Columns that have a role already: the target, and what has a cost.

    Examples
    --------
    >>> find_roles(["case", "lamp", "Prior", "notes"], taken=["lamp"])._asdict()
    {'prior': 'Prior', 'case': 'case', 'drop': ('notes',), 'found': {'Prior': 'prior', \
'case': 'case', 'notes': 'drop'}}
    """
    given = None if drop is None else tuple(drop)
    closed = {*taken, *(given or ())}
    found: dict[str, str] = {}
    chosen: dict[str, str | None] = {}
    for role, asked in (("prior", prior), ("case", case)):
        if asked is not None:
            chosen[role] = asked or None
            continue
        chosen[role] = _called(role, names, closed)
        if (column := chosen[role]) is not None:
            found[column] = role
    if given is None:
        used = {*closed, *chosen.values()}
        given = tuple(n for n in names if n.casefold() in REMARKS and n not in used)
        found |= dict.fromkeys(given, "drop")
    return Roles(chosen["prior"], chosen["case"], given, found)


def _called(role: str, names: Sequence[str], closed: Collection[str]) -> str | None:
    """Return the one column that is called like a role, if it is free."""
    called = [name for name in names if name == role and name not in closed]
    called = called or [
        name for name in names if name.casefold() == role and name not in closed
    ]
    return called[0] if len(called) == 1 else None


def note_roles(roles: Roles) -> list[str]:
    """Return a remark for each column whose role was found out, in Python's words.

    Examples
    --------
    >>> note_roles(find_roles(["lamp", "prior"]))
    ["Column 'prior' gives the weights of cases; prior='' makes it a test."]
    """
    notes = []
    for column, role in roles.found.items():
        if role == "drop":
            notes.append(f"Column {column!r} is no test; drop=[] makes it one.")
        else:
            notes.append(
                f"Column {column!r} gives {WHAT[role]}; {role}='' makes it a test."
            )
    return notes
