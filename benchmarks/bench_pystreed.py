"""Total cost of held-out rows: CostTreeClassifier against optimal trees of pystreed.

Cost is 100 times the mean cost of rows held out, tests and mistakes, over the standard
cost: all tests and always deciding for the largest class at the dearest mistake. Splits
20 and above are reported; settings were chosen on splits below 10, and splits 10 to 14
told, of an earlier version, which sets to look at. ``--quick`` takes one split of the
small sets. Every fit is kept in ``results/pystreed_fits.jsonl``, so an
interrupted run goes on where it ended, and seconds may be of different hours of a busy
machine. A fit of pystreed that proves nothing within its time is listed, and counts
with the tree that it returns. "Distinct" splits draw patterns, so that no row held out
has been seen in training. ``python benchmarks/bench_pystreed.py --list reported`` fits
the sets that no choice was made on, for the section of ``bench_pystreed_reported.py``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from cost_problems import LARGE, Problem, held_out_cost, load_problem, problem_names
from set_lists import REPORTED

from askless import CostTreeClassifier
from askless.datasets._price_files import LEVELS

HERE = Path(__file__).parent
FIGURE = HERE.parent / "docs" / "images" / "pystreed.png"
KINDS = ("plain", "distinct")
DEPTHS = (3, 4)
FIRST_SPLIT = 20
N_SPLITS = int(os.environ.get("ASKLESS_SPLITS", "10"))
# Of the reported list: prices of 1 on even splits, drawn ones on odd splits.
N_REPORTED_SPLITS = int(os.environ.get("ASKLESS_REPORTED_SPLITS", "2"))
SMALL = ("vehicle", "contraceptive", "kr_vs_kp")
# Seconds that pystreed gets for one fit.
TIME_LIMIT = 60.0
# What ties: costs that differ by less, relatively.
SAME = 0.02


def list_jobs(quick: bool) -> Iterator[dict[str, Any]]:
    """Yield what is to be fitted, set by set."""
    for name in problem_names():
        is_large = name in LARGE
        if quick and is_large:
            continue
        n_splits = 1 if quick or is_large else N_SPLITS
        for kind in KINDS:
            for split in range(FIRST_SPLIT, FIRST_SPLIT + n_splits):
                for level in LEVELS:
                    yield {"set": name, "kind": kind, "split": split, "level": level}


def list_reported_jobs(quick: bool) -> Iterator[dict[str, Any]]:
    """Yield what is to be fitted of the reported list, split by split."""
    for split in range(FIRST_SPLIT, FIRST_SPLIT + N_REPORTED_SPLITS):
        for name in SMALL if quick else REPORTED:
            full = f"P:{name}:drawn" if split % 2 else f"P:{name}"
            for level in LEVELS:
                yield {"set": full, "kind": "plain", "split": split, "level": level}


def key_of(fit: dict[str, Any]) -> tuple[Any, ...]:
    return (fit["set"], fit["kind"], fit["split"], fit["level"], fit["model"])


class Kept:
    """The fits done so far, in a file that only grows."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.fits: dict[tuple[Any, ...], dict[str, Any]] = {}
        if path is not None and path.is_file():
            for line in path.read_text().splitlines():
                fit = json.loads(line)
                self.fits[key_of(fit)] = fit

    def add(self, fit: dict[str, Any]) -> None:
        self.fits[key_of(fit)] = fit
        if self.path is not None:
            self.path.parent.mkdir(exist_ok=True)
            with self.path.open("a") as file:
                file.write(json.dumps(fit) + "\n")


def fit_ours(problem: Problem, job: dict[str, Any]) -> dict[str, Any]:
    """Fit the recommended learner, as it comes, on one thread."""
    train, test = problem.split(job["split"], job["kind"])
    rows, y = problem.frame(train), problem.y[train]
    classes = np.unique(y)
    mistakes = problem.mistakes[job["level"]][np.ix_(classes, classes)]
    start, used = time.perf_counter(), time.process_time()
    model = CostTreeClassifier(problem.costs, mistakes).fit(rows, y)
    seconds = time.perf_counter() - start
    used = time.process_time() - used
    held_out = problem.frame(test)
    cost = held_out_cost(
        problem, job["level"], test, model.cost(held_out), model.predict(held_out)
    )
    return {**job, "model": "askless", "cost": cost, "seconds": seconds, "used": used}


def fit_theirs(jobs: list[dict[str, Any]], kept: Kept) -> None:
    """Fit pystreed in processes of its own; a job that kills one is left out."""
    waiting = [job for job in jobs if key_of(job) not in kept.fits]
    while waiting:
        n_done = 0
        # A file, not a pipe: a long list would fill the pipe and wait for ever.
        with tempfile.TemporaryFile("w+") as listed:
            listed.writelines(json.dumps(job) + "\n" for job in waiting)
            listed.seek(0)
            with subprocess.Popen(
                [sys.executable, str(HERE / "streed_worker.py")],
                stdin=listed,
                stdout=subprocess.PIPE,
                text=True,
            ) as process:
                for line in process.stdout or ():
                    kept.add(json.loads(line))
                    n_done += 1
        if n_done < len(waiting):
            print(f"pystreed ended its process on {waiting[n_done]}", flush=True)
        waiting = waiting[n_done + 1 :]


def fit_all(jobs: list[dict[str, Any]], kept: Kept, whose: str = "both") -> list[Any]:
    """Fit what is not kept yet, set by set; return the fits of the jobs."""
    for name in dict.fromkeys(job["set"] for job in jobs):
        of_set = [job for job in jobs if job["set"] == name]
        waiting = [j for j in of_set if (*j.values(), "askless") not in kept.fits]
        if waiting and whose != "theirs":
            problem = load_problem(name)
            for job in waiting:
                kept.add(fit_ours(problem, job))
        if whose != "ours":
            fit_theirs(
                [
                    {**job, "model": f"depth {d}", "depth": d, "time_limit": TIME_LIMIT}
                    for job in of_set
                    for d in DEPTHS
                ],
                kept,
            )
        print(name, end=" ", flush=True)
    print()
    wanted = {(*job.values(),) for job in jobs}
    return [fit for key, fit in kept.fits.items() if key[:4] in wanted]


def run(quick: bool) -> list[dict[str, object]]:
    """Return a row for each set and a summary."""
    kept = Kept(None if quick else HERE / "results" / "pystreed_fits.jsonl")
    fits = fit_all(list(list_jobs(quick)), kept)
    summarise(fits)
    if not quick:
        draw(fits)
    rows = [describe(name, fits) for name in dict.fromkeys(f["set"] for f in fits)]
    for kind in (None, *KINDS):
        rows += [judge(fits, model, kind) for model in ("depth 3", "depth 4", "better")]
    return rows


def mean_costs(
    fits: list[dict[str, Any]], kind: str | None = None
) -> dict[tuple[str, str], dict[str, float]]:
    """Return the mean cost of each model on each problem: a set and a level.

    Only splits that all models were fitted to count. "better" is the better depth of
    each problem, chosen on the rows held out.
    """
    by_split: dict[tuple[Any, ...], dict[str, float]] = {}
    for fit in fits:
        if kind in (None, fit["kind"]):
            by_split.setdefault(key_of(fit)[:4], {})[fit["model"]] = fit["cost"]
    models = ("askless", "depth 3", "depth 4")
    gathered: dict[tuple[str, str], list[list[float]]] = {}
    for (name, _, _, level), costs in by_split.items():
        if all(model in costs for model in models):
            gathered.setdefault((name, level), []).append([costs[m] for m in models])
    means = {}
    for problem, rows in gathered.items():
        found = dict(zip(models, np.mean(rows, axis=0).tolist(), strict=True))
        found["better"] = min(found["depth 3"], found["depth 4"])
        means[problem] = found
    return means


def relative(fits: list[dict[str, Any]], model: str, kind: str | None = None) -> Any:
    """Return our cost relative to a model's on each problem, less 1."""
    means = mean_costs(fits, kind)
    return {p: costs["askless"] / costs[model] - 1 for p, costs in means.items()}


def judge(
    fits: list[dict[str, Any]], model: str, kind: str | None = None
) -> dict[str, object]:
    """Return the row of a comparison with one depth, or with the better one."""
    fits = [fit for fit in fits if kind in (None, fit["kind"])]
    splits = "all splits" if kind is None else f"{kind} splits"
    ratios = np.array(list(relative(fits, model).values()))
    most = -0.05 if model != "better" else 0.0
    row = describe("mean relative cost", fits)
    seconds = {m: np.mean([f["seconds"] for f in fits if f["model"] == m]) for m in
               ("askless", "depth 3", "depth 4")}  # fmt: skip
    row |= {
        "set": f"{splits}, ours against {model}: {100 * ratios.mean():+.1f} %",
        "wins/ties/losses": count(ratios),
        "asked": "<= -5 %" if model != "better" else "< 0 %",
        "met": "yes" if ratios.mean() <= most else "no",
        "s ours/3/4": "/".join(f"{s:.2f}" for s in seconds.values()),
    }
    return row


def count(ratios: Any) -> str:
    wins, losses = int(np.sum(ratios < -SAME)), int(np.sum(ratios > SAME))
    return f"{wins}/{len(ratios) - wins - losses}/{losses}"


def describe(name: str, fits: list[dict[str, Any]]) -> dict[str, object]:
    """Return the row of a set; of all sets if there is none of that name."""
    of_set = [fit for fit in fits if fit["set"] == name] or fits
    means = mean_costs(of_set)
    models = ("askless", "depth 3", "depth 4")
    if not means:
        return {"set": name}
    cost = {m: float(np.mean([c[m] for c in means.values()])) for m in models}
    seconds = [
        np.mean([f["seconds"] for f in of_set if f["model"] == m]) for m in models
    ]
    ratios = np.array(list(relative(of_set, "better").values()))
    return {
        "set": name,
        "fits": sum(fit["model"] == "askless" for fit in of_set),
        **{m: round(c, 3) for m, c in cost.items()},
        "against the better": f"{100 * ratios.mean():+.1f} %",
        "wins/ties/losses": count(ratios),
        "s ours/3/4": "/".join(f"{s:.2f}" for s in seconds),
        "unproved": sum(not fit.get("is_optimal", True) for fit in of_set),
        "asked": "",
        "met": "",
    }


def summarise(fits: list[dict[str, Any]]) -> None:
    """Print what the table does not say."""
    for kind in KINDS:
        shown = []
        for model in ("depth 3", "depth 4", "better"):
            ratios = np.array(list(relative(fits, model, kind).values()))
            shown.append(f"{100 * ratios.mean():+.1f} % {model} ({count(ratios)})")
        print(f"{kind} splits: ours against {', '.join(shown)}")
    ratios = relative(fits, "better")
    lost = {p: r for p, r in ratios.items() if r > SAME}
    names = [f"{n} {level} {100 * r:+.1f} %" for (n, level), r in lost.items()]
    print(f"lost to the better depth by more than 2 %: {', '.join(names) or 'none'}")


def draw(fits: list[dict[str, Any]]) -> None:
    """Draw our cost relative to each depth, problem by problem."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(
        1, 3, figsize=(11, 5.4), layout="constrained", sharey=True
    )
    colors = {"low": "#9ecae1", "middle": "#3182bd", "high": "#08306b"}
    ratios = relative(fits, "depth 3")
    names = sorted(
        {name for name, _ in ratios},
        key=lambda n: -np.mean([r for (m, _), r in ratios.items() if m == n]),
    )
    for axis, model in zip(axes, ("depth 3", "depth 4", "better"), strict=True):
        ratios = relative(fits, model)
        for level, color in colors.items():
            points = [(i, 100 * ratios[n, level]) for i, n in enumerate(names)
                      if (n, level) in ratios]  # fmt: skip
            axis.plot(
                [r for _, r in points], [i for i, _ in points], "o", color=color,
                label=f"{level} cost of mistakes", markersize=5,
            )  # fmt: skip
        mean = 100 * np.mean(list(ratios.values()))
        axis.axvline(0, color="#888888", linewidth=0.8)
        axis.axvline(mean, color="#e6550d", linewidth=1.4, label="mean")
        title = f"pystreed, {model}" if model != "better" else "the better depth"
        axis.set_title(f"{title}: {mean:+.1f} %", fontsize=10)
        axis.set_xlabel("cost of held-out rows, relative to it, %")
        axis.set_yticks(range(len(names)), names)
        axis.grid(alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4, frameon=False)
    FIGURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(FIGURE, dpi=110)
    pyplot.close(figure)


def main() -> None:
    """Fit a list, and keep every fit; what they cost is not printed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", choices=("chosen", "reported"), default="chosen")
    parser.add_argument("--whose", choices=("both", "ours", "theirs"), default="both")
    chosen = parser.parse_args()
    if chosen.list == "chosen":
        jobs, file = list(list_jobs(False)), "pystreed_fits.jsonl"
    else:
        jobs, file = list(list_reported_jobs(False)), "pystreed_reported_fits.jsonl"
    fit_all(jobs, Kept(HERE / "results" / file), chosen.whose)


if __name__ == "__main__":
    main()
