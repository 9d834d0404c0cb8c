"""Check that arrays are trees: types, ranges, preorder, one parent each.

Everything that reads a tree afterwards, compiled code included, relies on this and
checks nothing itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from askless._core.tree._forest import find_misplaced
from askless.exceptions import InvalidPolicyError
from askless.policy._base import MOST

if TYPE_CHECKING:
    from askless.policy._forest import Forest
    from askless.policy._tree import Tree

__all__ = ["check_nodes", "check_tree"]


def check_tree(tree: Tree) -> None:
    """Raise InvalidPolicyError unless the arrays of a tree fit together."""
    check_nodes(tree, np.array([0, np.size(tree.test)], dtype=np.int32))


def check_nodes(tree: Tree | Forest, tree_start: NDArray[np.int32]) -> None:
    """Raise InvalidPolicyError unless arrays are trees, one after another.

    Parameters
    ----------
    tree : Tree or Forest
        Whose arrays to check.
    tree_start : ndarray of int32 of shape (n_trees + 1,)
        Where the nodes of each tree begin.
    """
    _check_types(tree)
    _check_trees(tree_start, len(tree.test))
    n_nodes = len(tree.test)
    _check_starts(tree.branch_start, n_nodes, len(tree.branch_child), "branches")
    _check_starts(tree.weight_start, n_nodes, len(tree.weight_class), "weights")
    _check_tests(tree)
    _check_preorder(tree, tree_start)
    _check_branches(tree)
    _check_weights(tree, tree_start)


def _fail(rule: str, got: str, remedy: str) -> None:
    raise InvalidPolicyError(f"{rule} Got {got}. {remedy}")


def _check_types(tree: Tree | Forest) -> None:
    for name in (
        "test", "cut", "branch_start", "branch_code", "branch_child",
        "default_branch", "weight_class",
    ):  # fmt: skip
        _check_array(getattr(tree, name), np.int32, name)
    _check_array(tree.weight_start, np.int64, "weight_start")
    _check_array(tree.weight, np.float64, "weight")
    if len(tree.test) == 0:
        _fail("A tree must have a root.", "no nodes", "Add at least one leaf.")
    same = {len(tree.test), len(tree.cut), len(tree.default_branch)}
    if len(same) > 1:
        _fail(
            "test, cut and default_branch must have an entry for each node.",
            f"the lengths {sorted(same)}",
            "Give every node all three.",
        )
    if len(tree.branch_code) != len(tree.branch_child):
        _fail(
            "Every branch must have a code and a child.",
            f"{len(tree.branch_code)} codes and {len(tree.branch_child)} children",
            "Give every branch both.",
        )
    if len(tree.weight_class) != len(tree.weight):
        _fail(
            "Every weight must have a class.",
            f"{len(tree.weight)} weights and {len(tree.weight_class)} classes",
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


def _check_starts(starts: NDArray[Any], n_nodes: int, n_items: int, what: str) -> None:
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


def _check_tests(tree: Tree | Forest) -> None:
    n_tests = len(tree.tests)
    outside = np.flatnonzero((tree.test < -1) | (tree.test >= n_tests))
    if outside.size:
        _fail(
            f"A node must ask one of {n_tests} tests, or be a leaf.",
            f"test {tree.test[outside[0]]} at node {outside[0]}",
            "Number the tests from 0; a leaf has -1.",
        )
    n_branches = np.diff(tree.branch_start)
    is_leaf = tree.test < 0
    wrong = np.flatnonzero(is_leaf != (n_branches == 0))
    if wrong.size:
        _fail(
            "A leaf must have no branches, and any other node some.",
            f"{n_branches[wrong[0]]} branches at node {wrong[0]}",
            "Mend the node.",
        )
    default = tree.default_branch
    wrong = np.flatnonzero(
        np.where(is_leaf, default != -1, (default < 0) | (default >= n_branches))
    )
    if wrong.size:
        _fail(
            "The default branch must be one of the node's own; a leaf has -1.",
            f"{default[wrong[0]]} at node {wrong[0]}",
            "Point it at a branch.",
        )


def _check_trees(tree_start: NDArray[np.int32], n_nodes: int) -> None:
    _check_array(tree_start, np.int32, "tree_start")
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


def _check_preorder(tree: Tree | Forest, tree_start: NDArray[np.int32]) -> None:
    """Every node but a root has one parent, and nodes come in the order of a walk."""
    n_nodes, n_trees = len(tree.test), len(tree_start) - 1
    children = tree.branch_child
    if len(children) != n_nodes - n_trees:
        _fail(
            f"{'A tree' if n_trees == 1 else f'A forest of {n_trees} trees and'} of "
            f"{n_nodes} nodes must have {n_nodes - n_trees} branches.",
            f"{len(children)}",
            "Give every node but the root one parent.",
        )
    node, found = find_misplaced(tree.branch_start, children, tree_start)
    if node >= 0:
        got = "no branch" if found is None else f"a branch to node {found}"
        _fail(
            "Nodes must be in preorder: a node, then its children, first one first.",
            f"{got} where node {node} should come",
            "Renumber the nodes in the order of a walk from the root.",
        )


def _check_branches(tree: Tree | Forest) -> None:
    """Check cuts and codes against the tests, for all nodes at once."""
    inner = np.flatnonzero(tree.test >= 0)
    asked, cut = tree.test[inner], tree.cut[inner]
    tests = tree.tests
    is_number = np.array([test.kind == "number" for test in tests], dtype=bool)
    n_cuts = np.array([len(test.cuts) for test in tests], dtype=np.int64)
    missing_code = np.array([test.missing_code for test in tests], dtype=np.int64)
    first, last = tree.branch_start[inner], tree.branch_start[inner + 1]

    def look_at(is_wrong: NDArray[np.bool_]) -> tuple[int, int] | None:
        """Return a node that is wrong, if any, and its place among the inner ones."""
        wrong = np.flatnonzero(is_wrong)
        return (int(inner[wrong[0]]), int(wrong[0])) if wrong.size else None

    def codes_at(place: int) -> list[int]:
        codes: list[int] = tree.branch_code[first[place] : last[place]].tolist()
        return codes

    if found := look_at(cut < -1):
        _fail(
            "A cut must be >= 0, or -1 for none.",
            f"{tree.cut[found[0]]} at node {found[0]}",
            "Mend it.",
        )
    compares = cut >= 0
    if found := look_at(compares & ~(is_number[asked] & (cut <= n_cuts[asked]))):
        test = tests[tree.test[found[0]]]
        _fail(
            f"A node may cut {test.name!r} only where the test has a cut.",
            f"cut {tree.cut[found[0]]} of {len(test.cuts)} at node {found[0]}",
            "Use one of the test's cuts.",
        )
    has_two = last - first == 2
    upper = np.minimum(first + 1, max(0, len(tree.branch_code) - 1))
    is_pair = has_two & (tree.branch_code[first] == 0) & (tree.branch_code[upper] == 1)
    if found := look_at(compares & ~is_pair):
        _fail(
            "A node with a cut must have two branches, 0 and 1.",
            f"{codes_at(found[1])[:8]} at node {found[0]}",
            "List the lower branch, then the upper one.",
        )
    default = tree.default_branch[inner]
    if found := look_at(compares & (cut == n_cuts[asked]) & (default != 1)):
        _fail(
            "A node that parts numbers from missing ones must send the missing ones "
            "up.",
            f"the default {tree.default_branch[found[0]]} at node {found[0]}",
            "Set the default to 1.",
        )
    # Codes ascend within a node: a step down is legal only where a node begins.
    codes = tree.branch_code
    steps_down = np.append(False, np.diff(codes) <= 0)
    begins = np.zeros(len(codes) + 1, dtype=bool)
    begins[first] = True
    is_low = np.append(0, np.cumsum(steps_down & ~begins[:-1]))
    unsorted = is_low[last] > is_low[first]
    outside = (codes[first] < 0) | (codes[last - 1] > missing_code[asked])
    if found := look_at(~compares & (unsorted | outside)):
        _fail(
            f"Branches of {tests[tree.test[found[0]]].name!r} must stand for its "
            "outcomes, ascending.",
            f"{codes_at(found[1])[:8]} at node {found[0]}",
            "List each outcome once.",
        )
    at_leaf = np.flatnonzero((tree.test < 0) & (tree.cut != -1))
    if at_leaf.size:
        _fail("A leaf must have no cut.", f"one at node {at_leaf[0]}", "Set it to -1.")


def _check_weights(tree: Tree | Forest, tree_start: NDArray[np.int32]) -> None:
    classes = tree.weight_class
    if np.any((classes < 0) | (classes >= len(tree.classes))):
        _fail(
            f"Weights must be of one of {len(tree.classes)} classes.",
            "another class",
            "Number the classes from 0.",
        )
    if not np.all(np.isfinite(tree.weight)) or np.any(tree.weight < 0):
        _fail("Weights must be finite and >= 0.", "another weight", "Mend it.")
    if not sum(tree.weight.tolist()) <= MOST:
        _fail(
            f"The weights of all nodes must add up to at most {MOST:g}.",
            "more",
            "Divide them by a large number.",
        )
    counts = np.diff(tree.weight_start)
    # Within a node classes ascend: a step down is legal only where a node begins.
    steps = np.diff(classes) <= 0
    begins = np.zeros(len(classes) + 1, dtype=bool)
    begins[tree.weight_start[:-1]] = True
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
    at_leaf = np.where(np.repeat(tree.test < 0, counts), tree.weight, 0.0)
    if not np.all(np.maximum.reduceat(at_leaf, tree.weight_start[tree_start[:-1]])):
        _fail(
            "Some leaf must have a weight, or costs have no mean.",
            "leaves without any",
            "Give every node the weights of what gets there.",
        )
