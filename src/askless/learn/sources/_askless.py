"""Read the trees and forests of Askless itself; their tests and codes stay as they are.

A node of many branches becomes a chain of nodes that ask the same test, which is paid
for once.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.learn.sources._source import (
    SetSplit,
    SourceTree,
    assemble_trees,
    refuse,
)
from askless.policy import EnsembleTrees, Forest, NumberTree, Output, Tree
from askless.problem import Test

__all__ = ["read_policy"]


def read_policy(policy: Tree | Forest) -> tuple[EnsembleTrees, Output]:
    """Return the trees of a policy, and how they decide together."""
    rule = policy.voting if isinstance(policy, Forest) else "votes"
    if rule == "counts" and policy.mistakes is not None:
        refuse(
            "A forest that adds up counts must not weigh mistakes, or no bound says "
            "when it is settled",
            "costs of mistakes",
            "Let its trees vote",
        )
    if isinstance(policy, Forest):
        starts = policy.tree_start.tolist()
    else:
        starts = [0, policy.n_nodes]
    is_number = isinstance(policy, NumberTree)
    values = policy.values[:, None] if is_number else _leaf_values(policy, rule)
    trees = [_read_tree(policy, a, b, values) for a, b in pairwise(starts)]
    if is_number:
        return assemble_trees(trees, policy.tests), Output("number", (0.0,))
    n_classes = len(policy.classes)
    output = Output(
        "share" if rule == "votes" else "count",
        (0.0,) * n_classes,
        divisor=float(len(trees)) if rule == "votes" else 1.0,
        decides_by="raw" if rule == "votes" else "nearly",
    )
    return assemble_trees(trees, policy.tests), output


def _leaf_values(policy: Tree | Forest, rule: str) -> NDArray[np.float64]:
    n_nodes, n_classes = len(policy.test), len(policy.classes)
    if rule == "votes":
        return np.eye(n_classes)[policy.node_decision]
    values = np.zeros((n_nodes, n_classes))
    owner = np.repeat(np.arange(n_nodes), np.diff(policy.weight_start))
    values[owner, policy.weight_class] = policy.weight
    return values


class _Chains:
    """Grows a binary tree node by node, a chain for each node of the policy."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, float, int, int, bool, int]] = []
        self.sets: dict[int, SetSplit] = {}

    def add(self, feature: int, threshold: float, missing_left: bool, of: int) -> int:
        self.rows.append((feature, threshold, -1, -1, missing_left, of))
        return len(self.rows) - 1

    def link(self, node: int, left: int, right: int) -> None:
        feature, threshold, _, _, missing_left, of = self.rows[node]
        self.rows[node] = (feature, threshold, left, right, missing_left, of)


def _read_tree(
    policy: Tree | Forest, first: int, last: int, values: NDArray[np.float64]
) -> SourceTree:
    chains = _Chains()
    # Children come after their parents, so that going back meets them first; but node 0
    # must be the root, so chains are linked once all nodes are there.
    heads: dict[int, list[int]] = {}
    for node in range(first, last):
        heads[node] = _add_chain(policy, node, chains)
    for node, chain in heads.items():
        _link_chain(policy, node, chain, heads, chains)
    feature, threshold, left, right, missing_left, of = zip(*chains.rows, strict=True)
    rows = np.array(of)
    weights = np.add.reduceat(policy.weight, policy.weight_start[:-1])
    return SourceTree(
        feature=np.array(feature, dtype=np.int32),
        threshold=np.array(threshold, dtype=np.float64),
        left=np.array(left, dtype=np.int32),
        right=np.array(right, dtype=np.int32),
        missing_left=np.array(missing_left, dtype=bool),
        value=values[rows],
        weight=weights[rows],
        sets=chains.sets,
    )


def _add_chain(policy: Tree | Forest, node: int, chains: _Chains) -> list[int]:
    """Add the nodes of a chain: one for each branch but the last."""
    asked = int(policy.test[node])
    if asked < 0:
        return [chains.add(-1, 0.0, False, node)]
    test = policy.tests[asked]
    start, end = policy.branch_start[node : node + 2].tolist()
    default = int(policy.default_branch[node])
    if policy.cut[node] >= 0:
        cut = int(policy.cut[node])
        threshold = test.cuts[cut] if cut < len(test.cuts) else np.inf
        return [chains.add(asked, threshold, default == 0, node)]
    chain = []
    for branch in range(end - start):
        if branch == default:
            continue
        code = int(policy.branch_code[start + branch])
        at = chains.add(asked, 0.0, code == test.missing_code, node)
        chains.sets[at] = _one_code(test, code)
        chain.append(at)
    # A node of one branch goes on whatever it sees, and need not ask: no chain.
    return chain


def _link_chain(
    policy: Tree | Forest,
    node: int,
    chain: list[int],
    heads: dict[int, list[int]],
    chains: _Chains,
) -> None:
    if policy.test[node] < 0 or not chain:
        return
    start, end = policy.branch_start[node : node + 2].tolist()
    children = [
        _head(policy, child, heads) for child in policy.branch_child[start:end].tolist()
    ]
    if policy.cut[node] >= 0:
        chains.link(chain[0], children[0], children[1])
        return
    otherwise = children.pop(int(policy.default_branch[node]))
    for i, at in enumerate(chain):
        after = chain[i + 1] if i + 1 < len(chain) else otherwise
        chains.link(at, children[i], after)


def _head(policy: Tree | Forest, node: int, heads: dict[int, list[int]]) -> int:
    while not heads[node]:
        node = int(policy.branch_child[policy.branch_start[node]])
    return heads[node][0]


def _one_code(test: Test, code: int) -> SetSplit:
    def goes_left(values: Any) -> Any:
        if test.kind == "category":
            return values == code
        return np.searchsorted(test.cut_array, values) == code

    return SetSplit(goes_left, unknown_left=code == test.unknown_code)
