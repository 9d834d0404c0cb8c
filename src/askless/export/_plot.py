"""Draw a tree with matplotlib: on axes of one's own, and as PNG and PDF.

The picture is that of the SVG, box by box, in its light colours.
"""

from __future__ import annotations

from io import BytesIO
from typing import Any

from askless._extras import import_extra
from askless.exceptions import InvalidOptionError
from askless.export._colours import REST, blend
from askless.export._labels import one_tree
from askless.export._layout import BOLD, shorten, text_width, tidy
from askless.export._picture import Box, Picture, draw_one, picture_of
from askless.export._svg import (
    BOX_HEIGHT,
    GAP,
    HEAD_SIZE,
    LIGHT,
    MARGIN,
    MIN_PAGE,
    PADDING,
    SMALL_SIZE,
    TITLE_SIZE,
    Columns,
    Head,
    lay_out_head,
)
from askless.policy import Policy

__all__ = ["plot_policy", "to_pdf", "to_png"]

# Nodes that are drawn on one page unless something else is asked for.
MOST_ON_PAGE = 400
# Points for each unit of a picture, in which text is 11 and 13 high.
POINTS = 0.75
# A page of PDF is at most so many inches high and wide.
MOST_INCHES = 200.0
# Dots for each unit of a PNG, and how many dots it may have in all and on a side.
DOTS = 2.0
MOST_DOTS, LONGEST_SIDE = 40_000_000, 60_000
# Fewer dots are no longer read.
LEAST_DOTS = 0.6
# Fonts for letters that the first one lacks, of which a system may have some.
OTHER_FONTS = (
    "Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans", "Hiragino Sans",
    "Microsoft YaHei", "Arial Unicode MS",
)  # fmt: skip


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
    _find_matplotlib()
    from matplotlib import pyplot

    picture = picture_of(
        one_tree(policy, "A plot", tree), max_depth=max_depth, budget=budget
    )
    canvas = Canvas(picture, font_size / TITLE_SIZE)
    if ax is None:
        width, height = canvas.right, canvas.height + 40
        scale = canvas.scale / 72
        size = (max(width * scale, 3.0), max(height * scale, 1.2))
        ax = pyplot.figure(figsize=size, layout="constrained").add_subplot()
    ax.set_xlim(MARGIN - 6, canvas.right + 6)
    ax.set_ylim(canvas.height + 6, -6)
    ax.axis("off")
    facts = dict(picture.facts)
    ax.set_title(
        f"expected cost {facts['expected cost']}, at worst {facts['at worst']}",
        fontsize=font_size + 2,
    )
    canvas.draw(ax, 0.0)
    return ax


def to_png(
    policy: Policy,
    *,
    title: str | None = None,
    max_depth: int | None = None,
    max_nodes: int | None = MOST_ON_PAGE,
    budget: float | None = None,
    tree: int | None = None,
) -> bytes:
    """Return a drawn flowchart as the bytes of a PNG.

    Parameters
    ----------
    policy, title, max_depth, budget, tree
        See :func:`to_svg`.
    max_nodes : int, default=400
        Draw only so many nodes, those that most cases pass; None for all.

    Notes
    -----
    The picture of the SVG, at two dots a unit; fewer where it is very large. Needs the
    package matplotlib: install ``askless[plot]``.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["last bit"])
    >>> to_png(askless.solve(table).policy)[1:4]
    b'PNG'
    """
    picture = draw_one(
        policy, "PNG", tree, title=title, max_depth=max_depth, max_nodes=max_nodes,
        budget=budget,
    )  # fmt: skip
    page = Page(picture)
    dots = min(
        DOTS,
        (MOST_DOTS / (page.width * page.height)) ** 0.5,
        LONGEST_SIDE / max(page.width, page.height),
    )
    if dots < LEAST_DOTS:
        raise InvalidOptionError(
            f"A PNG must be small enough to be read. Got {len(picture.boxes):,} boxes "
            f"on {page.width:.0f} by {page.height:.0f} units. Draw fewer by max_nodes "
            "or max_depth, or draw it as svg, html or pdf."
        )
    dpi = 72 / POINTS * dots
    return _save(page.draw(), format="png", dpi=dpi, metadata={"Software": None})


def to_pdf(
    policy: Policy,
    *,
    title: str | None = None,
    max_depth: int | None = None,
    max_nodes: int | None = MOST_ON_PAGE,
    budget: float | None = None,
    tree: int | None = None,
) -> bytes:
    """Return a drawn flowchart as the bytes of a PDF of one page.

    Parameters
    ----------
    policy, title, max_depth, max_nodes, budget, tree
        See :func:`to_png`.

    Notes
    -----
    The page is as large as the picture. Needs the package matplotlib: install
    ``askless[plot]``.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["last bit"])
    >>> to_pdf(askless.solve(table).policy)[:4]
    b'%PDF'
    """
    picture = draw_one(
        policy, "PDF", tree, title=title, max_depth=max_depth, max_nodes=max_nodes,
        budget=budget,
    )  # fmt: skip
    page = Page(picture)
    # What is too large for a page is drawn smaller.
    scale = min(POINTS, 72 * MOST_INCHES / max(page.width, page.height))
    # Without the day, so that the same policy makes the same file.
    metadata = {"Title": picture.title, "CreationDate": None}
    return _save(page.draw(scale), format="pdf", metadata=metadata)


def _find_matplotlib() -> Any:
    return import_extra("matplotlib", "plot", "Plotting")


def _save(figure: Any, **options: Any) -> bytes:
    content = BytesIO()
    with _find_matplotlib().rc_context(_style()):
        figure.savefig(content, **options)
    return content.getvalue()


def _style() -> dict[str, Any]:
    """Return settings under which a page looks the same whatever the user's are."""
    from matplotlib.font_manager import fontManager

    known = {font.name for font in fontManager.ttflist}
    others = [name for name in OTHER_FONTS if name in known]
    # Letters stay letters in a PDF, so that they can be searched for.
    return {
        "font.family": ["DejaVu Sans", *others],
        "pdf.fonttype": 42,
        # Hinted letters get feet where there are few dots.
        "text.hinting": "none",
        "text.usetex": False,
    }


class Page:
    """A picture on a page of its own, with its head; sizes are in units."""

    def __init__(self, picture: Picture) -> None:
        self.canvas = Canvas(picture, POINTS)
        self.width = max(self.canvas.right + MARGIN, MIN_PAGE)
        self.head = lay_out_head(picture, self.width)
        self.height = self.head.bottom + self.canvas.height + MARGIN

    def draw(self, scale: float = POINTS) -> Any:
        """Return a figure of so many points for each unit."""
        matplotlib = _find_matplotlib()
        from matplotlib.figure import Figure

        self.canvas.scale = scale
        size = (self.width * scale / 72, self.height * scale / 72)
        with matplotlib.rc_context(_style()):
            figure = Figure(figsize=size, facecolor=LIGHT["ground"])
            ax = figure.add_axes((0, 0, 1, 1))
            ax.set_xlim(0, self.width)
            ax.set_ylim(self.height, 0)
            ax.axis("off")
            self.canvas.draw_head(ax, self.head)
            self.canvas.draw(ax, self.head.bottom)
        return figure


class Canvas:
    """Draws a picture on axes whose units are those of the SVG.

    Parameters
    ----------
    picture : Picture
        What to draw.
    scale : float
        Points for each unit, by which text is as large as the boxes take it for.
    """

    def __init__(self, picture: Picture, scale: float) -> None:
        self.picture, self.scale = picture, scale
        self.columns = Columns(picture)
        self.right = self.columns.right
        parents = [box.parent for box in picture.boxes]
        heights = [BOX_HEIGHT] * len(parents)
        self.middles, self.height = tidy(parents, heights, GAP)

    def write(
        self, ax: Any, x: float, y: float, text: str, size: float, **options: Any
    ) -> None:
        """Write a text; a dollar is a dollar."""
        colour = options.pop("color", LIGHT["ink"])
        ax.text(
            x, y, text, fontsize=size * self.scale, color=colour, va="baseline",
            zorder=4, parse_math=False, **options,
        )  # fmt: skip

    def draw_head(self, ax: Any, head: Head) -> None:
        """Draw the title, the figures and the legend."""
        self.write(ax, MARGIN, 38, head.title, HEAD_SIZE, weight="bold")
        for x, y, name, value in head.figures:
            self.write(ax, x, y, name, SMALL_SIZE, color=LIGHT["soft"])
            colour = LIGHT["over" if value.endswith(" over") else "ink"]
            self.write(ax, x, y + 19, value, 16.0, weight="bold", color=colour)
        for x, y, text, colour in head.legend:
            self._rectangle(ax, (x, y - 10, 12.0, 12.0), colour, rounded=3.0)
            self.write(ax, x + 18, y, text, SMALL_SIZE)

    def draw(self, ax: Any, top: float) -> None:
        """Draw the tree, from a height on."""
        for box, middle in zip(self.picture.boxes, self.middles, strict=True):
            if box.parent >= 0:
                self._edge(ax, box, top + middle, top + self.middles[box.parent])
            self._box(ax, box, top + middle)

    def _edge(self, ax: Any, box: Box, middle: float, parent: float) -> None:
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        depth = box.depth - 1
        start = self.columns.left[depth] + self.columns.width[depth]
        left = self.columns.left[box.depth]
        path = Path(
            [(start, parent), (start + 20, parent), (start + 14, middle),
             (start + 34, middle), (left, middle)],
            [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4, Path.LINETO],
        )  # fmt: skip
        width = (1 + 9 * box.share) * self.scale
        ax.add_patch(
            PathPatch(path, fill=False, edgecolor=LIGHT["edge"], linewidth=width,
                      zorder=1)
        )  # fmt: skip
        label = shorten(box.label, SMALL_SIZE, max(left - start - 34, 40))
        y = middle - 4 - 4.5 * box.share
        self.write(ax, left - 8, y, label, SMALL_SIZE, ha="right")

    def _rectangle(
        self,
        ax: Any,
        place: tuple[float, float, float, float],
        fill: str,
        *,
        line: str = "none",
        rounded: float = 0.0,
    ) -> None:
        from matplotlib.patches import FancyBboxPatch

        x, y, width, height = place
        ax.add_patch(
            FancyBboxPatch(
                (x, y),
                width,
                height,
                boxstyle=f"round,pad=0,rounding_size={rounded}",
                facecolor=fill,
                edgecolor=line,
                linewidth=self.scale,
                zorder=3,
            )
        )

    def _box(self, ax: Any, box: Box, middle: float) -> None:
        left, width = self.columns.left[box.depth], self.columns.width[box.depth]
        top = middle - BOX_HEIGHT / 2
        right, room = left + width - PADDING, width - 2 * PADDING
        fill, line = LIGHT["box"], LIGHT["line"]
        if box.is_leaf:
            colour = self.picture.colours[box.decision]
            fill = blend(colour, LIGHT["ground"], 0.16)
            line = blend(colour, LIGHT["ground"], 0.75)
        self._rectangle(ax, (left, top, width, BOX_HEIGHT), fill, line=line, rounded=7)
        if box.price:
            chip = text_width(box.price, SMALL_SIZE) + 12
            room -= chip + 8
            place = (right - chip + 4, top + 6, chip, 16.0)
            self._rectangle(ax, place, LIGHT["price"], rounded=7.9)
            x = right + 4 - chip / 2
            self.write(ax, x, top + 18, box.price, SMALL_SIZE, ha="center")
        if box.certainty:
            room -= text_width(box.certainty, SMALL_SIZE) + 8
            self.write(
                ax, right, top + 18, box.certainty, SMALL_SIZE, ha="right",
                color=LIGHT["soft"],
            )  # fmt: skip
        x = left + PADDING
        name = shorten(box.title, TITLE_SIZE * BOLD, room)
        self.write(ax, x, top + 18.5, name, TITLE_SIZE, weight="bold")
        colour = LIGHT["over" if box.is_over else "soft"]
        self.write(ax, x, top + 33.5, box.below, SMALL_SIZE, color=colour)
        for label, share in box.mix:
            shade = self.picture.colours[label] if label >= 0 else REST
            size = max(share * (width - 2 * PADDING) - 1, 0.6)
            self._rectangle(ax, (x, top + 40, size, 4.0), shade)
            x += share * (width - 2 * PADDING)
