"""Write an ensemble as an ONNX model: the full sum of trees, in the source's precision.

One node finds the leaf of each row in every tree; what leaves add is looked up, and
added tree by tree in the order of the source, in double or in single precision as the
source adds. So sums are the source's to the last bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from askless.export._labels import summary_line
from askless.export.code._onnx_graph import Features, Graph, NodeRows
from askless.export.ensemble._parts import Leaf, Parts, Split, to_parts
from askless.policy import Ensemble, Output
from askless.policy._decide import TOLERANCE

__all__ = ["ensemble_to_onnx"]


def ensemble_to_onnx(policy: Ensemble, graph: Graph) -> bytes:
    """Return an ensemble as the bytes of a model; see ``to_onnx``."""
    parts = to_parts(policy)
    features = _features(graph, parts)
    link = Link(graph, policy.output)
    sums = _add_up(graph, parts, features, link)
    types = graph.onnx.TensorProto
    n_outputs = parts.n_outputs
    if policy.answers_number:
        flat = graph.add("Reshape", [link.numbers(sums), graph.table(np.array([-1]))])
        graph.output("decision", link.double(flat), types.DOUBLE, [None])
    else:
        shares = link.shares(sums)
        graph.name_classes(policy.classes, link.decide(sums, shares))
        n_classes = len(policy.classes)
        shape = [None, n_classes]
        graph.output("probabilities", link.double(shares), types.DOUBLE, shape)
    graph.output("sums", link.double(sums), types.DOUBLE, [None, n_outputs])
    content: bytes = graph.model(summary_line(policy)).SerializeToString()
    return content


def _features(graph: Graph, parts: Parts) -> Features:
    sets: dict[int, list[str]] = {}
    for nodes in parts.trees:
        for node in nodes:
            if isinstance(node, Leaf):
                continue
            test = parts.tests[node.test]
            if isinstance(node.cut, str) or test.kind == "category":
                text = node.letters(test.n_levels)
                if text not in sets.setdefault(node.test, []):
                    sets[node.test].append(text)
    return Features(graph, parts.tests, range(len(parts.tests)), sets.keys(), sets)


def _rows_of(nodes: list[Split | Leaf], parts: Parts, features: Features) -> NodeRows:
    rows = NodeRows()
    for at, node in enumerate(nodes):
        if isinstance(node, Leaf):
            rows.add_leaf(at)
            continue
        test = parts.tests[node.test]
        if isinstance(node.cut, str) or test.kind == "category":
            column = features.set_column[node.test, node.letters(test.n_levels)]
            rows.add(column, "BRANCH_EQ", 1.0, at + 1, node.right)
            continue
        # Beyond the last cut lies what is missing, and nothing else.
        cut = test.cuts[node.cut] if node.cut < len(test.cuts) else np.inf
        column = features.number_column[node.test]
        missing_left = node.missing_left
        rows.add(column, "BRANCH_LEQ", cut, at + 1, node.right, missing_left)
    return rows


def _add_up(graph: Graph, parts: Parts, features: Features, link: Link) -> str:
    """Return the sums, of shape (n, n_outputs)."""
    width = parts.width
    offset = np.array(link.output.offset, dtype=link.dtype)
    if not parts.trees:
        is_nan = graph.add("IsNaN", [features.matrix])
        first = graph.add("ReduceMax", [link.cast(is_nan)], axes=[1], keepdims=1)
        nothing = graph.add("Mul", [first, link.table(0.0)])
        return graph.add("Add", [nothing, graph.table(offset[None, :])])
    rows = [_rows_of(nodes, parts, features) for nodes in parts.trees]
    found = graph.find_leaves(features.matrix, rows)
    starts = np.cumsum([0, *map(len, parts.trees)])[:-1]
    places = graph.add("Add", [found, graph.table(starts[None, :].astype(np.int64))])
    values = np.zeros((sum(map(len, parts.trees)), width), dtype=link.dtype)
    leaves = [node for nodes in parts.trees for node in nodes]
    for at, node in enumerate(leaves):
        if isinstance(node, Leaf):
            values[at] = node.values
    added = graph.add("Gather", [graph.table(values), places])
    columns = [added]
    if len(parts.trees) > 1:
        columns = graph.split(added, len(parts.trees), axis=1)
    n_sums = parts.n_outputs // width
    totals = [
        graph.table(offset[q * width : (q + 1) * width][None, None, :])
        for q in range(n_sums)
    ]
    for q, column in zip(parts.output, columns, strict=True):
        totals[q] = graph.add("Add", [totals[q], column])
    if n_sums > 1:
        # A sum that no tree adds to must have a row for each case as well.
        shape = graph.add("Mul", [columns[0], link.table(0.0)])
        totals = [graph.add("Add", [total, shape]) for total in totals]
        totals = [graph.add("Concat", totals, axis=2)]
    return graph.add(
        "Reshape", [totals[0], graph.table(np.array([-1, parts.n_outputs]))]
    )


class Link:
    """Turns sums into probabilities, classes and numbers, in the source's precision.

    Exponentials are worked out in double precision, and rounded where the source's are
    single.
    """

    def __init__(self, graph: Graph, output: Output) -> None:
        self.graph = graph
        self.output = output
        self.dtype: Any = np.float32 if output.is_single else np.float64
        types = graph.onnx.TensorProto
        self.kind = types.FLOAT if output.is_single else types.DOUBLE

    def table(self, value: float) -> str:
        """Add a constant."""
        return self.graph.table(np.array(value, dtype=self.dtype))

    def cast(self, value: str) -> str:
        """Convert to the precision of the source."""
        return self.graph.cast(value, self.kind)

    def double(self, value: str) -> str:
        """Convert to double precision, if that is another."""
        if not self.output.is_single:
            return value
        return self.graph.cast(value, self.graph.onnx.TensorProto.DOUBLE)

    def scores(self, sums: str) -> str:
        """Return the sums as the source has them before its link."""
        if self.output.divisor == 1.0:
            return sums
        return self.graph.add("Div", [sums, self.table(self.output.divisor)])

    def exp(self, scores: str) -> str:
        """Return e to the power of each score."""
        found = self.graph.add("Exp", [self.double(scores)])
        return self.cast(found) if self.output.is_single else found

    def sigmoid(self, scores: str) -> str:
        """Return the probability that each score stands for."""
        add = self.graph.add
        if self.output.is_single:
            power = add("Min", [add("Neg", [scores]), self.table(88.7)])
            below = add("Add", [self.exp(power), self.table(1.0)])
            below = add("Add", [below, self.table(1e-16)])
        else:
            power = add("Mul", [scores, self.table(-self.output.slope)])
            below = add("Add", [self.exp(power), self.table(1.0)])
        return add("Div", [self.table(1.0), below])

    def numbers(self, sums: str) -> str:
        """Return the numbers that sums stand for."""
        scores = self.scores(sums)
        if self.output.link == "exp":
            return self.exp(scores)
        return self.sigmoid(scores) if self.output.link == "sigmoid" else scores

    def shares(self, sums: str) -> str:
        """Return the probability of each class."""
        add, link, scores = self.graph.add, self.output.link, self.scores(sums)
        if link == "share":
            return scores
        if link == "logit":
            second = self.sigmoid(scores)
            first = add("Sub", [self.table(1.0), second])
            return add("Concat", [first, second], axis=1)
        if link == "one-vs-rest":
            return self.sigmoid(scores)
        axes = self.graph.table(np.array([1]))
        if link == "count":
            total = add("ReduceSum", [scores, axes], keepdims=1)
            even = self.table(1.0 / self.output.n_outputs)
            is_some = add("Greater", [total, self.table(0.0)])
            return add("Where", [is_some, add("Div", [scores, total]), even])
        if self.output.slope != 1.0:
            scores = add("Mul", [scores, self.table(self.output.slope)])
        largest = add("ReduceMax", [scores], axes=[1], keepdims=1)
        powers = self.exp(add("Sub", [scores, largest]))
        total = add("ReduceSum", [self.double(powers), axes], keepdims=1)
        return add("Div", [powers, self.cast(total)])

    def decide(self, sums: str, shares: str) -> str:
        """Return the number of the class that is decided, of shape (n,)."""
        add, output, scores = self.graph.add, self.output, self.scores(sums)
        types = self.graph.onnx.TensorProto
        if output.link == "logit" and output.decides_by != "probability":
            is_least = output.decides_by == "at least 0"
            op = "GreaterOrEqual" if is_least else "Greater"
            is_second = add(op, [scores, self.table(0.0)])
            flat = add("Reshape", [is_second, self.graph.table(np.array([-1]))])
            return self.graph.cast(flat, types.INT64)
        if output.decides_by == "probability":
            scores = shares
        least = add("ReduceMax", [scores], axes=[1], keepdims=1)
        if output.decides_by == "nearly":
            slack = add("Mul", [add("Abs", [least]), self.table(TOLERANCE)])
            least = add("Sub", [least, slack])
        is_best = add("GreaterOrEqual", [scores, least])
        return add(
            "ArgMax", [self.graph.cast(is_best, types.INT32)], axis=1, keepdims=0
        )
