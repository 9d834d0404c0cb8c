"""What responses hold, as types, so that OpenAPI can describe them.

Nothing is built from these: a test compares every response with them.
"""

from __future__ import annotations

import msgspec

from askless.serve._bodies import Value

__all__ = ["DecidedView", "LogView", "PoliciesView", "PolicyView", "StateView"]


class RangeView(msgspec.Struct, rename={"low": "from", "high": "to"}):
    """The least and the largest number that an outcome is compared with."""

    low: float
    high: float


class TestView(msgspec.Struct):
    """The next test, what it costs and what it can show."""

    __test__ = False
    name: str
    kind: str
    price: float
    price_at_most: float
    bought_together: list[str]
    outcomes: list[Value] | msgspec.UnsetType = msgspec.UNSET
    unit: str | msgspec.UnsetType | None = msgspec.UNSET
    compared: RangeView | msgspec.UnsetType | None = msgspec.UNSET


class BranchView(msgspec.Struct):
    """What follows if the next test shows something."""

    label: str
    share: float | None
    test: str | None
    decision: Value
    taken_as: str | None


class ShareView(msgspec.Struct):
    """A decision that is possible, and its share."""

    decision: Value
    share: float


class StateView(msgspec.Struct):
    """Where a case stands: the next test, or the decision if ``done``."""

    policy: str
    version: str
    done: bool
    spent: float
    bought: list[str]
    contradictions: list[str]
    recheck: list[str]
    unused: list[str]
    session: str | msgspec.UnsetType = msgspec.UNSET
    step: int | msgspec.UnsetType = msgspec.UNSET
    test: TestView | msgspec.UnsetType = msgspec.UNSET
    decision: Value | msgspec.UnsetType = msgspec.UNSET
    certainty: float | msgspec.UnsetType | None = msgspec.UNSET
    stop_reason: str | msgspec.UnsetType = msgspec.UNSET
    cost_of_all: float | msgspec.UnsetType = msgspec.UNSET
    unanswered: int | msgspec.UnsetType = msgspec.UNSET
    why: str | msgspec.UnsetType = msgspec.UNSET
    branches: list[BranchView] | msgspec.UnsetType = msgspec.UNSET
    decision_now: Value | msgspec.UnsetType = msgspec.UNSET
    left_at_worst: float | msgspec.UnsetType = msgspec.UNSET
    shares: list[ShareView] | msgspec.UnsetType = msgspec.UNSET


class OfferView(msgspec.Struct):
    """A policy in the list."""

    name: str
    version: str
    kind: str
    n_tests: int
    n_classes: int
    cost_of_all: float


class ListedTestView(msgspec.Struct):
    """A test of a policy."""

    name: str
    kind: str
    cost: float
    outcomes: list[Value] | None


class PolicyView(OfferView):
    """A policy with its tests, prices and classes."""

    tests: list[ListedTestView]
    classes: list[Value]


class PoliciesView(msgspec.Struct):
    """What is served."""

    policies: list[OfferView]


class RowView(msgspec.Struct):
    """What comes of a row."""

    decision: Value
    cost: float
    unseen: list[str] | msgspec.UnsetType = msgspec.UNSET


class DecidedView(msgspec.Struct):
    """What comes of all rows."""

    policy: str
    version: str
    rows: list[RowView]


class LogView(msgspec.Struct):
    """Every event of a session, each with its time."""

    session: str
    policy: str
    version: str
    events: list[dict[str, Value]]
