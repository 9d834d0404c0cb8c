"""A genetic search over strings of bits, as the program GENESIS does it.

It knows bits and costs; what the bits stand for is the caller's business. All random
numbers of a generation are drawn in order from one generator, and fitness is asked for
by (generation, place), so that threads change nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Genetic", "decode_all", "decode_bits", "encode_value"]

Bits = NDArray[np.uint8]

# Bits of one number.
N_BITS = 12
_PLACES = 1 << np.arange(N_BITS)[::-1]
# The worst cost of this many generations is what the others are compared with.
WINDOW = 5


def decode_bits(bits: Bits, low: float, high: float, *, gray: bool = False) -> float:
    """Return the number that 12 bits stand for, evenly between low and high.

    In a Gray code, neighbours differ in one bit.

    Examples
    --------
    >>> one = np.array([1] + [0] * 11, dtype=np.uint8)
    >>> round(decode_bits(one, 1, 10000), 4)
    5001.7209
    """
    return float(decode_all(bits, np.array([low]), np.array([high]), gray=gray)[0])


def decode_all(
    bits: Bits,
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    *,
    gray: bool = False,
) -> NDArray[np.float64]:
    """Return the numbers of strings of bits, each number with a range of its own.

    Of one string, or of a string in each row.

    Examples
    --------
    >>> decode_all(np.ones(24, np.uint8), np.array([0.0, 1.0]), np.array([1.0, 5.0]))
    array([1., 5.])
    """
    each = bits.reshape(*bits.shape[:-1], -1, N_BITS)
    if gray:
        each = np.bitwise_xor.accumulate(each, axis=-1)
    whole = each @ _PLACES
    return np.asarray(low + whole * (high - low) / (2**N_BITS - 1))


def encode_value(value: float, low: float, high: float, *, gray: bool = False) -> Bits:
    """Return the 12 bits nearest to a number; one out of range is moved to its end.

    Examples
    --------
    >>> encode_value(0.5, 0, 1).tolist()
    [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    >>> encode_value(0.5, 0, 1, gray=True).tolist()
    [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    """
    share = (min(max(value, low), high) - low) / (high - low)
    whole = round(share * (2**N_BITS - 1))
    if gray:
        whole ^= whole >> 1
    return np.array([whole >> i & 1 for i in range(N_BITS)][::-1], dtype=np.uint8)


@dataclass
class Genetic:
    """A population that is bred for low cost.

    Parameters
    ----------
    bits : ndarray of uint8 of shape (population, n_bits)
        The first generation.
    rng : Generator
    crossover : float
        The chance that two neighbours exchange a part.
    mutation : float
        The chance that a bit is drawn anew.
    """

    bits: Bits
    rng: np.random.Generator
    crossover: float
    mutation: float

    def __post_init__(self) -> None:
        self.costs = np.full(len(self.bits), np.nan)
        self.worst: list[float] = []
        self.best_bits = self.bits[0].copy()
        self.best_cost = np.inf

    @property
    def least_cost(self) -> float:
        """The least known cost of this generation; infinite if none is known."""
        known = self.costs[np.isfinite(self.costs)]
        return float(known.min()) if known.size else float("inf")

    def assess(self, cost_of: Callable[[list[int]], list[float]], most: int) -> int:
        """Ask for the costs that are not known, at most so many; return how many."""
        unknown = np.flatnonzero(np.isnan(self.costs))[:most].tolist()
        for place, cost in zip(unknown, cost_of(unknown), strict=True):
            self.costs[place] = cost
            if cost < self.best_cost:
                self.best_cost, self.best_bits = cost, self.bits[place].copy()
        return len(unknown)

    def breed(self) -> None:
        """Replace the population by its children; the best of all stays."""
        known = np.where(np.isnan(self.costs), np.inf, self.costs)
        finite = known[np.isfinite(known)]
        self.worst = [*self.worst, float(finite.max())][-WINDOW:]
        fitness = np.where(np.isfinite(known), max(self.worst) - known, 0.0)
        chosen = self._spin(np.maximum(fitness, 0.0))
        bits, costs = self.bits[chosen], self.costs[chosen].copy()
        costs = np.where(self._cross(bits) | self._mutate(bits), np.nan, costs)
        if not (bits == self.best_bits).all(axis=1).any():
            bits[-1], costs[-1] = self.best_bits, self.best_cost
        self.bits, self.costs = bits, costs

    def _spin(self, fitness: NDArray[np.float64]) -> NDArray[np.intp]:
        """Choose parents by one spin of a wheel with equally spaced pointers."""
        n = len(fitness)
        if fitness.sum() <= 0:
            return self.rng.permutation(n)
        pointers = (np.arange(n) + self.rng.random()) / n * fitness.sum()
        chosen = np.searchsorted(np.cumsum(fitness), pointers, side="right")
        return self.rng.permutation(np.minimum(chosen, n - 1))

    def _cross(self, bits: Bits) -> NDArray[np.bool_]:
        """Let neighbours exchange what lies between two points."""
        changed = np.zeros(len(bits), dtype=bool)
        for first in range(0, len(bits) - 1, 2):
            crosses = self.rng.random() < self.crossover
            low, high = np.sort(self.rng.integers(0, bits.shape[1] + 1, 2))
            if crosses and (bits[first, low:high] != bits[first + 1, low:high]).any():
                part = bits[first, low:high].copy()
                bits[first, low:high] = bits[first + 1, low:high]
                bits[first + 1, low:high] = part
                changed[first : first + 2] = True
        return changed

    def _mutate(self, bits: Bits) -> NDArray[np.bool_]:
        """Draw some bits anew, which changes half of them."""
        hit = self.rng.random(bits.shape) < self.mutation
        drawn = self.rng.integers(0, 2, bits.shape, dtype=np.uint8)
        flips = hit & (drawn != bits)
        bits[flips] ^= 1
        return np.asarray(flips.any(axis=1))
