"""Bound the least total cost by pairs of cases: costs are split among them.

What a policy costs is a sum over the true cases. For each true case, split the price of
every test and the loss of every decision among the pairs that the case is in. Then a
policy of the whole is one of each pair, and the pairs' least costs add up to a lower
bound, whatever the split is. The split is improved step by step: a pair whose best
policy asks a test more often than the others do is given more of its price.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from askless._core.total._pairs import PairProblem, PairRoom
from askless.solve._task import Task
from askless.solve.search._bounds import least_prices
from askless.solve.total._arrays import TotalArrays, state_total

__all__ = ["CostSplit", "raise_by_pairs"]

Floats = NDArray[np.float64]

# A pair asks so many tests at a price, with so many outcomes together; the others,
# which tell less, are free.
MOST_TESTS = 8
MOST_ROWS = 32
MOST_PAIRS = 1000
# Grids, in nats of odds: coarse ones first, since they are quick.
STEPS = (0.2, 0.1, 0.05)
REACH = 12.0
# How far the shares move at first; a rate without a unit, of chances between 0 and 1.
FIRST_MOVE = 3.0
# A grid is left when so many moves together gain less than this share.
PATIENCE = 25
LEAST_GAIN = 1e-3
# What is given to the pair of the decided and the true case, beside the weights.
OWN_SHARE = 0.1
LEAST_SHARE = 1e-9
ROUNDING = 1e-9


def raise_by_pairs(
    task: Task, cost_weight: float, is_over: Callable[[], bool]
) -> Iterator[float]:
    """Yield better and better lower bounds of a task, until they hardly rise.

    Parameters
    ----------
    task : Task
        With mistakes.
    cost_weight : float
        What a unit of price counts beside mistakes.
    is_over : callable
        Asked between two pairs; no more bounds are yielded once it returns True.
    """
    arrays = state_total(task)
    pairs = list_pairs(arrays)
    if not 0 < len(pairs) <= MOST_PAIRS:
        return
    split = CostSplit(arrays, cost_weight * least_prices(task.table), pairs)
    for step in STEPS:
        if not split.lay_grid(step, is_over):
            return
        history: list[float] = []
        for move in range(10_000):
            bound = split.solve(is_over)
            if bound is None:
                return
            yield bound
            history.append(max([bound, *history[-1:]]))
            if move >= PATIENCE and history[-1] <= history[-1 - PATIENCE] * (
                1 + LEAST_GAIN
            ):
                break
            split.move()


def list_pairs(arrays: TotalArrays) -> list[tuple[int, int]]:
    """Return all pairs of cases that differ in their class."""
    cases = range(arrays.n_cases)
    if arrays.n_cases * (arrays.n_cases - 1) // 2 > 4 * MOST_PAIRS:
        return []
    ids = arrays.class_id
    return [(i, j) for i, j in combinations(cases, 2) if ids[i] != ids[j]]


class CostSplit:
    """A split of all costs among pairs of cases.

    Parameters
    ----------
    arrays : TotalArrays
        The problem.
    prices : ndarray of shape (n_tests,)
        The least that each test charges.
    pairs : list of (int, int)
        Cases of different class.

    Attributes
    ----------
    price_shares : ndarray of shape (n_pairs, 2, MOST_TESTS)
        The part of a test's price that each pair has, by the true case.
    loss_shares : ndarray of shape (n_pairs, 2, n_classes)
        The part of what a decision loses.
    """

    def __init__(
        self, arrays: TotalArrays, prices: Floats, pairs: list[tuple[int, int]]
    ) -> None:
        self.arrays = arrays
        self.pairs = np.array(pairs)
        self.base = float(arrays.prior @ arrays.least_loss[arrays.class_id])
        losses = arrays.mistakes - arrays.least_loss[:, None]
        self.losses = losses[arrays.class_id]
        self.n_tests = len(prices)
        self.asked = [self._choose_tests(i, j) for i, j in pairs]
        # One test more than there are, of no price, where a pair asks fewer.
        self.test = np.full((len(pairs), 1, MOST_TESTS), self.n_tests)
        for number, tests in enumerate(self.asked):
            self.test[number, 0, : len(tests)] = tests
        self.price = np.append(prices, 0.0)[self.test]
        self.n_moves = 0
        self.problems: list[PairProblem] = []
        self.asked_chances = np.zeros((len(pairs), 2, MOST_TESTS))
        self.decided_chances = np.zeros((len(pairs), 2, len(arrays.mistakes)))
        self._share_out()

    def _rows(self, tests: NDArray[np.int64], pair: tuple[int, int]) -> Floats:
        """Return the chances of all outcomes of some tests, for the cases of a pair."""
        rows = [r for t in tests for r in self.arrays.codes_of(int(t))]
        return np.ascontiguousarray(self.arrays.chance[rows][:, pair])

    def _choose_tests(self, i: int, j: int) -> NDArray[np.int64]:
        """Return the tests that tell two cases apart best, in their own order."""
        first, chance = self.arrays.first[:-1], self.arrays.chance
        told = 1 - np.add.reduceat(np.sqrt(chance[:, i] * chance[:, j]), first)
        order = np.argsort(-told, kind="stable")
        order = order[told[order] > 1e-12]
        rows = np.cumsum(np.diff(self.arrays.first)[order])
        return np.sort(order[rows <= MOST_ROWS][:MOST_TESTS])

    def _share_out(self) -> None:
        """Begin with shares by the weight of the other case."""
        weight = self.arrays.prior / self.arrays.prior.sum()
        ids = self.arrays.class_id
        other = self.pairs[:, ::-1]
        self.price_shares = np.ones((len(self.pairs), 2, MOST_TESTS))
        self.loss_shares = np.repeat(
            weight[other][:, :, None], len(self.arrays.mistakes), axis=2
        )
        numbers = np.arange(len(self.pairs))
        for side in (0, 1):
            self.loss_shares[numbers, side, ids[other[:, side]]] += OWN_SHARE
        self._normalise()

    def _normalise(self) -> None:
        """Make the shares of every price and of every loss sum to 1, by true case."""
        cases = np.broadcast_to(self.pairs[:, :, None], self.price_shares.shape)
        tests = np.broadcast_to(self.test, cases.shape)
        sums = np.zeros((self.arrays.n_cases, self.n_tests + 1))
        np.add.at(sums, (cases, tests), self.price_shares)
        self.price_shares /= sums[cases, tests]
        sums = np.zeros((self.arrays.n_cases, self.loss_shares.shape[2]))
        np.add.at(
            sums, self.pairs.reshape(-1), self.loss_shares.reshape(-1, sums.shape[1])
        )
        self.loss_shares /= sums[self.pairs]

    def lay_grid(self, step: float, is_over: Callable[[], bool]) -> bool:
        """State all pairs on a grid; return False if it was over before."""
        self.problems = []
        for (i, j), asked in zip(self.pairs.tolist(), self.asked, strict=True):
            if is_over():
                return False
            free = np.setdiff1d(self._list_useful(i, j), asked)
            self.problems.append(
                PairProblem(
                    self.arrays.prior[[i, j]],
                    self._rows(asked, (i, j)),
                    self._firsts(asked),
                    self._rows(free, (i, j)),
                    self._firsts(free),
                    step=step,
                    reach=REACH,
                )
            )
        most_places = max(problem.n_places for problem in self.problems)
        self.room = PairRoom(max(map(len, self.asked)), most_places)
        return True

    def _list_useful(self, i: int, j: int) -> NDArray[np.int64]:
        return np.flatnonzero(self.arrays.kind[:, i] != self.arrays.kind[:, j])

    def _firsts(self, tests: NDArray[np.int64]) -> NDArray[np.int32]:
        counts = np.diff(self.arrays.first)[tests]
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)

    def solve(self, is_over: Callable[[], bool]) -> float | None:
        """Return the bound of the split; None if it was over before."""
        total = 0.0
        prices = self.price_shares * self.price
        losses = self.loss_shares * self.losses[self.pairs]
        for number, problem in enumerate(self.problems):
            if is_over():
                return None
            n = problem.n_tests
            price = np.ascontiguousarray(prices[number, :, :n])
            total += problem.solve(price, losses[number], self.room)
            self.asked_chances[number, :, :n] = problem.asked
            self.decided_chances[number] = problem.decided
        bound = (total + self.base) / self.arrays.prior.sum()
        return float(bound * (1 - ROUNDING))

    def move(self) -> None:
        """Give more to the pairs that use more, by smaller and smaller steps."""
        rate = FIRST_MOVE / np.sqrt(1 + 0.2 * self.n_moves)
        self.n_moves += 1
        self.price_shares *= np.exp(rate * self.asked_chances)
        self.loss_shares *= np.exp(rate * self.decided_chances)
        np.maximum(self.price_shares, LEAST_SHARE, out=self.price_shares)
        np.maximum(self.loss_shares, LEAST_SHARE, out=self.loss_shares)
        self._normalise()
