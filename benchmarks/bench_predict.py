"""Predicting 1,000,000 x 50 numbers with a tree of depth 10, against scikit-learn.

The same tree, node for node: scikit-learn's is fitted and turned into a policy.
Seconds, one thread each; ``cost`` may take twice as long as scikit-learn's ``predict``.
"""

from __future__ import annotations

import numpy as np
from sklearn.tree import DecisionTreeClassifier
from timing import row, time_both

from askless.policy import Nodes, Tree
from askless.problem import PriceList, Test


def to_policy(model: DecisionTreeClassifier) -> Tree:
    """Return scikit-learn's tree as a policy; its nodes are in preorder already."""
    tree = model.tree_
    is_inner = tree.children_left >= 0
    cuts = [
        np.unique(tree.threshold[is_inner & (tree.feature == f)])
        for f in range(model.n_features_in_)
    ]
    test = np.where(is_inner, tree.feature, -1).astype(np.int32)
    cut = np.full(tree.node_count, -1, dtype=np.int32)
    for node in np.flatnonzero(is_inner):
        cut[node] = np.searchsorted(cuts[test[node]], tree.threshold[node])
    children = np.stack([tree.children_left, tree.children_right], axis=1)[is_inner]
    n_classes = len(model.classes_)
    starts = np.concatenate([[0], np.cumsum(2 * is_inner)])
    return Tree(
        tuple(
            Test(f"x{i}", "number", cuts=tuple(c.tolist())) for i, c in enumerate(cuts)
        ),
        tuple(model.classes_.tolist()),
        PriceList.plain(np.ones(len(cuts))),
        nodes=Nodes(
            tree_start=np.array([0, tree.node_count], dtype=np.int32),
            test=test,
            cut=cut,
            default_branch=np.where(is_inner, 0, -1).astype(np.int32),
            branch_start=starts.astype(np.int32),
            branch_code=np.tile([0, 1], int(is_inner.sum())).astype(np.int32),
            branch_child=children.ravel().astype(np.int32),
            weight_start=np.arange(tree.node_count + 1) * n_classes,
            weight_class=np.tile(np.arange(n_classes), tree.node_count).astype(
                np.int32
            ),
            weight=np.ascontiguousarray(tree.value[:, 0, :].ravel()),
        ),
    )


def run(quick: bool) -> list[dict[str, object]]:
    """Return a row for each measurement."""
    n_rows = 100_000 if quick else 1_000_000
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, 50), dtype=np.float32)
    y = (X[:, :5].sum(axis=1) + X[:, 5] * X[:, 6] > 0) + 2 * (X[:, 7] > 0)
    model = DecisionTreeClassifier(max_depth=10, random_state=0).fit(
        X[:100_000], y[:100_000]
    )
    policy = to_policy(model)
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
