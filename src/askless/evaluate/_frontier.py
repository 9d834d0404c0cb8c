"""Error against cost, for many models, by cross-validation.

A model is anything with ``fit`` and ``predict``; one with ``cost`` says what each row
pays, any other is taken to buy every test. This module must not know how models learn,
nor how a frontier is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.evaluate._frontier_data import (
    FrontierData,
    Metric,
    choose_budgets,
    list_folds,
    make_metric,
    read_data,
)
from askless.evaluate._frontier_models import fit_at, name_models, run_model
from askless.evaluate._frontier_points import Frontier, FrontierPoint
from askless.exceptions import InvalidOptionError
from askless.problem._frames import take_rows

__all__ = ["frontier"]

# Mean cost and error of a model at a setting, fold by fold.
Pairs = dict[tuple[str, str], list[tuple[float, float]]]


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
    curves = name_models(models)
    data = read_data(X, y, costs)
    targets = choose_budgets(budgets, data.prices)
    judge = make_metric(metric, data.costs, np.unique(data.y))
    folds = list_folds(cv, data.y, random_state)
    measured: Pairs = {}
    for number, fold in enumerate(folds):

        def tell(what: str, number: int = number) -> None:
            if on_progress is not None:
                on_progress(f"fold {number + 1} of {len(folds)}, {what}")

        _measure_fold(measured, curves, data, fold, targets, judge, tell)
    return Frontier(
        tuple(
            _summarise(name, setting, np.array(pairs), confidence)
            for (name, setting), pairs in measured.items()
        ),
        metric=metric if isinstance(metric, str) else metric.__name__,
        confidence=confidence,
        cost_of_all=data.prices.cost_of_all(),
        n_folds=len(folds),
    )


def _measure_fold(
    measured: Pairs,
    curves: dict[str, list[tuple[Any, str]]],
    data: FrontierData,
    fold: tuple[NDArray[np.intp], NDArray[np.intp]],
    budgets: list[float],
    judge: Metric,
    tell: Callable[[str], None],
) -> None:
    """Fit every model on a fold, and add what it costs and how it errs."""
    train, test = fold
    X_train, X_test = take_rows(data.X, train), take_rows(data.X, test)
    y_train, y_test = data.y[train], data.y[test]
    cost_of_all = data.prices.cost_of_all()
    for name, settings in curves.items():
        for model, setting in settings:
            tell(f"{name} {setting}")
            fitted = fit_at(model, setting, X_train, y_train, data.given, budgets)
            for label, policy in fitted:
                decided, cost = run_model(policy, X_test, cost_of_all)
                pair = (cost, float(judge(y_test, decided)))
                measured.setdefault((name, label), []).append(pair)


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
