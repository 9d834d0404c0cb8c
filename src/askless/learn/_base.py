"""What every estimator of Askless shares: ``fit``, and predicting by its policy.

An estimator here is parameters and a ``policy_``; everything that a fitted model can
do, the policy does. This module must not know how any learner grows its policy.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, column_or_1d

from askless._progress import Callback, Reporter
from askless.exceptions import DegeneratePolicyWarning, InvalidOptionError
from askless.learn._checks import check_max_cost
from askless.learn._class_weight import weigh_classes
from askless.learn._examples import Examples, KnownRows, StoredExamples, Values
from askless.learn._max_cost import hide_dear_tests, limit_policy
from askless.learn._mistakes import settle_costs
from askless.learn._reading import (
    read_known_rows,
    read_rows,
    read_stored_rows,
    read_validation_rows,
)
from askless.learn._row_order import settle_order
from askless.learn._scoring import mistake_costs
from askless.learn._stages import count_frames
from askless.learn._validation import ValidationPoint, measure_rows
from askless.learn.store._code_store import CodeStore
from askless.policy import Policy, explain_degenerate
from askless.problem._jobs import count_threads

__all__ = [
    "CostClassifier",
    "CostEstimator",
    "LearningEstimator",
    "PolicyClassifier",
    "PolicyEstimator",
    "Validation",
]

# What ``fit`` is given to validate on: X_valid, y_valid, eval_set.
Validation = tuple[Any, Any, Any]


class CostEstimator(BaseEstimator):
    """Base of all estimators: says what rows are decided, and what they pay.

    Subclasses set ``costs`` and ``n_jobs`` in ``__init__``, and say what rows are
    decided and pay (``_run``).
    """

    costs: Any
    n_jobs: int | None = None
    point_: ValidationPoint | None
    # Whether codes are all that is learned from; then they may come from a store.
    _reads_codes: ClassVar[bool] = False

    @abstractmethod
    def _run(self, values: Values) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Return the decision for each row and what it pays, in one run."""

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the decision for each row."""
        return self.predict_and_cost(X)[0]

    def cost(self, X: Any) -> NDArray[np.float64]:
        """Return what each row pays for the tests that it is asked."""
        return self.predict_and_cost(X)[1]

    def predict_and_cost(self, X: Any) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Return the decision for each row and what it pays, in one run."""
        return self._run(self._rows(X))

    def _rows(self, X: Any) -> Values:
        check_is_fitted(self)
        return read_rows(self, X, reset=False)[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class LearningEstimator(CostEstimator):
    """Base of the estimators that learn from rows: one ``fit`` for all of them.

    Subclasses say how to read what ``fit`` is given (``_read``), how to learn from it
    (``_learn``), and how well validation rows are predicted (``_measure``).
    """

    @abstractmethod
    def _read(
        self, X: Any, y: Any, sample_weight: Any, valid: Validation, reporter: Reporter
    ) -> tuple[Examples, dict[str, Any]]:
        """Return examples, and the attributes to set once they are learned from."""

    @abstractmethod
    def _learn(self, examples: Examples) -> None:
        """Learn from examples. Sets ``point_`` if it chooses on validation rows."""

    @abstractmethod
    def _measure(self, examples: Examples, valid: KnownRows) -> ValidationPoint:
        """Return what validation rows pay, and how often they are wrong."""

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        X_valid: Any = None,
        y_valid: Any = None,
        eval_set: Any = None,
        verbose: bool = False,
        callbacks: Callback | Iterable[Callback] | None = None,
    ) -> Self:
        """Learn from examples.

        Parameters
        ----------
        X : frame, mapping of columns, or array-like of shape (n_rows, n_tests)
            Raw values. Numbers are compared with thresholds, everything else branches
            by value; NaN and None are missing. ``BudgetForestClassifier``,
            ``GreedyTreeClassifier`` and ``BudgetBoostClassifier`` also take a
            :class:`CodeStore`, in place of rows and classes.
        y : array-like of shape (n_rows,)
            The class of each row, or the number that a regressor predicts. A store has
            classes of its own.
        sample_weight : array-like of shape (n_rows,), optional
            The weight of each row.
        X_valid, y_valid : optional
            Validation rows, which are not learned from. A learner that has something
            to choose, such as how many trees a budget allows, chooses on them; without
            them it sets some of the rows aside. ``point_`` tells what the model costs
            and how often it errs on them.
        eval_set : pair of X_valid and y_valid, or a list of one, optional
            Validation rows as LightGBM and XGBoost take them:
            ``eval_set=[(X_valid, y_valid)]``.
        verbose : bool, default=False
            Print how a long fit goes.
        callbacks : callable or several, optional
            Each is called with a :class:`~askless.solve.Progress` at every step of a
            long fit: what was tried, and the best so far. One that returns True ends
            it with the best so far.

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        examples, learned = self._read(
            X,
            y,
            sample_weight,
            (X_valid, y_valid, eval_set),
            Reporter(callbacks, verbose=verbose),
        )
        self.point_ = None
        self._learn(examples)
        for name, value in learned.items():
            setattr(self, name, value)
        if self.point_ is None and examples.valid is not None:
            self.point_ = self._measure(examples, examples.valid)
        return self


class PolicyEstimator(CostEstimator):
    """Base of the estimators that learn a policy and let it decide."""

    policy_: Policy

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """How much each column moves what the model says; adds up to 1.

        ``policy_.importances(X, y, by="saving")`` says what each of them saves.
        """
        found = self._policy.importances()
        return np.array(list(found.values()))

    def cost(self, X: Any) -> NDArray[np.float64]:
        """Return what each row pays for the tests that it is asked."""
        return self._policy.cost(self._rows(X), n_jobs=self.n_jobs)

    @property
    def _policy(self) -> Policy:
        check_is_fitted(self)
        policy: Policy = self.policy_
        return policy

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


class CostClassifier(ClassifierMixin, LearningEstimator):
    """Base of all classifiers: reads what ``fit`` is given, and prices decisions.

    Subclasses set ``costs``, ``mistakes`` and ``n_jobs`` in ``__init__``, and say how
    to learn (``_learn``) and what rows are decided and pay (``_run``).
    """

    mistakes: Any
    class_weight: Any = None
    # Whether it weighs mistakes on a class instead of rows.
    _prices_classes: ClassVar[bool] = False

    @abstractmethod
    def _mistake_matrix(self) -> NDArray[np.float64] | None:
        """Return what mistakes cost, if that is known."""

    def _read(
        self, X: Any, y: Any, sample_weight: Any, valid: Validation, reporter: Reporter
    ) -> tuple[Examples, dict[str, Any]]:
        # A warm start goes on from what was learned, and so keeps the columns.
        is_warm = getattr(self, "warm_start", False) and hasattr(self, "classes_")
        is_store = isinstance(X, CodeStore)
        if is_store:
            self._check_store(X, y, sample_weight)
            known = read_stored_rows(self, X, reset=not is_warm)
        else:
            known = read_known_rows(self, X, y, sample_weight, reset=not is_warm)
        rows, names, classes = known
        X_valid, y_valid, eval_set = valid
        settled = (
            rows,
            names,
            tuple(classes.tolist()),
            settle_costs(self.costs, len(names), self.mistakes),
            count_threads(self.n_jobs),
            read_validation_rows(self, X_valid, y_valid, classes, eval_set),
            reporter,
        )
        examples = (
            StoredExamples(*settled, coded=X.code()) if is_store else Examples(*settled)
        )
        if not self._prices_classes:
            examples = weigh_classes(examples, self.class_weight)
        return examples, {"classes_": classes}

    def _measure(self, examples: Examples, valid: KnownRows) -> ValidationPoint:
        decided, paid = self._run(valid.values)
        return measure_rows(valid, decided, paid, examples.classes)

    def _check_store(self, store: CodeStore, y: Any, sample_weight: Any) -> None:
        if not self._reads_codes:
            raise InvalidOptionError(
                f"{type(self).__name__} must be given rows. Got a store of codes. Read "
                "the rows into memory, or use BudgetForestClassifier, "
                "GreedyTreeClassifier or BudgetBoostClassifier."
            )
        if any(given is not None for given in (y, sample_weight, self.class_weight)):
            raise InvalidOptionError(
                "A store must be given alone: it has its classes, and no weights. Got "
                "y, sample_weight or class_weight as well. Leave them out."
            )

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
        decided, paid = self.predict_and_cost(X)
        classes = tuple(self.classes_.tolist())
        true = column_or_1d(y)
        return paid + mistake_costs(true, decided, classes, self._mistake_matrix())


class PolicyClassifier(CostClassifier, PolicyEstimator):
    """Base of the classifiers that learn a policy and let it decide.

    Subclasses grow a policy from examples in ``_grow``.
    """

    @abstractmethod
    def _grow(self, examples: Examples) -> Policy:
        """Return a policy grown on examples; see ``_learn`` for validation rows."""

    # Whether rows are drawn by their place; then their order must not matter.
    _draws_rows: ClassVar[bool] = False

    def _learn(self, examples: Examples) -> None:
        if self._draws_rows and not isinstance(examples, StoredExamples):
            examples = settle_order(examples)
        self.policy_ = self._grow_within(examples)
        # One class leaves a policy nothing to say, and surprises nobody.
        reason = self._explain_degenerate() if len(examples.classes) > 1 else None
        if reason is not None:
            warnings.warn(reason, DegeneratePolicyWarning, stacklevel=count_frames())

    # What every row may cost, and whether the learner keeps it while it grows.
    max_cost: float | None = None
    _keeps_max_cost: ClassVar[bool] = False

    def _grow_within(self, examples: Examples) -> Policy:
        """Return a policy in which no row pays more than ``max_cost``."""
        most = check_max_cost(self.max_cost)
        if most is None or self._keeps_max_cost:
            return self._grow(examples)
        return limit_policy(self._grow(hide_dear_tests(examples, most)), most)

    def _explain_degenerate(self) -> str | None:
        """Return why the policy has nothing to say, or None if it has."""
        return explain_degenerate(self.policy_)

    def _run(self, values: Values) -> tuple[NDArray[Any], NDArray[np.float64]]:
        decided, paid = self.policy_.predict_and_cost(values, n_jobs=self.n_jobs)
        return decided.astype(self.classes_.dtype, copy=False), paid

    def _mistake_matrix(self) -> NDArray[np.float64] | None:
        return self.policy_.mistakes

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the decision for each row."""
        decided = self._policy.predict(self._rows(X), n_jobs=self.n_jobs)
        return decided.astype(self.classes_.dtype, copy=False)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the share of each class of ``classes_`` where each row ends."""
        return self._policy.predict_proba(self._rows(X), n_jobs=self.n_jobs)
