"""What a program of an ensemble has to write down, in whatever language.

Tests that no tree asks are left out. Sums are whole numbers of a unit, as they are in
Askless itself, so that a program buys the same tests in the same order. This module
does not know the languages.
"""

from __future__ import annotations

from itertools import pairwise
from math import ceil, floor, sqrt
from typing import Any, NamedTuple

import numpy as np

from askless.policy import Ensemble
from askless.policy.ensemble._parts import IS_SET, MISSING_LEFT, find_scales
from askless.problem import Test

__all__ = ["Leaf", "Parts", "Prices", "Split", "Whole", "to_parts"]

# What a share of votes is counted in.
FULL_SHARE = 65535
TARGETS = ("two classes", "classes", "number")


class Split(NamedTuple):
    """A node that asks. Codes go left up to ``cut``, or where a text says L for them.

    The left child is the next node.
    """

    test: int
    cut: int | str
    right: int
    missing_left: bool

    def letters(self, n_levels: int) -> str:
        """Return a letter for each code, of a test with so many levels."""
        if isinstance(self.cut, str):
            return self.cut
        rest = "L" if self.missing_left else "R"
        return "L" * (self.cut + 1) + "R" * (n_levels - self.cut - 1) + 2 * rest


class Leaf(NamedTuple):
    """A node that has ended: what it adds, and how much training data it has seen."""

    weight: float
    values: list[float]


class Whole(NamedTuple):
    """What a whole subtree amounts to, in units."""

    mean: list[int]
    low: list[int]
    high: list[int]
    spread: int
    score: int


class Prices(NamedTuple):
    """What tests charge: an entry for each."""

    full: list[float]
    discounted: list[float]
    group: list[int]
    delayed: list[bool]
    by_outcome: list[list[float]]


class Parts(NamedTuple):
    """Everything that a program of an ensemble has to write down."""

    tests: list[Test]
    prices: Prices
    eagerness: list[float]
    # Each tree in preorder; the nodes of votes that can name one class only are leaves.
    trees: list[list[Split | Leaf]]
    output: list[int]
    # Of bounds on paths, by leaves and of votes: what each subtree amounts to.
    wholes: list[list[Whole]] | None
    target: str
    n_outputs: int
    width: int
    is_joint: bool
    by_leaves: bool
    is_vote: bool
    start: list[int]
    slack: int
    tolerance: int
    unit: float
    spread_unit: float
    score_unit: float

    @property
    def n_kinds(self) -> int:
        """How many sums ask for tests of their own."""
        return self.n_outputs if self.width == 1 else 1


def to_parts(policy: Ensemble) -> Parts:
    """Return what a program of an ensemble has to write down."""
    scales = find_scales(policy.trees, policy.output, policy.tolerance, policy.bounds)
    is_vote = policy.bounds == "vote"
    trees = _trees(policy)
    wholes = None
    if policy.bounds in ("path", "leaves", "vote"):
        units = (scales.unit, scales.spread_unit, scales.score_unit)
        wholes = [
            _measure_tree(tree, is_vote, scales.by_leaves, units) for tree in trees
        ]
    return Parts(
        tests=[policy.tests[test] for test in policy.used_tests],
        prices=_prices(policy),
        eagerness=[
            1.0 if policy.eagerness is None else policy.eagerness[test]
            for test in policy.used_tests
        ],
        trees=trees,
        output=policy.trees.output.tolist(),
        wholes=wholes,
        target=TARGETS[scales.target],
        n_outputs=policy.output.n_outputs,
        width=policy.trees.value.shape[1],
        is_joint=scales.is_joint,
        by_leaves=scales.by_leaves,
        is_vote=is_vote,
        start=[round(offset * scales.unit) for offset in policy.output.offset],
        slack=ceil(scales.slack * scales.unit),
        tolerance=floor(scales.tolerance * scales.unit),
        unit=scales.unit,
        spread_unit=scales.spread_unit,
        score_unit=scales.score_unit,
    )


def _prices(policy: Ensemble) -> Prices:
    prices, used = policy.prices, policy.used_tests
    groups = prices.groups
    return Prices(
        [float(prices.full[t]) for t in used],
        [float(prices.discounted[t]) for t in used],
        [-1 if (g := prices.group[t]) is None else groups.index(g) for t in used],
        [bool(prices.delayed[t]) for t in used],
        [prices.by_outcome[t].tolist() if t in prices.by_outcome else [] for t in used],
    )


def _trees(policy: Ensemble) -> list[list[Split | Leaf]]:
    trees = policy.trees
    place = {test: i for i, test in enumerate(policy.used_tests)}
    starts = trees.tree_start.tolist()
    listed = []
    for start, end in pairwise(starts):
        nodes: list[Split | Leaf] = []
        for node in range(start, end):
            test = int(trees.test[node])
            if test < 0:
                values = trees.value[node].tolist()
                nodes.append(Leaf(float(trees.weight[node]), values))
                continue
            cut: int | str = int(trees.cut[node])
            flags, right = int(trees.flags[node]), int(trees.right[node]) - start
            if flags & IS_SET:
                cut = _set_text(policy.tests[test], trees.words, int(cut))
            nodes.append(Split(place[test], cut, right, bool(flags & MISSING_LEFT)))
        listed.append(nodes)
    return listed


def _set_text(test: Test, words: Any, start: int) -> str:
    """Return a letter for each code of a test, "missing" and "unknown" included."""
    codes = np.arange(test.n_levels + 2)
    is_left = words[start + codes // 64] >> (codes % 64).astype(np.uint64) & np.uint64(
        1
    )
    return "".join("L" if left else "R" for left in is_left.tolist())


def _measure_tree(
    nodes: list[Split | Leaf],
    is_vote: bool,
    by_leaves: bool,
    units: tuple[float, float, float],
) -> list[Whole]:
    """Return what each subtree amounts to, step by step as the machine does it.

    Of votes, nodes that can name one class only become leaves of it.
    """
    unit, spread_unit, score_unit = units
    n_nodes = len(nodes)
    wholes = [Whole([], [], [], 0, 0)] * n_nodes
    means: list[list[float]] = [[]] * n_nodes
    weights, variances = [0.0] * n_nodes, [0.0] * n_nodes
    for at in range(n_nodes - 1, -1, -1):
        node = nodes[at]
        if isinstance(node, Leaf):
            weights[at], means[at] = node.weight, node.values
            wholes[at] = _whole_leaf(node.values, is_vote, unit)
            continue
        left, right = at + 1, node.right
        wl, wr = weights[left], weights[right]
        both = wl + wr
        variance = wl * variances[left] + wr * variances[right]
        mean = []
        for a, b in zip(means[left], means[right], strict=True):
            variance += wl * wr / both * (a - b) * (a - b)
            mean.append((wl * a + wr * b) / both)
        weights[at], means[at] = both, mean
        low = list(map(min, wholes[left].low, wholes[right].low))
        high = list(map(max, wholes[left].high, wholes[right].high))
        if is_vote:
            units_of_mean = [round(m * FULL_SHARE) for m in mean]
            if sum(high) == 1:
                # Whatever is asked below, the vote is the same.
                nodes[at] = Leaf(both, [float(h) for h in high])
                wholes[at] = Whole(units_of_mean, high, high, 0, 0)
                continue
        else:
            units_of_mean = [
                min(max(round(m * unit), a), b)
                for m, a, b in zip(mean, low, high, strict=True)
            ]
        variances[at] = variance / both
        spread = round(variances[at] * spread_unit)
        apart = (high[0] - low[0]) / unit if by_leaves else sqrt(variances[at])
        score = 1 + round(apart * score_unit)
        wholes[at] = Whole(units_of_mean, low, high, spread, score)
    return wholes


def _whole_leaf(values: list[float], is_vote: bool, unit: float) -> Whole:
    if is_vote:
        votes = [int(v > 0) for v in values]
        return Whole([v * FULL_SHARE for v in votes], votes, votes, 0, 0)
    return Whole(
        [round(v * unit) for v in values],
        [floor(v * unit) for v in values],
        [ceil(v * unit) for v in values],
        0,
        0,
    )
