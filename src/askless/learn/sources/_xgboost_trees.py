"""Read the trees of an XGBoost model, given as the values of its JSON.

Values are compared in single precision, and what is below a threshold goes left.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.learn.sources._number_sets import (
    split_beside_missing,
    split_whole_numbers,
)
from askless.learn.sources._source import (
    SetSplit,
    SourceTree,
    next_single,
    refuse,
    single_cuts,
)
from askless.problem import Outcome

__all__ = ["read_tree"]


def read_tree(
    tree: dict[str, Any],
    output: int,
    missing: np.float32,
    categories: Mapping[int, tuple[Outcome, ...]],
) -> SourceTree:
    """Return one tree.

    Parameters
    ----------
    tree : dict
        As the model has it.
    output : int
        The sum that it adds to.
    missing : float32
        A number that counts as missing, besides NaN; NaN if none does.
    categories : mapping of int to tuple
        The outcomes of features that are categories by name.
    """
    if int(tree["tree_param"].get("size_leaf_vector", "1")) > 1:
        refuse(
            "An XGBoost model must have one value in a leaf",
            "several, from multi_strategy='multi_output_tree'",
            "Fit it with 'one_output_per_tree'",
        )
    left = np.array(tree["left_children"], dtype=np.int32)
    conditions = np.array(tree["split_conditions"], dtype=np.float32)
    is_leaf = left < 0
    before = next_single(conditions, -np.inf).astype(np.float64)
    threshold = single_cuts(np.where(is_leaf, 0.0, before))
    feature = np.where(is_leaf, -1, tree["split_indices"]).astype(np.int32)
    missing_left = np.array(tree["default_left"], dtype=bool)
    sets = _category_splits(tree, feature, missing_left, categories)
    if not np.isnan(missing):
        _add_missing(sets, feature, threshold, missing_left, missing)
    return SourceTree(
        feature=feature,
        threshold=threshold,
        left=left,
        right=np.array(tree["right_children"], dtype=np.int32),
        missing_left=missing_left,
        value=np.where(is_leaf, conditions, 0.0).astype(np.float64)[:, None],
        weight=np.maximum(np.array(tree["sum_hessian"], dtype=np.float64), 1e-9),
        output=output,
        sets=sets,
    )


def _category_splits(
    tree: dict[str, Any],
    feature: NDArray[np.int32],
    missing_left: NDArray[np.bool_],
    categories: Mapping[int, tuple[Outcome, ...]],
) -> dict[int, SetSplit]:
    """Return the splits by categories; those that are listed go right."""
    sets: dict[int, SetSplit] = {}
    for node, start, size in zip(
        tree["categories_nodes"],
        tree["categories_segments"],
        tree["categories_sizes"],
        strict=True,
    ):
        listed = tree["categories"][start : start + size]
        is_right = np.zeros(max(listed, default=-1) + 1, dtype=bool)
        is_right[listed] = True
        if int(feature[node]) in categories:
            sets[node] = _named_split(is_right, bool(missing_left[node]))
        else:
            sets[node] = split_whole_numbers(
                is_right, members_left=False, is_single=True
            )
    return sets


def _named_split(is_right: NDArray[np.bool_], missing_left: bool) -> SetSplit:
    def goes_left(positions: NDArray[np.float64]) -> NDArray[np.bool_]:
        at = positions.astype(np.int64)
        inside = at < len(is_right)
        return ~inside | ~is_right[np.where(inside, at, 0)]

    # A category never seen, which XGBoost refuses, is treated as missing.
    return SetSplit(goes_left, unknown_left=missing_left)


def _add_missing(
    sets: dict[int, SetSplit],
    feature: NDArray[np.int32],
    threshold: NDArray[np.float64],
    missing_left: NDArray[np.bool_],
    missing: np.float32,
) -> None:
    """Send a number that counts as missing where missing values go."""
    for node in np.flatnonzero(feature >= 0).tolist():
        split = sets.get(node) or _plain_split(float(threshold[node]))
        side = bool(missing_left[node])
        if bool(split.goes_left(np.array([missing], dtype=np.float64))[0]) != side:
            sets[node] = split_beside_missing(split, missing, side)


def _plain_split(threshold: float) -> SetSplit:
    def goes_left(values: NDArray[np.float64]) -> NDArray[np.bool_]:
        return np.asarray(values <= threshold)

    return SetSplit(goes_left, np.array([threshold]))
