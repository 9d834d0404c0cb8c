"""Grow one tree from a store, wherever it is done.

Workers import this module, and a worker that comes for one that was lost does so while
others wait: it must not import a learner, since scikit-learn takes longer to import
than all else here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from askless.learn._examples import CodedExamples
from askless.learn.forest._grow import GrowthOptions, TreesToGrow, grow_trees
from askless.learn.forest._set_aside import set_aside
from askless.learn.store._code_store import CodeStore
from askless.policy import Nodes
from askless.problem import PriceList

__all__ = ["TreeTask", "grow_tree"]


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
    return grow_trees(TreesToGrow(examples, task.prices, task.options, [task.tree]))


def _read(store: CodeStore, aside: float, seed: int) -> CodedExamples:
    return _read_kept(str(store.path), store.digest, aside, seed)


@lru_cache(maxsize=1)
def _read_kept(path: str, digest: str, aside: float, seed: int) -> CodedExamples:
    examples = CodeStore.open(path, check=False).code()
    if not aside:
        return examples
    return replace(examples, is_kept=~set_aside(examples.class_rows, aside, seed))
