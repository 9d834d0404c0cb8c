"""What a posterior is worked out from: cases, and the chances of what each may show.

Cases of one class lie together, and classes of a single case come last, as the kernel
wants them (``_core/total/_posterior``).
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from askless._core.total._posterior import score_tests

__all__ = ["CaseModel", "Scores"]

Floats = NDArray[np.float64]
# A case with less than this share of the likeliest one, by the number of cases, changes
# no score beyond rounding.
NEGLIGIBLE = 1e-16


class Scores(NamedTuple):
    """What each test tells in a state, by a weight of 1.

    Attributes
    ----------
    gains : ndarray of shape (n_tests,)
        Bits about the class, or the loss that is saved.
    open_bits : float
        Bits of the class that are open.
    loss : float
        What deciding now is expected to lose.
    """

    gains: Floats
    open_bits: float
    loss: float


class CaseModel:
    """Cases with their classes and weights, and the chances of each test's codes.

    Parameters
    ----------
    chances : sequence of ndarray of shape (n_codes, n_cases)
        Of each test. A single row is of a test of two codes: the second one has the
        chance that is left.
    case_class : ndarray of int32 of shape (n_cases,)
    case_weights : ndarray of shape (n_cases,)
    mistakes : ndarray of shape (n_classes, n_classes)
    """

    def __init__(
        self,
        chances: Sequence[Floats],
        case_class: NDArray[np.int32],
        case_weights: Floats,
        mistakes: Floats,
    ) -> None:
        counts = np.bincount(case_class, minlength=len(mistakes))
        is_single = counts[case_class] == 1
        order = np.lexsort((case_class, is_single))
        n_rows = [len(rows) for rows in chances]
        self.first = np.cumsum([0, *n_rows]).astype(np.int64)
        self.chance = np.empty((int(self.first[-1]), len(order)))
        for begin, rows in zip(self.first[:-1], chances, strict=True):
            np.take(rows, order, axis=1, out=self.chance[begin : begin + len(rows)])
        self.case_class = np.ascontiguousarray(case_class[order], dtype=np.int32)
        self.case_weights = np.ascontiguousarray(case_weights[order])
        self.n_several = int(np.count_nonzero(~is_single))
        self._set_mistakes(mistakes)

    def _set_mistakes(self, mistakes: Floats) -> None:
        self.mistakes = mistakes
        self.largest_mistake = float(mistakes.max())
        off = mistakes[~np.eye(len(mistakes), dtype=bool)]
        is_even = off.size == 0 or bool(np.all(off == off[0]))
        self.mistake = (float(off[0]) if off.size else 0.0) if is_even else -1.0

    def with_mistakes(self, mistakes: Floats) -> CaseModel:
        """Return the same cases with other prices of mistakes."""
        other = copy.copy(self)
        other._set_mistakes(mistakes)
        return other

    @property
    def n_cases(self) -> int:
        """How many cases there are."""
        return len(self.case_class)

    @cached_property
    def doubt(self) -> Floats:
        """The bits of each test's outcome that are open though the case is known."""
        n_tests = len(self.first) - 1
        if self.n_several == self.n_cases:
            return np.zeros((0, self.n_cases))
        doubt = np.zeros((n_tests, self.n_cases))
        for test in range(n_tests):
            rows = self.rows_of(test)
            if len(rows) == 1:
                rows = np.stack([rows[0], 1.0 - rows[0]])
            logs = np.zeros_like(rows)
            np.log2(rows, out=logs, where=rows > 0)
            doubt[test] = -(rows * logs).sum(axis=0)
        return doubt

    def rows_of(self, test: int) -> Floats:
        """Return the rows of a test, one for each code; one for two codes."""
        return np.asarray(self.chance[self.first[test] : self.first[test + 1]])

    def n_codes(self, test: int) -> int:
        """Return how many codes of a test have chances, from 0."""
        return max(int(self.first[test + 1] - self.first[test]), 2)

    def chance_of(self, test: int, code: int) -> Floats:
        """Return the chance of each case to show a code; 0 beyond those that it has."""
        rows = self.rows_of(test)
        if code < len(rows):
            return np.asarray(rows[code])
        if len(rows) == 1 and code == 1:
            return np.asarray(1.0 - rows[0])
        return np.zeros(self.n_cases)

    def score(self, weight: Floats, *, by_value: bool) -> Scores:
        """Return what each test tells, given weights of the cases that sum to 1."""
        is_left = weight > NEGLIGIBLE * weight.max() / self.n_cases
        takes_all = 2 * np.count_nonzero(is_left) > self.n_cases
        if takes_all and not by_value and self.n_several == 0 and self.mistake >= 0:
            return self._tell_all(weight)
        cases = np.flatnonzero(is_left).astype(np.int32)
        if takes_all:
            # Taking all of them in a row is faster than picking most.
            cases = np.arange(self.n_cases, dtype=np.int32)
        weight = weight[cases]
        classes = self.case_class[cases]
        starts = np.flatnonzero(np.append(True, classes[1:] != classes[:-1]))
        n_several = int(np.searchsorted(cases, self.n_several))
        by_class = np.add.reduceat(weight, starts)
        mistakes, loss = np.zeros((0, 0)), self.mistake * (1.0 - float(by_class.max()))
        if self.mistake < 0:
            mistakes = np.ascontiguousarray(self.mistakes[classes[starts]])
            loss = float((by_class @ mistakes).min())
        gains = score_tests(
            self.chance,
            self.first,
            np.zeros((0, 0)) if by_value else self.doubt,
            cases,
            weight,
            np.append(starts, len(cases)).astype(np.int64),
            int(np.searchsorted(starts, n_several)),
            mistakes,
            self.mistake,
            by_value,
        )
        positive = by_class[by_class > 0]
        return Scores(
            gains,
            float(-(positive * np.log2(positive)).sum()),
            max(loss, 0.0),
        )

    def _tell_all(self, weight: Floats) -> Scores:
        """Return the bits that each test tells, where every case is its own class.

        That is two products of a matrix and the weights of all cases, which BLAS works
        out at the speed of the memory.
        """
        total = float(weight.sum())
        seen = self.chance @ weight
        told = np.add.reduceat(-_times_log(seen), self.first[:-1])
        is_pair = np.diff(self.first) == 1
        others = np.maximum(total - seen[self.first[:-1][is_pair]], 0.0)
        told[is_pair] -= _times_log(others)
        told += total * np.log2(total) - self.doubt @ weight
        open_bits = -float(_times_log(weight).sum())
        return Scores(told, open_bits, max(self.mistake * (1.0 - weight.max()), 0.0))


def _times_log(values: Floats) -> Floats:
    """Return x log2(x), 0 for 0."""
    logs = np.zeros_like(values)
    np.log2(values, out=logs, where=values > 0)
    return np.asarray(values * logs)
