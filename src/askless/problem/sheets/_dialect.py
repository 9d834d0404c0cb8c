"""Find out how a text file separates its cells, and how it writes fractions.

It looks at the beginning of a file, or at columns of cells. It reads no file.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from askless.exceptions import InvalidOptionError

__all__ = [
    "SEPARATORS",
    "UNKNOWN",
    "Dialect",
    "find_decimal",
    "find_dialect",
    "to_point",
]

# What may stand between cells, with its name; the first one is the usual one.
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
# How they may be called where they are hard to type.
CALLED = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "bar": "|"}
# Lines that are looked at to find the separator.
MOST_LINES = 60
# What people write where they do not know.
UNKNOWN = frozenset(
    {"?", "??", "n/a", "na", "#n/a", "nan", "null", "-", "--", "–", "—", ".", "n.a."}
)

WITH_POINT = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
WITH_COMMA = re.compile(r"[+-]?(\d+,?\d*|,\d+)([eE][+-]?\d+)?")


@dataclass(frozen=True)
class Dialect:
    """How a text file is written.

    Attributes
    ----------
    separator : str
        What stands between cells.
    decimal : str or None
        What fractions begin with; None if that is still to be found out.
    """

    separator: str = ","
    decimal: str | None = None


def find_dialect(
    beginning: Sequence[str],
    *,
    separator: str | None = None,
    decimal: str | None = None,
) -> Dialect:
    """Return the dialect of a file.

    Parameters
    ----------
    beginning : sequence of str
        Its first lines.
    separator : str, optional
        What stands between cells, or what that is called: "tab". Found out by default:
        of those by which the first lines have the same number of cells, the one that
        makes most of them; commas on a tie.
    decimal : {".", ","}, optional
        What fractions begin with.

    Examples
    --------
    >>> find_dialect(["lamp;volts", "dim;3,5"])
    Dialect(separator=';', decimal=None)
    """
    if decimal not in (None, ".", ","):
        raise InvalidOptionError(
            f"decimal must be '.' or ','. Got {decimal!r}. Leave it out to have it "
            "found out."
        )
    if separator is not None:
        separator = CALLED.get(separator.lower(), separator)
        if len(separator) != 1 or separator.isalnum() or separator in "\"'\r\n.":
            raise InvalidOptionError(
                "separator must be one character that is no letter, digit, point or "
                f"quote. Got {separator!r}. Use for example ';' or 'tab'."
            )
    else:
        lines = list(islice(beginning, MOST_LINES))
        separator = max(SEPARATORS, key=lambda sign: _count_cells(lines, sign))
    # What separates cells cannot stand within a number.
    return Dialect(separator, "." if separator == "," else decimal)


def _count_cells(lines: Sequence[str], separator: str) -> tuple[bool, int]:
    """Return whether all lines have the cells of the first one, and how many.

    A file of one column, by this separator, is the last choice.
    """
    try:
        rows = [row for row in csv.reader(lines, delimiter=separator) if row]
    except csv.Error:
        return (False, 0)
    sizes = [len(row) for row in rows] or [0]
    # The last line may be cut off, or go on in the next one.
    is_even = len(set(sizes[:-1] or sizes)) == 1
    return (is_even and sizes[0] > 1, sizes[0] if sizes[0] > 1 else 0)


def find_decimal(columns: Sequence[Sequence[str]]) -> str:
    """Return what fractions begin with, judged by columns that are all numbers.

    A comma if some column is numbers only when it is read so, and none is numbers only
    by the point.

    Examples
    --------
    >>> find_decimal([["3,5", "4"], ["dim", ""]])
    ','
    """
    by_comma = False
    for column in columns:
        cells = [c for c in column if c and c.casefold() not in UNKNOWN]
        if not any("," in cell or "." in cell for cell in cells):
            continue
        if all(WITH_POINT.fullmatch(cell) for cell in cells):
            return "."
        by_comma = by_comma or all(WITH_COMMA.fullmatch(cell) for cell in cells)
    return "," if by_comma else "."


def to_point(cell: str) -> str:
    """Return a number with a comma as one with a point; anything else as it is.

    Examples
    --------
    >>> to_point("3,5"), to_point("a,b")
    ('3.5', 'a,b')
    """
    return cell.replace(",", ".") if WITH_COMMA.fullmatch(cell) else cell
