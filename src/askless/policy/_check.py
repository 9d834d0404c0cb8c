"""Check that nodes are trees: types, ranges, preorder, one parent each.

Everything that reads a tree afterwards, compiled code included, relies on this and
checks nothing itself.
"""

from __future__ import annotations

from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from askless._core.tree._preorder import find_misplaced
from askless.exceptions import InvalidPolicyError
from askless.policy._base import MOST
from askless.policy._nodes import Ints, Nodes
from askless.problem import Test

__all__ = ["check_decisions", "check_nodes"]


def check_nodes(nodes: Nodes, tests: tuple[Test, ...], n_classes: int) -> None:
    """Raise InvalidPolicyError unless nodes are trees over these tests and classes.

    Parameters
    ----------
    nodes : Nodes
        What to check; what they decide is left to :func:`check_decisions`.
    tests : tuple of Test
        The tests that they may ask.
    n_classes : int
        How many classes there are.

    Examples
    --------
    >>> from askless.policy import NodesBuilder
    >>> builder = NodesBuilder()
    >>> builder.add_leaf({7: 1.0})
    >>> check_nodes(builder.build(), (), 2)
    Traceback (most recent call last):
    askless.exceptions.InvalidPolicyError: Weights must be of one of 2 classes. Got \
another class. Number the classes from 0.
    """
    _check_types(nodes)
    _check_trees(nodes)
    _check_starts(nodes.branch_start, nodes, len(nodes.branch_child), "branches")
    _check_starts(nodes.weight_start, nodes, len(nodes.weight_class), "weights")
    _check_tests(nodes, len(tests))
    _check_preorder(nodes)
    _check_branches(nodes, tests)
    _check_weights(nodes, n_classes)


def check_decisions(nodes: Nodes, n_classes: int) -> Ints:
    """Return what nodes decide; raise InvalidPolicyError unless these are classes."""
    decided = nodes.decision
    if (
        decided is None
        or decided.shape != nodes.test.shape
        or not np.all((decided >= 0) & (decided < n_classes))
    ):
        _fail(
            f"Every node must decide one of {n_classes} classes.",
            "another index",
            "Number the classes from 0.",
        )
    return decided


def _fail(rule: str, got: str, remedy: str) -> NoReturn:
    raise InvalidPolicyError(f"{rule} Got {got}. {remedy}")


def _check_types(nodes: Nodes) -> None:
    for name in (
        "test", "cut", "branch_start", "branch_code", "branch_child",
        "default_branch", "weight_class",
    ):  # fmt: skip
        _check_array(getattr(nodes, name), np.int32, name)
    _check_array(nodes.tree_start, np.int32, "tree_start")
    _check_array(nodes.weight_start, np.int64, "weight_start")
    _check_array(nodes.weight, np.float64, "weight")
    if len(nodes.test) == 0:
        _fail("A tree must have a root.", "no nodes", "Add at least one leaf.")
    same = {len(nodes.test), len(nodes.cut), len(nodes.default_branch)}
    if len(same) > 1:
        _fail(
            "test, cut and default_branch must have an entry for each node.",
            f"the lengths {sorted(same)}",
            "Give every node all three.",
        )
    if len(nodes.branch_code) != len(nodes.branch_child):
        _fail(
            "Every branch must have a code and a child.",
            f"{len(nodes.branch_code)} codes and {len(nodes.branch_child)} children",
            "Give every branch both.",
        )
    if len(nodes.weight_class) != len(nodes.weight):
        _fail(
            "Every weight must have a class.",
            f"{len(nodes.weight)} weights and {len(nodes.weight_class)} classes",
            "Give every weight both.",
        )


def _check_array(array: Any, dtype: type, name: str) -> None:
    is_right = (
        isinstance(array, np.ndarray) and array.dtype == dtype and array.ndim == 1
    )
    if not is_right:
        _fail(
            f"{name} must be a one-dimensional array of {np.dtype(dtype).name}.",
            f"{getattr(array, 'dtype', type(array).__name__)}",
            "Convert it.",
        )
    if not array.flags.c_contiguous:
        _fail(f"{name} must be contiguous.", "a strided array", "Copy it.")


def _check_starts(starts: NDArray[Any], nodes: Nodes, n_items: int, what: str) -> None:
    n_nodes = nodes.n_nodes
    fits = (
        len(starts) == n_nodes + 1
        and starts[0] == 0
        and starts[-1] == n_items
        and bool(np.all(np.diff(starts) >= 0))
    )
    if not fits:
        _fail(
            f"The {what} of the nodes must follow one another, from 0 to {n_items}.",
            f"starts that do not, for {n_nodes} nodes",
            "List them node by node.",
        )


def _check_tests(nodes: Nodes, n_tests: int) -> None:
    outside = np.flatnonzero((nodes.test < -1) | (nodes.test >= n_tests))
    if outside.size:
        _fail(
            f"A node must ask one of {n_tests} tests, or be a leaf.",
            f"test {nodes.test[outside[0]]} at node {outside[0]}",
            "Number the tests from 0; a leaf has -1.",
        )
    n_branches = np.diff(nodes.branch_start)
    is_leaf = nodes.test < 0
    wrong = np.flatnonzero(is_leaf != (n_branches == 0))
    if wrong.size:
        _fail(
            "A leaf must have no branches, and any other node some.",
            f"{n_branches[wrong[0]]} branches at node {wrong[0]}",
            "Mend the node.",
        )
    default = nodes.default_branch
    wrong = np.flatnonzero(
        np.where(is_leaf, default != -1, (default < 0) | (default >= n_branches))
    )
    if wrong.size:
        _fail(
            "The default branch must be one of the node's own; a leaf has -1.",
            f"{default[wrong[0]]} at node {wrong[0]}",
            "Point it at a branch.",
        )


def _check_trees(nodes: Nodes) -> None:
    tree_start, n_nodes = nodes.tree_start, nodes.n_nodes
    fits = (
        len(tree_start) > 1
        and tree_start[0] == 0
        and tree_start[-1] == n_nodes
        and bool(np.all(np.diff(tree_start) > 0))
    )
    if not fits:
        _fail(
            f"Trees must follow one another, from node 0 to {n_nodes}, with a root "
            "each.",
            f"starts that do not, for {len(tree_start) - 1} trees",
            "List them tree by tree.",
        )


def _check_preorder(nodes: Nodes) -> None:
    """Every node but a root has one parent, and nodes come in the order of a walk."""
    n_nodes, n_trees = nodes.n_nodes, nodes.n_trees
    children = nodes.branch_child
    if len(children) != n_nodes - n_trees:
        _fail(
            f"{'A tree' if n_trees == 1 else f'A forest of {n_trees} trees and'} of "
            f"{n_nodes} nodes must have {n_nodes - n_trees} branches.",
            f"{len(children)}",
            "Give every node but the root one parent.",
        )
    node, found = find_misplaced(nodes.branch_start, children, nodes.tree_start)
    if node >= 0:
        got = "no branch" if found is None else f"a branch to node {found}"
        _fail(
            "Nodes must be in preorder: a node, then its children, first one first.",
            f"{got} where node {node} should come",
            "Renumber the nodes in the order of a walk from the root.",
        )


class _Inner(NamedTuple):
    """The nodes that ask a test, each with its test, its cut and its branches."""

    nodes: Nodes
    at: NDArray[np.intp]
    asked: Ints
    cut: Ints
    first: Ints
    last: Ints

    def find(self, is_wrong: NDArray[np.bool_]) -> int | None:
        """Return the first node that is wrong, if any."""
        wrong = np.flatnonzero(is_wrong)
        return int(self.at[wrong[0]]) if wrong.size else None

    def show_codes(self, node: int) -> str:
        """Return the codes of the branches of a node, the first few."""
        start, end = self.nodes.branch_start[node], self.nodes.branch_start[node + 1]
        return f"{self.nodes.branch_code[start:end].tolist()[:8]} at node {node}"


def _check_branches(nodes: Nodes, tests: tuple[Test, ...]) -> None:
    """Check cuts and codes against the tests, for all nodes at once."""
    at = np.flatnonzero(nodes.test >= 0)
    first, last = nodes.branch_start[at], nodes.branch_start[at + 1]
    inner = _Inner(nodes, at, nodes.test[at], nodes.cut[at], first, last)
    _check_cuts(inner, tests)
    _check_pairs(inner, tests)
    _check_codes(inner, tests)
    at_leaf = np.flatnonzero((nodes.test < 0) & (nodes.cut != -1))
    if at_leaf.size:
        _fail("A leaf must have no cut.", f"one at node {at_leaf[0]}", "Set it to -1.")


def _count_cuts(tests: tuple[Test, ...]) -> NDArray[np.int64]:
    return np.array([len(test.cuts) for test in tests], dtype=np.int64)


def _check_cuts(inner: _Inner, tests: tuple[Test, ...]) -> None:
    """Check that a cut is one that its test has."""
    cut, asked = inner.cut, inner.asked
    if (node := inner.find(cut < -1)) is not None:
        _fail(
            "A cut must be >= 0, or -1 for none.",
            f"{inner.nodes.cut[node]} at node {node}",
            "Mend it.",
        )
    is_number = np.array([test.kind == "number" for test in tests], dtype=bool)
    has_cut = is_number[asked] & (cut <= _count_cuts(tests)[asked])
    if (node := inner.find((cut >= 0) & ~has_cut)) is not None:
        test = tests[inner.nodes.test[node]]
        _fail(
            f"A node may cut {test.name!r} only where the test has a cut.",
            f"cut {inner.nodes.cut[node]} of {len(test.cuts)} at node {node}",
            "Use one of the test's cuts.",
        )


def _check_pairs(inner: _Inner, tests: tuple[Test, ...]) -> None:
    """Check that a node with a cut has a lower and an upper branch."""
    codes, compares = inner.nodes.branch_code, inner.cut >= 0
    upper = np.minimum(inner.first + 1, max(0, len(codes) - 1))
    is_pair = inner.last - inner.first == 2
    is_pair &= (codes[inner.first] == 0) & (codes[upper] == 1)
    if (node := inner.find(compares & ~is_pair)) is not None:
        _fail(
            "A node with a cut must have two branches, 0 and 1.",
            inner.show_codes(node),
            "List the lower branch, then the upper one.",
        )
    parts_missing = compares & (inner.cut == _count_cuts(tests)[inner.asked])
    default = inner.nodes.default_branch
    if (node := inner.find(parts_missing & (default[inner.at] != 1))) is not None:
        _fail(
            "A node that separates numbers from missing ones must send the missing "
            "ones up.",
            f"the default {default[node]} at node {node}",
            "Set the default to 1.",
        )


def _check_codes(inner: _Inner, tests: tuple[Test, ...]) -> None:
    """Check that other nodes have branches for codes of their test."""
    codes = inner.nodes.branch_code
    missing_code = np.array([test.missing_code for test in tests], dtype=np.int64)
    # Codes ascend within a node: a step down is legal only where a node begins.
    steps_down = np.append(False, np.diff(codes) <= 0)
    begins = np.zeros(len(codes) + 1, dtype=bool)
    begins[inner.first] = True
    n_steps = np.append(0, np.cumsum(steps_down & ~begins[:-1]))
    is_wrong = n_steps[inner.last] > n_steps[inner.first]
    is_wrong |= codes[inner.first] < 0
    is_wrong |= codes[inner.last - 1] > missing_code[inner.asked]
    if (node := inner.find((inner.cut < 0) & is_wrong)) is not None:
        _fail(
            f"Branches of {tests[inner.nodes.test[node]].name!r} must stand for its "
            "outcomes, ascending.",
            inner.show_codes(node),
            "List each outcome once.",
        )


def _check_weights(nodes: Nodes, n_classes: int) -> None:
    classes = nodes.weight_class
    if np.any((classes < 0) | (classes >= n_classes)):
        _fail(
            f"Weights must be of one of {n_classes} classes.",
            "another class",
            "Number the classes from 0.",
        )
    if not np.all(np.isfinite(nodes.weight)) or np.any(nodes.weight < 0):
        _fail("Weights must be finite and >= 0.", "another weight", "Mend it.")
    with np.errstate(over="ignore"):
        total = nodes.weight.sum()
    if not total <= MOST:
        _fail(
            f"The weights of all nodes must add up to at most {MOST:g}.",
            "more",
            "Divide them by a large number.",
        )
    counts = np.diff(nodes.weight_start)
    # Within a node classes ascend: a step down is legal only where a node begins.
    steps = np.diff(classes) <= 0
    begins = np.zeros(len(classes) + 1, dtype=bool)
    begins[nodes.weight_start[:-1]] = True
    if np.any(steps & ~begins[1 : len(classes)]):
        _fail(
            "A node must list each class once, ascending.", "another order", "Sort it."
        )
    if np.any(counts == 0):
        node = int(np.flatnonzero(counts == 0)[0])
        _fail(
            "Every node must say how much of each class gets there.",
            f"no weights at node {node}",
            "Give it the weights of its parent.",
        )
    at_leaf = np.where(np.repeat(nodes.test < 0, counts), nodes.weight, 0.0)
    first_of_tree = nodes.weight_start[nodes.tree_start[:-1]]
    if not np.all(np.maximum.reduceat(at_leaf, first_of_tree)):
        _fail(
            "Some leaf must have a weight, or costs have no mean.",
            "leaves without any",
            "Give every node the weights of what gets there.",
        )
