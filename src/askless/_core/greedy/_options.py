"""What the growers take: coded rows, limits of a tree, and what is drawn at random.

Plain data. Nothing is checked here: whoever makes these objects has done so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["GrowthRows", "GrowthLimits", "RandomDraws"]


@dataclass(frozen=True, eq=False)
class GrowthRows:
    """Rows to grow a tree on, sorted by class.

    Attributes
    ----------
    codes : ndarray of uint8 or uint16 of shape (n_tests, n_rows)
        A column for each test.
    class_rows : ndarray of int64 of shape (n_classes,)
        How many rows each class has.
    n_levels : ndarray of int32 of shape (n_tests,)
    is_ordered : ndarray of uint8 of shape (n_tests,)
        Which tests branch at a cut; the others have a branch for every outcome.
    weights : ndarray of shape (n_rows,), optional
        What each row counts for when splits are scored; 1 by default.
    prior : ndarray of shape (n_rows,), optional
        What each row weighs in the finished tree; the same as `weights` by default.
    chances : ndarray, optional
        Of each level of each test, how likely it is where the outcome is unknown. None
        if every outcome is known.
    chance_start : ndarray of int64 of shape (n_tests + 1,), optional
        Where the chances of each test begin.
    """

    codes: NDArray[np.uint8] | NDArray[np.uint16]
    class_rows: NDArray[np.int64]
    n_levels: NDArray[np.int32]
    is_ordered: NDArray[np.uint8]
    weights: NDArray[np.float64] | None = None
    prior: NDArray[np.float64] | None = None
    chances: NDArray[np.float64] | None = None
    chance_start: NDArray[np.int64] | None = None


@dataclass(frozen=True)
class GrowthLimits:
    """Where a tree stops to grow.

    Attributes
    ----------
    max_depth : int, optional
        The most tests on any path.
    max_impurity : float, default=0.0
        A node of at most this impurity is a leaf.
    min_weight : float, default=0.0
        A node of less weight is a leaf.
    max_nodes : int, default=2**31 - 1
        A tree of more nodes raises OverflowError.
    budget : float, default=inf
        A node leaves out the tests whose dearest outcome would take a case beyond it,
        as if no test were delayed.
    """

    max_depth: int | None = None
    max_impurity: float = 0.0
    min_weight: float = 0.0
    max_nodes: int = 2**31 - 1
    budget: float = math.inf


@dataclass(frozen=True, eq=False)
class RandomDraws:
    """What forests leave to chance at a node, drawn by a key and the way to the node.

    Attributes
    ----------
    key : int, default=0
    max_tests : int, default=0
        How many of the tests that can split a node are tried; 0 for all.
    cut_values : ndarray, optional
        The thresholds of all tests. Where given, thresholds are drawn between the least
        and the largest value of a node instead of trying every cut.
    cut_value_start : ndarray of int64 of shape (n_tests + 1,), optional
        Where the thresholds of each test begin.
    """

    key: int = 0
    max_tests: int = 0
    cut_values: NDArray[np.float64] | None = None
    cut_value_start: NDArray[np.int64] | None = None
