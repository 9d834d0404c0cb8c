"""A clinic that was never there: examples with groups, delays and costly mistakes.

Draws invented patients from the small tables below. It knows nothing of learners, and
nothing of medicine that could help anybody: it is only shaped like such a problem.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.datasets._examples import Examples
from askless.datasets._rng import RandomState, make_rng
from askless.exceptions import InvalidOptionError
from askless.problem import Costs

__all__ = ["make_clinic"]

# The order of the classes in every tuple below.
_CLASSES = ("anaemia", "cold", "heart failure", "pneumonia")
_SHARES = (0.20, 0.45, 0.15, 0.20)


@dataclass(frozen=True)
class _Number:
    """A measurement: normal around a mean per class, kept within bounds.

    ``by_severity`` is how many standard deviations a case one step more severe is
    off. With ``logarithmic``, means and spreads are of the natural logarithm.
    """

    means: tuple[float, float, float, float]
    spread: float
    bounds: tuple[float, float]
    decimals: int
    by_severity: float = 0.0
    logarithmic: bool = False


@dataclass(frozen=True)
class _Category:
    """A finding: one of some values, with chances per class (a row each)."""

    values: tuple[str, ...]
    chances: tuple[tuple[float, ...], ...]


_TESTS: dict[str, _Number | _Category] = {
    # asked
    "age": _Number((52, 38, 74, 58), 15, (18, 95), 0),
    "onset": _Category(
        ("days", "weeks", "months"),
        (
            (0.05, 0.30, 0.65),
            (0.90, 0.09, 0.01),
            (0.15, 0.40, 0.45),
            (0.75, 0.23, 0.02),
        ),
    ),
    "cough": _Category(
        ("none", "dry", "wet"),
        (
            (0.80, 0.15, 0.05),
            (0.15, 0.60, 0.25),
            (0.40, 0.35, 0.25),
            (0.08, 0.22, 0.70),
        ),
    ),
    "ankle_swelling": _Category(
        ("no", "yes"), ((0.88, 0.12), (0.96, 0.04), (0.25, 0.75), (0.90, 0.10))
    ),
    # measured at once
    "temperature": _Number((36.7, 37.4, 36.6, 38.4), 0.6, (35.0, 41.5), 1),
    "pulse": _Number((92, 82, 95, 101), 13, (45, 180), 0, by_severity=0.5),
    "breathing_rate": _Number((17, 17, 23, 24), 4, (8, 45), 0, by_severity=0.5),
    "oxygen": _Number((97.3, 97.2, 93.2, 92.8), 2, (70, 100), 0, by_severity=-0.6),
    "chest_sound": _Category(
        ("clear", "one side", "both sides"),
        (
            (0.93, 0.03, 0.04),
            (0.85, 0.05, 0.10),
            (0.25, 0.10, 0.65),
            (0.20, 0.62, 0.18),
        ),
    ),
    # from the blood
    "haemoglobin": _Number((8.9, 13.8, 12.6, 13.3), 1.3, (4, 19), 1),
    "white_cells": _Number((6.8, 7.2, 8.0, 13.5), 3, (1, 40), 1, by_severity=0.3),
    "crp": _Number((1.5, 2.5, 2.3, 4.5), 0.8, (0, 7), 0, 0.5, logarithmic=True),
    "bnp": _Number((3.8, 3.3, 6.4, 4.5), 0.8, (0, 9), 0, 0.4, logarithmic=True),
    # taken in another building
    "chest_xray": _Category(
        ("clear", "patch", "wide heart"),
        (
            (0.93, 0.02, 0.05),
            (0.96, 0.02, 0.02),
            (0.10, 0.06, 0.84),
            (0.07, 0.90, 0.03),
        ),
    ),
}

# Share of the cases in which a value was not written down. Nothing else decides it.
_MISSING = {"onset": 0.04, "temperature": 0.03, "oxygen": 0.05, "crp": 0.06, "bnp": 0.1}

_COSTS = {
    "age": 1,
    "onset": 1,
    "cough": 1,
    "ankle_swelling": 1,
    "temperature": 2,
    "pulse": 2,
    "breathing_rate": 2,
    "oxygen": 3,
    "chest_sound": 6,
    "haemoglobin": 12,
    "white_cells": 12,
    "crp": 15,
    "bnp": 38,
    "chest_xray": 70,
}
_BLOOD = ("haemoglobin", "white_cells", "crp", "bnp")
_DRAWING_BLOOD = 6
# Haemoglobin is read from a drop at the desk; the rest goes to a laboratory.
_DELAYED = ("white_cells", "crp", "bnp")
# mistakes[true class][decision]: missing the dangerous illnesses costs most.
_MISTAKES = (
    (0, 200, 250, 250),
    (80, 0, 150, 100),
    (600, 900, 0, 700),
    (600, 800, 500, 0),
)


def _draw_number(
    test: _Number,
    classes: NDArray[np.intp],
    severity: NDArray[np.float64],
    rng: np.random.Generator,
) -> NDArray[Any]:
    noise = rng.standard_normal(len(classes)) + test.by_severity * severity
    values = np.array(test.means, dtype=float)[classes] + test.spread * noise
    values = np.clip(values, *test.bounds)
    if test.logarithmic:
        values = np.exp(values)
    return np.round(values, test.decimals)


def _draw_category(
    test: _Category, classes: NDArray[np.intp], rng: np.random.Generator
) -> NDArray[Any]:
    # One uniform number a case, looked up in the cumulated chances of its class. The
    # last step is left out: rounding may put it below 1.
    steps = np.cumsum(np.array(test.chances), axis=1)[:, :-1]
    drawn = (rng.random(len(classes))[:, None] >= steps[classes]).sum(axis=1)
    values: NDArray[Any] = np.array(test.values, dtype=object)[drawn]
    return values


def _without(column: NDArray[Any], is_missing: NDArray[np.bool_]) -> NDArray[Any]:
    """Return the column with NaN or None where it is missing."""
    column = column.copy()
    column[is_missing] = None if column.dtype.kind == "O" else np.nan
    return column


def _clinic_costs() -> Costs:
    """Return the costs of the tests and of the mistakes, in an invented currency."""
    return Costs(
        _COSTS,
        groups={"blood": list(_BLOOD)},
        discounted={test: _COSTS[test] - _DRAWING_BLOOD for test in _BLOOD},
        delayed=_DELAYED,
        mistakes=[list(row) for row in _MISTAKES],
    )


def make_clinic(n_cases: int = 2000, *, random_state: RandomState = None) -> Examples:
    """Make examples of patients who are tired and short of breath. All is invented.

    Four classes, fourteen tests: cheap things to ask, numbers to measure, four blood
    tests that share the drawing of the blood (three come back from the laboratory too
    late to choose the next test by), and an expensive image. Missing a dangerous
    illness costs more than a false alarm.

    Parameters
    ----------
    n_cases : int, default=2000
        How many patients.
    random_state : int, Generator, RandomState or None, default=None
        The same seed gives the same patients.

    Returns
    -------
    examples : Examples
        With numbers, categories, missing values, a group, delayed tests and a matrix
        of mistakes.

    Raises
    ------
    InvalidOptionError
        If `n_cases` is below 1.

    Notes
    -----
    How a case is drawn: a class by the shares 20 % anaemia, 45 % cold, 15 % heart
    failure, 20 % pneumonia; a severity from a standard normal; then each test on its
    own. A category comes from chances that depend on the class. A number is normal
    around the mean of its class, shifted by the severity where the test shows it
    (pulse, breathing rate, oxygen, white cells, crp, bnp), clipped to bounds and
    rounded; crp and bnp are so on a logarithmic scale. At last, onset, temperature,
    oxygen, crp and bnp lose 3 to 10 % of their values, whatever the case.

    The numbers were made up so that no single test decides. They describe no real
    illness and must not be used for any medical purpose.

    Examples
    --------
    >>> clinic = make_clinic(500, random_state=0)
    >>> clinic
    Examples('clinic': 500 cases, 14 tests, 4 classes)
    >>> clinic.test_names[:4]
    ('age', 'onset', 'cough', 'ankle_swelling')
    """
    if n_cases < 1:
        raise InvalidOptionError(
            f"n_cases must be at least 1. Got {n_cases}. Ask for one case or more."
        )
    rng = make_rng(random_state)
    classes = rng.choice(len(_CLASSES), size=n_cases, p=_SHARES)
    severity = rng.standard_normal(n_cases)
    columns: dict[str, NDArray[Any]] = {}
    for name, test in _TESTS.items():
        columns[name] = (
            _draw_number(test, classes, severity, rng)
            if isinstance(test, _Number)
            else _draw_category(test, classes, rng)
        )
    for name, share in _MISSING.items():
        columns[name] = _without(columns[name], rng.random(n_cases) < share)
    return Examples(
        columns=columns,
        y=np.array(_CLASSES)[classes],
        costs=_clinic_costs(),
        name="clinic",
        description="Invented patients who are short of breath; no medical use.",
    )
