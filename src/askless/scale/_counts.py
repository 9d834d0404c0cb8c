"""Add up counts, wherever they were counted.

Workers import this module: it must not import a learner.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["add_counts", "add_some", "add_two"]


def add_counts(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return the sum of counts, in the narrowest type that holds it.

    Examples
    --------
    >>> add_counts([np.array([200, 1], dtype=np.uint8)] * 2)
    array([400,   2], dtype=uint16)
    """
    total = parts[0].astype(np.uint32)
    for part in parts[1:]:
        total += part
    return total.astype(np.min_scalar_type(int(total.max(initial=0))))


def add_some(task: tuple[Callable[[Any], NDArray[Any]], Sequence[Any]]) -> NDArray[Any]:
    """Return the sum of what a function makes of some items, one at a time.

    Examples
    --------
    >>> add_some((lambda n: np.full(2, n, dtype=np.uint8), [3, 4]))
    array([7, 7], dtype=uint8)
    """
    function, items = task
    total = add_counts([function(items[0])])
    for item in items[1:]:
        total = add_counts([total, function(item)])
    return total


def add_two(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """Return the sum of the counts of two places.

    Examples
    --------
    >>> add_two(np.array([200, 1], dtype=np.uint8), np.array([60, 1], dtype=np.uint8))
    array([260,   2], dtype=uint16)
    """
    return add_counts([a, b])
