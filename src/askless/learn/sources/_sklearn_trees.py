"""Read scikit-learn's trees, forests and extra trees, and its gradient boosting."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from askless.exceptions import InvalidOptionError
from askless.learn.sources._source import Source, SourceTree, single_cuts
from askless.policy import Answer

__all__ = ["read_boosting", "read_forest"]


def read_forest(model: Any) -> Source:
    """Read a fitted tree, forest or extra trees; leaves are averaged."""
    if getattr(model, "n_outputs_", 1) != 1:
        raise InvalidOptionError(
            f"A model must answer one question. Got {model.n_outputs_} outputs. Fit a "
            "model for each."
        )
    estimators = getattr(model, "estimators_", [model])
    if is_classifier(model):
        n_outputs, classes = len(model.classes_), tuple(model.classes_.tolist())
    else:
        n_outputs, classes = 1, ()
    trees = []
    for estimator in estimators:
        tree = estimator.tree_
        values = tree.value[:, 0, :n_outputs]
        trees.append(_read_tree(tree, np.ascontiguousarray(values, dtype=np.float64)))
    answer = Answer(
        "share" if classes else "number",
        (0.0,) * n_outputs,
        divisor=float(len(estimators)),
    )
    return Source(_names(model), model.n_features_in_, classes, trees, answer)


def read_boosting(model: Any) -> Source:
    """Read a fitted GradientBoosting model; shrunken leaves are added."""
    n_features = model.n_features_in_
    # The first guess must not look at the features, which it would have to buy.
    probe = np.random.default_rng(0).normal(size=(64, n_features))
    try:
        first = model._raw_predict_init(np.zeros((1, n_features)))
        others = model._raw_predict_init(probe)
    except ValueError as error:
        raise InvalidOptionError(
            f"The first guess of gradient boosting must be constant. Got: {error}. Fit "
            "it without init."
        ) from error
    if np.any(others != first):
        raise InvalidOptionError(
            "The first guess of gradient boosting must be constant. Got one that looks "
            "at the features. Fit it without init."
        )
    trees = []
    for stage in model.estimators_:
        for output, estimator in enumerate(stage):
            values = model.learning_rate * estimator.tree_.value[:, 0, :1]
            trees.append(_read_tree(estimator.tree_, values, output))
    offset = tuple(first[0].tolist())
    if not is_classifier(model):
        answer, classes = Answer("number", offset), ()
    else:
        classes = tuple(model.classes_.tolist())
        slope = 2.0 if model.loss == "exponential" else 1.0
        if len(offset) == 1:
            answer = Answer("logit", offset, slope=slope, decides_by="at least 0")
        else:
            answer = Answer("softmax", offset)
    return Source(_names(model), n_features, classes, trees, answer)


def _read_tree(tree: Any, values: NDArray[np.float64], output: int = 0) -> SourceTree:
    is_leaf = tree.children_left < 0
    return SourceTree(
        feature=np.where(is_leaf, -1, tree.feature).astype(np.int32),
        # Values are compared in single precision.
        threshold=single_cuts(np.where(is_leaf, 0.0, tree.threshold)),
        left=tree.children_left.astype(np.int32),
        right=tree.children_right.astype(np.int32),
        missing_left=tree.missing_go_to_left.astype(bool),
        value=values,
        weight=np.asarray(tree.weighted_n_node_samples, dtype=np.float64),
        output=output,
    )


def _names(model: Any) -> list[str] | None:
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]
