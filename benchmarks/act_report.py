"""Tables, tests and figures of the protocol of the paper on ACT."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from act_protocol import LEARNERS, Results
from concepts import CONCEPTS
from scipy import stats

# Of a two-sided test.
LEVEL = 0.05
# A t-test of a problem needs so many folds.
LEAST_FOLDS = 4
NAMES = {
    "c45": "C4.5", "lsid3": "LSID3", "idx": "IDX", "csid3": "CS-ID3", "eg2": "EG2",
    "dtmc": "DTMC", "icet": "ICET", "act": "ACT",
}  # fmt: skip


def by_problem(frame: pd.DataFrame, value: str = "cost") -> pd.DataFrame:
    """Return the mean over folds: a row a problem and mistake, a column a learner."""
    keys = ["mistake", "set", "draw"]
    return frame.pivot_table(index=keys, columns="learner", values=value)


def summarise(frame: pd.DataFrame) -> pd.DataFrame:
    """Return mean normalised cost and accuracy of each learner, with 95 % intervals."""
    if frame.empty:
        return frame
    costs, accuracy = by_problem(frame), by_problem(frame, "accuracy")
    rows = {}
    for mistake, part in costs.groupby(level="mistake"):
        for value, table in (("cost", part), ("accuracy", accuracy.loc[part.index])):
            rows[f"{value} at {mistake:g}"] = {
                NAMES[name]: _interval(table[name].dropna())
                for name in LEARNERS
                if name in table
            }
    table = pd.DataFrame(rows).T
    table["problems"] = [
        len(costs.xs(float(label.split()[-1]), level="mistake"))
        if float(label.split()[-1]) in costs.index.get_level_values("mistake")
        else 0
        for label in table.index
    ]
    return table


def _interval(values: pd.Series) -> str:
    if len(values) < 2:
        return "-"
    half = stats.t.ppf(0.975, len(values) - 1) * values.sem()
    return (
        f"{values.mean():.1f} ±{half:.1f}"
        if values.mean() > 1
        else (f"{values.mean():.3f} ±{half:.3f}")
    )


def count_wins(frame: pd.DataFrame, one: str, other: str) -> dict[str, Any]:
    """Return how often each of two learners is better, by paired tests over folds."""
    both = frame[frame.learner.isin([one, other])].pivot_table(
        index=["set", "draw", "fold"], columns="learner", values="cost"
    ).dropna()  # fmt: skip
    if one not in both or other not in both:
        return {}
    wins = {one: 0, other: 0}
    n_tested = 0
    for _, part in both.groupby(level=["set", "draw"]):
        difference = (part[one] - part[other]).to_numpy()
        if len(difference) < LEAST_FOLDS:
            continue
        n_tested += 1
        if np.allclose(difference, 0):
            continue
        if difference.std() == 0:
            is_sure = True
        else:
            with warnings.catch_warnings():
                # All folds may differ by almost the same.
                warnings.simplefilter("ignore", RuntimeWarning)
                is_sure = stats.ttest_1samp(difference, 0).pvalue < LEVEL
        if is_sure:
            wins[one if difference.mean() < 0 else other] += 1
    # Draws of one set share its rows and folds: a set counts once.
    means = both.groupby(level=["set", "draw"]).mean().groupby(level="set").mean()
    difference = (means[one] - means[other]).to_numpy()
    some = difference[np.abs(difference) > 1e-9]
    p = float(stats.wilcoxon(some).pvalue) if len(some) > 5 else 1.0
    better = one if difference.mean() < 0 else other
    return {
        "n": len(means), "tested": n_tested, "p": p,
        "wins": wins[one], "losses": wins[other],
        "mean": float(means[one].mean()), "other": float(means[other].mean()),
        "winner": better if p < LEVEL else "neither",
    }  # fmt: skip


def list_means(results: Results) -> list[dict[str, object]]:
    """Return the means of every part as rows of the page."""
    rows: list[dict[str, object]] = []
    main = results.frame("main")
    if not main.empty:
        table = summarise(main)
        for label, row in table.iterrows():
            found = ", ".join(
                f"{name} {row[name]}" for name in table if name in NAMES.values()
            )
            what = f"{label}, {row['problems']} problems"
            rows.append({"what": what, "found": found, "met": "-"})
        fits = main.groupby("learner").size()
        found = ", ".join(
            f"{NAMES[name]} {fits[name]:,}" for name in LEARNERS if name in fits
        )
        rows.append({"what": "held-out folds priced", "found": found, "met": "-"})
    for part, keys in (
        ("expert", ["set", "mistake"]),
        ("random costs", ["mistake"]),
        ("uneven mistakes", ["mistake", "ratio"]),
    ):
        frame = results.frame(part)
        if frame.empty:
            continue
        table = frame.pivot_table(index=keys, columns="learner", values="cost")
        for key, row in table.iterrows():
            label = " ".join(
                f"{k:g}" if isinstance(k, float | int) else str(k)
                for k in (key if isinstance(key, tuple) else (key,))
            )
            found = ", ".join(
                f"{NAMES[name]} {row[name]:.1f}"
                for name in LEARNERS
                if name in row and row[name] == row[name]
            )
            rows.append({"what": f"{part} {label}", "found": found, "met": "-"})
    return rows


def _finding(
    what: str, holds: bool, found: str, *, sure: bool = True
) -> dict[str, object]:
    """Return a row; a finding may hold on average and yet not be sure."""
    met = ("holds" if sure else "on average") if holds else "not"
    return {"what": what, "found": found, "met": met}


def check_findings(results: Results) -> list[dict[str, object]]:
    """Return the paper's findings, whether they hold here, and the numbers."""
    main = results.frame("main")
    rows: list[dict[str, object]] = []
    for rival in ("dtmc", "icet", "eg2", "c45"):
        for mistake, part in main.groupby("mistake"):
            found = count_wins(part, "act", rival)
            if not found:
                continue
            # In the paper DTMC wins where mistakes cost least, and ACT everywhere else.
            expected = rival if rival == "dtmc" and mistake <= 100 else "act"
            name = NAMES[expected]
            better = "act" if found["mean"] < found["other"] else rival
            rows.append(
                _finding(
                    f"mistakes of {mistake:g}: {name} before "
                    f"{NAMES[rival if expected == 'act' else 'act']}",
                    better == expected,
                    f"ACT {found['mean']:.1f}, {NAMES[rival]} {found['other']:.1f}; "
                    f"t-test wins {found['wins']}:{found['losses']} of "
                    f"{found['tested']}; Wilcoxon over {found['n']} sets, p "
                    f"{found['p']:.2g}",
                    sure=found["winner"] == expected,
                )
            )
    rows += _check_concepts(main)
    rows += _check_accuracy(main)
    rows += _check_anytime(results)
    return rows


def _check_concepts(main: pd.DataFrame) -> list[dict[str, object]]:
    """Check that look-ahead learns what no single test tells anything about."""
    part = main[main.set.isin(CONCEPTS) & (main.mistake >= 5000)]
    if part.empty:
        return []
    means = part.pivot_table(index="set", columns="learner", values="cost")
    rows = []
    for name, row in means.iterrows():
        rivals = [r for r in ("eg2", "dtmc", "c45", "icet") if r in row]
        rows.append(
            _finding(
                f"{name}: ACT before the greedy learners",
                all(row["act"] <= row[r] for r in rivals),
                ", ".join(f"{NAMES[r]} {row[r]:.1f}" for r in ("act", *rivals)),
            )
        )
    return rows


def _check_accuracy(main: pd.DataFrame) -> list[dict[str, object]]:
    """Check that ACT gives up accuracy where mistakes are cheap, and only there."""
    means = main.pivot_table(index="mistake", columns="learner", values="accuracy")
    if "c45" not in means:
        return []
    low, high = means.iloc[0], means.iloc[-1]
    return [
        _finding(
            "ACT gives up accuracy when mistakes are cheap",
            low["act"] < low["c45"] and low["act"] < high["act"],
            f"ACT {low['act']:.3f} to {high['act']:.3f}, C4.5 {low['c45']:.3f}",
        ),
        _finding(
            "at the dearest mistakes ACT is more accurate than C4.5",
            high["act"] > high["c45"],
            f"ACT {high['act']:.3f}, C4.5 {high['c45']:.3f}",
        ),
    ]


def anytime_curves(results: Results) -> pd.DataFrame:
    """Return mean cost and seconds of ACT by set and number of samples."""
    parts = sorted({k[0] for k in results.lines if str(k[0]).startswith("anytime ")})
    frames = [
        results.frame(part).assign(samples=int(part.split()[1])) for part in parts
    ]
    if not frames:
        return pd.DataFrame()
    return pd.concat(frames).groupby(["set", "samples"])[["cost", "seconds"]].mean()


def _check_anytime(results: Results) -> list[dict[str, object]]:
    """Check that more samples give cheaper trees."""
    curves = anytime_curves(results)
    if curves.empty:
        return []
    rows = []
    for name, curve in curves.groupby(level="set"):
        costs = curve.cost.to_numpy()
        rows.append(
            _finding(
                f"{name}: more samples cost less",
                costs[-1] <= costs[0],
                " ".join(f"{s}: {c:.1f}" for (_, s), c in curve.cost.items()),
            )
        )
    return rows


def summarise_expert(results: Results) -> str:
    """Return the mean cost of each learner on the sets with expert costs."""
    frame = results.frame("expert")
    if frame.empty:
        return "no results with expert costs"
    table = frame.pivot_table(
        index=["set", "mistake"], columns="learner", values="cost"
    )
    order = [name for name in LEARNERS if name in table]
    return (
        "Expert costs, groups and delays:\n"
        + table[order].rename(columns=NAMES).round(1).to_string()
    )


def summarise_uneven(results: Results) -> str:
    """Return the mean cost by the ratio of the two kinds of mistakes."""
    parts = []
    for part, keys in (
        ("uneven mistakes", ["mistake", "ratio"]),
        ("random costs", ["mistake"]),
    ):
        frame = results.frame(part)
        if not frame.empty:
            table = frame.pivot_table(index=keys, columns="learner", values="cost")
            parts.append(f"{part}:\n{table.rename(columns=NAMES).round(1).to_string()}")
    return "\n\n".join(parts) or "no results with uneven mistakes or random costs"


def draw_figures(results: Results, folder: Path) -> None:
    """Draw cost and accuracy against the cost of mistakes, and the other figures."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    folder.mkdir(parents=True, exist_ok=True)
    main = results.frame("main")
    figure, axes = pyplot.subplots(2, 3, figsize=(13, 8), layout="constrained")
    for axis, value in zip(axes[0], ("cost", "accuracy"), strict=False):
        means = main.pivot_table(index="mistake", columns="learner", values=value)
        for name in LEARNERS:
            if name in means:
                style = {"linewidth": 2.4, "color": "#e6550d"} if name == "act" else {}
                axis.plot(
                    means.index, means[name], marker="o", label=NAMES[name], **style
                )
        axis.set_xscale("log")
        axis.set_xlabel("cost of a mistake")
        axis.set_ylabel("% of standard cost" if value == "cost" else "accuracy")
        axis.set_title(f"{value} against the cost of mistakes")
    axes[0, 0].legend(fontsize=8)
    _draw_scatter(axes[0, 2], main)
    curves = anytime_curves(results)
    for name in (
        sorted(set(curves.index.get_level_values("set"))) if len(curves) else []
    ):
        curve = curves.loc[name]
        axes[1, 0].plot(curve.index, curve.cost, marker="o", label=name)
    axes[1, 0].set_xscale("log", base=2)
    axes[1, 0].set_xlabel("samples")
    axes[1, 0].set_title("more samples (mistakes of 5000)")
    axes[1, 0].legend(fontsize=8)
    _draw_part(axes[1, 1], results.frame("random costs"), "mistake", "random costs")
    _draw_part(axes[1, 2], results.frame("uneven mistakes"), "ratio", "uneven mistakes")
    for axis in axes.flat:
        axis.grid(alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(folder / "act.png", dpi=110)
    pyplot.close(figure)


def _draw_scatter(axis: Any, main: pd.DataFrame) -> None:
    """Draw ACT against ICET, a point a problem."""
    table = by_problem(main)
    if "icet" not in table:
        return
    both = table[["icet", "act"]].dropna()
    for mistake in (100, 1000, 10_000):
        if mistake in both.index.get_level_values("mistake"):
            part = both.xs(mistake, level="mistake")
            axis.scatter(part.icet, part.act, s=12, label=f"mistakes of {mistake:,}")
    top = float(both.to_numpy().max())
    axis.plot([0, top], [0, top], "--", color="#888888", linewidth=1)
    axis.set_xlabel("ICET, % of standard cost")
    axis.set_ylabel("ACT")
    axis.set_title("problems; ACT is better below the line")
    axis.legend(fontsize=8)


def _draw_part(axis: Any, frame: pd.DataFrame, key: str, title: str) -> None:
    axis.set_title(title)
    axis.set_xlabel("cost of a mistake" if key == "mistake" else "ratio of mistakes")
    if frame.empty:
        return
    means = frame.pivot_table(index=key, columns="learner", values="cost")
    for name in means:
        axis.plot(means.index, means[name], marker="o", label=NAMES[name])
    axis.set_xscale("log")
    axis.set_xticks(means.index, [f"{value:g}" for value in means.index])
    axis.minorticks_off()
    axis.legend(fontsize=8)
