"""Read the trees of a LightGBM model from their text; no LightGBM is needed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.learn.sources._number_sets import split_beside_zero, split_whole_numbers
from askless.learn.sources._source import SetSplit, SourceTree, refuse
from askless.problem import Outcome

__all__ = ["read_fields", "read_tree"]

# Bits of a decision type, and the kinds of missing value in its third and fourth bit.
IS_CATEGORY, DEFAULT_LEFT = 1, 2
NO_MISSING, ZERO_MISSING, NAN_MISSING = 0, 1, 2
# Numbers this near to zero count as zero.
NEARLY_ZERO = float(np.float32(1e-35))


def read_fields(block: str) -> dict[str, str]:
    """Return what the lines of a block say, by name."""
    lines = (line.partition("=") for line in block.split("\n"))
    return {name: value for name, found, value in lines if found}


def _numbers(fields: dict[str, str], name: str, dtype: Any) -> NDArray[Any]:
    text = fields.get(name, "")
    return np.array(text.split(" ") if text else [], dtype=dtype)


def read_tree(
    fields: dict[str, str], output: int, categories: Mapping[int, tuple[Outcome, ...]]
) -> SourceTree:
    """Return the tree that the lines of its block describe."""
    if fields.get("is_linear", "0") != "0":
        refuse(
            "Leaves must be constants",
            "a LightGBM model with linear trees",
            "Fit it without linear_tree",
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
        sets=_sets(fields, feature, kind, threshold, missing_left, categories),
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
    missing_left: NDArray[np.bool_],
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
        sets[int(node)] = (
            _named_set(left)
            if is_named
            else split_whole_numbers(left, members_left=True, is_single=False)
        )
    for node in np.flatnonzero(
        ((kind >> 2) & 3 == ZERO_MISSING) & ((kind & IS_CATEGORY) == 0)
    ):
        sets[int(node)] = split_beside_zero(
            float(threshold[node]),
            nearly_zero=NEARLY_ZERO,
            zero_left=bool(kind[node] & DEFAULT_LEFT),
        )
    for node in np.flatnonzero((kind & IS_CATEGORY) == 0):
        if int(feature[node]) in categories:
            side, beside_zero = bool(missing_left[node]), sets.get(int(node))
            sets[int(node)] = _ordered_set(float(threshold[node]), beside_zero, side)
    return sets


def _ordered_set(
    threshold: float, beside_zero: SetSplit | None, missing_left: bool
) -> SetSplit:
    """Return a split of a category whose positions LightGBM compares as numbers.

    A category never seen is missing to LightGBM.
    """

    def goes_left(positions: NDArray[np.float64]) -> NDArray[np.bool_]:
        return np.asarray(positions <= threshold)

    chosen = goes_left if beside_zero is None else beside_zero.goes_left
    return SetSplit(chosen, unknown_left=missing_left)


def _named_set(left: NDArray[np.bool_]) -> SetSplit:
    def goes_left(positions: NDArray[np.float64]) -> NDArray[np.bool_]:
        at = positions.astype(np.int64)
        return np.where(at < len(left), left[np.minimum(at, len(left) - 1)], False)

    return SetSplit(goes_left)
