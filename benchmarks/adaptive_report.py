"""Tables and pictures of ``bench_adaptive``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

AIMS = {"cost": 0.55, "accurate": 0.45, "same, .5 %": 0.5, "lossless": 0.7}
STYLES = {
    "ours": {"color": "#d95f02", "linewidth": 2.0, "zorder": 3},
    "CEGB": {"color": "#1b6ca8", "marker": "o"},
    "BudgetRF": {"color": "#2a9d5c", "marker": "s"},
    "forest": {"color": "#777777", "marker": "^"},
    "ASTC": {"color": "#9467bd", "marker": "v"},
}
LABELS = {
    "ours": "Askless: boosters run adaptively",
    "CEGB": "CEGB as it comes",
    "BudgetRF": "budgeted forest",
    "forest": "random forest, 1 to 40 trees",
    "ASTC": "ASTC",
}


def mean_ratio(values: list[float]) -> float:
    """Return the geometric mean; less than 0.01 counts as that, more than 100 too."""
    if not values:
        return float("nan")
    return float(np.exp(np.mean(np.log(np.clip(values, 0.01, 100.0)))))


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


def summarise(name: str, runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a row: geometric means over points and seeds of one set."""
    points = [p for run in runs for p in run["points"]["CEGB"]]
    accurate = [p for p in points if p["accurate"]]
    same = [s for run in runs for s in run["same"]]
    by_seed = [mean_ratio([p["ratio"] for p in r["points"]["CEGB"]]) for r in runs]
    by_seed = [ratio for ratio in by_seed if np.isfinite(ratio)]
    row: dict[str, Any] = {
        "set": name,
        "rows": "/".join(f"{n:,}" for n in runs[0]["rows"]),
        "seeds": len(runs),
        "cost": mean_ratio([p["ratio"] for p in points]),
        "±": float(np.std(by_seed)) if by_seed else float("nan"),
        "error, points": 100 * _mean([p["change"] for p in points]),
        "accurate": mean_ratio([p["ratio"] for p in accurate]),
        "its error, points": 100 * _mean([p["change"] for p in accurate]),
        "same, .5 %": mean_ratio([s["early"] for s in same]),
        "changed, %": 100 * _mean([s["changed"] for s in same]),
        "lossless": mean_ratio([s["lossless"] for s in same]),
    }
    for rival in ("BudgetRF", "forest", "ASTC"):
        met = [p for run in runs for p in run["points"].get(rival, [])]
        missed = sum(p["missed"] for p in met)
        row[rival] = mean_ratio([p["ratio"] for p in met])
        row[f"{rival}: error, points"] = 100 * _mean([p["change"] for p in met])
        row[f"{rival}: missed"] = f"{missed} of {len(met)}"
    return row


def _total(label: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    total: dict[str, Any] = {"set": label, "rows": "", "seeds": ""}
    ratios = {*AIMS, "BudgetRF", "forest", "ASTC"}
    for key in list(rows[0])[3:]:
        if key.endswith("missed"):
            pairs = [row[key].split(" of ") for row in rows]
            total[key] = " of ".join(
                str(sum(int(pair[i]) for pair in pairs)) for i in (0, 1)
            )
            continue
        values = [row[key] for row in rows if np.isfinite(row[key])]
        total[key] = mean_ratio(values) if key in ratios else _mean(values)
    return total


def make_rows(
    runs: list[dict[str, Any]], sets: Any, small: Any
) -> list[dict[str, object]]:
    """Return a row for each set, and rows of geometric means over sets."""
    by_set = {s: [run for run in runs if run["set"] == s] for s in sets}
    rows = [summarise(name, found) for name, found in by_set.items() if found]
    large = [row for row in rows if row["set"] not in small]
    totals = [_total("all", rows)]
    if large and len(large) < len(rows):
        totals.append(_total("all but the three of few rows", large))
    aim: dict[str, Any] = {key: "" for key in rows[0]} | {"set": "aim"}
    aim |= {key: f"<= {value}" for key, value in AIMS.items()}
    aim |= {"error, points": "<= 0", "its error, points": "<= 0"}
    wins = _count_wins(by_set)
    return [*rows, *totals, aim, {key: "" for key in rows[0]} | wins]


def _count_wins(by_set: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """Return on how many points ours is cheaper on the test rows and errs no more."""
    row: dict[str, Any] = {"set": "cheaper, with no more error"}
    names = {"CEGB": "cost", "BudgetRF": "BudgetRF", "forest": "forest", "ASTC": "ASTC"}
    for rival, column in names.items():
        points = [
            p for runs in by_set.values() for run in runs
            for p in run["points"].get(rival, [])
        ]  # fmt: skip
        both = sum(p["ratio"] < 1 and p["change"] <= 0 for p in points)
        row[column] = f"{both} of {len(points)}"
    return row


def draw_curves(runs: list[dict[str, Any]], path: Path) -> None:
    """Draw error against cost on the test rows of the first seed of each set."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    first = {}
    for run in sorted(runs, key=lambda run: run["seed"]):
        first.setdefault(run["set"], run)
    n_wide = 4
    n_high = -(-len(first) // n_wide)
    figure, axes = pyplot.subplots(
        n_high, n_wide, figsize=(3.3 * n_wide, 2.6 * n_high), layout="constrained"
    )
    for axis in axes.flat[len(first) :]:
        axis.set_visible(False)
    for axis, (name, run) in zip(axes.flat, first.items(), strict=False):
        errors = []
        for label, style in STYLES.items():
            curve = [p for p in run["curves"].get(label, []) if p[0] > 0]
            if not curve:
                continue
            costs, error = zip(*sorted(curve), strict=True)
            errors += list(error)
            axis.plot(
                costs, [100 * e for e in error], label=LABELS[label],
                **{"markersize": 3.5, "linewidth": 1.0, **style},
            )  # fmt: skip
        axis.set_xscale("log")
        low, high = axis.get_xlim()
        marks = (1, 2, 5) if high < 40 * low else (1,)
        axis.xaxis.set_major_locator(LogLocator(subs=marks))
        axis.xaxis.set_major_formatter(FuncFormatter(lambda cost, _: f"{cost:g}"))
        axis.xaxis.set_minor_formatter(NullFormatter())
        # What is far worse than the rest would hide it.
        axis.set_ylim(top=100 * min(max(errors), 3.0 * min(errors) + 0.02))
        axis.set_title(name, fontsize=9)
        axis.grid(alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)
        axis.tick_params(labelsize=7)
    for axis in axes[:, 0]:
        axis.set_ylabel("error, %", fontsize=8)
    for i, axis in enumerate(axes.flat):
        if i + n_wide >= len(first):
            axis.set_xlabel("mean cost of a row", fontsize=8)
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=5, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
