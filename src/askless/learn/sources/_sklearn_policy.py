"""scikit-learn's trees as trees and forests of Askless, node for node.

They decide by majority, and buy every test on the paths of a row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.learn.sources._sklearn_trees import read_tree
from askless.learn.sources._source import Source, SourceTree
from askless.policy import Forest, Nodes, Output, Tree
from askless.problem import Costs, Outcome, Test

__all__ = ["forest_of_sklearn", "tree_of_sklearn"]


def forest_of_sklearn(model: Any, names: list[str], costs: Costs) -> Forest:
    """Return a fitted forest classifier of scikit-learn as a policy.

    A threshold is moved down to the next number of single precision, which splits the
    same single-precision values.

    Parameters
    ----------
    model : RandomForestClassifier or ExtraTreesClassifier
        Fitted on numbers.
    names : list of str
        The tests.
    costs : Costs
        What they cost.
    """
    tests, nodes = _convert(model, [e.tree_ for e in model.estimators_], names)
    classes: tuple[Outcome, ...] = tuple(model.classes_.tolist())
    return Forest(
        tests,
        classes,
        costs.price_list(tests),
        nodes=Nodes.join(nodes),
        mistakes=costs.mistake_matrix(classes),
    )


def tree_of_sklearn(model: Any, names: list[str], costs: Costs) -> Tree:
    """Return a fitted tree classifier of scikit-learn as a policy.

    Parameters
    ----------
    model : DecisionTreeClassifier
        Fitted on numbers.
    names, costs
        See :func:`forest_of_sklearn`.
    """
    tests, nodes = _convert(model, [model.tree_], names)
    classes: tuple[Outcome, ...] = tuple(model.classes_.tolist())
    mistakes = costs.mistake_matrix(classes)
    prices = costs.price_list(tests)
    return Tree(tests, classes, prices, nodes=nodes[0], mistakes=mistakes)


def _convert(
    model: Any, trees: list[Any], names: list[str]
) -> tuple[tuple[Test, ...], list[Nodes]]:
    listed = [_round_thresholds(tree) for tree in trees]
    output = Output("share", (0.0,) * len(model.classes_), divisor=float(len(trees)))
    source = Source(names, len(names), (), listed, output)
    tests = source.tests(names)
    return tests, [_list_nodes(tree, tests) for tree in listed]


def _round_thresholds(tree: Any) -> SourceTree:
    """Read a tree with thresholds of single precision, and the weights of classes."""
    weight = tree.value[:, 0, :] * tree.weighted_n_node_samples[:, None]
    read = read_tree(tree, weight)
    with np.errstate(over="ignore"):
        # The last double that goes left rounds to the last single that does.
        single = read.threshold.astype(np.float32).astype(np.float64)
    return read.with_threshold(single)


def _list_nodes(tree: SourceTree, tests: tuple[Test, ...]) -> Nodes:
    """Return the nodes of one tree; they are in preorder already."""
    is_inner = tree.feature >= 0
    n_nodes, n_classes = tree.value.shape
    cut = np.full(n_nodes, -1, dtype=np.int32)
    for feature, test in enumerate(tests):
        here = tree.feature == feature
        # Infinity splits numbers from missing values: one past the last cut.
        cut[here] = np.searchsorted(test.cut_array, tree.threshold[here])
    children = np.stack([tree.left, tree.right], axis=1)[is_inner]
    default = np.where(is_inner, np.where(tree.missing_left, 0, 1), -1)
    arrays: dict[str, NDArray[Any]] = {
        "test": tree.feature,
        "cut": cut,
        "branch_start": np.append(0, np.cumsum(2 * is_inner)).astype(np.int32),
        "branch_code": np.tile([0, 1], int(is_inner.sum())).astype(np.int32),
        "branch_child": children.ravel().astype(np.int32),
        "default_branch": default.astype(np.int32),
        "weight_start": np.arange(n_nodes + 1, dtype=np.int64) * n_classes,
        "weight_class": np.tile(np.arange(n_classes), n_nodes).astype(np.int32),
        "weight": np.ascontiguousarray(tree.value.ravel()),
    }
    return Nodes.from_arrays(arrays)
