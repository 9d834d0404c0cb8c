"""A policy that stays as it is: what it costs, and which decisions are no longer best.

Its cost is linear in each prior and each probability, and so is what each decision of a
leaf would cost. So every value here is exact. It must not know how policies are found.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from askless.policy import Tree
from askless.solve._task import Task
from askless.solve.sensitivity._follow import End, follow, stakes_of
from askless.solve.sensitivity._parameters import Parameter
from askless.solve.sensitivity._report import Change, Pair

__all__ = ["FixedPolicy"]

Floats = NDArray[np.float64]


class _Leaf(NamedTuple):
    """A leaf with the weight of each class, and its ways there."""

    decision: int
    weight: Floats
    # What each decision costs more than the one that is taken; by class and in all.
    more: Floats
    margin: Floats
    ends: list[End]


class FixedPolicy:
    """A tree on a task, followed once.

    Parameters
    ----------
    tree : Tree
    task : Task
    """

    def __init__(self, tree: Tree, task: Task) -> None:
        self.tree, self.task = tree, task
        self.prior = task.table.prior / task.table.prior.sum()
        ends: dict[int, list[End]] = {}
        for end in follow(tree, task):
            ends.setdefault(end.leaf, []).append(end)
        self.leaves = [self._leaf(leaf, ways) for leaf, ways in ends.items()]
        stakes = stakes_of(task)
        tests, mistakes = np.zeros(task.table.n_cases), np.zeros(task.table.n_cases)
        for leaf in self.leaves:
            for end in leaf.ends:
                tests += end.reach * end.spent
                mistakes += end.reach * stakes[:, leaf.decision]
        self.stakes = stakes
        self.of_tests, self.of_mistakes = tests, mistakes
        self._slopes: dict[tuple[int, int], Floats] = {}

    def _leaf(self, leaf: int, ends: list[End]) -> _Leaf:
        n = len(self.task.classes)
        weight = np.zeros(n)
        for end in ends:
            weight += np.bincount(self.task.class_ids, self.prior * end.reach, n)
        mistakes = self.task.mistakes
        if mistakes is None:
            mistakes = 1.0 - np.eye(n)
        decision = int(self.tree.node_decision[leaf])
        more = mistakes - mistakes[:, [decision]]
        return _Leaf(decision, weight, more, weight @ more, ends)

    @property
    def cost(self) -> float:
        """What the tree costs, by the objective of the task."""
        return float(self.prior @ (self.of_tests + self.of_mistakes))

    def cost_at(self, parameter: Parameter, value: float) -> float:
        """Return what the tree costs where a number of the table is another one."""
        if parameter.kind == "price":
            prices = parameter.at(value).table.prices
            tests = self.tree._with_prices(prices).expected_cost
            return tests + float(self.prior @ self.of_mistakes)
        if parameter.kind == "mistakes":
            share = value / parameter.value
            return float(self.prior @ (self.of_tests + share * self.of_mistakes))
        if parameter.kind == "prior":
            prior = parameter.at(value).table.prior
            return float(prior @ (self.of_tests + self.of_mistakes))
        if self._is_repeated(parameter.test):
            moved = FixedPolicy(self.tree, parameter.at(value))
            return moved.cost
        slope = self._slope(parameter.test, parameter.code)[parameter.case]
        return self.cost + float(slope) * (value - parameter.value)

    def _is_repeated(self, test: int) -> bool:
        """Return whether a test can be run again, so that costs are not linear."""
        return test in self.task.table.repeats

    def _slope(self, test: int, code: int) -> Floats:
        """Return how the cost changes with the chance of an outcome, for each case."""
        if (test, code) not in self._slopes:
            slope = np.zeros(len(self.prior))
            for leaf in self.leaves:
                for end, rate in self._rates(leaf, test, code):
                    paid = end.spent + self.stakes[:, leaf.decision]
                    slope += self.prior * rate * paid
            self._slopes[test, code] = slope
        return self._slopes[test, code]

    def _rates(self, leaf: _Leaf, test: int, code: int) -> Iterator[tuple[End, Floats]]:
        """Yield how fast cases come to a leaf as an outcome becomes likelier.

        The other outcomes of the test share what is left as before.
        """
        possible = self.task.table.possible
        chances = possible.outcome_chances(test)
        others = 1 - chances[code]
        for end in leaf.ends:
            if test not in end.shown:
                continue
            rate = np.ones(len(self.prior))
            for one, codes in end.shown.items():
                if one != test:
                    rate *= possible.outcome_chances(one)[codes].sum(axis=0)
            codes = end.shown[test]
            here = chances[codes].sum(axis=0)
            change = 1 - here if codes[code] else -here
            rate *= np.divide(change, others, out=np.zeros_like(here), where=others > 0)
            yield end, rate

    def decision_changes(self, parameter: Parameter) -> Pair:
        """Return the nearest values where another decision is better in some leaf."""
        below: Change | None = None
        above: Change | None = None
        for leaf in self.leaves:
            for decision, value, is_below in self._crossings(leaf, parameter):
                to = str(self.task.classes[decision])
                if not parameter.low <= value <= parameter.high:
                    continue
                if is_below and (below is None or value > below.value):
                    below = Change(value, to, self._where(leaf))
                if not is_below and (above is None or value < above.value):
                    above = Change(value, to, self._where(leaf))
        return below, above

    def _crossings(
        self, leaf: _Leaf, parameter: Parameter
    ) -> Iterator[tuple[int, float, bool]]:
        """Yield decisions, where each becomes the better one, and whether below."""
        if parameter.kind == "prior":
            share, own = parameter.value, parameter.case
            mine = leaf.weight[own] * leaf.more[own]
            slopes = mine / share - (leaf.margin - mine) / (1 - share)
        elif parameter.kind == "probability" and not self._is_repeated(parameter.test):
            case = parameter.case
            pair = self._rates(leaf, parameter.test, parameter.code)
            rate = sum(float(rate[case]) for _, rate in pair)
            own = int(self.task.class_ids[case])
            slopes = self.prior[case] * rate * leaf.more[own]
        else:
            # All decisions grow alike with what mistakes cost, and not with prices.
            return
        scale = float(leaf.weight.sum()) * float(np.abs(leaf.more).max(initial=0.0))
        for decision in np.flatnonzero(np.abs(slopes) > 1e-12 * scale).tolist():
            if decision != leaf.decision:
                slope = float(slopes[decision])
                value = parameter.value - float(leaf.margin[decision]) / slope
                yield decision, value, slope > 0

    def _where(self, leaf: _Leaf) -> str:
        """Return the answers that lead to a leaf."""
        end = leaf.ends[0]
        parts = []
        for test, codes in end.shown.items():
            asked = self.task.table.tests[test]
            chances = self.task.table.possible.outcome_chances(test)
            seen = np.flatnonzero(codes & chances.any(axis=1)).tolist()
            parts.append(f"{asked.name} {' or '.join(map(asked.label, seen))}")
        return ", ".join(parts)
