"""Grow the trees of a forest from coded examples, in threads.

Every tree is drawn by its own key, mixed from the seed and its number, so that a forest
does not depend on the threads nor on how many trees were asked for. This module must
not know budgets or validation rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless._core.greedy._bagging import draw_bag, grow_bagged
from askless._core.greedy._bundles import Bundles, bundle_codes
from askless._core.greedy._criteria import Hinged
from askless._core.greedy._grow import grow_greedy
from askless._core.tree._store import join_trees
from askless.learn._examples import CodedExamples
from askless.policy import Nodes
from askless.problem import PriceList

__all__ = ["GrowthOptions", "bag_of", "grow_trees", "tree_key"]

NO_LIMIT = 2**31


@dataclass(frozen=True)
class GrowthOptions:
    """How each tree of a forest is grown; see BudgetForestClassifier."""

    alpha: float
    split: str
    thresholds: str
    max_features: int  # 0: all
    max_depth: int | None
    min_weight: float
    free_reuse: bool
    bootstrap: bool
    seed: int
    use_fast: bool = True  # a switch: changes time, never the trees


def tree_key(seed: int, tree: int) -> int:
    """Return the random key of a tree of a forest.

    Examples
    --------
    >>> tree_key(0, 1) == tree_key(0, 1), tree_key(0, 1) == tree_key(0, 2)
    (True, False)
    """
    words = np.random.SeedSequence([seed, tree]).generate_state(1, np.uint64)
    return int(words[0])


def bag_of(options: GrowthOptions, tree: int, n_rows: int) -> NDArray[np.uint8] | None:
    """Return how often each row is in the sample of a tree; None for once each."""
    if not options.bootstrap:
        return None
    return draw_bag(n_rows, tree_key(options.seed, tree))


def grow_trees(
    examples: CodedExamples,
    prices: PriceList,
    options: GrowthOptions,
    trees: Sequence[int],
    n_jobs: int,
) -> Nodes:
    """Grow the trees of these numbers and return their nodes."""
    if is_simple(examples, prices, options):
        bundles = bundle_codes(examples.codes, prices.full)  # type: ignore[arg-type]
        grown = _map(
            lambda tree: _grow_fast(examples, bundles, prices, options, tree),
            trees,
            n_jobs,
        )
        return Nodes.from_arrays(join_trees(grown))
    plain = _map(lambda tree: _grow_any(examples, prices, options, tree), trees, n_jobs)
    return Nodes.join(Nodes.from_arrays(arrays) for arrays in plain)


def is_simple(
    examples: CodedExamples, prices: PriceList, options: GrowthOptions
) -> bool:
    """Return whether the fast grower can grow these trees."""
    return (
        options.use_fast
        and options.split == "minimax"
        and options.thresholds == "all"
        and not options.free_reuse
        and examples.weights is None
        and examples.codes.dtype == np.uint8
        and bool(examples.is_ordered.all())
        and not prices.engine.has_groups
        and not prices.by_outcome
    )


def _map(grow: Callable[[int], Any], trees: Sequence[int], n_jobs: int) -> list[Any]:
    if n_jobs == 1 or len(trees) < 2:
        return [grow(tree) for tree in trees]
    with ThreadPoolExecutor(n_jobs) as pool:
        return list(pool.map(grow, trees))


def _grow_fast(
    examples: CodedExamples,
    bundles: Bundles,
    prices: PriceList,
    options: GrowthOptions,
    tree: int,
) -> Any:
    n_rows = examples.codes.shape[1]
    return grow_bagged(
        examples.codes,  # type: ignore[arg-type]
        examples.class_rows,
        prices.full,
        examples.n_levels,
        counts=bag_of(options, tree, n_rows),
        bundles=bundles,
        alpha=options.alpha,
        key=tree_key(options.seed, tree),
        max_depth=NO_LIMIT if options.max_depth is None else options.max_depth,
        max_impurity=0.0,
        min_weight=options.min_weight,
        max_features=options.max_features or len(examples.tests),
    )


def _grow_any(
    examples: CodedExamples, prices: PriceList, options: GrowthOptions, tree: int
) -> dict[str, NDArray[Any]]:
    n_rows = examples.codes.shape[1]
    counts = bag_of(options, tree, n_rows)
    codes: Any = examples.codes
    weights = examples.weights
    class_rows = examples.class_rows
    if counts is None:
        codes = codes.copy()
        weights = None if weights is None else weights.copy()
    else:
        kept = np.flatnonzero(counts)
        codes = np.ascontiguousarray(codes[:, kept])
        times = counts[kept].astype(np.float64)
        weights = times if weights is None else weights[kept] * times
        ends = np.cumsum(class_rows)
        class_rows = np.diff(np.searchsorted(kept, ends), prepend=0)
    chances: dict[str, Any] = {}
    if options.thresholds == "random":
        cuts = [test.cut_array for test in examples.tests]
        starts = np.cumsum([0] + [len(values) for values in cuts]).astype(np.int64)
        chances = {
            "cut_values": np.concatenate([*cuts, np.zeros(1)]),
            "cut_value_start": starts,
        }
    return grow_greedy(
        codes,
        class_rows.astype(np.int64),
        Hinged(options.alpha, False, options.split == "expected"),
        prices.engine,
        examples.n_levels,
        examples.is_ordered,
        weights=weights,
        max_depth=NO_LIMIT if options.max_depth is None else options.max_depth,
        max_impurity=0.0,
        min_weight=options.min_weight,
        max_nodes=np.iinfo(np.int32).max,
        free_reuse=options.free_reuse,
        max_tests=options.max_features,
        key=tree_key(options.seed, tree),
        **chances,
    )
