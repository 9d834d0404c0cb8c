"""Forests in policy files."""

from __future__ import annotations

from askless.exceptions import PolicyFileError
from askless.policy.codec._codec import Codec, Heading, Measures, price_together
from askless.policy.codec._nodes import read_nodes, write_nodes
from askless.policy.codec._records import PolicyRecord
from askless.policy.forest._forest import Forest

__all__ = ["FOREST"]


def _write(forest: Forest, record: PolicyRecord) -> None:
    # Left out only if it is the very object of the default.
    if forest.voting == "counts":
        record.rule = "counts"
    record.trees = write_nodes(forest)


def _read(record: PolicyRecord, heading: Heading) -> Forest:
    if not all(record.trees):
        raise PolicyFileError(
            "A forest must have trees with nodes. Got a tree without any. Save the "
            "policy again."
        )
    return Forest(
        heading.tests,
        heading.classes,
        heading.prices,
        nodes=read_nodes(record.trees),
        voting=record.rule,
        mistakes=heading.mistakes,
    )


def _measure(forest: Forest) -> Measures:
    return price_together(forest, forest.used_tests, forest.n_nodes)


FOREST = Codec("forest", _write, _read, _measure, needs=("trees",), may_have=("rule",))
