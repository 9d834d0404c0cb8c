"""Choose how much a cost tree guards against noise, by rows that a tree has not seen.

A forest that may use every test can tell classes that a cheap tree cannot: what is
clear to it is noise to the tree, and a tree that trusts it grows too large. So trees
are grown on a part of the rows with less and with more guard, and priced on the other
part. This module must not know what a guard does to a tree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from askless.learn.cost_tree._soft_rows import MergedRows

__all__ = ["choose_guard", "divide_patterns", "list_guards"]

# Guards that are tried where they are above the noise that the forest leaves.
GUARDS = (0.25, 0.5, 1.0, 2.0)
# A guard this close to the noise, relatively, is not worth a try.
CLOSE = 1.5
# Fewer rows tell nothing about guards.
LEAST_ROWS = 300
# A larger guard is chosen if it saves this many standard errors on the held-out rows.
MARGIN = 1.5


def list_guards(noise: float) -> list[float]:
    """Return the guards to try, the noise that a forest leaves first.

    Examples
    --------
    >>> list_guards(0.3)
    [0.3, 0.5, 1.0, 2.0]
    """
    return [noise, *(guard for guard in GUARDS if guard > CLOSE * noise)]


def divide_patterns(rows: MergedRows, seed: int) -> NDArray[np.bool_]:
    """Return which rows are in the first of two parts; equal codes stay together."""
    sizes = np.diff(np.append(rows.pattern_start, len(rows.class_ids)))
    n = len(rows.pattern_start)
    is_first = np.zeros(n, dtype=bool)
    is_first[np.random.default_rng([seed, 1]).permutation(n)[: n // 2]] = True
    divided: NDArray[np.bool_] = np.repeat(is_first, sizes)
    return divided


def choose_guard(
    rows: MergedRows,
    guards: Sequence[float],
    seed: int,
    price_held_out: Callable[[float, NDArray[np.bool_]], NDArray[np.float64]],
) -> float:
    """Return the guard whose trees cost held-out rows least.

    Parameters
    ----------
    rows : MergedRows
        The examples.
    guards : sequence of float
        The first one is kept unless another one is clearly cheaper.
    seed : int
        Source of the random numbers.
    price_held_out : callable
        Given a guard and the rows to grow on, what each of the other rows costs.
    """
    if len(guards) < 2 or rows.weights.sum() < LEAST_ROWS:
        return guards[0]
    is_first = divide_patterns(rows, seed)
    parts = (is_first, ~is_first)
    if not all(part.any() for part in parts):
        return guards[0]
    weights = np.concatenate([rows.weights[~part] for part in parts])
    costs = [
        np.concatenate([price_held_out(guard, part) for part in parts])
        for guard in guards
    ]
    best, least = guards[0], 0.0
    for guard, cost in zip(guards[1:], costs[1:], strict=True):
        change = cost - costs[0]
        mean = float(weights @ change / weights.sum())
        spread = float(np.sqrt(weights @ (change - mean) ** 2) / weights.sum())
        if mean + MARGIN * spread < 0.0 and mean < least:
            best, least = guard, mean
    return best
