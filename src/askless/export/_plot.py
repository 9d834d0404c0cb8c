"""Draw a tree with matplotlib, for papers and for figures of one's own."""

from __future__ import annotations

from typing import Any

from askless.exceptions import MissingExtraError
from askless.export._colours import REST, blend
from askless.export._labels import one_tree, percent_text
from askless.export._layout import shorten, tidy
from askless.export._picture import Box, Picture, picture_of
from askless.policy import Policy

__all__ = ["plot_policy"]

WIDTH, HEIGHT = 150.0, 50.0
COLUMN, GAP = 250.0, 10.0


def plot_policy(
    policy: Policy,
    ax: Any = None,
    *,
    max_depth: int | None = None,
    budget: float | None = None,
    tree: int | None = None,
    font_size: float = 7.0,
) -> Any:
    """Draw a tree on axes of matplotlib; see :meth:`askless.Policy.plot`."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise MissingExtraError(
            "Plotting needs the package matplotlib. Got none installed. Install it: "
            "pip install 'askless[plot]'."
        ) from error
    picture = picture_of(
        one_tree(policy, "A plot", tree), max_depth=max_depth, budget=budget
    )
    parents = [box.parent for box in picture.boxes]
    middles, height = tidy(parents, [HEIGHT] * len(parents), GAP)
    depth = max(box.depth for box in picture.boxes)
    width = COLUMN * depth + WIDTH
    if ax is None:
        scale = font_size / 7.0 / 72
        size = (max(width * scale, 3.0), max((height + 40) * scale, 1.2))
        ax = pyplot.figure(figsize=size, layout="constrained").add_subplot()
    ax.set_xlim(-6, width + 6)
    ax.set_ylim(height + 6, -6)
    ax.axis("off")
    facts = dict(picture.facts)
    ax.set_title(
        f"expected cost {facts['expected cost']}, at worst {facts['at worst']}",
        fontsize=font_size + 2,
    )
    for box, middle in zip(picture.boxes, middles, strict=True):
        left = COLUMN * box.depth
        if box.parent >= 0:
            _draw_edge(ax, box, left, middle, middles[box.parent], font_size)
        _draw_box(ax, box, picture, left, middle, font_size)
    return ax


def _draw_edge(
    ax: Any, box: Box, left: float, middle: float, parent: float, font_size: float
) -> None:
    start = left - COLUMN + WIDTH
    ax.plot(
        [start, start + 20, left],
        [parent, middle, middle],
        color="#b4bbc6",
        linewidth=0.7 + 3 * box.share,
        solid_joinstyle="round",
        zorder=1,
    )
    ax.text(
        left - 5,
        middle - 4,
        shorten(box.label, 10.0, COLUMN - WIDTH - 30),
        ha="right",
        va="bottom",
        fontsize=font_size - 0.5,
        zorder=3,
    )


def _draw_box(
    ax: Any,
    box: Box,
    picture: Picture,
    left: float,
    middle: float,
    font_size: float,
) -> None:
    from matplotlib.patches import FancyBboxPatch, Rectangle

    colour = picture.colours[box.decision] if box.is_leaf else "#c9ced6"
    fill = blend(colour, "#ffffff", 0.16) if box.is_leaf else "#f7f8fa"
    top = middle - HEIGHT / 2
    ax.add_patch(
        FancyBboxPatch(
            (left, top),
            WIDTH,
            HEIGHT,
            boxstyle="round,pad=0,rounding_size=7",
            facecolor=fill,
            edgecolor=colour,
            linewidth=0.8,
            zorder=2,
        )
    )
    aside = box.price or box.certainty
    room = WIDTH - 22 - 8.0 * len(aside)
    style: dict[str, Any] = {"va": "baseline", "zorder": 3}
    ax.text(
        left + 8,
        top + 19,
        shorten(box.title, 11.5, room),
        weight="bold",
        fontsize=font_size,
        **style,
    )
    ax.text(
        left + WIDTH - 8, top + 19, aside, ha="right", fontsize=font_size - 0.5, **style
    )
    below = f"spent {box.spent} · {percent_text(box.share)}"
    if box.n_hidden:
        below += f" · {box.n_hidden} more"
    ax.text(
        left + 8,
        top + 34,
        below,
        fontsize=font_size - 1,
        color="#b42318" if box.is_over else "#57606a",
        **style,
    )
    at = left + 8
    for label, share in box.mix:
        shade = picture.colours[label] if label >= 0 else REST
        size = share * (WIDTH - 16)
        ax.add_patch(
            Rectangle((at, top + 40), size, 4, facecolor=shade, linewidth=0, zorder=3)
        )
        at += size
