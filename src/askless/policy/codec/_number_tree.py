"""Trees that say numbers, in policy files."""

from __future__ import annotations

import numpy as np

from askless.exceptions import PolicyFileError
from askless.policy._number_tree import NumberTree
from askless.policy.codec._codec import Codec, Heading, Measures
from askless.policy.codec._nodes import read_nodes, write_nodes
from askless.policy.codec._records import PolicyRecord

__all__ = ["NUMBER_TREE"]


def _write(tree: NumberTree, record: PolicyRecord) -> None:
    record.nodes = write_nodes(tree)[0]
    record.values = tree.values.tolist()


def _read(record: PolicyRecord, heading: Heading) -> NumberTree:
    if heading.classes or heading.mistakes is not None:
        raise PolicyFileError(
            "A tree that says numbers must have neither classes nor mistakes between "
            "them. Got some. Save the policy again."
        )
    return NumberTree(
        heading.tests,
        heading.prices,
        nodes=read_nodes([record.nodes]),
        values=np.array(record.values, dtype=np.float64),
    )


def _measure(tree: NumberTree) -> Measures:
    return Measures(tree.n_nodes, tree.expected_cost, tree.worst_cost)


NUMBER_TREE = Codec("number-tree", _write, _read, _measure, needs=("nodes", "values"))
