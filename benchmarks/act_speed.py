"""Time ACT against its plain twin, with one thread and two, and as it grows."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from timing import row, time_both

from askless import ACTClassifier, Costs, CostTreeClassifier
from askless._core.cost._criteria import SplitCriterion
from askless._core.cost._induce import Inducer
from askless._core.cost._samples import Sampling
from askless._core.cost._workspace import Workspace
from askless.datasets import load_public
from askless.problem import PriceList
from askless.testing import PlainGrower

FIGURE = Path(__file__).parent.parent / "docs" / "images" / "act_speed.png"


def random_rows(n_rows: int, n_tests: int) -> tuple[Any, Any, Any, Any]:
    """Return coded rows, half of the tests numbers; and the classes."""
    rng = np.random.default_rng(0)
    n_levels = np.array([4 if t % 2 else 40 for t in range(n_tests)], dtype=np.int32)
    is_ordered = (n_levels > 4).astype(np.uint8)
    codes = np.array([rng.integers(0, n, n_rows) for n in n_levels], dtype=np.uint8)
    signal = codes[0] / 40 + codes[1] / 4 + rng.normal(0, 0.4, n_rows)
    classes = (signal > np.median(signal)).astype(np.int32)
    return codes, n_levels, is_ordered, classes


def compare_with_twin(quick: bool) -> dict[str, object]:
    """Grow the same tree both ways."""
    codes, n_levels, is_ordered, classes = random_rows(60 if quick else 150, 6)
    n, prices = len(classes), PriceList.plain(np.arange(1.0, 7.0))
    mistakes = np.array([[0.0, 50.0], [50.0, 0.0]])
    plain = PlainGrower(
        codes.tolist(), n_levels.tolist(), is_ordered.tolist(), classes.tolist(),
        [1.0] * n, mistakes.tolist(), prices, criterion="eg2", n_samples=5,
    )  # fmt: skip

    def grow() -> None:
        workspace = Workspace(
            codes, n_levels, is_ordered, np.arange(n + 1, dtype=np.int64), classes,
            np.ones(n), mistakes, prices.engine,
        )  # fmt: skip
        Inducer(
            workspace, SplitCriterion("eg2"), Sampling(5), value="cost",
            stop=np.zeros(1, np.int32),
        ).grow()  # fmt: skip

    start = time.perf_counter()
    plain.grow()
    theirs = time.perf_counter() - start
    ours, _ = time_both(grow, lambda: None, 5)
    return row("ACT, 5 samples, against its plain twin", ours, theirs, 300)


def make_frame(n_rows: int, n_tests: int) -> tuple[Any, Any]:
    """Return numbers with a class that two of them tell in part."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n_rows, n_tests)).round(1)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(0, 0.5, n_rows) > 0).astype(int)
    return X, y


def fit_seconds(n_rows: int, n_tests: int, samples: int) -> float:
    """Return the least seconds of the processor of two fits, on one thread."""
    X, y = make_frame(n_rows, n_tests)
    model = ACTClassifier(
        Costs([1.0] * n_tests), 50, samples=samples, random_state=0, n_jobs=1
    )
    best = np.inf
    for _ in range(2):
        start = time.process_time()
        model.fit(X, y)
        best = min(best, time.process_time() - start)
    return float(best)


def busiest_thread(call: Callable[[], None]) -> tuple[float, float]:
    """Return the seconds of a call, and the CPU time of the thread that worked most."""
    import psutil

    process, most, done = psutil.Process(), {}, threading.Event()

    def look() -> dict[int, float]:
        return {t.id: t.user_time + t.system_time for t in process.threads()}

    def watch() -> None:
        while not done.wait(0.01):
            most.update(look())

    before = look()
    watcher = threading.Thread(target=watch)
    watcher.start()
    start = time.perf_counter()
    call()
    seconds = time.perf_counter() - start
    done.set()
    watcher.join()
    return seconds, max(cpu - before.get(thread, 0.0) for thread, cpu in most.items())


def compare_threads(quick: bool) -> dict[str, object]:
    """Grow a long tree with one thread and with two.

    On a machine with other work, two threads do not get two cores. What counts then is
    the CPU time of the busier thread: what the wall time would be on a quiet one.
    """
    X, y = make_frame(500 if quick else 8000, 10)

    def fit(n_jobs: int) -> None:
        ACTClassifier([1.0] * 10, 50, samples=5, random_state=0, n_jobs=n_jobs).fit(
            X, y
        )

    wall, cpu = [np.inf, np.inf], [np.inf, np.inf]
    for _ in range(2 if quick else 10):
        for n_jobs in (1, 2):
            seconds, busiest = busiest_thread(lambda n_jobs=n_jobs: fit(n_jobs))
            wall[n_jobs - 1] = min(wall[n_jobs - 1], seconds)
            cpu[n_jobs - 1] = min(cpu[n_jobs - 1], busiest)
    is_busy = os.getloadavg()[0] > (os.cpu_count() or 1) + 1
    found = (
        f"{wall[0] / wall[1]:.2f} times by the clock, "
        f"{cpu[0] / cpu[1]:.2f} by the busier thread (>= 1.6"
        + ("; other work was running)" if is_busy else ")")
    )
    # The clock decides, on a busy machine too.
    met = "yes" if wall[0] / wall[1] >= 1.6 else "no"
    return {"what": "ACT, two threads against one", "found": found, "met": met}


def time_recommended(name: str, most: float) -> dict[str, object]:
    """Fit the recommended learner to all raw rows of a set, on one thread.

    A mistake costs ten times all tests together. Seconds of the processor: the clock of
    a machine with other work says more about that work.
    """
    examples = load_public(name)
    X, y = examples.to_frame(), np.asarray(examples.y)
    best = np.inf
    for _ in range(2):
        model = CostTreeClassifier(examples.costs.with_mistakes(None), n_jobs=1)
        start = time.process_time()
        model.fit(X, y)
        best = min(best, time.process_time() - start)
    found = f"{len(y):,} rows, {len(model.classes_)} classes: {best:.2f} s (< {most:g})"
    met = "yes" if best < most else "no"
    return {"what": f"CostTreeClassifier on raw {name}", "found": found, "met": met}


def growth(quick: bool) -> dict[str, list[tuple[int, float]]]:
    """Return seconds against samples, rows and tests."""
    n = 300 if quick else 600
    return {
        "samples": [(r, fit_seconds(n, 8, r)) for r in (2, 4, 8, 16, 32)],
        "rows": [(m, fit_seconds(m, 8, 5)) for m in (n // 2, n, 2 * n, 4 * n)],
        "tests": [(t, fit_seconds(n, t, 5)) for t in (4, 8, 16, 32)],
    }


def draw_growth(curves: dict[str, list[tuple[int, float]]], path: Path) -> None:
    """Draw seconds against samples, rows and tests; a dashed line is linear."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    figure, axes = pyplot.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
    for axis, (name, points) in zip(axes, curves.items(), strict=True):
        x, seconds = np.array(points).T
        axis.loglog(x, seconds, marker="o", color="#e6550d")
        axis.loglog(x, seconds[0] * x / x[0], "--", color="#888888", linewidth=1)
        axis.set_xticks(x, [f"{value:g}" for value in x])
        axis.xaxis.set_minor_locator(NullLocator())
        axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
        axis.yaxis.set_minor_locator(NullLocator())
        axis.set_xlabel(name)
        axis.set_ylabel("seconds")
        axis.grid(alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def measure_speed(quick: bool) -> list[dict[str, object]]:
    """Return rows of ratios, and of how time grows."""
    one = compare_with_twin(quick)
    found = f"{one['ratio']:.3g} times, {one['askless']:.3g} s ({one['asked']})"
    rows = [{"what": one["what"], "found": found, "met": one["met"]}]
    rows.append(compare_threads(quick))
    rows.append(time_recommended("pima", 1.0))
    if not quick:
        rows.append(time_recommended("krk", 5.0))
    curves = growth(quick)
    if not quick:
        draw_growth(curves, FIGURE)
    for name, points in curves.items():
        x, seconds = np.array(points).T
        slope = np.polyfit(np.log(x), np.log(seconds), 1)[0]
        found = " ".join(f"{a:g}: {s:.3g} s" for a, s in points)
        found += f"; grows as {name}^{slope:.2f}"
        met = "yes" if name != "samples" or slope < 1.25 else "no"
        rows.append({"what": f"ACT, time against {name}", "found": found, "met": met})
    return rows
