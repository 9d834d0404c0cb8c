"""The trees of an ensemble policy as arrays, and how finely their sums are counted.

They are checked when they are made, so that the machine may trust them. They do not
know which library grew them.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from askless._core.ensemble._parts import CodeArrays, Scales, TreeArrays
from askless.exceptions import InvalidPolicyError
from askless.policy._decide import TOLERANCE
from askless.policy.ensemble._output import LEAST_VALUE, MOST_VALUE, Output
from askless.problem import Test

__all__ = [
    "IS_SET",
    "MISSING_LEFT",
    "MODES",
    "EnsembleTrees",
    "check_sums",
    "find_scales",
]

# Flags of a node.
MISSING_LEFT = 1
IS_SET = 2
# The kinds of bounds, by the numbers of the machine.
MODES = {"path": 0, "leaves": 0, "deep": 1, "joint": 1, "vote": 2}


@dataclass(frozen=True, eq=False)
class EnsembleTrees:
    """The trees of an ensemble, one after another, each in preorder.

    Parameters
    ----------
    test : ndarray of int32 of shape (n_nodes,)
        What a node asks, -1 for a leaf.
    cut : ndarray of int32 of shape (n_nodes,)
        Codes up to this one go left, which is to the next node; of a set, where its
        words start.
    right : ndarray of int32 of shape (n_nodes,)
        Where all others go.
    flags : ndarray of int32 of shape (n_nodes,)
        Whether missing values go left, and whether the split is by a set of codes.
    words : ndarray of uint64
        Sets of codes that go left, a bit for each code of the test, "missing" and
        "unknown" included.
    tree_start : ndarray of int64 of shape (n_trees + 1,)
    output : ndarray of int32 of shape (n_trees,)
        The sum that each tree adds to; 0 where a leaf has a value for each sum.
    weight : ndarray of float64 of shape (n_nodes,)
        How much of the training data a leaf has seen; only ratios matter.
    value : ndarray of float64 of shape (n_nodes, 1 or n_outputs)
        What a leaf adds.
    """

    test: NDArray[np.int32]
    cut: NDArray[np.int32]
    right: NDArray[np.int32]
    flags: NDArray[np.int32]
    words: NDArray[np.uint64]
    tree_start: NDArray[np.int64]
    output: NDArray[np.int32]
    weight: NDArray[np.float64]
    value: NDArray[np.float64]

    @property
    def n_trees(self) -> int:
        """How many trees there are."""
        return len(self.output)

    @property
    def n_nodes(self) -> int:
        """How many nodes all trees have."""
        return len(self.test)

    @cached_property
    def most_leaves(self) -> int:
        """How many leaves the largest tree has."""
        # A tree of n leaves has 2 n - 1 nodes.
        return (int(np.diff(self.tree_start).max(initial=1)) + 1) // 2

    @cached_property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Which nodes are leaves."""
        return self.test < 0

    @cached_property
    def tree_of_node(self) -> NDArray[np.int64]:
        """The tree of each node."""
        return np.repeat(np.arange(self.n_trees), np.diff(self.tree_start))

    def arrays(self) -> TreeArrays:
        """Return the trees as the machine takes them."""
        return TreeArrays(
            self.test,
            self.cut,
            self.right,
            self.flags,
            np.append(self.words, np.uint64(0)),
            self.tree_start,
            self.output,
            self.weight,
            self.value,
        )

    def codes(self, tests: tuple[Test, ...]) -> CodeArrays:
        """Return how values of tests become codes, and which trees ask them."""
        starts = np.cumsum([0] + [len(test.cuts) for test in tests])
        users, user_start = self.users(len(tests))
        return CodeArrays(
            np.array([test.n_levels for test in tests], dtype=np.int32),
            np.concatenate([*(test.cut_array for test in tests), np.zeros(1)]),
            starts.astype(np.int64),
            users,
            user_start,
        )

    def users(self, n_tests: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the trees that ask each test, and where the list of a test starts."""
        inner = ~self.is_leaf
        pairs = np.unique(
            self.test[inner].astype(np.int64) * max(self.n_trees, 1)
            + self.tree_of_node[inner]
        )
        tests, trees = np.divmod(pairs, max(self.n_trees, 1))
        starts = np.searchsorted(tests, np.arange(n_tests + 1)).astype(np.int64)
        return np.append(trees, 0).astype(np.int64), starts

    def largest(self, n_outputs: int) -> NDArray[np.float64]:
        """Return the sum over all trees of the largest absolute value of a leaf."""
        total = np.zeros(n_outputs)
        if self.n_trees:
            by_tree = np.maximum.reduceat(
                np.abs(self.value) * self.is_leaf[:, None], self.tree_start[:-1]
            )
            if self.value.shape[1] == 1:
                np.add.at(total, self.output, by_tree[:, 0])
            else:
                total += by_tree.sum(axis=0)
        return total

    def check(self, tests: tuple[Test, ...], n_outputs: int) -> None:
        """Raise an error unless the arrays describe trees over these tests."""
        for field in fields(self):
            array = getattr(self, field.name)
            if not array.flags.c_contiguous:
                raise InvalidPolicyError(
                    f"Arrays of an ensemble must be contiguous. Got {field.name} "
                    "otherwise. Copy it."
                )
        _check_shapes(self, n_outputs)
        _check_structure(self)
        _check_splits(self, tests)
        _check_leaves(self, n_outputs)


def _refuse(rule: str, got: str) -> None:
    raise InvalidPolicyError(f"{rule}. Got {got}. Import or save the model again.")


def _check_shapes(trees: EnsembleTrees, n_outputs: int) -> None:
    n = trees.n_nodes
    shapes = [a.shape for a in (trees.cut, trees.right, trees.flags, trees.weight)]
    if any(shape != (n,) for shape in shapes) or trees.value.shape not in (
        (n, 1),
        (n, n_outputs),
    ):
        _refuse("Every node must have a cut, a child, flags, a weight and values",
                "other shapes")  # fmt: skip
    starts = trees.tree_start
    if starts.shape != (trees.n_trees + 1,) or starts[0] != 0 or starts[-1] != n:
        _refuse("The trees must hold all nodes", "other starts")
    if np.any(np.diff(starts) < 1) or n > np.iinfo(np.int32).max // 2:
        _refuse(
            "Every tree must have a node, and all of them fewer than 2^30", "others"
        )


def _check_structure(trees: EnsembleTrees) -> None:
    """Check that each tree is in preorder: left is next, right follows the left part.

    Read from the end, every node takes the parts that stand open after it: its left
    child starts right behind it and ends where its right child starts.
    """
    end = np.arange(1, trees.n_nodes + 1)
    last = trees.tree_start[1:][trees.tree_of_node] if trees.n_trees else end
    inner = np.flatnonzero(~trees.is_leaf)
    right = trees.right.astype(np.int64)
    if np.any(right[inner] <= inner + 1) or np.any(right[inner] >= last[inner]):
        _refuse("The right child must come after the left one, in its tree", "others")
    ends = end.tolist()
    rights = right.tolist()
    for node in inner[::-1].tolist():
        if ends[node + 1] != rights[node]:
            _refuse("The nodes of a tree must be in preorder", f"others at node {node}")
        ends[node] = ends[rights[node]]
    roots = trees.tree_start[:-1].tolist()
    for root, stop in zip(roots, trees.tree_start[1:].tolist(), strict=True):
        if ends[root] != stop:
            _refuse("A tree must have one root", f"more in the tree at node {root}")


def _check_splits(trees: EnsembleTrees, tests: tuple[Test, ...]) -> None:
    inner = ~trees.is_leaf
    asked, cut, flags = trees.test[inner], trees.cut[inner], trees.flags[inner]
    if np.any(asked >= len(tests)) or np.any(trees.test < -1):
        _refuse(f"Nodes must ask tests 0 to {len(tests) - 1}", "another")
    if np.any((flags < 0) | (flags > (MISSING_LEFT | IS_SET))) or np.any(cut < 0):
        _refuse("Flags must be 0 to 3 and cuts >= 0", "others")
    n_levels = np.array([test.n_levels for test in tests], dtype=np.int64)[asked]
    is_set = (flags & IS_SET) > 0
    if np.any(cut[~is_set] >= n_levels[~is_set]):
        _refuse("A cut must be a level of its test", "another")
    n_words = (n_levels + 2 + 63) // 64
    if np.any(cut[is_set] + n_words[is_set] > len(trees.words)):
        _refuse("A set must have its words", "fewer")


def _check_leaves(trees: EnsembleTrees, n_outputs: int) -> None:
    leaves = trees.is_leaf
    values, weights = trees.value[leaves], trees.weight[leaves]
    if not np.all(np.abs(values) <= MOST_VALUE):
        _refuse("Values of leaves must be finite", "others")
    if not np.all((weights >= LEAST_VALUE) & (weights <= MOST_VALUE)):
        _refuse("Weights of leaves must be positive", "others")
    most = n_outputs if trees.value.shape[1] == 1 else 1
    if np.any((trees.output < 0) | (trees.output >= most)):
        _refuse(f"Trees must add to sums 0 to {most - 1}", "another")


def check_sums(trees: EnsembleTrees, output: Output) -> None:
    """Raise an error unless the leaves are what the link takes them for."""
    largest = trees.largest(output.n_outputs) + np.abs(output.offset)
    if not np.all(largest / output.divisor * max(1.0, output.slope) <= MOST_VALUE):
        _refuse("Sums must be finite", "others")
    if output.link not in ("share", "count"):
        if trees.value.shape[1] != 1:
            _refuse(f"Leaves must have one value for the link {output.link!r}", "more")
        return
    values = trees.value[trees.is_leaf]
    if trees.value.shape[1] != output.n_outputs or any(output.offset):
        _refuse("Leaves must have a value for each class, and no offset", "others")
    if np.any(values < 0):
        _refuse("Shares and weights of classes must be >= 0", "others")
    if output.link == "share" and (
        output.divisor != trees.n_trees
        or not np.allclose(values.sum(axis=1), 1.0, rtol=0, atol=1e-6)
    ):
        _refuse("Shares must add up to 1, and be averaged over the trees", "others")


def scale_for(total: float, bits: int) -> float:
    """Return the power of two that brings a total just below ``2 ** bits``."""
    if not total > 0:
        return 1.0
    return float(2.0 ** min(bits, bits - 1 - int(np.floor(np.log2(total)))))


def lead_needed(trees: EnsembleTrees, output: Output, total: float) -> float:
    """Return how far a sum must lead, so that no rounding of the source turns it.

    Parameters
    ----------
    trees : EnsembleTrees
        The trees.
    output : Output
        How their sums become classes.
    total : float
        The largest absolute value of a sum.
    """
    epsilon = 2.0**-23 if output.is_single else 2.0**-52
    # Any order of adding, and the link after it, moves a sum by less than this.
    lead = (trees.n_trees + 16) * epsilon * (1.0 + total) / min(1.0, output.slope)
    if output.decides_by == "nearly":
        lead += 2 * TOLERANCE * (1.0 + total)
    if output.link == "one-vs-rest" and output.decides_by == "probability":
        # The flatter the sigmoid, the further apart the sums that it makes equal.
        slope = output.slope / output.divisor
        lead += 4 * epsilon * float(np.exp(min(slope * total, 700.0))) / slope
    # No lead is as large as this: sums are then added up to the end.
    return min(lead, 4.0 * total + 2.0)


def find_scales(
    trees: EnsembleTrees, output: Output, tolerance: float, bounds: str
) -> Scales:
    """Return how finely sums are counted, and how much rounding may turn them.

    Parameters
    ----------
    trees : EnsembleTrees
        The trees.
    output : Output
        How their sums become classes or numbers.
    tolerance : float
        Of a number: how wide its bounds may be; 0 for never.
    bounds : {"path", "leaves", "deep", "joint", "vote"}
        How bounds are kept.
    """
    total = float(np.max(trees.largest(output.n_outputs) + np.abs(output.offset)))
    width = trees.value.shape[1]
    # Both are generous: a tree varies by no more than its range.
    spread = width * float(np.sum(trees.largest(output.n_outputs) + 1.0) ** 2)
    score = width * (total + 1.0) * (trees.n_nodes + 1.0)
    is_vote = bounds == "vote"
    return Scales(
        offset=np.array(output.offset, dtype=np.float64),
        mode=MODES[bounds],
        is_joint=bounds == "joint",
        by_leaves=bounds == "leaves",
        target=2 if output.is_number else 0 if output.link == "logit" else 1,
        ties_are_exact=is_vote,
        is_single=output.is_single,
        slack=0.0 if is_vote else lead_needed(trees, output, total),
        tolerance=tolerance * output.divisor if tolerance > 0 else -1.0,
        unit=65535.0 if is_vote else scale_for(2.0 * total + 1.0, 60),
        spread_unit=scale_for(spread, 60),
        # Of votes a score, of at most 1, fits in fourteen bits.
        score_unit=2.0**14 - 2 if is_vote else scale_for(score, 52),
    )
