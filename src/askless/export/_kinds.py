"""What the boxes of a picture are coloured by: the classes, or bands of numbers.

This module does not know how a box is drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askless._text import escape_unprintable
from askless.export._labels import node_shares, number_text
from askless.policy import NumberTree, Tree

__all__ = ["Kinds", "kinds_of"]

# Of numbers, from small to large; told apart by every kind of sight, and in grey.
RAMP = ("#440154", "#3b528b", "#21918c", "#5ec962", "#fde725")


@dataclass(frozen=True)
class Kinds:
    """The kinds of boxes of a tree.

    Attributes
    ----------
    labels : tuple of str
        What each kind is called.
    of_node : ndarray of shape (n_nodes,)
        The kind of each node.
    shares_at : callable
        Takes a node; returns the share of each kind among what gets there.
    colours : tuple of str
        The colour of each kind; none if that is settled by how common they are.
    """

    labels: tuple[str, ...]
    of_node: NDArray[np.integer]
    shares_at: Callable[[int], NDArray[np.float64]]
    colours: tuple[str, ...] = ()


def kinds_of(tree: Tree) -> Kinds:
    """Return the classes of a tree; of one that says numbers, a few bands of them.

    Examples
    --------
    >>> import askless
    >>> X, y = [[1], [2], [8], [9]] * 10, [10.0, 10.0, 30.0, 30.0] * 10
    >>> kinds_of(askless.CostTreeRegressor([3]).fit(X, y).policy_).labels
    ('10', '30')
    """
    if isinstance(tree, NumberTree):
        return _bands_of(tree)
    labels = tuple(escape_unprintable(str(label)) for label in tree.classes)
    return Kinds(labels, tree.node_decision, tree.class_shares)


def _bands_of(tree: NumberTree) -> Kinds:
    """Return up to five bands of numbers, of about the same weight each."""
    is_leaf = tree.test < 0
    weight = np.where(is_leaf, node_shares(tree), 0.0)
    numbers, where = np.unique(tree.values[is_leaf], return_inverse=True)
    amount = np.bincount(where, weights=weight[is_leaf])
    middle = np.cumsum(amount) - amount / 2
    place = np.minimum((len(RAMP) * middle).astype(int), len(RAMP) - 1)
    if len(numbers) <= len(RAMP):
        place = np.arange(len(numbers))
    used, band = np.unique(place, return_inverse=True)
    lowest = [numbers[band == b].min() for b in range(len(used))]
    highest = [numbers[band == b].max() for b in range(len(used))]
    # A node that asks says a number between those of its leaves.
    of_node = np.searchsorted(lowest, tree.values, side="right") - 1
    of_node = np.clip(of_node, 0, len(used) - 1)
    by_band = np.zeros((tree.n_nodes + 1, len(used)))
    by_band[1:][np.arange(tree.n_nodes), of_node] = weight
    sums = np.cumsum(by_band, axis=0)

    def shares_at(node: int) -> NDArray[np.float64]:
        inside = sums[tree.subtree_end[node]] - sums[node]
        total = inside.sum()
        return np.asarray(inside / total if total > 0 else by_band[0])

    labels = tuple(
        number_text(low)
        if low == high
        else f"{number_text(low)} to {number_text(high)}"
        for low, high in zip(lowest, highest, strict=True)
    )
    steps = np.linspace(0, len(RAMP) - 1, len(used)).round().astype(int)
    return Kinds(labels, of_node, shares_at, tuple(RAMP[i] for i in steps))
