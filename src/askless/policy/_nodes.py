"""The nodes of one tree or of many, as flat arrays that never change.

Trees and forests, the policy file and everything that grows a tree share this one
layout. Nodes do not know what their tests are called, what they cost, or how they were
found.

Layout, for the trees   lamp? -dark-> socket? -dead-> fuse      and a leaf   bulb
                                             -live-> bulb
                             -dim--> dimmer

    tree_start       0                                                    5     6
    node             0 lamp   1 socket   2 fuse   3 bulb   4 dimmer   5 bulb
    test             0        1          -1       -1       -1         -1
    default_branch   0        1          -1       -1       -1         -1
    branch_start     0        2          4        4        4          4         4
    branch           0   1    2   3
    branch_code      0   1    0   1
    branch_child     1   4    2   3
    weight_start     0        3          5        6        7          8         9
    weight_class     0 1 2    1 2        1        2        0          2
    weight           1 1 2    1 2        1        2        1          4

A tree is in preorder: a node, then its first child with all below it, then the next.
Branches name nodes by their place among all nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless._core.tree._preorder import find_depths, find_subtree_ends
from askless.exceptions import InvalidPolicyError
from askless.policy._decide import decide_nodes

__all__ = ["Ints", "Nodes"]

Ints = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Nodes:
    """The nodes of trees, one tree after another.

    Whether the arrays are trees is checked by the policy that they are given to.

    Parameters
    ----------
    tree_start : ndarray of int32 of shape (n_trees + 1,)
        Where the nodes of each tree begin, and where the last one ends.
    test : ndarray of int32 of shape (n_nodes,)
        The test of each node, -1 at a leaf.
    cut : ndarray of int32 of shape (n_nodes,)
        At a node that compares a number: which of the test's cuts. One past the last
        cut separates any number from a missing one. -1 elsewhere.
    default_branch : ndarray of int32 of shape (n_nodes,)
        Which of its branches, counted from 0, takes every outcome that has none of its
        own. -1 at a leaf.
    branch_start : ndarray of int32 of shape (n_nodes + 1,)
        Where the branches of each node begin.
    branch_code, branch_child : ndarray of int32 of shape (n_branches,)
        The code that a branch stands for, and the node it leads to. A node with a cut
        has two branches, 0 for values at most the cut and 1 for values above.
    weight_start : ndarray of int64 of shape (n_nodes + 1,)
        Where the class weights of each node begin.
    weight_class, weight : ndarray of int32 and float64 of shape (n_weights,)
        How much of each class gets to a node; classes without weight may be left out.
    decision : ndarray of int32 of shape (n_nodes,), optional
        The class decided at each node; None if that is still to be worked out.

    Examples
    --------
    >>> from askless.policy import NodesBuilder
    >>> builder = NodesBuilder()
    >>> builder.add_test(0, [0, 1], {0: 3.0, 1: 1.0}, default=0)
    >>> builder.add_leaf({0: 3.0})
    >>> builder.add_leaf({1: 1.0})
    >>> nodes = builder.build()
    >>> nodes.branch_child
    array([1, 2], dtype=int32)
    >>> nodes.decide().decision
    array([0, 0, 1], dtype=int32)
    """

    tree_start: Ints
    test: Ints
    cut: Ints
    default_branch: Ints
    branch_start: Ints
    branch_code: Ints
    branch_child: Ints
    weight_start: NDArray[np.int64]
    weight_class: Ints
    weight: NDArray[np.float64]
    decision: Ints | None = None

    def __post_init__(self) -> None:
        """Let nobody write to the arrays any more."""
        for array in self.arrays().values():
            # Anything else is refused where arrays are checked.
            if isinstance(array, np.ndarray):
                array.flags.writeable = False

    def __getstate__(self) -> dict[str, Any]:
        return self.arrays()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({"decision": None, **state})
        # Arrays come out of a pickle ready to be written to.
        self.__post_init__()

    # Making nodes of arrays, and of other nodes.

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Nodes:
        """Return the nodes that a compiled grower hands over, without a copy.

        Parameters
        ----------
        arrays : mapping of str to ndarray
            An array for each parameter of :class:`Nodes`. Without ``tree_start`` they
            are one tree.
        """
        if "tree_start" not in arrays:
            whole = np.array([0, np.size(arrays["test"])], dtype=np.int32)
            arrays = {"tree_start": whole, **arrays}
        return cls(**arrays)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by name, those that are there."""
        named = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: array for name, array in named.items() if array is not None}

    @classmethod
    def join(cls, parts: Iterable[Nodes]) -> Nodes:
        """Put the trees of several nodes one after another.

        Decisions are kept if all parts have them.

        Examples
        --------
        >>> from askless.policy import NodesBuilder
        >>> builder = NodesBuilder()
        >>> builder.add_leaf({0: 3.0})
        >>> leaf = builder.build()
        >>> Nodes.join([leaf, leaf]).tree_start
        array([0, 1, 2], dtype=int32)
        """
        listed = list(parts)
        if not listed:
            raise InvalidPolicyError(
                "A forest must have a tree. Got none. Give at least a tree of one leaf."
            )
        if len(listed) == 1:
            return listed[0]
        decided = [part.decision for part in listed if part.decision is not None]
        return cls(
            tree_start=_chain_starts([part.tree_start for part in listed], np.int32),
            test=np.concatenate([part.test for part in listed]),
            cut=np.concatenate([part.cut for part in listed]),
            default_branch=np.concatenate([part.default_branch for part in listed]),
            branch_start=_chain_starts(
                [part.branch_start for part in listed], np.int32
            ),
            branch_code=np.concatenate([part.branch_code for part in listed]),
            branch_child=_chain_children(listed),
            weight_start=_chain_starts(
                [part.weight_start for part in listed], np.int64
            ),
            weight_class=np.concatenate([part.weight_class for part in listed]),
            weight=np.concatenate([part.weight for part in listed]),
            decision=np.concatenate(decided) if len(decided) == len(listed) else None,
        )

    def take_trees(self, first: int, last: int) -> Nodes:
        """Return a copy of the trees from the first up to, but without, the last."""
        start, end = int(self.tree_start[first]), int(self.tree_start[last])
        nodes = slice(start, end)
        branches = slice(self.branch_start[start], self.branch_start[end])
        weights = slice(self.weight_start[start], self.weight_start[end])
        decided = self.decision
        return Nodes(
            tree_start=self.tree_start[first : last + 1] - np.int32(start),
            test=self.test[nodes].copy(),
            cut=self.cut[nodes].copy(),
            default_branch=self.default_branch[nodes].copy(),
            branch_start=self.branch_start[start : end + 1] - branches.start,
            branch_code=self.branch_code[branches].copy(),
            branch_child=self.branch_child[branches] - np.int32(start),
            weight_start=self.weight_start[start : end + 1] - weights.start,
            weight_class=self.weight_class[weights].copy(),
            weight=self.weight[weights].copy(),
            decision=None if decided is None else decided[nodes].copy(),
        )

    def decide(self, mistakes: NDArray[np.float64] | None = None) -> Nodes:
        """Return nodes that say what they decide; these, if they already do."""
        if self.decision is not None:
            return self
        decision = decide_nodes(
            self.weight_start, self.weight_class, self.weight, mistakes
        )
        return replace(self, decision=decision)

    # Shape.

    @property
    def n_nodes(self) -> int:
        """How many nodes all trees have together, leaves included."""
        return len(self.test)

    @property
    def n_trees(self) -> int:
        """How many trees there are."""
        return len(self.tree_start) - 1

    @cached_property
    def used_tests(self) -> list[int]:
        """The tests that some node asks for, ascending."""
        counts = np.bincount(self.test[self.test >= 0])
        return [int(test) for test in np.flatnonzero(counts)]

    @cached_property
    def parent(self) -> Ints:
        """The parent of each node, -1 for a root."""
        parent = np.full(self.n_nodes, -1, dtype=np.int32)
        owner = np.arange(self.n_nodes, dtype=np.int32)
        parent[self.branch_child] = np.repeat(owner, np.diff(self.branch_start))
        return parent

    @cached_property
    def parent_code(self) -> Ints:
        """The code of the branch that leads to each node, -1 for a root."""
        code = np.full(self.n_nodes, -1, dtype=np.int32)
        code[self.branch_child] = self.branch_code
        return code

    @cached_property
    def subtree_end(self) -> Ints:
        """One past the last node of the subtree of each node."""
        return find_subtree_ends(self.branch_start, self.branch_child)

    @cached_property
    def depth(self) -> Ints:
        """How many tests are asked before each node."""
        return find_depths(self.parent)

    @cached_property
    def total_weight(self) -> NDArray[np.float64]:
        """The weight of all classes together at each node."""
        # Differences of a running sum would lose a node of little weight.
        return np.add.reduceat(self.weight, self.weight_start[:-1])

    # One node.

    def children(self, node: int) -> list[int]:
        """Return the nodes that the branches of a node lead to."""
        start, end = self.branch_start[node], self.branch_start[node + 1]
        listed: list[int] = self.branch_child[start:end].tolist()
        return listed

    def follow(self, node: int, code: int, n_levels: int) -> int:
        """Return the child that a code of the node's test leads to."""
        start, end = self.branch_start[node], self.branch_start[node + 1]
        branch = self.default_branch[node]
        if self.cut[node] >= 0:
            if code < n_levels:
                branch = 0 if code <= self.cut[node] else 1
        else:
            here = np.flatnonzero(self.branch_code[start:end] == code)
            branch = here[0] if here.size else branch
        return int(self.branch_child[start + branch])

    def followed(self, node: int, code: int) -> int:
        """Return the code whose branch a code takes: its own, or that of the default.

        A node that compares has a branch for every number, and so for every code.
        """
        start, end = self.branch_start[node], self.branch_start[node + 1]
        if self.cut[node] >= 0 or np.any(self.branch_code[start:end] == code):
            return code
        return int(self.branch_code[start + self.default_branch[node]])

    def weights_at(self, node: int) -> tuple[Ints, NDArray[np.float64]]:
        """Return the classes that get to a node, and how much of each."""
        start, end = self.weight_start[node], self.weight_start[node + 1]
        return self.weight_class[start:end], self.weight[start:end]

    def tests_below(self, node: int) -> list[int]:
        """Return the tests of the subtree of a node, in preorder, repeats included."""
        below = self.test[node : self.subtree_end[node]]
        return [int(test) for test in below if test >= 0]


def _chain_starts(starts: list[NDArray[Any]], dtype: type) -> NDArray[Any]:
    """Return where everything begins if one list of things follows another."""
    first = np.cumsum([0] + [listed[-1] for listed in starts])
    moved = [listed[:-1] + dtype(at) for listed, at in zip(starts, first, strict=False)]
    return np.concatenate([*moved, first[-1:]]).astype(dtype)


def _chain_children(parts: list[Nodes]) -> Ints:
    first = np.cumsum([0] + [part.n_nodes for part in parts]).astype(np.int32)
    return np.concatenate(
        [part.branch_child + at for part, at in zip(parts, first, strict=False)]
    )
