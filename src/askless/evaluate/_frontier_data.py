"""Read the rows, costs, budgets, folds and metric of a frontier.

This module must not know which models are measured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidOptionError, InvalidTableError
from askless.problem import Costs, PriceList, Test, as_costs
from askless.problem._column import is_number
from askless.problem._frames import Columns, clean_columns, column_names, is_frame

__all__ = [
    "FrontierData",
    "Metric",
    "choose_budgets",
    "list_folds",
    "make_metric",
    "read_data",
]

Metric = Callable[[NDArray[Any], NDArray[Any]], float]


@dataclass(frozen=True)
class FrontierData:
    """Rows as models take them, and what their tests cost.

    Attributes
    ----------
    X : frame, or ndarray of shape (n_rows, n_tests)
        Raw values.
    y : ndarray of shape (n_rows,)
        The class of each row.
    given : Costs, mapping, sequence or None
        The costs that were given, for models that take costs.
    costs : Costs
        The same; 1 each if none were given.
    prices : PriceList
        What each test charges.
    """

    X: Any
    y: NDArray[Any]
    given: Any
    costs: Costs
    prices: PriceList


def read_data(X: Any, y: Any, costs: Any) -> FrontierData:
    """Return rows and costs, checked."""
    labels = np.asarray(y)
    columns = clean_columns(X) if isinstance(X, Mapping) else None
    names, n_rows = _describe(X if columns is None else columns)
    if len(labels) != n_rows or n_rows == 0:
        raise InvalidTableError(
            f"Every row must have a class, and there must be rows. Got {n_rows} rows "
            f"and {len(labels)} classes. Check y."
        )
    if columns is not None:
        # Any estimator takes a matrix, whose columns are called by number.
        if costs is not None:
            costs = _number_names(as_costs(costs, len(names)), names)
        X, names = _as_matrix(columns), [f"x{i}" for i in range(len(names))]
    settled = as_costs(costs, len(names))
    tests = tuple(Test(name, "number") for name in names)
    return FrontierData(X, labels, costs, settled, settled.price_list(tests))


def _describe(X: Any) -> tuple[list[str], int]:
    if isinstance(X, Mapping):
        return list(X), len(next(iter(X.values()), ()))
    if is_frame(X):
        return column_names(X), len(X)
    array = np.asarray(X)
    if array.ndim != 2:
        raise InvalidTableError(
            f"X must have two dimensions. Got the shape {array.shape}. Pass a frame, "
            "or a row for each case."
        )
    return [f"x{i}" for i in range(array.shape[1])], len(array)


def _as_matrix(columns: Columns) -> NDArray[Any]:
    """Return columns as a matrix of floats, or of objects if some are not numbers."""
    arrays = list(columns.values())
    is_numeric = all(map(is_number, arrays))
    matrix = np.empty(
        (len(arrays[0]), len(arrays)), dtype=np.float64 if is_numeric else object
    )
    for i, array in enumerate(arrays):
        matrix[:, i] = array
    return matrix


def _number_names(costs: Costs, names: list[str]) -> Costs:
    """Return the same costs for columns that are called by their number."""
    numbers: dict[str | int, str] = {name: f"x{i}" for i, name in enumerate(names)}
    return costs.renamed(numbers | {i: f"x{i}" for i in range(len(names))})


def choose_budgets(budgets: Any, prices: PriceList) -> list[float]:
    """Return the budgets to measure at, given or between the cheapest test and all."""
    if budgets is not None and not isinstance(budgets, int):
        listed = sorted({float(budget) for budget in budgets})
        if not listed or not all(0 <= b < np.inf for b in listed):
            raise InvalidOptionError(
                f"budgets must be numbers >= 0. Got {budgets!r}. They are in the unit "
                "of the costs."
            )
        return listed
    n_budgets = 8 if budgets is None else budgets
    if n_budgets < 1:
        raise InvalidOptionError(
            f"There must be a budget. Got {n_budgets}. Ask for at least one."
        )
    total = prices.cost_of_all()
    positive = prices.full[prices.full > 0]
    cheapest = float(positive.min()) if positive.size else 0.0
    if cheapest == 0 or total <= cheapest:
        return [total]
    return [float(b) for b in np.geomspace(cheapest, total, n_budgets)]


def make_metric(metric: str | Metric, costs: Costs, classes: Any) -> Metric:
    """Return a function of the true and the decided classes; smaller is better."""
    if callable(metric):
        return metric
    if metric == "error":
        return lambda true, decided: float(np.mean(true != decided))
    if metric == "squared":
        return lambda true, said: float(np.mean((true - said) ** 2))
    if metric == "absolute":
        return lambda true, said: float(np.mean(np.abs(true - said)))
    matrix = costs.mistake_matrix(tuple(classes.tolist()))
    if metric != "mistakes" or matrix is None:
        raise InvalidOptionError(
            "metric must be 'error', 'mistakes' where the costs price mistakes, "
            "'squared' or 'absolute' of numbers, or a function of the true and the "
            f"decided classes. Got {metric!r}. Leave it out to count errors."
        )

    def price(true: NDArray[Any], decided: NDArray[Any]) -> float:
        rows, columns = (
            np.searchsorted(classes, true),
            np.searchsorted(classes, decided),
        )
        return float(matrix[rows, columns].mean())

    return price


def list_folds(
    cv: Any, y: NDArray[Any], random_state: int, *, is_number: bool = False
) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Return the rows to learn from and the rows to measure on, for each fold."""
    from sklearn.model_selection import KFold, StratifiedKFold

    if isinstance(cv, int) and is_number:
        if not 2 <= cv <= len(y):
            raise InvalidOptionError(
                f"There must be from 2 folds to {len(y)}, the number of rows. Got "
                f"cv={cv}. 5 is usual."
            )
        cv = KFold(cv, shuffle=True, random_state=random_state)
    if isinstance(cv, int):
        smallest = int(np.unique(y, return_counts=True)[1].min())
        if not 2 <= cv <= smallest:
            raise InvalidOptionError(
                "There must be at least 2 folds, and a row of each class for each of "
                f"them. Got cv={cv}, and {smallest} rows of the rarest class. Use "
                "fewer folds, or leave the class out."
            )
        cv = StratifiedKFold(cv, shuffle=True, random_state=random_state)
    return list(cv.split(np.zeros(len(y)), y))
