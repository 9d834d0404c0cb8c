"""List the models that one fit chooses from: boosters small and large, and a forest.

This module must not know how they are grown, nor which one is taken.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from askless.learn.boost._booster_rows import BoosterRows
from askless.learn.boost._boosters import BoosterPlan, ForestPlan, rank_columns
from askless.problem import PriceList

__all__ = ["FAMILIES", "Plan", "list_large"]

FAMILIES = ("auto", "boost", "forest")
# Leaves of the large boosters, LightGBM's own default, and how much costs count there.
WIDE_LEAVES, WIDE_TRADEOFFS = 31, (0.001, 0.01)
# Of the price of everything, what the columns of a booster without penalties may cost.
FEW_COLUMNS = 0.25
# With fewer columns, one that sees few of them is no other model.
LEAST_COLUMNS = 9
# Of forests: trees, leaves of a tree, and the most rows, beyond which boosting wins and
# running so many leaves takes long.
FOREST_TREES, FOREST_LEAVES, FOREST_ROWS = 60, 256, 5_000

Plan = BoosterPlan | ForestPlan


def list_large(
    small: BoosterPlan,
    family: str,
    train: BoosterRows,
    prices: PriceList,
    seed: int,
) -> list[Plan]:
    """Return the plans that a family adds to the small boosters.

    Parameters
    ----------
    small : BoosterPlan
        One of the small boosters: large ones differ in what is said here only.
    family : {"auto", "boost", "forest"}
        "auto" adds boosters as large as LightGBM's default, one of them without
        penalties on few columns, and a forest where rows are few; "forest" a forest,
        however many rows there are; "boost" nothing.
    train : BoosterRows
        Rows to grow on.
    prices : PriceList
        What columns cost.
    seed : int
        For the forest.
    """
    large: list[Plan] = []
    is_numbers = all(test.kind == "number" for test in train.tests)
    n_rows, n_columns = train.matrix.shape
    if family == "auto":
        wide = replace(
            small, is_bagged=False, n_leaves=max(WIDE_LEAVES, small.n_leaves)
        )
        large += [replace(wide, tradeoff=t) for t in WIDE_TRADEOFFS]
        if n_columns >= LEAST_COLUMNS:
            n_classes = int(train.rows.class_ids.max()) + 1
            gains = rank_columns(train, n_classes, small.n_jobs)
            columns = _choose_columns(gains, prices.full)
            large.append(replace(wide, tradeoff=0.0, columns=columns))
    is_small = n_rows <= FOREST_ROWS
    if is_numbers and (family == "forest" or (family == "auto" and is_small)):
        large.append(ForestPlan(FOREST_TREES, FOREST_LEAVES, seed, small.n_jobs))
    return large


def _choose_columns(
    gains: NDArray[np.float64], prices: NDArray[np.float64]
) -> tuple[int, ...]:
    """Return the columns of most gain that together cost a share of everything."""
    # Between the best columns and the best for their price.
    if prices.max() > 0:
        prices = prices / prices.max()
    worth = gains / np.sqrt(np.maximum(prices, 1e-9))
    order = np.argsort(-worth, kind="stable")
    spent = np.cumsum(prices[order])
    within = spent <= FEW_COLUMNS * prices.sum()
    n_kept = max(1, int(np.count_nonzero(within)))
    return tuple(sorted(order[:n_kept].tolist()))
