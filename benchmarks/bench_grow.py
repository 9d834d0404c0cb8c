"""Growing a tree of depth 10 on 1,000,000 x 50 with 10 classes, against scikit-learn.

Seconds for the whole of ``fit``, coding included, one thread each; then the peak memory
beyond the input, in bytes, against twice the size of the codes.
"""

from __future__ import annotations

import time

import numpy as np
from sklearn.tree import DecisionTreeClassifier
from timing import PeakMemory, row

from askless import GreedyTreeClassifier


def make_rows(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows whose class depends on a random linear map of the columns."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, 50))
    weights = rng.normal(size=(50, 10)) * (rng.random((50, 10)) < 0.3)
    y = np.empty(n_rows, dtype=np.int64)
    for start in range(0, n_rows, 50_000):
        part = slice(start, start + 50_000)
        noise = 2 * rng.normal(size=(len(X[part]), 10))
        y[part] = np.argmax(X[part] @ weights + noise, axis=1)
    return X, y


def run(quick: bool) -> list[dict[str, object]]:
    """Return a row for each measurement."""
    X, y = make_rows(100_000 if quick else 1_000_000)
    model = GreedyTreeClassifier(max_depth=10)
    with PeakMemory() as memory:
        model.fit(X, y)
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        model.fit(X, y)
        best = min(best, time.perf_counter() - start)
    start = time.perf_counter()
    other = DecisionTreeClassifier(max_depth=10, random_state=0).fit(X, y)
    theirs = time.perf_counter() - start
    rows = [row("fit, seconds", best, theirs, 3.0)]
    rows.append(row("peak memory", float(memory.extra), 2.0 * X.size, 1.0))
    print(
        f"training accuracy: askless {model.score(X, y):.4f}, "
        f"scikit-learn {other.score(X, y):.4f}"
    )
    return rows
