"""Predicting 1,000,000 x 50 numbers with a tree of depth 10, against scikit-learn.

The same tree, node for node: scikit-learn's is fitted and turned into a policy.
Seconds, one thread each; ``cost`` may take twice as long as scikit-learn's ``predict``.
"""

from __future__ import annotations

import numpy as np
from sklearn.tree import DecisionTreeClassifier
from timing import row, time_both

from askless.learn.sources import tree_of_sklearn
from askless.problem import Costs


def run(quick: bool) -> list[dict[str, object]]:
    """Return a row for each measurement."""
    n_rows = 100_000 if quick else 1_000_000
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, 50), dtype=np.float32)
    y = (X[:, :5].sum(axis=1) + X[:, 5] * X[:, 6] > 0) + 2 * (X[:, 7] > 0)
    model = DecisionTreeClassifier(max_depth=10, random_state=0).fit(
        X[:100_000], y[:100_000]
    )
    names = [f"x{i}" for i in range(X.shape[1])]
    policy = tree_of_sklearn(model, names, Costs([1.0] * len(names)))
    assert np.array_equal(policy.predict(X), model.predict(X))
    rows = []
    for name, data in (("float32", X), ("float64", X.astype(np.float64))):
        ours, theirs = time_both(
            lambda d=data: policy.predict(d), lambda d=data: model.predict(d), 7
        )
        rows.append(row(f"predict, {name}", ours, theirs, 1.0))
        ours, theirs = time_both(
            lambda d=data: policy.cost(d), lambda d=data: model.predict(d), 7
        )
        rows.append(row(f"cost, {name}", ours, theirs, 0.5))
    return rows
