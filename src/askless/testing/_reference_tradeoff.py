"""Plain twins of the trade-offs of error against cost, by enumeration.

For trees of a few nodes and tables of a few cases; nothing here is clever.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import product
from typing import NamedTuple

from askless.policy import Tree
from askless.problem import Table
from askless.testing._reference_solve import Cases, _price, _split, count_pairs

__all__ = ["Tradeoff", "brute_force_tradeoffs", "list_prunings"]

# Worst cost, cost times weight, and wrong weight.
Point = tuple[Fraction, Fraction, Fraction]


class Tradeoff(NamedTuple):
    """What a policy costs in the worst case and on average, and how much it errs."""

    worst_cost: float
    expected_cost: float
    error: float


def list_prunings(tree: Tree) -> Iterator[frozenset[int]]:
    """Yield the leaves of every pruning of a tree, as sets of its nodes.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0, 0], [0, 1], [1, 1]], ["a", "b", "c"])
    >>> tree = askless.solve(table, method="greedy").policy
    >>> [sorted(leaves) for leaves in list_prunings(tree)]
    [[0], [1, 4], [2, 3, 4]]
    """

    def below(node: int) -> list[frozenset[int]]:
        ways = [frozenset({node})]
        start, end = tree.branch_start[node], tree.branch_start[node + 1]
        if start < end:
            children = [below(int(child)) for child in tree.branch_child[start:end]]
            ways += [frozenset().union(*way) for way in product(*children)]
        return ways

    yield from below(0)


def brute_force_tradeoffs(table: Table) -> list[Tradeoff]:
    """Return every trade-off that some tree offers and no other tree beats.

    For tables of up to about seven cases and four tests, without unknown outcomes,
    thresholds, delays and costs of mistakes.

    Examples
    --------
    >>> table = Table([[0, 0], [0, 1], [1, 1]], ["a", "b", "c"], costs=[1, 3])
    >>> for tradeoff in brute_force_tradeoffs(table):
    ...     print("%g %g %.3f" % tradeoff)
    0 0 0.667
    1 1 0.333
    4 3 0.000
    """
    prior = [Fraction(float(p)) for p in table.prior]
    total = sum(prior)

    def keep_best(points: set[Point]) -> set[Point]:
        return {
            p
            for p in points
            if not any(q != p and all(map(Fraction.__le__, q, p)) for q in points)
        }

    @cache
    def best(cases: Cases, bought: frozenset[int]) -> frozenset[Point]:
        weights: dict[int, Fraction] = {}
        for case in cases:
            label = int(table.class_ids[case])
            weights[label] = weights.get(label, Fraction(0)) + prior[case]
        wrong = sum(weights.values()) - max(weights.values())
        points: set[Point] = {(Fraction(0), Fraction(0), wrong)}
        if count_pairs(table, cases) == 0:
            return frozenset(points)
        for test in set(range(table.n_tests)) - bought:
            parts = _split(table, cases, test)
            if len(parts) < 2:
                continue
            sums: set[Point] = {(Fraction(0), Fraction(0), Fraction(0))}
            for code, part in parts.items():
                price = _price(table, test, code, bought)
                paid = price * sum(prior[c] for c in part)
                sums = keep_best(
                    {
                        (max(w, price + w2), e + paid + e2, x + x2)
                        for w, e, x in sums
                        for w2, e2, x2 in best(part, bought | {test})
                    }
                )
            points |= sums
        return frozenset(keep_best(points))

    found = best(frozenset(range(table.n_cases)), frozenset())
    return [
        Tradeoff(float(w), float(e / total), float(x / total))
        for w, e, x in sorted(found)
    ]
