"""Tune ACT's two settings by cross-validation on the examples to learn from."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from askless.learn._mistakes import settle_mistakes
from askless.learn.trees._row_weights import settle_weights
from askless.problem._frames import is_frame

if TYPE_CHECKING:
    from askless.learn.trees._look_ahead import ACTClassifier

__all__ = ["tune_act"]

N_FOLDS = 3
COST_WEIGHTS = (0.5, 1.0, 1.5)
CONFIDENCES = (0.15, 0.25, 0.35)


def tune_act(
    model: ACTClassifier, X: Any, y: Any, sample_weight: Any
) -> dict[str, float]:
    """Return the settings of least total cost on held-out folds.

    A setting that is not to be tuned keeps its value. The folds depend on the rows
    alone, so that all settings are compared on the same ones.
    """
    weights = COST_WEIGHTS if model.cost_weight == "tuned" else (model.cost_weight,)
    confidences = CONFIDENCES if model.confidence == "tuned" else (model.confidence,)
    grid = [
        {"cost_weight": w, "confidence": c} for w, c in product(weights, confidences)
    ]
    y = np.asarray(y)
    if sample_weight is not None:
        sample_weight = np.array(sample_weight, dtype=np.float64)
        kept = sample_weight > 0
        sample_weight[kept] = settle_weights(sample_weight[kept], int(kept.sum()))
    counts = np.unique(y, return_counts=True)[1]
    if len(counts) < 2 or counts.max() < N_FOLDS:
        # Too few rows to hold any out.
        return {}
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
    with_folds = list(folds.split(np.zeros(len(y)), y))
    totals = []
    for settings in grid:
        trial = clone(model).set_params(**settings, time_limit=None)
        totals.append(
            sum(
                _held_out_cost(trial, X, y, sample_weight, train, test)
                for train, test in with_folds
            )
        )
    best = grid[int(np.argmin(totals))]
    return {name: value for name, value in best.items() if isinstance(value, float)}


def _held_out_cost(
    model: ACTClassifier, X: Any, y: Any, sample_weight: Any, train: Any, test: Any
) -> float:
    weights = None if sample_weight is None else sample_weight[train]
    model.fit(_take(X, train), y[train], weights)
    rows = _take(X, test)
    policy = model.policy_
    mistakes = settle_mistakes(policy.mistakes, policy.prices, len(model.classes_))
    known = np.isin(y[test], model.classes_)
    true = np.searchsorted(model.classes_, y[test][known])
    decided = np.searchsorted(model.classes_, model.predict(rows)[known])
    total = model.cost(rows)[known] + mistakes[true, decided]
    held = np.ones(len(test)) if sample_weight is None else sample_weight[test]
    return float(total @ held[known])


def _take(X: Any, rows: Any) -> Any:
    if is_frame(X):
        import narwhals as nw

        return nw.from_native(X, eager_only=True)[rows.tolist()].to_native()
    return np.asarray(X)[rows]
