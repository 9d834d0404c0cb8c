"""The words and numbers that every format writes on a node, so that they agree.

This module knows trees. It does not know how anything is drawn.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless._text import escape_unprintable
from askless.exceptions import InvalidOptionError
from askless.policy import Ensemble, Forest, Policy, Tree
from askless.problem import Test

__all__ = [
    "branch_label",
    "charge_text",
    "check_depth",
    "children_of",
    "decision_text",
    "node_shares",
    "not_held",
    "number_text",
    "one_tree",
    "percent_text",
    "summary_line",
    "trees_of",
]

# What else a policy can be shown as, by its kind.
FORMATS_OF = {
    "tree": "python, javascript, sql or onnx",
    "forest": "python, javascript, sql or onnx, or make it adaptive first: "
    "askless.AdaptiveEnsemble(model)",
    "ensemble": "python, javascript, c, sql, onnx, text or json",
}


def one_tree(policy: Policy, what: str, tree: int | None = None) -> Tree:
    """Return the tree to show: the policy itself, or one of a forest.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["last bit"])
    >>> one_tree(askless.solve(table).policy, "Rules").n_nodes
    3
    """
    if isinstance(policy, Tree) and tree in (None, 0):
        return policy
    if not isinstance(policy, (Tree, Forest)):
        raise not_held(policy, f"{what} must be made from a tree")
    n_trees = policy.n_trees if isinstance(policy, Forest) else 1
    if tree is None:
        raise InvalidOptionError(
            f"{what} must be made from one tree. Got a forest of {n_trees:,}. Choose "
            f"one by tree=0 to tree={n_trees - 1}, or show all of them as html."
        )
    if not 0 <= tree < n_trees:
        raise InvalidOptionError(
            f"tree must be from 0 to {n_trees - 1}. Got {tree}. Choose one of them."
        )
    assert isinstance(policy, Forest)
    return policy.tree(tree)


def trees_of(policy: Policy, what: str) -> list[Tree]:
    """Return the trees of a policy: itself, or those of a forest."""
    if isinstance(policy, Tree):
        return [policy]
    if isinstance(policy, Forest):
        return [policy.tree(index) for index in range(policy.n_trees)]
    raise not_held(policy, f"{what} must be made from a tree, a forest or an ensemble")


def not_held(policy: Policy, rule: str) -> InvalidOptionError:
    """Return the error of a format that does not hold such a policy."""
    kind = f"{'an' if policy.kind[0] in 'aeiou' else 'a'} {policy.kind}"
    others = FORMATS_OF.get(
        policy.kind, "text or json, which hold every kind of policy"
    )
    return InvalidOptionError(f"{rule}. Got {kind}. Show it as {others}.")


def summary_line(policy: Policy) -> str:
    """Return a policy in one sentence.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["last bit"])
    >>> summary_line(askless.solve(table).policy)
    'A tree of 3 nodes and depth 1. Expected cost 1, at worst 1.'
    """
    if isinstance(policy, Tree):
        return (
            f"A tree of {policy.n_nodes:,} nodes and depth {policy.depth}. Expected "
            f"cost {number_text(policy.expected_cost)}, at worst "
            f"{number_text(policy.worst_cost)}."
        )
    if isinstance(policy, Forest):
        return (
            f"A forest of {policy.n_trees:,} trees and {policy.n_nodes:,} nodes; their "
            f"{policy.voting} decide."
        )
    if isinstance(policy, Ensemble):
        return (
            f"An ensemble of {policy.trees.n_trees:,} trees and {policy.n_nodes:,} "
            f"nodes, which ask {len(policy.used_tests):,} tests."
        )
    return f"A {policy.kind} of {len(policy.tests):,} tests."


def check_depth(max_depth: int | None) -> None:
    """Raise InvalidOptionError if ``max_depth`` is no depth."""
    if max_depth is not None and max_depth < 0:
        raise InvalidOptionError(
            f"max_depth must be >= 0, or None for all. Got {max_depth}. Leave it out "
            "to show the whole policy."
        )


def children_of(tree: Tree, node: int) -> list[int]:
    """Return the children of a node, first one first."""
    start, end = tree.branch_start[node], tree.branch_start[node + 1]
    children: list[int] = tree.branch_child[start:end].tolist()
    return children


def node_shares(tree: Tree) -> NDArray[np.float64]:
    """Return which share of all cases gets to each node.

    Weighed at the leaves, as the expected cost is.
    """
    at_leaf = np.where(tree.test < 0, tree.node_weight, 0.0)
    shares = at_leaf / at_leaf.sum()
    for node in range(tree.n_nodes - 1, 0, -1):
        shares[tree.parent[node]] += shares[node]
    return np.asarray(shares)


def branch_label(tree: Tree, node: int) -> str:
    """Return what must be seen at the parent to get to a node."""
    parent = tree.parent[node]
    test = tree.tests[tree.test[parent]]
    code = int(tree.parent_code[node])
    if tree.cut[parent] == len(test.cuts) and test.kind == "number":
        return "missing" if code else "known"
    if tree.cut[parent] >= 0:
        # Labelled as if it were the only cut, in as many digits as it takes.
        only = Test(test.name, "number", cuts=(float(tree.thresholds[parent]),))
        return only.label(code).removeprefix("x ")
    return escape_unprintable(test.label(code))


def charge_text(tree: Tree, node: int) -> str:
    """Return what the test of a node charges there, as a range if by outcome."""
    charges = tree.spent[children_of(tree, node)] - tree.spent[node]
    # Compared as text: rounding alone must not make a range.
    low, high = f"{charges.min():.6g}", f"{charges.max():.6g}"
    return low if low == high else f"{low}-{high}"


def decision_text(tree: Tree, node: int) -> tuple[str, str]:
    """Return what a node decides, and its share if it is not certain.

    A number has no share.
    """
    if tree.answers_number:
        return number_text(tree.answer(node)), ""
    decision = int(tree.node_decision[node])
    decided = escape_unprintable(str(tree.classes[decision]))
    share = tree.class_shares(node)[decision]
    return decided, "" if share > 1 - 1e-9 else percent_text(share)


def percent_text(share: float) -> str:
    """Return a share in percent, in three digits.

    Examples
    --------
    >>> percent_text(1 / 3)
    '33.3 %'
    """
    return f"{100 * share:.3g} %"


def number_text(value: Any) -> str:
    """Return a cost in six digits.

    Examples
    --------
    >>> number_text(2.50)
    '2.5'
    """
    return f"{value:.6g}"
