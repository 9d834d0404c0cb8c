"""Boosters that buy, beside LightGBM itself: runs, traces and whole fits.

One thread each, processor time, the least of a few repeats, both sides by turns. A
booster of 300 rounds is grown on 4,000 rows (covertype 8,000) and run on 2,000 others
at a price of 1 for each feature. The other side is LightGBM's own ``predict`` of the
same model, and for a fit, one LightGBM fit of 300 rounds and 31 leaves without early
stopping. Every lossless answer is compared with LightGBM's; "differ" counts those that
are not the same.

More fits follow on sets of other shapes, each with a budget of a quarter of its
features. Where LightGBM takes a tenth of a second, as with a few hundred rows, a fit
takes many times as long, since it grows boosters on folds as well.

"predict" asks for answers only, "predict and cost" for what each row pays as well,
"stops early" stops half of the rows before they are settled, and "trace" writes down
every step, as a fit does on its validation rows; both keep the bounds of policies that
stop early.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import lightgbm
import numpy as np
from set_lists import read_set
from sklearn.datasets import make_classification
from timing import time_processor

import askless
from askless import BudgetBoostClassifier
from askless.learn.boost._compile import compile_source
from askless.learn.sources import read_lightgbm_text

ROUNDS = 300
N_ROWS = 2_000
# Fits alone: sets, and how many rows of each.
FITTED = (("spambase", 3_680), ("adult", 24_000), ("magic", 15_000), ("pima", 614))


def load(name: str, n_train: int | None = None) -> tuple[Any, Any, Any, Any]:
    """Return rows to grow on and to run, with their classes."""
    if n_train is None:
        n_train = 8_000 if name == "covertype" else 4_000
    if name == "six classes":
        X, y = make_classification(
            n_train + N_ROWS, 36, n_informative=20, n_redundant=10, n_classes=6,
            n_clusters_per_class=2, class_sep=1.5, random_state=0,
        )  # fmt: skip
    elif name in ("miniboone_tiny", "covertype"):
        data = askless.datasets.load_public(name)
        X = np.column_stack([np.asarray(c, dtype=float) for c in data.columns.values()])
        y = np.unique(np.asarray(data.y), return_inverse=True)[1]
    else:
        X, y = read_set(name)
    order = np.random.default_rng(0).permutation(len(y))[: n_train + N_ROWS]
    X, y = np.ascontiguousarray(X[order], dtype=float), y[order]
    return X[:n_train], y[:n_train], X[n_train:], y[n_train:]


def grow(X: Any, y: Any, leaves: int) -> Any:
    """Return a LightGBM booster of one thread."""
    n_classes = int(y.max()) + 1
    options: dict[str, Any] = {
        "objective": "binary" if n_classes == 2 else "multiclass",
        "num_leaves": leaves, "num_threads": 1, "verbose": -1, "seed": 0,
        "min_data_in_leaf": 5, "deterministic": True, "force_col_wise": True,
    }  # fmt: skip
    if n_classes > 2:
        options["num_class"] = n_classes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return lightgbm.train(options, lightgbm.Dataset(X, y), ROUNDS)


def _row(
    what: str, ours: float, theirs: float, most: float | None, n_rows: int = 1
) -> dict[str, object]:
    """Return a row; ``most`` is how many times the other side's time is allowed."""
    scale = 1e6 / n_rows if n_rows > 1 else 1.0
    slower = ours / theirs
    met = "" if most is None else "yes" if slower <= most else "no"
    return {
        "what": what, "unit": "us a row" if n_rows > 1 else "s",
        "askless": ours * scale, "LightGBM": theirs * scale, "times as long": slower,
        "asked": "" if most is None else f"<= {most:g}", "met": met,
    }  # fmt: skip


def run_booster(
    name: str, leaves: int, repeats: int, parts: Any
) -> list[dict[str, object]]:
    """Return a row for each way to run one booster."""
    X, y, X_run, _ = parts
    booster = grow(X, y, leaves)
    source, prices = read_lightgbm_text(booster.model_to_string()), np.ones(X.shape[1])
    policy = compile_source(source, prices)
    traced = compile_source(source, prices, stops_early=True)
    shares = booster.predict(X_run)
    theirs = (shares > 0.5).astype(int) if shares.ndim == 1 else shares.argmax(axis=1)
    n_differ = int(np.sum(policy.predict(X_run, n_jobs=1) != theirs))
    n_differ += int(np.sum(policy.predict_and_cost(X_run, n_jobs=1)[0] != theirs))
    traced.trace(X_run[:50], n_jobs=1)
    trace = traced.trace(X_run[:500], n_jobs=1)
    middle = trace.z[np.arange(500), np.maximum(trace.n_steps // 2, 1) - 1]
    early = traced.with_stop(threshold=float(np.median(middle)))
    calls: dict[str, tuple[Callable[[], Any], float | None]] = {
        f"lossless predict, {n_differ} differ": (
            lambda: policy.predict(X_run, n_jobs=1), 5.0,
        ),
        "lossless predict and cost": (
            lambda: policy.predict_and_cost(X_run, n_jobs=1), 5.0,
        ),
        "stops early": (lambda: early.predict(X_run, n_jobs=1), None),
        "trace": (lambda: traced.trace(X_run, n_jobs=1), None),
    }  # fmt: skip
    rows = []
    for what, (call, most) in calls.items():
        ours, theirs_s = time_processor(
            call, lambda: booster.predict(X_run, num_threads=1), repeats
        )
        title = f"{name}, {leaves} leaves: {what}"
        rows.append(_row(title, ours, theirs_s, most, len(X_run)))
    return rows


def run_fit(name: str, parts: Any, budget: float = 8.0) -> dict[str, object]:
    """Return a row of a whole fit with a budget beside one LightGBM fit."""
    X, y, _, _ = parts
    start = time.process_time()
    grow(X, y, 31)
    theirs = time.process_time() - start
    boost = BudgetBoostClassifier(budget=budget, random_state=0, n_jobs=1)
    start = time.process_time()
    boost.fit(X, y)
    ours = time.process_time() - start
    return _row(f"{name}: fit with a budget", ours, theirs, 10.0)


def run(quick: bool, names: Any = None, wants_fit: bool = True) -> list[Any]:
    """Return a row for each set, size of trees and call."""
    sets = names or ("miniboone_tiny", "six classes", "covertype")
    rows = []
    for name in sets:
        parts = load(name)
        for leaves in (8, 31):
            rows += run_booster(name, leaves, 1 if quick else 3, parts)
        if wants_fit and not quick:
            rows.append(run_fit(name, parts))
    if wants_fit and not quick and not names:
        for name, n_rows in FITTED:
            parts = load(name, n_rows)
            title = f"{name}, {len(parts[0]):,} rows x {parts[0].shape[1]}"
            rows.append(run_fit(title, parts, parts[0].shape[1] / 4))
    return rows


if __name__ == "__main__":
    from run import print_rows

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--no-fit", action="store_true")
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    print_rows(run(given.quick, given.names or None, not given.no_fit))
