"""Graphs of ONNX: nodes, tables, inputs and outputs, and columns that trees look at.

This module does not know policies.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless._extras import import_extra
from askless.exceptions import InvalidOptionError
from askless.problem import Outcome, Test

__all__ = ["Features", "Graph", "NodeRows", "is_text"]

# Widely read: opset 17 with version 3 of the operators for machine learning.
OPSET, ML_OPSET, IR_VERSION = 17, 3, 8


class Graph:
    """Collects nodes, tables, inputs and outputs, and gives them names."""

    def __init__(self) -> None:
        self.onnx: Any = import_extra("onnx", "onnx", "Writing ONNX")
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

    def split(self, value: str, n_parts: int, axis: int) -> list[str]:
        """Cut a value into so many equal parts, and return their names."""
        names = [f"askless:Split_{len(self.nodes)}_{i}" for i in range(n_parts)]
        node = self.onnx.helper.make_node("Split", [value], names, axis=axis)
        self.nodes.append(node)
        return names

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

    def find_leaves(self, matrix: str, trees: Sequence[NodeRows]) -> str:
        """Return the leaf of each row in each tree, of shape (n, n_trees)."""
        as_tensor = self.onnx.numpy_helper.from_array

        def numbers(of: Callable[[NodeRows], Iterable[float]]) -> Any:
            return as_tensor(np.array([x for rows in trees for x in of(rows)], float))

        def integers(of: Callable[[NodeRows], Iterable[int]]) -> list[int]:
            return [x for rows in trees for x in of(rows)]

        leaf_trees = [i for i, rows in enumerate(trees) for _ in rows.leaves]
        found = self.add(
            "TreeEnsembleRegressor",
            [matrix],
            domain="ai.onnx.ml",
            n_targets=len(trees),
            nodes_treeids=[i for i, rows in enumerate(trees) for _ in rows.feature],
            nodes_nodeids=integers(lambda rows: range(len(rows.feature))),
            nodes_featureids=integers(lambda rows: rows.feature),
            nodes_modes=[mode for rows in trees for mode in rows.mode],
            nodes_values_as_tensor=numbers(lambda rows: rows.value),
            nodes_truenodeids=integers(lambda rows: rows.if_true),
            nodes_falsenodeids=integers(lambda rows: rows.if_false),
            nodes_missing_value_tracks_true=integers(lambda rows: rows.missing_is_true),
            target_treeids=leaf_trees,
            target_nodeids=integers(lambda rows: (row for row, _ in rows.leaves)),
            target_ids=leaf_trees,
            target_weights_as_tensor=numbers(
                lambda rows: (leaf for _, leaf in rows.leaves)
            ),
        )
        return self.cast(found, self.onnx.TensorProto.INT64)

    def name_classes(self, classes: Sequence[Outcome], decided: str) -> None:
        """Turn numbers of classes into the classes themselves, an output."""
        types = self.onnx.TensorProto
        kinds = {type(one) for one in classes}
        if kinds == {int}:
            named: NDArray[Any] = np.array(classes, dtype=np.int64)
            kind = types.INT64
        elif kinds == {bool}:
            named, kind = np.array(classes), types.BOOL
        elif kinds <= {int, float}:
            named, kind = np.array(classes, dtype=np.float64), types.DOUBLE
        else:
            named = np.array([str(one) for one in classes], dtype=object)
            kind = types.STRING
        found = self.add("Gather", [self.table(named), decided])
        self.output("decision", found, kind, [None])

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


class NodeRows:
    """A tree with two branches a node, as lists of what each node compares."""

    def __init__(self) -> None:
        self.feature: list[int] = []
        self.mode: list[str] = []
        self.value: list[float] = []
        self.if_true: list[int] = []
        self.if_false: list[int] = []
        self.missing_is_true: list[int] = []
        self.leaves: list[tuple[int, int]] = []

    def add_leaf(self, leaf: int) -> None:
        """Add a node in which rows end, and the number that it is known by."""
        self.leaves.append((len(self.feature), leaf))
        self.add(0, "LEAF", 0.0, 0, 0)

    def add(
        self,
        feature: int,
        mode: str,
        value: float,
        if_true: int,
        if_false: int,
        missing_is_true: bool = False,
    ) -> None:
        """Add a node that compares a column."""
        self.feature.append(feature)
        self.mode.append(mode)
        self.value.append(value)
        self.if_true.append(if_true)
        self.if_false.append(if_false)
        self.missing_is_true.append(int(missing_is_true))


class Features:
    """Turns inputs into the columns that trees look at: numbers and codes."""

    def __init__(
        self,
        graph: Graph,
        tests: Sequence[Test],
        used: Iterable[int],
        coded: Collection[int],
        sets: Mapping[int, Sequence[str]] | None = None,
    ) -> None:
        self.graph = graph
        self.types = graph.onnx.TensorProto
        self.number_column: dict[int, int] = {}
        self.code_column: dict[int, int] = {}
        self.set_column: dict[tuple[int, str], int] = {}
        columns: list[str] = []
        n_columns = 0
        for index in used:
            test = tests[index]
            raw = graph.input(test.name, is_text(test))
            if test.kind == "number":
                self.number_column[index] = n_columns
                columns.append(raw)
                n_columns += 1
            code = self._code(test, raw) if index in coded else ""
            if code and not (sets and index in sets):
                self.code_column[index] = n_columns
                columns.append(code)
                n_columns += 1
            for text in (sets or {}).get(index, ()):
                self.set_column[index, text] = n_columns
                columns.append(self._is_in(code, text))
                n_columns += 1
        if not columns:
            # Even a tree that asks nothing must know how many rows there are.
            columns = [graph.input("rows", False)]
        self.matrix = (
            graph.add("Concat", columns, axis=1) if len(columns) > 1 else columns[0]
        )

    def _is_in(self, code: str, text: str) -> str:
        """Return 1.0 where a text has an L at the place of the code, else 0.0."""
        graph = self.graph
        whole = graph.cast(code, self.types.INT64)
        table = graph.table(np.array([float(letter == "L") for letter in text]))
        return graph.add("Gather", [table, whole])

    def _code(self, test: Test, raw: str) -> str:
        """Return the codes of a column, as doubles."""
        graph = self.graph
        if test.kind == "number":
            return self._or_missing(test, raw, self._count_below(test, raw))
        if is_text(test):
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


def is_text(test: Test) -> bool:
    """Return whether a test shows text, or a mix that is best written as text."""
    if test.kind == "number":
        return False
    kinds = {type(outcome) for outcome in test.outcomes}
    return not (kinds == {bool} or kinds <= {int, float})
