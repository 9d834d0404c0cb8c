"""Nodes in policy files: a record for each node, numbered from the root of its tree.

Files of many nodes spend most of their time here, so lists are made and read whole and
never entry by entry.
"""

from __future__ import annotations

from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import PolicyFileError
from askless.policy._node_policy import NodePolicy
from askless.policy._nodes import Nodes
from askless.policy.codec._records import NodeRecord

__all__ = ["read_nodes", "write_nodes"]

LARGEST_INDEX = int(np.iinfo(np.int32).max)


def write_nodes(policy: NodePolicy) -> list[list[NodeRecord]]:
    """Return the nodes of each tree of a policy."""
    nodes = policy.nodes
    roots = np.repeat(nodes.tree_start[:-1], np.diff(nodes.tree_start))
    children = nodes.branch_child - np.repeat(roots, np.diff(nodes.branch_start))
    branches = _zip(nodes.branch_code, children)
    weights = _zip(nodes.weight_class, nodes.weight)
    tests, cuts = nodes.test.tolist(), nodes.cut.tolist()
    defaults, decisions = nodes.default_branch.tolist(), policy.node_decision.tolist()
    branch_ends = pairwise(nodes.branch_start.tolist())
    weight_ends = pairwise(nodes.weight_start.tolist())
    records = []
    for node, (start, end) in enumerate(weight_ends):
        record = NodeRecord(weights=weights[start:end], decision=decisions[node])
        start, end = next(branch_ends)
        if start < end:
            record.test = tests[node]
            record.cut = cuts[node] if cuts[node] >= 0 else None
            record.default = defaults[node]
            record.branches = branches[start:end]
        records.append(record)
    return [records[a:b] for a, b in pairwise(nodes.tree_start.tolist())]


def read_nodes(trees: list[list[NodeRecord]]) -> Nodes:
    """Return the nodes that the records of trees describe."""
    nodes = list(chain.from_iterable(trees))
    sizes = [len(tree) for tree in trees]
    n_branches = [len(node.branches) for node in nodes]
    codes, children = _unzip(node.branches for node in nodes)
    classes, weights = _unzip(node.weights for node in nodes)
    defaults = [-1 if n.default is None else n.default for n in nodes]
    tree_start = _starts(sizes)
    # Files number the nodes of each tree from 0.
    roots = np.repeat(np.repeat(tree_start[:-1], sizes), n_branches)
    return Nodes(
        tree_start=_narrow(tree_start),
        test=_indices([-1 if n.test is None else n.test for n in nodes]),
        cut=_indices([-1 if n.cut is None else n.cut for n in nodes]),
        default_branch=_indices(defaults),
        branch_start=_narrow(_starts(n_branches)),
        branch_code=_indices(codes),
        branch_child=_narrow(_indices(children) + roots),
        weight_start=_starts([len(node.weights) for node in nodes]),
        weight_class=_indices(classes),
        weight=np.array(weights, dtype=np.float64),
        decision=_indices([n.decision for n in nodes]),
    )


def _zip(first: NDArray[Any], second: NDArray[Any]) -> list[tuple[Any, Any]]:
    return list(zip(first.tolist(), second.tolist(), strict=True))


def _unzip(pairs: Any) -> tuple[list[Any], list[Any]]:
    """Return the first and the second entries of lists of pairs."""
    flat = list(chain.from_iterable(chain.from_iterable(pairs)))
    return flat[0::2], flat[1::2]


def _starts(counts: list[int]) -> NDArray[np.int64]:
    return np.cumsum([0, *counts], dtype=np.int64)


def _indices(values: list[int]) -> NDArray[np.int32]:
    try:
        wide = np.array(values, dtype=np.int64)
    except OverflowError:
        wide = np.array([LARGEST_INDEX + 1], dtype=np.int64)
    return _narrow(wide)


def _narrow(values: NDArray[np.int64]) -> NDArray[np.int32]:
    if values.max(initial=0) > LARGEST_INDEX:
        raise PolicyFileError(
            "Indices must fit in 32 bits. Got a larger one. Save the policy again."
        )
    return values.astype(np.int32)
