"""scikit-learn's random forest as a policy: what it decides, and what it costs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier

from askless.learn._base import PolicyClassifier
from askless.learn._examples import Examples, as_matrix
from askless.policy import Forest, Nodes
from askless.problem import Costs, Test

__all__ = ["PlainForestClassifier", "forest_of_sklearn"]


class PlainForestClassifier(PolicyClassifier):
    """A random forest that knows nothing of costs, charged like any policy.

    The rival that every budgeted forest is compared with: the number of trees is its
    only knob. Trees vote by majority.

    Parameters
    ----------
    costs : Costs, mapping or sequence, default=None
        What each test costs; 1 each by default.
    mistakes : number, matrix or mapping, default=None
        Cost of a wrong decision, ``mistakes[true][decision]``. Leaves decide by it; the
        trees are grown without. Those of `costs` by default.
    n_estimators : int, default=10
        How many trees.
    max_features : int, float, "sqrt" or None, default="sqrt"
        How many columns are tried at each node.
    min_samples_leaf : int, default=1
        The fewest rows of a leaf.
    random_state : int, RandomState or None, default=None
        Draws samples and columns.
    n_jobs : int, default=None
        Threads.

    Attributes
    ----------
    policy_ : Forest
        The forest as a policy.
    model_ : RandomForestClassifier
        scikit-learn's own.
    classes_ : ndarray
        The classes, ascending.
    point_ : ValidationPoint or None
        What it costs and how often it errs on the validation rows, if any were given.

    Notes
    -----
    Takes numbers only. scikit-learn compares in single precision; so does this policy,
    where values are given in single precision.

    Examples
    --------
    >>> X = [[1, 7], [2, 6], [8, 7], [9, 6]] * 5
    >>> forest = PlainForestClassifier([1, 5], random_state=0).fit(X, [0, 0, 1, 1] * 5)
    >>> forest.predict([[3, 7]])
    array([0])
    """

    def __init__(
        self,
        costs: Any = None,
        mistakes: Any = None,
        *,
        n_estimators: int = 10,
        max_features: Any = "sqrt",
        min_samples_leaf: int = 1,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.costs = costs
        self.mistakes = mistakes
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _grow(self, examples: Examples) -> Forest:
        rows = examples.rows
        model = RandomForestClassifier(
            self.n_estimators,
            max_features=self.max_features,
            min_samples_leaf=self.min_samples_leaf,
            random_state=self.random_state,
            n_jobs=examples.n_threads,
        )
        matrix = as_matrix(rows.values, "PlainForestClassifier")
        y = np.array(examples.classes)[rows.class_ids]
        self.model_ = model.fit(matrix, y, rows.weights)
        return forest_of_sklearn(self.model_, examples.names, examples.costs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = False
        tags.input_tags.string = False
        return tags


def forest_of_sklearn(
    model: RandomForestClassifier, names: list[str], costs: Costs
) -> Forest:
    """Return a fitted forest of scikit-learn as a policy, node for node.

    A threshold is moved down to the next number of single precision, which separates
    the same single-precision values.
    """
    trees = [estimator.tree_ for estimator in model.estimators_]
    thresholds = [_single_below(tree.threshold) for tree in trees]
    cuts: list[NDArray[np.float64]] = []
    for feature in range(len(names)):
        used = [
            at[(tree.feature == feature) & (tree.children_left >= 0)]
            for tree, at in zip(trees, thresholds, strict=True)
        ]
        every = np.unique(np.concatenate(used))
        # Infinity, one past the last cut, separates numbers from missing values.
        cuts.append(every[np.isfinite(every)])
    tests = tuple(
        Test(name, "number", cuts=tuple(values.tolist()))
        for name, values in zip(names, cuts, strict=True)
    )
    grown = [
        Nodes.from_arrays(_tree_arrays(tree, at, cuts))
        for tree, at in zip(trees, thresholds, strict=True)
    ]
    return Forest(
        tests,
        tuple(model.classes_.tolist()),
        costs.price_list(tests),
        nodes=Nodes.join(grown),
        mistakes=costs.mistake_matrix(tuple(model.classes_.tolist())),
    )


def _single_below(values: NDArray[np.float64]) -> NDArray[np.float64]:
    single = values.astype(np.float32)
    above = single.astype(np.float64) > values
    single[above] = np.nextafter(single[above], np.float32(-np.inf))
    return single.astype(np.float64)


def _tree_arrays(
    tree: Any, thresholds: NDArray[np.float64], cuts: list[NDArray[np.float64]]
) -> dict[str, NDArray[Any]]:
    """Return the arrays of one tree; its nodes are in preorder already."""
    is_inner = tree.children_left >= 0
    n_nodes, n_classes = tree.node_count, tree.value.shape[2]
    test = np.where(is_inner, tree.feature, -1).astype(np.int32)
    cut = np.full(n_nodes, -1, dtype=np.int32)
    for feature, values in enumerate(cuts):
        here = test == feature
        cut[here] = np.searchsorted(values, thresholds[here])
    children = np.stack([tree.children_left, tree.children_right], axis=1)[is_inner]
    # Missing values go where scikit-learn sends them.
    goes_left = np.asarray(tree.missing_go_to_left, dtype=bool)
    weight = tree.value[:, 0, :] * tree.weighted_n_node_samples[:, None]
    return {
        "test": test,
        "cut": cut,
        "branch_start": np.append(0, np.cumsum(2 * is_inner)).astype(np.int32),
        "branch_code": np.tile([0, 1], int(is_inner.sum())).astype(np.int32),
        "branch_child": children.ravel().astype(np.int32),
        "default_branch": np.where(is_inner, np.where(goes_left, 0, 1), -1).astype(
            np.int32
        ),
        "weight_start": np.arange(n_nodes + 1, dtype=np.int64) * n_classes,
        "weight_class": np.tile(np.arange(n_classes), n_nodes).astype(np.int32),
        "weight": np.ascontiguousarray(weight.ravel()),
    }
