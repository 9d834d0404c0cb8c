"""Find the fewest answers to look at again when no case fits all of them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from askless.problem._tests import CodeArray, Test

__all__ = ["find_recheck"]


def find_recheck(
    case_codes: CodeArray,
    tests: tuple[Test, ...],
    chances: tuple[NDArray[np.float64], ...],
    shown: Mapping[int, int],
) -> tuple[int, ...]:
    """Return the fewest tests whose answers must be wrong, or none if a case fits.

    An answer speaks against a case that is known to show something else, or whose
    unknown outcome never comes out so. If one case were true, all answers that speak
    against it would be wrong; the smallest such set is returned, that of the first case
    on a tie.

    Parameters
    ----------
    case_codes : ndarray of shape (n_tests, n_cases)
    tests, chances
        What each test can show, and with which chance where it is unknown.
    shown : mapping of int to int
        The code that each answered test has shown.

    Examples
    --------
    >>> from askless import Table
    >>> table = Table([[0, 0, 0], [1, 1, 1]], ["a", "b"])
    >>> find_recheck(table.codes, table.tests, table.chances, {0: 1, 1: 1, 2: 0})
    (2,)
    """
    asked = sorted(shown)
    against = np.zeros((len(asked), case_codes.shape[1]), dtype=bool)
    for i, test in enumerate(asked):
        code, unknown = shown[test], tests[test].unknown_code
        own = case_codes[test]
        against[i] = (own != code) & (own != unknown)
        levels = chances[test] if code < tests[test].n_levels else np.zeros(1)
        if levels[code if code < len(levels) else 0] <= 0:
            against[i] |= own == unknown
    counts = against.sum(axis=0)
    likeliest = int(np.argmin(counts))
    return tuple(test for i, test in enumerate(asked) if against[i, likeliest])
