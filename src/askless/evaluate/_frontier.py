"""Error against cost, for many models, by cross-validation.

A model is anything with ``fit`` and ``predict``; one with ``cost`` says what each row
pays, any other is taken to buy every test. This module must not know how models learn,
nor how a frontier is drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from askless._progress import Callback, Reporter
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
from askless.problem._sweep import KeptResults, make_key, run_tasks

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
    n_jobs: int | None = None,
    kept: str | Path | None = None,
    callbacks: Callback | Iterable[Callback] | None = None,
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
        The class, or the number, of each row.
    costs : Costs, mapping or sequence, optional
        What each test costs; 1 each by default. Set on every model that has a parameter
        ``costs`` which is None, and the price of all tests is charged for models that
        cannot say what a row pays.
    cv : int or splitter, default=5
        How many folds, stratified by class, or a splitter of scikit-learn.
    metric : {"error", "mistakes", "squared", "absolute"} or callable, default="error"
        The share of wrong decisions, their mean cost, or ``metric(y_true, y_pred)``;
        smaller is better. For models that say numbers, the mean "squared" or "absolute"
        error; folds are then drawn evenly.
    budgets : sequence of float or int, optional
        Which budgets, or how many between the cheapest test and all tests; 8 by
        default.
    confidence : float, default=0.95
        Of the intervals. They are those of the mean over the folds by Student's t;
        folds share training rows, so take them as a guide.
    random_state : int, default=0
        Draws the folds.
    n_jobs : int, optional
        How many fits run at once; one by default. They go through joblib, so that
        ``joblib.parallel_config`` chooses processes, threads, or the workers of Dask,
        Ray or Spark. Results do not depend on it.
    kept : str or Path, optional
        A folder in which the result of each fit is kept, and looked for before it is
        run: a run that was stopped goes on where it was. Results are found again by
        what the rows, the folds and the model are.
    callbacks : callable or several, optional
        Each is called with a :class:`~askless.solve.Progress` after every fit: what was
        fitted, the least error of any fold so far, and how much is done. One that
        returns True ends it with the folds that are done, and at least one.
        ``callbacks=print`` prints a line for each fit.

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
    is_number = metric in ("squared", "absolute")
    folds = list_folds(cv, data.y, random_state, is_number=is_number)
    fits = [
        _Fit(number, fold, name, model, setting)
        for number, fold in enumerate(folds)
        for name, settings in curves.items()
        for model, setting in settings
    ]
    keys = () if kept is None else _make_keys(fits, data, targets, metric)
    progress = _FoldProgress(fits, len(folds), Reporter(callbacks))
    found = run_tasks(
        _measure,
        [(fit, data, targets, judge) for fit in fits],
        n_jobs=n_jobs,
        on_done=progress.add,
        kept=None if kept is None else KeptResults(kept),
        keys=keys,
    )
    measured: Pairs = {}
    whole = progress.whole_folds()
    done = [pair for pair in zip(fits, found, strict=True) if pair[0].number in whole]
    for fit, points in done:
        for label, cost, error in points:
            measured.setdefault((fit.name, label), []).append((cost, error))
    return Frontier(
        tuple(
            _summarise(name, setting, np.array(pairs), confidence)
            for (name, setting), pairs in measured.items()
        ),
        metric=metric if isinstance(metric, str) else metric.__name__,
        confidence=confidence,
        cost_of_all=data.prices.cost_of_all(),
        n_folds=len(whole),
    )


class _Fit(NamedTuple):
    """A model at a setting, to be measured on a fold."""

    number: int
    fold: tuple[NDArray[np.intp], NDArray[np.intp]]
    name: str
    model: Any
    setting: str

    def describe(self, n_folds: int) -> str:
        """Return what it is in a few words."""
        return f"fold {self.number + 1} of {n_folds}, {self.name} {self.setting}"


class _FoldProgress:
    """Counts the fits of each fold, and tells of them."""

    def __init__(self, fits: list[_Fit], n_folds: int, reporter: Reporter) -> None:
        self.fits, self.reporter = fits, reporter
        self.n_left = [sum(fit.number == i for fit in fits) for i in range(n_folds)]
        self.best: float | None = None

    def whole_folds(self) -> set[int]:
        """Return the folds on which every model is measured."""
        return {i for i, n_left in enumerate(self.n_left) if n_left == 0}

    def add(self, i: int, points: list[tuple[str, float, float]]) -> bool:
        """Tell of a fit that is done; return whether the folds so far are enough."""
        fit = self.fits[i]
        self.n_left[fit.number] -= 1
        errors = [error for _, _, error in points]
        self.best = min(errors if self.best is None else [self.best, *errors])
        self.reporter.tell(
            fit.describe(len(self.n_left)),
            best=self.best,
            done=1 - sum(self.n_left) / len(self.fits),
        )
        return self.reporter.wants_stop and bool(self.whole_folds())


def _measure(
    fit: _Fit, data: FrontierData, budgets: list[float], judge: Metric
) -> list[tuple[str, float, float]]:
    """Fit a model on a fold; return the cost and error of each setting."""
    train, test = fit.fold
    X_train, X_test = take_rows(data.X, train), take_rows(data.X, test)
    y_train, y_test = data.y[train], data.y[test]
    cost_of_all = data.prices.cost_of_all()
    points = []
    fitted = fit_at(fit.model, fit.setting, X_train, y_train, data.given, budgets)
    for label, policy in fitted:
        decided, cost = run_model(policy, X_test, cost_of_all)
        points.append((label, cost, float(judge(y_test, decided))))
    return points


def _make_keys(
    fits: list[_Fit], data: FrontierData, budgets: list[float], metric: str | Metric
) -> list[str]:
    """Return what the result of each fit is found again by."""
    if not isinstance(metric, str):
        raise InvalidOptionError(
            "Kept results must have a metric of a name, 'error' or 'mistakes': a "
            "function may change and be called the same. Got "
            f"{getattr(metric, '__name__', metric)!r}. Leave 'kept' out."
        )
    rows = make_key(data.X, data.y, data.given, budgets, metric)
    keys = []
    for fit in fits:
        model: Any = fit.model
        if hasattr(model, "get_params"):
            kind = type(model)
            model = (kind.__module__, kind.__qualname__, model.get_params())
        keys.append(make_key(rows, fit.fold, model, fit.setting))
    return keys


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
