"""The upper part of a tree that is split from counts, and the whole tree at the end.

This module must not know who counts, nor where small nodes are finished.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.policy import Nodes
from askless.scale._row_tasks import Routes

__all__ = ["Top", "assemble"]


@dataclass
class Top:
    """The upper part of a tree, as far as it has been split from counts.

    Attributes
    ----------
    test, cut, default : list of int
        Of each node; -1 where the tree ends so far.
    child : list of list of int
        The two children of each node.
    totals : list of ndarray
        How much of each class gets to a node.
    key, depth : list of int
        The random key of each node, and how many tests come before it.
    parent : list of int
        The parent of each node, -1 for the root.
    active, small : list of int
        The nodes to be split from counts, and those to be finished in memory.
    counts : dict
        Counts of nodes that were split, until their children are counted.
    """

    key: list[int]
    test: list[int] = field(default_factory=list)
    cut: list[int] = field(default_factory=list)
    default: list[int] = field(default_factory=list)
    child: list[list[int]] = field(default_factory=list)
    totals: list[NDArray[np.float64]] = field(default_factory=list)
    depth: list[int] = field(default_factory=list)
    parent: list[int] = field(default_factory=list)
    active: list[int] = field(default_factory=list)
    small: list[int] = field(default_factory=list)
    counts: dict[int, NDArray[np.uint32]] = field(default_factory=dict)

    def add(self, totals: NDArray[np.float64], parent: int = -1) -> int:
        """Add a node that ends the tree so far."""
        self.test.append(-1)
        self.cut.append(-1)
        self.default.append(-1)
        self.child.append([-1, -1])
        self.totals.append(totals)
        self.parent.append(parent)
        self.depth.append(0 if parent < 0 else self.depth[parent] + 1)
        return len(self.test) - 1

    def by_weight(self, node: int) -> list[int]:
        """Return the children of a node, the lighter one first."""
        return sorted(
            self.child[node], key=lambda child: float(self.totals[child].sum())
        )

    def routes(self, nodes: Sequence[int], first: int = 0) -> Routes:
        """Return how rows get to some nodes, which are numbered from the first on."""
        place = np.full(len(self.test), -1, dtype=np.int32)
        place[list(nodes)] = np.arange(first, first + len(nodes))
        return Routes(
            np.array(self.test, dtype=np.int32),
            np.array(self.cut, dtype=np.int32),
            np.array(self.child, dtype=np.int32),
            place,
        )


def assemble(top: Top, subtrees: dict[int, dict[str, NDArray[Any]]]) -> Nodes:
    """Put the upper part of a tree and the subtrees below it into one."""
    order: list[int] = []
    stack = [0]
    while stack:
        node = stack.pop()
        order.append(node)
        if top.test[node] >= 0:
            stack += reversed(top.child[node])
    pieces = [
        subtrees[node] if node in subtrees else _lone(top, node) for node in order
    ]
    sizes = [len(piece["test"]) for piece in pieces]
    first = dict(zip(order, (np.cumsum(sizes) - sizes).tolist(), strict=True))
    children = []
    for node, piece in zip(order, pieces, strict=True):
        if top.test[node] >= 0:
            children.append(np.array([first[child] for child in top.child[node]]))
        else:
            children.append(piece["branch_child"] + first[node])

    def join(name: str) -> NDArray[Any]:
        return np.concatenate([piece[name] for piece in pieces])

    def starts(name: str, dtype: Any) -> NDArray[Any]:
        lengths = [np.diff(piece[name]) for piece in pieces]
        return np.append(0, np.cumsum(np.concatenate(lengths))).astype(dtype)

    arrays = {
        "test": join("test"),
        "cut": join("cut"),
        "default_branch": join("default_branch"),
        "branch_start": starts("branch_start", np.int32),
        "branch_code": join("branch_code"),
        "branch_child": np.concatenate(children).astype(np.int32),
        "weight_start": starts("weight_start", np.int64),
        "weight_class": join("weight_class"),
        "weight": join("weight"),
    }
    return Nodes.from_arrays(arrays).decide()


def _lone(top: Top, node: int) -> dict[str, NDArray[Any]]:
    """Return a node of the upper part as arrays, its children left out."""
    is_inner = top.test[node] >= 0
    present = np.flatnonzero(top.totals[node] > 0)
    return {
        "test": np.array([top.test[node]], dtype=np.int32),
        "cut": np.array([top.cut[node]], dtype=np.int32),
        "default_branch": np.array([top.default[node]], dtype=np.int32),
        "branch_start": np.array([0, 2 * is_inner]),
        "branch_code": np.arange(2 * is_inner, dtype=np.int32),
        "branch_child": np.zeros(2 * is_inner, dtype=np.int32),
        "weight_start": np.array([0, len(present)]),
        "weight_class": present.astype(np.int32),
        "weight": top.totals[node][present],
    }
