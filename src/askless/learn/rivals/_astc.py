"""ASTC: a tree of linear models that buy features by how much they fit for the price.

A published rival of budgeted forests, implemented from its description. Where that
leaves something open, the docstring says what was chosen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from askless._core.price._prices import charge_paths
from askless.exceptions import InvalidOptionError
from askless.problem import PriceList, Test, as_costs

__all__ = ["ASTCClassifier", "LinearFit", "fit_greedily"]

# A feature that explains less than this of what is left adds nothing but rounding.
LEAST_GAIN = 1e-12

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class LinearFit:
    """A linear model of some features, in the order in which they were bought."""

    features: list[int]
    coefficients: Matrix
    fit: float  # the share of the squared labels that is explained


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


class ASTCClassifier(ClassifierMixin, BaseEstimator):
    """Approximately submodular tree of classifiers.

    At each node a linear model of the labels is fitted by least squares; features are
    bought one by one, by how much they improve the fit for their price, until the
    budget of the node is spent. Features of the nodes above are free. Rows whose score
    is above the median go right. The model of the leaf decides.

    Parameters
    ----------
    costs : Costs, mapping or sequence, default=None
        What each feature costs; 1 each by default. Groups are charged, and not known
        when features are chosen.
    node_budget : float, default=1.0
        What each node may spend beyond what the nodes above have bought.
    max_depth : int, default=2
        How many nodes have children on any path.
    min_rows : int, default=20
        Do not split fewer rows.

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
    >>> model.predict([[2.0, 0, 0]]), model.cost([[2.0, 0, 0]])
    (array(['yes'], dtype='<U3'), array([1.]))
    """

    def __init__(
        self,
        costs: Any = None,
        *,
        node_budget: float = 1.0,
        max_depth: int = 2,
        min_rows: int = 20,
    ) -> None:
        self.costs = costs
        self.node_budget = node_budget
        self.max_depth = max_depth
        self.min_rows = min_rows

    def fit(self, X: Any, y: Any) -> ASTCClassifier:
        """Fit a tree of linear models to numbers.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Numbers; NaN is missing.
        y : array-like of shape (n_rows,)
            The class of each row.

        Returns
        -------
        self : ASTCClassifier
            The fitted estimator.
        """
        if not self.node_budget >= 0 or self.max_depth < 0 or self.min_rows < 1:
            raise InvalidOptionError(
                "node_budget and max_depth must be >= 0, and min_rows >= 1. Got "
                f"{self.node_budget!r}, {self.max_depth!r} and {self.min_rows!r}. A "
                "tree of depth 0 is one linear model."
            )
        X, y = validate_data(
            self, X, y, dtype=np.float64, ensure_all_finite="allow-nan"
        )
        check_classification_targets(y)
        self.classes_, ids = np.unique(y, return_inverse=True)
        self.mean_ = np.nan_to_num(np.nanmean(X, axis=0))
        scale = np.nan_to_num(np.nanstd(X, axis=0))
        self.scale_ = np.where(scale > 0, scale, 1.0)
        self._prices = self._price_list(X.shape[1])
        rows = self._standardise(X)
        # Two classes need one tree, more need one each.
        targets = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        self.trees_ = [
            self._grow(rows, np.where(ids == target, 1.0, -1.0), [], 0)
            for target in targets
        ]
        return self

    def _price_list(self, n_features: int) -> PriceList:
        costs = as_costs(self.costs, n_features)
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            names = [f"x{i}" for i in range(n_features)]
        return costs.price_list(tuple(Test(str(n), "number") for n in names))

    def _standardise(self, X: Matrix) -> Matrix:
        """Return columns of mean 0 and spread 1, and a constant one at the end."""
        rows = np.nan_to_num((X - self.mean_) / self.scale_)
        return np.column_stack([rows, np.ones(len(rows))])

    def _grow(self, X: Matrix, y: Matrix, bought: list[int], depth: int) -> AstcNode:
        costs = np.append(self._prices.full, 0.0)
        found = fit_greedily(
            X, y, costs, float(self.node_budget), [X.shape[1] - 1, *bought]
        )
        scores = X[:, found.features] @ found.coefficients
        theta = float(np.median(scores))
        right = scores > theta
        is_leaf = (
            depth >= self.max_depth
            or len(y) < self.min_rows
            or not right.any()
            or np.all(y == y[0])
        )
        if is_leaf:
            return AstcNode(found.features, found.coefficients)
        known = sorted({f for f in (*bought, *found.features) if f < X.shape[1] - 1})
        return AstcNode(
            found.features,
            found.coefficients,
            theta,
            self._grow(X[~right], y[~right], known, depth + 1),
            self._grow(X[right], y[right], known, depth + 1),
        )

    def _walk(self, X: Any) -> tuple[Matrix, list[list[int]]]:
        """Return the score of each row by each tree, and what each row buys."""
        check_is_fitted(self)
        X = validate_data(
            self, X, reset=False, dtype=np.float64, ensure_all_finite="allow-nan"
        )
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
        scores = self._walk(X)[0]
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row."""
        scores = self._walk(X)[0]
        if len(self.classes_) == 2:
            return np.asarray(self.classes_[(scores[:, 0] > 0).astype(int)])
        return np.asarray(self.classes_[np.argmax(scores, axis=1)])

    def cost(self, X: Any) -> NDArray[np.float64]:
        """Return what each row pays, each feature once."""
        bought = self._walk(X)[1]
        sizes = np.cumsum([0] + [len(features) for features in bought])
        tests = np.array([f for features in bought for f in features], dtype=np.int32)
        codes = np.full(len(tests), -1, dtype=np.int32)
        return charge_paths(self._prices.engine, tests, codes, sizes.astype(np.int64))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
