"""What a kind of policy must offer to be written to a file and read again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from askless.exceptions import PolicyFileError
from askless.policy._base import Policy
from askless.policy.codec._records import PolicyRecord
from askless.problem import Outcome, PriceList, Test

__all__ = ["Codec", "Heading", "Measures", "check_parts", "price_together"]


class Heading(NamedTuple):
    """What policies of every kind have."""

    tests: tuple[Test, ...]
    classes: tuple[Outcome, ...]
    prices: PriceList
    mistakes: NDArray[np.float64] | None


class Measures(NamedTuple):
    """What the summary of a file says of a policy beside its tests and classes."""

    n_nodes: int
    expected_cost: float
    worst_cost: float


@dataclass(frozen=True)
class Codec:
    """How one kind of policy is written and read.

    Parameters
    ----------
    kind : str
        ``kind`` of the policy and of its record.
    write : callable
        Takes a policy and a record with a heading, and puts the parts in.
    read : callable
        Takes a record and its heading; returns the policy.
    measure : callable
        Takes a policy; returns its :class:`Measures`.
    needs : tuple of str
        The parts that a record of this kind must have.
    may_have : tuple of str, default=()
        The parts that it may have.
    """

    kind: str
    write: Callable[[Any, PolicyRecord], None]
    read: Callable[[PolicyRecord, Heading], Policy]
    measure: Callable[[Any], Measures]
    needs: tuple[str, ...]
    may_have: tuple[str, ...] = ()


# The parts of a record that only some kinds have, each as it is if it is left out.
PARTS = {
    field.name: None if field.default_factory is list else field.default
    for field in msgspec.structs.fields(PolicyRecord)
    if not field.required and field.name not in ("mistakes", "digest")
}


def has_part(record: PolicyRecord, name: str) -> bool:
    """Return whether a record has a part, and not what stands for none."""
    value = getattr(record, name)
    return bool(value != PARTS[name] and value != [])


def check_parts(codec: Codec, record: PolicyRecord) -> None:
    """Raise PolicyFileError unless a record has the parts of its kind and no others."""
    others = [p for p in PARTS if p not in codec.needs and p not in codec.may_have]
    lacks = [f"no {name}" for name in codec.needs if not has_part(record, name)]
    extra = [name for name in others if has_part(record, name)]
    if lacks or extra:
        article = "An" if codec.kind[0] in "aeiou" else "A"
        raise PolicyFileError(
            f"{article} {codec.kind} must have {' and '.join(codec.needs)}, and no "
            f"{', '.join(others[:-1])} or {others[-1]}. Got {', '.join(lacks + extra)}."
            " Save the policy again."
        )


def price_together(policy: Policy, asked: list[int], n_nodes: int = 0) -> Measures:
    """Return the measures of a policy whose cost depends on the rows.

    The price of all tests that it asks for is what it may cost.
    """
    worst = policy.prices.open_bill().charge_together(asked)
    return Measures(n_nodes, worst, worst)
