"""Random keys, mixed one number at a time."""

from __future__ import annotations

__all__ = ["plain_child_key", "plain_key", "plain_unit"]

MASK = (1 << 64) - 1


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
