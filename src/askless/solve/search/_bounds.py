"""Lower bounds on what any error-free policy costs, each valid by itself.

Each says when it holds. None needs a search, so a greedy policy of a table that is too
large to search still comes with one. Where cases cannot be told apart for sure, a
policy is as free of error as it can be, and blocks of such cases take the place of
classes.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from askless._core.search._cover import Cover, bound_cases
from askless.exceptions import InvalidOptionError
from askless.problem import Table
from askless.solve._task import Task, find_blocks
from askless.solve.search._integers import state_in_integers

__all__ = [
    "BOUNDS",
    "best_bound",
    "certificate_bound",
    "entropy_bound",
    "huffman_bound",
    "pair_bound",
]

# Cells looked at before a bound settles for fewer cases and opponents.
MOST_CELLS = 100_000_000
# Certificates compare every two cases.
MOST_CERTIFIED = 3000


def least_prices(table: Table) -> NDArray[np.float64]:
    """Return the least that each test can charge, in any context."""
    lows = np.minimum(table.prices.full, table.prices.discounted)
    for test, by_outcome in table.prices.by_outcome.items():
        lows[test] = min(lows[test], float(by_outcome.min()))
    return lows


def count_outcomes(table: Table) -> NDArray[np.int64]:
    """Return how many outcomes each test can show for the cases of a table."""
    counts = [len(table.possible.list_codes(test)) for test in range(table.n_tests)]
    return np.array(counts, dtype=np.int64)


def block_weights(task: Task) -> NDArray[np.float64]:
    """Return the weight of each block of cases that has any."""
    blocks = find_blocks(task)
    weights = np.bincount(blocks, weights=task.table.prior).astype(np.float64)
    return weights[weights > 0]


def entropy_bound(task: Task) -> float:
    """Bound by the bits that the decision has, at the best rate of price per bit.

    The leaves of a tree are code words over outcomes, and each decision needs at least
    one. Valid for all cost rules and for unknown outcomes.
    """
    table = task.table
    outcomes = count_outcomes(table)
    useful = outcomes > 1
    if not useful.any():
        return 0.0
    rate = float((least_prices(table)[useful] / np.log2(outcomes[useful])).min())
    weights = block_weights(task)
    if task.objective == "worst":
        return rate * float(np.log2(len(np.unique(find_blocks(task)))))
    return rate * float(-(weights * np.log2(weights)).sum())


def huffman_bound(task: Task) -> float:
    """Bound by the number of tests of the best code words, at the cheapest price.

    Valid as the entropy bound is.
    """
    table = task.table
    outcomes = count_outcomes(table)
    useful = outcomes > 1
    if not useful.any():
        return 0.0
    cheapest, arity = float(least_prices(table)[useful].min()), int(outcomes.max())
    n_blocks = len(np.unique(find_blocks(task)))
    if task.objective == "worst":
        depth, words = 0, 1
        while words < n_blocks:
            words *= arity
            depth += 1
        return cheapest * depth
    return cheapest * _huffman(block_weights(task).tolist(), arity)


def _huffman(weights: list[float], arity: int) -> float:
    heap = list(weights)
    heapq.heapify(heap)
    total = 0.0
    # The first merge takes fewer, so that all later ones are full.
    take = (len(heap) - 2) % (arity - 1) + 2 if len(heap) > 1 else 0
    while len(heap) > 1:
        merged = sum(heapq.heappop(heap) for _ in range(min(take, len(heap))))
        heapq.heappush(heap, merged)
        total += merged
        take = arity
    return total


def pair_bound(task: Task) -> float:
    """Bound the cost from below by the dearest opponent of each case.

    On its way down any error-free tree, a case must be told from each case of another
    block, so it pays at least the cheapest test that may rule that one out. The bound
    of a case is the largest of these over its opponents; in a group the discounted
    price counts, and for a test priced by outcome the price of the case's own outcome.

    Valid for all cost rules and for unknown outcomes. For large tables some cases are
    compared with some opponents only, and the rest are bounded by the cheapest test
    that tells anything.
    """
    table = task.table
    lows = least_prices(table)
    tells = (table.codes != table.codes[:, :1]).any(axis=1)
    n = table.n_cases
    blocks = find_blocks(task)
    if not tells.any() or np.all(blocks == blocks[0]):
        return 0.0
    # The first test is the same for every case.
    bounds = np.full(n, float(lows[tells].min()))
    n_opponents = max(1, min(n, MOST_CELLS // (table.n_tests * min(n, 1000))))
    opponents = _spread(n, n_opponents)
    for case in _spread(n, min(n, 1000)):
        bounds[case] = max(
            bounds[case], _case_bound(task, blocks, case, opponents, lows)
        )
    if task.objective == "worst":
        return float(bounds.max())
    return float(bounds @ table.prior)


def _case_bound(
    task: Task,
    blocks: NDArray[np.int32],
    case: int,
    opponents: NDArray[np.int64],
    lows: NDArray[np.float64],
) -> float:
    table = task.table
    others = opponents[blocks[opponents] != blocks[case]]
    prices = lows.copy()
    for test, by_outcome in table.prices.by_outcome.items():
        code = table.codes[test, case]
        if code < len(by_outcome):
            prices[test] = by_outcome[code]
    helps = table.possible.rules_out_others(case, others)
    cheapest = np.where(helps, prices[:, None], np.inf).min(axis=0, initial=np.inf)
    finite = cheapest[np.isfinite(cheapest)]
    return float(finite.max(initial=0.0))


def _spread(n: int, count: int) -> NDArray[np.int64]:
    """Return ``count`` of the numbers below n, evenly spread."""
    return np.unique(np.linspace(0, n - 1, count).astype(np.int64))


def certificate_bound(task: Task) -> float:
    """Bound each case by the cheapest tests that tell it from all its opponents.

    Valid for all cost rules on tables without unknown outcomes; computed for up to
    3,000 cases, and 0 for tables that the search cannot carry.
    """
    table = task.table
    # At a neighbourhood a case need not be told from all that it could be told from.
    is_loose = task.stop == "neighbourhood" and bool(table.indistinct)
    if table.n_cases > MOST_CERTIFIED or is_loose:
        return 0.0
    try:
        whole = state_in_integers(task)
    except InvalidOptionError:
        return 0.0
    cover = Cover(whole.codes, whole.class_id, whole.case_prices, 2)
    bounds = bound_cases(cover, np.arange(whole.n_cases, dtype=np.uint16))
    if task.objective == "worst":
        return whole.true_cost(int(bounds.max()), is_worst=True)
    return whole.true_cost(int(bounds @ whole.weight), is_worst=False)


BOUNDS: dict[str, Callable[[Task], float]] = {
    "certificate": certificate_bound,
    "entropy": entropy_bound,
    "huffman": huffman_bound,
    "pairs": pair_bound,
}


def best_bound(task: Task) -> tuple[float, str]:
    """Return the largest of the bounds, and its name; the first on a tie."""
    values = {name: bound(task) for name, bound in BOUNDS.items()}
    name = max(values, key=lambda key: values[key])
    return values[name], name
