"""The result of measuring models: points of error against cost, and what they bound.

This module must not know how the points were measured.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from askless._disk import write_whole
from askless._extras import import_extra
from askless.evaluate._frontier_html import to_html
from askless.exceptions import DataFileError, InvalidOptionError
from askless.problem._frames import make_frame

__all__ = ["Frontier", "FrontierPoint"]

# Colours that differ in lightness too, for print and for the colour-blind.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#e69f00", "#56b4e9")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")


# How many points of the hull are printed at most.
MOST_LINES = 12


class FrontierPoint(NamedTuple):
    """A model at a setting: mean cost and error over the folds, with intervals."""

    model: str
    setting: str
    cost: float
    cost_low: float
    cost_high: float
    error: float
    error_low: float
    error_high: float


@dataclass(frozen=True, repr=False)
class Frontier:
    """Error against cost, for many models.

    Attributes
    ----------
    points : tuple of FrontierPoint
        In the order in which they were measured.
    metric : str
        What ``error`` is.
    confidence : float
        Of the intervals.
    cost_of_all : float
        The price of all tests.
    n_folds : int
        How many folds the means are of.

    Examples
    --------
    >>> points = [FrontierPoint("a", "", 1, 1, 1, 0.5, 0.5, 0.5),
    ...           FrontierPoint("a", "", 9, 9, 9, 0.1, 0.1, 0.1),
    ...           FrontierPoint("b", "", 5, 5, 5, 0.4, 0.4, 0.4)]
    >>> found = Frontier(tuple(points), "error", 0.95, 10.0, 5)
    >>> found.best(budget=6).model
    'b'
    >>> [point.cost for point in found.front()]
    [1, 5, 9]
    >>> [point.cost for point in found.hull()]
    [1, 9]
    """

    points: tuple[FrontierPoint, ...]
    metric: str
    confidence: float
    cost_of_all: float
    n_folds: int

    def __str__(self) -> str:
        on_hull = self.hull()
        shown = on_hull[:: max(1, -(-len(on_hull) // MOST_LINES))]
        width = max(len(_name(point)) for point in shown)
        share = 100.0 if self.metric == "error" else 1.0
        unit = " %" if self.metric == "error" else ""
        return "\n".join(
            [
                f"{len(self.points)} points of {len(self.curves())} models, means of "
                f"{self.n_folds} folds; all tests cost {self.cost_of_all:.4g}. The "
                "best of them:",
                *(
                    f"  {_name(point).ljust(width)}  cost {point.cost:8.4g}  "
                    f"{self.metric} {share * point.error:6.3g}{unit}"
                    for point in shown
                ),
            ]
        )

    def __repr__(self) -> str:
        return (
            f"Frontier({len(self.points)} points of {len(self.curves())} models, "
            f"{self.n_folds} folds)"
        )

    def front(self) -> list[FrontierPoint]:
        """Return the points that no other one beats in both cost and error."""
        best: list[FrontierPoint] = []
        for point in sorted(self.points, key=lambda p: (p.cost, p.error)):
            if not best or point.error < best[-1].error:
                best.append(point)
        return best

    def hull(self) -> list[FrontierPoint]:
        """Return the lower hull: what choosing between models at random can reach.

        Two points of the hull, drawn with chances, give any point on the line between
        them; all other points lie on or above these lines.
        """
        hull: list[FrontierPoint] = []
        for point in self.front():
            while len(hull) > 1 and _is_above(hull[-2], hull[-1], point):
                hull.pop()
            hull.append(point)
        return hull

    def best(self, budget: float | None = None) -> FrontierPoint:
        """Return the point of least error whose mean cost is within a budget.

        Raises
        ------
        InvalidOptionError
            If no point is.
        """
        within = [p for p in self.points if budget is None or p.cost <= budget]
        if not within:
            cheapest = min(p.cost for p in self.points)
            raise InvalidOptionError(
                f"Some model must cost at most the budget. Got {budget!r}, and the "
                f"cheapest costs {cheapest:g}. Raise the budget."
            )
        return min(within, key=lambda p: (p.error, p.cost))

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return a dict for each point, with whether it is on the hull."""
        on_hull = set(self.hull())
        return [{**p._asdict(), "on_hull": p in on_hull} for p in self.points]

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return the points as a dataframe of pandas or polars, a row for each."""
        return make_frame(self.to_dicts(), backend)

    def to_csv(self, path: str | Path | None = None) -> str:
        """Return the points as CSV, and write them to a file if a path is given."""
        rows = self.to_dicts()
        text = io.StringIO()
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return _write(path, text.getvalue())

    def to_html(self, path: str | Path | None = None, *, title: str = "") -> str:
        """Return a page with the plot and a table; it needs nothing but a browser."""
        return _write(path, to_html(self, title))

    def plot(self, ax: Any = None, *, percent: bool = True) -> Any:
        """Draw error against cost with error bars, and the hull.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        percent : bool, default=True
            Show errors in per cent, where the metric is the error.

        Returns
        -------
        matplotlib axes
        """
        figure = import_extra("matplotlib.figure", "plot", "Plotting")
        if ax is None:
            ax = figure.Figure(figsize=(5.2, 3.6), layout="constrained").subplots()
        scale = 100.0 if percent and self.metric == "error" else 1.0
        for number, (name, points) in enumerate(self.curves().items()):
            ax.errorbar(
                [p.cost for p in points],
                [scale * p.error for p in points],
                xerr=_bars(points, "cost", 1.0),
                yerr=_bars(points, "error", scale),
                label=name,
                color=COLOURS[number % len(COLOURS)],
                marker=MARKERS[number % len(MARKERS)],
                markersize=4,
                linewidth=1.2,
                elinewidth=0.7,
                capsize=2,
            )
        hull = self.hull()
        ax.plot(
            [p.cost for p in hull],
            [scale * p.error for p in hull],
            color="0.6",
            linestyle=":",
            linewidth=1,
            zorder=0,
            label="hull",
        )
        ax.set_xlabel("mean cost of a case")
        ax.set_ylabel(f"{self.metric} (%)" if scale > 1 else self.metric)
        ax.set_xlim(left=0)
        ax.set_ylim(bottom=0)
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False, fontsize="small")
        return ax

    def curves(self) -> dict[str, list[FrontierPoint]]:
        """Return the points of each model, by cost."""
        named: dict[str, list[FrontierPoint]] = {}
        for point in self.points:
            named.setdefault(point.model, []).append(point)
        return {
            name: sorted(points, key=lambda p: (p.cost, p.error))
            for name, points in named.items()
        }


def _name(point: FrontierPoint) -> str:
    return f"{point.model} {point.setting}".strip()


def _is_above(a: FrontierPoint, b: FrontierPoint, c: FrontierPoint) -> bool:
    """Return whether b lies on or above the line from a to c."""
    turn = (b.cost - a.cost) * (c.error - a.error) - (b.error - a.error) * (
        c.cost - a.cost
    )
    return turn <= 0


def _bars(
    points: Iterable[FrontierPoint], what: str, scale: float
) -> list[list[float]]:
    """Return the lengths of error bars below and above each point."""
    below, above = [], []
    for point in points:
        middle = getattr(point, what)
        below.append(scale * (middle - getattr(point, f"{what}_low")))
        above.append(scale * (getattr(point, f"{what}_high") - middle))
    return [below, above]


def _write(path: str | Path | None, text: str) -> str:
    """Write a text to a file, whole or not at all, and return it."""
    if path is None:
        return text
    try:
        write_whole({Path(path): text.encode()})
    except OSError as error:
        raise DataFileError(
            "The folder of a file must be there and writable. Got: "
            f"{error.strerror} for {path}. Choose another path."
        ) from error
    return text
