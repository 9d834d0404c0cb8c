"""Fit an estimator from a store of codes, its trees grown by the tasks of an engine.

An engine runs functions on items somewhere; :mod:`.dask`, :mod:`.spark` and
:mod:`.ray` have one each. The estimator does all else itself, and does not know where
its trees were grown. This module must not know any engine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from numpy.typing import NDArray

from askless.exceptions import InvalidOptionError
from askless.learn import BudgetForestClassifier, CodeStore
from askless.learn.forest._grow import TreesToGrow
from askless.policy import Nodes
from askless.scale._counts import add_counts
from askless.scale._rows import RowsGrower
from askless.scale._tree_tasks import TreeTask, grow_tree

__all__ = ["Engine", "LocalEngine", "fit_on"]

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

    def __call__(self, asked: TreesToGrow) -> Nodes:
        """Grow trees and return their nodes."""
        tasks = [
            TreeTask(self.store, asked.prices, asked.options, tree)
            for tree in asked.trees
        ]
        return Nodes.join(self.engine.map(grow_tree, tasks))
