"""Read XGBoost models from the JSON that they are saved as."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidOptionError
from askless.learn.sources._source import Source, SourceTree, single_cuts
from askless.policy import Answer
from askless.problem import Outcome

__all__ = ["read_xgboost"]

NUMBERS = ("reg:squarederror", "reg:absoluteerror", "reg:pseudohubererror",
           "reg:quantileerror")  # fmt: skip
LOGARITHMS = ("count:poisson", "reg:gamma", "reg:tweedie")


def read_xgboost(model: Any) -> Source:
    """Read a fitted Booster, XGBClassifier or XGBRegressor."""
    is_estimator = hasattr(model, "get_booster")
    booster = model.get_booster() if is_estimator else model
    best = getattr(model, "best_iteration", None) if _stopped_early(model) else None
    if best is not None:
        booster = booster[: best + 1]
    content = json.loads(bytes(booster.save_raw("json")))
    learner = content["learner"]
    if learner["gradient_booster"]["name"] != "gbtree":
        raise InvalidOptionError(
            "An XGBoost model must be of plain trees. Got "
            f"{learner['gradient_booster']['name']!r}. Fit it with booster='gbtree'."
        )
    parts = learner["gradient_booster"]["model"]
    options = learner["learner_model_param"]
    n_outputs = max(1, int(options["num_class"]))
    trees = [
        _read_tree(tree, int(output))
        for tree, output in zip(parts["trees"], parts["tree_info"], strict=True)
    ]
    base = np.ravel(np.array(json.loads(options["base_score"]), dtype=np.float32))
    answer, n_classes = _answer(learner["objective"]["name"], base, n_outputs)
    classes: tuple[Outcome, ...] = tuple(range(n_classes))
    if n_classes and is_estimator and getattr(model, "classes_", None) is not None:
        classes = tuple(np.asarray(model.classes_).tolist())
    names = learner.get("feature_names") or None
    return Source(names, int(options["num_feature"]), classes, trees, answer)


def _stopped_early(model: Any) -> bool:
    try:
        return getattr(model, "best_iteration", None) is not None
    except AttributeError:
        return False


def _answer(
    objective: str, base: NDArray[np.float32], n_outputs: int
) -> tuple[Answer, int]:
    base = np.broadcast_to(base, (n_outputs,))
    if objective in ("binary:logistic", "binary:logitraw"):
        margin = base
        if objective == "binary:logistic":
            margin = -np.log(np.float32(1.0) / base - np.float32(1.0))
        offset = tuple(float(x) for x in margin)
        if objective == "binary:logitraw":
            return Answer("logit", offset, is_single=True), 2
        return Answer("logit", offset, decides_by="probability", is_single=True), 2
    offset = tuple(float(x) for x in base)
    if objective in ("multi:softprob", "multi:softmax"):
        return Answer("softmax", offset, is_single=True), n_outputs
    if objective in NUMBERS:
        return Answer("number", offset, is_single=True), 0
    if objective in LOGARITHMS:
        offset = tuple(float(x) for x in np.log(base))
        return Answer("exp", offset, is_single=True), 0
    raise InvalidOptionError(
        "An XGBoost model must have an objective for classes or numbers. Got "
        f"{objective!r}. Fit it with 'binary:logistic', 'multi:softprob' or "
        "'reg:squarederror'."
    )


def _read_tree(tree: dict[str, Any], output: int) -> SourceTree:
    if tree["categories"] or int(tree["tree_param"].get("size_leaf_vector", "1")) > 1:
        raise InvalidOptionError(
            "XGBoost trees must split on numbers and have one value in a leaf. Got "
            "categories or several values. Code categories as numbers first."
        )
    left = np.array(tree["left_children"], dtype=np.int32)
    conditions = np.array(tree["split_conditions"], dtype=np.float32)
    is_leaf = left < 0
    # Values below the condition go left, in single precision: at most the one before.
    before = np.nextafter(conditions, np.float32(-np.inf)).astype(np.float64)
    return SourceTree(
        feature=np.where(is_leaf, -1, tree["split_indices"]).astype(np.int32),
        threshold=single_cuts(np.where(is_leaf, 0.0, before)),
        left=left,
        right=np.array(tree["right_children"], dtype=np.int32),
        missing_left=np.array(tree["default_left"], dtype=bool),
        value=np.where(is_leaf, conditions, 0.0).astype(np.float64)[:, None],
        weight=np.maximum(np.array(tree["sum_hessian"], dtype=np.float64), 1e-9),
        output=output,
    )
