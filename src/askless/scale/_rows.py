"""Grow trees on rows that lie in parts: count, add up, split, and ship what is small.

Level by level, every part is routed through the tree so far and counted by node, test,
code and class; the counts of all parts are added up, and the best splits are found from
them. Nodes of few rows are finished by the grower of rows in memory. The trees are
those of that grower to the last bit. This module must not know any engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from askless._core.bagging._grow import grow_bagged
from askless._core.bagging._histograms import (
    CountSearch,
    child_key,
    count_codes,
    route_rows,
)
from askless._core.bagging._samples import draw_bag
from askless._core.greedy._options import GrowthRows, RandomDraws
from askless.exceptions import InvalidOptionError
from askless.learn import CodeStore
from askless.learn._examples import CodedExamples
from askless.learn.forest._grow import GrowthOptions, is_simple, tree_key
from askless.policy import Nodes
from askless.problem import PriceList

if TYPE_CHECKING:
    from askless.scale._train import Engine

__all__ = ["RowsGrower"]

# Rows of a part, and of a node that is finished in memory, unless someone says else.
PART_ROWS, SMALL_ROWS = 250_000, 200_000
# Counts that are added up at a time, in bytes: more nodes take several passes.
MOST_COUNTS = 1 << 26


@dataclass
class Top:
    """The upper part of a tree, as far as it has been split from counts.

    Attributes
    ----------
    test, cut, default : list of int
        Of each node; -1 where the tree ends so far.
    child : list of list of int
        The two children of each node.
    totals : list of ndarray
        How much of each class gets to a node.
    key, depth : list of int
        The random key of each node, and how many tests come before it.
    active, small : list of int
        The nodes to be split from counts, and those to be finished in memory.
    """

    key: list[int]
    test: list[int] = field(default_factory=list)
    cut: list[int] = field(default_factory=list)
    default: list[int] = field(default_factory=list)
    child: list[list[int]] = field(default_factory=list)
    totals: list[NDArray[np.float64]] = field(default_factory=list)
    depth: list[int] = field(default_factory=list)
    active: list[int] = field(default_factory=list)
    small: list[int] = field(default_factory=list)

    def add(self, totals: NDArray[np.float64], depth: int) -> int:
        """Add a node that ends the tree so far."""
        self.test.append(-1)
        self.cut.append(-1)
        self.default.append(-1)
        self.child.append([-1, -1])
        self.totals.append(totals)
        self.depth.append(depth)
        return len(self.test) - 1

    def routes(self, nodes: Sequence[int], first: int = 0) -> Routes:
        """Return how rows get to some nodes, which are numbered from the first on."""
        place = np.full(len(self.test), -1, dtype=np.int32)
        place[list(nodes)] = np.arange(first, first + len(nodes))
        return Routes(
            np.array(self.test, dtype=np.int32),
            np.array(self.cut, dtype=np.int32),
            np.array(self.child, dtype=np.int32),
            place,
        )


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
    codes, class_rows = task.part.codes(), task.part.class_rows()
    width = int(task.start[-1]) * len(class_rows)
    found = np.zeros((task.n_places, width), dtype=np.uint32)
    for key, routes in task.trees:
        counts = task.part.draw(key)
        place = _route(codes, counts, routes)
        count_codes(codes, counts, place, class_rows, task.start, found)
    return found.astype(np.min_scalar_type(int(found.max(initial=0))))


@dataclass(frozen=True)
class ListTask:
    """Nodes of a tree whose rows are to be listed in a part."""

    part: Part
    key: int | None
    routes: Routes
    n_places: int


def list_part(
    task: ListTask,
) -> tuple[NDArray[np.uint32], NDArray[np.uint8], NDArray[np.int64]]:
    """Return rows node by node, how often each counts, and how many each node has."""
    counts = task.part.draw(task.key)
    place = _route(task.part.codes(), counts, task.routes)
    rows = np.flatnonzero(place >= 0)
    rows = rows[np.argsort(place[rows], kind="stable")]
    lengths = np.bincount(place[rows], minlength=task.n_places)
    return (
        (rows + task.part.first).astype(np.uint32),
        counts[rows],
        lengths.astype(np.int64),
    )


@dataclass(frozen=True)
class FinishTask:
    """Small nodes to be finished: rows of each, their counts, its key and depth."""

    store: CodeStore
    prices: PriceList
    options: GrowthOptions
    nodes: list[tuple[NDArray[np.uint32], NDArray[np.uint8], int, int]]


def finish_nodes(task: FinishTask) -> list[dict[str, NDArray[Any]]]:
    """Return the subtree of each node, grown in memory."""
    coded, options = task.store.code(), task.options
    codes: Any = coded.codes
    ends = np.cumsum(coded.class_rows)
    grown = []
    for ids, counts, key, depth in task.nodes:
        rows = GrowthRows(
            np.ascontiguousarray(codes[:, ids]),
            np.diff(np.searchsorted(ids, ends), prepend=0).astype(np.int64),
            coded.n_levels,
            coded.is_ordered,
        )
        limits = options.limits
        if limits.max_depth is not None:
            limits = replace(limits, max_depth=limits.max_depth - depth)
        tree = grow_bagged(
            rows,
            task.prices.full,
            alpha=options.alpha,
            counts=counts,
            limits=limits,
            draws=RandomDraws(key=key, max_tests=options.max_features),
        )
        grown.append(tree.to_arrays())
    return grown


def _route(
    codes: NDArray[np.uint8], counts: NDArray[np.uint8], routes: Routes
) -> NDArray[np.int32]:
    return route_rows(
        codes, counts, routes.test, routes.cut, routes.child, routes.place
    )


class RowsGrower:
    """Grows trees on rows in parts, by the tasks of an engine.

    Parameters
    ----------
    engine : Engine
        What runs the tasks.
    store : CodeStore
        The rows.
    n_parts : int, optional
        Into how many parts they are divided.
    small_rows : int, optional
        Nodes of so many rows or fewer are finished in memory.
    """

    def __init__(
        self,
        engine: Engine,
        store: CodeStore,
        n_parts: int | None = None,
        small_rows: int | None = None,
    ) -> None:
        self.engine = engine
        self.store = store
        self.n_parts = n_parts or max(1, -(-store.n_rows // PART_ROWS))
        self.small_rows = SMALL_ROWS if small_rows is None else small_rows

    def __call__(
        self,
        examples: CodedExamples,
        prices: PriceList,
        options: GrowthOptions,
        trees: Sequence[int],
        n_jobs: int,
    ) -> Nodes:
        """Grow the trees of these numbers and return their nodes."""
        rows = GrowthRows(
            examples.codes,
            examples.class_rows,
            examples.n_levels,
            examples.is_ordered,
        )
        if not is_simple(rows, prices, options):
            raise InvalidOptionError(
                'split="rows" must have numbers, prices that do not depend on the '
                'path, split="minimax" and thresholds="all". Got others. Use '
                'split="trees".'
            )
        start = np.cumsum([0, *(examples.n_levels + 1)]).astype(np.int64)
        growth = Growth(self, prices, options, rows, start, self._divide(examples))
        return Nodes.join(growth.grow(trees))

    def _divide(self, examples: CodedExamples) -> list[Part]:
        ends = np.linspace(0, examples.n_rows, self.n_parts + 1).astype(np.int64)
        parts = []
        for first, last in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
            kept = examples.is_kept
            marks = None if kept is None else np.packbits(kept[first:last])
            parts.append(Part(self.store, first, last, marks))
        return parts


class Growth:
    """Trees that are grown together, a level of all of them at a time."""

    def __init__(
        self,
        grower: RowsGrower,
        prices: PriceList,
        options: GrowthOptions,
        rows: GrowthRows,
        start: NDArray[np.int64],
        parts: list[Part],
    ) -> None:
        self.engine, self.store = grower.engine, grower.store
        self.small_rows = grower.small_rows
        self.prices, self.options, self.parts = prices, options, parts
        self.start, self.n_classes = start, len(rows.class_rows)
        self.search = CountSearch(
            rows,
            prices.full,
            alpha=options.alpha,
            max_tests=options.max_features,
            start=start,
            n_classes=self.n_classes,
        )
        cells = int(start[-1]) * self.n_classes
        self.most_places = max(1, MOST_COUNTS // (4 * cells))

    def grow(self, trees: Sequence[int]) -> list[Nodes]:
        """Return the nodes of each tree."""
        keys = [tree_key(self.options.seed, tree) for tree in trees]
        tops = [Top([key]) for key in keys]
        bags: list[int | None] = list(keys) if self.options.bootstrap else []
        bags = bags or [None] * len(tops)
        for top in tops:
            top.active = [top.add(np.zeros(self.n_classes), 0)]
        while any(top.active for top in tops):
            self._grow_level(tops, bags)
        return [self._finish(top, bag) for top, bag in zip(tops, bags, strict=True)]

    def _grow_level(self, tops: list[Top], bags: list[int | None]) -> None:
        """Split all active nodes, as many at a time as there is room for."""
        waiting = [(i, node) for i, top in enumerate(tops) for node in top.active]
        for top in tops:
            top.active = []
        for first in range(0, len(waiting), self.most_places):
            group = waiting[first : first + self.most_places]
            trees = []
            for i in sorted({i for i, _ in group}):
                nodes = [node for other, node in group if other == i]
                n_before = sum(other < i for other, _ in group)
                trees.append((bags[i], tops[i].routes(nodes, n_before)))
            counts = self.engine.sum(
                count_part,
                [CountTask(part, self.start, trees, len(group)) for part in self.parts],
            ).astype(np.uint32, copy=False)
            for (i, node), found in zip(group, counts, strict=True):
                if node == 0 and not found.any() and bags[i] is not None:
                    # Of very few rows none may be drawn: then each counts once.
                    bags[i] = None
                    tops[i].active.append(node)
                else:
                    self._split(tops[i], node, found)

    def _split(self, top: Top, node: int, counts: NDArray[np.uint32]) -> None:
        """Split a node by its counts, and say what becomes of its children."""
        if node == 0:
            first = counts[: int(self.start[1]) * self.n_classes]
            top.totals[0] = first.reshape(-1, self.n_classes).sum(axis=0) * 1.0
            self._place(top, 0)
            if top.active[-1:] != [0]:
                return
            top.active.pop()
        found = self.search.find(counts, top.key[node])
        if found is None:
            return
        test, cut, has_missing = found
        at = int(self.start[test])
        cells = counts[at * self.n_classes : (at + cut + 1) * self.n_classes]
        left = cells.reshape(-1, self.n_classes).sum(axis=0) * 1.0
        right = top.totals[node] - left
        top.test[node], top.cut[node] = test, cut
        top.default[node] = int(has_missing or left.sum() < right.sum())
        for branch, totals in enumerate((left, right)):
            top.key.append(child_key(top.key[node], branch))
            child = top.add(totals, top.depth[node] + 1)
            top.child[node][branch] = child
            self._place(top, child)

    def _place(self, top: Top, node: int) -> None:
        """Say whether a node is a leaf, small, or to be split from counts."""
        totals, limits = top.totals[node], self.options.limits
        present = totals[totals > 0]
        weight = float(totals.sum())
        is_leaf = (
            len(present) < 2
            or self.search.impurity(present) <= limits.max_impurity
            or (limits.max_depth is not None and top.depth[node] >= limits.max_depth)
            or weight < limits.min_weight
        )
        if not is_leaf:
            (top.small if weight <= self.small_rows else top.active).append(node)

    def _finish(self, top: Top, bag: int | None) -> Nodes:
        """Finish the small nodes of a tree in memory, and put it together."""
        routes, n_small = top.routes(top.small), len(top.small)
        listed = (
            self.engine.map(
                list_part, [ListTask(part, bag, routes, n_small) for part in self.parts]
            )
            if n_small
            else []
        )
        tasks: list[list[Any]] = []
        room = 0.0
        starts = [np.cumsum([0, *lengths]) for _, _, lengths in listed]
        for i, node in enumerate(top.small):
            where = [slice(start[i], start[i + 1]) for start in starts]
            ids = np.concatenate([p[0][w] for p, w in zip(listed, where, strict=True)])
            times = np.concatenate(
                [p[1][w] for p, w in zip(listed, where, strict=True)]
            )
            if room < len(ids) or not tasks:
                tasks.append([])
                room = self.small_rows
            tasks[-1].append((ids, times, top.key[node], top.depth[node]))
            room -= len(ids)
        grown = (
            self.engine.map(
                finish_nodes,
                [FinishTask(self.store, self.prices, self.options, t) for t in tasks],
            )
            if tasks
            else []
        )
        subtrees = [tree for some in grown for tree in some]
        return _assemble(top, dict(zip(top.small, subtrees, strict=True)))


def _assemble(top: Top, subtrees: dict[int, dict[str, NDArray[Any]]]) -> Nodes:
    """Put the upper part of a tree and the subtrees below it into one."""
    order: list[int] = []
    stack = [0]
    while stack:
        node = stack.pop()
        order.append(node)
        if top.test[node] >= 0:
            stack += reversed(top.child[node])
    pieces = [
        subtrees[node] if node in subtrees else _lone(top, node) for node in order
    ]
    sizes = [len(piece["test"]) for piece in pieces]
    first = dict(zip(order, (np.cumsum(sizes) - sizes).tolist(), strict=True))
    children = []
    for node, piece in zip(order, pieces, strict=True):
        if top.test[node] >= 0:
            children.append(np.array([first[child] for child in top.child[node]]))
        else:
            children.append(piece["branch_child"] + first[node])

    def join(name: str) -> NDArray[Any]:
        return np.concatenate([piece[name] for piece in pieces])

    def starts(name: str, dtype: Any) -> NDArray[Any]:
        lengths = [np.diff(piece[name]) for piece in pieces]
        return np.append(0, np.cumsum(np.concatenate(lengths))).astype(dtype)

    arrays = {
        "test": join("test"),
        "cut": join("cut"),
        "default_branch": join("default_branch"),
        "branch_start": starts("branch_start", np.int32),
        "branch_code": join("branch_code"),
        "branch_child": np.concatenate(children).astype(np.int32),
        "weight_start": starts("weight_start", np.int64),
        "weight_class": join("weight_class"),
        "weight": join("weight"),
    }
    return Nodes.from_arrays(arrays).decide()


def _lone(top: Top, node: int) -> dict[str, NDArray[Any]]:
    """Return a node of the upper part as arrays, its children left out."""
    is_inner = top.test[node] >= 0
    present = np.flatnonzero(top.totals[node] > 0)
    return {
        "test": np.array([top.test[node]], dtype=np.int32),
        "cut": np.array([top.cut[node]], dtype=np.int32),
        "default_branch": np.array([top.default[node]], dtype=np.int32),
        "branch_start": np.array([0, 2 * is_inner]),
        "branch_code": np.arange(2 * is_inner, dtype=np.int32),
        "branch_child": np.zeros(2 * is_inner, dtype=np.int32),
        "weight_start": np.array([0, len(present)]),
        "weight_class": present.astype(np.int32),
        "weight": top.totals[node][present],
    }
