"""Where to put the boxes of a tree: columns from left to right, no two touching.

Subtrees are pushed together as far as their outlines allow, column by column, and a
node stands in the middle of its children. This module knows sizes and nothing else.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

__all__ = ["BOLD", "shorten", "text_width", "tidy"]

# Widths of characters in thousandths of the font's size, as in the wider ones of the
# common sans-serif fonts: text that is cut short is worse than a little room.
NARROW = dict.fromkeys("iljI.,:;'|!", 300) | dict.fromkeys('frt()[]{}/\\-" ', 390)
WIDE = dict.fromkeys("mMW@%", 980) | dict.fromkeys("ABCDEGHKNOPQRSTUVXYZw&<>=+—→", 780)
MIDDLE = 625
# How much wider the same text is in bold.
BOLD = 1.12


def text_width(text: str, size: float) -> float:
    """Return about how wide a text is.

    Examples
    --------
    >>> text_width("will", 10) < text_width("whom", 10)
    True
    """
    total = 0
    for character in text:
        if unicodedata.east_asian_width(character) in "WF":
            total += 1000
        else:
            narrow = NARROW.get(character)
            total += narrow if narrow is not None else WIDE.get(character, MIDDLE)
    return total * size / 1000


def shorten(text: str, size: float, width: float) -> str:
    """Return a text cut off where it would be too wide.

    Examples
    --------
    >>> shorten("a long name", 10, 30)
    'a lo…'
    """
    if text_width(text, size) <= width:
        return text
    kept = text
    while kept and text_width(kept + "…", size) > width:
        kept = kept[:-1]
    return kept.rstrip() + "…"


def tidy(
    parent: Sequence[int], heights: Sequence[float], gap: float
) -> tuple[list[float], float]:
    """Return the middle of each box, top to bottom, and the height of the whole.

    Parameters
    ----------
    parent : sequence of int
        The parent of each node in preorder, -1 for the root.
    heights : sequence of float
        The height of each box.
    gap : float
        The least distance of two boxes of one column.

    Examples
    --------
    >>> tidy([-1, 0, 0], [10, 10, 10], 2)
    ([11.0, 5.0, 17.0], 22.0)
    """
    n_nodes = len(parent)
    children: list[list[int]] = [[] for _ in range(n_nodes)]
    for node in range(1, n_nodes):
        children[parent[node]].append(node)
    offset = [0.0] * n_nodes  # from the parent
    outlines: list[list[tuple[float, float]] | None] = [None] * n_nodes
    for node in range(n_nodes - 1, -1, -1):
        below: list[tuple[float, float]] = []
        for child in children[node]:
            outline = outlines[child]
            assert outline is not None
            outlines[child] = None
            offset[child] = _push(below, outline, gap)
        if children[node]:
            middle = (offset[children[node][0]] + offset[children[node][-1]]) / 2
            for child in children[node]:
                offset[child] -= middle
            below = [(top - middle, bottom - middle) for top, bottom in below]
        # The outline is kept from the deepest column up, so that this is an append.
        below.append((-heights[node] / 2, heights[node] / 2))
        outlines[node] = below
    whole = outlines[0]
    assert whole is not None
    highest = min(top for top, _ in whole)
    at = [0.0] * n_nodes
    at[0] = -highest
    for node in range(1, n_nodes):
        at[node] = at[parent[node]] + offset[node]
    return at, max(bottom for _, bottom in whole) - highest


def _push(
    above: list[tuple[float, float]], outline: list[tuple[float, float]], gap: float
) -> float:
    """Put a subtree below others, merge its outline into theirs, and return where."""
    if not above:
        above.extend(outline)
        return 0.0
    shift = max(
        upper[1] + gap - lower[0]
        for upper, lower in zip(reversed(above), reversed(outline), strict=False)
    )
    common = min(len(above), len(outline))
    for i in range(1, common + 1):
        above[-i] = (above[-i][0], outline[-i][1] + shift)
    deeper = outline[: len(outline) - common]
    above[:0] = [(top + shift, bottom + shift) for top, bottom in deeper]
    return shift
