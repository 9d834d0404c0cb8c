"""List what one fit chooses from: boosters small and large, a forest, naive Bayes.

This module must not know how they are grown, nor which one is taken.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from askless.learn.boost._booster_rows import BoosterRows
from askless.learn.boost._boosters import (
    BayesPlan,
    BoosterPlan,
    ForestPlan,
    rank_columns,
)
from askless.problem import PriceList

__all__ = ["FAMILIES", "Plan", "learns_order", "list_large", "usual_tradeoffs"]

FAMILIES = ("auto", "boost", "forest")
# With more rows, growing takes long enough that boosters which are seldom chosen are
# left out. With still more, penalties take several times as long as growing without
# them, while one booster with many thresholds covers more of the range.
LITTLE_ROWS, MANY_ROWS = 1_500, 5_000
# With more classes, a booster has a tree for each of them in every round. Half of the
# boosters take half of the time; on seven made problems of 425 to 3,550 rows they cost
# 8 % more at the same error, so that all are grown where rows are few.
SEVERAL_CLASSES = 3
# How much costs count, of small boosters; of several classes, of many rows, of both.
# Without the last one of the first two, cheap budgets find nothing.
DENSE = (0.0, 0.0005, 0.001, 0.002, 0.004, 0.008, 0.015, 0.03, 0.06, 0.12, 0.25, 0.5)
DENSE_OF_SEVERAL = (0.0, 0.001, 0.004, 0.03, 0.06, 0.12, 0.25, 0.5)
SPARSE, SPARSE_OF_SEVERAL = (0.001, 0.01, 0.04, 0.15), (0.04, 0.15)
# The same of bagged boosters; of several classes and many rows there are none. Of
# several classes one is worth its time: where each class shows in features of its own,
# it errs a tenth to a quarter less at small budgets.
BAGGED_DENSE, BAGGED, BAGGED_SPARSE = (0.002, 0.008, 0.03), (0.002, 0.03), (0.008,)
BAGGED_OF_SEVERAL = (0.03,)
# The same of large boosters, which have as many leaves as LightGBM's default.
WIDE_LEAVES = 31
WIDE_DENSE, WIDE = (0.0, 0.0005, 0.002, 0.008, 0.03, 0.12), (0.0, 0.0005, 0.002, 0.03)
WIDE_SPARSE = (0.0, 0.001, 0.01)
# Of the price of everything, what the columns of boosters without penalties may cost.
FEW_COLUMNS, FEW_SPARSE = (0.25,), (0.12, 0.33)
# Many rows bear many leaves; without penalties such boosters take little time.
MANY_LEAVES = 127
# Of blends of a booster and naive Bayes: how much costs count, and the share of Bayes.
# They err less where rows are few. With more rows they are worth their time only where
# there are several classes, as one of them may show in columns of its own.
BLENDED_DENSE, BLENDED_OF_SEVERAL, BAYES_SHARE = (0.0, 0.03), (0.03,), 0.5
# With fewer columns, one that sees few of them is no other model.
LEAST_COLUMNS = 9
# Of forests: trees, and leaves of a tree, which few rows never reach. With fewer leaves
# they err far more. With more rows boosting wins, and such trees take much room.
FOREST_TREES, FOREST_LEAVES = 100, 4_096

Plan = BoosterPlan | ForestPlan | BayesPlan


def usual_tradeoffs(
    n_rows: int, n_classes: int = 2, *, is_bagged: bool = False
) -> tuple[float, ...]:
    """Return how much costs count in each of the small boosters.

    Examples
    --------
    >>> len(usual_tradeoffs(1_000)), len(usual_tradeoffs(100_000))
    (12, 4)
    >>> len(usual_tradeoffs(4_000, n_classes=6))
    8
    >>> usual_tradeoffs(100_000, is_bagged=True)
    (0.008,)
    """
    is_several = n_classes > SEVERAL_CLASSES
    if n_rows <= LITTLE_ROWS:
        return BAGGED_DENSE if is_bagged else DENSE
    if n_rows <= MANY_ROWS and is_several:
        return BAGGED_OF_SEVERAL if is_bagged else DENSE_OF_SEVERAL
    if n_rows <= MANY_ROWS:
        return BAGGED if is_bagged else DENSE
    if is_several:
        return () if is_bagged else SPARSE_OF_SEVERAL
    return BAGGED_SPARSE if is_bagged else SPARSE


def learns_order(n_rows: int, n_classes: int) -> bool:
    """Return whether an order of purchases is learned: where tracing takes little time.

    Examples
    --------
    >>> learns_order(100_000, 2), learns_order(1_000, 8), learns_order(4_000, 8)
    (True, True, False)
    """
    return n_rows <= LITTLE_ROWS or n_classes <= SEVERAL_CLASSES


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
        "auto" adds boosters as large as LightGBM's default, some of them without
        penalties on few columns, and where rows are few a forest, naive Bayes and
        blends of it with boosters; "forest" a forest, however many rows there are;
        "boost" nothing.
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
    n_classes = int(train.rows.class_ids.max()) + 1
    is_little, is_small = n_rows <= LITTLE_ROWS, n_rows <= MANY_ROWS
    if family == "auto":
        wide = replace(
            small, is_bagged=False, n_leaves=max(WIDE_LEAVES, small.n_leaves)
        )
        tradeoffs = WIDE if is_small else WIDE_SPARSE
        large += [
            replace(wide, tradeoff=t) for t in (WIDE_DENSE if is_little else tradeoffs)
        ]
        if n_columns >= LEAST_COLUMNS:
            gains = rank_columns(train, n_classes, small.n_jobs)
            few = wide if is_small else replace(wide, n_leaves=MANY_LEAVES)
            for share in FEW_COLUMNS if is_small else FEW_SPARSE:
                columns = _choose_columns(gains, prices.full, share)
                large.append(replace(few, tradeoff=0.0, columns=columns))
        if is_little or (is_small and n_classes > SEVERAL_CLASSES):
            blend = replace(small, is_bagged=False, bayes_share=BAYES_SHARE)
            blended = BLENDED_DENSE if is_little else BLENDED_OF_SEVERAL
            large += [replace(blend, tradeoff=t) for t in blended]
            large.append(BayesPlan())
    if is_numbers and (family == "forest" or (family == "auto" and is_small)):
        large.append(ForestPlan(FOREST_TREES, FOREST_LEAVES, seed, small.n_jobs))
    return large


def _choose_columns(
    gains: NDArray[np.float64], prices: NDArray[np.float64], share: float
) -> tuple[int, ...]:
    """Return the columns of most gain that together cost a share of everything."""
    # Between the best columns and the best for their price.
    if prices.max() > 0:
        prices = prices / prices.max()
    worth = gains / np.sqrt(np.maximum(prices, 1e-9))
    order = np.argsort(-worth, kind="stable")
    spent = np.cumsum(prices[order])
    within = spent <= share * prices.sum()
    n_kept = max(1, int(np.count_nonzero(within)))
    return tuple(sorted(order[:n_kept].tolist()))
