"""Forests on covertype against scikit-learn: training, predicting with costs, memory.

Whole calls on 54 columns, all tried at each node, against RandomForestClassifier with
its default of sqrt(54); same number of trees, same threads. Time is that of the
processor, the least of a few repeats, both sides by turns: other programs disturb it
least. The accuracy is not the same: both errors are printed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from timing import PeakMemory, row

from askless import BudgetForestClassifier
from askless.datasets import load_public


def time_processor(
    ours: Callable[[], Any], theirs: Callable[[], Any], repeats: tuple[int, int]
) -> tuple[float, float]:
    """Return the least processor seconds of each side, run by turns."""
    best = [float("inf"), float("inf")]
    for turn in range(max(repeats)):
        for side, call in enumerate((ours, theirs)):
            if turn < repeats[side]:
                start = time.process_time()
                call()
                best[side] = min(best[side], time.process_time() - start)
    return best[0], best[1]


def compare(
    X: np.ndarray, y: np.ndarray, n_rows: int, n_trees: int, least: float
) -> list[dict[str, object]]:
    """Return rows for one size of training set and forest."""
    X_fit, y_fit = X[:n_rows], y[:n_rows]
    X_new, y_new = X[-58_101:], y[-58_101:]
    ours = BudgetForestClassifier(n_estimators=n_trees, random_state=0)
    theirs = RandomForestClassifier(n_trees, random_state=0)
    repeats = (4, 2) if n_rows < 100_000 else (2, 1)
    name = f"{n_rows:,} rows, {n_trees} trees"
    seconds = time_processor(
        lambda: ours.fit(X_fit, y_fit), lambda: theirs.fit(X_fit, y_fit), repeats
    )
    rows = [row(f"{name}: fit", *seconds, least)]
    seconds = time_processor(
        lambda: ours.predict_and_cost(X_new), lambda: theirs.predict(X_new), (5, 3)
    )
    rows.append(row(f"{name}: predict with cost", *seconds, 3.0))
    print(
        f"{name}: error {np.mean(ours.predict(X_new) != y_new):.4f} at "
        f"{ours.cost(X_new).mean():.2f} features, scikit-learn "
        f"{np.mean(theirs.predict(X_new) != y_new):.4f}"
    )
    return rows


def run(quick: bool) -> list[dict[str, object]]:
    """Return a row for each measurement."""
    data = load_public("covertype")
    X = np.ascontiguousarray(data.to_frame().to_numpy(np.float32))
    y = np.asarray(data.y)
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X[order], y[order]
    rows = compare(X, y, 36_603, 10, 5.0)
    if not quick:
        rows += compare(X, y, 36_603, 100, 5.0)
        rows += compare(X, y, 400_000, 10, 8.0)
    # Beyond the input and the forest itself, against three times the codes.
    model = BudgetForestClassifier(n_estimators=10, random_state=0)
    n_rows = 36_603 if quick else 400_000
    with PeakMemory() as memory:
        model.fit(X[:n_rows], y[:n_rows])
    kept = sum(array.nbytes for array in model.policy_.arrays().values())
    extra = max(memory.extra - kept, 1)
    rows.append(row(f"{n_rows:,} rows: memory", extra, 3.0 * n_rows * X.shape[1], 1.0))
    return rows
