"""The result of an evaluation: exact numbers, and the cost of every case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidOptionError

__all__ = ["Evaluation"]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What a policy costs and how often it is wrong.

    Attributes
    ----------
    expected_cost : float
        Mean cost of the tests.
    worst_cost : float
        Largest cost that any case can come to.
    error : float
        Share of the weight that is decided wrongly; NaN if the classes are not known.
    mistake_cost : float or None
        Mean cost of wrong decisions; None if the policy has no mistake costs.
    case_cost : ndarray of shape (n_cases,)
        Expected cost of each case.
    case_worst : ndarray of shape (n_cases,)
        Largest cost of each case.
    case_error : ndarray of shape (n_cases,)
        Chance that each case is decided wrongly.
    costs, weights : ndarray
        The distribution of the cost: different costs, ascending, and their weights.
    is_exact : bool
        Whether the numbers are computed, not sampled. What is said of each case is then
        not known (NaN).
    margin : float
        Half the width of the 99 % interval of a sampled expected cost, else 0.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0, 0], [0, 1], [1, 1]], ["a", "b", "c"])
    >>> result = askless.evaluate(askless.solve(table).policy, table)
    >>> result.case_cost, result.quantile(0.5)
    (array([2., 2., 1.]), 2.0)
    """

    expected_cost: float
    worst_cost: float
    error: float
    mistake_cost: float | None
    case_cost: NDArray[np.float64]
    case_worst: NDArray[np.float64]
    case_error: NDArray[np.float64]
    costs: NDArray[np.float64]
    weights: NDArray[np.float64]
    is_exact: bool = True
    margin: float = 0.0

    @property
    def n_cases(self) -> int:
        """How many cases or rows were evaluated."""
        return len(self.case_cost)

    @property
    def total_cost(self) -> float:
        """Mean cost of tests and wrong decisions together."""
        return self.expected_cost + (self.mistake_cost or 0.0)

    def quantile(self, share: float) -> float:
        """Return the least cost that at least this share of the weight stays within.

        Examples
        --------
        >>> import askless
        >>> table = askless.Table([[0], [1]], ["a", "b"], costs=[3])
        >>> askless.evaluate(askless.solve(table).policy, table).quantile(0.9)
        3.0
        """
        if not 0 <= share <= 1:
            raise InvalidOptionError(
                f"share must be from 0 to 1. Got {share!r}. The median is at 0.5."
            )
        reached = np.cumsum(self.weights) >= share - 1e-12
        return float(
            self.costs[np.argmax(reached)] if reached.any() else self.costs[-1]
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain numbers, for JSON; None for what is not known."""
        return {
            "n_cases": self.n_cases,
            "expected_cost": self.expected_cost,
            "worst_cost": self.worst_cost,
            "quantiles": {
                f"{q:g}": self.quantile(q) for q in (0.25, 0.5, 0.75, 0.9, 0.99)
            },
            "error": None if np.isnan(self.error) else self.error,
            "mistake_cost": self.mistake_cost,
            "total_cost": self.total_cost,
            "is_exact": self.is_exact,
            **({} if self.is_exact else {"margin": self.margin}),
        }
