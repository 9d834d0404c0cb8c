"""A policy as a tree whose leaves say numbers.

It asks and charges as every tree does; only what it says at a node is a number instead
of a class. It does not know how it was grown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidOptionError, InvalidPolicyError
from askless.policy._nodes import Ints, Nodes
from askless.policy._tree import Tree
from askless.problem import Outcome, PriceList, Test

__all__ = ["NumberTree"]

# Numbers beyond this could make a square infinite.
MOST_NUMBER = 1e100


class NumberTree(Tree):
    """A tree that says a number.

    Parameters
    ----------
    tests, prices
        See :class:`Policy`. There are no classes.
    nodes : Nodes
        The nodes of one tree. Weights are all of a class 0: how much gets there.
    values : ndarray of float64 of shape (n_nodes,)
        The number that each node says; at a node that asks, what it would say if
        nothing more could be asked.

    Examples
    --------
    >>> import askless
    >>> X, y = [[1], [2], [8], [9]] * 10, [10.0, 10.0, 30.0, 30.0] * 10
    >>> tree = askless.CostTreeRegressor([3]).fit(X, y).policy_
    >>> tree.predict([[1.5], [8.5]]), tree.cost([[1.5], [8.5]])
    (array([10., 30.]), array([3., 3.]))
    >>> tree.start().decision_now
    20.0
    """

    kind: ClassVar[str] = "number-tree"
    answers_number = True

    def __init__(
        self,
        tests: tuple[Test, ...],
        prices: PriceList,
        *,
        nodes: Nodes,
        values: NDArray[np.float64],
    ) -> None:
        super().__init__(tests, (), prices, nodes=nodes)
        numbers = np.array(values, dtype=np.float64)
        if numbers.shape != self.test.shape or not np.all(
            np.abs(numbers) <= MOST_NUMBER
        ):
            raise InvalidPolicyError(
                f"Every node must say a number of at most {MOST_NUMBER:g}. Got others "
                f"for {self.n_nodes} nodes. Measure the numbers in a larger unit."
            )
        numbers.flags.writeable = False
        self.values = numbers

    # The machine.

    def answer(self, state: int) -> Outcome:
        """Return the number that a node says."""
        return float(self.values[state])

    def class_weights(self, state: int) -> NDArray[np.float64]:
        """Return nothing: there are no classes."""
        return np.zeros(0)

    def class_shares(self, state: int) -> NDArray[np.float64]:
        """Return nothing: there are no classes."""
        return np.zeros(0)

    def shares_given(
        self, state: int, shown: Mapping[int, int | None]
    ) -> NDArray[np.float64]:
        """Return nothing: there are no classes."""
        return np.zeros(0)

    # Many rows.

    def predict_proba(
        self, X: Any, *, n_jobs: int | None = None
    ) -> NDArray[np.float64]:
        """Refuse: numbers have no shares."""
        raise InvalidOptionError(
            "predict_proba must have classes. Got a tree that says numbers. Use "
            "predict."
        )

    def _decide(self, leaf: Ints) -> NDArray[Any]:
        return np.asarray(self.values[leaf])
