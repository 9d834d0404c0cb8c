"""Names in a query: none that it adds may be taken for a column of the table.

What is known when the query is written, the columns that it reads and keeps, is looked
at here. The other columns of the table are known to the engine alone, so the query asks
it to look. This module does not know policies.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

from askless.exceptions import InvalidOptionError
from askless.export.code._dialects import Dialect

__all__ = ["ADDED", "check_added", "choose_prefix", "collision_check"]

# What the names of all columns in the result begin with that a query adds.
ADDED = "askless_"


def choose_prefix(known: Iterable[str]) -> str:
    """Return a beginning for the names of helpers that no known name has.

    Engines do not tell capitals from small letters.

    Examples
    --------
    >>> choose_prefix(["id", "lamp"]), choose_prefix(["id", "ASKLESS_0"])
    ('askless_', 'askless_2_')
    """
    folded = [name.casefold() for name in known]
    prefixes = (ADDED if n == 1 else f"{ADDED}{n}_" for n in count(1))
    return next(p for p in prefixes if not any(name.startswith(p) for name in folded))


def check_added(added: Iterable[str], kept: Iterable[str]) -> None:
    """Refuse columns that are kept and called like one that the query adds."""
    folded = {name.casefold() for name in added}
    for name in kept:
        if name.casefold() in folded:
            raise InvalidOptionError(
                "A column that is kept must not be called like one that the query "
                f"adds. Got {name!r}. Keep other columns by key, or rename it in the "
                "table."
            )


def collision_check(
    dialect: Dialect, source: str, prefix: str, names: Iterable[str]
) -> str:
    """Return a query without rows that fails if the table has one of the names.

    A name is ambiguous if two tables have it, and every engine refuses to guess.

    Examples
    --------
    >>> from askless.export.code._dialects import DIALECTS
    >>> print(collision_check(DIALECTS["duckdb"], '"cases"', "askless_", ["askless_0"]))
      -- An ambiguous name here is a column of the table. Keep others only, by key.
      SELECT askless_0
      FROM "cases" AS askless_source
      CROSS JOIN (SELECT 0 AS askless_0) AS askless_added
      WHERE 1 = 0
    """
    listed = list(names)
    zeros = ", ".join(f"0 AS {name}" for name in listed)
    return (
        "  -- An ambiguous name here is a column of the table. Keep others only, by "
        f"key.\n  SELECT {', '.join(listed)}\n  FROM {source} AS {prefix}source\n"
        f"  CROSS JOIN (SELECT {zeros}) AS {prefix}added\n  WHERE 1 = 0"
    )
