"""DecTree on sets and fractions, by the definition: slow, and nothing of it compiled.

For tables without unknown outcomes, each test at one plain price. Nothing is lazy, and
nothing but what a test covers is remembered; the rest is worked out from sets again.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection
from fractions import Fraction
from typing import Any

from askless.problem import Table

__all__ = ["PlainDecTree"]

Cases = frozenset[int]
Tests = frozenset[int]

# Gains and weights closer than this, relatively, are equal.
TOLERANCE = Fraction(1, 10**12)


def _solve_chi() -> float:
    """Return the root of e^x = 2 - x, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if math.exp(middle) < 2 - middle:
            low = middle
        else:
            high = middle
    return high


class PlainDecTree:
    """DecTree, one rule a method.

    Parameters
    ----------
    table : Table
    is_guarded : bool, default=True
        Leave out tests that split nothing and stop where nothing is left to find out.
    keep_all : bool, default=True
        Whether the adapted greedy keeps all tests if they fit into the budget.

    Attributes
    ----------
    call_records : list of (frozenset of int, float)
        The cases and the budget of each call that was not a leaf or a free test.

    Examples
    --------
    >>> plain = PlainDecTree(Table([[0, 0], [0, 1], [1, 1]], ["a", "b", "c"]))
    >>> plain.costs()
    (2.0, 1.66...)
    """

    def __init__(
        self, table: Table, *, is_guarded: bool = True, keep_all: bool = True
    ) -> None:
        self.table = table
        self.is_guarded = is_guarded
        self.keep_all = keep_all
        self.alpha = 1 - math.exp(-_solve_chi())
        self.shown = table.codes.tolist()
        self.class_of = table.class_ids.tolist()
        self.prior = [Fraction(float(p)) for p in table.prior]
        # As it is written: 0.1 and 0.2 make 0.3.
        self.price = [Fraction(str(float(p))) for p in table.prices.full]
        self.call_records: list[tuple[Cases, float]] = []
        self._covered_cases: dict[tuple[Cases, int], Cases] = {}

    def costs(self) -> tuple[float, float]:
        """Return the (worst, expected) cost of the tree."""
        self.call_records = []
        paid = self._solve(self.all_cases, self.all_tests)
        total = sum(self.prior)
        mean = sum(self.prior[case] * paid[case] for case in paid) / total
        return float(max(paid.values())), float(mean)

    @property
    def all_cases(self) -> Cases:
        """All cases of the table."""
        return frozenset(range(self.table.n_cases))

    @property
    def all_tests(self) -> Tests:
        """All tests of the table."""
        return frozenset(range(self.table.n_tests))

    # Sets.

    def pairs(self, cases: Cases) -> int:
        """Return how many pairs of the cases differ in class."""
        sizes = Counter(self.class_of[case] for case in cases).values()
        return (len(cases) ** 2 - sum(size**2 for size in sizes)) // 2

    def weight(self, cases: Collection[int]) -> Fraction:
        """Return the prior weight of the cases."""
        return sum((self.prior[case] for case in cases), Fraction(0))

    def parts(self, cases: Cases, test: int) -> dict[int, Cases]:
        """Return the cases by what a test shows for them."""
        shown = self.shown[test]
        codes = sorted({shown[case] for case in cases})
        return {code: frozenset(c for c in cases if shown[c] == code) for code in codes}

    def main_code(self, cases: Cases, test: int) -> int:
        """Return the outcome with the most pairs; then weight, cases, smallest code."""
        parts = self.parts(cases, test)
        most = max(self.pairs(part) for part in parts.values())
        parts = {code: p for code, p in parts.items() if self.pairs(p) == most}
        heaviest = max(self.weight(part) for part in parts.values())
        return min(
            (-len(part), code)
            for code, part in parts.items()
            if self.weight(part) >= heaviest * (1 - TOLERANCE)
        )[1]

    def covered_cases(self, cases: Cases, test: int) -> Cases:
        """Return the cases that do not show the main outcome of a test."""
        if (cases, test) not in self._covered_cases:
            main = self.main_code(cases, test)
            self._covered_cases[cases, test] = cases - self.parts(cases, test)[main]
        return self._covered_cases[cases, test]

    def covered(self, cases: Cases, tests: Collection[int]) -> int:
        """Return how many pairs tests cover together."""
        left = cases.difference(*(self.covered_cases(cases, test) for test in tests))
        return self.pairs(cases) - self.pairs(left)

    def choose(self, tests: Collection[int], gain: Callable[[int], Fraction]) -> int:
        """Return the test of most gain for its price; of those that tie, the first."""
        ratio = {test: gain(test) / self.price[test] for test in tests}
        least = max(ratio.values()) * (1 - TOLERANCE)
        return min(test for test in ratio if ratio[test] >= least)

    # The budget.

    def adapted_greedy(self, cases: Cases, tests: Tests, budget: Fraction) -> list[int]:
        """Return the tests of cost at most the budget that the greedy settles for."""
        left = {test for test in tests if 0 < self.price[test] <= budget}
        chosen: list[int] = []
        if not left:
            return chosen
        while left and sum(self.price[test] for test in chosen) <= budget:
            so_far = self.covered(cases, chosen)

            def gain(test: int, before: int = so_far) -> Fraction:
                return Fraction(self.covered(cases, [*chosen, test]) - before)

            chosen.append(self.choose(left, gain))
            left.discard(chosen[-1])
        if self.keep_all and sum(self.price[test] for test in chosen) <= budget:
            return chosen
        *others, last = chosen
        if self.covered(cases, [last]) >= self.covered(cases, others):
            return [last]
        return others

    def budget(self, cases: Cases, tests: Tests) -> Fraction:
        """Return a budget by which enough pairs are covered, found by bisection."""
        useful = [test for test in tests if self.covered_cases(cases, test)]
        target = self.alpha * self.covered(cases, useful)

        def is_enough(budget: Fraction) -> bool:
            chosen = self.adapted_greedy(cases, tests, budget)
            return self.covered(cases, chosen) >= target

        high = sum((self.price[test] for test in useful), Fraction(0))
        if all(price.denominator == 1 for price in self.price):
            low = Fraction(1)
            while low < high:
                middle = Fraction((low + high) // 2)
                low, high = (low, middle) if is_enough(middle) else (middle + 1, high)
            return high
        low = min(self.price[test] for test in useful)
        if is_enough(low):
            return low
        while high - low > high / 10**9:
            # Short fractions: what is lost is far below the step.
            middle = Fraction(float(low + high) / 2)
            low, high = (low, middle) if is_enough(middle) else (middle, high)
        return high

    # The tree.

    def _solve(self, cases: Cases, tests: Tests) -> dict[int, Fraction]:
        """Return what each case pays from here on."""
        splitting = [t for t in sorted(tests) if len(self.parts(cases, t)) > 1]
        if self.pairs(cases) == 0 or not splitting:
            return dict.fromkeys(cases, Fraction(0))
        free = [test for test in splitting if self.price[test] == 0]
        if free:
            test = max(free, key=lambda t: (self.covered(cases, [t]), -t))
            paid: dict[Any, Any] = {}
            for part in self.parts(cases, test).values():
                paid |= self._solve(part, tests - {test})
            return paid
        return _Chain(self, cases, tests).build()


class _Chain:
    """One call: the tests of its chain so far, and the cases that none covers."""

    def __init__(self, plain: PlainDecTree, cases: Cases, tests: Tests) -> None:
        self.plain = plain
        self.budget = plain.budget(cases, tests)
        plain.call_records.append((cases, float(self.budget)))
        self.tests = tests
        self.covers = {test: plain.covered_cases(cases, test) for test in tests}
        self.uncovered = cases
        self.cost = Fraction(0)
        self.paid: dict[int, Fraction] = {}
        self.is_over = False

    def build(self) -> dict[int, Fraction]:
        """Build the whole chain; return what each case pays from its start on."""
        plain, spent = self.plain, Fraction(0)
        while test := self._pick(self.budget - spent, self._weight_gain):
            self._place(test[0])
            spent += plain.price[test[0]]
        spent = Fraction(0)
        while spent <= self.budget and (test := self._pick(self.budget, self._gain)):
            self._place(test[0])
            spent += plain.price[test[0]]
        self._leave(self.uncovered)
        return self.paid

    def _weight_gain(self, test: int) -> Fraction:
        return self.plain.weight(self.covers[test] & self.uncovered)

    def _gain(self, test: int) -> Fraction:
        left = self.uncovered - self.covers[test]
        return Fraction(self.plain.pairs(self.uncovered) - self.plain.pairs(left))

    def _pick(self, most: Fraction, gain: Callable[[int], Fraction]) -> list[int]:
        """Return the next test of at most some price, or nothing."""
        plain = self.plain
        able = [test for test in self.tests if 0 < plain.price[test] <= most]
        if plain.is_guarded:
            able = [test for test in able if self.covers[test] & self.uncovered]
            if plain.pairs(self.uncovered) == 0:
                able = []
        if not able or not self.uncovered or self.is_over:
            return []
        test = plain.choose(able, gain)
        if plain.is_guarded and len(plain.parts(self.uncovered, test)) == 1:
            self.is_over = True
            return []
        return [test]

    def _place(self, test: int) -> None:
        self.cost += self.plain.price[test]
        self.tests -= {test}
        for part in self.plain.parts(self.uncovered, test).values():
            self._leave(part & self.covers[test])
        self.uncovered -= self.covers[test]

    def _leave(self, cases: Cases) -> None:
        if cases:
            below = self.plain._solve(cases, self.tests)
            self.paid |= {case: self.cost + below[case] for case in cases}
