"""Read scikit-learn's histogram boosting, categories and missing values included."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier

from askless.learn.sources._source import SetSplit, Source, SourceTree, refuse
from askless.policy import Output
from askless.policy.ensemble._output import Link
from askless.problem import Outcome

__all__ = ["read_hist"]

# By the name of scikit-learn's link.
LINKS: dict[str, Link] = {
    "IdentityLink": "number",
    "LogLink": "exp",
    "LogitLink": "logit",
    "MultinomialLogit": "softmax",
}


def read_hist(model: Any) -> Source:
    """Read a fitted HistGradientBoosting model."""
    columns, categories = _columns(model)
    trees = [
        _read_tree(predictor, columns, adds_to)
        for iteration in model._predictors
        for adds_to, predictor in enumerate(iteration)
    ]
    offset = tuple(np.ravel(model._baseline_prediction).tolist())
    classes: tuple[Outcome, ...] = ()
    if is_classifier(model):
        classes = tuple(model.classes_.tolist())
    link = type(model._loss.link).__name__
    if link not in LINKS:
        refuse(
            "Histogram boosting must have one of scikit-learn's losses",
            f"loss={model.loss!r}",
            "Fit it with another loss",
        )
    output = Output(LINKS[link], offset, functions="numpy by columns")
    names = getattr(model, "feature_names_in_", None)
    return Source(
        None if names is None else [str(name) for name in names],
        model.n_features_in_,
        classes,
        trees,
        output,
        categories,
    )


def _columns(model: Any) -> tuple[list[int], dict[int, tuple[Outcome, ...]]]:
    """Return the column of X behind each feature of the trees, and the categories.

    The model codes categories first, which puts those columns in front.
    """
    if model._preprocessor is None:
        return list(range(model.n_features_in_)), {}
    is_category = np.asarray(model.is_categorical_, dtype=bool)
    coded = np.flatnonzero(is_category).tolist()
    encoder = model._preprocessor.named_transformers_["encoder"]
    categories = {}
    for column, listed in zip(coded, encoder.categories_, strict=True):
        outcomes = [x for x in listed.tolist() if x is not None and x == x]
        if len(set(outcomes)) != len(outcomes):
            refuse(
                "Categories must be different",
                f"one twice in column {column}",
                "Give them other names",
            )
        # Whole numbers are categories by their value, whatever type they came in.
        categories[column] = tuple(
            int(x) if isinstance(x, float) and x.is_integer() else x for x in outcomes
        )
    return [*coded, *np.flatnonzero(~is_category).tolist()], categories


def _read_tree(predictor: Any, columns: list[int], output: int) -> SourceTree:
    nodes = predictor.nodes
    is_leaf = nodes["is_leaf"].astype(bool)
    features = np.array(columns)[np.where(is_leaf, 0, nodes["feature_idx"])]
    missing_left = nodes["missing_go_to_left"].astype(bool)
    sets = {
        int(node): _set_split(
            predictor.raw_left_cat_bitsets[nodes["bitset_idx"][node]],
            bool(missing_left[node]),
        )
        for node in np.flatnonzero(nodes["is_categorical"].astype(bool) & ~is_leaf)
    }
    return SourceTree(
        feature=np.where(is_leaf, -1, features).astype(np.int32),
        threshold=np.where(is_leaf, 0.0, nodes["num_threshold"]),
        left=np.where(is_leaf, -1, nodes["left"].astype(np.int64)).astype(np.int32),
        right=np.where(is_leaf, -1, nodes["right"].astype(np.int64)).astype(np.int32),
        missing_left=missing_left,
        value=nodes["value"].astype(np.float64)[:, None],
        weight=nodes["count"].astype(np.float64),
        output=output,
        sets=sets,
    )


def _set_split(words: Any, missing_left: bool) -> SetSplit:
    bits = np.unpackbits(
        np.ascontiguousarray(words, dtype="<u4").view(np.uint8), bitorder="little"
    ).astype(bool)

    def goes_left(positions: Any) -> Any:
        return bits[positions.astype(np.int64)]

    # A category never seen is treated as missing.
    return SetSplit(goes_left, unknown_left=missing_left)
