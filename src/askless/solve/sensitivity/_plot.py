"""Draw a tornado: a bar for each number, from its cost at one end to the other."""

from __future__ import annotations

from typing import Any

from askless._extras import import_extra
from askless._text import escape_unprintable
from askless.solve.sensitivity._report import Influence, Sensitivity

__all__ = ["plot_tornado"]

# Longer names are cut.
MOST_LETTERS = 48
LESS, MORE, MARK = "#5b8db8", "#d98b4a", "#b03a2e"


def plot_tornado(found: Sensitivity, ax: Any = None, *, most: int = 15) -> Any:
    """Draw the rows of largest effect; see :meth:`Sensitivity.plot`."""
    figure = import_extra("matplotlib.figure", "plot", "Plotting")
    # What has no effect has no bar.
    rows = [row for row in found.rows if row.effect > 1e-9 * found.cost][:most]
    if ax is None:
        size = (7.0, 1.3 + 0.28 * len(rows))
        ax = figure.Figure(figsize=size, layout="constrained").subplots()
    percent = f"{100 * found.swing:g} %"
    for place, row in enumerate(rows):
        ends = ((row.cost_low, LESS, "less"), (row.cost_high, MORE, "more"))
        for cost, colour, word in ends:
            label = f"{percent} {word}" if place == 0 else None
            width = cost - found.cost
            ax.barh(place, width, left=found.cost, color=colour, label=label)
    ax.axvline(found.cost, color="0.3", linewidth=0.8)
    ax.set_yticks(range(len(rows)), [_label(row) for row in rows])
    for text, row in zip(ax.get_yticklabels(), rows, strict=True):
        # A dollar sign in a name is no formula.
        text.set_parse_math(False)
        if _changes_within(row):
            text.set_color(MARK)
    ax.invert_yaxis()
    note = "\n* another first test or decision is better within the swing"
    is_marked = any(_changes_within(row) for row in rows)
    ax.set_xlabel(f"expected cost of the policy as it is{note if is_marked else ''}")
    title = ax.set_title(f"first: {found.first_test}", fontsize="medium")
    title.set_parse_math(False)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(left=False)
    ax.legend(frameon=False, fontsize="small")
    return ax


def _changes_within(row: Influence) -> bool:
    """Return whether a choice changes inside the swing."""
    found = [c.value for c in (*row.first_test, *row.decision) if c is not None]
    return any(row.low <= value <= row.high for value in found)


def _label(row: Influence) -> str:
    name = escape_unprintable(row.name)
    if len(name) > MOST_LETTERS:
        name = f"{name[: MOST_LETTERS - 1]}…"
    name = f"{name} ({row.value:.3g})"
    return f"{name} *" if _changes_within(row) else name
