"""Grow the trees of a forest from coded examples, in threads.

Every tree is drawn by its own key, mixed from the seed and its number, so that a forest
does not depend on the threads nor on how many trees were asked for. This module must
not know budgets or validation rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless._core.bagging._grow import grow_bagged
from askless._core.bagging._samples import Bundles, bundle_codes, draw_bag
from askless._core.greedy._criteria import Hinged
from askless._core.greedy._grow import grow_greedy
from askless._core.greedy._options import GrowthLimits, GrowthRows, RandomDraws
from askless._core.tree._store import join_trees
from askless.learn._examples import CodedExamples
from askless.policy import Nodes
from askless.problem import PriceList
from askless.problem._jobs import starting_threads

__all__ = ["GrowthOptions", "TreesToGrow", "bag_of", "grow_trees", "tree_key"]


@dataclass(frozen=True)
class GrowthOptions:
    """How each tree of a forest is grown; see BudgetForestClassifier.

    Attributes
    ----------
    limits : GrowthLimits
        Where a tree stops to grow, as the kernels take it.
    max_features : int
        How many tests are tried at a node; 0 for all.
    aside : float, default=0.0
        The share of the rows that was set aside by the seed.
    use_fast : bool, default=True
        A switch: changes time, never the trees.
    """

    alpha: float
    split: str
    thresholds: str
    max_features: int
    limits: GrowthLimits
    free_reuse: bool
    bootstrap: bool
    seed: int
    aside: float = 0.0
    use_fast: bool = True


def tree_key(seed: int, tree: int) -> int:
    """Return the random key of a tree of a forest.

    Examples
    --------
    >>> tree_key(0, 1) == tree_key(0, 1), tree_key(0, 1) == tree_key(0, 2)
    (True, False)
    """
    words = np.random.SeedSequence([seed, tree]).generate_state(1, np.uint64)
    return int(words[0])


def bag_of(
    options: GrowthOptions, tree: int, examples: CodedExamples
) -> NDArray[np.uint8] | None:
    """Return how often each row is in the sample of a tree; None for once each."""
    is_kept = examples.is_kept
    once = None if is_kept is None else is_kept.view(np.uint8)
    if not options.bootstrap:
        return once
    counts = draw_bag(examples.n_rows, tree_key(options.seed, tree))
    if once is not None:
        counts *= once
    # Of very few rows none may be drawn.
    return counts if counts.any() else once


@dataclass(frozen=True)
class TreesToGrow:
    """Some trees of a forest, and what they are grown from.

    Attributes
    ----------
    examples : CodedExamples
        All rows; each tree draws its own sample of them.
    prices : PriceList
        What tests cost.
    options : GrowthOptions
        How each tree is grown.
    trees : sequence of int
        The numbers of the trees in their forest.
    n_jobs : int, default=1
        Threads.
    """

    examples: CodedExamples
    prices: PriceList
    options: GrowthOptions
    trees: Sequence[int]
    n_jobs: int = 1

    def rows(self) -> GrowthRows:
        """Return the rows as kernels take them."""
        examples = self.examples
        return GrowthRows(
            examples.codes,
            examples.class_rows,
            examples.n_levels,
            examples.is_ordered,
            weights=examples.weights,
        )


def grow_trees(asked: TreesToGrow) -> Nodes:
    """Grow trees and return their nodes."""
    examples, prices, options = asked.examples, asked.prices, asked.options
    trees, n_jobs = asked.trees, asked.n_jobs
    rows = asked.rows()
    if is_simple(rows, prices, options):
        bundles = _bundle(examples, prices)
        grown = _map(
            lambda tree: _grow_fast(
                rows, bundles, prices, options, tree, bag_of(options, tree, examples)
            ),
            trees,
            n_jobs,
        )
        return Nodes.from_arrays(join_trees(grown))
    draws = _find_draws(examples, options)
    plain = _map(
        lambda tree: _grow_any(
            rows, prices, options, draws, tree, bag_of(options, tree, examples)
        ),
        trees,
        n_jobs,
    )
    return Nodes.join(Nodes.from_arrays(arrays) for arrays in plain)


def _bundle(examples: CodedExamples, prices: PriceList) -> Bundles:
    """Return the tests of two outcomes eight to a byte, in order of price."""
    if examples.bundles is not None:
        return examples.bundles.by_price(prices.full)
    codes: Any = examples.codes
    return bundle_codes(codes, prices.full)


def is_simple(rows: GrowthRows, prices: PriceList, options: GrowthOptions) -> bool:
    """Return whether the fast grower can grow these trees."""
    return (
        options.use_fast
        and options.split == "minimax"
        and options.thresholds == "all"
        and not options.free_reuse
        and rows.weights is None
        and rows.codes.dtype == np.uint8
        and bool(rows.is_ordered.all())
        and not prices.engine.has_groups
        and not prices.by_outcome
    )


def _map(grow: Callable[[int], Any], trees: Sequence[int], n_jobs: int) -> list[Any]:
    if n_jobs == 1 or len(trees) < 2:
        return [grow(tree) for tree in trees]
    with starting_threads(), ThreadPoolExecutor(n_jobs) as pool:
        return list(pool.map(grow, trees))


def _find_draws(examples: CodedExamples, options: GrowthOptions) -> RandomDraws:
    """Return what all trees leave to chance, but for their keys."""
    if options.thresholds == "all":
        return RandomDraws(max_tests=options.max_features)
    cuts = [test.cut_array for test in examples.tests]
    starts = np.cumsum([0] + [len(values) for values in cuts]).astype(np.int64)
    return RandomDraws(
        max_tests=options.max_features,
        cut_values=np.concatenate([*cuts, np.zeros(1)]),
        cut_value_start=starts,
    )


def _grow_fast(
    rows: GrowthRows,
    bundles: Bundles,
    prices: PriceList,
    options: GrowthOptions,
    tree: int,
    counts: NDArray[np.uint8] | None,
) -> Any:
    key = tree_key(options.seed, tree)
    return grow_bagged(
        rows,
        prices.full,
        alpha=options.alpha,
        counts=counts,
        bundles=bundles,
        limits=options.limits,
        draws=RandomDraws(key=key, max_tests=options.max_features),
    )


def _grow_any(
    rows: GrowthRows,
    prices: PriceList,
    options: GrowthOptions,
    draws: RandomDraws,
    tree: int,
    counts: NDArray[np.uint8] | None,
) -> dict[str, NDArray[Any]]:
    return grow_greedy(
        _take_sample(rows, counts),
        Hinged(options.alpha, False, options.split == "expected"),
        prices.engine,
        limits=options.limits,
        draws=replace(draws, key=tree_key(options.seed, tree)),
        free_reuse=options.free_reuse,
    )


def _take_sample(rows: GrowthRows, counts: NDArray[np.uint8] | None) -> GrowthRows:
    """Return a copy of the rows of a sample, which growing may use up."""
    codes: Any = rows.codes
    weights = rows.weights
    if counts is None:
        return replace(
            rows,
            codes=codes.copy(),
            weights=None if weights is None else weights.copy(),
        )
    kept = np.flatnonzero(counts)
    times = counts[kept].astype(np.float64)
    ends = np.cumsum(rows.class_rows)
    class_rows = np.diff(np.searchsorted(kept, ends), prepend=0)
    return replace(
        rows,
        codes=np.ascontiguousarray(codes[:, kept]),
        class_rows=class_rows.astype(np.int64),
        weights=times if weights is None else weights[kept] * times,
    )
