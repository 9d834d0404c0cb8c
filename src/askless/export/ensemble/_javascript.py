"""Write an ensemble as JavaScript that needs nothing else, in a browser or in Node."""

from __future__ import annotations

from typing import Any

from askless.export._labels import summary_line
from askless.export.code._javascript_values import VALUES, js_value
from askless.export.ensemble._constants import constants_text
from askless.export.ensemble._javascript_text import (
    CASE,
    DEEP,
    HEAD,
    JOINT,
    LEAVES,
    LIVE,
    MODEL,
    MODULE_TAIL,
    OUTCOMES,
    SCRIPT_TAIL,
    WHOLE,
)
from askless.export.ensemble._parts import Leaf, Parts, Split, to_parts
from askless.policy import Ensemble

__all__ = ["ensemble_to_javascript"]


def ensemble_to_javascript(policy: Ensemble, *, module: bool = False) -> str:
    """Return a script that runs an ensemble; see ``to_javascript``."""
    parts = to_parts(policy)
    is_deep, by_outcome = parts.wholes is None, parts.is_joint or parts.by_leaves
    pieces = [
        HEAD.format(summary=summary_line(policy)),
        constants_text(policy, parts, js_value, "const {} = {};\n", "//"),
        _trees_text(parts),
        VALUES,
        MODEL,
        LIVE if is_deep or by_outcome else "",
        DEEP if is_deep else WHOLE,
        OUTCOMES if by_outcome else "",
        JOINT if parts.is_joint else LEAVES if parts.by_leaves else "",
        CASE,
        MODULE_TAIL if module else SCRIPT_TAIL,
    ]
    return "".join(pieces)


def _trees_text(parts: Parts) -> str:
    trees = _nested([[_node(node) for node in nodes] for nodes in parts.trees])
    written = (
        "// Each tree in preorder; the left child of a node is the next one:\n"
        "//   [test, last code that goes left, right child, does missing go left]\n"
        "//   [test, a letter for each code: left or right, right child, ...]\n"
        "//   [-1, weight, what it adds]\n"
        f"const TREES = {trees};\n"
        "// The sum that each tree adds to, or the first of them.\n"
        f"const OUTPUT = {js_value(parts.output)};\n"
    )
    if parts.wholes is None:
        return written
    wholes = _nested([[list(whole) for whole in tree] for tree in parts.wholes])
    return (
        f"{written}// What each subtree amounts to: mean, least, largest, variance, "
        f"and how much\n// it waits for its test.\nconst WHOLES = {wholes};\n"
    )


def _nested(trees: list[list[Any]]) -> str:
    lines = "".join(
        "  [\n" + "".join(f"    {js_value(node)},\n" for node in nodes) + "  ],\n"
        for nodes in trees
    )
    return f"[\n{lines}]"


def _node(node: Split | Leaf) -> list[Any]:
    return [-1, *node] if isinstance(node, Leaf) else list(node)
