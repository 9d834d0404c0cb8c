"""The result of an evaluation: exact numbers, and the cost of every case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidOptionError
from askless.problem._frames import make_frame

__all__ = ["Evaluation"]


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """What a policy costs and how often it is wrong.

    Attributes
    ----------
    expected_cost : float
        Mean cost of the tests.
    worst_cost : float
        Largest cost that any case can come to.
    error : float
        Share of the weight that is decided wrongly; NaN if the classes are not known,
        or if the policy says numbers.
    mistake_cost : float or None
        Mean cost of wrong decisions; None if the policy has no mistake costs.
    case_cost : ndarray of shape (n_cases,)
        Expected cost of each case.
    case_worst : ndarray of shape (n_cases,)
        Largest cost of each case.
    case_error : ndarray of shape (n_cases,)
        Chance that each case is decided wrongly; of numbers, how far off each one is.
    costs, weights : ndarray
        The distribution of the cost: different costs, ascending, and their weights.
    is_exact : bool
        Whether the numbers are computed, not sampled. What is said of each case is then
        not known (NaN).
    margin : float
        Half the width of the 99 % interval of a sampled expected cost, else 0.
    squared_error, absolute_error : float
        Of a policy that says numbers: the mean of the squares of the differences from
        the true ones, and of their sizes. NaN elsewhere.

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
    squared_error: float = float("nan")
    absolute_error: float = float("nan")

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

    def __str__(self) -> str:
        kind = "cases" if self.is_exact else "cases, sampled"
        lines = [
            f"{self.n_cases:,} {kind}",
            f"  expected cost  {self.expected_cost:.4g}"
            + (f" ± {self.margin:.2g}" if self.margin else "")
            + f"  (half of them within {self.quantile(0.5):.4g}, 90 % within "
            f"{self.quantile(0.9):.4g})",
            f"  worst cost     {self.worst_cost:.4g}",
        ]
        if not np.isnan(self.error):
            lines.append(f"  error          {100 * self.error:.3g} %")
        if not np.isnan(self.squared_error):
            lines.append(
                f"  error          {self.absolute_error:.4g} on average, "
                f"{self.squared_error:.4g} squared"
            )
        if self.mistake_cost is not None and not np.isnan(self.mistake_cost):
            lines.append(
                f"  mistakes       {self.mistake_cost:.4g}, with the tests "
                f"{self.total_cost:.4g}"
            )
        return "\n".join(lines)

    def __repr__(self) -> str:
        error = "" if np.isnan(self.error) else f", error {100 * self.error:.3g} %"
        if not np.isnan(self.squared_error):
            error = f", absolute error {self.absolute_error:.4g}"
        return (
            f"Evaluation({self.n_cases:,} cases, expected cost "
            f"{self.expected_cost:.4g}, worst cost {self.worst_cost:.4g}{error})"
        )

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return the cases as a dataframe of pandas or polars, a row for each.

        Its columns are the expected cost, the worst cost and the chance of an error.

        Examples
        --------
        >>> import askless
        >>> table = askless.Table([[0, 0], [0, 1], [1, 1]], ["a", "b", "c"])
        >>> result = askless.evaluate(askless.solve(table).policy, table)
        >>> print(result)
        3 cases
          expected cost  1.667  (half of them within 2, 90 % within 2)
          worst cost     2
          error          0 %
        >>> result.to_frame()["cost"].tolist()
        [2.0, 2.0, 1.0]
        """
        columns = {
            "cost": self.case_cost,
            "worst": self.case_worst,
            "error": self.case_error,
        }
        return make_frame(columns, backend)

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
            **self._sizes_of_errors(),
        }

    def _sizes_of_errors(self) -> dict[str, float]:
        """Return the errors of a policy that says numbers, by name."""
        if np.isnan(self.squared_error):
            return {}
        return {
            "squared_error": self.squared_error,
            "absolute_error": self.absolute_error,
        }
