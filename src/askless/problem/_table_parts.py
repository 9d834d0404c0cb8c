"""Check the parts that a table is made of, and put each into its final form.

What can be wrong with a table is said here; what a table is, in :mod:`._table`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidTableError, suggest_name
from askless.problem._coding import (
    category_test,
    distinct_outcomes,
    quantile_test,
    uniform_test,
)
from askless.problem._costs import Costs
from askless.problem._frames import (
    Column,
    as_columns,
    clean_column,
    is_frame,
    list_some,
)
from askless.problem._tests import MAX_LEVELS, Outcome, Test

__all__ = [
    "as_costs",
    "blank_marked",
    "check_alphabet",
    "check_chances",
    "check_length",
    "check_levels",
    "check_prior",
    "check_shares",
    "check_size",
    "choose_levels",
    "example_value",
    "find_marked",
    "keep_classes",
    "name_cases",
    "number_classes",
    "split_target",
]


def split_target(
    outcomes: Any, target: str, tests: Sequence[str] | None
) -> tuple[Column, dict[str, Column], list[str]]:
    """Take the column of classes out of a frame or a mapping of columns."""
    if not isinstance(outcomes, Mapping) and not is_frame(outcomes):
        raise InvalidTableError(
            "A class column is named only when the outcomes are a frame. Got "
            f"classes={target!r} with {type(outcomes).__name__}. Pass the class of "
            "each case as a list."
        )
    columns = as_columns(outcomes)
    if target not in columns:
        raise InvalidTableError(
            f"The target must be a column of the table. Got {target!r}, which is none "
            f"of {list_some(columns)}. {suggest_name(target, columns)}Name the column "
            "that holds the classes."
        )
    if tests is not None and target in tests:
        raise InvalidTableError(
            f"The target must not be a test as well. Got {target!r} as both. Leave it "
            "out of the tests."
        )
    labels = columns.pop(target)
    return labels, columns, list(columns) if tests is None else list(tests)


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


def check_levels(levels: int | None) -> None:
    """Check into how many levels numbers are cut."""
    if levels is None:
        return
    if not isinstance(levels, (int, np.integer)) or not 2 <= levels <= MAX_LEVELS:
        raise InvalidTableError(
            f"levels must be a whole number from 2 to {MAX_LEVELS:,}. Got {levels!r}. "
            "The papers use 10."
        )


def find_marked(column: Column, unknown: Any) -> NDArray[np.bool_]:
    """Return which cells hold the value that marks an unknown outcome."""
    if unknown is None:
        return np.zeros(len(column), dtype=bool)
    return np.array([v == unknown for v in column.tolist()], dtype=bool)


def blank_marked(column: Column, marked: NDArray[np.bool_], name: str) -> Column:
    """Return the column without the marked cells, as numbers if the rest is numbers."""
    if not marked.any():
        return column
    cells = zip(column.tolist(), marked, strict=True)
    return clean_column([None if is_marked else v for v, is_marked in cells], name)


def check_alphabet(
    alphabet: Mapping[str, Sequence[Any]] | None, columns: dict[str, Column]
) -> dict[str, list[Outcome]]:
    """Return the outcomes of the tests whose outcomes are listed."""
    checked: dict[str, list[Outcome]] = {}
    for name, listed in (alphabet or {}).items():
        if name not in columns:
            raise InvalidTableError(
                f"alphabet must name tests. Got {name!r}. "
                f"{suggest_name(name, columns)}Leave out what is not a test."
            )
        checked[name] = distinct_outcomes(clean_column(list(listed), name))
        shown = distinct_outcomes(columns[name])
        strange = [outcome for outcome in shown if outcome not in checked[name]]
        if strange:
            raise InvalidTableError(
                f"The outcomes of {name!r} must be in its alphabet, which is "
                f"{list_some(checked[name])}. Got {strange[0]!r}. Add it, or mend the "
                "cell."
            )
    return checked


def choose_levels(
    name: str,
    column: Column,
    levels: int | None,
    thresholds: bool,
    listed: Sequence[Outcome] | None = None,
) -> Test:
    """Return the test that a column of outcomes comes from."""
    if listed is not None:
        return Test(name, "category", outcomes=tuple(listed))
    is_number = column.dtype.kind in "if"
    if is_number and np.isinf(column).any():
        raise InvalidTableError(
            f"Numbers must be finite. Got an infinite value of {name!r}. Write it as "
            "missing, or as text."
        )
    if is_number and levels is not None:
        return uniform_test(name, column, levels)
    if is_number and thresholds:
        return quantile_test(name, column)
    return category_test(name, column)


def number_classes(labels: Column) -> tuple[tuple[Outcome, ...], NDArray[np.int32]]:
    """Return the classes in ascending order, and the number of each case's class."""
    classes = tuple(distinct_outcomes(labels))
    index = {label: i for i, label in enumerate(classes)}
    # Neither None nor NaN is a class.
    ids = np.array([index.get(label, -1) for label in labels.tolist()], dtype=np.int32)
    lost = np.flatnonzero(ids < 0)
    if lost.size:
        raise InvalidTableError(
            f"Every case must have a class. Got none for case {lost[0]} "
            f"({lost.size} without one). Remove the case, or name its class."
        )
    return classes, ids


def check_prior(prior: Any, n_cases: int) -> NDArray[np.float64]:
    """Return weights that sum to one."""
    if prior is None:
        return np.full(n_cases, 1.0 / n_cases)
    column = check_length(clean_column(prior, "prior"), n_cases, "weight")
    if column.dtype == object:
        raise InvalidTableError(
            f"Weights must be numbers. Got {list_some(column, most=3)}. Pass one "
            "number for each case."
        )
    weights = column.astype(np.float64)
    if not np.all(np.isfinite(weights)) or np.any(weights < 0):
        wrong = int(np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))[0])
        raise InvalidTableError(
            f"Weights must be finite and >= 0. Got {weights[wrong]} for case {wrong}. "
            "Give a case that cannot occur the weight 0."
        )
    largest = weights.max()
    if largest <= 0:
        raise InvalidTableError(
            "Weights must sum to more than 0. Got a sum of 0. Give at least one case a "
            "positive weight, or leave the prior out for equal weights."
        )
    # The sum of weights near the largest double may be infinite.
    weights = weights / largest if largest > 1e300 else weights
    return np.asarray(weights / weights.sum())


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


def as_costs(costs: Any, n_tests: int) -> Costs:
    """Return costs, of 1 each if none are given."""
    if costs is None:
        return Costs([1.0] * n_tests)
    return costs if isinstance(costs, Costs) else Costs(costs)


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
                "with chances of its own is made by split_unknown."
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


def example_value(test: Test, code: int) -> Outcome | None:
    """Return a raw value that has the code."""
    if code >= test.n_levels:
        return None
    if test.kind == "category":
        return test.outcomes[code]
    if code < len(test.cuts):
        return test.cuts[code]
    return test.cuts[-1] + 1.0 + abs(test.cuts[-1]) if test.cuts else 0.0
