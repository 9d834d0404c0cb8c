"""Draw a tree as SVG: one picture, no scripts, light or dark as the reader likes.

Lines are as thick as many cases take them. Text is measured roughly, so that no fonts
are needed to draw; what does not fit is cut short and shown in full when pointed at.
"""

from __future__ import annotations

from typing import NamedTuple
from xml.sax.saxutils import escape

from askless.export._colours import REST, blend
from askless.export._fold import MOST_NODES
from askless.export._labels import percent_text
from askless.export._layout import BOLD, shorten, text_width, tidy
from askless.export._picture import Box, Picture, draw_one
from askless.policy import Policy

__all__ = ["Columns", "draw_svg", "lay_out_head", "to_svg"]

FONT = (
    "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
)
HEAD_SIZE, TITLE_SIZE, SMALL_SIZE = 17.0, 13.0, 11.0
BOX_HEIGHT = 50.0
MIN_WIDTH, MAX_WIDTH = 124.0, 250.0
MAX_LABEL = 150.0
PADDING, GAP, MARGIN = 11.0, 10.0, 24.0
MIN_PAGE = 560.0
# Decisions that the legend lists; boxes name theirs anyway.
MOST_LISTED = 12

LIGHT = {
    "ground": "#ffffff", "box": "#f7f8fa", "line": "#c9ced6", "edge": "#b4bbc6",
    "ink": "#1b1f24", "soft": "#57606a", "over": "#b42318", "price": "#e7ebf0",
}  # fmt: skip
DARK = {
    "ground": "#14171b", "box": "#1f242b", "line": "#3d444d", "edge": "#4f5864",
    "ink": "#eceff3", "soft": "#a3adb9", "over": "#ff8a7a", "price": "#2f363f",
}  # fmt: skip


def to_svg(
    policy: Policy,
    *,
    title: str | None = None,
    max_depth: int | None = None,
    max_nodes: int | None = MOST_NODES,
    budget: float | None = None,
    tree: int | None = None,
) -> str:
    """Return a drawn flowchart as SVG.

    Parameters
    ----------
    policy : Policy
        What to draw; a tree, or a forest of which one tree is chosen.
    title : str, optional
        What to write above it.
    max_depth : int, optional
        Draw only so many levels of tests; what is left out is counted.
    max_nodes : int, default=10_000
        Draw only so many nodes, those that most cases pass; None for all.
    budget : float, optional
        What a case may spend. Boxes beyond it are marked.
    tree : int, optional
        Which tree of a forest, counted from 0.

    Notes
    -----
    On each box: the test and what it charges there, or the decision and how certain it
    is; what a case has spent by then; which share of all cases gets there; the mix of
    their classes. Above: expected and worst cost, and what every test would cost.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["last bit"])
    >>> to_svg(askless.solve(table).policy).startswith("<svg ")
    True
    """
    return draw_svg(
        draw_one(
            policy,
            "SVG",
            tree,
            title=title,
            max_depth=max_depth,
            max_nodes=max_nodes,
            budget=budget,
        )
    )


class Columns:
    """How wide the boxes of each depth are, and where they begin."""

    def __init__(self, picture: Picture) -> None:
        depths = range(max(box.depth for box in picture.boxes) + 1)
        boxes = [[b for b in picture.boxes if b.depth == depth] for depth in depths]
        self.width = [max(map(_box_width, listed)) for listed in boxes]
        self.left = [MARGIN]
        for depth in depths[1:]:
            widest = max(text_width(b.label, SMALL_SIZE) for b in boxes[depth])
            gap = min(widest, MAX_LABEL) + 46
            self.left.append(self.left[-1] + self.width[depth - 1] + gap)
        self.right = self.left[-1] + self.width[-1]


def _box_width(box: Box) -> float:
    first = text_width(box.title, TITLE_SIZE * BOLD)
    if box.price:
        first += text_width(box.price, SMALL_SIZE) + 22
    if box.certainty:
        first += text_width(box.certainty, SMALL_SIZE) + 10
    second = text_width(box.below, SMALL_SIZE)
    return min(max(first, second, MIN_WIDTH - 2 * PADDING) + 2 * PADDING, MAX_WIDTH)


def draw_svg(picture: Picture) -> str:
    """Return the SVG of a picture."""
    columns = Columns(picture)
    page = max(columns.right + MARGIN, MIN_PAGE)
    head = lay_out_head(picture, page)
    parents = [box.parent for box in picture.boxes]
    middles, height = tidy(parents, [BOX_HEIGHT] * len(parents), GAP)
    middles = [head.bottom + middle for middle in middles]
    total = head.bottom + height + MARGIN
    edges, labels, boxes = [], [], []
    for box, middle in zip(picture.boxes, middles, strict=True):
        left = columns.left[box.depth]
        if box.parent >= 0:
            depth = box.depth - 1
            start = (columns.left[depth] + columns.width[depth], middles[box.parent])
            edges.append(_edge(start, (left, middle), box.share))
            room = left - start[0] - 34
            labels.append(_edge_label(box, left, middle, room))
        boxes.append(_draw_box(box, picture, left, middle, columns.width[box.depth]))
    summary = ", ".join(f"{name} {value}" for name, value in picture.facts)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="askless" role="img" '
            f'viewBox="0 0 {page:.0f} {total:.0f}" width="{page:.0f}" '
            f'height="{total:.0f}" font-family="{escape(FONT)}">',
            f"<title>{escape(picture.title)}</title>",
            f"<desc>{escape(summary)}</desc>",
            f"<style>{_style(picture)}</style>",
            f'<rect class="ground" width="{page:.0f}" height="{total:.0f}" rx="8"/>',
            *_head(head),
            '<g class="edges">',
            *edges,
            "</g>",
            *boxes,
            *labels,
            "</svg>\n",
        ]
    )


def _style(picture: Picture) -> str:
    used = sorted({box.decision for box in picture.boxes if box.is_leaf})

    def rules(theme: dict[str, str]) -> str:
        fills = "".join(
            f".askless .c{c}{{fill:{blend(picture.colours[c], theme['ground'], 0.16)};"
            f"stroke:{blend(picture.colours[c], theme['ground'], 0.75)}}}"
            for c in used
        )
        return (
            f".askless .ground{{fill:{theme['ground']}}}"
            f".askless .box{{fill:{theme['box']};stroke:{theme['line']}}}{fills}"
            f".askless .edges{{stroke:{theme['edge']};fill:none}}"
            f".askless text{{fill:{theme['ink']}}}"
            f".askless .soft{{fill:{theme['soft']}}}"
            f".askless .over{{fill:{theme['over']};font-weight:600}}"
            f".askless .price{{fill:{theme['price']}}}"
            f".askless .label{{paint-order:stroke;stroke:{theme['ground']};"
            "stroke-width:4px;stroke-linejoin:round}"
        )

    return (
        rules(LIGHT)
        + f"@media (prefers-color-scheme:dark){{{rules(DARK)}}}"
        + f".askless text{{font-size:{SMALL_SIZE:g}px}}"
        + f".askless .name{{font-size:{TITLE_SIZE:g}px;font-weight:600}}"
        + ".askless .head{font-size:17px;font-weight:650}"
        + ".askless .figure{font-size:16px;font-weight:650}"
    )


class Head(NamedTuple):
    """What stands above a tree, and where."""

    title: str
    figures: list[tuple[float, float, str, str]]  # where, name, value
    legend: list[tuple[float, float, str, str]]  # where, text, colour
    bottom: float  # where the tree may begin


def lay_out_head(picture: Picture, page: float) -> Head:
    """Return where the title, the figures and the legend stand."""
    figures, x, y = [], MARGIN, 66.0
    for name, value in picture.facts:
        width = max(text_width(name, SMALL_SIZE), text_width(value, 16 * BOLD)) + 22
        if x + width > page and x > MARGIN:
            x, y = MARGIN, y + 44
        figures.append((x, y, name, value))
        x += width
    legend, x, y = [], MARGIN, y + 46
    entries = [
        (f"{shorten(label, SMALL_SIZE, 180)}  {percent_text(share)}", colour)
        for label, colour, share in picture.legend[:MOST_LISTED]
    ]
    n_more = len(picture.legend) - len(entries)
    if n_more:
        entries.append((f"and {n_more:,} more", REST))
    for text, colour in entries:
        width = text_width(text, SMALL_SIZE) + 36
        if x + width > page and x > MARGIN:
            x, y = MARGIN, y + 19
        legend.append((x, y, text, colour))
        x += width
    title = shorten(picture.title, HEAD_SIZE * BOLD, page - 2 * MARGIN)
    return Head(title, figures, legend, y + 30)


def _head(head: Head) -> list[str]:
    parts = [f'<text class="head" x="{MARGIN:g}" y="38">{escape(head.title)}</text>']
    for x, y, name, value in head.figures:
        style = "figure over" if value.endswith(" over") else "figure"
        parts.append(
            f'<text class="soft" x="{x:.1f}" y="{y:.1f}">{escape(name)}</text>'
            f'<text class="{style}" x="{x:.1f}" y="{y + 19:.1f}">{escape(value)}</text>'
        )
    for x, y, text, colour in head.legend:
        parts.append(
            f'<rect x="{x:.1f}" y="{y - 10:.1f}" width="12" height="12" rx="3" '
            f'fill="{colour}"/><text x="{x + 18:.1f}" y="{y:.1f}">{escape(text)}</text>'
        )
    return parts


def _edge(start: tuple[float, float], end: tuple[float, float], share: float) -> str:
    (x0, y0), (x1, y1) = start, end
    turn = f"C{x0 + 20:.1f} {y0:.1f} {x0 + 14:.1f} {y1:.1f} {x0 + 34:.1f} {y1:.1f}"
    return (
        f'<path d="M{x0:.1f} {y0:.1f}{turn}L{x1:.1f} {y1:.1f}" '
        f'stroke-width="{1 + 9 * share:.2f}"/>'
    )


def _edge_label(box: Box, left: float, middle: float, room: float) -> str:
    text = shorten(box.label, SMALL_SIZE, max(room, 40))
    y = middle - 4 - 4.5 * box.share
    full = f"<title>{escape(box.label)}</title>" if text != box.label else ""
    return (
        f'<text class="label" text-anchor="end" x="{left - 8:.1f}" y="{y:.1f}">{full}'
        f"{escape(text)}</text>"
    )


def _draw_box(
    box: Box, picture: Picture, left: float, middle: float, width: float
) -> str:
    top = middle - BOX_HEIGHT / 2
    style = f"box c{box.decision}" if box.is_leaf else "box"
    room = width - 2 * PADDING
    parts = [
        f'<g><title>{escape(_tooltip(box, picture))}</title><rect class="{style}" '
        f'x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{BOX_HEIGHT:g}" '
        'rx="7"/>'
    ]
    right = left + width - PADDING
    if box.price:
        chip = text_width(box.price, SMALL_SIZE) + 12
        room -= chip + 8
        parts.append(
            f'<rect class="price" x="{right - chip + 4:.1f}" y="{top + 6:.1f}" '
            f'width="{chip:.1f}" height="16" rx="8"/><text text-anchor="middle" '
            f'x="{right + 4 - chip / 2:.1f}" y="{top + 18:.1f}">'
            f"{escape(box.price)}</text>"
        )
    if box.certainty:
        room -= text_width(box.certainty, SMALL_SIZE) + 8
        parts.append(
            f'<text class="soft" text-anchor="end" x="{right:.1f}" '
            f'y="{top + 18:.1f}">{escape(box.certainty)}</text>'
        )
    x = left + PADDING
    name = shorten(box.title, TITLE_SIZE * BOLD, room)
    parts.append(
        f'<text class="name" x="{x:.1f}" y="{top + 18.5:.1f}">{escape(name)}</text>'
        f'<text class="{"over" if box.is_over else "soft"}" x="{x:.1f}" '
        f'y="{top + 33.5:.1f}">{escape(box.below)}</text>'
    )
    at, full = x, width - 2 * PADDING
    for label, share in box.mix:
        colour = picture.colours[label] if label >= 0 else REST
        size = max(share * full - 1, 0.6)
        parts.append(
            f'<rect x="{at:.1f}" y="{top + 40:.1f}" width="{size:.1f}" height="4" '
            f'rx="1" fill="{colour}"/>'
        )
        at += share * full
    return "".join(parts) + "</g>"


def _tooltip(box: Box, picture: Picture) -> str:
    lines = [box.title]
    if box.price:
        lines[0] += f"? costs {box.price}"
        lines += box.notes
    lines.append(f"spent {box.spent}, {percent_text(box.share)} of the cases")
    for label, share in sorted(box.mix, key=lambda part: -part[1]):
        name = picture.classes[label] if label >= 0 else "others"
        lines.append(f"{percent_text(share)} {name}")
    return "\n".join(lines)
