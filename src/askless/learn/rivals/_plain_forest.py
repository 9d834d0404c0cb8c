"""scikit-learn's random forest as a policy: what it decides, and what it costs."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from askless.learn._base import PolicyClassifier, _count_jobs
from askless.learn._examples import CodedExamples
from askless.learn.sources import forest_of_sklearn
from askless.policy import Policy
from askless.problem import Costs

__all__ = ["PlainForestClassifier"]


class PlainForestClassifier(PolicyClassifier):
    """A random forest that knows nothing of costs, charged like any policy.

    The rival that every budgeted forest is compared with: the number of trees is its
    only knob. Trees vote by majority.

    Parameters
    ----------
    costs : Costs, mapping or sequence, default=None
        What each test costs; 1 each by default.
    n_estimators : int, default=10
        How many trees.
    max_features : int, float, "sqrt" or None, default="sqrt"
        How many columns are tried at each node.
    min_samples_leaf : int, default=1
        The fewest rows of a leaf.
    random_state : int, RandomState or None, default=None
        Draws samples and columns.
    n_jobs : int, default=None
        Threads.

    Notes
    -----
    Takes numbers only. scikit-learn compares in single precision; so does this policy,
    where values are given in single precision.

    Examples
    --------
    >>> X = [[1, 7], [2, 6], [8, 7], [9, 6]] * 5
    >>> forest = PlainForestClassifier([1, 5], random_state=0).fit(X, [0, 0, 1, 1] * 5)
    >>> forest.predict([[3, 7]])
    array([0])
    """

    def __init__(
        self,
        costs: Any = None,
        *,
        n_estimators: int = 10,
        max_features: Any = "sqrt",
        min_samples_leaf: int = 1,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.costs = costs
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> PlainForestClassifier:
        """Fit scikit-learn's forest and turn it into a policy."""
        values, names = self._check_rows(X, reset=True, y=y)
        if isinstance(values, dict):
            values = np.column_stack([np.asarray(values[n], float) for n in names])
        model = RandomForestClassifier(
            self.n_estimators,
            max_features=self.max_features,
            min_samples_leaf=self.min_samples_leaf,
            random_state=self.random_state,
            n_jobs=_count_jobs(self.n_jobs),
        ).fit(values, y, sample_weight)
        self.classes_ = model.classes_
        self.model_ = model
        self.policy_ = forest_of_sklearn(model, names, self._make_costs(len(names)))
        return self

    def _grow(self, examples: CodedExamples, costs: Costs) -> Policy:
        raise NotImplementedError("the trees are scikit-learn's")
