"""Draw what the benchmarks measure. Needs matplotlib, of the extra ``plot``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

Curve = list[tuple[float, float]]

# Blues get darker with the power; the hinge stands out; the best is a thick floor.
STYLES: dict[str, dict[str, Any]] = {
    "Powers 2": {"color": "#9ecae1", "marker": "o"},
    "Powers 3": {"color": "#6baed6", "marker": "s"},
    "Powers 4": {"color": "#3182bd", "marker": "^"},
    "Powers 5": {"color": "#08519c", "marker": "v"},
    "hinged": {"color": "#e6550d", "marker": "D"},
    "best": {"color": "#111111", "marker": "", "linewidth": 2.0},
}
LABELS = {
    "Powers 2": "Powers 2 (Pairs), stopped early",
    "Powers 3": "Powers 3",
    "Powers 4": "Powers 4",
    "Powers 5": "Powers 5",
    "hinged": "hinged pairs, by alpha",
    "best": "solve(budget=...)",
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
            costs, errors = zip(*curves[label], strict=True)
            axis.plot(
                costs,
                [100 * error for error in errors],
                label=LABELS[label],
                markersize=4,
                **{"linewidth": 1.1, **style},
            )
        axis.set_title(name, fontsize=10)
        axis.set_ylim(bottom=0)
        axis.set_xlim(left=0)
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
        axis.grid(alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)
    for axis in axes[-1]:
        axis.set_xlabel("tests on the longest path")
    for axis in axes[:, 0]:
        axis.set_ylabel("error, %")
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=6, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
