"""What is done with a part of the rows, or with a small node, wherever it is done.

Tasks say which rows of a store they are about, and carry none of them. This module must
not know any engine, nor how trees are put together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless._core.bagging._grow import grow_bagged
from askless._core.bagging._histograms import (
    count_codes,
    list_places,
    route_rows,
    take_columns,
)
from askless._core.bagging._samples import Bundles, draw_bag, draw_rows
from askless._core.greedy._options import GrowthRows, RandomDraws
from askless.learn import CodeStore
from askless.learn.forest._grow import GrowthOptions
from askless.problem import PriceList

__all__ = [
    "CountTask",
    "FinishTask",
    "ListTask",
    "Part",
    "Routes",
    "count_part",
    "finish_nodes",
    "list_part",
]


@dataclass(frozen=True)
class Routes:
    """The upper part of a tree as the kernel wants it."""

    test: NDArray[np.int32]
    cut: NDArray[np.int32]
    child: NDArray[np.int32]
    place: NDArray[np.int32]


@dataclass(frozen=True)
class Part:
    """Some rows of a store, from one up to another; those that are kept are marked."""

    store: CodeStore
    first: int
    last: int
    kept: NDArray[np.uint8] | None

    def codes(self) -> NDArray[np.uint8]:
        """Return the codes of the rows."""
        return np.asarray(self.store.codes[:, self.first : self.last])

    def packed(self) -> NDArray[np.uint8]:
        """Return their tests of two outcomes, eight to a byte."""
        return np.asarray(self.store.bundles.codes[:, self.first : self.last])

    def class_rows(self) -> NDArray[np.int64]:
        """Return how many of the rows each class has."""
        ends = np.clip(np.cumsum(self.store.class_rows), self.first, self.last)
        return np.diff(ends, prepend=self.first).astype(np.int64)

    def draw(self, key: int | None) -> NDArray[np.uint8]:
        """Return how often each row is in the sample of a key; None for once each."""
        n_rows = self.last - self.first
        counts = np.ones(n_rows, dtype=np.uint8)
        if key is not None:
            counts = draw_bag(n_rows, key, self.first)
        if self.kept is not None:
            counts *= np.unpackbits(self.kept, count=n_rows)
        return counts


@dataclass(frozen=True)
class CountTask:
    """Nodes of some trees to be counted in a part."""

    part: Part
    start: NDArray[np.int64]
    trees: list[tuple[int | None, Routes]]
    n_places: int


def count_part(task: CountTask) -> NDArray[Any]:
    """Return the counts of a part, in the narrowest type that holds them."""
    part, bundles = task.part, task.part.store.bundles
    codes, packed, class_rows = part.codes(), part.packed(), part.class_rows()
    width = int(task.start[-1]) * len(class_rows)
    found = np.zeros((task.n_places, width), dtype=np.uint32)
    for key, routes in task.trees:
        counts = part.draw(key)
        count_codes(
            codes,
            packed,
            bundles.bits,
            bundles.whole,
            counts,
            _route(codes, counts, routes),
            class_rows,
            task.start,
            found,
        )
    part.store.release()
    return found.astype(np.min_scalar_type(int(found.max(initial=0))))


@dataclass(frozen=True)
class ListTask:
    """Nodes of a tree whose rows are to be listed in a part."""

    part: Part
    key: int | None
    routes: Routes
    n_places: int


def list_part(task: ListTask) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Return the rows of each node, one node after another, and how many each has."""
    part = task.part
    place = _route(part.codes(), part.draw(task.key), task.routes)
    part.store.release()
    return list_places(place, task.n_places, part.first)


@dataclass(frozen=True)
class FinishTask:
    """Small nodes to be finished: rows of each, its key and its depth.

    The sample of their tree is drawn again by its key, which is None if each row counts
    once.
    """

    store: CodeStore
    prices: PriceList
    options: GrowthOptions
    bag: int | None
    nodes: list[tuple[NDArray[np.uint32], int, int]]


def finish_nodes(task: FinishTask) -> list[dict[str, NDArray[Any]]]:
    """Return the subtree of each node, grown in memory."""
    options, price = task.options, task.prices.full
    grown = []
    for ids, key, depth in task.nodes:
        rows, bundles = _take(task.store, ids)
        limits = options.limits
        if limits.max_depth is not None:
            limits = replace(limits, max_depth=limits.max_depth - depth)
        tree = grow_bagged(
            rows,
            price,
            alpha=options.alpha,
            counts=None if task.bag is None else draw_rows(ids, task.bag),
            bundles=bundles.by_price(price),
            limits=limits,
            draws=RandomDraws(key=key, max_tests=options.max_features),
        )
        grown.append(tree.to_arrays())
    return grown


def _take(store: CodeStore, ids: NDArray[np.uint32]) -> tuple[GrowthRows, Bundles]:
    """Return some rows of a store, tests of two outcomes in bundles only."""
    coded, kept = store.code(), store.bundles
    every = np.arange(len(kept.codes), dtype=np.int32)
    packed = _take_columns(store, kept.codes, every, ids)
    ends = np.searchsorted(ids, np.cumsum(coded.class_rows))
    rows = GrowthRows(
        _take_columns(store, coded.codes, kept.whole, ids),
        np.diff(ends, prepend=0).astype(np.int64),
        coded.n_levels,
        coded.is_ordered,
    )
    return rows, Bundles(packed, kept.bits, len(coded.tests), is_alone=True)


def _take_columns(
    store: CodeStore, mapped: Any, columns: NDArray[np.int32], ids: NDArray[np.uint32]
) -> NDArray[Any]:
    """Return some rows of some columns; no more than one column stays mapped."""
    found = np.empty((len(columns), len(ids)), dtype=mapped.dtype)
    for i in range(len(columns)):
        # Rows of a node lie all over the file: they map nearly all of it.
        found[i] = take_columns(mapped, columns[i : i + 1], ids)[0]
        store.release()
    return found


def _route(
    codes: NDArray[np.uint8], counts: NDArray[np.uint8], routes: Routes
) -> NDArray[np.int32]:
    return route_rows(
        codes, counts, routes.test, routes.cut, routes.child, routes.place
    )
