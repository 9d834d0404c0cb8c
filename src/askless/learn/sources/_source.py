"""What every importer hands over: trees in their own order, made into one ensemble.

Whatever number type a library compares in, ``x <= threshold`` on its type is the same
as ``x <= cut`` on doubles for one cut, so that is what an importer gives. This module
must not know any library.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from askless._core.ensemble._trees import list_preorder
from askless.exceptions import InvalidOptionError
from askless.policy import Answer, EnsembleTrees
from askless.policy._ensemble_parts import IS_SET, MISSING_LEFT
from askless.problem import Outcome, Test

__all__ = ["SetSplit", "Source", "SourceTree", "assemble_trees", "single_cuts"]


@dataclass(frozen=True)
class SetSplit:
    """A split that is no threshold.

    Attributes
    ----------
    goes_left : callable
        Whether values go left: numbers, or positions among the outcomes of a category.
    edges : ndarray
        Of a number: where the answer changes, each edge being the last value of its
        side.
    unknown_left : bool
        Whether a category never seen goes left.
    """

    goes_left: Callable[[NDArray[np.float64]], NDArray[np.bool_]]
    edges: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    unknown_left: bool = False


@dataclass(frozen=True)
class SourceTree:
    """One tree as its library holds it; node 0 is the root.

    Attributes
    ----------
    feature : ndarray of shape (n_nodes,)
        -1 for a leaf.
    threshold : ndarray of shape (n_nodes,)
        Doubles up to this go left.
    left, right : ndarray of shape (n_nodes,)
    missing_left : ndarray of bool of shape (n_nodes,)
    value : ndarray of shape (n_nodes, 1 or n_outputs)
    weight : ndarray of shape (n_nodes,)
    output : int
        The sum that the tree adds to, if a leaf has one value.
    sets : dict of int to SetSplit
        The splits that are no thresholds, by node.
    """

    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    missing_left: NDArray[np.bool_]
    value: NDArray[np.float64]
    weight: NDArray[np.float64]
    output: int = 0
    sets: dict[int, SetSplit] = field(default_factory=dict)


@dataclass(frozen=True)
class Source:
    """A model as its importer read it.

    Attributes
    ----------
    names : list of str or None
        Names of the features, if the model knows any.
    n_features : int
    classes : tuple
        Empty for regression.
    trees : list of SourceTree
    answer : Answer
    categories : dict of int to tuple
        The outcomes of the features that are categories.
    """

    names: list[str] | None
    n_features: int
    classes: tuple[Outcome, ...]
    trees: list[SourceTree]
    answer: Answer
    categories: dict[int, tuple[Outcome, ...]] = field(default_factory=dict)

    def assemble(self, names: list[str]) -> tuple[tuple[Test, ...], EnsembleTrees]:
        """Return the tests that the trees ask, and the trees over their codes."""
        tests = tuple(
            Test(name, "category", outcomes=self.categories[i])
            if i in self.categories
            else Test(name, "number", cuts=tuple(cuts.tolist()))
            for i, (name, cuts) in enumerate(zip(names, self._cuts(), strict=True))
        )
        return tests, assemble_trees(self.trees, tests)

    def _cuts(self) -> list[NDArray[np.float64]]:
        """Return every threshold of each feature, in ascending order."""
        features = [np.zeros(0, dtype=np.int64)]
        cuts = [np.zeros(0)]
        for tree in self.trees:
            plain = tree.feature >= 0
            plain[list(tree.sets)] = False
            features.append(tree.feature[plain].astype(np.int64))
            cuts.append(tree.threshold[plain])
            for node, split in tree.sets.items():
                features.append(np.full(len(split.edges), tree.feature[node]))
                cuts.append(split.edges)
        feature, cut = np.concatenate(features), np.concatenate(cuts)
        keep = np.isfinite(cut)
        feature, cut = feature[keep], cut[keep] + 0.0  # -0.0 becomes 0.0
        order = np.lexsort((cut, feature))
        feature, cut = feature[order], cut[order]
        starts = np.searchsorted(feature, np.arange(self.n_features + 1))
        return [np.unique(cut[a:b]) for a, b in pairwise(starts.tolist())]


def single_cuts(thresholds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the largest double that, in single precision, is <= each threshold.

    Examples
    --------
    >>> cut = single_cuts(np.array([0.1]))[0]
    >>> [float(np.float32(x)) <= 0.1 for x in (cut, np.nextafter(cut, 1))]
    [True, False]
    """
    with np.errstate(over="ignore", invalid="ignore"):
        below = np.asarray(thresholds, dtype=np.float64).astype(np.float32)
        below = np.where(
            below.astype(np.float64) > thresholds,
            np.nextafter(below, np.float32(-np.inf)),
            below,
        )
        above = np.nextafter(below, np.float32(np.inf)).astype(np.float64)
        low = below.astype(np.float64)
        middle = low + (above - low) / 2
        # A tie rounds to the even one of its two neighbours.
        is_low = middle.astype(np.float32) <= below
        return np.where(
            np.isfinite(middle),
            np.where(is_low, middle, np.nextafter(middle, -np.inf)),
            # An infinite threshold stays so: every number goes left.
            np.where(np.isfinite(below), np.finfo(np.float64).max, low),
        )


def assemble_trees(sources: list[SourceTree], tests: tuple[Test, ...]) -> EnsembleTrees:
    """Return trees over the codes of tests, one after another and in preorder."""
    parts = []
    words: list[NDArray[np.uint64]] = []
    n_words = 0
    base = 0
    cut_arrays = [test.cut_array for test in tests]
    for tree in sources:
        order = list_preorder(
            np.ascontiguousarray(tree.left, dtype=np.int32),
            np.ascontiguousarray(tree.right, dtype=np.int32),
        )
        if not len(order):
            raise InvalidOptionError(
                "Every tree must be a tree. Got nodes that are reached twice. Fit the "
                "model again."
            )
        place = np.zeros(len(tree.left), dtype=np.int64)
        place[order] = np.arange(len(order))
        test = np.where(tree.left[order] >= 0, tree.feature[order], -1)
        is_inner = test >= 0
        right = np.where(is_inner, place[tree.right[order]] + base, 0)
        cut = np.zeros(len(order), dtype=np.int64)
        threshold = tree.threshold[order]
        for feature in np.unique(test[is_inner]).tolist():
            at = test == feature
            cut[at] = np.searchsorted(cut_arrays[feature], threshold[at])
        flags = np.where(is_inner & tree.missing_left[order], MISSING_LEFT, 0)
        for node, split in tree.sets.items():
            mask = _left_codes(
                split, tests[tree.feature[node]], bool(tree.missing_left[node])
            )
            words.append(mask)
            cut[place[node]] = n_words
            flags[place[node]] |= IS_SET
            n_words += len(mask)
        parts.append((test, cut, right, flags, tree.weight[order], tree.value[order]))
        base += len(order)
    test, cut, right, flags, weight, value = (
        np.concatenate(arrays) for arrays in zip(*parts, strict=True)
    )
    sizes = [len(part[0]) for part in parts]
    weight = np.where(weight > 0, weight, 1e-9)
    return EnsembleTrees(
        test=test.astype(np.int32),
        cut=cut.astype(np.int32),
        right=right.astype(np.int32),
        flags=flags.astype(np.int32),
        words=np.concatenate([*words, np.zeros(0, dtype=np.uint64)]),
        tree_start=np.cumsum([0, *sizes]).astype(np.int64),
        output=np.array([tree.output for tree in sources], dtype=np.int32),
        weight=weight.astype(np.float64),
        value=np.ascontiguousarray(value * (test < 0)[:, None], dtype=np.float64),
    )


def _left_codes(split: SetSplit, test: Test, missing_left: bool) -> NDArray[np.uint64]:
    """Return the codes that go left as words of bits, lowest bit first."""
    if test.kind == "category":
        left = split.goes_left(np.arange(test.n_levels, dtype=np.float64))
    else:
        # Each level is stood for by its last value; the last level has none.
        left = split.goes_left(np.append(test.cut_array, np.inf))
    bits = np.zeros((test.n_levels + 2 + 63) // 64 * 64, dtype=np.uint8)
    bits[: test.n_levels] = left
    bits[test.missing_code] = missing_left
    bits[test.unknown_code] = split.unknown_left
    return np.packbits(bits, bitorder="little").view("<u8").astype(np.uint64)
