"""What a policy does on validation rows: its mean cost, and how often it is wrong.

This module must not know how a policy was learned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.learn._examples import KnownRows
from askless.problem import Outcome

__all__ = ["ValidationPoint", "measure_rows", "standard_error", "summarise_rows"]


@dataclass(frozen=True, kw_only=True)
class ValidationPoint:
    """What a policy costs and how often it is wrong, on validation rows.

    Attributes
    ----------
    cost : float
        Mean cost of a row.
    cost_spread : float
        Standard deviation of the cost from row to row.
    cost_stderr : float
        Standard error of the mean cost; infinite for a single row.
    error : float
        Share of the rows that is decided wrongly; NaN if their classes are not known.
        Of numbers, their mean squared, or absolute, error.
    n_rows : int
        How many rows it was measured on.

    Examples
    --------
    >>> from askless import GreedyTreeClassifier
    >>> X, y = [[1], [2], [8], [9]], ["low", "low", "high", "high"]
    >>> tree = GreedyTreeClassifier([3]).fit(X, y, X_valid=X, y_valid=y)
    >>> tree.point_.cost, tree.point_.error
    (3.0, 0.0)
    """

    cost: float
    cost_spread: float
    cost_stderr: float
    error: float
    n_rows: int


def standard_error(
    spread: float, n_rows: int, weights: NDArray[np.float64] | None = None
) -> float:
    """Return the standard error of a mean over rows.

    Parameters
    ----------
    spread : float
        Standard deviation from row to row, divided by the number of rows.
    n_rows : int
        How many rows there are.
    weights : ndarray of shape (n_rows,), optional
        The weight of each row.

    Examples
    --------
    >>> standard_error(2.0, 5), standard_error(2.0, 1)
    (1.0, inf)
    """
    n_effective = float(n_rows)
    if weights is not None:
        # The number of rows of equal weight that would say as much.
        n_effective = float(weights.sum() ** 2 / (weights**2).sum())
    return spread / (n_effective - 1) ** 0.5 if n_effective > 1 else float("inf")


def summarise_rows(
    cost: NDArray[np.float64],
    is_wrong: NDArray[Any] | None,
    weights: NDArray[np.float64] | None = None,
) -> dict[str, Any]:
    """Return the fields of a point, given what each row pays and whether it is wrong.

    Parameters
    ----------
    cost : ndarray of shape (n_rows,)
        What each row pays.
    is_wrong : ndarray of shape (n_rows,) or None
        Whether it is decided wrongly, or how large its error is, if that is known.
    weights : ndarray of shape (n_rows,), optional
        The weight of each row.

    Examples
    --------
    >>> found = summarise_rows(np.array([1.0, 3.0]), np.array([True, False]))
    >>> ValidationPoint(**found)
    ValidationPoint(cost=2.0, cost_spread=1.0, cost_stderr=1.0, error=0.5, n_rows=2)
    """
    if weights is None:
        mean, spread = float(cost.mean()), float(cost.std())
    else:
        mean = float(np.average(cost, weights=weights))
        spread = float(np.average((cost - mean) ** 2, weights=weights)) ** 0.5
    error = float("nan")
    if is_wrong is not None:
        error = float(np.average(is_wrong, weights=weights))
    return {
        "cost": mean,
        "cost_spread": spread,
        "cost_stderr": standard_error(spread, len(cost), weights),
        "error": error,
        "n_rows": len(cost),
    }


def measure_rows(
    rows: KnownRows,
    decided: NDArray[Any],
    paid: NDArray[np.float64],
    classes: tuple[Outcome, ...],
) -> ValidationPoint:
    """Return what decisions on rows of known class come to.

    Parameters
    ----------
    rows : KnownRows
        The rows.
    decided, paid : ndarray of shape (n_rows,)
        What each row was decided, and paid.
    classes : tuple
        What the class numbers of the rows stand for.
    """
    both = zip(rows.class_ids.tolist(), decided.tolist(), strict=True)
    is_wrong = [true < 0 or classes[true] != decision for true, decision in both]
    return ValidationPoint(**summarise_rows(paid, np.array(is_wrong), rows.weights))
