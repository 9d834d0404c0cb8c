"""Read scikit-learn's trees, forests and extra trees, and its gradient boosting.

:func:`read_tree` is the one place that knows how scikit-learn lays out a tree.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.dummy import DummyClassifier, DummyRegressor

from askless.learn.sources._source import Source, SourceTree, refuse, single_cuts
from askless.policy import Output
from askless.problem import Outcome

__all__ = ["read_boosting", "read_forest", "read_tree"]

# First guesses of scikit-learn that are the same for every row.
CONSTANT_CLASSES = ("prior", "most_frequent", "constant", "uniform")


def read_forest(model: Any) -> Source:
    """Read a fitted tree, forest or extra trees; leaves are averaged."""
    if getattr(model, "n_outputs_", 1) != 1:
        refuse(
            "A model must answer one question",
            f"{model.n_outputs_} outputs",
            "Fit a model for each",
        )
    estimators = getattr(model, "estimators_", [model])
    n_outputs, classes = 1, ()
    if is_classifier(model):
        n_outputs, classes = len(model.classes_), tuple(model.classes_.tolist())
    trees = [
        read_tree(estimator.tree_, estimator.tree_.value[:, 0, :n_outputs])
        for estimator in estimators
    ]
    output = Output(
        "share" if classes else "number",
        (0.0,) * n_outputs,
        divisor=float(len(estimators)),
    )
    return Source(_names(model), model.n_features_in_, classes, trees, output)


def read_boosting(model: Any) -> Source:
    """Read a fitted GradientBoosting model; shrunken leaves are added."""
    trees = []
    for stage in model.estimators_:
        for adds_to, estimator in enumerate(stage):
            values = model.learning_rate * estimator.tree_.value[:, 0, :1]
            trees.append(read_tree(estimator.tree_, values, adds_to))
    offset = _first_guess(model)
    classes: tuple[Outcome, ...] = ()
    if not is_classifier(model):
        output = Output("number", offset)
    else:
        classes = tuple(model.classes_.tolist())
        slope = 2.0 if model.loss == "exponential" else 1.0
        if len(offset) == 1:
            output = Output("logit", offset, slope=slope, decides_by="at least 0")
        else:
            output = Output("softmax", offset)
    return Source(_names(model), model.n_features_in_, classes, trees, output)


def _first_guess(model: Any) -> tuple[float, ...]:
    """Return where the sums of gradient boosting start.

    A first guess that looks at the features would have to buy them.
    """
    init = model.init_
    is_constant = (
        isinstance(init, str)
        or type(init) is DummyRegressor
        or (type(init) is DummyClassifier and init.strategy in CONSTANT_CLASSES)
    )
    if not is_constant:
        refuse(
            "The first guess of gradient boosting must be constant",
            f"init={init!r}",
            "Fit it without init",
        )
    first = model._raw_predict_init(np.zeros((1, model.n_features_in_)))
    return tuple(first[0].tolist())


def read_tree(tree: Any, values: NDArray[np.float64], adds_to: int = 0) -> SourceTree:
    """Read a ``tree_`` of scikit-learn.

    Parameters
    ----------
    tree : sklearn.tree._tree.Tree
        The tree; it compares values in single precision.
    values : ndarray of shape (n_nodes, 1 or n_outputs)
        What its leaves add.
    adds_to : int, default=0
        The sum that they add to, if they have one value.
    """
    is_leaf = tree.children_left < 0
    return SourceTree(
        feature=np.where(is_leaf, -1, tree.feature).astype(np.int32),
        threshold=single_cuts(np.where(is_leaf, 0.0, tree.threshold)),
        left=tree.children_left.astype(np.int32),
        right=tree.children_right.astype(np.int32),
        missing_left=tree.missing_go_to_left.astype(bool),
        value=np.ascontiguousarray(values, dtype=np.float64),
        weight=np.asarray(tree.weighted_n_node_samples, dtype=np.float64),
        output=adds_to,
    )


def _names(model: Any) -> list[str] | None:
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]
