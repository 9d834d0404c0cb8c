"""Concepts that no single test tells anything about: parities and switches.

The papers on anytime learning describe them in words; what they leave open (how many
rows, how many idle columns) is a parameter here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Rows = tuple[dict[str, NDArray[np.float64]], NDArray[np.intp]]


def _name(X: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    return {f"x{i}": X[:, i].astype(np.float64) for i in range(X.shape[1])}


def make_multiplexer(
    rng: np.random.Generator, n: int = 600, address_bits: int = 4
) -> Rows:
    """Return bits of which the first ones say which of the others is the class."""
    X = rng.integers(0, 2, (n, address_bits + 2**address_bits))
    at = X[:, :address_bits] @ (1 << np.arange(address_bits)[::-1])
    return _name(X), X[np.arange(n), address_bits + at]


def make_xor(
    rng: np.random.Generator, n: int = 200, bits: int = 5, idle: int = 5
) -> Rows:
    """Return the parity of some bits, beside idle ones."""
    X = rng.integers(0, 2, (n, bits + idle))
    return _name(X), X[:, :bits].sum(axis=1) % 2


def make_numeric_xor(
    rng: np.random.Generator, n: int = 200, dimensions: int = 3, idle: int = 3
) -> Rows:
    """Return the sign of a product of numbers, beside idle ones."""
    X = rng.uniform(-1, 1, (n, dimensions + idle))
    return _name(X), (X[:, :dimensions].prod(axis=1) > 0).astype(np.intp)


def make_multi_xor(rng: np.random.Generator, n: int = 200, columns: int = 12) -> Rows:
    """Return one of four parities, chosen by the first two of the columns."""
    X = rng.integers(0, 2, (n, columns))
    parts = np.array_split(np.arange(2, columns), 4)
    each = np.array([X[:, part].sum(axis=1) % 2 for part in parts])
    return _name(X), each[2 * X[:, 0] + X[:, 1], np.arange(n)]


def make_multi_and_or(
    rng: np.random.Generator, n: int = 200, columns: int = 12
) -> Rows:
    """Return one of two conjunctions and two disjunctions, chosen by two columns."""
    X = rng.integers(0, 2, (n, columns))
    parts = np.array_split(np.arange(2, columns), 4)
    each = np.array(
        [
            X[:, part].all(axis=1) if i % 2 else X[:, part].any(axis=1)
            for i, part in enumerate(parts)
        ]
    )
    return _name(X), each[2 * X[:, 0] + X[:, 1], np.arange(n)].astype(np.intp)


CONCEPTS = {
    "multi_and_or": make_multi_and_or,
    "multi_xor": make_multi_xor,
    "multiplexer": make_multiplexer,
    "xor_3d": make_numeric_xor,
    "xor_5": make_xor,
}
