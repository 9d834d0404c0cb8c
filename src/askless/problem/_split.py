"""Split a case whose unknown outcome has chances of its own.

An unknown outcome is a coin that is thrown once, so a case that throws one is the same
as several cases of its class, one for each fall, with the weight shared by chance.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidTableError, suggest_name
from askless.problem._tests import Test

__all__ = ["find_case", "find_test", "list_falls"]


def find_case(cases: Sequence[str], case: str | int) -> int:
    """Return the number of a case, by its number or its name."""
    if isinstance(case, (int, np.integer)) and not isinstance(case, bool):
        if 0 <= case < len(cases):
            return int(case)
        raise InvalidTableError(
            f"A case must be one of the cases 0 to {len(cases) - 1}. Got {case}. "
            "Number them from 0, or use its name."
        )
    found = [i for i, name in enumerate(cases) if name == case]
    if len(found) != 1:
        raise InvalidTableError(
            f"A case must be named as one case of the table is. Got {case!r}, which "
            f"names {len(found)}. {suggest_name(str(case), cases)}Use its number."
        )
    return found[0]


def find_test(tests: Sequence[Test], name: str) -> int:
    """Return the number of a test by its name."""
    names = [test.name for test in tests]
    if name not in names:
        raise InvalidTableError(
            f"A test must be one of the table's. Got {name!r}. "
            f"{suggest_name(str(name), names)}Use the name of a column."
        )
    return names.index(name)


def list_falls(
    test: Test, case: str, shares: NDArray[np.float64]
) -> tuple[list[int], list[float], list[str]]:
    """Return codes, shares and names of the cases that one case is split into."""
    codes = [int(code) for code in np.flatnonzero(shares > 0)]
    names = [f"{case}, {test.name}: {test.label(code)}" for code in codes]
    return codes, [float(shares[code]) for code in codes], names
