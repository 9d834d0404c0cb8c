"""Score estimators by what they cost: for ``cross_val_score`` and ``GridSearchCV``.

Scorers are negative costs, because scikit-learn takes the largest. This module must not
know how any learner works.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d

from askless.exceptions import InvalidOptionError
from askless.problem import Costs

__all__ = [
    "CostScorer",
    "make_cost_scorer",
    "mistake_costs",
    "neg_normalised_cost",
    "neg_test_cost",
    "neg_total_cost",
    "standard_cost",
]


def mistake_costs(
    true: Any,
    decided: Any,
    classes: tuple[Hashable, ...],
    mistakes: NDArray[np.float64] | None,
) -> NDArray[np.float64]:
    """Return what each decision costs, given the true classes.

    Parameters
    ----------
    true, decided : array-like of shape (n_rows,)
        The true class of each row, and the decision.
    classes : tuple
        The classes that the matrix speaks of, in order.
    mistakes : ndarray of shape (n_classes, n_classes)
        ``mistakes[true][decision]``. A true class that is not among `classes` is
        priced only if all mistakes cost the same.

    Examples
    --------
    >>> mistake_costs(["a", "b"], ["b", "b"], ("a", "b"), 5 * (1 - np.eye(2)))
    array([5., 0.])
    """
    if mistakes is None:
        raise InvalidOptionError(
            "To price mistakes, it must be known what they cost. Got an estimator "
            "without costs of mistakes. Give it mistakes=..., or use "
            "make_cost_scorer(mistakes=...)."
        )
    index = {known: i for i, known in enumerate(classes)}
    truth = np.array([index.get(v, -1) for v in np.asarray(true).tolist()], dtype=int)
    choice = np.array([index[v] for v in np.asarray(decided).tolist()], dtype=int)
    is_new = truth < 0
    paid = np.asarray(mistakes)[truth, choice]
    if is_new.any():
        off_diagonal = mistakes[~np.eye(len(classes), dtype=bool)]
        if off_diagonal.size == 0 or np.ptp(off_diagonal) > 0:
            new = np.asarray(true).tolist()[int(np.argmax(is_new))]
            raise InvalidOptionError(
                "To price mistakes, every true class must have been seen in training. "
                f"Got {new!r}. Leave such rows out, or let all mistakes cost the "
                "same."
            )
        paid = np.where(is_new, off_diagonal[0], paid)
    return np.asarray(paid, dtype=np.float64)


def standard_cost(
    cost_of_all: float,
    y: Any,
    mistakes: NDArray[np.float64],
    sample_weight: Any = None,
) -> float:
    """Return the cost that Turney measures others by.

    It is that of all tests, and of deciding for the most frequent class at the dearest
    mistake.

    Examples
    --------
    >>> standard_cost(10.0, ["a", "a", "a", "b"], 20 * (1 - np.eye(2)))
    15.0
    """
    _, where = np.unique(np.asarray(y), return_inverse=True)
    totals = np.bincount(where.ravel(), weights=sample_weight)
    return cost_of_all + (1.0 - float(totals.max() / totals.sum())) * float(
        mistakes.max()
    )


@dataclass(frozen=True)
class CostScorer:
    """A scorer: minus the mean cost of rows.

    Parameters
    ----------
    part : {"total", "tests"}
        Tests and mistakes, or tests alone.
    is_normalised : bool
        Whether the cost is divided by the standard cost of the rows.
    mistakes : number, matrix or mapping, optional
        What mistakes cost; those of the estimator by default.
    """

    part: str = "total"
    is_normalised: bool = False
    mistakes: Any = None

    def __call__(
        self, estimator: Any, X: Any, y: Any = None, sample_weight: Any = None
    ) -> float:
        """Return the score of a fitted estimator."""
        matrix = None
        classes = tuple(np.asarray(estimator.classes_).tolist())
        if self.part == "total" or self.is_normalised:
            y = column_or_1d(y)
            matrix = self._matrix(estimator, classes)
        if self.part == "total":
            decided, paid = estimator.predict_and_cost(X)
            paid = paid + mistake_costs(y, decided, classes, matrix)
        else:
            paid = estimator.cost(X)
        mean = float(np.average(paid, weights=sample_weight))
        if self.is_normalised and matrix is not None:
            every = estimator.policy_.prices.cost_of_all()
            mean /= standard_cost(every, y, matrix, sample_weight)
        return -mean

    def _matrix(
        self, estimator: Any, classes: tuple[Hashable, ...]
    ) -> NDArray[np.float64] | None:
        if self.mistakes is None:
            found: NDArray[np.float64] | None = estimator.policy_.mistakes
            return found
        # Only the mistakes matter here; a price must be there.
        return Costs([0.0], mistakes=self.mistakes).mistake_matrix(classes)


def make_cost_scorer(
    *, mistakes: Any = None, part: str = "total", normalised: bool = False
) -> CostScorer:
    """Make a scorer that prices mistakes the same for every estimator.

    Parameters
    ----------
    mistakes : number, matrix or mapping, default=None
        What mistakes cost, see :class:`~askless.Costs`; each estimator's own by
        default.
    part : {"total", "tests"}, default="total"
        Tests and mistakes, or tests alone.
    normalised : bool, default=False
        Whether to divide by the standard cost of the rows, after Turney: all tests, and
        always deciding for the most frequent class at the dearest mistake.

    Examples
    --------
    >>> from askless import GreedyTreeClassifier
    >>> tree = GreedyTreeClassifier([1]).fit([[0], [1]], ["a", "b"])
    >>> make_cost_scorer(mistakes=8)(tree, [[0], [0]], ["a", "b"])
    -5.0
    """
    if part not in ("total", "tests"):
        raise InvalidOptionError(
            f"part must be 'total' or 'tests'. Got {part!r}. 'total' adds what "
            "mistakes cost."
        )
    return CostScorer(part, normalised, mistakes)


neg_total_cost = CostScorer()
neg_test_cost = CostScorer(part="tests")
neg_normalised_cost = CostScorer(is_normalised=True)
