"""Fit an estimator from a store of codes, its trees grown by the tasks of an engine.

An engine runs functions on items somewhere; :mod:`.dask`, :mod:`.spark` and
:mod:`.ray` have one each. The estimator does all else itself, and does not know where
its trees were grown. This module must not know any engine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidOptionError
from askless.learn import BudgetForestClassifier, CodeStore
from askless.learn._examples import CodedExamples
from askless.learn.forest._grow import GrowthOptions, grow_trees
from askless.learn.forest._set_aside import set_aside
from askless.policy import Nodes
from askless.problem import PriceList
from askless.scale._rows import RowsGrower

__all__ = ["Engine", "LocalEngine", "add_counts", "add_some", "fit_on"]

Item = TypeVar("Item")
Result = TypeVar("Result")


class Engine(Protocol):
    """What runs functions somewhere, each on one item; both must be picklable."""

    def map(
        self, function: Callable[[Item], Result], items: Sequence[Item]
    ) -> list[Result]:
        """Return what a function makes of each item, in their order."""

    def sum(
        self, function: Callable[[Item], NDArray[Any]], items: Sequence[Item]
    ) -> NDArray[Any]:
        """Return the sum of what a function makes of each item."""


class LocalEngine:
    """Runs everything here, one item after another: what engines are compared with."""

    def map(
        self, function: Callable[[Item], Result], items: Sequence[Item]
    ) -> list[Result]:
        """Return what a function makes of each item, in their order."""
        return [function(item) for item in items]

    def sum(
        self, function: Callable[[Item], NDArray[Any]], items: Sequence[Item]
    ) -> NDArray[Any]:
        """Return the sum of what a function makes of each item."""
        return add_counts([function(item) for item in items])


def add_counts(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return the sum of counts, in the narrowest type that holds it.

    Examples
    --------
    >>> add_counts([np.array([200, 1], dtype=np.uint8)] * 2)
    array([400,   2], dtype=uint16)
    """
    total = parts[0].astype(np.uint32)
    for part in parts[1:]:
        total += part
    return total.astype(np.min_scalar_type(int(total.max(initial=0))))


def add_some(task: tuple[Callable[[Any], NDArray[Any]], Sequence[Any]]) -> NDArray[Any]:
    """Return the sum of what a function makes of some items, one at a time.

    Examples
    --------
    >>> add_some((lambda n: np.full(2, n, dtype=np.uint8), [3, 4]))
    array([7, 7], dtype=uint8)
    """
    function, items = task
    total = add_counts([function(items[0])])
    for item in items[1:]:
        total = add_counts([total, function(item)])
    return total


def fit_on(
    engine: Engine,
    estimator: BudgetForestClassifier,
    store: CodeStore,
    *,
    split: str = "trees",
    n_parts: int | None = None,
) -> BudgetForestClassifier:
    """Fit an estimator from a store, its trees grown by an engine; return it.

    Parameters
    ----------
    engine : Engine
        Where to run.
    estimator : BudgetForestClassifier
        What to fit.
    store : CodeStore
        The rows; every worker must see its folder under the same path.
    split : {"trees", "rows"}
        A task for each tree, which needs the memory of its sample, or one for each
        part of the rows, which needs that of a part.
    n_parts : int, optional
        Into how many parts rows are divided; of about 250,000 by default.
    """
    if split not in ("trees", "rows"):
        raise InvalidOptionError(
            f'split must be "trees" or "rows". Got {split!r}. Use "trees" if the codes '
            "of a sample fit in the memory of a worker."
        )
    if not isinstance(estimator, BudgetForestClassifier):
        raise InvalidOptionError(
            "Engines grow the trees of a BudgetForestClassifier. Got "
            f"{type(estimator).__name__}. Call its fit."
        )
    if not isinstance(store, CodeStore):
        raise InvalidOptionError(
            f"Engines read a CodeStore. Got {type(store).__name__}. Write one: "
            "CodeStore.write(source, target, path)."
        )
    grower: Any = TreesGrower(engine, store)
    if split == "rows":
        grower = RowsGrower(engine, store, n_parts)
    estimator._grow_trees = grower
    try:
        return estimator.fit(store)
    finally:
        del estimator._grow_trees


@dataclass(frozen=True)
class TreesGrower:
    """Grows every tree in a task of its own."""

    engine: Engine
    store: CodeStore

    def __call__(
        self,
        examples: CodedExamples,
        prices: PriceList,
        options: GrowthOptions,
        trees: Sequence[int],
        n_jobs: int,
    ) -> Nodes:
        """Grow the trees of these numbers and return their nodes."""
        tasks = [TreeTask(self.store, prices, options, tree) for tree in trees]
        return Nodes.join(self.engine.map(grow_tree, tasks))


@dataclass(frozen=True)
class TreeTask:
    """A tree to be grown; the store is opened where it is."""

    store: CodeStore
    prices: PriceList
    options: GrowthOptions
    tree: int


def grow_tree(task: TreeTask) -> Nodes:
    """Grow a tree; what trees of one store share is kept for the next one."""
    examples = _read(task.store, task.options.aside, task.options.seed)
    return grow_trees(examples, task.prices, task.options, [task.tree], 1)


def _read(store: CodeStore, aside: float, seed: int) -> CodedExamples:
    return _read_kept(str(store.path), store.digest, aside, seed)


@lru_cache(maxsize=1)
def _read_kept(path: str, digest: str, aside: float, seed: int) -> CodedExamples:
    examples = CodeStore.open(path, check=False).code()
    if not aside:
        return examples
    return replace(examples, is_kept=~set_aside(examples.class_rows, aside, seed))
