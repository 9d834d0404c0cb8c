"""Boosters that buy: time against rows, trees and columns, which should be linear.

One thread, processor time, the least of three repeats. Each row doubles one of the
three and leaves the others. "run" is the lossless answer and cost of a LightGBM booster
of 31 leaves of two classes; "grow" is one booster of our own with penalties, of so many
rounds. "power" is the exponent of growth over the whole range: 1 is linear, less is
better. "us each" is the time of one purchase, or of one tree: a lossless run buys more
with more trees and columns.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import lightgbm
import numpy as np
from sklearn.datasets import make_classification

from askless.learn.boost._compile import compile_source
from askless.learn.boost._levels import LevelRows
from askless.learn.boost._rounds import PricedPlan, grow_rounds
from askless.learn.sources import read_lightgbm_text
from askless.problem import Test

REPEATS, LEVELS = 3, 64
USUAL = {"rows": 8_000, "trees": 200, "columns": 32}
STEPS = {
    "rows": (2_000, 4_000, 8_000, 16_000, 32_000),
    "trees": (50, 100, 200, 400, 800),
    "columns": (16, 32, 64, 128),
}
QUICK = {"rows": (1_000, 2_000), "trees": (25, 50), "columns": (8, 16)}


def make_rows(rows: int, columns: int) -> tuple[Any, Any]:
    """Return rows of two classes; a quarter of the columns tell of them."""
    return make_classification(
        rows, columns, n_informative=max(columns // 4, 3), n_redundant=0,
        n_clusters_per_class=4, random_state=0,
    )  # fmt: skip


def least_seconds(call: Callable[[], Any]) -> float:
    """Return the least processor seconds of a few calls."""
    found = []
    for _ in range(REPEATS):
        start = time.process_time()
        call()
        found.append(time.process_time() - start)
    return min(found)


def time_run(rows: int, trees: int, columns: int) -> tuple[float, float]:
    """Return the seconds of a lossless run, and of each purchase in it."""
    X, y = make_rows(rows + 4_000, columns)
    options = {"objective": "binary", "verbose": -1, "num_threads": 1, "seed": 0}
    booster = lightgbm.train(options, lightgbm.Dataset(X[:4_000], y[:4_000]), trees)
    policy = compile_source(
        read_lightgbm_text(booster.model_to_string()), np.ones(columns)
    )
    seconds = least_seconds(lambda: policy.predict_and_cost(X[4_000:], n_jobs=1))
    bought = policy.predict_and_cost(X[4_000:], n_jobs=1)[1].sum()
    return seconds, seconds / float(bought)


def time_growth(rows: int, trees: int, columns: int) -> tuple[float, float]:
    """Return the seconds that one of our boosters takes to grow, and each tree."""
    X, y = make_rows(rows, columns)
    cuts = [np.quantile(column, np.arange(1, LEVELS) / LEVELS) for column in X.T]
    tests = tuple(
        Test(f"x{i}", "number", cuts=tuple(np.unique(np.float32(c)).tolist()))
        for i, c in enumerate(cuts)
    )
    codes = [np.searchsorted(t.cuts, x) for t, x in zip(tests, X.T, strict=True)]
    coded = LevelRows(
        tests, np.array(codes, dtype=np.uint16), y.astype(np.int32), np.ones(rows)
    )
    # The rows that end it are a handful, and never do.
    few = LevelRows(tests, coded.codes[:, :8].copy(), coded.class_ids[:8], np.ones(8))
    plan = PricedPlan(0.01, trees, 16, 0.1, 0.0, patience=trees)
    prices, start = np.ones(columns), np.zeros(1)
    seconds = least_seconds(lambda: grow_rounds(plan, coded, few, start, prices))
    return seconds, seconds / trees


def run(quick: bool) -> list[dict[str, object]]:
    """Return a row for each size."""
    found = []
    for what, call in (("run", time_run), ("grow", time_growth)):
        for along, sizes in (QUICK if quick else STEPS).items():
            first = None
            for size in sizes:
                seconds, each = call(**(USUAL | {along: size}))
                first = first or (size, seconds)
                power = ""
                if size == sizes[-1]:
                    power = np.log(seconds / first[1]) / np.log(size / first[0])
                found.append({
                    "what": what, "along": along, "size": f"{size:,}",
                    "seconds": seconds, "us each": 1e6 * each, "power": power,
                })  # fmt: skip
    return found


if __name__ == "__main__":
    from run import print_rows

    print_rows(run(False))
