"""A frontier as a page: a plot to point at, and a table to sort by eye.

The page is one file without scripts or styles from elsewhere. Names come from data and
are escaped. This module must not know how points were measured.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from askless.evaluate._frontier_points import Frontier, FrontierPoint

__all__ = ["to_html"]

WIDTH, HEIGHT = 760, 460
# Costs that differ by more than this factor are drawn by their logarithm.
WIDE = 20.0
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 16, 48
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#333333", "#b8860b", "#56b4e9")

STYLE = """
:root { color-scheme: light dark; --ink: #1a1a1a; --paper: #fff; --line: #ccc; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8e8e8; --paper: #16181c; --line: #444; }
}
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem;
  padding: 0 1rem; color: var(--ink); background: var(--paper); }
h1 { font-size: 1.4rem; }
svg { width: 100%; height: auto; }
svg text { fill: var(--ink); font-size: 13px; }
.grid { stroke: var(--line); stroke-width: 1; }
.hull { stroke: var(--ink); stroke-dasharray: 2 4; fill: none; opacity: .6; }
.bar { stroke-width: 1; opacity: .5; }
.curve { fill: none; stroke-width: 1.5; opacity: .8; }
circle { cursor: pointer; }
circle:hover, circle:focus, circle.on { stroke: var(--ink); stroke-width: 3;
  outline: none; }
#tip { min-height: 3.2em; font-variant-numeric: tabular-nums; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
@media (max-width: 40rem) { .wide { display: none; } }
th, td { text-align: left; padding: .25rem .6rem;
  border-bottom: 1px solid var(--line); }
td.n, th.n { text-align: right; }
tr.on { background: color-mix(in srgb, var(--ink) 12%, transparent); }
.name { white-space: nowrap; margin-right: 1.2em; }
.key { display: inline-block; width: .8em; height: .8em; border-radius: 50%;
  margin-right: .4em; }
"""

SCRIPT = """
const tip = document.getElementById("tip"), first = tip.textContent;
const data = JSON.parse(document.getElementById("points").textContent);
function show(i, on) {
  document.querySelectorAll("[data-i='" + i + "']").forEach(
    e => e.classList.toggle("on", on));
  tip.textContent = on ? data[i] : first;
}
document.querySelectorAll("[data-i]").forEach(e => {
  const i = e.dataset.i;
  for (const name of ["mouseenter", "focus"])
    e.addEventListener(name, () => show(i, true));
  for (const name of ["mouseleave", "blur"])
    e.addEventListener(name, () => show(i, false));
});
"""


def to_html(frontier: Frontier, title: str = "") -> str:
    """Return the page of a frontier."""
    heading = escape(title or "Error against cost")
    scale = 100.0 if frontier.metric == "error" else 1.0
    unit = " (%)" if scale > 1 else ""
    sentences = [_sentence(point, frontier.metric, scale) for point in frontier.points]
    # "</" would end the script element inside a name.
    data = json.dumps(sentences).replace("</", "<\\/")
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{heading}</title>
<style>{STYLE}</style>
</head>
<body>
<h1>{heading}</h1>
<p>Means over {frontier.n_folds} folds, with intervals of {frontier.confidence:.0%}. All
tests together cost {frontier.cost_of_all:g}. On the dotted line lies the best that
these models reach, mixed at random.</p>
{_legend(frontier)}
{_plot(frontier, scale, escape(frontier.metric) + unit)}
<p id="tip">Point at a mark, or step through them with the tabulator.</p>
{_table(frontier, scale, escape(frontier.metric) + unit)}
<script type="application/json" id="points">{data}</script>
<script>{SCRIPT}</script>
</body>
</html>
"""


def _sentence(point: FrontierPoint, metric: str, scale: float) -> str:
    name = f"{point.model}, {point.setting}" if point.setting else point.model
    return (
        f"{name}: {metric} {scale * point.error:.4g} "
        f"({scale * point.error_low:.4g} to {scale * point.error_high:.4g}) at a mean "
        f"cost of {point.cost:.4g} ({point.cost_low:.4g} to {point.cost_high:.4g})."
    )


def _plot(frontier: Frontier, scale: float, label: str) -> str:
    points = frontier.points
    most_cost = max([p.cost_high for p in points] + [1e-12])
    most_error = max([scale * p.error_high for p in points] + [1e-12])
    y_ticks = _ticks(most_error)
    x_ticks, share = _cost_axis([p.cost for p in points], most_cost)

    def x(cost: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * share(cost)

    def y(error: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * error / y_ticks[-1]

    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{label} against mean cost">'
    ]
    for tick in y_ticks:
        parts.append(
            f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(tick):.1f}" '
            f'y2="{y(tick):.1f}"/><text x="{LEFT - 8}" y="{y(tick) + 4:.1f}" '
            f'text-anchor="end">{tick:g}</text>'
        )
    for tick in x_ticks:
        parts.append(
            f'<text x="{x(tick):.1f}" y="{HEIGHT - BOTTOM + 20}" '
            f'text-anchor="middle">{tick:g}</text>'
        )
    parts.append(
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 8}" '
        'text-anchor="middle">mean cost of a case</text>'
        f'<text transform="translate(16 {(HEIGHT - BOTTOM) / 2:.0f}) rotate(-90)" '
        f'text-anchor="middle">{label}</text>'
    )
    hull = " ".join(
        f"{x(p.cost):.1f},{y(scale * p.error):.1f}" for p in frontier.hull()
    )
    parts.append(f'<polyline class="hull" points="{hull}"/>')
    where = {point: i for i, point in enumerate(points)}
    for number, curve in enumerate(frontier.curves().values()):
        parts += _curve(curve, COLOURS[number % len(COLOURS)], where, x, y, scale)
    return "\n".join([*parts, "</svg>"])


def _cost_axis(
    costs: list[float], most: float
) -> tuple[list[float], Callable[[float], float]]:
    """Return ticks, and where on the axis a cost stands, from 0 to 1.

    Costs of several magnitudes stand by their logarithm, so that cheap models are not
    crowded at the edge; nothing at all stands at 0.

    Examples
    --------
    >>> ticks, share = _cost_axis([0.0, 1.0, 99.0], 99.0)
    >>> ticks
    [0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0]
    >>> share(0.0), share(99.0)
    (0.0, 1.0)
    """
    least = min((cost for cost in costs if cost > 0), default=most)
    if most < WIDE * least:
        ticks = _ticks(most)
        return ticks, lambda cost: cost / ticks[-1]
    first = math.floor(math.log10(least))
    powers = range(first, math.floor(math.log10(most)) + 1)
    marks = [round(m * 10.0**p, 12) for p in powers for m in (1, 2, 5)]
    ticks = [0.0] + [mark for mark in marks if least * 0.99 <= mark <= most]
    return ticks, lambda cost: math.log1p(cost / least) / math.log1p(most / least)


def _legend(frontier: Frontier) -> str:
    keys = [
        f'<span class="name"><span class="key" style="background:'
        f'{COLOURS[i % len(COLOURS)]}"></span>{escape(name)}</span>'
        for i, name in enumerate(frontier.curves())
    ]
    return f"<p>{' '.join(keys)}</p>"


def _curve(
    curve: list[FrontierPoint],
    colour: str,
    where: dict[FrontierPoint, int],
    x: Any,
    y: Any,
    scale: float,
) -> list[str]:
    line = " ".join(f"{x(p.cost):.1f},{y(scale * p.error):.1f}" for p in curve)
    parts = [f'<polyline class="curve" stroke="{colour}" points="{line}"/>']
    for p in curve:
        at_x, at_y = x(p.cost), y(scale * p.error)
        parts.append(
            f'<path class="bar" stroke="{colour}" d="M{x(p.cost_low):.1f} {at_y:.1f}'
            f"H{x(p.cost_high):.1f}M{at_x:.1f} {y(scale * p.error_low):.1f}"
            f'V{y(scale * p.error_high):.1f}"/>'
        )
        label = f"{p.model} {p.setting}".strip()
        parts.append(
            f'<circle cx="{at_x:.1f}" cy="{at_y:.1f}" r="5" fill="{colour}" '
            f'tabindex="0" data-i="{where[p]}"><title>{escape(label)}</title></circle>'
        )
    return parts


def _table(frontier: Frontier, scale: float, label: str) -> str:
    on_hull = set(frontier.hull())
    where = {point: i for i, point in enumerate(frontier.points)}
    rows = []
    for number, curve in enumerate(frontier.curves().values()):
        colour = COLOURS[number % len(COLOURS)]
        for p in curve:
            rows.append(
                f'<tr data-i="{where[p]}"><td><span class="key" '
                f'style="background:{colour}"></span>{escape(p.model)}</td>'
                f"<td>{escape(p.setting)}</td>"
                f'<td class="n">{p.cost:.4g}</td>'
                f'<td class="n wide">{p.cost_low:.4g} to {p.cost_high:.4g}</td>'
                f'<td class="n">{scale * p.error:.4g}</td>'
                f'<td class="n wide">{scale * p.error_low:.4g} to '
                f"{scale * p.error_high:.4g}</td>"
                f"<td>{'yes' if p in on_hull else ''}</td></tr>"
            )
    return (
        "<table><thead><tr><th>model</th><th>setting</th>"
        '<th class="n">mean cost</th><th class="n wide">interval</th>'
        f'<th class="n">{label}</th><th class="n wide">interval</th>'
        "<th>on the hull</th>"
        "</tr></thead><tbody>\n" + "\n".join(rows) + "\n</tbody></table>"
    )


def _ticks(most: float) -> list[float]:
    """Return round numbers from 0 to at least the largest value.

    Examples
    --------
    >>> _ticks(47.0)
    [0.0, 10.0, 20.0, 30.0, 40.0, 50.0]
    """
    rough = most / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(s * power for s in (1, 2, 2.5, 5, 10) if s * power >= rough * 0.999)
    n_steps = math.ceil(most / step - 1e-9)
    return [round(i * step, 12) for i in range(max(n_steps, 1) + 1)]
