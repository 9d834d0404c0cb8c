"""scikit-learn's random forest as a policy: what it decides, and what it costs."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from askless.learn._base import PolicyClassifier
from askless.learn._examples import Examples, as_matrix
from askless.learn.sources import forest_of_sklearn
from askless.policy import Forest

__all__ = ["PlainForestClassifier"]


class PlainForestClassifier(PolicyClassifier):
    """A random forest that knows nothing of costs, charged like any policy.

    The rival that every budgeted forest is compared with: the number of trees is its
    only knob. Trees vote by majority.

    Parameters
    ----------
    costs : Costs, mapping or sequence, default=None
        What each test costs; 1 each by default.
    mistakes : number, matrix or mapping, default=None
        Cost of a wrong decision, ``mistakes[true][decision]``. Leaves decide by it; the
        trees are grown without. Those of `costs` by default.
    n_estimators : int, default=10
        How many trees.
    max_features : int, float, "sqrt" or None, default="sqrt"
        How many columns are tried at each node.
    min_samples_leaf : int, default=1
        The fewest rows of a leaf.
    class_weight : mapping or "balanced", default=None
        Factors of the weights of the rows of each class; "balanced" makes all classes
        weigh the same.
    random_state : int, RandomState or None, default=None
        Draws samples and columns.
    n_jobs : int, default=None
        Threads.

    Attributes
    ----------
    policy_ : Forest
        The forest as a policy.
    model_ : RandomForestClassifier
        scikit-learn's own.
    classes_ : ndarray
        The classes, ascending.
    point_ : ValidationPoint or None
        What it costs and how often it errs on the validation rows, if any were given.

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

    _draws_rows = True

    def __init__(
        self,
        costs: Any = None,
        mistakes: Any = None,
        *,
        n_estimators: int = 10,
        max_features: Any = "sqrt",
        min_samples_leaf: int = 1,
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.costs = costs
        self.mistakes = mistakes
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _grow(self, examples: Examples) -> Forest:
        rows = examples.rows
        model = RandomForestClassifier(
            self.n_estimators,
            max_features=self.max_features,
            min_samples_leaf=self.min_samples_leaf,
            random_state=self.random_state,
            n_jobs=examples.n_threads,
        )
        matrix = as_matrix(rows.values, "PlainForestClassifier")
        y = np.array(examples.classes)[rows.class_ids]
        self.model_ = model.fit(matrix, y, rows.weights)
        return forest_of_sklearn(self.model_, examples.names, examples.costs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = False
        tags.input_tags.string = False
        return tags
