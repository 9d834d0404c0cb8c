"""Turn cells into arrays: an outcome for each level, a column for each case.

A cell is what someone has written for one test and one case. What may be wrong with it
is said here, with the place where it stands.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidTableError, suggest_name
from askless.problem._coding import distinct_outcomes
from askless.problem._column import clean_column, is_missing
from askless.problem._frames import list_some
from askless.problem._tests import Outcome, Test
from askless.problem.likelihood._cells import TOLERANCE, Grid

__all__ = [
    "Cell",
    "CellReading",
    "Cells",
    "as_probability",
    "build_grid",
    "scale_shares",
]

# Outcome to probability; the probability of the positive outcome; an outcome that is
# certain; None for an outcome that is unknown.
Cell = Mapping[Any, Any] | float | str | None


@dataclass(frozen=True)
class CellReading:
    """How cells are read; see the parameters of Table.from_likelihoods."""

    tests: Sequence[str] | None = None
    cases: Sequence[Any] | None = None
    missing: Literal["error", "unknown"] = "error"
    alphabet: Mapping[str, Sequence[Any]] | None = None
    binary: tuple[Outcome, Outcome] = ("no", "yes")

    def __post_init__(self) -> None:
        if self.missing not in ("error", "unknown"):
            raise InvalidTableError(
                f"missing must be 'error' or 'unknown'. Got {self.missing!r}. Choose "
                "'unknown' if a cell that is left out may show anything."
            )
        if isinstance(self.binary, str) or len(set(self.binary)) != 2:
            raise InvalidTableError(
                "binary must be two outcomes, the negative one first. Got "
                f"{self.binary!r}. Write ('no', 'yes'), or the like."
            )


@dataclass(frozen=True)
class Cells:
    """Cells by test and case, and where each of them was found.

    Attributes
    ----------
    by_test : dict of str to dict of str to Cell
    places : dict of (test, case) to str
        Where a cell stands in a file, as " in line 3 of table.csv"; none otherwise.
    classes, prior : dict of str to object
        The class and the weight of each case, if they came with the cells.
    source : str
        Where the cells were found, as " in table.csv"; nothing otherwise.
    cases : dict of str to None
        Cases that were named, whether they have cells or not.
    """

    by_test: dict[str, dict[str, Cell]]
    places: dict[tuple[str, str], str] = field(default_factory=dict)
    classes: dict[str, Any] = field(default_factory=dict)
    prior: dict[str, Any] = field(default_factory=dict)
    source: str = ""
    cases: dict[str, None] = field(default_factory=dict)

    def all_cases(self) -> list[str]:
        """Return every case once, in order."""
        rows = self.by_test.values()
        return list(dict.fromkeys([*self.cases, *(c for row in rows for c in row)]))

    def place(self, test: str, case: str) -> str:
        """Return a cell's name for a message, with its place if it has one."""
        return f"{test!r} of {case!r}{self.places.get((test, case), self.source)}"


def build_grid(cells: Cells, reading: CellReading) -> Grid:
    """Return the arrays of cells; each cell is checked."""
    names = _choose(reading.tests, list(cells.by_test), "test", cells.source)
    cases = _choose(reading.cases, cells.all_cases(), "case", cells.source)
    if not names or not cases:
        raise InvalidTableError(
            "A table must have at least one test and one case. Got "
            f"{len(names)} tests and {len(cases)} cases{cells.source}. Give each test "
            "the probabilities of what it shows for each case."
        )
    for name in reading.alphabet or {}:
        if name not in cells.by_test:
            raise InvalidTableError(
                f"alphabet must name tests. Got {name!r}. "
                f"{suggest_name(name, cells.by_test)}Leave out what is not a test."
            )
    tests = tuple(_find_outcomes(name, cells, cases, reading) for name in names)
    chances = [_fill(test, cells, cases, reading) for test in tests]
    return Grid(
        tests,
        tuple(cases),
        chances,
        [cells.classes[case] for case in cases] if cells.classes else None,
        [cells.prior[case] for case in cases] if cells.prior else None,
    )


def _choose(
    wanted: Sequence[Any] | None, found: list[str], what: str, source: str
) -> list[str]:
    """Return the tests or cases to take, in order."""
    if wanted is None:
        return found
    names = [str(name) for name in wanted]
    known = set(found)
    seen: set[str] = set()
    for name in names:
        if name not in known:
            raise InvalidTableError(
                f"Every {what} must have likelihoods. Got none for {name!r}{source}. "
                f"{suggest_name(name, found)}Add them, or leave the {what} out."
            )
        if name in seen:
            raise InvalidTableError(
                f"Every {what} must be named once. Got {name!r} more than once. Remove "
                "one of them."
            )
        seen.add(name)
    return names


def _is_number(cell: object) -> bool:
    return isinstance(cell, (bool, int, float, np.bool_, np.integer, np.floating))


def _find_outcomes(
    name: str, cells: Cells, cases: Sequence[str], reading: CellReading
) -> Test:
    """Return the test that shows all outcomes of its cells."""
    row = cells.by_test[name]
    outcomes: dict[Any, None] = {}
    numbered = None
    for case in cases:
        cell = row.get(case)
        if isinstance(cell, Mapping):
            outcomes.update(dict.fromkeys(cell))
        elif isinstance(cell, str):
            outcomes[cell] = None
        elif _is_number(cell) and not is_missing(cell):
            numbered = case
    strange = [outcome for outcome in outcomes if outcome not in reading.binary]
    if numbered is not None:
        if strange:
            raise InvalidTableError(
                "A number stands for the probability of "
                f"{reading.binary[1]!r}, so a test with such cells shows "
                f"{reading.binary[0]!r} or {reading.binary[1]!r}. Got a number for "
                f"{cells.place(name, numbered)}, and {strange[0]!r} elsewhere. Write "
                "each outcome with its probability, or name the two by binary."
            )
        outcomes.update(dict.fromkeys(reading.binary))
    listed = (reading.alphabet or {}).get(name)
    if listed is not None:
        unlisted = [outcome for outcome in outcomes if outcome not in list(listed)]
        if unlisted:
            raise InvalidTableError(
                f"The outcomes of {name!r} must be in its alphabet, which is "
                f"{list_some(listed)}. Got {unlisted[0]!r}. Add it, or correct the "
                "cell."
            )
        outcomes.update(dict.fromkeys(listed))
    if not outcomes:
        raise InvalidTableError(
            f"A test must show something. Got no outcome of {name!r} for any "
            f"case{cells.source}. Give it likelihoods, an alphabet, or leave it out."
        )
    shown = distinct_outcomes(clean_column(list(outcomes), name))
    return Test(name, "category", outcomes=tuple(shown))


def _fill(
    test: Test, cells: Cells, cases: Sequence[str], reading: CellReading
) -> NDArray[np.float64]:
    """Return the probability of each level for each case; NaN if it is unknown."""
    chances = np.full((test.n_levels, len(cases)), np.nan)
    row = cells.by_test[test.name]
    for i, case in enumerate(cases):
        if case not in row:
            if reading.missing == "error":
                raise InvalidTableError(
                    "Every case must have likelihoods for every test. Got none for "
                    f"{cells.place(test.name, case)}. Add them, or pass "
                    "missing='unknown' if it may show anything."
                )
            continue
        cell = row[case]
        if cell is None or (not isinstance(cell, Mapping) and is_missing(cell)):
            continue
        place = cells.place(test.name, case)
        shares = np.zeros(test.n_levels)
        for outcome, value in _as_shares(cell, reading, place).items():
            shares[test.code_of(outcome)] += value
        chances[:, i] = scale_shares(shares, place)
    return chances


def _as_shares(cell: Any, reading: CellReading, place: str) -> dict[Any, float]:
    """Return what a cell says as outcome to probability."""
    if isinstance(cell, str):
        return {cell: 1.0}
    if isinstance(cell, Mapping):
        return {
            outcome: as_probability(value, f"{outcome!r} for {place}")
            for outcome, value in cell.items()
        }
    positive = as_probability(cell, place)
    return {reading.binary[0]: 1.0 - positive, reading.binary[1]: positive}


def as_probability(value: Any, place: str) -> float:
    """Return a probability, which must be a number from 0 to 1."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not 0.0 <= number <= 1.0 + TOLERANCE:
        raise InvalidTableError(
            f"A probability must be a number from 0 to 1. Got {value!r} of {place}. "
            "Write 80 % as 0.8."
        )
    return min(number, 1.0)


def scale_shares(shares: NDArray[np.float64], place: str) -> NDArray[np.float64]:
    """Return shares divided by their sum, which must be about one."""
    total = math.fsum(shares.tolist())
    if abs(total - 1.0) > TOLERANCE * len(shares):
        raise InvalidTableError(
            f"The probabilities of a cell must sum to 1. Got the sum {total:.7g} for "
            f"{place}. Add the outcome that is left out, or divide them by their sum."
        )
    return shares / total
