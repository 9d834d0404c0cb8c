"""DecTree on random tables of 10 classes: lazy against eager choice, and its growth.

Seconds of growing the tree on a table that is already coded, without making the policy;
the gains that were worked out; and the seconds of a table against those of half of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from timing import row

from askless._core.chain._backbone import Backbone
from askless._core.chain._dectree import grow_dectree
from askless.solve.greedy._dectree import ALPHA


def make_table(n_cases: int, n_tests: int, share: float) -> tuple[np.ndarray, ...]:
    """Return codes, classes, weights and prices; `share` of all outcomes are 1."""
    rng = np.random.default_rng(0)
    codes = (rng.random((n_tests, n_cases)) < share).astype(np.uint8)
    classes = np.sort(rng.integers(10, size=n_cases)).astype(np.int32)
    prices = rng.integers(1, 11, n_tests).astype(float)
    return codes, classes, rng.exponential(size=n_cases), prices


def grow(table: tuple[np.ndarray, ...], use_laziness: bool) -> tuple[float, int]:
    """Return the seconds of growing a tree, and the gains worked out."""
    codes, classes, weights, prices = table
    start = time.perf_counter()
    backbone = Backbone(
        codes.copy(), classes.copy(), weights.copy(), weights.copy(), prices,
        alpha=ALPHA, is_guarded=True, keep_all=True, use_laziness=use_laziness,
    )  # fmt: skip
    grow_dectree(backbone)
    return time.perf_counter() - start, backbone.n_gains


def best_of(n: int, measure: Callable[[], tuple[float, int]]) -> tuple[float, int]:
    """Return the least of n measurements."""
    return min(measure() for _ in range(n))


def run(quick: bool) -> list[dict[str, object]]:
    """Return a row for each measurement."""
    rows = []
    sizes = [(10_000, 100, 0.5), (10_000, 400, 0.05)]
    if not quick:
        sizes += [(100_000, 50, 0.5), (100_000, 100, 0.05)]
    for n_cases, n_tests, share in sizes:
        table = make_table(n_cases, n_tests, share)
        lazy = best_of(3, lambda table=table: grow(table, True))  # type: ignore[misc]
        eager = best_of(3, lambda table=table: grow(table, False))  # type: ignore[misc]
        name = f"{n_cases:,} x {n_tests}, {share:.0%} ones"
        rows.append(row(f"{name}, seconds", lazy[0], eager[0], 0.9))
        rows.append(row(f"{name}, gains", lazy[1], eager[1], 1.0))
    n_cases = 25_000 if quick else 200_000
    half = best_of(3, lambda: grow(make_table(n_cases // 2, 50, 0.5), True))
    whole = best_of(3, lambda: grow(make_table(n_cases, 50, 0.5), True))
    # Twice the cases should take about twice the time.
    rows.append(row(f"{n_cases:,} x 50 by half of it", whole[0], 2 * half[0], 0.7))
    return rows
