"""Tune ACT's two settings by cross-validation on the examples to learn from."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from askless.learn._examples import Examples
from askless.learn._mistakes import settle_mistakes
from askless.learn.trees._row_weights import settle_weights

if TYPE_CHECKING:
    from askless.learn.trees._look_ahead import ACTClassifier

__all__ = ["tune_act"]

N_FOLDS = 3
COST_WEIGHTS = (0.5, 1.0, 1.5)
CONFIDENCES = (0.15, 0.25, 0.35)


def tune_act(model: ACTClassifier, examples: Examples) -> dict[str, float]:
    """Return the settings of least total cost on held-out folds.

    A setting that is not to be tuned keeps its value. The folds depend on the rows
    alone, so that all settings are compared on the same ones.
    """
    exponents = COST_WEIGHTS if model.cost_weight == "tuned" else (model.cost_weight,)
    confidences = CONFIDENCES if model.confidence == "tuned" else (model.confidence,)
    grid = [
        {"cost_weight": w, "confidence": c} for w, c in product(exponents, confidences)
    ]
    rows = examples.rows
    if rows.weights is not None:
        weights = settle_weights(rows.weights, rows.n_rows)
        examples = replace(examples, rows=replace(rows, weights=weights))
    class_ids = rows.class_ids
    counts = np.bincount(class_ids)
    if len(counts) < 2 or counts.max() < N_FOLDS:
        # Too few rows to hold any out.
        return {}
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
    with_folds = list(folds.split(np.zeros(len(class_ids)), class_ids))
    totals = []
    for settings in grid:
        trial = clone(model).set_params(**settings, time_limit=None)
        totals.append(
            sum(
                _held_out_cost(trial, examples.take(train), examples.take(held_out))
                for train, held_out in with_folds
            )
        )
    best = grid[int(np.argmin(totals))]
    return {name: value for name, value in best.items() if isinstance(value, float)}


def _held_out_cost(model: ACTClassifier, train: Examples, held_out: Examples) -> float:
    """Return the total cost of rows under the policy that is grown on others."""
    policy = model._grow(train)
    rows = held_out.rows
    mistakes = settle_mistakes(policy.mistakes, policy.prices, len(policy.classes))
    decided, paid = policy.predict_and_cost(rows.values)
    place: dict[Any, int] = {known: i for i, known in enumerate(policy.classes)}
    choice = [place[decision] for decision in decided.tolist()]
    total = paid + mistakes[rows.class_ids, choice]
    return float(total.sum() if rows.weights is None else total @ rows.weights)
