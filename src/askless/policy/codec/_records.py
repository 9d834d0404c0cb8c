"""The policy file, record by record: what may stand in it, and of which type.

These types are the published format. They say nothing of how parts fit together: that
is checked when a policy is made from them.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

__all__ = [
    "CaseRecord",
    "ChoiceRecord",
    "EnsembleRecord",
    "NodeRecord",
    "PolicyRecord",
    "PosteriorRecord",
    "SummaryRecord",
    "TestRecord",
    "TreeRecord",
]

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
    one past the last cut separates all numbers from missing ones.
    ``weights`` are pairs of a class and how much of it gets here.
    """

    weights: Annotated[list[tuple[Index, Amount]], Meta(min_length=1)]
    decision: Index
    test: Index | None = None
    cut: Index | None = None
    branches: list[tuple[Index, Index]] = []
    default: Index | None = None


class CaseRecord(Struct, forbid_unknown_fields=True):
    """A case of a sequence or a rule: its class, its weight, a code for each test."""

    label: Index
    weight: Amount
    codes: list[Index]


class ChoiceRecord(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """How a rule chooses: its name, and the chances of each test's outcomes.

    ``chances`` has a list for each test, with the chance of each outcome where it is
    unknown.
    """

    by: Literal["odtn-r", "odtn-h", "elimination", "information", "gbs", "ec2", "order"]
    chances: list[list[Amount]]
    form: Literal["paper", "released"] = "paper"


class TreeRecord(Struct, forbid_unknown_fields=True):
    """A tree of an ensemble, in preorder: the left child is the next node.

    ``test`` has an entry for each node, -1 for a leaf. ``cut``, ``right`` and ``flags``
    have one for each test, in order: codes up to the cut go left, all others to the
    node ``right``. Flag 1 sends missing values left; with flag 2 the cut names a set of
    codes that go left instead. ``weight`` and ``value`` have an entry for each leaf.
    """

    output: Index
    test: Annotated[list[Annotated[int, Meta(ge=-1)]], Meta(min_length=1)]
    cut: list[Index]
    right: list[Index]
    flags: list[Index]
    weight: list[Amount]
    value: list[list[float]]


class EnsembleRecord(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """An ensemble: its trees, how their sums become an answer, and when it stops."""

    link: Literal[
        "share", "count", "logit", "softmax", "one-vs-rest", "number", "exp", "sigmoid"
    ]
    offset: Annotated[list[float], Meta(min_length=1)]
    bounds: Literal["path", "leaves", "deep", "joint", "vote"]
    trees: Annotated[list[TreeRecord], Meta(min_length=1)]
    sets: list[list[Index]] = []
    divisor: float = 1.0
    slope: float = 1.0
    decides_by: Literal["raw", "nearly", "at least 0", "probability"] = "raw"
    single_precision: bool = False
    functions: Literal["numpy", "numpy by columns", "scipy", "libm"] = "numpy"
    threshold: Amount | None = None
    varies_together: bool = False
    max_cost: Amount | None = None
    complete: bool = False
    tolerance: Amount = 0.0
    eagerness: list[Amount] = []


class PosteriorRecord(Struct, forbid_unknown_fields=True):
    """How a posterior chooses and stops, and what each case may show.

    ``chances`` has a list for each test: for each outcome by its code, the chance of
    each case. A single list is of a test of two outcomes: the second one has the chance
    that is left. ``factor`` times what a test saves must be above its price.
    """

    by: Literal["information", "value"]
    factor: Amount
    chances: list[Annotated[list[list[Amount]], Meta(min_length=1)]]


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
    that decide by a ``rule``; the nodes of each of its trees are numbered from 0. A
    tree has an ``objective`` too if that says why it stops. An ``ensemble`` of other
    trees may answer a number, and then has no classes. A number tree has ``nodes``,
    whose weights are all of a class 0, no classes, and ``values``: the number that each
    node says. A rule has ``cases``, and a ``choice`` that says how it chooses among
    tests; an ``order`` if that is what it chooses by. A ``posterior`` has ``cases``
    without codes, and the chances of what they show.
    """

    format: Literal["askless-policy"]
    version: Literal[1]
    kind: Literal[
        "tree", "number-tree", "sequence", "forest", "ensemble", "rule", "posterior"
    ]
    tests: list[TestRecord]
    classes: list[Label]
    summary: SummaryRecord
    mistakes: list[list[Amount]] | None = None
    objective: Literal["total"] | None = None
    nodes: list[NodeRecord] = []
    order: list[Index] = []
    cases: list[CaseRecord] = []
    stops_early: bool = True
    trees: list[list[NodeRecord]] = []
    rule: Literal["votes", "counts"] = "votes"
    ensemble: EnsembleRecord | None = None
    choice: ChoiceRecord | None = None
    posterior: PosteriorRecord | None = None
    values: list[float] = []
    digest: str = ""
