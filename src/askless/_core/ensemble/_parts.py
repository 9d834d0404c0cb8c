"""What a machine is made of: the arrays of its trees, of its codes, and its scales."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["CodeArrays", "Scales", "TreeArrays"]


class TreeArrays(NamedTuple):
    """The trees, one after another, each in preorder.

    ``test``, ``cut``, ``right``, ``flags`` and ``weight`` have an entry for each node
    and ``value`` a row. The test of a leaf is -1. ``words`` are sets of codes and are
    never empty. ``tree_start`` has one entry more than there are trees, ``output`` one
    for each: the sum that it adds to.
    """

    test: NDArray[np.int32]
    cut: NDArray[np.int32]
    right: NDArray[np.int32]
    flags: NDArray[np.int32]
    words: NDArray[np.uint64]
    tree_start: NDArray[np.int64]
    output: NDArray[np.int32]
    weight: NDArray[np.float64]
    value: NDArray[np.float64]


class CodeArrays(NamedTuple):
    """How values become codes, and which trees ask a test.

    ``n_levels`` has an entry for each test. ``cuts`` are those of all tests, ``users``
    the trees that ask them, one test after another, and never empty; ``cut_start`` and
    ``user_start`` say where those of a test start, and have one entry more.
    """

    n_levels: NDArray[np.int32]
    cuts: NDArray[np.float64]
    cut_start: NDArray[np.int64]
    users: NDArray[np.int64]
    user_start: NDArray[np.int64]


class Scales(NamedTuple):
    """How sums are counted, bounded and compared; see the ``Model`` of ``_trees``.

    ``offset`` is where each sum starts. ``slack`` and ``tolerance`` are in the units of
    the source; a negative tolerance is never met.
    """

    offset: NDArray[np.float64]
    mode: int
    is_joint: bool
    by_leaves: bool
    target: int
    ties_are_exact: bool
    is_single: bool
    slack: float
    tolerance: float
    unit: float
    spread_unit: float
    score_unit: float
