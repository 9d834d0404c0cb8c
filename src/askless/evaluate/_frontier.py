"""Error against cost, for many models, by cross-validation.

A model is anything with ``fit`` and ``predict``; one with ``cost`` says what each row
pays, any other is taken to buy every test. This module must not know how models learn,
nor how a frontier is drawn.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.evaluate._frontier_points import Frontier, FrontierPoint
from askless.exceptions import InvalidOptionError, InvalidTableError
from askless.problem import Costs, as_costs
from askless.problem._column import is_number
from askless.problem._frames import clean_columns, column_names, is_frame, take_rows

__all__ = ["frontier"]

Metric = Callable[[NDArray[Any], NDArray[Any]], float]


def frontier(
    models: Any,
    X: Any,
    y: Any,
    costs: Any = None,
    *,
    cv: Any = 5,
    metric: str | Metric = "error",
    budgets: Sequence[float] | int | None = None,
    confidence: float = 0.95,
    random_state: int = 0,
    on_progress: Callable[[str], None] | None = None,
) -> Frontier:
    """Measure how error falls with cost, for many models on the same folds.

    Parameters
    ----------
    models : estimator, sequence of estimators, or mapping of names to either
        What to compare. A sequence under one name is a curve: the same model at several
        settings. A model with a parameter ``budget`` that is None is fitted for each
        of the ``budgets``; one that can tell a policy for any budget after one fit
        (``at_budget``) is fitted once in each fold.
    X : frame, mapping of columns, or array-like of shape (n_rows, n_tests)
        Raw values.
    y : array-like of shape (n_rows,)
        The class of each row.
    costs : Costs, mapping or sequence, optional
        What each test costs; 1 each by default. Set on every model that has a parameter
        ``costs`` which is None, and the price of all tests is charged for models that
        cannot say what a row pays.
    cv : int or splitter, default=5
        How many folds, stratified by class, or a splitter of scikit-learn.
    metric : {"error", "mistakes"} or callable, default="error"
        The share of wrong decisions, their mean cost, or ``metric(y_true, y_pred)``;
        smaller is better.
    budgets : sequence of float or int, optional
        Which budgets, or how many between the cheapest test and all tests; 8 by
        default.
    confidence : float, default=0.95
        Of the intervals. They are those of the mean over the folds by Student's t;
        folds share training rows, so take them as a guide.
    random_state : int, default=0
        Draws the folds.
    on_progress : callable, optional
        Told in a few words what is being fitted.

    Returns
    -------
    Frontier
        A point for each model and setting.

    Examples
    --------
    >>> import askless
    >>> clinic = askless.datasets.make_clinic(400, random_state=0)
    >>> shallow, deep = (
    ...     askless.GreedyTreeClassifier(max_depth=depth) for depth in (1, 4)
    ... )
    >>> found = frontier({"tree": [shallow, deep]}, clinic.to_frame(), clinic.y,
    ...                  clinic.costs, cv=3)
    >>> [point.setting for point in found.points]
    ['max_depth=1', 'max_depth=4']
    >>> found.points[0].cost < found.points[1].cost
    True
    """
    if not 0 < confidence < 1:
        raise InvalidOptionError(
            f"confidence must be between 0 and 1. Got {confidence!r}. 0.95 is usual."
        )
    curves = _name_models(models)
    labels = np.asarray(y)
    X = clean_columns(X) if isinstance(X, Mapping) else X
    names, n_rows = _describe(X)
    if isinstance(X, Mapping):
        # Estimators take frames and arrays; columns of an array are called by number.
        if costs is not None:
            costs = _number_names(as_costs(costs, len(names)), names)
        X, names = _as_matrix(X), [f"x{i}" for i in range(len(names))]
    if len(labels) != n_rows or n_rows == 0:
        raise InvalidTableError(
            f"Every row must have a class, and there must be rows. Got {n_rows} rows "
            f"and {len(labels)} classes. Check y."
        )
    settled = as_costs(costs, len(names))
    total = _price_of_all(settled, names)
    targets = _choose_budgets(budgets, settled, names, total)
    judge = _make_metric(metric, settled, np.unique(labels))
    folds = list(_split(cv, labels, random_state))
    measured: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for number, (train, test) in enumerate(folds):
        for name, settings in curves.items():
            for model, setting in settings:
                if on_progress is not None:
                    on_progress(f"fold {number + 1} of {len(folds)}, {name} {setting}")
                fitted = _fit_at(
                    model, setting, take_rows(X, train), labels[train], costs, targets
                )
                for label, policy in fitted:
                    rows = take_rows(X, test)
                    decided = np.asarray(policy.predict(rows))
                    measured.setdefault((name, label), []).append(
                        (
                            _mean_cost(policy, rows, total),
                            float(judge(labels[test], decided)),
                        )
                    )
    points = [
        _summarise(name, setting, np.array(pairs), confidence)
        for (name, setting), pairs in measured.items()
    ]
    return Frontier(
        tuple(points),
        metric=metric if isinstance(metric, str) else metric.__name__,
        confidence=confidence,
        cost_of_all=total,
        n_folds=len(folds),
    )


# Models.


def _name_models(models: Any) -> dict[str, list[tuple[Any, str]]]:
    """Return the models of each curve with the setting of each."""
    if not isinstance(models, Mapping):
        listed = models if isinstance(models, (list, tuple)) else [models]
        named: dict[str, list[Any]] = {}
        for model in listed:
            named.setdefault(type(model).__name__, []).append(model)
        models = named
    if not models:
        raise InvalidOptionError(
            "There must be a model to measure. Got none. Pass an estimator."
        )
    curves = {}
    for name, given in models.items():
        settings = list(given) if isinstance(given, (list, tuple)) else [given]
        for model in settings:
            if not hasattr(model, "fit") or not hasattr(model, "predict"):
                raise InvalidOptionError(
                    "A model must have fit and predict. Got "
                    f"{type(model).__name__} under {name!r}. Pass an estimator."
                )
        curves[str(name)] = list(zip(settings, _tell_apart(settings), strict=True))
    return curves


def _tell_apart(models: list[Any]) -> list[str]:
    """Return, for each model of a curve, the parameters that it alone has."""
    every = [
        model.get_params() if hasattr(model, "get_params") else {} for model in models
    ]
    keys = [
        key
        for key in (every[0] if every else {})
        if len({repr(params.get(key)) for params in every}) > 1
    ]
    texts = [
        ", ".join(f"{key}={params.get(key)!r}" for key in keys) for params in every
    ]
    if len(models) > 1 and len(set(texts)) < len(texts):
        return [str(i + 1) for i in range(len(models))]
    return texts


def _fit_at(
    model: Any,
    setting: str,
    X: Any,
    y: NDArray[Any],
    costs: Any,
    budgets: list[float],
) -> Iterator[tuple[str, Any]]:
    """Yield fitted models: one, or one for each budget."""
    from sklearn.base import clone

    params = model.get_params() if hasattr(model, "get_params") else {}
    fresh = clone(model) if hasattr(model, "get_params") else copy.deepcopy(model)
    if "costs" in params and params["costs"] is None and costs is not None:
        fresh.set_params(costs=costs)
    if "budget" not in params or params["budget"] is not None:
        yield setting, fresh.fit(X, y)
        return
    prefix = f"{setting}, " if setting else ""
    if hasattr(model, "at_budget"):
        fresh.set_params(budget=max(budgets)).fit(X, y)
        for budget in budgets:
            yield f"{prefix}budget={budget:.4g}", fresh.at_budget(budget)
        return
    for budget in budgets:
        chosen = clone(fresh).set_params(budget=budget)
        with warnings.catch_warnings():
            # A budget that buys nothing is a point of the curve like any other.
            warnings.simplefilter("ignore", UserWarning)
            yield f"{prefix}budget={budget:.4g}", chosen.fit(X, y)


def _mean_cost(model: Any, rows: Any, total: float) -> float:
    return float(np.mean(model.cost(rows))) if hasattr(model, "cost") else total


# Data and costs.


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


def _as_matrix(columns: Mapping[str, Any]) -> NDArray[Any]:
    """Return columns as a matrix of floats, or of objects if some are not numbers."""
    arrays = list(clean_columns(columns).values())
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


def _price_of_all(costs: Costs, names: list[str]) -> float:
    from askless.problem import Test

    tests = tuple(Test(name, "number") for name in names)
    return costs.price_list(tests).cost_of_all()


def _choose_budgets(
    budgets: Any, costs: Costs, names: list[str], total: float
) -> list[float]:
    from askless.problem import Test

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
    prices = costs.price_list(tuple(Test(name, "number") for name in names)).full
    positive = prices[prices > 0]
    cheapest = float(positive.min()) if positive.size else 0.0
    if cheapest == 0 or total <= cheapest:
        return [total]
    return [float(b) for b in np.geomspace(cheapest, total, n_budgets)]


def _make_metric(metric: str | Metric, costs: Costs, classes: Any) -> Metric:
    if callable(metric):
        return metric
    if metric == "error":
        return lambda true, decided: float(np.mean(true != decided))
    matrix = costs.mistake_matrix(tuple(classes.tolist()))
    if metric != "mistakes" or matrix is None:
        raise InvalidOptionError(
            "metric must be 'error', 'mistakes' where the costs price mistakes, or a "
            f"function of the true and the decided classes. Got {metric!r}. Leave it "
            "out to count errors."
        )

    def price(true: NDArray[Any], decided: NDArray[Any]) -> float:
        rows, columns = (
            np.searchsorted(classes, true),
            np.searchsorted(classes, decided),
        )
        return float(matrix[rows, columns].mean())

    return price


def _split(
    cv: Any, y: NDArray[Any], random_state: int
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    from sklearn.model_selection import StratifiedKFold

    if isinstance(cv, int):
        smallest = int(np.unique(y, return_counts=True)[1].min())
        if not 2 <= cv <= smallest:
            raise InvalidOptionError(
                "There must be at least 2 folds, and a row of each class for each of "
                f"them. Got cv={cv}, and {smallest} rows of the rarest class. Use "
                "fewer folds, or leave the class out."
            )
        cv = StratifiedKFold(cv, shuffle=True, random_state=random_state)
    yield from cv.split(np.zeros(len(y)), y)


def _summarise(
    name: str, setting: str, pairs: NDArray[np.float64], confidence: float
) -> FrontierPoint:
    """Return the mean over the folds with its interval, of cost and error."""
    n = len(pairs)
    mean = pairs.mean(axis=0)
    half = np.zeros(2)
    if n > 1:
        from scipy import stats

        quantile = float(stats.t.ppf((1 + confidence) / 2, n - 1))
        half = quantile * pairs.std(axis=0, ddof=1) / np.sqrt(n)
    low, high = np.maximum(mean - half, 0.0), mean + half
    return FrontierPoint(
        model=name,
        setting=setting,
        cost=float(mean[0]),
        cost_low=float(low[0]),
        cost_high=float(high[0]),
        error=float(mean[1]),
        error_low=float(low[1]),
        error_high=float(high[1]),
    )
