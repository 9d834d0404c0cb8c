"""List what one fit chooses from: boosters small and large, a forest, naive Bayes.

This module must not know how they are grown, nor which one is taken.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from askless.learn.boost._booster_rows import BoosterRows
from askless.learn.boost._boosters import (
    BayesPlan,
    BoosterPlan,
    ForestPlan,
    rank_columns,
)
from askless.learn.boost._levels import can_grow
from askless.problem import PriceList

__all__ = [
    "FAMILIES",
    "Grid",
    "Plan",
    "grows_own",
    "leaf_factor",
    "list_large",
    "usual_grid",
]

FAMILIES = ("auto", "boost", "forest")
# With more rows, naive Bayes is worth its time only where there are several classes, as
# one of them may show in columns of its own. With still more, penalties take several
# times as long as growing without them, while one booster with many thresholds covers
# more of the range; and whole trees of a forest take much room, where boosting wins.
LITTLE_ROWS, MANY_ROWS = 1_500, 5_000
# With more classes, Askless grows most boosters itself, so that all classes share the
# trees. Of two classes and many rows it does, too: penalties then take a third of the
# time that LightGBM takes.
SEVERAL_CLASSES = 3
# Our trees have so many times as many leaves; of several classes the second factor
# where rows are many, which bear more: covertype then errs 16 % at 6 tests, not 19 %.
OWN_LEAVES, OWN_MANY = 2, 16
# Of three classes, neither way is better than the other. So there are some boosters of
# shared trees too, small and large ones; how much costs count.
SHARED, SHARED_WIDE = (0.004, 0.03, 0.12), (0.002,)
# Those of bagged boosters have so many times as many.
BAGGED_LEAVES = 2
# Leaves of large boosters, as many as LightGBM's default; and of those of few columns
# and many rows, which bear more and take little time without penalties.
WIDE_LEAVES, MANY_LEAVES = 31, 127
# Of blends of a booster and naive Bayes: how much costs count, and the share of Bayes.
# They err less where rows are few.
BLENDED_LITTLE, BLENDED, BAYES_SHARE = (0.001, 0.03), (0.03,), 0.5
# With fewer columns, one that sees few of them is no other model.
LEAST_COLUMNS = 9
# Of forests: trees, and leaves of a tree, which few rows never reach. With fewer leaves
# they err far more.
FOREST_TREES, FOREST_LEAVES = 60, 4_096

Plan = BoosterPlan | ForestPlan | BayesPlan


class Grid(NamedTuple):
    """What boosters are grown.

    Attributes
    ----------
    small, bagged, wide : tuple of float
        How much costs count: of small boosters, of bagged ones and of large ones.
    few : tuple of float
        Of the price of everything, what the columns of boosters without penalties may
        cost.
    narrow : tuple of float
        Where boosters are ours: how much costs count of those of half as many leaves,
        which bear more noise.
    apart, apart_wide : tuple of float
        Where boosters are ours: how much costs count of small and of large ones of
        LightGBM, which has a tree for each of several classes.
    """

    small: tuple[float, ...]
    bagged: tuple[float, ...]
    wide: tuple[float, ...]
    few: tuple[float, ...]
    narrow: tuple[float, ...] = ()
    apart: tuple[float, ...] = ()
    apart_wide: tuple[float, ...] = ()


# Chosen on 33 problems. Twice as many boosters cost no less at the same error: the best
# of many on the rows to choose on is often a lucky one. Without the last of the small
# ones, cheap budgets find nothing. A bagged booster errs least where everything may be
# bought, and of several classes, where each shows in features of its own, also at small
# budgets; with many rows it takes longest, and changed nothing on two sets.
GRID = Grid(
    (0.001, 0.002, 0.004, 0.008, 0.03, 0.12, 0.5),
    (0.002, 0.03),
    (0.0, 0.002, 0.03),
    (0.12, 0.25, 0.6),
)
# Of more than three classes, trees that all share cost 12 % less at the same error
# (``run.py shared``). A tree for each class errs less where one of them is rare.
OF_SEVERAL = GRID._replace(
    small=(0.001, 0.01, 0.03, 0.12, 0.5),
    bagged=(0.03,),
    narrow=(0.03,),
    apart=(0.001, 0.03, 0.12),
    apart_wide=(0.0,),
)
# With few rows growing takes little time; on 13 problems all of these cost 5 % less.
OF_LITTLE = GRID._replace(
    small=(0.0, 0.0005, 0.001, 0.002, 0.004, 0.008, 0.015, 0.03, 0.06, 0.12, 0.25, 0.5),
    bagged=(0.002, 0.008, 0.03),
    wide=(0.0, 0.0005, 0.002, 0.008, 0.03, 0.12),
)
OF_SEVERAL_AND_LITTLE = OF_SEVERAL._replace(
    small=(0.0005, 0.002, 0.01, 0.03, 0.08, 0.2, 0.5),
    apart=(0.0, 0.001, 0.004, 0.015, 0.06, 0.25),
    apart_wide=(0.0, 0.002),
)
# With many rows, LightGBM takes too long to grow many boosters with penalties, while
# ours take no longer with them than without.
OF_THREE_AND_MANY = Grid((0.01, 0.04, 0.15), (), (0.0, 0.01, 0.04), (0.12, 0.33))
OF_TWO_AND_MANY = Grid(
    small=(0.001, 0.004, 0.015, 0.03, 0.06, 0.12, 0.25),
    bagged=(),
    wide=(0.002, 0.02),
    few=(0.12, 0.33),
    apart_wide=(0.0,),
)
OF_SEVERAL_AND_MANY = Grid(
    small=(0.01, 0.02, 0.04, 0.08, 0.15),
    bagged=(),
    wide=(0.0, 0.002),
    few=(0.12, 0.33),
    narrow=(0.03,),
    apart_wide=(0.0,),
)


def usual_grid(n_rows: int, n_classes: int = 2) -> Grid:
    """Return what boosters are grown, for a number of rows and of classes.

    Examples
    --------
    >>> [len(usual_grid(n).small) for n in (1_000, 4_000, 100_000)]
    [12, 7, 7]
    >>> len(usual_grid(100_000, n_classes=6).wide)
    2
    >>> usual_grid(100_000).bagged
    ()
    """
    if n_classes > SEVERAL_CLASSES:
        grids = OF_SEVERAL_AND_LITTLE, OF_SEVERAL, OF_SEVERAL_AND_MANY
    else:
        many = OF_TWO_AND_MANY if n_classes == 2 else OF_THREE_AND_MANY
        grids = OF_LITTLE, GRID, many
    return grids[(n_rows > LITTLE_ROWS) + (n_rows > MANY_ROWS)]


def grows_own(train: BoosterRows, n_classes: int, n_leaves: int) -> bool:
    """Return whether Askless is to grow most boosters itself, and not LightGBM.

    Not where categories have so many levels that their sums would fill the memory.

    Parameters
    ----------
    train : BoosterRows
        Rows to grow on.
    n_classes : int
        How many classes there are.
    n_leaves : int
        Leaves of a small booster.
    """
    is_several = n_classes > SEVERAL_CLASSES
    is_large = n_classes == 2 and train.rows.n_rows > MANY_ROWS
    return (is_several or is_large) and _can_grow_own(train, n_classes, n_leaves)


def _can_grow_own(train: BoosterRows, n_classes: int, n_leaves: int) -> bool:
    most = max(MANY_LEAVES, OWN_MANY * n_leaves)
    return can_grow(train, n_classes, most)


def leaf_factor(n_rows: int, n_classes: int) -> int:
    """Return how many times as many leaves our trees have.

    Examples
    --------
    >>> leaf_factor(4_000, 6), leaf_factor(30_000, 6), leaf_factor(30_000, 2)
    (2, 16, 2)
    """
    return OWN_MANY if n_rows > MANY_ROWS and n_classes > 2 else OWN_LEAVES


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
        grid = usual_grid(n_rows, n_classes)
        is_large = small.is_own and not is_small and n_classes > 2
        leaves = MANY_LEAVES if is_large else WIDE_LEAVES
        wide = replace(small, is_bagged=False, n_leaves=max(leaves, small.n_leaves))
        large += [replace(wide, tradeoff=t) for t in grid.wide]
        if wide.is_own:
            large += _list_apart(small, leaf_factor(n_rows, n_classes), grid)
        elif n_classes == SEVERAL_CLASSES and _can_grow_own(
            train, n_classes, small.n_leaves
        ):
            large += _list_shared(small, wide, leaf_factor(n_rows, n_classes))
        if n_columns >= LEAST_COLUMNS:
            few = wide if is_small else replace(wide, n_leaves=MANY_LEAVES)
            large += [
                replace(few, tradeoff=0.0, columns=columns)
                for columns in _list_columns(train, n_classes, prices, grid.few, few)
            ]
        if is_little or (is_small and n_classes > SEVERAL_CLASSES):
            blend = replace(small, is_bagged=False, bayes_share=BAYES_SHARE)
            blended = BLENDED_LITTLE if is_little else BLENDED
            large += [replace(blend, tradeoff=t) for t in blended]
            large.append(BayesPlan())
    if is_numbers and (family == "forest" or (family == "auto" and is_small)):
        large.append(ForestPlan(FOREST_TREES, FOREST_LEAVES, seed, small.n_jobs))
    return large


def _list_apart(small: BoosterPlan, factor: int, grid: Grid) -> list[Plan]:
    """Return boosters beside ours: narrow ones, and those of LightGBM."""
    usual = max(2, small.n_leaves // factor)
    narrow = replace(small, is_bagged=False, n_leaves=usual)
    plain = replace(narrow, is_own=False)
    wide = replace(plain, n_leaves=max(WIDE_LEAVES, usual))
    found: list[Plan] = [replace(narrow, tradeoff=t) for t in grid.narrow]
    found += [replace(plain, tradeoff=t) for t in grid.apart]
    return found + [replace(wide, tradeoff=t) for t in grid.apart_wide]


def _list_shared(small: BoosterPlan, wide: BoosterPlan, factor: int) -> list[Plan]:
    """Return boosters whose trees all classes share."""
    plan = replace(
        small, is_bagged=False, is_own=True, n_leaves=factor * small.n_leaves
    )
    found: list[Plan] = [replace(plan, tradeoff=t) for t in SHARED]
    return found + [replace(wide, is_own=True, tradeoff=t) for t in SHARED_WIDE]


def _list_columns(
    train: BoosterRows,
    n_classes: int,
    prices: PriceList,
    shares: tuple[float, ...],
    plan: BoosterPlan,
) -> list[tuple[int, ...]]:
    """Return columns that cost a share of everything each, the fewest first.

    Those of a smaller share are the best of a larger one: of columns that tell the
    same, one is enough, which shows once the others are gone.
    """
    found: list[tuple[int, ...]] = []
    columns = None
    for share in sorted(shares, reverse=True):
        gains = rank_columns(train, n_classes, plan.n_jobs, columns)
        columns = _choose_columns(gains, prices.full, share)
        if columns not in found:
            found.append(columns)
    return found[::-1]


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
