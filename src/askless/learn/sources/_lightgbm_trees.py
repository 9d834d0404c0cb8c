"""Read the trees of a LightGBM model from their text; no LightGBM is needed."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.learn.sources._number_sets import split_beside_zero, split_whole_numbers
from askless.learn.sources._source import SetSplit, SourceTree, refuse
from askless.problem import Outcome

__all__ = ["read_fields", "read_trees"]

# Bits of a decision type, and the kinds of missing value in its third and fourth bit.
IS_CATEGORY, DEFAULT_LEFT = 1, 2
NO_MISSING, ZERO_MISSING, NAN_MISSING = 0, 1, 2
# Numbers this near to zero count as zero.
NEARLY_ZERO = float(np.float32(1e-35))


def read_fields(block: str) -> dict[str, str]:
    """Return what the lines of a block say, by name."""
    lines = (line.partition("=") for line in block.split("\n"))
    return {name: value for name, found, value in lines if found}


class _Column:
    """What all trees say under one name: numbers, and where those of a tree start."""

    def __init__(self, blocks: list[dict[str, str]], name: str, dtype: Any) -> None:
        texts = [fields.get(name, "") for fields in blocks]
        self.sizes = np.array([text.count(" ") + 1 if text else 0 for text in texts])
        self.start = np.concatenate([[0], np.cumsum(self.sizes)])
        joined = " ".join(text for text in texts if text)
        # All trees at once: reading a short text takes longer than what it says.
        self.all = np.fromstring(joined, dtype, sep=" ")
        self.of = [self.all[i:j] for i, j in pairwise(self.start.tolist())]


def read_trees(
    blocks: list[dict[str, str]],
    n_outputs: int,
    categories: Mapping[int, tuple[Outcome, ...]],
) -> list[SourceTree]:
    """Return the trees that the lines of their blocks describe.

    Parameters
    ----------
    blocks : list of dict of str to str
        What the lines of each tree say, by name.
    n_outputs : int
        How many sums there are; trees add to them by turns.
    categories : mapping of int to tuple
        The outcomes of the features that are categories.
    """
    if any(fields.get("is_linear", "0") != "0" for fields in blocks):
        refuse(
            "Leaves must be constants",
            "a LightGBM model with linear trees",
            "Fit it without linear_tree",
        )
    value = _Column(blocks, "leaf_value", np.float64)
    feature = _Column(blocks, "split_feature", np.int32)
    kind = _Column(blocks, "decision_type", np.int64)
    threshold = _Column(blocks, "threshold", np.float64)
    left = _Column(blocks, "left_child", np.int32)
    right = _Column(blocks, "right_child", np.int32)
    missing_left = _missing_left(kind.all, threshold.all)
    moved = _beside_zero(threshold.all)
    weights = _leaf_weights(blocks)
    trees = []
    for i, fields in enumerate(blocks):
        a, b = threshold.start[i], threshold.start[i + 1]
        n_inner, n_leaves = int(b - a), int(fields["num_leaves"])
        none = np.zeros(n_leaves)
        trees.append(
            # Inner nodes come first, so that node 0 is the root; leaf ~i is node
            # n_inner + i.
            SourceTree(
                feature=np.concatenate([feature.of[i], none.astype(np.int32) - 1]),
                threshold=np.concatenate([moved[a:b], none]),
                left=_children(left.of[i], n_inner, n_leaves),
                right=_children(right.of[i], n_inner, n_leaves),
                missing_left=np.concatenate([missing_left[a:b], none > 0]),
                value=np.concatenate([np.zeros(n_inner), value.of[i]])[:, None],
                weight=np.concatenate([np.ones(n_inner), weights[i]]),
                output=i % n_outputs,
                sets=_sets(
                    fields,
                    feature.of[i],
                    kind.of[i],
                    threshold.of[i],
                    missing_left[a:b],
                    categories,
                ),
            )
        )
    return trees


def _leaf_weights(blocks: list[dict[str, str]]) -> list[NDArray[np.float64]]:
    """Return the weight of each leaf of each tree: its own, or its rows, or one."""
    weight = _Column(blocks, "leaf_weight", np.float64)
    count = _Column(blocks, "leaf_count", np.float64)
    found = []
    for i, fields in enumerate(blocks):
        n_leaves, weights, counts = int(fields["num_leaves"]), weight.of[i], count.of[i]
        if len(weights) != n_leaves or not np.all(weights > 0):
            weights = counts if len(counts) == n_leaves else np.ones(n_leaves)
            weights = np.where(weights > 0, weights, 1e-9)
        found.append(weights)
    return found


def _beside_zero(threshold: NDArray[np.float64]) -> NDArray[np.float64]:
    """Move thresholds to an end of the range that counts as zero."""
    below = np.nextafter(-NEARLY_ZERO, -np.inf)
    is_near = np.abs(threshold) <= NEARLY_ZERO
    return np.where(is_near, np.where(threshold < 0, below, NEARLY_ZERO), threshold)


def _children(
    children: NDArray[np.int32], n_inner: int, n_leaves: int
) -> NDArray[np.int32]:
    nodes = np.where(children < 0, n_inner + ~children, children)
    none = np.full(n_leaves, -1, dtype=np.int32)
    return np.concatenate([nodes.astype(np.int32), none])


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
    is_plain = not np.any((kind & IS_CATEGORY) | ((kind >> 2) & 3 == ZERO_MISSING))
    if is_plain and not categories:
        return sets
    starts = _Column([fields], "cat_boundaries", np.int64).all
    words = _Column([fields], "cat_threshold", np.int64).all.astype(np.uint32)
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
