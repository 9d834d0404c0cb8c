"""The parts of an ensemble policy: its trees as arrays, and how sums become answers.

Both are checked when they are made, so that the machine may trust them. They do not
know which library grew the trees.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidPolicyError
from askless.policy._decide import TOLERANCE, decide_classes
from askless.problem import Test

__all__ = ["IS_SET", "MISSING_LEFT", "Answer", "EnsembleTrees", "Link"]

# Flags of a node.
MISSING_LEFT = 1
IS_SET = 2

Link = Literal["share", "count", "logit", "softmax", "one-vs-rest", "number", "exp"]
Decides = Literal["raw", "nearly", "at least 0", "probability"]
# Numbers beyond these could make a sum or a square infinite, or nothing.
MOST_VALUE = 1e100
LEAST_VALUE = 1e-100


@dataclass(frozen=True, eq=False)
class Answer:
    """How the sums over all trees become a decision.

    Parameters
    ----------
    link : {"share", "count", "logit", "softmax", "one-vs-rest", "number", "exp"}
        What the sums are: shares of classes to be averaged, weights of classes, the
        log-odds of the second of two classes, log-odds of each class against all or
        one against the rest, a number, or the logarithm of one.
    offset : tuple of float
        Where each sum starts.
    divisor : float, default=1.0
        What a sum is divided by: the number of trees, of an average.
    slope : float, default=1.0
        Log-odds are multiplied by it.
    decides_by : {"raw", "nearly", "at least 0", "probability"}, default="raw"
        Decide by the largest sum (of log-odds, by whether it is above 0), by the first
        that is as good as the largest, by whether log-odds are at least 0, or by the
        largest probability. They differ by rounding only, and a policy must round as
        its source does.
    is_single : bool, default=False
        Whether the source adds in single precision.

    Examples
    --------
    >>> Answer("logit", (0.5,)).decide(np.array([[0.1], [-2.0]]))
    array([1, 0], dtype=int32)
    """

    link: Link
    offset: tuple[float, ...]
    divisor: float = 1.0
    slope: float = 1.0
    decides_by: Decides = "raw"
    is_single: bool = False

    def __post_init__(self) -> None:
        """Check that the parts fit."""
        is_one = self.link in ("logit", "number", "exp")
        if not self.offset or (is_one and len(self.offset) != 1):
            raise InvalidPolicyError(
                f"An ensemble with the link {self.link!r} must have "
                f"{'one sum' if is_one else 'a sum for each class'}. Got "
                f"{len(self.offset)}. Give an offset for each sum."
            )
        numbers = (*self.offset, self.divisor, self.slope)
        if not all(abs(x) <= MOST_VALUE for x in numbers) or not (
            min(self.divisor, self.slope) >= LEAST_VALUE
        ):
            raise InvalidPolicyError(
                "Offsets must be finite, the divisor and the slope positive. Got "
                "others. Import the model again."
            )

    @property
    def n_outputs(self) -> int:
        """How many sums are kept."""
        return len(self.offset)

    @property
    def is_number(self) -> bool:
        """Whether the answer is a number and not a class."""
        return self.link in ("number", "exp")

    def scores(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sums as the source has them before its link."""
        return raw if self.divisor == 1.0 else raw / self.divisor

    def numbers(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the numbers that sums stand for."""
        scores = self.scores(raw)[:, 0]
        return np.exp(scores) if self.link == "exp" else scores

    def probabilities(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability of each class."""
        # Here, so that policies which need none of it do not wait for scipy.
        from scipy.special import expit, softmax

        scores = self.scores(raw)
        if self.link == "share":
            return scores
        if self.link == "count":
            total = scores.sum(axis=1, keepdims=True)
            even = np.full_like(scores, 1.0 / self.n_outputs)
            return np.where(total > 0, scores / np.where(total > 0, total, 1.0), even)
        if self.link == "logit":
            if self.is_single:
                scores = scores.astype(np.float32)
            second = expit(self.slope * scores[:, 0]).astype(np.float64)
            return np.column_stack([1.0 - second, second])
        if self.link == "softmax":
            return np.asarray(softmax(scores, axis=1), dtype=np.float64)
        return np.asarray(expit(self.slope * scores), dtype=np.float64)

    def decide(self, raw: NDArray[np.float64]) -> NDArray[np.int32]:
        """Return the class of each row of sums; on a tie, the first."""
        scores = self.scores(raw)
        if self.link == "logit" and self.decides_by != "probability":
            is_second = (
                scores[:, 0] >= 0
                if self.decides_by == "at least 0"
                else (scores[:, 0] > 0)
            )
            return np.asarray(is_second, dtype=np.int32)
        if self.decides_by == "nearly":
            return decide_classes(scores)
        if self.decides_by == "probability":
            scores = self.probabilities(raw)
        return np.asarray(np.argmax(scores, axis=1), dtype=np.int32)


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
    def is_leaf(self) -> NDArray[np.bool_]:
        """Which nodes are leaves."""
        return self.test < 0

    @cached_property
    def tree_of_node(self) -> NDArray[np.int64]:
        """The tree of each node."""
        return np.repeat(np.arange(self.n_trees), np.diff(self.tree_start))

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


def check_sums(trees: EnsembleTrees, answer: Answer) -> None:
    """Raise an error unless the leaves are what the link takes them for."""
    largest = trees.largest(answer.n_outputs) + np.abs(answer.offset)
    if not np.all(largest / answer.divisor * max(1.0, answer.slope) <= MOST_VALUE):
        _refuse("Sums must be finite", "others")
    if answer.link not in ("share", "count"):
        if trees.value.shape[1] != 1:
            _refuse(f"Leaves must have one value for the link {answer.link!r}", "more")
        return
    values = trees.value[trees.is_leaf]
    if trees.value.shape[1] != answer.n_outputs or any(answer.offset):
        _refuse("Leaves must have a value for each class, and no offset", "others")
    if np.any(values < 0):
        _refuse("Shares and weights of classes must be >= 0", "others")
    if answer.link == "share" and (
        answer.divisor != trees.n_trees
        or not np.allclose(values.sum(axis=1), 1.0, rtol=0, atol=1e-6)
    ):
        _refuse("Shares must add up to 1, and be averaged over the trees", "others")


def scale_for(total: float, bits: int) -> float:
    """Return the power of two that brings a total just below ``2 ** bits``."""
    if not total > 0:
        return 1.0
    return float(2.0 ** min(bits, bits - 1 - int(np.floor(np.log2(total)))))


def machine_options(
    trees: EnsembleTrees, answer: Answer, tolerance: float
) -> dict[str, Any]:
    """Return how finely sums are counted, and how much rounding may turn them."""
    total = float(np.max(trees.largest(answer.n_outputs) + np.abs(answer.offset)))
    width = trees.value.shape[1]
    epsilon = 2.0**-23 if answer.is_single else 2.0**-52
    # Any order of adding, and the link after it, moves a sum by less than this.
    slack = (trees.n_trees + 16) * epsilon * (1.0 + total) / min(1.0, answer.slope)
    if answer.decides_by == "nearly":
        slack += 2 * TOLERANCE * (1.0 + total)
    # Both are generous: a tree varies by no more than its range.
    spread = width * float(np.sum(trees.largest(answer.n_outputs) + 1.0) ** 2)
    score = width * (total + 1.0) * (trees.n_nodes + 1.0)
    return {
        "unit": scale_for(2.0 * total + 1.0, 60),
        "spread_unit": scale_for(spread, 60),
        "score_unit": scale_for(score, 52),
        "slack": slack,
        "tolerance": tolerance * answer.divisor if tolerance > 0 else -1.0,
        "is_single": answer.is_single,
    }
