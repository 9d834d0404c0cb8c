"""List what one fit chooses from: boosters small and large, a forest, naive Bayes.

This module must not know how they are grown, nor which one is taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, NamedTuple

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

__all__ = ["FAMILIES", "Grid", "Kind", "Plan", "Wanted", "list_plans", "usual_grid"]

FAMILIES = ("auto", "boost", "forest")
# Where few rows end and where many begin. With few, a forest and naive Bayes are worth
# their time. With many, LightGBM takes several times as long with penalties as without,
# and our boosters do not; and whole trees of a forest take much room, where boosting
# wins.
LITTLE_ROWS, MANY_ROWS = 1_500, 5_000
# With more classes, our boosters, of trees that all classes share, come first.
SEVERAL_CLASSES = 3
# Our trees have so many times as many leaves as those of LightGBM; of several classes
# the second factor where rows are many, which bear more: covertype then errs 16 % at 6
# tests, not 19 %. Trees of bagged boosters have twice as many, too.
OWN_LEAVES, OWN_MANY = 2, 16
# Leaves of large boosters, as many as LightGBM's default; and of those of few columns
# and many rows, which bear more and take little time without penalties.
WIDE_LEAVES, MANY_LEAVES = 31, 127
# How much of the log-odds of a blend naive Bayes says.
BAYES_SHARE = 0.5
# With fewer columns, one that sees few of them is no other model.
LEAST_COLUMNS = 9
# Of forests: trees, and leaves of a tree, which few rows never reach. With fewer leaves
# they err far more.
FOREST_TREES, FOREST_LEAVES = 60, 4_096
# Whether the cuts of each forest are drawn.
ONE_FOREST, BOTH_FORESTS = (False,), (False, True)

Plan = BoosterPlan | ForestPlan | BayesPlan


class Kind(NamedTuple):
    """Boosters that differ only in how much costs count.

    Attributes
    ----------
    tradeoffs : tuple of float
        How much costs count.
    is_own : bool
        Whether Askless grows them, not LightGBM.
    leaves : {"narrow", "usual", "wide"}
        How many leaves a tree has: as many as was asked for, twice as many (many rows
        and several classes: sixteen times), or as many as LightGBM's default.
    is_bagged, is_apart : bool
        As :class:`BoosterPlan` has them.
    """

    tradeoffs: tuple[float, ...]
    is_own: bool = True
    leaves: Literal["narrow", "usual", "wide"] = "usual"
    is_bagged: bool = False
    is_apart: bool = False


class Grid(NamedTuple):
    """What boosters are grown.

    Attributes
    ----------
    small : Kind
        Those that ``tradeoffs`` stands for.
    bagged : tuple of float
        How much costs count, of those that ``bagged_tradeoffs`` stands for.
    others : tuple of Kind
        Those that the family "auto" adds.
    few : tuple of float
        Of the price of everything, what the columns of boosters without penalties may
        cost.
    blends : tuple of Kind or None
        Boosters that are blended with naive Bayes, which is there as well; None for
        neither.
    forests : tuple of bool
        A random forest for each: whether its cuts are drawn at random.
    """

    small: Kind
    bagged: tuple[float, ...]
    others: tuple[Kind, ...]
    few: tuple[float, ...] = (0.12, 0.25, 0.6)
    blends: tuple[Kind, ...] | None = None
    forests: tuple[bool, ...] = ()


def _lightgbm(*tradeoffs: float) -> Kind:
    return Kind(tradeoffs, is_own=False, leaves="narrow")


def _lightgbm_wide(*tradeoffs: float) -> Kind:
    return Kind(tradeoffs, is_own=False, leaves="wide")


def _narrow(*tradeoffs: float) -> Kind:
    return Kind(tradeoffs, leaves="narrow")


def _wide(*tradeoffs: float) -> Kind:
    return Kind(tradeoffs, leaves="wide")


# Chosen on 63 problems of the sets that choices may be made on (``bench_frontier.py``),
# by what is paid at the error of cost-efficient boosting, by errors at twenty budgets,
# and by time. More boosters do not err less at a budget: the best of many on the rows
# to choose on is often a lucky one. Some are of LightGBM and some are ours: which of
# them errs less is another one from set to set. Without the last of the small ones,
# cheap budgets find nothing. A bagged booster errs least where everything may be
# bought. With few rows growing takes little time.
OF_TWO_AND_LITTLE = Grid(
    _lightgbm(
        0.0, 0.0005, 0.001, 0.002, 0.004, 0.008, 0.015, 0.03, 0.06, 0.12, 0.25, 0.5
    ),
    (0.0, 0.008, 0.03),
    (_lightgbm_wide(0.0, 0.002),),
    blends=(_lightgbm(0.001, 0.03),),
    forests=ONE_FOREST,
)
OF_TWO = Grid(
    _lightgbm(0.001, 0.002, 0.004, 0.008, 0.03, 0.12, 0.5),
    (0.0, 0.008),
    (_lightgbm_wide(0.0), Kind((0.001, 0.004, 0.015, 0.06, 0.25)), _wide(0.002)),
)
OF_TWO_AND_MANY = Grid(
    Kind((0.001, 0.004, 0.015, 0.03, 0.06, 0.12, 0.25)),
    (),
    (_narrow(0.004, 0.06), _wide(0.002), _lightgbm_wide(0.0)),
    few=(),
)
# Of three classes, trees for each and trees that all share are as good.
OF_THREE = Grid(
    OF_TWO.small,
    (0.008,),
    (_lightgbm_wide(0.0, 0.002, 0.03), Kind((0.004, 0.03, 0.12)), _wide(0.002)),
    forests=BOTH_FORESTS,
)
OF_THREE_AND_MANY = Grid(
    _lightgbm(0.01, 0.04, 0.15),
    (),
    (_lightgbm_wide(0.0, 0.01, 0.04), Kind((0.004, 0.03, 0.12)), _wide(0.002)),
    few=(0.12, 0.33),
)
# Of more than three classes, trees that all share cost 12 % less at the same error
# (``run.py shared``). A tree for each class errs less where one of them is rare, and a
# bagged booster of such trees where each class shows in features of its own. Forests
# err least where everything may be bought, one on some sets and one on others: with
# them and with large trees for each class, none of 252 points of rivals is missed on
# nine problems, without 6, in 6 % more time. Where each class shows in features of its
# own, naive Bayes answers half-bought rows well, and its blends with boosters, which
# are grown anyway, better still: cubes that choices are made on err 13.1 % at 3 tests,
# not 14.4.
BAGGED_APART = Kind((0.03,), leaves="narrow", is_bagged=True, is_apart=True)
OF_SEVERAL = Grid(
    Kind((0.001, 0.004, 0.015, 0.03, 0.12, 0.5)),
    (0.008,),
    (
        _narrow(0.004, 0.06),
        _wide(0.002),
        Kind((0.002,), leaves="wide", is_apart=True),
        BAGGED_APART,
        _lightgbm(0.12),
        _lightgbm_wide(0.0, 0.008),
    ),
    blends=(_narrow(0.004), BAGGED_APART, Kind((0.008,), is_bagged=True)),
    forests=BOTH_FORESTS,
)
OF_SEVERAL_AND_LITTLE = OF_SEVERAL._replace(
    others=(*OF_SEVERAL.others, _lightgbm(0.001, 0.004, 0.03), _wide(0.0)),
    blends=(Kind((0.001, 0.03)),),
)
OF_SEVERAL_AND_MANY = Grid(
    Kind((0.01, 0.02, 0.04, 0.08, 0.15)),
    (),
    (_narrow(0.03), _wide(0.0, 0.002), _lightgbm_wide(0.0)),
    few=(0.12, 0.33),
)


def usual_grid(n_rows: int, n_classes: int = 2) -> Grid:
    """Return what boosters are grown, for a number of rows and of classes.

    Examples
    --------
    >>> [len(usual_grid(n).small.tradeoffs) for n in (1_000, 4_000, 100_000)]
    [12, 7, 7]
    >>> [usual_grid(n).small.is_own for n in (1_000, 4_000, 100_000)]
    [False, False, True]
    >>> usual_grid(100_000, n_classes=6).bagged
    ()
    """
    if n_classes == 2:
        grids = OF_TWO_AND_LITTLE, OF_TWO, OF_TWO_AND_MANY
    elif n_classes <= SEVERAL_CLASSES:
        grids = OF_SEVERAL_AND_LITTLE, OF_THREE, OF_THREE_AND_MANY
    else:
        grids = OF_SEVERAL_AND_LITTLE, OF_SEVERAL, OF_SEVERAL_AND_MANY
    return grids[(n_rows > LITTLE_ROWS) + (n_rows > MANY_ROWS)]


class Wanted(NamedTuple):
    """What a user asks for.

    Attributes
    ----------
    plain : BoosterPlan
        The smallest booster: others differ in what a grid says only.
    family : {"auto", "boost", "forest"}
        "auto" is the whole grid; "boost" has its small and its bagged boosters only,
        and "forest" also a forest, however many rows there are.
    tradeoffs, bagged_tradeoffs : tuple of float or None
        In place of those of the grid.
    seed : int
        For the forest.
    """

    plain: BoosterPlan
    family: str = "auto"
    tradeoffs: tuple[float, ...] | None = None
    bagged_tradeoffs: tuple[float, ...] | None = None
    seed: int = 0


def list_plans(
    wanted: Wanted, train: BoosterRows, prices: PriceList, n_classes: int
) -> list[Plan]:
    """Return what is to be grown, each once.

    Where categories have so many levels that our sums would fill the memory, all
    boosters are those of LightGBM.

    Parameters
    ----------
    wanted : Wanted
        What is asked for.
    train : BoosterRows
        Rows to grow on.
    prices : PriceList
        What columns cost.
    n_classes : int
        How many classes there are.
    """
    lister = _Lister(wanted, train, n_classes)
    found: list[Plan] = [*lister.list_asked()]
    if wanted.family == "auto":
        found += [*lister.list_others(), *lister.list_few(prices), *lister.list_bayes()]
    found += lister.list_forests()
    return list(dict.fromkeys(found))


class _Lister:
    """Makes plans of the grid that suits some rows."""

    def __init__(self, wanted: Wanted, train: BoosterRows, n_classes: int) -> None:
        self.wanted, self.train, self.n_classes = wanted, train, n_classes
        self.n_rows = train.rows.n_rows
        self.grid = usual_grid(self.n_rows, n_classes)
        most = max(MANY_LEAVES, OWN_MANY * wanted.plain.n_leaves)
        self.can_grow = can_grow(train, n_classes, most)

    def list_asked(self) -> Iterator[BoosterPlan]:
        """Return small and bagged boosters."""
        small, bagged = self.grid.small, Kind(self.grid.bagged, is_bagged=True)
        if self.wanted.tradeoffs is not None:
            small = small._replace(tradeoffs=self.wanted.tradeoffs)
        if self.wanted.bagged_tradeoffs is not None:
            bagged = bagged._replace(tradeoffs=self.wanted.bagged_tradeoffs)
        yield from self._list_kind(small)
        yield from self._list_kind(bagged)

    def list_others(self) -> Iterator[BoosterPlan]:
        """Return the boosters that the family "auto" adds."""
        for kind in self.grid.others:
            if self.can_grow or not kind.is_own:
                yield from self._list_kind(kind)

    def list_few(self, prices: PriceList) -> list[BoosterPlan]:
        """Return large boosters without penalties that see few columns."""
        if self.train.matrix.shape[1] < LEAST_COLUMNS:
            return []
        wide = Kind((0.0,), is_own=self.grid.small.is_own, leaves="wide")
        (plan,) = self._list_kind(wide)
        if self.n_rows > MANY_ROWS:
            plan = replace(plan, n_leaves=MANY_LEAVES)
        columns = _list_columns(self.train, self.n_classes, prices, self.grid.few, plan)
        return [replace(plan, columns=some) for some in columns]

    def list_bayes(self) -> Iterator[Plan]:
        """Return naive Bayes, and its blends with boosters."""
        if self.grid.blends is None:
            return
        for kind in self.grid.blends:
            for plan in self._list_kind(kind):
                yield replace(plan, bayes_share=BAYES_SHARE)
        yield BayesPlan()

    def list_forests(self) -> list[ForestPlan]:
        """Return random forests: columns must be numbers."""
        family, n_jobs = self.wanted.family, self.wanted.plain.n_jobs
        usual = {"auto": self.grid.forests, "boost": (), "forest": ONE_FOREST}[family]
        if any(test.kind != "number" for test in self.train.tests):
            return []
        return [
            ForestPlan(FOREST_TREES, FOREST_LEAVES, self.wanted.seed, n_jobs, is_random)
            for is_random in usual
        ]

    def _list_kind(self, kind: Kind) -> Iterator[BoosterPlan]:
        is_own = kind.is_own and self.can_grow
        plan = replace(
            self.wanted.plain,
            n_leaves=self._count_leaves(kind, is_own),
            is_own=is_own,
            is_bagged=kind.is_bagged,
            is_apart=kind.is_apart and is_own,
        )
        return (replace(plan, tradeoff=float(t)) for t in kind.tradeoffs)

    def _count_leaves(self, kind: Kind, is_own: bool) -> int:
        narrow = self.wanted.plain.n_leaves
        bears_more = is_own and self.n_rows > MANY_ROWS and self.n_classes > 2
        usual = narrow
        if is_own or kind.is_bagged:
            usual *= OWN_MANY if bears_more else OWN_LEAVES
        wide = max(MANY_LEAVES if bears_more else WIDE_LEAVES, usual)
        return {"narrow": narrow, "usual": usual, "wide": wide}[kind.leaves]


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
