"""The least total cost of a table by trying every policy, in plain Python.

What is remembered is the state alone: the answers so far. Meant for tables of a few
cases and tests.
"""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np

from askless.problem import Table

__all__ = ["reference_total"]

Answers = tuple[tuple[int, int], ...]
# The answers, what was spent if that matters, and the groups that are open.
Key = tuple[frozenset[tuple[int, int]], float, frozenset[int]]


def reference_total(
    table: Table, *, budget: float | None = None, cost_weight: float = 1.0
) -> float:
    """Return the least expected cost of tests and mistakes of any policy.

    Parameters
    ----------
    table : Table
        With mistakes.
    budget : float, optional
        No path spends more.
    cost_weight : float, default=1.0
        What a unit of price counts beside mistakes.

    Examples
    --------
    >>> from askless import Costs
    >>> table = Table([[0], [1]], ["a", "b"], costs=Costs([1.0], mistakes=8))
    >>> reference_total(table)
    1.0
    """
    return _Plain(table, math.inf if budget is None else budget, cost_weight).best(())


class _Plain:
    def __init__(self, table: Table, budget: float, cost_weight: float) -> None:
        self.table = table
        self.budget = budget
        self.cost_weight = cost_weight
        matrix = table.costs.mistake_matrix(table.classes)
        assert matrix is not None
        self.mistakes = matrix
        self.known: dict[
            tuple[frozenset[tuple[int, int]], float, frozenset[int]], float
        ]
        self.known = {}

    def chance(self, test: int, code: int, case: int) -> float:
        """Return the chance that a case shows a code."""
        return float(self.table.possible.outcome_chances(test)[code, case])

    def weights(self, answers: Answers) -> list[float]:
        """Return prior times the chances of the answers, for each case."""
        weights = []
        for case in range(self.table.n_cases):
            weight = float(self.table.prior[case])
            for test, code in answers:
                weight *= self.chance(test, code, case)
            weights.append(weight)
        return weights

    def decide(self, weights: list[float]) -> float:
        """Return the least cost of deciding now, by weight."""
        return min(
            sum(
                weight * float(self.mistakes[self.table.class_ids[case], decision])
                for case, weight in enumerate(weights)
            )
            for decision in range(self.table.n_classes)
        )

    def best(self, answers: Answers) -> float:
        """Return the least cost from here on, by weight."""
        weights = self.weights(answers)
        best = self.decide(weights)
        if sum(w > 0 for w in weights) < 2:
            return best
        bill = self.table.prices.open_bill()
        for test, code in answers:
            bill.charge(test, code)
        key = (
            frozenset(answers),
            round(bill.spent, 9) if math.isfinite(self.budget) else 0.0,
            frozenset(self._open_groups(answers)),
        )
        if key in self.known:
            return self.known[key]
        done = {test for test, _ in answers}
        for test in range(self.table.n_tests):
            if test in done:
                continue
            if self.table.prices.delayed[test]:
                best = min(best, self._try_together(test, answers, weights))
            else:
                best = min(best, self._try(test, answers, weights))
        self.known[key] = best
        return best

    def _open_groups(self, answers: Answers) -> set[int]:
        groups = self.table.prices.group
        return {hash(groups[t]) for t, _ in answers if groups[t] is not None}

    def _try(self, test: int, answers: Answers, weights: list[float]) -> float:
        bill = self.table.prices.open_bill()
        for asked, code in answers:
            bill.charge(asked, code)
        total = 0.0
        chances = self.table.possible.outcome_chances(test)
        for code in range(len(chances)):
            shown = float(np.dot(chances[code], weights))
            if shown <= 0:
                continue
            price = bill.price(test, code)
            if bill.spent + price > self.budget * (1 + 1e-12) + 1e-12:
                return math.inf
            total += self.cost_weight * shown * price
            total += self.best((*answers, (test, code)))
        return total

    def _try_together(
        self, first: int, answers: Answers, weights: list[float]
    ) -> float:
        """Return the least cost of a delayed test with any tests after it."""
        done = {test for test, _ in answers} | {first}
        others = [test for test in range(self.table.n_tests) if test not in done]
        best = math.inf
        for n in range(len(others) + 1):
            for rest in permutations(others, n):
                bill = self.table.prices.open_bill()
                for asked, code in answers:
                    bill.charge(asked, code)
                before = bill.spent
                for test in (first, *rest):
                    bill.charge(test)
                if bill.spent > self.budget * (1 + 1e-12) + 1e-12:
                    continue
                price = self.cost_weight * (bill.spent - before) * sum(weights)
                best = min(best, price + self._decide_after((first, *rest), weights))
        return best

    def _decide_after(self, tests: tuple[int, ...], weights: list[float]) -> float:
        """Return the cost of deciding once some tests have shown what they show."""
        if not tests:
            return self.decide(weights)
        chances = self.table.possible.outcome_chances(tests[0])
        return sum(
            self._decide_after(
                tests[1:], [w * float(c) for w, c in zip(weights, row, strict=True)]
            )
            for row in chances
            if float(np.dot(row, weights)) > 0
        )
