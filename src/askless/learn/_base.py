"""What every classifier of Askless shares: input, costs, and predicting by its policy.

An estimator here is parameters and a ``policy_``; everything that a fitted model can
do, the policy does. This module must not know how any learner grows its policy.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from askless.exceptions import DegeneratePolicyWarning, InvalidOptionError
from askless.learn._examples import CodedExamples, code_examples
from askless.learn._scoring import mistake_costs
from askless.policy import Policy, explain_degenerate
from askless.problem import Costs, as_costs
from askless.problem._column import Column, is_number
from askless.problem._frames import clean_columns, is_frame, take_rows
from askless.problem._jobs import count_threads

__all__ = ["PolicyClassifier"]


class PolicyClassifier(ClassifierMixin, BaseEstimator):
    """Base of the classifiers: learns a policy and lets it answer.

    Subclasses set ``costs`` and ``n_jobs`` in ``__init__`` and say how to grow a policy
    from coded examples in ``_grow``.
    """

    costs: Any
    n_jobs: int | None

    @abstractmethod
    def _grow(self, examples: CodedExamples, costs: Costs) -> Policy:
        """Return a policy grown on coded examples."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> PolicyClassifier:
        """Learn a policy from examples.

        Parameters
        ----------
        X : frame, mapping of columns, or array-like of shape (n_rows, n_tests)
            Raw values. Numbers are compared with thresholds, everything else branches
            by value; NaN and None are missing.
        y : array-like of shape (n_rows,)
            The class of each row.
        sample_weight : array-like of shape (n_rows,), optional
            The weight of each row.

        Returns
        -------
        self : PolicyClassifier
            The fitted estimator.
        """
        values, names = self._check_rows(X, reset=True, y=y)
        labels = column_or_1d(y, warn=True)
        self.classes_, class_ids = number_classes(labels)
        # The narrowest type: sorting rows by class then takes one pass for each byte.
        class_ids = class_ids.astype(np.min_scalar_type(len(self.classes_)))
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(
                sample_weight,
                labels if isinstance(values, dict) else values,
                dtype=np.float64,
                ensure_non_negative=True,
            )
            values, class_ids, weights = _drop_weightless(values, class_ids, weights)
        examples = code_examples(
            values,
            names,
            class_ids,
            len(self.classes_),
            weights,
            count_threads(self.n_jobs),
        )
        self.policy_ = self._grow(examples, self._make_costs(len(names)))
        self._warn_if_degenerate()
        return self

    def _warn_if_degenerate(self) -> None:
        """Warn if the policy has nothing to say, unless y left it nothing."""
        if len(self.classes_) > 1:
            found = explain_degenerate(self.policy_)
            if found is not None:
                warnings.warn(found, DegeneratePolicyWarning, stacklevel=3)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the decision for each row."""
        leaf_decision = self._policy.predict(
            self._rows(X), n_jobs=count_threads(self.n_jobs)
        )
        return leaf_decision.astype(self.classes_.dtype, copy=False)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the share of each class of ``classes_`` where each row ends."""
        return self._policy.predict_proba(
            self._rows(X), n_jobs=count_threads(self.n_jobs)
        )

    def cost(self, X: Any) -> NDArray[np.float64]:
        """Return what each row pays for the tests that it is asked."""
        return self._policy.cost(self._rows(X), n_jobs=count_threads(self.n_jobs))

    def total_cost(self, X: Any, y: Any) -> NDArray[np.float64]:
        """Return what each row pays for its tests, and for the decision if it is wrong.

        Parameters
        ----------
        X : frame or array-like of shape (n_rows, n_tests)
            Raw values.
        y : array-like of shape (n_rows,)
            The true class of each row.

        Returns
        -------
        ndarray of shape (n_rows,)
            ``total_cost(X, y).mean()`` is the mean cost of a row.
        """
        paid = self.cost(X)
        classes = tuple(self.classes_.tolist())
        true = column_or_1d(y)
        mistakes = self._policy.mistakes
        return paid + mistake_costs(true, self.predict(X), classes, mistakes)

    @property
    def _policy(self) -> Policy:
        check_is_fitted(self)
        policy: Policy = self.policy_
        return policy

    def _rows(self, X: Any) -> Any:
        check_is_fitted(self)
        return self._check_rows(X, reset=False)[0]

    def _check_rows(
        self, X: Any, *, reset: bool, y: Any = None
    ) -> tuple[NDArray[Any] | dict[str, Column], list[str]]:
        """Return X as a matrix of floats, or as columns if it holds anything else."""
        if isinstance(X, Mapping):
            columns = clean_columns(X)
            self._check_names(list(columns), reset=reset)
            _check_finite(columns)
            return columns, list(columns)
        if is_frame(X):
            validate_data(self, X, **_y(y), reset=reset, skip_check_array=True)
            columns = clean_columns(X)
            _check_finite(columns)
            return columns, list(columns)
        if _holds_text(X):
            matrix = validate_data(
                self, X, **_y(y), reset=reset, dtype=None, ensure_all_finite=False
            )
            matrix = matrix[0] if y is not None else matrix
            names = [f"x{i}" for i in range(matrix.shape[1])]
            return clean_columns(matrix, names), names
        matrix = validate_data(
            self, X, **_y(y), reset=reset, dtype=[np.float64, np.float32],
            ensure_all_finite="allow-nan", order="C",
        )  # fmt: skip
        matrix = matrix[0] if y is not None else matrix
        return matrix, [f"x{i}" for i in range(matrix.shape[1])]

    def _check_names(self, names: list[str], *, reset: bool) -> None:
        """Keep the names of columns that come as a mapping, as of those of a frame."""
        if reset:
            self.feature_names_in_ = np.array(names, dtype=object)
            self.n_features_in_ = len(names)
        elif names != list(getattr(self, "feature_names_in_", names)):
            raise InvalidOptionError(
                "New rows must have the columns that were learned from, in their "
                f"order. Got {names[:8]}. Pass the same columns."
            )

    def _make_costs(self, n_tests: int) -> Costs:
        return as_costs(self.costs, n_tests)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def number_classes(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the classes, ascending, and for each row which of them it has.

    Raises ValueError if the labels are not those of classes. Whole numbers always are,
    and where they are few they are counted instead of sorted.

    Examples
    --------
    >>> number_classes(np.array([7, 3, 7, 7, 3]))
    (array([3, 7]), array([1, 0, 1, 1, 0], dtype=uint8))
    """
    if labels.dtype.kind in "iu" and len(labels):
        low, high = int(labels.min()), int(labels.max())
        if high - low < max(256, len(labels) // 4) and high < 2**63:
            shifted = labels.astype(np.int64) - low
            occurs = np.flatnonzero(np.bincount(shifted))
            if 2 * len(occurs) < len(labels) and len(occurs) < 256:
                ids = np.zeros(high - low + 1, dtype=np.uint8)
                ids[occurs] = np.arange(len(occurs))
                classes = (occurs + low).astype(labels.dtype)
                return classes, ids[shifted]
    check_classification_targets(labels)
    return np.unique(labels, return_inverse=True)


def _y(y: Any) -> dict[str, Any]:
    return {} if y is None else {"y": y}


def _holds_text(X: Any) -> bool:
    """Return whether an array holds anything but numbers."""
    array = X if isinstance(X, np.ndarray) else None
    if array is None and isinstance(X, (list, tuple)):
        array = np.asarray(X, dtype=object)
    if array is None or array.dtype.kind not in "OUS":
        return False
    if array.dtype.kind in "US":
        return True
    return any(isinstance(value, (str, bool)) for value in array.ravel().tolist())


def _check_finite(columns: Mapping[str, Column]) -> None:
    for name, column in columns.items():
        if column.dtype.kind not in "fO" or not is_number(column):
            continue
        if np.isinf(column.astype(np.float64, copy=False)).any():
            raise InvalidOptionError(
                f"Numbers must be finite. Got infinity in column {name!r}. Write it as "
                "missing, or as a large number."
            )


def _drop_weightless(values: Any, class_ids: Any, weights: Any) -> tuple[Any, Any, Any]:
    """Leave out rows of weight zero, which must not even choose a threshold."""
    keep = weights > 0
    if keep.all():
        return values, class_ids, weights
    return take_rows(values, keep), class_ids[keep], weights[keep]
