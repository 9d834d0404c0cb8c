"""Random keys, mixed one number at a time."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

__all__ = ["plain_child_key", "plain_key", "plain_row_key", "plain_unit"]

MASK = (1 << 64) - 1
# What `plain_key` adds for a value of 0.
_STEP = 0x9E3779B97F4A7C15


def plain_key(key: int, value: int) -> int:
    """Return the key of a step from a key.

    Examples
    --------
    >>> plain_key(0, 0) == plain_key(0, 1)
    False
    """
    z = (key + (value + 1) * 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def plain_unit(key: int) -> float:
    """Return the number of a key in [0, 1[.

    Examples
    --------
    >>> 0 <= plain_unit(5) < 1
    True
    """
    return (plain_key(key, 0) >> 11) / 9007199254740992.0


def plain_child_key(key: int, test: int, cut: int, branch: int) -> int:
    """Return the key of a branch of a split.

    Examples
    --------
    >>> plain_child_key(0, 0, -1, 0) == plain_child_key(0, 0, -1, 1)
    False
    """
    return plain_key(plain_key(plain_key(key, test), cut + 1), branch)


def plain_row_key(numbers: Sequence[float], first: int = 0) -> int:
    """Return the key of a row of numbers, whose columns count from ``first``.

    Examples
    --------
    >>> plain_row_key([0.0, 1.0]) == plain_row_key([-0.0, 1.0])
    True
    >>> plain_row_key([0.0, 1.0]) == plain_row_key([1.0, 0.0])
    False
    """
    total = 0
    for place, number in enumerate(numbers, first):
        plain = math.nan if math.isnan(number) else number + 0.0
        (bits,) = struct.unpack("<Q", struct.pack("<d", plain))
        # A step from a key of 0 by the bits, from where the column begins.
        total += plain_key((bits + plain_key(0, place) - _STEP) & MASK, 0)
    return total & MASK
