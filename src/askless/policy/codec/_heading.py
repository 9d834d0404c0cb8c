"""What policies of every kind have in a file: tests, prices, classes, mistakes."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import PolicyFileError
from askless.policy._base import Policy
from askless.policy.codec._codec import Heading
from askless.policy.codec._records import PolicyRecord, TestRecord
from askless.problem import Outcome, PriceList, Test
from askless.problem._tests import MAX_LEVELS

__all__ = ["check_writable", "read_heading", "write_tests"]


# From a policy.


def check_writable(policy: Policy) -> None:
    """Raise PolicyFileError if a file cannot hold the labels of a policy."""
    for test in policy.tests:
        _check_label_types(test.outcomes, f"outcomes of {test.name!r}")
    _check_label_types(policy.classes, "classes")


def _check_label_types(labels: tuple[Outcome, ...], what: str) -> None:
    for label in labels:
        is_label = isinstance(label, (str, bool, int, float))
        if isinstance(label, float):
            is_label = math.isfinite(label)
        if not is_label or _is_too_long(label):
            raise PolicyFileError(
                f"The {what} in a policy file must be text, booleans, or finite "
                f"numbers of at most 64 bits. Got {label!r}. Turn it into text."
            )


def _is_too_long(label: object) -> bool:
    """Return whether a label is a whole number that no column of data can hold."""
    return isinstance(label, int) and not -(2**63) <= label < 2**63


def write_tests(policy: Policy) -> list[TestRecord]:
    """Return the records of the tests of a policy."""
    return [_test_record(policy, index) for index in range(len(policy.tests))]


def _test_record(policy: Policy, index: int) -> TestRecord:
    test, prices = policy.tests[index], policy.prices
    group = prices.group[index]
    by_outcome = prices.by_outcome.get(index)
    return TestRecord(
        name=test.name,
        kind=test.kind,
        cost=float(prices.full[index]),
        outcomes=list(test.outcomes),
        cuts=list(test.cuts),
        group=group,
        discounted_cost=None if group is None else float(prices.discounted[index]),
        delayed=bool(prices.delayed[index]),
        cost_by_outcome=None if by_outcome is None else by_outcome.tolist(),
    )


# To a policy.


def read_heading(record: PolicyRecord) -> Heading:
    """Return what a record says of tests, classes and prices, and check it."""
    tests = tuple(_read_test(entry) for entry in record.tests)
    prices = _read_prices(record.tests)
    mistakes = _read_mistakes(record)
    _check_labels(record.classes, "class")
    return Heading(tests, tuple(record.classes), prices, mistakes)


def _read_test(entry: TestRecord) -> Test:
    if entry.kind == "category":
        if entry.cuts or len(entry.outcomes) > MAX_LEVELS:
            raise PolicyFileError(
                f"A category must have no cuts and at most {MAX_LEVELS:,} outcomes. "
                f"Got others for test {entry.name!r}. Save the policy again."
            )
        _check_labels(entry.outcomes, f"outcome of {entry.name!r}")
    elif entry.outcomes or len(entry.cuts) >= MAX_LEVELS:
        raise PolicyFileError(
            f"A number must have no outcomes and fewer than {MAX_LEVELS:,} cuts. Got "
            f"others for test {entry.name!r}. Save the policy again."
        )
    elif any(not a < b for a, b in pairwise(entry.cuts)):
        raise PolicyFileError(
            f"Cuts must ascend. Got others for test {entry.name!r}. Sort them."
        )
    return Test(entry.name, entry.kind, tuple(entry.outcomes), tuple(entry.cuts))


def _check_labels(labels: list[Any], what: str) -> None:
    if any(_is_too_long(label) for label in labels):
        raise PolicyFileError(
            f"Every {what} must fit in 64 bits if it is a whole number. Got a larger "
            "one. Write it as text."
        )
    # 1, 1.0 and True are the same key, so they cannot be told apart.
    if len(set(labels)) != len(labels):
        raise PolicyFileError(
            f"Every {what} must be listed once. Got one again. Save the policy again."
        )


def _read_prices(entries: list[TestRecord]) -> PriceList:
    _check_prices(entries)
    discounted = [
        e.cost if e.discounted_cost is None else e.discounted_cost for e in entries
    ]
    return PriceList(
        np.array([entry.cost for entry in entries], dtype=np.float64),
        np.array(discounted, dtype=np.float64),
        tuple(entry.group for entry in entries),
        np.array([entry.delayed for entry in entries], dtype=bool),
        {
            i: np.array(entry.cost_by_outcome, dtype=np.float64)
            for i, entry in enumerate(entries)
            if entry.cost_by_outcome is not None
        },
    )


def _check_prices(entries: list[TestRecord]) -> None:
    for entry in entries:
        priced = entry.cost_by_outcome
        if priced is not None and (
            len(priced) != len(entry.outcomes) or entry.group is not None
        ):
            raise PolicyFileError(
                "A test priced by outcome must have a price for each outcome and no "
                f"group. Got otherwise for {entry.name!r}. Save the policy again."
            )
        if (entry.group is None) != (entry.discounted_cost is None):
            raise PolicyFileError(
                "A test must have a group and a discounted cost, or neither. Got one "
                f"of them for {entry.name!r}. Save the policy again."
            )
    if any(e.delayed for e in entries) and any(e.cost_by_outcome for e in entries):
        raise PolicyFileError(
            "Prices by outcome cannot be combined with delayed tests. Got both. Save "
            "the policy again."
        )


def _read_mistakes(record: PolicyRecord) -> NDArray[np.float64] | None:
    if record.mistakes is None:
        return None
    n = len(record.classes)
    if len(record.mistakes) != n or any(len(row) != n for row in record.mistakes):
        raise PolicyFileError(
            f"mistakes must have {n} rows and columns, one for each class. Got another "
            "shape. Save the policy again."
        )
    return np.array(record.mistakes, dtype=np.float64)
