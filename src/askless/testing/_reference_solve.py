"""Plain twins of the solvers: obvious, slow, and written without the compiled core.

They take tables without unknown outcomes and work on sets of cases, by the definitions.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

from askless.problem import Table

__all__ = [
    "brute_force_cost",
    "brute_force_pareto",
    "count_pairs",
    "plain_greedy_costs",
]

Cases = frozenset[int]


def count_pairs(table: Table, cases: Cases) -> int:
    """Return how many pairs of the cases differ in class.

    Examples
    --------
    >>> count_pairs(Table([[0], [1], [1]], ["a", "b", "b"]), frozenset({0, 1, 2}))
    2
    """
    ids = [int(table.class_ids[case]) for case in cases]
    return sum(a != b for i, a in enumerate(ids) for b in ids[:i])


def _split(table: Table, cases: Cases, test: int) -> dict[int, Cases]:
    parts: dict[int, set[int]] = {}
    for case in cases:
        parts.setdefault(int(table.codes[test, case]), set()).add(case)
    return {code: frozenset(part) for code, part in sorted(parts.items())}


def _price(table: Table, test: int, code: int, bought: frozenset[int]) -> Fraction:
    """Return what a test charges a case that has bought others: rules 1 to 3."""
    prices = table.prices
    if test in bought:
        return Fraction(0)
    if test in prices.by_outcome and code < len(prices.by_outcome[test]):
        return Fraction(float(prices.by_outcome[test][code]))
    group = prices.group[test]
    if group is not None and any(prices.group[other] == group for other in bought):
        return Fraction(float(prices.discounted[test]))
    return Fraction(float(prices.full[test]))


def brute_force_cost(table: Table, objective: str) -> float:
    """Return the least worst or expected cost of any tree without error.

    Tries every test at every reachable pair of a set of cases and a set of open groups,
    tests that show nothing new but open a group included. For tables of up to about
    nine cases. Sets that no test can split cost nothing more.

    Examples
    --------
    >>> table = Table([[0, 0], [0, 1], [1, 1]], ["a", "b", "c"], costs=[1, 3])
    >>> brute_force_cost(table, "worst")
    4.0
    """
    prior = [Fraction(float(p)) for p in table.prior]

    @cache
    def best(cases: Cases, bought: frozenset[int]) -> Fraction:
        if not _can_go_on(table, cases):
            return Fraction(0)
        totals = []
        for test, parts, after in _moves(table, cases, bought):
            total = Fraction(0)
            for code, part in parts.items():
                price = _price(table, test, code, bought)
                below = best(part, after)
                if objective == "worst":
                    total = max(total, price + below)
                else:
                    total += price * sum(prior[c] for c in part) + below
            totals.append(total)
        return min(totals)

    return float(best(frozenset(range(table.n_cases)), frozenset()))


def brute_force_pareto(table: Table) -> list[tuple[float, float]]:
    """Return every (worst, expected) cost that no error-free tree beats in both.

    Keeps, for each set of cases, all trade-offs that nothing beats, and combines them
    in every way.

    Examples
    --------
    >>> brute_force_pareto(Table([[0, 0], [0, 1], [1, 1]], ["a", "b", "c"]))
    [(2.0, 1.66...)]
    """
    # Thirds as thirds, not as the doubles nearest to them: else equal costs differ by a
    # little, and both are kept.
    prior = [Fraction(float(p)).limit_denominator(10**9) for p in table.prior]

    @cache
    def front(
        cases: Cases, bought: frozenset[int]
    ) -> tuple[tuple[Fraction, Fraction], ...]:
        if not _can_go_on(table, cases):
            return ((Fraction(0), Fraction(0)),)
        found: list[tuple[Fraction, Fraction]] = []
        for test, parts, after in _moves(table, cases, bought):
            sums = [(Fraction(0), Fraction(0))]
            for code, part in parts.items():
                price = _price(table, test, code, bought)
                weight = sum((prior[c] for c in part), Fraction(0))
                sums = _unbeaten(
                    [
                        (max(worst, price + w), expected + price * weight + e)
                        for worst, expected in sums
                        for w, e in front(part, after)
                    ]
                )
            found.extend(sums)
        return tuple(_unbeaten(found))

    points = front(frozenset(range(table.n_cases)), frozenset())
    return [(float(worst), float(expected)) for worst, expected in points]


def _unbeaten(
    points: list[tuple[Fraction, Fraction]],
) -> list[tuple[Fraction, Fraction]]:
    """Return the points that no other is at least as good as in both, ascending."""
    kept: list[tuple[Fraction, Fraction]] = []
    for worst, expected in sorted(set(points)):
        if not kept or expected < kept[-1][1]:
            kept.append((worst, expected))
    return kept


def _can_go_on(table: Table, cases: Cases) -> bool:
    """Return whether the cases differ in class and some test splits them."""
    return count_pairs(table, cases) > 0 and any(
        len(_split(table, cases, test)) > 1 for test in range(table.n_tests)
    )


def _moves(
    table: Table, cases: Cases, bought: frozenset[int]
) -> list[tuple[int, dict[int, Cases], frozenset[int]]]:
    """Return the tests worth buying, their parts, and what counts as bought after.

    Only one test of each group is remembered: what matters is that it is open.
    """
    groups = table.prices.group
    is_open = {groups[test] for test in bought}
    moves = []
    for test in range(table.n_tests):
        parts = _split(table, cases, test)
        opens = groups[test] is not None and groups[test] not in is_open
        if len(parts) > 1 or opens:
            moves.append((test, parts, bought | {test} if opens else bought))
    return moves


def plain_greedy_costs(table: Table, *, delta: float = 0.0) -> tuple[float, float]:
    """Return (worst, expected) cost of the greedy tree, by the definition.

    Each test scores the largest, over its outcomes, of price divided by pairs removed;
    the smallest score wins, then among free tests the larger removal, then the smaller
    index.

    Examples
    --------
    >>> plain_greedy_costs(Table([[0, 0], [0, 1], [1, 1]], ["a", "b", "c"]))
    (2.0, 1.66...)
    """
    prior = [Fraction(float(p)) for p in table.prior]

    def choose(cases: Cases, bought: frozenset[int]) -> int | None:
        pairs = count_pairs(table, cases)
        scored: list[tuple[Fraction, int, int]] = []
        for test in range(table.n_tests):
            parts = _split(table, cases, test)
            if len(parts) < 2:
                continue
            removed = {c: pairs - count_pairs(table, p) for c, p in parts.items()}
            if min(removed.values()) <= 0:
                continue
            ratio = max(_price(table, test, c, bought) / removed[c] for c in parts)
            fewest = min(removed.values())
            scored.append((ratio, -fewest if ratio == 0 else 0, test))
        return min(scored)[2] if scored else None

    def walk(cases: Cases, bought: frozenset[int]) -> tuple[Fraction, Fraction]:
        pairs = count_pairs(table, cases)
        test = None if pairs <= delta else choose(cases, bought)
        if test is None:
            return Fraction(0), Fraction(0)
        worst = expected = Fraction(0)
        for code, part in _split(table, cases, test).items():
            price = _price(table, test, code, bought)
            below_worst, below_expected = walk(part, bought | {test})
            worst = max(worst, price + below_worst)
            expected += price * sum(prior[c] for c in part) + below_expected
        return worst, expected

    worst, expected = walk(frozenset(range(table.n_cases)), frozenset())
    return float(worst), float(expected / math.fsum(table.prior))
