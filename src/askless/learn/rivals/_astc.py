"""ASTC: a tree of linear models that buy features by how much they fit for the price.

A published rival of budgeted forests, implemented from its description. Where that
leaves something open, the docstring says what was chosen.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless._core.price._prices import charge_paths
from askless.learn._base import CostClassifier
from askless.learn._checks import check_count, check_number
from askless.learn._examples import Examples, Values, as_matrix
from askless.problem import Test

__all__ = ["ASTCClassifier", "LinearFit", "fit_greedily"]

# A feature that explains less than this of what is left adds nothing but rounding.
LEAST_GAIN = 1e-12

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class LinearFit:
    """A linear model of some features, in the order in which they were bought."""

    features: list[int]
    coefficients: Matrix
    fit: float  # the share of the squares of y that is explained


def fit_greedily(
    X: Matrix, y: Matrix, costs: Matrix, budget: float, free: list[int] | None = None
) -> LinearFit:
    """Add the feature of most fit for its price until the budget or the gain ends.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Features.
    y : ndarray of shape (n_rows,)
        What is to be explained.
    costs : ndarray of shape (n_features,)
        What each feature costs.
    budget : float
        What may be spent.
    free : list of int, optional
        Features that are bought already; all of them are used.

    Examples
    --------
    >>> X = np.array([[1, 1, 0], [1, -1, 1], [1, 0, -1],
    ...               [-1, 1, 1], [-1, -1, 0], [-1, 0, -1]], dtype=float)
    >>> y = np.array([3.0, 0, 0, 1, -2, -2])
    >>> found = fit_greedily(X, y, np.array([4.0, 1.0, 2.0]), 5.0)
    >>> found.features, found.coefficients
    ([1, 0], array([1.5, 1. ]))
    """
    left = X.copy()
    rest = y.copy()
    total = float(y @ y)
    chosen: list[int] = []
    spent = 0.0
    # Kept as they were bought, to tell a feature that is a sum of others.
    norms = np.maximum((X * X).sum(axis=0), 1e-300)

    def buy(feature: int) -> None:
        nonlocal rest, left
        direction = left[:, feature] / np.linalg.norm(left[:, feature])
        rest = rest - direction * (direction @ rest)
        left = left - np.outer(direction, direction @ left)
        chosen.append(feature)

    for feature in free or []:
        if (left[:, feature] @ left[:, feature]) / norms[feature] > LEAST_GAIN:
            buy(feature)
    if total > 0:
        while True:
            length = (left * left).sum(axis=0)
            with np.errstate(divide="ignore", invalid="ignore"):
                gain = (rest @ left) ** 2 / length / total
                worth = gain / costs
            worth[(length / norms <= LEAST_GAIN) | (gain <= LEAST_GAIN)] = -1.0
            worth[spent + costs > budget * (1 + 1e-12)] = -1.0
            worth[chosen] = -1.0
            best = int(np.argmax(worth))
            if not worth[best] > 0:
                break
            spent += float(costs[best])
            buy(best)
    coefficients = np.asarray(
        np.linalg.lstsq(X[:, chosen], y, rcond=None)[0], dtype=np.float64
    )
    explained = 1.0 - float(rest @ rest) / total if total > 0 else 1.0
    return LinearFit(chosen, coefficients, explained)


@dataclass(frozen=True)
class AstcNode:
    """A node: its model, and where rows go; a leaf has no children."""

    features: list[int]
    coefficients: Matrix
    theta: float = 0.0
    left: AstcNode | None = None
    right: AstcNode | None = None


class ASTCClassifier(CostClassifier):
    """Approximately submodular tree of classifiers.

    At each node a linear model of the classes is fitted by least squares; features are
    bought one by one, by how much they improve the fit for their price, until the
    budget of the node is spent. Features of the nodes above are free. Rows whose score
    is above the median go right. The model of the leaf decides.

    Parameters
    ----------
    costs : Costs, mapping or sequence, default=None
        What each feature costs; 1 each by default. Groups are charged, and not known
        when features are chosen.
    mistakes : number, matrix or mapping, default=None
        Cost of a wrong decision, ``mistakes[true][decision]``, for ``total_cost``.
        Those of `costs` by default.
    node_budget : float, default=1.0
        What each node may spend beyond what the nodes above have bought.
    max_depth : int, default=2
        How many nodes have children on any path.
    min_weight : float, default=20.0
        Do not split a set of less weight.
    class_weight : mapping or "balanced", default=None
        Factors of the weights of the rows of each class; "balanced" makes all classes
        weigh the same.

    Attributes
    ----------
    trees_ : list of AstcNode
        One tree for two classes, else one for each class.
    classes_ : ndarray
        The classes, ascending.
    point_ : ValidationPoint or None
        What it costs and how often it errs on the validation rows, if any were given.

    Notes
    -----
    The published description gives neither budgets nor depths: both are the knobs of
    the curve. Columns are standardised, a constant column is free, a missing value
    counts as the mean, and several classes are told apart by one tree each, which all
    buy from the same bill.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> y = np.where(X[:, 0] > 0, "yes", "no")
    >>> model = ASTCClassifier([1, 5, 5], node_budget=1).fit(X, y)
    >>> model.predict_and_cost([[2.0, 0, 0]])
    (array(['yes'], dtype='<U3'), array([1.]))
    """

    def __init__(
        self,
        costs: Any = None,
        mistakes: Any = None,
        *,
        node_budget: float = 1.0,
        max_depth: int = 2,
        min_weight: float = 20.0,
        class_weight: Any = None,
    ) -> None:
        self.costs = costs
        self.mistakes = mistakes
        self.node_budget = node_budget
        self.max_depth = max_depth
        self.min_weight = min_weight
        self.class_weight = class_weight

    def _learn(self, examples: Examples) -> None:
        check_number("node_budget", self.node_budget, least=0.0)
        check_count("max_depth", self.max_depth, least=0)
        check_number("min_weight", self.min_weight, least=0.0)
        class_ids, weights = examples.rows.class_ids, examples.rows.weights
        X = as_matrix(examples.rows.values, "ASTCClassifier")
        self.mean_, scale = _describe_columns(X, weights)
        self.scale_ = np.where(scale > 0, scale, 1.0)
        tests = tuple(Test(name, "number") for name in examples.names)
        self._prices = examples.costs.price_list(tests)
        self._mistakes = examples.costs.mistake_matrix(examples.classes)
        rows, n_classes = self._standardise(X), len(examples.classes)
        # Two classes need one tree, more need one each.
        targets = [1] if n_classes == 2 else range(n_classes)
        self.trees_ = [
            self._grow(rows, np.where(class_ids == target, 1.0, -1.0), weights, [], 0)
            for target in targets
        ]

    def _mistake_matrix(self) -> Matrix | None:
        return self._mistakes

    def _standardise(self, X: Matrix) -> Matrix:
        """Return columns of mean 0 and spread 1, and a constant one at the end."""
        rows = np.nan_to_num((X - self.mean_) / self.scale_)
        return np.column_stack([rows, np.ones(len(rows))])

    def _grow(
        self,
        X: Matrix,
        y: Matrix,
        weights: Matrix | None,
        bought: list[int],
        depth: int,
    ) -> AstcNode:
        costs = np.append(self._prices.full, 0.0)
        free = [X.shape[1] - 1, *bought]
        found = _fit_weighted(X, y, weights, costs, float(self.node_budget), free)
        scores = X[:, found.features] @ found.coefficients
        theta = _median(scores, weights)
        right = scores > theta
        is_leaf = (
            depth >= self.max_depth
            or (len(y) if weights is None else weights.sum()) < self.min_weight
            or not right.any()
            or np.all(y == y[0])
        )
        if is_leaf:
            return AstcNode(found.features, found.coefficients)
        known = sorted({f for f in (*bought, *found.features) if f < X.shape[1] - 1})

        def below(side: NDArray[np.bool_]) -> AstcNode:
            of_side = None if weights is None else weights[side]
            return self._grow(X[side], y[side], of_side, known, depth + 1)

        return AstcNode(
            found.features, found.coefficients, theta, below(~right), below(right)
        )

    def _walk(self, values: Values) -> tuple[Matrix, list[list[int]]]:
        """Return the score of each row by each tree, and what each row buys."""
        X = as_matrix(values, "ASTCClassifier")
        rows = self._standardise(X)
        scores = np.zeros((len(rows), len(self.trees_)))
        bought: list[list[int]] = [[] for _ in rows]
        for t, tree in enumerate(self.trees_):
            stack = [(tree, np.arange(len(rows)))]
            while stack:
                node, here = stack.pop()
                if not len(here):
                    continue
                for row in here:
                    bought[row].extend(f for f in node.features if f < X.shape[1])
                value = rows[here][:, node.features] @ node.coefficients
                if node.left is None or node.right is None:
                    scores[here, t] = value
                    continue
                is_right = value > node.theta
                stack.append((node.left, here[~is_right]))
                stack.append((node.right, here[is_right]))
        return scores, bought

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the scores: one for two classes, else one for each class."""
        scores = self._walk(self._rows(X))[0]
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def _run(self, values: Values) -> tuple[NDArray[Any], NDArray[np.float64]]:
        scores, bought = self._walk(values)
        if len(self.classes_) == 2:
            decided = self.classes_[(scores[:, 0] > 0).astype(int)]
        else:
            decided = self.classes_[np.argmax(scores, axis=1)]
        sizes = np.cumsum([0] + [len(features) for features in bought])
        tests = np.array([f for features in bought for f in features], dtype=np.int32)
        codes = np.full(len(tests), -1, dtype=np.int32)
        engine = self._prices.engine
        return decided, charge_paths(engine, tests, codes, sizes.astype(np.int64))


def _fit_weighted(
    X: Matrix,
    y: Matrix,
    weights: Matrix | None,
    costs: Matrix,
    budget: float,
    free: list[int],
) -> LinearFit:
    """Fit by least squares in which rows count by their weights."""
    if weights is None:
        return fit_greedily(X, y, costs, budget, free)
    root = np.sqrt(weights)
    return fit_greedily(X * root[:, None], y * root, costs, budget, free)


def _describe_columns(X: Matrix, weights: Matrix | None) -> tuple[Matrix, Matrix]:
    """Return the mean and the standard deviation of what is not missing."""
    if weights is None:
        with warnings.catch_warnings():
            # A column in which all is missing has neither.
            warnings.simplefilter("ignore", RuntimeWarning)
            mean, spread = np.nanmean(X, axis=0), np.nanstd(X, axis=0)
        return np.nan_to_num(mean), np.nan_to_num(spread)
    shares = np.where(np.isnan(X), 0.0, weights[:, None])
    shares /= np.maximum(shares.sum(axis=0), 1e-300)
    mean = (shares * np.nan_to_num(X)).sum(axis=0)
    squares = (shares * np.nan_to_num(X - mean) ** 2).sum(axis=0)
    return mean, np.sqrt(squares)


def _median(values: Matrix, weights: Matrix | None) -> float:
    """Return the median of weighted values, as if they were repeated.

    Examples
    --------
    >>> _median(np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0]))
    2.0
    """
    if weights is None:
        return float(np.median(values))
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    half = reached[-1] / 2
    low, high = (
        values[order[min(int(np.searchsorted(reached, half, side)), len(order) - 1)]]
        for side in ("left", "right")
    )
    return float((low + high) / 2)
