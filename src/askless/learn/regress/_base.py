"""What every regressor of Askless shares: ``fit``, and predicting by its policy.

The numbers stand where the classes of other learners stand, in ``KnownRows.class_ids``.
This module must not know how any learner grows its policy.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from askless._progress import Reporter
from askless.exceptions import DegeneratePolicyWarning, InvalidOptionError
from askless.learn._base import LearningEstimator, PolicyEstimator, Validation
from askless.learn._checks import check_number
from askless.learn._examples import Examples, KnownRows, Values
from askless.learn._mistakes import settle_number_costs
from askless.learn._reading import read_number_rows, read_valid_numbers
from askless.learn._row_order import settle_order
from askless.learn._stages import count_frames
from askless.learn._validation import ValidationPoint, summarise_rows
from askless.learn.regress._losses import find_loss
from askless.learn.store._code_store import CodeStore
from askless.policy import Policy, explain_degenerate
from askless.problem._jobs import count_threads

__all__ = ["PolicyRegressor"]


class PolicyRegressor(RegressorMixin, LearningEstimator, PolicyEstimator):
    """Base of the learners of numbers.

    Subclasses set ``costs``, ``loss``, ``mistakes`` and ``n_jobs`` in ``__init__``, and
    grow a policy from examples in ``_grow``.
    """

    loss: str
    mistakes: float | None
    # Whether rows are drawn by their place; then their order must not matter.
    _draws_rows: ClassVar[bool] = False

    @abstractmethod
    def _grow(self, examples: Examples) -> Policy:
        """Return a policy grown on examples. Sets ``point_`` if it chooses on rows."""

    def _read(
        self, X: Any, y: Any, sample_weight: Any, valid: Validation, reporter: Reporter
    ) -> tuple[Examples, dict[str, Any]]:
        if isinstance(X, CodeStore):
            raise InvalidOptionError(
                f"{type(self).__name__} must be given rows. Got a store of codes, "
                "which has classes and no numbers. Read the rows into memory."
            )
        find_loss(self.loss)
        if self.mistakes is not None:
            check_number("mistakes", self.mistakes, least=0.0)
        rows, names = read_number_rows(self, X, y, sample_weight)
        examples = Examples(
            rows,
            names,
            (),
            settle_number_costs(self.costs, len(names)),
            count_threads(self.n_jobs),
            read_valid_numbers(self, *valid),
            reporter,
        )
        return examples, {}

    def _learn(self, examples: Examples) -> None:
        self.policy_ = self._grow(
            settle_order(examples) if self._draws_rows else examples
        )
        reason = self._explain_degenerate(examples)
        if reason is not None:
            warnings.warn(reason, DegeneratePolicyWarning, stacklevel=count_frames())

    def _explain_degenerate(self, examples: Examples) -> str | None:
        """Return why the policy has nothing to say, or None if it has."""
        numbers = examples.rows.class_ids
        # One number leaves a policy nothing to say, and surprises nobody.
        if numbers.min() == numbers.max():
            return None
        return explain_degenerate(self.policy_)

    def _measure(self, examples: Examples, valid: KnownRows) -> ValidationPoint:
        said, paid = self._run(valid.values)
        errors = find_loss(self.loss).errors(said, valid.class_ids)
        return ValidationPoint(**summarise_rows(paid, errors, valid.weights))

    def _run(self, values: Values) -> tuple[NDArray[Any], NDArray[np.float64]]:
        return self.policy_.predict_and_cost(values, n_jobs=self.n_jobs)
