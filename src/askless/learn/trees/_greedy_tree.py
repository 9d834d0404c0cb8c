"""GreedyTree on examples: one tree, grown by the price of separating pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from askless._core.greedy._criteria import Pairs
from askless._core.greedy._grow import grow_greedy
from askless._core.greedy._options import GrowthLimits, GrowthRows
from askless.learn._base import PolicyClassifier
from askless.learn._checks import check_max_depth, check_number
from askless.learn._examples import Examples
from askless.policy import Nodes, Policy, Tree

__all__ = ["GreedyTreeClassifier"]


class GreedyTreeClassifier(PolicyClassifier):
    """One tree, grown by the price of separating pairs of different class.

    At each node the tree buys the test that, in its worst outcome, separates the most
    pairs of rows of different class for its price; a test whose group is open is
    discounted.

    Parameters
    ----------
    costs : Costs, mapping or sequence, default=None
        What each test costs, by name or by position; 1 each by default.
    mistakes : number, matrix or mapping, default=None
        Cost of a wrong decision, ``mistakes[true][decision]``. Leaves decide by it; the
        tree is grown without. Those of `costs` by default.
    max_depth : int, default=None
        Ask at most so many tests on any path.
    delta : float, default=0.0
        Stop at a set with at most so many pairs of different class.
    min_weight : float, default=0.0
        Do not split a set of less weight.
    free_reuse : bool, default=False
        Score a threshold on a test that was already bought as free. By default it is
        scored at its price again, which keeps the tree from living on its first test;
        either way nobody pays twice.
    max_cost : float, default=None
        The most that any row may cost, whatever its tests show: tests that alone cost
        more are left out, and a branch stops where the next test could cost more.
    class_weight : mapping or "balanced", default=None
        Factors of the weights of the rows of each class; "balanced" makes all classes
        weigh the same.
    n_jobs : int, default=None
        Threads for coding and predicting; results do not depend on it.

    Attributes
    ----------
    policy_ : Tree
        The policy that was learned.
    classes_ : ndarray
        The classes, ascending.
    point_ : ValidationPoint or None
        What it costs and how often it errs on the validation rows, if any were given.

    Notes
    -----
    Growing takes O(n_tests * n_rows) for each level of the tree: a cut of a number is
    found by a few counting passes over a column of bytes. Numbers with more than 254
    different values are cut into about 254 levels of equal weight first.

    Examples
    --------
    >>> X = [[1, 7], [2, 6], [8, 7], [9, 6]]
    >>> tree = GreedyTreeClassifier(costs=[1, 5]).fit(X, ["low", "low", "high", "high"])
    >>> tree.predict([[3, 0], [7, 0]])
    array(['low', 'high'], dtype='<U4')
    >>> tree.cost([[3, 0]])
    array([1.])
    """

    _reads_codes = True

    def __init__(
        self,
        costs: Any = None,
        mistakes: Any = None,
        *,
        max_depth: int | None = None,
        delta: float = 0.0,
        min_weight: float = 0.0,
        free_reuse: bool = False,
        max_cost: float | None = None,
        class_weight: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.costs = costs
        self.mistakes = mistakes
        self.max_depth = max_depth
        self.delta = delta
        self.min_weight = min_weight
        self.free_reuse = free_reuse
        self.max_cost = max_cost
        self.class_weight = class_weight
        self.n_jobs = n_jobs

    def _grow(self, examples: Examples) -> Policy:
        check_number("delta", self.delta, least=0.0)
        check_number("min_weight", self.min_weight, least=0.0)
        max_depth = check_max_depth(self.max_depth)
        coded = examples.code()
        prices = examples.costs.price_list(coded.tests)
        codes: Any = coded.codes
        rows = GrowthRows(
            # Growing uses them up; those of a store are not to be written to.
            codes if codes.flags.writeable else np.array(codes),
            coded.class_rows,
            coded.n_levels,
            coded.is_ordered,
            weights=coded.weights,
        )
        limits = GrowthLimits(
            max_depth=max_depth,
            max_impurity=float(self.delta),
            min_weight=float(self.min_weight),
        )
        arrays = grow_greedy(
            rows,
            Pairs(),
            prices.engine,
            limits=limits,
            free_reuse=bool(self.free_reuse),
        )
        mistakes = examples.costs.mistake_matrix(examples.classes)
        return Tree(
            coded.tests,
            examples.classes,
            prices,
            nodes=Nodes.from_arrays(arrays),
            mistakes=mistakes,
        )
