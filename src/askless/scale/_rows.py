"""Grow trees on rows that lie in parts: count, add up, split, and ship what is small.

Level by level, every part is routed through the tree so far and counted by node, test,
code and class; the counts of all parts are added up, and the best splits are found from
them. Of two children only the lighter one is counted: the other one is what it leaves
of their parent. Nodes of few rows are finished by the grower of rows in memory. The
trees are those of that grower to the last bit. This module must not know any engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from askless._core.bagging._histograms import CountSearch, child_key
from askless._core.greedy._options import GrowthRows
from askless.exceptions import InvalidOptionError
from askless.learn import CodeStore
from askless.learn._examples import CodedExamples
from askless.learn.forest._grow import (
    GrowthOptions,
    TreesToGrow,
    is_simple,
    tree_key,
)
from askless.policy import Nodes
from askless.problem import PriceList
from askless.scale._row_tasks import (
    CountTask,
    FinishTask,
    ListTask,
    Part,
    count_part,
    finish_nodes,
    list_part,
)
from askless.scale._row_trees import Top, assemble

if TYPE_CHECKING:
    from askless.scale._train import Engine

__all__ = ["RowsGrower"]

# Rows of a part, and of a node that is finished in memory, unless someone says else.
PART_ROWS, SMALL_ROWS = 250_000, 200_000
# Counts that are added up at a time, in bytes: more nodes take several passes.
MOST_COUNTS = 1 << 26
# Counts of a level that are kept for the next one, in bytes.
MOST_KEPT = 1 << 28


@dataclass(frozen=True)
class Job:
    """A node to be counted.

    Attributes
    ----------
    tree, node : int
        Which node of which tree.
    is_split : bool
        Whether it is to be split itself.
    rest : int
        The other child of its parent, if that is to be split: its counts are what this
        node leaves of the parent's.
    """

    tree: int
    node: int
    is_split: bool = True
    rest: int = -1


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

    def __call__(self, asked: TreesToGrow) -> Nodes:
        """Grow trees and return their nodes."""
        examples, prices, options = asked.examples, asked.prices, asked.options
        rows = asked.rows()
        if not is_simple(rows, prices, options):
            raise InvalidOptionError(
                'split="rows" must have numbers, prices that do not depend on the '
                'path, split="minimax" and thresholds="all". Got others. Use '
                'split="trees".'
            )
        start = np.cumsum([0, *(examples.n_levels + 1)]).astype(np.int64)
        growth = Growth(self, prices, options, rows, start, self._divide(examples))
        return Nodes.join(growth.grow(asked.trees))

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
        # Counts that are kept of a level, to subtract from.
        self.n_kept, self.most_kept = 0, MOST_KEPT // (4 * cells)

    def grow(self, trees: Sequence[int]) -> list[Nodes]:
        """Return the nodes of each tree."""
        keys = [tree_key(self.options.seed, tree) for tree in trees]
        tops = [Top([key]) for key in keys]
        bags: list[int | None] = list(keys) if self.options.bootstrap else []
        bags = bags or [None] * len(tops)
        for top in tops:
            top.active = [top.add(np.zeros(self.n_classes))]
        while any(top.active for top in tops):
            self.n_kept = 0
            self._grow_level(tops, bags)
        return [self._finish(top, bag) for top, bag in zip(tops, bags, strict=True)]

    def _grow_level(self, tops: list[Top], bags: list[int | None]) -> None:
        """Split all active nodes, as many at a time as there is room for."""
        jobs = [job for i, top in enumerate(tops) for job in self._list_jobs(i, top)]
        for top in tops:
            top.active = []
        for first in range(0, len(jobs), self.most_places):
            group = jobs[first : first + self.most_places]
            for job, found in zip(group, self._count(group, tops, bags), strict=True):
                top = tops[job.tree]
                if job.node == 0 and not found.any() and bags[job.tree] is not None:
                    # Of very few rows none may be drawn: then each counts once.
                    bags[job.tree] = None
                    top.active.append(0)
                    continue
                parent = top.counts.pop(top.parent[job.node], None)
                if job.is_split:
                    self._split(top, job.node, found)
                if job.rest >= 0:
                    assert parent is not None
                    self._split(top, job.rest, parent - found)

    def _list_jobs(self, tree: int, top: Top) -> list[Job]:
        """Return the nodes to be counted; of two children it is the lighter one."""
        active, jobs = set(top.active), []
        for node in top.active:
            parent = top.parent[node]
            if parent not in top.counts:
                jobs.append(Job(tree, node))
                continue
            light, heavy = top.by_weight(parent)
            if node == light:
                jobs.append(Job(tree, node, True, heavy if heavy in active else -1))
            elif light not in active:
                jobs.append(Job(tree, light, False, heavy))
        return jobs

    def _count(
        self, group: list[Job], tops: list[Top], bags: list[int | None]
    ) -> NDArray[np.uint32]:
        """Return the counts of some nodes, added up over all parts."""
        trees = []
        for i in sorted({job.tree for job in group}):
            nodes = [job.node for job in group if job.tree == i]
            n_before = sum(job.tree < i for job in group)
            trees.append((bags[i], tops[i].routes(nodes, n_before)))
        counts: NDArray[Any] = self.engine.sum(
            count_part,
            [CountTask(part, self.start, trees, len(group)) for part in self.parts],
        )
        return counts.astype(np.uint32, copy=False)

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
            child = top.add(totals, node)
            top.child[node][branch] = child
            self._place(top, child)
        if self.n_kept < self.most_kept and set(top.child[node]) & set(top.active):
            # The heavier child is then what the lighter one leaves of it.
            top.counts[node] = np.array(counts)
            self.n_kept += 1

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
        starts = [np.cumsum([0, *lengths]) for _, lengths in listed]
        for i, node in enumerate(top.small):
            ids = np.concatenate(
                [
                    rows[start[i] : start[i + 1]]
                    for (rows, _), start in zip(listed, starts, strict=True)
                ]
            )
            if room < len(ids) or not tasks:
                tasks.append([])
                room = self.small_rows
            tasks[-1].append((ids, top.key[node], top.depth[node]))
            room -= len(ids)
        grown = (
            self.engine.map(
                finish_nodes,
                [
                    FinishTask(self.store, self.prices, self.options, bag, nodes)
                    for nodes in tasks
                ],
            )
            if tasks
            else []
        )
        subtrees = [tree for some in grown for tree in some]
        return assemble(top, dict(zip(top.small, subtrees, strict=True)))
