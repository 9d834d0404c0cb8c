"""Settle cells that have chances of their own: codes and arrays of a table.

Works on arrays; where the numbers come from is the business of the readers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidTableError, suggest_name
from askless.problem._coding import Coding
from askless.problem._tests import CodeArray, Test

__all__ = [
    "TOLERANCE",
    "Grid",
    "Likelihoods",
    "match_cases",
    "set_cells",
    "settle_cells",
    "take_cases",
]

Likelihoods = tuple[NDArray[np.float64] | None, ...]

# How far the probabilities of a cell may be from one in sum, for each of its outcomes:
# each of them may have been rounded to six digits.
TOLERANCE = 1e-6


class Grid(NamedTuple):
    """What each test shows for each case, and how likely.

    Attributes
    ----------
    tests : tuple of Test
    cases : tuple of str
    chances : list of ndarray of shape (n_levels, n_cases)
        For each test. Columns sum to one; a column of NaN is an unknown outcome.
    classes, prior : list or None
        The class and the weight of each case, where they came with the cells.
    """

    tests: tuple[Test, ...]
    cases: tuple[str, ...]
    chances: list[NDArray[np.float64]]
    classes: list[Any] | None = None
    prior: list[Any] | None = None


def settle_cells(
    grid: Grid, shared: Sequence[NDArray[np.float64]]
) -> tuple[CodeArray, Likelihoods]:
    """Return the codes of all cells, and the likelihoods of each test.

    `shared` are the chances of the levels of each test where an outcome is unknown.
    """
    codes: CodeArray = np.empty(
        (len(grid.tests), len(grid.cases)), dtype=Coding(grid.tests).dtype
    )
    likelihoods: list[NDArray[np.float64] | None] = []
    for i, (test, chances) in enumerate(zip(grid.tests, grid.chances, strict=True)):
        is_unknown = np.isnan(chances).any(axis=0)
        filled = np.where(is_unknown, shared[i][:, None], chances)
        is_fact = ~is_unknown & (filled.max(axis=0) == 1.0)
        codes[i] = np.where(is_fact, filled.argmax(axis=0), test.unknown_code)
        likelihoods.append(_keep_own(filled, codes[i], shared[i]))
    return codes, tuple(likelihoods)


def _keep_own(
    chances: NDArray[np.float64], codes: NDArray[Any], shared: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """Return the chances of a test's cells, or None if no cell has its own."""
    unknown = chances[:, codes == len(shared) + 1]
    is_own = bool(np.any(unknown != shared[:, None]))
    return np.ascontiguousarray(chances) if is_own else None


def take_cases(likelihoods: Likelihoods, cases: NDArray[np.int64]) -> Likelihoods:
    """Return the likelihoods of some cases."""
    return tuple(
        None if own is None else np.ascontiguousarray(own[:, cases])
        for own in likelihoods
    )


def set_cells(
    codes: NDArray[Any],
    likelihoods: Likelihoods,
    shared: Sequence[NDArray[np.float64]],
    cells: Mapping[tuple[int, int], NDArray[np.float64]],
) -> tuple[CodeArray, Likelihoods]:
    """Return codes and likelihoods with the chances of some cells set.

    Parameters
    ----------
    codes : ndarray of shape (n_tests, n_cases)
    likelihoods, shared
        As in a table.
    cells : mapping of (test, case) to ndarray of shape (n_levels,)
        The new chances of the levels.
    """
    codes, changed = codes.copy(), list(likelihoods)
    for test in sorted({test for test, _ in cells}):
        n_levels = len(shared[test])
        own = changed[test]
        chances = _write_out(codes[test], shared[test]) if own is None else own.copy()
        for case in [case for at, case in cells if at == test]:
            shares = cells[test, case]
            chances[:, case] = shares
            is_fact = shares.max() == 1.0
            codes[test, case] = shares.argmax() if is_fact else n_levels + 1
        changed[test] = _keep_own(chances, codes[test], shared[test])
    return codes, tuple(changed)


def _write_out(codes: NDArray[Any], shared: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the chances of the cells of a test that has no likelihoods."""
    n_levels = len(shared)
    chances = np.zeros((n_levels, len(codes)))
    known = np.flatnonzero(codes < n_levels)
    chances[codes[known], known] = 1.0
    chances[:, codes == n_levels + 1] = shared[:, None]
    return chances


def match_cases(values: Any, cases: Sequence[str], what: str) -> Any:
    """Return values in the order of the cases, if they are given by case."""
    if not isinstance(values, Mapping):
        return values
    by_name = {str(case): value for case, value in values.items()}
    known = set(cases)
    strange = [name for name in by_name if name not in known]
    if strange:
        raise InvalidTableError(
            f"A {what} must be of a case of the table. Got one for {strange[0]!r}. "
            f"{suggest_name(strange[0], cases)}Leave it out."
        )
    absent = [case for case in cases if case not in by_name]
    if absent:
        raise InvalidTableError(
            f"Every case must have a {what}. Got none for {absent[0]!r} ({len(absent)} "
            "without one). Add it, or remove the case."
        )
    return [by_name[case] for case in cases]
