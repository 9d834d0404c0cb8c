"""Adaptive lossless runs of a 100-tree vote forest against its own full predict.

Whole calls on raw rows, one thread each; processor time, the least of a few repeats,
both sides by turns. Every answer agrees with the full predict of scikit-learn; a call
of `cost` makes the same purchases.
"""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from timing import row, time_processor

import askless


def run(quick: bool) -> list[dict[str, object]]:
    """Return a row for each set and call; every answer must agree."""
    rows = []
    for name, n_train, n_test in (
        ("covertype", 36_603, 20_000),
        ("magic", 9_510, 9_000),
    ):
        data = askless.datasets.load_public(name)
        X = np.column_stack([np.asarray(c, dtype=float) for c in data.columns.values()])
        y = np.asarray(data.y)
        order = np.random.default_rng(0).permutation(len(y))
        if quick:
            n_train, n_test = n_train // 4, n_test // 4
        train, test = order[:n_train], order[n_train : n_train + n_test]
        forest = RandomForestClassifier(100, random_state=0).fit(X[train], y[train])
        rows_of_test = np.ascontiguousarray(X[test])
        adaptive = askless.AdaptiveEnsemble(forest).fit()
        answers = adaptive.predict(rows_of_test)
        assert (answers == forest.predict(rows_of_test)).all()
        cost = adaptive.cost(rows_of_test).mean() / X.shape[1]
        bought = f"{100 * cost:.0f} % of the features"
        for what, call in {
            f"{name}, lossless predict, {bought}": adaptive.predict,
            f"{name}, lossless cost": adaptive.cost,
        }.items():
            ours, theirs = time_processor(
                lambda c=call, r=rows_of_test: c(r),
                lambda f=forest, r=rows_of_test: f.predict(r),
                2 if quick else 5,
            )
            rows.append(row(what, ours, theirs, 1.0))
    return rows
