"""Name the models of a frontier, fit them, and run them on rows.

A model is anything with ``fit`` and ``predict``. This module must not know how models
learn, nor what is measured.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidOptionError

__all__ = ["fit_at", "name_models", "run_model"]


def name_models(models: Any) -> dict[str, list[tuple[Any, str]]]:
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


def fit_at(
    model: Any,
    setting: str,
    X: Any,
    y: NDArray[Any],
    costs: Any,
    budgets: list[float],
) -> Iterator[tuple[str, Any]]:
    """Yield the setting of each fitted model: one, or one for each budget.

    Parameters
    ----------
    model : estimator
        What to fit; it is copied before.
    setting : str
        What tells it from the other models of its curve.
    X, y
        The rows to learn from.
    costs : Costs or None
        Given to a model that takes costs and has none.
    budgets : list of float
        Given to a model that takes a budget and has none.
    """
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


def run_model(model: Any, X: Any, cost_of_all: float) -> tuple[NDArray[Any], float]:
    """Return the decisions of a model, and the mean cost of a row.

    A model that cannot say what a row pays is taken to buy every test.
    """
    if hasattr(model, "predict_and_cost"):
        decided, paid = model.predict_and_cost(X)
        return np.asarray(decided), float(np.mean(paid))
    decided = np.asarray(model.predict(X))
    if hasattr(model, "cost"):
        return decided, float(np.mean(model.cost(X)))
    return decided, cost_of_all
