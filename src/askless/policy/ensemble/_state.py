"""Where an ensemble stands on one case, and the compiled walk that goes on from there.

A state never changes, so that any number of threads may share it. Its walk can be taken
once: by the step that goes on from the state, which hands it to the next one. Whoever
comes later goes the way again from the start.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from askless._core.ensemble._machine import Machine
from askless._core.ensemble._walk import Walk
from askless._core.price._prices import Prices

__all__ = ["Answers", "EnsembleState", "WalkPool"]

# What was asked, in order, and the codes that it showed: -1 for what was skipped, -2
# for what was run and showed nothing.
Answers = tuple[tuple[int, int], ...]
# Walks kept for the next cases.
MOST_SPARE = 64


class EnsembleState:
    """Where a case stands after some answers.

    Two states are equal if their answers are.

    Attributes
    ----------
    answers : tuple of (int, int)
        Tests and codes, in order.
    test : int
        The next test, -1 if the case is over.
    raw : ndarray of shape (n_outputs,)
        The expected sums, or the source's own if every tree has ended.
    ahead : list of int
        Tests that may still be asked.
    is_settled : bool
        Whether the decision can no longer change.
    n_waiting : int
        Trees that have not ended.
    """

    __slots__ = (
        "_walks", "ahead", "answers", "is_settled", "n_waiting", "raw", "test",
    )  # fmt: skip

    def __init__(
        self,
        answers: Answers,
        test: int,
        raw: NDArray[np.float64],
        ahead: list[int],
        is_settled: bool,
        n_waiting: int,
    ) -> None:
        self.answers = answers
        self.test = test
        self.raw = raw
        self.ahead = ahead
        self.is_settled = is_settled
        self.n_waiting = n_waiting
        # None or one. Taking from a list is safe in several threads.
        self._walks: list[Walk] = []

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EnsembleState) and self.answers == other.answers

    def __hash__(self) -> int:
        return hash(self.answers)

    def __repr__(self) -> str:
        return f"EnsembleState({self.answers})"

    def take_walk(self) -> Walk | None:
        """Return the walk of this state, or None if it was taken before."""
        try:
            return self._walks.pop()
        except IndexError:
            return None

    def give_walk(self, walk: Walk) -> None:
        """Keep a walk that stands here for the step that goes on."""
        self._walks.append(walk)


class WalkPool:
    """Makes walks, and uses again those of cases that are over."""

    def __init__(
        self,
        machine: Machine,
        prices: Prices,
        eagerness: tuple[float, ...] | None = None,
    ) -> None:
        self.machine = machine
        self.prices = prices
        self.eagerness = eagerness
        self._spare: list[Walk] = []

    def take(self) -> Walk:
        """Return a walk on which nothing was bought."""
        try:
            walk = self._spare.pop()
        except IndexError:
            return Walk(self.machine, self.prices, self.eagerness)
        walk.restart()
        return walk

    def give_back(self, walk: Walk) -> None:
        """Keep a walk for another case."""
        if len(self._spare) < MOST_SPARE:
            self._spare.append(walk)
