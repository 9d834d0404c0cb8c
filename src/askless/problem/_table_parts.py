"""Check the parts that a table is made of, and put each into its final form.

What can be wrong with a table is said here; what a table is, in :mod:`._table`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidTableError, suggest_name
from askless.problem._coding import distinct_outcomes
from askless.problem._column import Column, clean_column, is_number
from askless.problem._costs import Costs
from askless.problem._frames import (
    Columns,
    clean_columns,
    column_names,
    is_frame,
    list_some,
    listed_names,
)
from askless.problem._tests import Outcome, Test

__all__ = [
    "check_chances",
    "check_length",
    "check_prior",
    "check_shares",
    "check_size",
    "keep_classes",
    "name_cases",
    "number_classes",
    "take_classes",
]


def take_classes(
    outcomes: Any, classes: Any, tests: Sequence[str] | None
) -> tuple[Columns, Column]:
    """Return the columns of the tests, and the class of each case, both cleaned."""
    if isinstance(classes, str):
        return _split_target(outcomes, classes, tests)
    return clean_columns(outcomes, tests), clean_column(classes, "classes")


def _split_target(
    outcomes: Any, target: str, tests: Sequence[str] | None
) -> tuple[Columns, Column]:
    """Take the column of classes out of a frame or a mapping of columns."""
    if not isinstance(outcomes, Mapping) and not is_frame(outcomes):
        raise InvalidTableError(
            "A class column is named only when the outcomes are a frame. Got "
            f"classes={target!r} with {type(outcomes).__name__}. Pass the class of "
            "each case as a list."
        )
    names = column_names(outcomes)
    if target not in names:
        raise InvalidTableError(
            f"The target must be a column of the table. Got {target!r}, which is none "
            f"of {list_some(names)}. {suggest_name(target, names)}Name the column "
            "that holds the classes."
        )
    if tests is not None and target in listed_names(tests):
        raise InvalidTableError(
            f"The target must not be a test as well. Got {target!r} as both. Leave it "
            "out of the tests."
        )
    wanted = None if tests is None else [*listed_names(tests), target]
    columns = clean_columns(outcomes, wanted)
    others = Columns((name, columns[name]) for name in columns if name != target)
    return others, columns[target]


def check_size(columns: dict[str, Column]) -> int:
    """Return how many cases there are; there must be a case and a test."""
    if not columns:
        raise InvalidTableError(
            "A table must have at least one test. Got no columns of outcomes. Pass an "
            "array with a column for each test."
        )
    n_cases = len(next(iter(columns.values())))
    if n_cases == 0:
        raise InvalidTableError(
            "A table must have at least one case. Got none. Pass a row of outcomes for "
            "each case."
        )
    return n_cases


def check_length(values: Column, n_cases: int, what: str) -> Column:
    """Return the values; there must be one for each case."""
    if len(values) != n_cases:
        raise InvalidTableError(
            f"There must be a {what} for each case. Got {len(values)} for {n_cases} "
            "cases. Pass as many as there are rows."
        )
    return values


def number_classes(given: Column) -> tuple[tuple[Outcome, ...], NDArray[np.int32]]:
    """Return the classes in ascending order, and the number of each case's class."""
    classes = tuple(distinct_outcomes(given))
    index = {one: i for i, one in enumerate(classes)}
    # Neither None nor NaN is a class.
    ids = np.array([index.get(one, -1) for one in given.tolist()], dtype=np.int32)
    lost = np.flatnonzero(ids < 0)
    if lost.size:
        raise InvalidTableError(
            f"Every case must have a class. Got none for case {lost[0]} "
            f"({lost.size} without one). Remove the case, or name its class."
        ).at(lost[0])
    return classes, ids


def check_prior(prior: Any, n_cases: int) -> NDArray[np.float64]:
    """Return weights that sum to one."""
    if prior is None:
        return np.full(n_cases, 1.0 / n_cases)
    column = check_length(clean_column(prior, "prior"), n_cases, "weight")
    if column.dtype == object and not is_number(column):
        listed = column.tolist()
        wrong = next((i for i, v in enumerate(listed) if not _reads_as_number(v)), 0)
        raise InvalidTableError(
            f"Weights must be numbers. Got {listed[wrong]!r} for case {wrong}. Pass "
            "one number for each case."
        ).at(wrong)
    weights = column.astype(np.float64)
    if not np.all(np.isfinite(weights)) or np.any(weights < 0):
        wrong = int(np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))[0])
        raise InvalidTableError(
            f"Weights must be finite and >= 0. Got {weights[wrong]} for case {wrong}. "
            "Give a case that cannot occur the weight 0."
        ).at(wrong)
    largest = weights.max()
    if largest <= 0:
        raise InvalidTableError(
            "Weights must sum to more than 0. Got a sum of 0. Give at least one case a "
            "positive weight, or leave the prior out for equal weights."
        )
    # The sum of weights near the largest double may be infinite.
    weights = weights / largest if largest > 1e300 else weights
    return np.asarray(weights / weights.sum())


def _reads_as_number(value: Any) -> bool:
    """Return whether a value is a number, or text that spells one, as in a file."""
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def name_cases(cases: Sequence[Any] | None, n_cases: int) -> tuple[str, ...]:
    """Return a name for each case."""
    if cases is None:
        return tuple(f"case {i}" for i in range(n_cases))
    names = tuple(str(case) for case in cases)
    if len(names) != n_cases:
        raise InvalidTableError(
            f"There must be a name for each case. Got {len(names)} names for {n_cases} "
            "cases. Pass as many as there are rows."
        )
    return names


def keep_classes(
    costs: Costs, classes: tuple[Outcome, ...], present: NDArray[Any]
) -> Costs:
    """Return the costs with the mistakes of the classes that are present."""
    if costs.mistakes is None or len(present) == len(classes):
        return costs
    matrix = costs.mistake_matrix(classes)
    assert matrix is not None
    return costs.with_mistakes(matrix[np.ix_(present, present)])


def check_chances(
    chances: Mapping[str, Mapping[Any, float]], tests: tuple[Test, ...]
) -> tuple[NDArray[np.float64], ...]:
    """Return the chance of each level of each test where an outcome is unknown."""
    names = {test.name: i for i, test in enumerate(tests)}
    checked = [np.full(max(t.n_levels, 1), 1.0 / max(t.n_levels, 1)) for t in tests]
    for name, given in chances.items():
        if name not in names:
            raise InvalidTableError(
                f"chances must name tests. Got {name!r}. {suggest_name(name, names)}"
                "Leave out what is not a test."
            )
        checked[names[name]] = check_shares(tests[names[name]], given)
    return tuple(checked)


def check_shares(test: Test, given: Mapping[Any, float]) -> NDArray[np.float64]:
    """Return the chance of each level of a test."""
    shares = np.zeros(test.n_levels)
    for outcome, chance in given.items():
        code = test.code_of(outcome)
        if code >= test.n_levels:
            raise InvalidTableError(
                f"chances must name outcomes of the test. Got {outcome!r} for "
                f"{test.name!r}, which shows {test.outcomes}. Leave it out; a case "
                "with chances of its own is made by with_likelihoods or split_unknown."
            )
        try:
            shares[code] += float(chance)
        except (TypeError, ValueError):
            shares[code] = np.nan
    if not (np.all(shares >= 0) and np.isclose(shares.sum(), 1.0)):
        raise InvalidTableError(
            f"The chances of a test must be >= 0 and sum to 1. Got {dict(given)} for "
            f"{test.name!r}, with the sum {shares.sum():g}. Divide them by their sum."
        )
    return np.asarray(shares / shares.sum())
