"""Splits of numbers that are no thresholds: sets of whole numbers, values left out.

Each is a :class:`SetSplit` whose edges are the last doubles of its sides. This module
must not know any library.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from askless.learn.sources._source import SetSplit, next_single, single_cuts

__all__ = ["split_beside_missing", "split_beside_zero", "split_whole_numbers"]


def split_whole_numbers(
    is_member: NDArray[np.bool_], *, members_left: bool, is_single: bool
) -> SetSplit:
    """Return a split by whether the whole part of a number is a member of a set.

    Parameters
    ----------
    is_member : ndarray of bool
        Of 0, 1, and so on; larger numbers are none.
    members_left : bool
        Whether members go left.
    is_single : bool
        Whether numbers are rounded to single precision first. Then negative numbers are
        no members; else those above -1 count as 0, as a conversion to int makes them.
    """
    members = np.flatnonzero(is_member)
    # The last number before each member's, and the last one of its own.
    starts, ends = members.astype(np.float64), members + 1.0
    if is_single:
        before = single_cuts(next_single(starts, -np.inf).astype(np.float64))
        last = single_cuts(next_single(ends, -np.inf).astype(np.float64))
    else:
        before = np.where(members == 0, -1.0, np.nextafter(starts, -np.inf))
        last = np.nextafter(ends, -np.inf)

    def goes_left(values: NDArray[np.float64]) -> NDArray[np.bool_]:
        if is_single:
            with np.errstate(over="ignore"):
                values = values.astype(np.float32).astype(np.float64)
        lowest = values >= 0.0 if is_single else values > -1.0
        inside = lowest & (values < len(is_member))
        at = np.where(inside, values, 0.0).astype(np.int64)
        belongs = inside & is_member[at] if len(is_member) else inside
        return np.asarray(belongs == members_left)

    return SetSplit(goes_left, np.unique(np.append(before, last)))


def split_beside_zero(
    threshold: float, *, nearly_zero: float, zero_left: bool
) -> SetSplit:
    """Return a threshold beside which zero goes its own way."""

    def goes_left(values: NDArray[np.float64]) -> NDArray[np.bool_]:
        is_zero = np.abs(values) <= nearly_zero
        return np.where(is_zero, zero_left, values <= threshold)

    below = np.nextafter(-nearly_zero, -np.inf)
    edges = np.unique([below, nearly_zero, threshold])
    return SetSplit(goes_left, edges[np.isfinite(edges)])


def split_beside_missing(
    split: SetSplit, missing: np.float32, missing_left: bool
) -> SetSplit:
    """Return a split of numbers in which one more number counts as missing.

    Parameters
    ----------
    split : SetSplit
        Where other numbers go.
    missing : float32
        The number; all doubles that round to it count.
    missing_left : bool
        Where it goes.
    """

    def goes_left(values: NDArray[np.float64]) -> NDArray[np.bool_]:
        with np.errstate(over="ignore"):
            is_missing = values.astype(np.float32) == missing
        return np.where(is_missing, missing_left, split.goes_left(values))

    around = np.array([next_single(missing, -np.inf), missing], dtype=np.float64)
    edges = np.unique(np.append(split.edges, single_cuts(around)))
    return SetSplit(goes_left, edges[np.isfinite(edges)])
