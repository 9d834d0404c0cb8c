"""Read LightGBM models from the text that they are saved as; no LightGBM is needed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidOptionError
from askless.learn.sources._source import SetSplit, Source, SourceTree
from askless.policy import Answer
from askless.problem import Outcome

__all__ = ["read_lightgbm", "read_lightgbm_text"]

# Bits of a decision type, and the kinds of missing value in its third and fourth bit.
IS_CATEGORY, DEFAULT_LEFT = 1, 2
NO_MISSING, ZERO_MISSING, NAN_MISSING = 0, 1, 2
# Numbers this near to zero count as zero.
NEARLY_ZERO = float(np.float32(1e-35))

NUMBERS = ("regression", "regression_l1", "huber", "fair", "quantile")
LOGARITHMS = ("poisson", "gamma", "tweedie")


def read_lightgbm(model: Any) -> Source:
    """Read a fitted Booster, LGBMClassifier or LGBMRegressor."""
    booster = getattr(model, "booster_", model)
    text = booster.model_to_string()
    classes = getattr(model, "classes_", None)
    return read_lightgbm_text(
        text, classes=None if classes is None else tuple(classes.tolist())
    )


def read_lightgbm_text(
    text: str,
    *,
    classes: tuple[Outcome, ...] | None = None,
    categories: Mapping[int, tuple[Outcome, ...]] | None = None,
) -> Source:
    """Read a model from its text.

    Parameters
    ----------
    text : str
        What ``Booster.model_to_string`` returns.
    classes : tuple, optional
        The classes; 0, 1, ... by default.
    categories : mapping of int to tuple, optional
        For features that are categories, what each of their numbers stands for.
    """
    blocks = text.split("\nTree=")
    header = _fields(blocks[0])
    n_features = int(header["max_feature_idx"]) + 1
    n_outputs = int(header["num_tree_per_iteration"])
    last = blocks[-1]
    if categories is None:
        categories = _pandas_categories(last, header)
    trees = [
        _read_tree(_fields(block.split("\nend of trees")[0]), i % n_outputs, categories)
        for i, block in enumerate(blocks[1:])
    ]
    divisor = 1.0
    if "average_output" in blocks[0].split("\n"):
        divisor = len(trees) / n_outputs
    answer, n_classes = _answer(header.get("objective", ""), n_outputs, divisor)
    if n_classes and classes is None:
        classes = tuple(range(n_classes))
    names = header["feature_names"].split(" ")
    is_named = names != [f"Column_{i}" for i in range(n_features)]
    return Source(
        names if is_named else None,
        n_features,
        (classes or ()) if n_classes else (),
        trees,
        answer,
        dict(categories),
    )


def _fields(block: str) -> dict[str, str]:
    lines = (line.partition("=") for line in block.split("\n"))
    return {name: value for name, found, value in lines if found}


def _answer(objective: str, n_outputs: int, divisor: float) -> tuple[Answer, int]:
    name, *options = objective.split(" ") if objective else [""]
    values = dict(option.split(":") for option in options if ":" in option)
    slope = float(values.get("sigmoid", 1.0))
    offset = (0.0,) * n_outputs
    if name in ("binary", "cross_entropy"):
        return Answer("logit", offset, divisor, slope, "probability"), 2
    if name == "multiclass":
        return Answer("softmax", offset, divisor, decides_by="probability"), n_outputs
    if name == "multiclassova":
        answer = Answer("one-vs-rest", offset, divisor, slope, "probability")
        return answer, n_outputs
    if name in NUMBERS and "sqrt" not in options:
        return Answer("number", offset, divisor), 0
    if name in LOGARITHMS:
        return Answer("exp", offset, divisor), 0
    raise InvalidOptionError(
        "A LightGBM model must have an objective for classes or numbers. Got "
        f"{objective or 'none'!r}. Fit it with 'binary', 'multiclass' or 'regression'."
    )


def _pandas_categories(
    text: str, header: dict[str, str]
) -> dict[int, tuple[Outcome, ...]]:
    """Return what the numbers of categories stood for in the frame of training."""
    lines = [x for x in text.split("\n") if x.startswith("pandas_categorical:")]
    listed = json.loads(lines[-1].partition(":")[2]) if lines else None
    if not listed:
        return {}
    infos = header["feature_infos"].split(" ")
    found = [i for i, info in enumerate(infos) if info[:1] not in ("[", "n")]
    if len(found) != len(listed):
        raise InvalidOptionError(
            "Every category column of the frame that LightGBM was fitted on must vary, "
            f"and no other column be a category. Got {len(listed)} category columns "
            f"and {len(found)} that the model treats as such. Drop constant columns."
        )
    return {i: tuple(names) for i, names in zip(found, listed, strict=True)}


def _numbers(fields: dict[str, str], name: str, dtype: Any) -> NDArray[Any]:
    text = fields.get(name, "")
    return np.array(text.split(" ") if text else [], dtype=dtype)


def _read_tree(
    fields: dict[str, str], output: int, categories: Mapping[int, tuple[Outcome, ...]]
) -> SourceTree:
    if fields.get("is_linear", "0") != "0":
        raise InvalidOptionError(
            "Leaves must be constants. Got a LightGBM model with linear trees. Fit it "
            "without linear_tree."
        )
    n_leaves = int(fields["num_leaves"])
    n_inner = n_leaves - 1
    values = _numbers(fields, "leaf_value", np.float64)
    weights = _numbers(fields, "leaf_weight", np.float64)
    counts = _numbers(fields, "leaf_count", np.float64)
    if len(weights) != n_leaves or not np.all(weights > 0):
        weights = counts if len(counts) == n_leaves else np.ones(n_leaves)
    weights = np.where(weights > 0, weights, 1e-9)
    # Inner nodes come first, so that node 0 is the root; leaf ~i is node n_inner + i.
    feature = np.append(_numbers(fields, "split_feature", np.int32), [-1] * n_leaves)
    kind = _numbers(fields, "decision_type", np.int64)
    threshold = _numbers(fields, "threshold", np.float64)
    zeros = np.zeros(n_leaves)
    missing_left = _missing_left(kind, threshold)
    return SourceTree(
        feature=feature.astype(np.int32),
        threshold=np.append(_beside_zero(threshold), zeros),
        left=_children(_numbers(fields, "left_child", np.int32), n_inner, n_leaves),
        right=_children(_numbers(fields, "right_child", np.int32), n_inner, n_leaves),
        missing_left=np.append(missing_left, zeros.astype(bool)),
        value=np.append(np.zeros(n_inner), values)[:, None],
        weight=np.append(np.ones(n_inner), weights),
        output=output,
        sets=_sets(fields, feature, kind, threshold, categories),
    )


def _beside_zero(threshold: NDArray[np.float64]) -> NDArray[np.float64]:
    """Move thresholds to an end of the range that counts as zero."""
    below = np.nextafter(-NEARLY_ZERO, -np.inf)
    is_near = np.abs(threshold) <= NEARLY_ZERO
    return np.where(is_near, np.where(threshold < 0, below, NEARLY_ZERO), threshold)


def _children(
    children: NDArray[np.int32], n_inner: int, n_leaves: int
) -> NDArray[np.int32]:
    nodes = np.where(children < 0, n_inner + ~children, children)
    return np.append(nodes, np.full(n_leaves, -1)).astype(np.int32)


def _missing_left(
    kind: NDArray[np.int64], threshold: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Return where missing values go: by default, or as zero if none were expected."""
    missing = (kind >> 2) & 3
    by_default = (kind & DEFAULT_LEFT) > 0
    left = np.where(missing == NO_MISSING, threshold >= 0.0, by_default)
    return np.asarray(left & ((kind & IS_CATEGORY) == 0))


def _sets(
    fields: dict[str, str],
    feature: NDArray[Any],
    kind: NDArray[np.int64],
    threshold: NDArray[np.float64],
    categories: Mapping[int, tuple[Outcome, ...]],
) -> dict[int, SetSplit]:
    sets: dict[int, SetSplit] = {}
    starts = _numbers(fields, "cat_boundaries", np.int64)
    words = _numbers(fields, "cat_threshold", np.uint32)
    for node in np.flatnonzero(kind & IS_CATEGORY):
        which = int(threshold[node])
        packed = words[starts[which] : starts[which + 1]].astype("<u4")
        left = np.unpackbits(packed.view(np.uint8), bitorder="little").astype(bool)
        is_named = int(feature[node]) in categories
        sets[int(node)] = _named_set(left) if is_named else _number_set(left)
    for node in np.flatnonzero(
        ((kind >> 2) & 3 == ZERO_MISSING) & ((kind & IS_CATEGORY) == 0)
    ):
        sets[int(node)] = _zero_split(
            float(threshold[node]), bool(kind[node] & DEFAULT_LEFT)
        )
    return sets


def _named_set(left: NDArray[np.bool_]) -> SetSplit:
    def goes_left(positions: NDArray[np.float64]) -> NDArray[np.bool_]:
        at = positions.astype(np.int64)
        return np.where(at < len(left), left[np.minimum(at, len(left) - 1)], False)

    return SetSplit(goes_left)


def _number_set(left: NDArray[np.bool_]) -> SetSplit:
    """Return a set of whole numbers; a number counts as its whole part, below 0 not."""
    members = np.flatnonzero(left)
    first = np.where(members == 0, -1.0, np.nextafter(members, -np.inf))
    last = np.nextafter(members + 1.0, -np.inf)

    def goes_left(values: NDArray[np.float64]) -> NDArray[np.bool_]:
        inside = (values > -1.0) & (values < len(left))
        return np.where(inside, left[np.where(inside, values, 0.0).astype(int)], False)

    return SetSplit(goes_left, np.unique(np.append(first, last)))


def _zero_split(threshold: float, zero_left: bool) -> SetSplit:
    """Return a threshold beside which zero goes its own way."""

    def goes_left(values: NDArray[np.float64]) -> NDArray[np.bool_]:
        is_zero = np.abs(values) <= NEARLY_ZERO
        return np.where(is_zero, zero_left, values <= threshold)

    below = np.nextafter(-NEARLY_ZERO, -np.inf)
    edges = np.unique([below, NEARLY_ZERO, threshold])
    return SetSplit(goes_left, edges[np.isfinite(edges)])
