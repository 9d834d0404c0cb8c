"""A tree that says numbers and trades the cost of its tests against its error."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.learn._checks import check_count
from askless.learn._examples import Examples
from askless.learn._mistakes import UNPRICED
from askless.learn.cost_tree._cost_tree import CostTreeClassifier
from askless.learn.regress._base import PolicyRegressor
from askless.learn.regress._losses import Loss, find_loss
from askless.policy import NumberTree, Tree

__all__ = ["CostTreeRegressor", "group_numbers"]

Floats = NDArray[np.float64]


class CostTreeRegressor(PolicyRegressor):
    """The tree of least total cost, where what is wanted is a number.

    What a row costs is what it pays for tests, and its error times `mistakes`. The
    numbers are put into groups of neighbours, each of which stands for one number; a
    wrong group costs what its number errs. So it is the tree of
    :class:`CostTreeClassifier`, with its look-ahead and its rules of costs. In the end
    every node says the mean, or the median, of the numbers of its own rows.

    Parameters
    ----------
    costs : Costs, mapping or sequence, default=None
        What each test costs, by name or by position; 1 each by default. Groups, delays
        and prices by outcome are kept to.
    mistakes : float, default=None
        What an error of 1 costs, in the currency of the tests; of the squared error if
        that is the `loss`. By default so much that saying the same number of every row
        costs ten times all tests together.
    time_limit : float, default=None
        Seconds. The best tree so far is returned, at least a greedy one.
    loss : {"squared", "absolute"}, default="squared"
        What an error counts. Leaves say the mean of their rows, or the median.
    max_cost : float, default=None
        The most that any row may cost: branches that may cost more are cut off.
    n_groups : int, default=16
        Into how many groups of neighbours the numbers are put while the tree grows.
    samples, smoothing, n_estimators, leaf_cost, max_levels, n_cuts
        See :class:`CostTreeClassifier`.
    random_state : int, RandomState instance or None, default=0
        Seed of the forest and of the sampled subtrees.
    n_jobs : int, default=None
        Threads; the tree does not depend on it.

    Attributes
    ----------
    policy_ : NumberTree
        The policy that was learned.
    mistakes_ : float
        What an error of 1 costs.
    point_ : ValidationPoint or None
        What it costs and its mean error on the validation rows, if any were given.
    stages_ : list of Progress
        What was tried, when, and what it was worth.
    status_ : {"done", "time", "interrupt"}
        Why it ended.

    Examples
    --------
    The second test is dear, and worth it only if an error is dear as well:

    >>> import numpy as np
    >>> X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 50)
    >>> y = np.where(X[:, 0] == 0, 5.0, 10.0 + 4.0 * X[:, 1])
    >>> tree = CostTreeRegressor([1, 20], mistakes=100).fit(X, y)
    >>> tree.predict([[0, 1], [1, 1]]), tree.cost([[0, 1], [1, 1]])
    (array([ 5., 14.]), array([ 1., 21.]))
    >>> tree = CostTreeRegressor([1, 20], mistakes=1).fit(X, y)
    >>> tree.predict([[0, 1], [1, 1]]), tree.cost([[0, 1], [1, 1]])
    (array([ 5., 12.]), array([1., 1.]))
    """

    def __init__(
        self,
        costs: Any = None,
        mistakes: float | None = None,
        time_limit: float | None = None,
        *,
        loss: str = "squared",
        max_cost: float | None = None,
        n_groups: int = 16,
        samples: int | None = None,
        smoothing: float = 0.75,
        n_estimators: int = 100,
        leaf_cost: float = 0.6,
        max_levels: int = 32,
        n_cuts: int = 2,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.costs = costs
        self.mistakes = mistakes
        self.time_limit = time_limit
        self.loss = loss
        self.max_cost = max_cost
        self.n_groups = n_groups
        self.samples = samples
        self.smoothing = smoothing
        self.n_estimators = n_estimators
        self.leaf_cost = leaf_cost
        self.max_levels = max_levels
        self.n_cuts = n_cuts
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _grow(self, examples: Examples) -> NumberTree:
        check_count("n_groups", self.n_groups, least=2)
        loss, rows = find_loss(self.loss), examples.rows
        numbers = rows.class_ids.astype(np.float64)
        groups = group_numbers(numbers, rows.weights, int(self.n_groups))
        self.mistakes_ = self._price_error(examples, numbers, loss)
        grower = self._make_grower(numbers, rows.weights, groups, loss)
        n_groups = int(groups.max()) + 1
        tree = grower._grow_within(
            replace(
                examples,
                rows=replace(rows, class_ids=groups),
                classes=tuple(range(n_groups)),
                costs=examples.costs.with_mistakes(grower.mistakes),
                valid=None,
            )
        )
        assert isinstance(tree, Tree)
        self.status_, self.stages_ = grower.status_, grower.stages_
        leaf = tree.apply(rows.values, n_jobs=examples.n_threads)
        return say_numbers(tree, leaf, numbers, rows.weights, loss)

    def _price_error(self, examples: Examples, numbers: Floats, loss: Loss) -> float:
        """Return what an error of 1 costs."""
        if self.mistakes is not None:
            return float(self.mistakes)
        weights = examples.rows.weights
        at_once = loss.errors(numbers, loss.center(numbers, weights))
        error = float(np.average(at_once, weights=weights))
        named = examples.costs.subset(examples.names, all_names=examples.names)
        price = UNPRICED * float(sum(named.costs.values())) or 1.0
        return price / error if error > 0 else 1.0

    def _make_grower(
        self,
        numbers: Floats,
        weights: Floats | None,
        groups: NDArray[np.int64],
        loss: Loss,
    ) -> CostTreeClassifier:
        """Return the learner of a tree that decides between groups of numbers."""
        each = range(int(groups.max()) + 1)
        centers = np.array(
            [
                loss.center(
                    numbers[groups == group],
                    None if weights is None else weights[groups == group],
                )
                for group in each
            ]
        )
        wrong = self.mistakes_ * loss.errors(centers[:, None], centers[None, :])
        return CostTreeClassifier(
            self.costs,
            wrong,
            self.time_limit,
            max_cost=self.max_cost,
            samples=self.samples,
            smoothing=self.smoothing,
            n_estimators=self.n_estimators,
            leaf_cost=self.leaf_cost,
            max_levels=self.max_levels,
            n_cuts=self.n_cuts,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )

    def total_cost(self, X: Any, y: Any) -> Floats:
        """Return what each row pays for its tests, and for its error.

        Parameters
        ----------
        X : frame or array-like of shape (n_rows, n_tests)
            Raw values.
        y : array-like of shape (n_rows,)
            The true number of each row.
        """
        said, paid = self.predict_and_cost(X)
        errors = find_loss(self.loss).errors(said, np.asarray(y, dtype=np.float64))
        return np.asarray(paid + self.mistakes_ * errors)


def group_numbers(
    numbers: Floats, weights: Floats | None, n_groups: int
) -> NDArray[np.int64]:
    """Return the group of each number: neighbours, of about the same weight each.

    Equal numbers are in one group, so that a weight means the same as repeating a row.

    Examples
    --------
    >>> group_numbers(np.array([5.0, 1.0, 9.0, 7.0]), None, 2)
    array([0, 0, 1, 1])
    >>> group_numbers(np.array([3.0, 3.0, 3.0, 8.0]), None, 2)
    array([0, 0, 0, 1])
    """
    where = np.unique(numbers, return_inverse=True)[1]
    amount = np.bincount(where, weights=weights).astype(np.float64)
    # A number stands where the middle of its weight does.
    middle = (np.cumsum(amount) - amount / 2) / amount.sum()
    place = np.minimum((n_groups * middle).astype(np.int64), n_groups - 1)
    group: NDArray[np.int64] = np.unique(place, return_inverse=True)[1]
    return group[where]


def say_numbers(
    tree: Tree, leaf: NDArray[Any], numbers: Floats, weights: Floats | None, loss: Loss
) -> NumberTree:
    """Return the tree whose nodes say the center of the numbers that reach them.

    Parameters
    ----------
    tree : Tree
        What to ask; what it decides is not looked at.
    leaf : ndarray of shape (n_rows,)
        The leaf of each row.
    numbers, weights : ndarray of shape (n_rows,)
        The number of each row, and its weight; None for 1 each.
    loss : Loss
        What a center is.
    """
    order = np.argsort(leaf, kind="stable")
    numbers = numbers[order]
    each = np.ones(len(order)) if weights is None else weights[order]
    # Nodes are in preorder, so the rows of a subtree lie side by side.
    starts = np.searchsorted(leaf[order], np.arange(tree.n_nodes))
    ends = np.searchsorted(leaf[order], tree.subtree_end)
    values = np.zeros(tree.n_nodes)
    amounts = np.zeros(tree.n_nodes)
    for node, (start, end) in enumerate(zip(starts, ends, strict=True)):
        if start < end:
            amounts[node] = each[start:end].sum()
            values[node] = loss.center(numbers[start:end], each[start:end])
        else:
            # No row gets here: what the parent says.
            values[node] = values[tree.parent[node]]
    nodes = replace(
        tree.nodes,
        weight_start=np.arange(tree.n_nodes + 1, dtype=np.int64),
        weight_class=np.zeros(tree.n_nodes, dtype=np.int32),
        weight=amounts,
        decision=None,
    )
    return NumberTree(tree.tests, tree.prices, nodes=nodes, values=values)
