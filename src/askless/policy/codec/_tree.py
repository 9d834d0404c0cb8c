"""Trees in policy files."""

from __future__ import annotations

from askless.policy._tree import Tree
from askless.policy.codec._codec import Codec, Heading, Measures
from askless.policy.codec._nodes import read_nodes, write_nodes
from askless.policy.codec._records import PolicyRecord

__all__ = ["TREE"]


def _write(tree: Tree, record: PolicyRecord) -> None:
    record.nodes = write_nodes(tree)[0]
    record.objective = tree.objective


def _read(record: PolicyRecord, heading: Heading) -> Tree:
    return Tree(
        heading.tests,
        heading.classes,
        heading.prices,
        nodes=read_nodes([record.nodes]),
        mistakes=heading.mistakes,
        objective=record.objective,
    )


def _measure(tree: Tree) -> Measures:
    return Measures(tree.n_nodes, tree.expected_cost, tree.worst_cost)


TREE = Codec("tree", _write, _read, _measure, needs=("nodes",), may_have=("objective",))
