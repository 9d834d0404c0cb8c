"""Write an ensemble as a Python module that needs nothing but Python."""

from __future__ import annotations

from typing import Any

from askless.export._labels import summary_line
from askless.export.ensemble._constants import constants_text
from askless.export.ensemble._parts import Leaf, Parts, Split, to_parts
from askless.export.ensemble._python_text import (
    CASE,
    DEEP,
    HEAD,
    JOINT,
    LEAVES,
    LIVE,
    OUTCOMES,
    VALUES,
    WHOLE,
)
from askless.policy import Ensemble

__all__ = ["ensemble_to_python"]


def ensemble_to_python(policy: Ensemble) -> str:
    """Return a module that runs an ensemble; see ``to_python``."""
    parts = to_parts(policy)
    summary = summary_line(policy).replace("\\", "\\\\").replace('"', "'")
    is_deep, by_outcome = parts.wholes is None, parts.is_joint or parts.by_leaves
    pieces = [
        HEAD.format(summary=summary),
        constants_text(policy, parts, _value, "{} = {}\n", "#"),
        _trees_text(parts),
        VALUES,
        LIVE if is_deep or by_outcome else "",
        DEEP if is_deep else WHOLE,
        OUTCOMES if by_outcome else "",
        JOINT if parts.is_joint else LEAVES if parts.by_leaves else "",
        CASE,
    ]
    return "".join(pieces)


def _trees_text(parts: Parts) -> str:
    trees = "".join(
        "    [\n" + "".join(f"        {_node(node)},\n" for node in nodes) + "    ],\n"
        for nodes in parts.trees
    )
    written = (
        "# Each tree in preorder; the left child of a node is the next one:\n"
        "#   (test, last code that goes left, right child, whether missing goes left)\n"
        "#   (test, a letter for each code: left or right, right child, ...)\n"
        "#   (-1, weight, what it adds)\n"
        f"TREES = [\n{trees}]\n"
        "# The sum that each tree adds to, or the first of them.\n"
        f"OUTPUT = {parts.output!r}\n"
    )
    if parts.wholes is None:
        return written
    wholes = "".join(
        "    [\n"
        + "".join(f"        {tuple(whole)!r},\n" for whole in tree)
        + "    ],\n"
        for tree in parts.wholes
    )
    return (
        f"{written}# What each subtree amounts to: mean, least, largest, variance, and "
        f"how much\n# it waits for its test.\nWHOLES = [\n{wholes}]\n"
    )


def _node(node: Split | Leaf) -> str:
    if isinstance(node, Leaf):
        return f"(-1, {_value(node.weight)}, {_value(node.values)})"
    return f"({', '.join(map(_value, node))})"


def _value(value: Any) -> str:
    return "inf" if isinstance(value, float) and value == float("inf") else repr(value)
