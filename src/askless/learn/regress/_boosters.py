"""Grow one LightGBM booster of numbers with prices in mind, and make a policy of it.

This module must not know budgets, nor which of several boosters is taken.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.learn.boost._booster_rows import BoosterRows
from askless.learn.boost._boosters import BoosterPlan, import_lightgbm
from askless.learn.boost._compile import compile_source
from askless.learn.regress._losses import Loss
from askless.learn.sources import read_lightgbm_text
from askless.policy import Ensemble
from askless.problem import Costs

__all__ = ["grow_number_policy", "rank_columns", "train_booster"]

# Rows and rounds that columns are ranked by.
RANKED_ROWS, RANKED_ROUNDS = 10_000, 30
# Rounds without a smaller validation error after which no tree is added.
PATIENCE = 30


def train_booster(
    plan: BoosterPlan,
    loss: Loss,
    train: BoosterRows,
    valid: BoosterRows,
    costs: Costs,
) -> Any:
    """Return a booster of LightGBM.

    Parameters
    ----------
    plan : BoosterPlan
        How to grow it.
    loss : Loss
        What is to be least.
    train, valid : BoosterRows
        Rows to grow on, and validation rows that say when to stop adding trees.
    costs : Costs
        What features cost.
    """
    lightgbm, tests = import_lightgbm(), train.tests
    categories = [i for i, test in enumerate(tests) if test.kind == "category"]
    data = lightgbm.Dataset(
        _blank(train.matrix, plan.columns),
        train.rows.class_ids,
        weight=train.rows.weights,
        categorical_feature=categories,
        params={"verbose": -1},
    )
    held_out = data.create_valid(
        _blank(valid.matrix, plan.columns),
        valid.rows.class_ids,
        weight=valid.rows.weights,
    )
    options = plan.options(costs.price_list(tests).full, 2)
    options["objective"] = loss.objective
    if "cegb_tradeoff" in options and loss.name == "squared":
        # The gain of a split is in squares of the number, its penalty is not.
        options["cegb_tradeoff"] *= float(np.var(train.rows.class_ids)) or 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return lightgbm.train(
            options,
            data,
            plan.n_rounds,
            valid_sets=[held_out],
            callbacks=[lightgbm.early_stopping(PATIENCE, verbose=False)],
        )


def _blank(
    matrix: NDArray[np.float64], columns: tuple[int, ...] | None
) -> NDArray[np.float64]:
    """Return a matrix in which all other columns say nothing."""
    if columns is None:
        return matrix
    kept = np.zeros_like(matrix)
    kept[:, columns] = matrix[:, columns]
    return kept


def rank_columns(
    plan: BoosterPlan, loss: Loss, train: BoosterRows, costs: Costs
) -> NDArray[np.float64]:
    """Return how much each column tells: the gain of a short booster without prices.

    Parameters
    ----------
    plan : BoosterPlan
        One of the boosters to grow.
    loss : Loss
        What is to be least.
    train : BoosterRows
        Rows to grow on; of many, the first ones are taken.
    costs : Costs
        What features cost.
    """
    some = train.take(slice(0, RANKED_ROWS))
    short = replace(plan, tradeoff=0.0, is_bagged=False, n_estimators=RANKED_ROUNDS)
    booster = train_booster(short, loss, some, some, costs)
    return np.asarray(booster.feature_importance("gain"), dtype=np.float64)


def grow_number_policy(
    plan: BoosterPlan,
    loss: Loss,
    train: BoosterRows,
    valid: BoosterRows,
    costs: Costs,
    names: list[str],
) -> Ensemble:
    """Return a booster as a policy that stops when every tree has ended.

    Parameters
    ----------
    plan, loss, train, valid, costs
        See :func:`train_booster`.
    names : list of str
        Names of the features.
    """
    booster = train_booster(plan, loss, train, valid, costs)
    tests = train.tests
    source = read_lightgbm_text(
        booster.model_to_string(),
        categories={
            i: test.outcomes for i, test in enumerate(tests) if test.kind == "category"
        },
    )
    return compile_source(source, costs, names=names, stops_early=True)
