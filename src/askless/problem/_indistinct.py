"""Find cases that no test can tell apart, and merge those that show the same.

Works on codes alone; it must not know names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.problem._tests import CodeArray, Test

__all__ = [
    "explain_pair",
    "find_indistinct",
    "group_identical",
    "is_searched",
    "merge_identical",
]

# Comparing every case that has unknown outcomes with every other one is quadratic;
# beyond this many cells only identical cases are found.
MOST_CELLS = 500_000_000


def group_identical(codes: CodeArray) -> NDArray[np.int64]:
    """Return a number for each case, the same for cases that show the same."""
    rows = np.ascontiguousarray(codes.T)
    keys = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    return np.unique(keys, return_inverse=True)[1].astype(np.int64)


def find_indistinct(
    codes: CodeArray,
    is_unknown: NDArray[np.bool_],
    class_ids: NDArray[np.int32],
    never: NDArray[np.bool_] | None = None,
) -> list[tuple[int, int]]:
    """Return pairs of cases of different class that no test is sure to tell apart.

    Of a set of identical cases, each is paired with the first one of another class. A
    case with unknown outcomes is paired with every case that it may look the same as.
    `never` marks known outcomes that an unknown one is sure not to be.
    """
    pairs = _identical_pairs(codes, class_ids)
    if is_searched(codes, is_unknown):
        for case in np.flatnonzero(is_unknown.any(axis=0)).tolist():
            agrees = (codes == codes[:, [case]]) | is_unknown | is_unknown[:, [case]]
            if never is not None:
                agrees &= ~(never & is_unknown[:, [case]])
                agrees &= ~(never[:, [case]] & is_unknown)
            near = np.flatnonzero(agrees.all(axis=0) & (class_ids != class_ids[case]))
            pairs |= {(min(case, other), max(case, other)) for other in near.tolist()}
    return sorted(pairs)


def is_searched(codes: CodeArray, is_unknown: NDArray[np.bool_]) -> bool:
    """Return whether unknown outcomes are few enough for all pairs to be found."""
    n_partial = int(np.count_nonzero(is_unknown.any(axis=0)))
    return n_partial * codes.size <= MOST_CELLS


def explain_pair(
    codes: CodeArray,
    is_unknown: NDArray[np.bool_],
    tests: Sequence[Test],
    names: Sequence[str],
    a: int,
    b: int,
) -> str:
    """Say in a sentence what would tell two cases apart for sure."""
    said = f"{names[a]!r} and {names[b]!r} may look the same."
    for test in range(len(tests)):
        for known, unknown in ((a, b), (b, a)):
            if is_unknown[test, unknown] and not is_unknown[test, known]:
                shown = tests[test].label(int(codes[test, known]))
                return (
                    f"{said} They differ for sure if {tests[test].name!r} of "
                    f"{names[unknown]!r} is known to be other than {shown!r}."
                )
    both = np.flatnonzero(is_unknown[:, a] & is_unknown[:, b])
    if both.size:
        name = tests[both[0]].name
        return f"{said} They differ for sure if {name!r} is known to differ for them."
    return f"{said} They show the same for every test: only a new test can tell them."


def _identical_pairs(
    codes: CodeArray, class_ids: NDArray[np.int32]
) -> set[tuple[int, int]]:
    group = group_identical(codes)
    order = np.argsort(group, kind="stable")
    bounds = np.flatnonzero(np.diff(group[order])) + 1
    pairs: set[tuple[int, int]] = set()
    for members in np.split(order, bounds):
        ids = class_ids[members]
        others = members[ids != ids[0]]
        if others.size:
            first, other = int(members[0]), int(others[0])
            # A case of the first one's class pairs with the first of another class,
            # any other case with the first one.
            partners = np.where(ids == ids[0], other, first)
            low, high = np.minimum(members, partners), np.maximum(members, partners)
            pairs.update(zip(low.tolist(), high.tolist(), strict=True))
    return pairs


def merge_identical(
    codes: CodeArray, class_ids: NDArray[np.int32], prior: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """Return the first case, the commonest class and the weight of each set.

    Sets come in the order of their first case. Commonest is by weight; on a tie, the
    smallest class wins.
    """
    group = group_identical(codes)
    n_groups = int(group.max()) + 1
    first = np.full(n_groups, len(group), dtype=np.int64)
    np.minimum.at(first, group, np.arange(len(group)))
    order = np.argsort(first)
    rank: NDArray[Any] = np.empty(n_groups, dtype=np.int64)
    rank[order] = np.arange(n_groups)
    group = rank[group]
    # Sum the weight of every (set, class) that occurs; keys ascend by set, then class.
    n_classes = int(class_ids.max()) + 1
    keys, where = np.unique(
        group * n_classes + class_ids.astype(np.int64), return_inverse=True
    )
    mass = np.bincount(where, weights=prior)
    sets = keys // n_classes
    heaviest = np.zeros(n_groups)
    np.maximum.at(heaviest, sets, mass)
    # Sums of equal weights must tie however they were rounded.
    tied = np.flatnonzero(mass >= heaviest[sets] * (1 - 1e-12))
    _, firsts = np.unique(sets[tied], return_index=True)
    commonest = (keys % n_classes)[tied[firsts]]
    weight: NDArray[Any] = np.bincount(group, weights=prior, minlength=n_groups)
    return first[order], commonest.astype(np.int32), weight
