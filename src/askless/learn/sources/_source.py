"""What every importer hands over: trees in their own order, made into one ensemble.

Whatever number type a library compares in, ``x <= threshold`` on its type is the same
as ``x <= cut`` on doubles for one cut, so that is what an importer gives. This module
must not know any library.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from askless._core.ensemble._trees import list_preorders
from askless.exceptions import InvalidOptionError
from askless.policy import EnsembleTrees, Output
from askless.policy.ensemble._parts import IS_SET, MISSING_LEFT
from askless.problem import Outcome, Test

__all__ = [
    "SetSplit",
    "Source",
    "SourceTree",
    "Wanted",
    "assemble_trees",
    "next_single",
    "refuse",
    "single_cuts",
    "wanted_of",
]

# What a model's own predict returns; None of a bare booster, whose objective says it.
Wanted = Literal["classes", "numbers"] | None
# Single precision ends here.
BEYOND_SINGLE = 2.0**128


def refuse(rule: str, got: str, remedy: str) -> NoReturn:
    """Raise the error for a setting that a policy cannot honour."""
    raise InvalidOptionError(f"{rule}. Got {got}. {remedy}.")


def wanted_of(model: Any) -> Wanted:
    """Return what a model's own predict returns, as far as its type says it."""
    if not hasattr(model, "get_params"):
        return None
    return "classes" if is_classifier(model) else "numbers"


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

    def with_threshold(self, threshold: NDArray[np.float64]) -> SourceTree:
        """Return the same tree with other thresholds."""
        return replace(self, threshold=threshold)


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
    output : Output
    categories : dict of int to tuple
        The outcomes of the features that are categories.
    """

    names: list[str] | None
    n_features: int
    classes: tuple[Outcome, ...]
    trees: list[SourceTree]
    output: Output
    categories: dict[int, tuple[Outcome, ...]] = field(default_factory=dict)

    def assemble(self, names: list[str]) -> tuple[tuple[Test, ...], EnsembleTrees]:
        """Return the tests that the trees ask, and the trees over their codes."""
        tests = self.tests(names)
        return tests, assemble_trees(self.trees, tests)

    def tests(self, names: list[str]) -> tuple[Test, ...]:
        """Return the features as tests, with every threshold as a cut."""
        return tuple(
            Test(name, "category", outcomes=self.categories[i])
            if i in self.categories
            else Test(name, "number", cuts=tuple(cuts.tolist()))
            for i, (name, cuts) in enumerate(zip(names, self._cuts(), strict=True))
        )

    def _cuts(self) -> list[NDArray[np.float64]]:
        """Return every threshold of each feature, in ascending order."""
        nodes = _join_nodes(self.trees)
        plain = (nodes.feature >= 0) & ~nodes.is_set
        features = [nodes.feature[plain].astype(np.int64)]
        cuts = [nodes.threshold[plain]]
        for tree in self.trees:
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
        # The infinities of single precision begin half a step before this power of two.
        above = np.minimum(above, BEYOND_SINGLE)
        low = np.maximum(below.astype(np.float64), -BEYOND_SINGLE)
        middle = low + (above - low) / 2
        # A tie rounds to the even one of its two neighbours.
        is_low = middle.astype(np.float32) <= below
        cut = np.where(is_low, middle, np.nextafter(middle, -np.inf))
        # An infinite threshold stays so: every number goes left.
        return np.where(below == np.inf, np.inf, cut)


def next_single(values: Any, towards: float) -> NDArray[np.float32]:
    """Return the single-precision numbers beside others, on the side given."""
    return np.nextafter(np.asarray(values, dtype=np.float32), np.float32(towards))


@dataclass(frozen=True)
class _Nodes:
    """The nodes of many trees, one tree after another, each in its own order.

    ``start`` says where each tree starts, and has one entry more; children are counted
    from the start of their tree.
    """

    start: NDArray[np.int64]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    is_set: NDArray[np.bool_]


def _join_nodes(trees: list[SourceTree]) -> _Nodes:
    start = np.cumsum([0, *(len(tree.left) for tree in trees)]).astype(np.int64)
    is_set = np.zeros(start[-1], dtype=bool)
    for tree, first in zip(trees, start.tolist(), strict=False):
        for node in tree.sets:
            is_set[first + node] = True
    return _Nodes(
        start,
        _join([tree.feature for tree in trees], np.int32),
        _join([tree.threshold for tree in trees], np.float64),
        _join([tree.left for tree in trees], np.int32),
        _join([tree.right for tree in trees], np.int32),
        is_set,
    )


def _join(parts: list[NDArray[Any]], dtype: Any) -> NDArray[Any]:
    return np.concatenate([np.zeros(0, dtype=dtype), *parts]).astype(dtype, copy=False)


def assemble_trees(sources: list[SourceTree], tests: tuple[Test, ...]) -> EnsembleTrees:
    """Return trees over the codes of tests, one after another and in preorder."""
    nodes = _join_nodes(sources)
    order, sizes = list_preorders(nodes.left, nodes.right, nodes.start)
    if np.any(sizes == 0):
        refuse(
            "Every tree must be a tree",
            "nodes that are reached twice",
            "Fit the model again",
        )
    # Where each node comes to stand, and where its tree starts among the old ones.
    place = np.zeros(len(nodes.left), dtype=np.int64)
    place[order] = np.arange(len(order))
    base = np.repeat(nodes.start[:-1], sizes)
    test = np.where(nodes.left[order] >= 0, nodes.feature[order], -1)
    is_inner = test >= 0
    cut = _cut_codes(test, nodes.threshold[order], tests)
    missing_left = _join([tree.missing_left for tree in sources], bool)[order]
    flags = np.where(is_inner & missing_left, MISSING_LEFT, 0)
    words = _Words()
    for tree, first in zip(sources, nodes.start.tolist(), strict=False):
        for node, split in tree.sets.items():
            asked, missing = tests[tree.feature[node]], bool(tree.missing_left[node])
            cut[place[first + node]] = words.add(_left_codes(split, asked, missing))
            flags[place[first + node]] |= IS_SET
    weight = _join([tree.weight for tree in sources], np.float64)[order]
    value = np.concatenate([tree.value for tree in sources])[order]
    return EnsembleTrees(
        test=test.astype(np.int32),
        cut=cut.astype(np.int32),
        right=np.where(
            is_inner, place[np.where(is_inner, nodes.right[order] + base, 0)], 0
        ).astype(np.int32),
        flags=flags.astype(np.int32),
        words=np.concatenate([*words.masks, np.zeros(0, dtype=np.uint64)]),
        tree_start=np.cumsum([0, *sizes.tolist()]).astype(np.int64),
        output=np.array([tree.output for tree in sources], dtype=np.int32),
        weight=np.where(weight > 0, weight, 1e-9),
        value=np.ascontiguousarray(value * ~is_inner[:, None], dtype=np.float64),
    )


def _cut_codes(
    test: NDArray[np.int32], threshold: NDArray[np.float64], tests: tuple[Test, ...]
) -> NDArray[np.int64]:
    """Return the code of each threshold among the cuts of its test; 0 of a leaf."""
    cut = np.zeros(len(test), dtype=np.int64)
    by_test = np.argsort(test, kind="stable")
    starts = np.searchsorted(test[by_test], np.arange(len(tests) + 1))
    for (first, last), asked in zip(pairwise(starts.tolist()), tests, strict=True):
        at = by_test[first:last]
        cut[at] = np.searchsorted(asked.cut_array, threshold[at])
    return cut


class _Words:
    """The words of all sets, one after another."""

    def __init__(self) -> None:
        self.masks: list[NDArray[np.uint64]] = []
        self.n_words = 0

    def add(self, mask: NDArray[np.uint64]) -> int:
        """Add a set; return where its words start."""
        start = self.n_words
        self.masks.append(mask)
        self.n_words += len(mask)
        return start


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
