"""Greedy trees: time against cases, tests and classes, and against scikit-learn's tree.

Seconds to grow on ready codes to depth 10, one thread; beside them nanoseconds for each
case, test and level, which a linear cost keeps level. The last row is 1,000,000 cases x
50 tests x 10 classes beside scikit-learn on the same codes.
"""

from __future__ import annotations

import time
from pathlib import Path

import matplotlib as mpl
import numpy as np
from sklearn.tree import DecisionTreeClassifier

from askless._core.greedy._criteria import Pairs
from askless._core.greedy._grow import grow_greedy
from askless._core.greedy._options import GrowthLimits, GrowthRows
from askless.problem import Costs, Test

mpl.use("Agg")
DEPTH = 10
PICTURE = Path(__file__).parent.parent / "docs" / "images" / "scaling.png"


def make_codes(n: int, m: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return random codes of 32 levels, sorted by class, and the classes."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 32, (m, n), dtype=np.uint8)
    score = codes[: min(m, 8)].astype(np.int64).sum(axis=0) + rng.integers(0, 40, n)
    labels = np.minimum(k - 1, np.argsort(np.argsort(score)) * k // n)
    order = np.argsort(labels, kind="stable")
    return np.ascontiguousarray(codes[:, order]), labels[order]


def grow_seconds(n: int, m: int, k: int) -> float:
    """Return the least seconds of three growths."""
    codes, labels = make_codes(n, m, k)
    cuts = tuple(np.arange(31) + 0.5)
    tests = [Test(f"t{i}", "number", cuts=cuts) for i in range(m)]
    prices = Costs([1.0] * m).price_list(tests).engine
    best = float("inf")
    for _ in range(3):
        rows = GrowthRows(
            codes.copy(), np.bincount(labels, minlength=k).astype(np.int64),
            np.full(m, 32, dtype=np.int32), np.ones(m, dtype=np.uint8),
        )  # fmt: skip
        limits = GrowthLimits(max_depth=DEPTH)
        start = time.perf_counter()
        grow_greedy(rows, Pairs(), prices, limits=limits)
        best = min(best, time.perf_counter() - start)
    return best


def run(quick: bool) -> list[dict[str, object]]:
    """Return a row for each size, and draw them."""
    unit = 20_000 if quick else 100_000
    sweeps = {
        "cases": [(unit * s, 50, 10) for s in (1, 2, 4, 8)],
        "tests": [(unit, m, 10) for m in (25, 50, 100, 200)],
        "classes": [(unit, 50, k) for k in (2, 5, 10, 20, 40)],
    }
    rows = []
    for what, sizes in sweeps.items():
        for n, m, k in sizes:
            seconds = grow_seconds(n, m, k)
            rows.append(
                {"sweep": what, "cases": n, "tests": m, "classes": k,
                 "seconds": seconds, "ns/cell/level": 1e9 * seconds / (n * m * DEPTH),
                 "scikit-learn": "", "ratio": ""}
            )  # fmt: skip
    n = unit if quick else 1_000_000
    ours = grow_seconds(n, 50, 10)
    codes, labels = make_codes(n, 50, 10)
    rows_first = np.ascontiguousarray(codes.T, dtype=np.float32)
    start = time.perf_counter()
    DecisionTreeClassifier(max_depth=DEPTH, random_state=0).fit(rows_first, labels)
    theirs = time.perf_counter() - start
    rows.append(
        {"sweep": "scikit-learn", "cases": n, "tests": 50, "classes": 10,
         "seconds": ours, "ns/cell/level": 1e9 * ours / (n * 50 * DEPTH),
         "scikit-learn": theirs, "ratio": theirs / ours}
    )  # fmt: skip
    if not quick:
        draw(rows)
    return rows


def draw(rows: list[dict[str, object]]) -> None:
    """Draw the three sweeps beside lines of slope one."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 3, figsize=(10, 3.2), sharey=True)
    for panel, what in zip(panels, ("cases", "tests", "classes"), strict=True):
        points = [(r[what], r["seconds"]) for r in rows if r["sweep"] == what]
        x, y = np.array(points, dtype=float).T
        panel.loglog(x, y, "o-", label="askless")
        panel.loglog(x, y[0] * x / x[0], ":", color="grey", label="linear")
        panel.set_xlabel(what)
        panel.set_xticks(x, [f"{int(value):,}" for value in x])
        panel.minorticks_off()
    panels[0].set_ylabel("seconds to depth 10")
    panels[0].legend()
    figure.tight_layout()
    figure.savefig(PICTURE, dpi=110)
