"""The policy file, record by record: what may stand in it, and of which type.

These types are the published format. They say nothing of how parts fit together: that
is checked when a policy is made from them.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

__all__ = ["CaseRecord", "NodeRecord", "PolicyRecord", "SummaryRecord", "TestRecord"]

Label = str | bool | int | float
Index = Annotated[int, Meta(ge=0)]
Amount = Annotated[float, Meta(ge=0)]


class TestRecord(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A test: its name, what it can show, and what it charges."""

    __test__ = False

    name: Annotated[str, Meta(min_length=1)]
    kind: Literal["category", "number"]
    cost: Amount
    outcomes: list[Label] = []
    cuts: list[float] = []
    group: str | None = None
    discounted_cost: Amount | None = None
    delayed: bool = False
    cost_by_outcome: list[Amount] | None = None


class NodeRecord(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A node: a test with its branches, or a decision.

    ``branches`` are pairs of a code and a node. The code of an outcome is its position
    among the test's outcomes or levels; the next one stands for "missing". With a
    ``cut``, code 0 stands for values at most that cut of the test, 1 for values above;
    one past the last cut parts all numbers from missing ones.
    ``weights`` are pairs of a class and how much of it gets here.
    """

    weights: Annotated[list[tuple[Index, Amount]], Meta(min_length=1)]
    decision: Index
    test: Index | None = None
    cut: Index | None = None
    branches: list[tuple[Index, Index]] = []
    default: Index | None = None


class CaseRecord(Struct, forbid_unknown_fields=True):
    """A case of a sequence: its class, its weight, and a code for each test."""

    label: Index
    weight: Amount
    codes: list[Index]


class SummaryRecord(Struct, forbid_unknown_fields=True):
    """What the policy amounts to. Worked out again and compared when a file is read."""

    n_tests: Index
    n_classes: Index
    n_nodes: Index
    expected_cost: Amount
    worst_cost: Amount


class PolicyRecord(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A whole policy.

    A tree has ``nodes``, a sequence an ``order`` and ``cases``, and a forest ``trees``
    that decide by a ``rule``; the nodes of each of its trees are numbered from 0.
    """

    format: Literal["askless-policy"]
    version: Literal[1]
    kind: Literal["tree", "sequence", "forest"]
    tests: list[TestRecord]
    classes: Annotated[list[Label], Meta(min_length=1)]
    summary: SummaryRecord
    mistakes: list[list[Amount]] | None = None
    nodes: list[NodeRecord] = []
    order: list[Index] = []
    cases: list[CaseRecord] = []
    stops_early: bool = True
    trees: list[list[NodeRecord]] = []
    rule: Literal["votes", "counts"] = "votes"
    digest: str = ""
