"""Make nodes one by one, for growers that are written in Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from askless.exceptions import InvalidPolicyError
from askless.policy._nodes import Nodes

__all__ = ["NodesBuilder"]


class NodesBuilder:
    """Collect nodes one by one, in preorder, each with the weights that get there.

    A node hangs on the first branch that leads nowhere yet, of the last node that has
    one. Where there is none, the next node is the root of another tree.

    Examples
    --------
    A tree of two tests. The leaves of the inner one come before the last leaf:

    >>> builder = NodesBuilder()
    >>> builder.add_test(0, [0, 1], {0: 1.0, 1: 2.0}, default=1)
    >>> builder.add_test(1, [0, 1], {0: 1.0, 1: 1.0}, default=0, cut=3)
    >>> for label in (0, 1, 1):
    ...     builder.add_leaf({label: 1.0})
    >>> builder.build().branch_child
    array([1, 4, 2, 3], dtype=int32)
    """

    def __init__(self) -> None:
        self._tree_start: list[int] = []
        self._test: list[int] = []
        self._cut: list[int] = []
        self._default_branch: list[int] = []
        self._n_branches: list[int] = []
        self._branch_code: list[int] = []
        self._branch_child: list[int] = []
        self._n_weights: list[int] = []
        self._weight_class: list[int] = []
        self._weight: list[float] = []
        # Branches that lead nowhere yet, the next one last.
        self._open: list[int] = []

    @property
    def n_nodes(self) -> int:
        """How many nodes there are so far."""
        return len(self._test)

    def add_leaf(self, weights: Mapping[int, float]) -> None:
        """Add a leaf.

        Parameters
        ----------
        weights : mapping of int to float
            How much of each class gets there, classes ascending.
        """
        self._add(-1, -1, -1, weights)

    def add_test(
        self,
        test: int,
        codes: Iterable[int],
        weights: Mapping[int, float],
        *,
        default: int,
        cut: int = -1,
    ) -> None:
        """Add a node that asks a test; its children are to follow.

        Parameters
        ----------
        test : int
            Which test.
        codes : iterable of int
            The code of each branch, ascending.
        weights : mapping of int to float
            How much of each class gets there, classes ascending.
        default : int
            The branch that takes every other outcome.
        cut : int, default=-1
            Which cut of a number to compare with; -1 for a branch for each outcome.
        """
        self._add(test, cut, default, weights)
        first = len(self._branch_code)
        self._branch_code.extend(int(code) for code in codes)
        n_branches = len(self._branch_code) - first
        self._n_branches[-1] = n_branches
        self._branch_child.extend([-1] * n_branches)
        self._open.extend(range(first + n_branches - 1, first - 1, -1))

    def _add(
        self, test: int, cut: int, default: int, weights: Mapping[int, float]
    ) -> None:
        if self._open:
            self._branch_child[self._open.pop()] = self.n_nodes
        else:
            self._tree_start.append(self.n_nodes)
        self._test.append(int(test))
        self._cut.append(int(cut))
        self._default_branch.append(int(default))
        self._n_branches.append(0)
        self._n_weights.append(len(weights))
        self._weight_class.extend(weights.keys())
        self._weight.extend(weights.values())

    def build(self) -> Nodes:
        """Return the nodes."""
        if self._open:
            raise InvalidPolicyError(
                "Every branch must lead to a node. Got "
                f"{len(self._open)} that lead nowhere, of {len(self._branch_code)}. "
                "Add a leaf or a test for each, first branch first."
            )
        return Nodes(
            tree_start=np.array([*self._tree_start, self.n_nodes], dtype=np.int32),
            test=np.array(self._test, dtype=np.int32),
            cut=np.array(self._cut, dtype=np.int32),
            default_branch=np.array(self._default_branch, dtype=np.int32),
            branch_start=np.cumsum([0, *self._n_branches]).astype(np.int32),
            branch_code=np.array(self._branch_code, dtype=np.int32),
            branch_child=np.array(self._branch_child, dtype=np.int32),
            weight_start=np.cumsum([0, *self._n_weights]).astype(np.int64),
            weight_class=np.array(self._weight_class, dtype=np.int32),
            weight=np.array(self._weight, dtype=np.float64),
        )
