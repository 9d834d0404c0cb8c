"""Draw what the benchmarks measure. Needs matplotlib, of the extra ``plot``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

Curve = list[tuple[float, float]]

# Blues get darker with the power; the hinge stands out; the best is a thick line, and
# the proof, where there is one, the floor below all of them.
STYLES: dict[str, dict[str, Any]] = {
    "Powers 2": {"color": "#9ecae1", "marker": "o"},
    "Powers 3": {"color": "#6baed6", "marker": "s"},
    "Powers 4": {"color": "#3182bd", "marker": "^"},
    "Powers 5": {"color": "#08519c", "marker": "v"},
    "hinged": {"color": "#e6550d", "marker": "D"},
    "best": {"color": "#111111", "marker": "", "linewidth": 2.0},
    "proved": {"color": "#31a354", "marker": "*", "markersize": 9, "linewidth": 2.0},
}
LABELS = {
    "Powers 2": "Powers 2 (Pairs), stopped early",
    "Powers 3": "Powers 3",
    "Powers 4": "Powers 4",
    "Powers 5": "Powers 5",
    "hinged": "hinged pairs, by alpha",
    "best": "solve(budget=...), the portfolio",
    "proved": "proved: no policy errs less",
}


def draw_tradeoffs(panels: dict[str, dict[str, Curve]], path: Path) -> None:
    """Draw a panel of error against worst cost for each title, and save it."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.ticker import MaxNLocator

    figure, axes = pyplot.subplots(3, 3, figsize=(11, 9.2), layout="constrained")
    for axis, (name, curves) in zip(axes.flat, panels.items(), strict=False):
        for label, style in STYLES.items():
            if label not in curves:
                continue
            costs, errors = zip(*curves[label], strict=True)
            axis.plot(
                costs,
                [100 * error for error in errors],
                label=LABELS[label],
                **{"linewidth": 1.1, "markersize": 4, **style},
            )
        _dress(axis, name)
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    for axis in axes[-1]:
        axis.set_xlabel("tests on the longest path")
    for axis in axes[:, 0]:
        axis.set_ylabel("error, %")
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def _dress(axis: Any, name: str) -> None:
    axis.set_title(name, fontsize=10)
    axis.set_ylim(bottom=0)
    axis.set_xlim(left=0)
    axis.grid(alpha=0.25)
    axis.spines[["top", "right"]].set_visible(False)


def draw_fronts(panels: dict[str, dict[str, Curve]], path: Path) -> None:
    """Draw error against expected cost, proved and greedy, a panel for each title."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 4, figsize=(13, 6.4), layout="constrained")
    looks = {
        "portfolio": ("greedy portfolio, solve(max_error=...)", "#111111", "o"),
        "proved": ("proved: no policy lies below", "#31a354", "*"),
    }
    for axis, (name, curves) in zip(axes.flat, panels.items(), strict=False):
        for key, (label, color, marker) in looks.items():
            costs, errors = zip(*curves[key], strict=True)
            shown = [100 * error for error in errors]
            axis.plot(costs, shown, label=label, color=color, marker=marker)
        _dress(axis, name)
    for axis in axes[-1]:
        axis.set_xlabel("tests on average")
    for axis in axes[:, 0]:
        axis.set_ylabel("error, %")
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
