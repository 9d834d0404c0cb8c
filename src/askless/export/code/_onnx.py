"""Write a policy as an ONNX model, for every runtime that reads one.

A tree becomes one tree ensemble that says which leaf a row ends in; what a leaf means
is looked up in tables. So the runtime compares and looks up, and adds up nothing but
the weights of a forest. Everything is in double precision.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidOptionError, MissingExtraError
from askless.export._labels import children_of, summary_line, trees_of
from askless.policy import Forest, Policy, Tree
from askless.policy._decide import TOLERANCE
from askless.problem import Test

__all__ = ["to_onnx"]

# Widely read: opset 17 with version 3 of the operators for machine learning.
OPSET, ML_OPSET, IR_VERSION = 17, 3, 8
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
    try:
        import onnx
    except ImportError as error:
        raise MissingExtraError(
            "Writing ONNX needs the package onnx. Got none installed. Install it: pip "
            "install 'askless[onnx]'."
        ) from error
    trees = trees_of(policy, "ONNX")
    if max(tree.n_nodes for tree in trees) > MOST_NODES:
        raise InvalidOptionError(
            f"A tree in ONNX must have at most {MOST_NODES:,} nodes. Got more. Prune "
            "it."
        )
    graph = Graph(onnx)
    features = Features(graph, policy, trees)
    leaves = [features.leaf_of(tree) for tree in trees]
    if isinstance(policy, Forest):
        _decide_forest(graph, policy, trees, leaves)
    else:
        _decide_tree(graph, trees[0], leaves[0])
    content: bytes = graph.model(summary_line(policy)).SerializeToString()
    return content


class Graph:
    """Collects nodes, tables, inputs and outputs, and gives them names."""

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.tables: list[Any] = []
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []

    def add(
        self,
        op: str,
        inputs: list[str],
        *,
        output: str = "",
        domain: str = "",
        **kw: Any,
    ) -> str:
        """Add a node and return the name of its output."""
        name = output or f"askless:{op}_{len(self.nodes)}"
        self.nodes.append(
            self.onnx.helper.make_node(op, inputs, [name], domain=domain, **kw)
        )
        return name

    def table(self, values: NDArray[Any]) -> str:
        """Add a constant and return its name."""
        name = f"askless:table_{len(self.tables)}"
        self.tables.append(self.onnx.numpy_helper.from_array(values, name))
        return name

    def input(self, name: str, is_text: bool) -> str:
        """Add an input of one column and return its name."""
        kind = self.onnx.TensorProto.STRING if is_text else self.onnx.TensorProto.DOUBLE
        self.inputs.append(
            self.onnx.helper.make_tensor_value_info(name, kind, [None, 1])
        )
        return name

    def output(self, name: str, value: str, kind: int, shape: list[Any]) -> None:
        """Add an output; a test of the same name makes it end in an underscore."""
        while any(name == given.name for given in self.inputs):
            name += "_"
        self.add("Identity", [value], output=name)
        self.outputs.append(self.onnx.helper.make_tensor_value_info(name, kind, shape))

    def cast(self, value: str, kind: int) -> str:
        """Convert a value."""
        return self.add("Cast", [value], to=kind)

    def model(self, description: str) -> Any:
        """Return the model, checked."""
        helper = self.onnx.helper
        graph = helper.make_graph(
            self.nodes, "askless", self.inputs, self.outputs, self.tables
        )
        model = helper.make_model(
            graph,
            producer_name="askless",
            doc_string=description,
            opset_imports=[
                helper.make_opsetid("", OPSET),
                helper.make_opsetid("ai.onnx.ml", ML_OPSET),
            ],
        )
        model.ir_version = IR_VERSION
        self.onnx.checker.check_model(model)
        return model


class Features:
    """Turns inputs into the columns that trees look at: numbers and codes."""

    def __init__(self, graph: Graph, policy: Policy, trees: list[Tree]) -> None:
        self.graph = graph
        self.types = graph.onnx.TensorProto
        used = sorted({test for tree in trees for test in tree.used_tests})
        coded = {
            int(test)
            for tree in trees
            for test in np.unique(tree.test[(tree.test >= 0) & (tree.cut < 0)])
        }
        self.number_column: dict[int, int] = {}
        self.code_column: dict[int, int] = {}
        columns: list[str] = []
        for index in used:
            test = policy.tests[index]
            raw = graph.input(test.name, _is_text(test))
            if test.kind == "number":
                self.number_column[index] = len(columns)
                columns.append(raw)
            if index in coded:
                self.code_column[index] = len(columns)
                columns.append(self._code(test, raw))
        if not columns:
            # Even a tree that asks nothing must know how many rows there are.
            columns = [graph.input("rows", False)]
        self.matrix = (
            graph.add("Concat", columns, axis=1) if len(columns) > 1 else columns[0]
        )

    def _code(self, test: Test, raw: str) -> str:
        """Return the codes of a column, as doubles."""
        graph = self.graph
        if test.kind == "number":
            return self._or_missing(test, raw, self._count_below(test, raw))
        if _is_text(test):
            known = {
                spelling: code
                for spelling, code in test.lookup.items()
                if isinstance(spelling, str)
            }
            known.setdefault("", test.missing_code)
            code = graph.add(
                "LabelEncoder",
                [raw],
                domain="ai.onnx.ml",
                keys_strings=list(known),
                values_int64s=list(known.values()),
                default_int64=test.unknown_code,
            )
            return graph.cast(code, self.types.DOUBLE)
        return self._or_missing(test, raw, self._match(test, raw))

    def _count_below(self, test: Test, raw: str) -> str:
        """Return how many cuts are below a number."""
        graph = self.graph
        if not test.cuts:
            return graph.add("Mul", [raw, graph.table(np.zeros((1, 1)))])
        below = graph.add("Greater", [raw, graph.table(test.cut_array[None, :])])
        counted = graph.cast(below, self.types.DOUBLE)
        return graph.add("MatMul", [counted, graph.table(np.ones((len(test.cuts), 1)))])

    def _match(self, test: Test, raw: str) -> str:
        """Return the code of the outcome that a number equals, else "never seen"."""
        graph = self.graph
        outcomes = np.array([[float(outcome) for outcome in test.outcomes]])
        if len(np.unique(outcomes)) < outcomes.size:
            raise InvalidOptionError(
                "Outcomes in ONNX must differ in double precision. Got two whole "
                f"numbers of {test.name!r} that do not. Write them as text."
            )
        equal = graph.cast(
            graph.add("Equal", [raw, graph.table(outcomes)]), self.types.DOUBLE
        )
        # "Never seen", less what is between that and the code that matches.
        steps = np.arange(outcomes.size)[:, None] - float(test.unknown_code)
        found = graph.add("MatMul", [equal, graph.table(steps)])
        unseen = graph.table(np.array([[float(test.unknown_code)]]))
        return graph.add("Add", [found, unseen])

    def _or_missing(self, test: Test, raw: str, code: str) -> str:
        graph = self.graph
        missing = graph.table(np.array([[float(test.missing_code)]]))
        return graph.add("Where", [graph.add("IsNaN", [raw]), missing, code])

    def leaf_of(self, tree: Tree) -> str:
        """Return the leaf of each row, of shape (n,)."""
        rows = TreeRows(tree, self.number_column, self.code_column)
        as_tensor = self.graph.onnx.numpy_helper.from_array
        found = self.graph.add(
            "TreeEnsembleRegressor",
            [self.matrix],
            domain="ai.onnx.ml",
            n_targets=1,
            nodes_treeids=[0] * len(rows.feature),
            nodes_nodeids=list(range(len(rows.feature))),
            nodes_featureids=rows.feature,
            nodes_modes=rows.mode,
            nodes_values_as_tensor=as_tensor(np.array(rows.value, dtype=np.float64)),
            nodes_truenodeids=rows.if_true,
            nodes_falsenodeids=rows.if_false,
            nodes_missing_value_tracks_true=rows.missing_is_true,
            target_treeids=[0] * len(rows.leaves),
            target_nodeids=[row for row, _ in rows.leaves],
            target_ids=[0] * len(rows.leaves),
            target_weights_as_tensor=as_tensor(
                np.array([leaf for _, leaf in rows.leaves], dtype=np.float64)
            ),
        )
        flat = self.graph.add("Reshape", [found, self.graph.table(np.array([-1]))])
        return self.graph.cast(flat, self.types.INT64)


class TreeRows:
    """A tree with two branches a node, as lists of what each node compares.

    A node with more branches becomes a chain: is it the first outcome, is it the second
    one, and so on; the default comes last and takes whatever is left.
    """

    def __init__(
        self, tree: Tree, number_column: dict[int, int], code_column: dict[int, int]
    ) -> None:
        self.feature: list[int] = []
        self.mode: list[str] = []
        self.value: list[float] = []
        self.if_true: list[int] = []
        self.if_false: list[int] = []
        self.missing_is_true: list[int] = []
        self.leaves: list[tuple[int, int]] = []
        row_of = np.zeros(tree.n_nodes, dtype=np.int64)
        # Where each node will stand: those before it take a row for each branch but
        # one, and at least one.
        counts = np.maximum(np.diff(tree.branch_start) - 1, 1)
        row_of[1:] = np.cumsum(counts)[:-1]
        for node in range(tree.n_nodes):
            test = int(tree.test[node])
            if test < 0:
                self.leaves.append((len(self.feature), node))
                self._add(0, "LEAF", 0.0, 0, 0)
                continue
            children = children_of(tree, node)
            default = int(tree.default_branch[node])
            if tree.cut[node] >= 0:
                low, high = (int(row_of[child]) for child in children)
                cut = float(tree.thresholds[node])
                column = number_column[test]
                self._add(column, "BRANCH_LEQ", cut, low, high, default == 0)
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
            self._add(column, "BRANCH_EQ", 0.0, last, last)
        for i, (code, row) in enumerate(zip(codes, rows, strict=True), start=1):
            after = last if i == len(codes) else len(self.feature) + 1
            self._add(column, "BRANCH_EQ", float(code), row, after)

    def _add(
        self,
        feature: int,
        mode: str,
        value: float,
        if_true: int,
        if_false: int,
        missing_is_true: bool = False,
    ) -> None:
        self.feature.append(feature)
        self.mode.append(mode)
        self.value.append(value)
        self.if_true.append(if_true)
        self.if_false.append(if_false)
        self.missing_is_true.append(int(missing_is_true))


def _is_text(test: Test) -> bool:
    """Return whether a test shows text, or a mix that is best written as text."""
    if test.kind == "number":
        return False
    kinds = {type(outcome) for outcome in test.outcomes}
    return not (kinds == {bool} or kinds <= {int, float})


def _decide_tree(graph: Graph, tree: Tree, leaf: str) -> None:
    types = graph.onnx.TensorProto
    leaves = np.flatnonzero(tree.test < 0)
    shares = np.zeros((tree.n_nodes, len(tree.classes)))
    for node in leaves:
        shares[node] = tree.class_shares(node)
    decided = graph.add(
        "Gather", [graph.table(tree.node_decision.astype(np.int64)), leaf]
    )
    _name_classes(graph, tree, decided)
    found = graph.add("Gather", [graph.table(shares), leaf])
    graph.output("probabilities", found, types.DOUBLE, [None, len(tree.classes)])
    graph.output("leaf", leaf, types.INT64, [None])
    if not tree.prices.engine.has_outcome_prices:
        spent = graph.add("Gather", [graph.table(tree.spent), leaf])
        graph.output("cost", spent, types.DOUBLE, [None])


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
    _name_classes(graph, forest, graph.add("ArgMax", [is_best], axis=1, keepdims=0))
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


def _name_classes(graph: Graph, policy: Policy, decided: str) -> None:
    """Turn numbers of classes into the classes themselves."""
    types = graph.onnx.TensorProto
    kinds = {type(one) for one in policy.classes}
    if kinds == {int}:
        classes: NDArray[Any] = np.array(policy.classes, dtype=np.int64)
        kind = types.INT64
    elif kinds == {bool}:
        classes, kind = np.array(policy.classes), types.BOOL
    elif kinds <= {int, float}:
        classes, kind = np.array(policy.classes, dtype=np.float64), types.DOUBLE
    else:
        classes = np.array([str(one) for one in policy.classes], dtype=object)
        kind = types.STRING
    named = graph.add("Gather", [graph.table(classes), decided])
    graph.output("decision", named, kind, [None])
