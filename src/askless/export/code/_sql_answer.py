"""What follows the walk of a query: the steps that decide, and what is selected."""

from __future__ import annotations

from typing import NamedTuple

from askless.export.code._dialects import Dialect
from askless.policy import Policy
from askless.problem import Outcome

__all__ = ["Answer", "class_literal", "greatest"]


class Answer(NamedTuple):
    """What follows the walk: more steps, what is selected, and columns that help."""

    # The name of each step, and the columns that it adds.
    steps: list[tuple[str, list[str]]]
    # The name of each column of the result, and what it is.
    selected: list[tuple[str, str]]
    helpers: list[str]


def greatest(values: list[str], dialect: Dialect) -> str:
    """Return the largest of some columns, a few at a time."""
    name = "MAX" if dialect.name == "sqlite" else "GREATEST"
    while len(values) > 1:
        values = [
            f"{name}({', '.join(part)})" if len(part) > 1 else part[0]
            for part in (values[i : i + 50] for i in range(0, len(values), 50))
        ]
    return values[0]


def class_literal(dialect: Dialect, policy: Policy, decided: Outcome) -> str:
    # One column has one type.
    if len({type(c) for c in policy.classes}) > 1:
        return dialect.text(str(decided))
    return dialect.literal(decided)
