"""Remark on cells that may not mean what they say: spellings, and signs for "unknown".

It looks at text and changes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from askless._text import is_number_text
from askless.problem.sheets._dialect import UNKNOWN

__all__ = ["remark_on_cells"]

# A column of more different texts than this holds names or sentences.
MOST_TEXTS = 200


def remark_on_cells(
    name: str, cells: Sequence[str], lines: Sequence[int], unknown: str | None = None
) -> list[str]:
    """Return remarks on a column of text: outcomes that look alike, or unknown.

    Parameters
    ----------
    name : str
        What the column is called.
    cells : sequence of str
        Its cells; empty ones are missing.
    lines : sequence of int
        The line of each.
    unknown : str, optional
        The text that is known to mark an unknown outcome.

    Examples
    --------
    >>> for remark in remark_on_cells("pain", ["dull", "Dull", "?"], [2, 3, 4]):
    ...     print(remark)
    Column 'pain' has 'dull' (line 2) and 'Dull' (line 3), which are two outcomes. \
If they are one, write 'dull' everywhere.
    Column 'pain' has '?' in line 4, which is taken for an outcome. If it is not \
known, leave the cell empty, or set unknown='?'.
    """
    counts = Counter(cell for cell in cells if cell and cell != unknown)
    if len(counts) > MOST_TEXTS:
        return []
    return [
        *_remark_on_spellings(name, counts, cells, lines),
        *_remark_on_unknown(name, counts, cells, lines),
    ]


def _remark_on_spellings(
    name: str, counts: Counter[str], cells: Sequence[str], lines: Sequence[int]
) -> list[str]:
    alike: dict[str, list[str]] = {}
    for text in counts:
        alike.setdefault(_fold(text), []).append(text)
    remarks = []
    for texts in alike.values():
        # "+" and "-" differ, though neither has a letter; so do 1 and 1.0.
        if len(texts) < 2 or is_number_text(texts[0]):
            continue
        shown = [f"{text!r} (line {lines[cells.index(text)]})" for text in texts]
        usual = max(texts, key=lambda text: (counts[text], text.islower()))
        remarks.append(
            f"Column {name!r} has {', '.join(shown[:-1])} and {shown[-1]}, which are "
            f"{'two' if len(texts) == 2 else len(texts)} outcomes. If they are one, "
            f"write {usual!r} everywhere."
        )
    return remarks


def _fold(text: str) -> str:
    """Return a text without what people do not look at: case, spaces, hyphens."""
    folded = "".join(text.casefold().split())
    return folded.replace("-", "").replace("_", "").rstrip(".") or text


def _remark_on_unknown(
    name: str, counts: Counter[str], cells: Sequence[str], lines: Sequence[int]
) -> list[str]:
    remarks = []
    for text, n in counts.items():
        if text.casefold() not in UNKNOWN or (text == "-" and "+" in counts):
            continue
        where = f"line {lines[cells.index(text)]}"
        if n > 1:
            where = f"{n} cells, the first in {where}"
        rest = [other for other in counts if other != text]
        is_text = rest and all(is_number_text(other) for other in rest)
        taken = "makes text of its numbers" if is_text else "is taken for an outcome"
        remarks.append(
            f"Column {name!r} has {text!r} in {where}, which {taken}. If it is not "
            f"known, leave the cell empty, or set unknown={text!r}."
        )
    return remarks
