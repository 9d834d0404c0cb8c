"""What trees and forests have in common: they are made of nodes.

How a case walks them, and how many trees decide together, is left to each kind.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from askless.policy._base import Policy
from askless.policy._check import check_decisions, check_nodes
from askless.policy._nodes import Ints, Nodes
from askless.problem import Outcome, PriceList, Test

__all__ = ["NodePolicy", "is_matrix_of_floats"]


class NodePolicy(Policy):
    """A policy that is made of nodes.

    Parameters
    ----------
    tests, classes, prices, mistakes
        See :class:`Policy`.
    nodes : Nodes
        The nodes of its trees. Where they do not say what they decide, it is the class
        of least expected mistake cost.
    is_checked : bool, default=False
        Take the nodes as they are.
    """

    def __init__(
        self,
        tests: tuple[Test, ...],
        classes: tuple[Outcome, ...],
        prices: PriceList,
        *,
        nodes: Nodes,
        mistakes: NDArray[np.float64] | None = None,
        is_checked: bool = False,
    ) -> None:
        super().__init__(tests, classes, prices, mistakes)
        if not is_checked:
            check_nodes(nodes, self.tests, self._n_kinds)
        self.nodes = nodes.decide(mistakes)
        self.node_decision = check_decisions(self.nodes, self._n_kinds)

    @property
    def _n_kinds(self) -> int:
        """How many classes weights may be of; one that nobody sees, of numbers."""
        return 1 if self.answers_number else len(self.classes)

    # The arrays by their names, for all who read a tree.

    @property
    def test(self) -> Ints:
        """The test of each node, -1 at a leaf; see :class:`Nodes`."""
        return self.nodes.test

    @property
    def cut(self) -> Ints:
        """The cut of each node, -1 if it does not compare; see :class:`Nodes`."""
        return self.nodes.cut

    @property
    def default_branch(self) -> Ints:
        """The branch of what has none of its own; see :class:`Nodes`."""
        return self.nodes.default_branch

    @property
    def branch_start(self) -> Ints:
        """Where the branches of each node begin; see :class:`Nodes`."""
        return self.nodes.branch_start

    @property
    def branch_code(self) -> Ints:
        """The code of each branch; see :class:`Nodes`."""
        return self.nodes.branch_code

    @property
    def branch_child(self) -> Ints:
        """The node that each branch leads to; see :class:`Nodes`."""
        return self.nodes.branch_child

    @property
    def weight_start(self) -> NDArray[np.int64]:
        """Where the class weights of each node begin; see :class:`Nodes`."""
        return self.nodes.weight_start

    @property
    def weight_class(self) -> Ints:
        """The class of each weight; see :class:`Nodes`."""
        return self.nodes.weight_class

    @property
    def weight(self) -> NDArray[np.float64]:
        """How much of each class gets to each node; see :class:`Nodes`."""
        return self.nodes.weight

    # Shape.

    @property
    def n_nodes(self) -> int:
        """How many nodes there are, leaves included."""
        return self.nodes.n_nodes

    @property
    def used_tests(self) -> list[int]:
        """The tests that some node asks for, ascending."""
        return self.nodes.used_tests

    @property
    def subtree_end(self) -> Ints:
        """One past the last node of the subtree of each node."""
        return self.nodes.subtree_end


def is_matrix_of_floats(X: object) -> bool:
    """Return whether rows are plain numbers, which need not be taken apart."""
    # What a mask hides is missing, which the coded walk knows.
    if not isinstance(X, np.ndarray) or isinstance(X, np.ma.MaskedArray):
        return False
    return bool(X.dtype.kind == "f")
