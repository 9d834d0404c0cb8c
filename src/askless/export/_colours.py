"""Colours of classes: told apart by every kind of sight, on light and on dark ground.

The first seven are the well-known set of Okabe and Ito, less black. Further ones are
paler and duller shades of them. A colour never stands alone: names are always
written.
"""

from __future__ import annotations

__all__ = ["REST", "blend", "colours_of"]

BASE = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442")
REST = "#8a8f98"


def blend(colour: str, ground: str, share: float) -> str:
    """Return a colour mixed into another one.

    Examples
    --------
    >>> blend("#000000", "#ffffff", 0.5)
    '#808080'
    """
    mixed = (
        round(
            share * int(colour[i : i + 2], 16)
            + (1 - share) * int(ground[i : i + 2], 16)
        )
        for i in (1, 3, 5)
    )
    return "#" + "".join(f"{part:02x}" for part in mixed)


SHADES = (
    BASE
    + tuple(blend(colour, "#ffffff", 0.5) for colour in BASE)
    + tuple(blend(colour, "#7d838c", 0.5) for colour in BASE)
)


def colours_of(order: list[int], n_classes: int) -> tuple[str, ...]:
    """Return a colour for each class, given the classes, the most common first.

    Examples
    --------
    >>> colours_of([1, 0], 2)
    ('#e69f00', '#0072b2')
    """
    colours = [REST] * n_classes
    for colour, one in zip(SHADES, order, strict=False):
        colours[one] = colour
    return tuple(colours)
