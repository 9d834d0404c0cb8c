"""Plain twins of the methods for unknown outcomes, by the definitions.

Everything is told by a history: the tests done and what they showed. Cases that could
not have shown that are out, the others weigh their prior times the chances of what was
drawn for them. All numbers are fractions, so that nothing depends on rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from itertools import product

from askless.problem import Table

__all__ = [
    "PlainUnknown",
    "brute_force_unknown",
    "plain_rule_cost",
    "plain_rule_score",
]

# Test and the code that it showed.
History = frozenset[tuple[int, int]]
START: History = frozenset()
TOLERANCE = Fraction(1, 10**12)


class PlainUnknown:
    """A table with unknown outcomes, looked at case by case.

    Parameters
    ----------
    table : Table
    stop : {"class", "neighbourhood"}, default="class"
        "class" stops when no two cases of different class are sure to be told apart.
    find_case : bool, default=False
        Whether every case counts as a class.

    Examples
    --------
    >>> table = Table([[0, 0], [None, 1], [1, 1]], ["a", "b", "c"])
    >>> PlainUnknown(table).alive(frozenset({(0, 0)}))
    {0: Fraction(1, 3), 1: Fraction(1, 6)}
    """

    def __init__(
        self, table: Table, *, stop: str = "class", find_case: bool = False
    ) -> None:
        self.table = table
        self.stop = stop
        n = table.n_cases
        self.class_of = list(range(n)) if find_case else table.class_ids.tolist()
        self.prior = [Fraction(float(p)).limit_denominator(10**9) for p in table.prior]
        self.codes = table.codes.tolist()
        self.unknown = [test.unknown_code for test in table.tests]
        self.chances = [
            [Fraction(float(c)).limit_denominator(10**9) for c in chances]
            for chances in table.chances
        ]
        self.own = {
            (test, case): [Fraction(float(c)).limit_denominator(10**9) for c in column]
            for test, likelihoods in enumerate(table.likelihoods)
            if likelihoods is not None
            for case, column in enumerate(likelihoods.T.tolist())
        }
        self.price = [Fraction(float(p)) for p in table.prices.full]

    def chance(self, test: int, code: int, case: int) -> Fraction:
        """Return the chance that a test shows a code for a case."""
        own = self.codes[test][case]
        if own != self.unknown[test]:
            return Fraction(int(own == code))
        levels = self.own.get((test, case), self.chances[test])
        return levels[code] if code < self.table.tests[test].n_levels else Fraction(0)

    def charge(self, test: int, code: int, done: set[int]) -> Fraction:
        """Return what a test charges if it shows a code after other tests."""
        prices = self.table.prices
        by_outcome = prices.by_outcome.get(test, ())
        if code < len(by_outcome):
            return Fraction(float(by_outcome[code]))
        group = prices.group[test]
        if group is not None and any(prices.group[other] == group for other in done):
            return Fraction(float(prices.discounted[test]))
        return self.price[test]

    def alive(self, history: History) -> dict[int, Fraction]:
        """Return the cases left and their weights."""
        left = {}
        for case, weight in enumerate(self.prior):
            factor = math.prod(
                (self.chance(test, code, case) for test, code in history), start=weight
            )
            possible = all(self.chance(test, code, case) > 0 for test, code in history)
            if possible:
                left[case] = Fraction(factor)
        return left

    def outcomes(
        self, test: int, cases: Iterator[int] | dict[int, Fraction]
    ) -> list[int]:
        """Return the codes that a test may show for some cases.

        None if it has no levels: nobody knows what it shows, and it is never asked.
        """
        n_codes = self.table.tests[test].n_levels + 1
        kept = list(cases) if n_codes > 1 else []
        return [
            code
            for code in range(n_codes)
            if any(self.chance(test, code, case) > 0 for case in kept)
        ]

    def tells(self, test: int, a: int, b: int) -> bool:
        """Return whether a test is sure to tell two cases apart."""
        n_codes = self.table.tests[test].n_levels + 1
        if self.table.tests[test].n_levels == 0:
            return False
        return not any(
            self.chance(test, code, a) > 0 and self.chance(test, code, b) > 0
            for code in range(n_codes)
        )

    def is_near(self, a: int, b: int) -> bool:
        """Return whether two cases need not or cannot surely be told apart."""
        if self.class_of[a] == self.class_of[b]:
            return True
        return not any(self.tells(test, a, b) for test in range(self.table.n_tests))

    def is_settled(self, cases: dict[int, Fraction]) -> bool:
        """Return whether a policy stops at these cases."""
        if len({self.class_of[case] for case in cases}) < 2:
            return True
        if self.stop == "neighbourhood":
            every = range(self.table.n_cases)
            return any(all(self.is_near(x, y) for y in cases) for x in every)
        return all(self.is_near(x, y) for x in cases for y in cases)

    def ruled_out(self, test: int, code: int, cases: dict[int, Fraction]) -> list[int]:
        """Return the cases that an outcome would rule out."""
        return [case for case in cases if self.chance(test, code, case) == 0]


def brute_force_unknown(
    table: Table,
    objective: str = "expected",
    *,
    stop: str = "class",
    find_case: bool = False,
) -> float:
    """Return the least cost of any policy, by trying every test after every history.

    For tables of about six cases and five tests.

    Examples
    --------
    >>> brute_force_unknown(Table([[0, 0], [None, 1]], ["a", "b"], costs=[1, 2]))
    2.0
    """
    plain = PlainUnknown(table, stop=stop, find_case=find_case)

    @cache
    def best(history: History) -> Fraction:
        cases = plain.alive(history)
        if plain.is_settled(cases):
            return Fraction(0)
        done = {test for test, _ in history}
        totals = []
        for test in range(table.n_tests):
            codes = plain.outcomes(test, cases)
            if test in done or not codes:
                continue
            parts: list[Fraction] = []
            for code in codes:
                after = history | {(test, code)}
                paid = plain.charge(test, code, done)
                if objective == "expected":
                    paid *= sum(plain.alive(after).values())
                parts.append(paid + best(after))
            whole = sum(parts, Fraction(0))
            totals.append(max(parts) if objective == "worst" else whole)
        return min(totals)

    return float(best(START))


# Rules.


def plain_rule_score(
    plain: PlainUnknown, history: History, test: int, rule: str, form: str = "paper"
) -> Fraction | float:
    """Return the score of a test by a rule, before it is divided by the price.

    ODTN_h counts the copies of each case, one for every way in which the outcomes not
    yet drawn may come, by listing them.
    """
    cases = plain.alive(history)
    total = sum(cases.values(), Fraction(0))
    codes = plain.outcomes(test, cases)
    class_of = plain.class_of
    if rule in ("gbs", "ec2", "information"):
        return _score_by_weight(plain, cases, codes, test, rule, total)
    known, drawn = Fraction(0), Fraction(0)
    for x, weight in cases.items():
        n_opponents = sum(class_of[y] != class_of[x] for y in cases)
        if n_opponents == 0:
            continue
        gain = Fraction(0)
        for code in codes:
            chance = plain.chance(test, code, x)
            if chance:
                out = plain.ruled_out(test, code, cases)
                opponents = sum(class_of[y] != class_of[x] for y in out)
                gain += chance * Fraction(opponents, n_opponents)
        if plain.codes[test][x] == plain.unknown[test]:
            drawn += weight * gain
        else:
            known += weight * gain
    unknown = sum(
        (w for x, w in cases.items() if plain.codes[test][x] == plain.unknown[test]),
        Fraction(0),
    )
    score = known + (unknown / 2 - drawn if form == "released" else drawn)
    if rule == "elimination":
        return score
    if rule == "odtn-r":
        return score + _balance(plain, cases, codes, test, lambda x: 1, False)
    done = {t for t, _ in history}
    copies = {x: _count_copies(plain, x, done) for x in cases}
    return score + _balance(
        plain, cases, codes, test, lambda x: copies[x], form == "paper"
    )


def _count_copies(plain: PlainUnknown, case: int, done: set[int]) -> int:
    """Return in how many ways the draws of a case may still come, by listing them."""
    supports = [
        [code for code in plain.outcomes(test, iter([case]))]
        for test in range(plain.table.n_tests)
        if test not in done and plain.codes[test][case] == plain.unknown[test]
    ]
    if math.prod(map(len, supports)) > 4096:
        return math.prod(map(len, supports))
    return sum(1 for _ in product(*supports))


def _balance(
    plain: PlainUnknown,
    cases: dict[int, Fraction],
    codes: list[int],
    test: int,
    count: Callable[[int], int],
    with_draws: bool,
) -> Fraction:
    """Return the weight of all but the largest part; the first on a tie is largest."""
    sizes: dict[int, Fraction] = {}
    weights: dict[int, Fraction] = {}
    for code in codes:
        sizes[code], weights[code] = Fraction(0), Fraction(0)
        support = 1
        for x, weight in cases.items():
            chance = plain.chance(test, code, x)
            is_drawn = plain.codes[test][x] == plain.unknown[test]
            if not chance or (is_drawn and not with_draws):
                continue
            if is_drawn:
                support = sum(c > 0 for c in plain.chances[test])
            sizes[code] += Fraction(count(x), support if is_drawn else 1)
            weights[code] += weight * chance
    if not sizes:
        return Fraction(0)
    largest = max(sizes, key=lambda code: (sizes[code], -code))
    return sum(weights.values(), Fraction(0)) - weights[largest]


def _score_by_weight(
    plain: PlainUnknown,
    cases: dict[int, Fraction],
    codes: list[int],
    test: int,
    rule: str,
    total: Fraction,
) -> Fraction | float:
    parts = []
    for code in codes:
        by_class: dict[int, list[Fraction]] = {}
        for x, weight in cases.items():
            by_class.setdefault(plain.class_of[x], []).append(
                weight * plain.chance(test, code, x)
            )
        parts.append([sum(weights, Fraction(0)) for weights in by_class.values()])
    if total == 0:
        return Fraction(0)
    if rule == "gbs":
        return total - sum(sum(part) ** 2 for part in parts) / total
    whole = [sum(weights, Fraction(0)) for weights in zip(*parts, strict=True)]
    if rule == "ec2":
        left = sum((sum(part) / total * _edges(part) for part in parts), Fraction(0))
        return _edges(whole) - left
    return _bits(whole) - sum(float(sum(p) / total) * _bits(p) for p in parts)


def _edges(weights: list[Fraction]) -> Fraction:
    whole = sum(weights, Fraction(0))
    return (whole * whole - sum((m * m for m in weights), Fraction(0))) / 2


def _bits(weights: list[Fraction]) -> float:
    total = sum(weights)
    shares = [float(m / total) for m in weights if m > 0] if total else []
    return -sum(p * math.log2(p) for p in shares)


def plain_rule_cost(
    table: Table,
    rule: str,
    form: str = "paper",
    *,
    stop: str = "class",
    find_case: bool = False,
    skips: bool = True,
) -> tuple[float, float]:
    """Return (worst, expected) cost of following a rule, by the definitions.

    A test that was done is not taken, nor, if it `skips` them, one that can rule out no
    case. The largest score for its price wins, free tests first, then the smaller
    index.

    Examples
    --------
    >>> table = Table([[0, 0], [None, 1]], ["a", "b"], costs=[1, 2])
    >>> plain_rule_cost(table, "elimination")
    (2.0, 2.0)
    """
    plain = PlainUnknown(table, stop=stop, find_case=find_case)

    def walk(history: History) -> tuple[Fraction, Fraction]:
        cases = plain.alive(history)
        test = -1
        if not plain.is_settled(cases):
            test = _choose(plain, history, rule, form, skips)
        if test < 0:
            return Fraction(0), Fraction(0)
        below = [walk(history | {(test, code)}) for code in plain.outcomes(test, cases)]
        expected = plain.price[test] * sum(cases.values()) + sum(b[1] for b in below)
        return plain.price[test] + max(b[0] for b in below), expected

    worst, expected = walk(START)
    return float(worst), float(expected / sum(plain.prior))


def _choose(
    plain: PlainUnknown, history: History, rule: str, form: str, skips: bool
) -> int:
    cases = plain.alive(history)
    done = {test for test, _ in history}
    best: tuple[bool, Fraction | float] | None = None
    chosen, sure = -1, -1
    for test in range(plain.table.n_tests):
        if sure < 0 and any(
            plain.class_of[a] != plain.class_of[b] and plain.tells(test, a, b)
            for a in cases
            for b in cases
        ):
            sure = test
        codes = plain.outcomes(test, cases)
        helps = any(plain.ruled_out(test, code, cases) for code in codes)
        if test in done or (skips and not helps):
            continue
        score = plain_rule_score(plain, history, test, rule, form)
        if score <= 0:
            continue
        is_free = plain.price[test] == 0
        value = score if is_free else score / plain.price[test]
        if (
            best is None
            or is_free > best[0]
            or (is_free == best[0] and value > best[1] * (1 + TOLERANCE))
        ):
            best, chosen = (is_free, value), test
    if sure < 0:
        return -1
    return chosen if chosen >= 0 else sure
