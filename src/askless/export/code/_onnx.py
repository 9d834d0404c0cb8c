"""Write a policy as an ONNX model, for every runtime that reads one.

A tree becomes one tree ensemble that says which leaf a row ends in; what a leaf means
is looked up in tables. So the runtime compares and looks up, and adds up nothing but
the weights of a forest. Everything is in double precision.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidOptionError
from askless.export._labels import children_of, summary_line, trees_of
from askless.export.code._onnx_graph import Features, Graph, NodeRows
from askless.export.ensemble._onnx import ensemble_to_onnx
from askless.policy import Ensemble, Forest, NumberTree, Policy, Tree
from askless.policy._decide import TOLERANCE

__all__ = ["to_onnx"]

# Leaves are numbered in single precision on their way out of a tree.
MOST_NODES = 2**24
TINY = 1e-300


def to_onnx(policy: Policy) -> bytes:
    """Return a policy as the bytes of an ONNX model.

    Parameters
    ----------
    policy : Policy
        What to write; a tree or a forest.

    Returns
    -------
    bytes
        The model. It has an input of shape (n, 1) for each test that is asked, by name:
        text for a category of text, else doubles. Its outputs are ``decision``,
        ``probabilities`` and ``leaf``; of a tree that is not priced by outcome, also
        ``cost``.

    Notes
    -----
    NaN stands for a missing number, an empty text for a missing category (unless the
    empty text is one of its outcomes). Needs the package onnx: install
    ``askless[onnx]``.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["last bit"])
    >>> model = to_onnx(askless.solve(table).policy)
    >>> isinstance(model, bytes)
    True
    """
    graph = Graph()
    if isinstance(policy, Ensemble):
        return ensemble_to_onnx(policy, graph)
    trees = trees_of(policy, "ONNX")
    if max(tree.n_nodes for tree in trees) > MOST_NODES:
        raise InvalidOptionError(
            f"A tree in ONNX must have at most {MOST_NODES:,} nodes. Got more. Prune "
            "it."
        )
    used = sorted({test for tree in trees for test in tree.used_tests})
    coded = {
        int(test)
        for tree in trees
        for test in np.unique(tree.test[(tree.test >= 0) & (tree.cut < 0)])
    }
    features = Features(graph, policy.tests, used, coded)
    leaves = [_leaf_of(features, tree) for tree in trees]
    if isinstance(policy, Forest):
        _decide_forest(graph, policy, trees, leaves)
    else:
        _decide_tree(graph, trees[0], leaves[0])
    content: bytes = graph.model(summary_line(policy)).SerializeToString()
    return content


class TreeRows(NodeRows):
    """A tree with two branches a node, as lists of what each node compares.

    A node with more branches becomes a chain: is it the first outcome, is it the second
    one, and so on; the default comes last and takes whatever is left.
    """

    def __init__(
        self, tree: Tree, number_column: dict[int, int], code_column: dict[int, int]
    ) -> None:
        super().__init__()
        row_of = np.zeros(tree.n_nodes, dtype=np.int64)
        # Where each node will stand: those before it take a row for each branch but
        # one, and at least one.
        counts = np.maximum(np.diff(tree.branch_start) - 1, 1)
        row_of[1:] = np.cumsum(counts)[:-1]
        for node in range(tree.n_nodes):
            test = int(tree.test[node])
            if test < 0:
                self.add_leaf(node)
                continue
            children = children_of(tree, node)
            default = int(tree.default_branch[node])
            if tree.cut[node] >= 0:
                low, high = (int(row_of[child]) for child in children)
                cut = float(tree.thresholds[node])
                column = number_column[test]
                self.add(column, "BRANCH_LEQ", cut, low, high, default == 0)
                continue
            self._add_chain(tree, node, code_column[test], row_of, default)

    def _add_chain(
        self,
        tree: Tree,
        node: int,
        column: int,
        row_of: NDArray[np.int64],
        default: int,
    ) -> None:
        start, end = tree.branch_start[node], tree.branch_start[node + 1]
        codes = tree.branch_code[start:end].tolist()
        rows = row_of[tree.branch_child[start:end]].tolist()
        last = rows.pop(default)
        codes.pop(default)
        if not codes:
            # One branch takes everything: both ways lead there.
            self.add(column, "BRANCH_EQ", 0.0, last, last)
        for i, (code, row) in enumerate(zip(codes, rows, strict=True), start=1):
            after = last if i == len(codes) else len(self.feature) + 1
            self.add(column, "BRANCH_EQ", float(code), row, after)


def _leaf_of(features: Features, tree: Tree) -> str:
    """Return the leaf of each row, of shape (n,)."""
    graph = features.graph
    rows = TreeRows(tree, features.number_column, features.code_column)
    found = graph.find_leaves(features.matrix, [rows])
    return graph.add("Reshape", [found, graph.table(np.array([-1]))])


def _decide_tree(graph: Graph, tree: Tree, leaf: str) -> None:
    types = graph.onnx.TensorProto
    if isinstance(tree, NumberTree):
        said = graph.add("Gather", [graph.table(np.array(tree.values)), leaf])
        graph.output("decision", said, types.DOUBLE, [None])
    else:
        _decide_class(graph, tree, leaf)
    graph.output("leaf", leaf, types.INT64, [None])
    if not tree.prices.engine.has_outcome_prices:
        spent = graph.add("Gather", [graph.table(tree.spent), leaf])
        graph.output("cost", spent, types.DOUBLE, [None])


def _decide_class(graph: Graph, tree: Tree, leaf: str) -> None:
    types = graph.onnx.TensorProto
    leaves = np.flatnonzero(tree.test < 0)
    shares = np.zeros((tree.n_nodes, len(tree.classes)))
    for node in leaves:
        shares[node] = tree.class_shares(node)
    decided = graph.add(
        "Gather", [graph.table(tree.node_decision.astype(np.int64)), leaf]
    )
    graph.name_classes(tree.classes, decided)
    found = graph.add("Gather", [graph.table(shares), leaf])
    graph.output("probabilities", found, types.DOUBLE, [None, len(tree.classes)])


def _decide_forest(
    graph: Graph, forest: Forest, trees: list[Tree], leaves: list[str]
) -> None:
    types = graph.onnx.TensorProto
    total = ""
    for tree, leaf in zip(trees, leaves, strict=True):
        given = graph.add("Gather", [graph.table(_leaf_weights(forest, tree)), leaf])
        total = graph.add("Add", [total, given]) if total else given
    gains = total
    if forest.voting == "counts" and forest.mistakes is not None:
        largest = graph.add("ReduceMax", [total], axes=[1], keepdims=1)
        scaled = graph.add("Div", [total, largest])
        lost = graph.add("MatMul", [scaled, graph.table(forest.mistakes)])
        gains = graph.add("Neg", [lost])
    best = graph.add("ReduceMax", [gains], axes=[1], keepdims=1)
    slack = graph.add(
        "Mul", [graph.add("Abs", [best]), graph.table(np.array([[TOLERANCE]]))]
    )
    least = graph.add("Sub", [best, slack])
    is_best = graph.cast(graph.add("GreaterOrEqual", [gains, least]), types.INT32)
    decided = graph.add("ArgMax", [is_best], axis=1, keepdims=0)
    graph.name_classes(forest.classes, decided)
    added = graph.add("ReduceSum", [total, graph.table(np.array([1]))], keepdims=1)
    shares = graph.add("Div", [total, added])
    graph.output("probabilities", shares, types.DOUBLE, [None, len(forest.classes)])
    columns = [
        graph.add("Unsqueeze", [leaf, graph.table(np.array([1]))]) for leaf in leaves
    ]
    found = graph.add("Concat", columns, axis=1)
    graph.output("leaf", found, types.INT64, [None, len(leaves)])


def _leaf_weights(forest: Forest, tree: Tree) -> NDArray[np.float64]:
    """Return what each node of a tree gives to each class, if it is a leaf."""
    given = np.zeros((tree.n_nodes, len(forest.classes)))
    if forest.voting == "votes":
        given[np.arange(tree.n_nodes), tree.node_decision] = 1.0
        return given
    for node in np.flatnonzero(tree.test < 0):
        start, end = tree.weight_start[node], tree.weight_start[node + 1]
        weights = tree.weight[start:end]
        # A leaf without weight counts only if all of them are like it.
        given[node, tree.weight_class[start:end]] = weights if weights.any() else TINY
    return given
