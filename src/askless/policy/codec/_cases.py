"""The cases of sequences and rules in policy files: a class, a weight, codes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import PolicyFileError
from askless.policy._rule import Rule
from askless.policy._sequence import Sequence
from askless.policy.codec._records import CaseRecord, PolicyRecord
from askless.problem._tests import code_dtype

__all__ = ["Cases", "read_cases", "write_cases"]


class Cases(NamedTuple):
    """The cases of a file: codes by test, and a class and a weight of each."""

    codes: NDArray[Any]
    classes: NDArray[np.int32]
    weights: NDArray[np.float64]


def write_cases(policy: Sequence | Rule) -> list[CaseRecord]:
    """Return the records of the cases of a policy."""
    return [
        CaseRecord(label, weight, codes)
        for label, weight, codes in zip(
            policy.case_class.tolist(),
            policy.case_weights.tolist(),
            policy.case_codes.T.tolist(),
            strict=True,
        )
    ]


def read_cases(record: PolicyRecord, n_tests: int, most: int) -> Cases:
    """Return the cases of a file.

    Parameters
    ----------
    record : PolicyRecord
    n_tests : int
        How many codes a case must have.
    most : int
        The most levels that a test has.
    """
    for case in record.cases:
        if len(case.codes) != n_tests or any(c > most + 1 for c in case.codes):
            raise PolicyFileError(
                "Every case must have a code for each test of the order, or of the "
                "rule, within the test's outcomes. Got others. Save the policy again."
            )
    codes = np.array([case.codes for case in record.cases], dtype=code_dtype(most))
    labels = [case.label for case in record.cases]
    if max(labels) >= len(record.classes):
        raise PolicyFileError(
            f"Cases must be of one of {len(record.classes)} classes. Got class "
            f"{max(labels)}. Number the classes from 0."
        )
    if any(index >= len(record.tests) for index in record.order):
        raise PolicyFileError(
            f"The order must name tests 0 to {len(record.tests) - 1}. Got "
            f"{max(record.order)}. Save the policy again."
        )
    return Cases(
        np.ascontiguousarray(codes.reshape(len(record.cases), n_tests).T),
        np.array(labels, dtype=np.int32),
        np.array([case.weight for case in record.cases], dtype=np.float64),
    )
