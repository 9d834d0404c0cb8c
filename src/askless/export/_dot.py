"""Write a tree in DOT, the language of Graphviz."""

from __future__ import annotations

from askless.export._colours import blend
from askless.export._picture import Box, Picture, draw_one
from askless.policy import Policy

__all__ = ["to_dot"]


def to_dot(
    policy: Policy,
    *,
    title: str | None = None,
    max_depth: int | None = None,
    budget: float | None = None,
    tree: int | None = None,
) -> str:
    r"""Return a tree as a directed graph in DOT.

    Parameters
    ----------
    policy : Policy
        What to draw; a tree, or a forest of which one tree is chosen.
    title, max_depth, budget, tree
        As for SVG: see :func:`askless.show`.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["last bit"])
    >>> print(to_dot(askless.solve(table).policy))  # doctest: +ELLIPSIS
    digraph policy {
      ...
      0 [label="last bit?  1\nspent 0 · 100 %"];
      1 [label="even\nspent 1 · 50 %", fillcolor="#d6e8f3", color="#0072b2"];
      ...
      0 -> 1 [label=" 0 ", penwidth=3.00];
      0 -> 2 [label=" 1 ", penwidth=3.00];
    }
    """
    picture = draw_one(
        policy, "DOT", tree, title=title, max_depth=max_depth, budget=budget
    )
    facts = "   ".join(f"{name} {value}" for name, value in picture.facts)
    head = [
        "digraph policy {",
        f"  graph [rankdir=LR, label={_quote(f'{picture.title}', facts)}, labelloc=t,",
        '    fontname="Helvetica", nodesep=0.15, ranksep=0.6];',
        '  node [shape=box, style="rounded,filled", fillcolor="#f7f8fa",',
        '    color="#c9ced6", fontname="Helvetica", fontsize=11];',
        '  edge [color="#8a929e", fontname="Helvetica", fontsize=10, arrowsize=0.6];',
    ]
    nodes = [f"  {box.node} [{_attributes(box, picture)}];" for box in picture.boxes]
    edges = [
        f"  {picture.boxes[box.parent].node} -> {box.node} "
        f"[label={_quote(f' {box.label} ')}, penwidth={1 + 4 * box.share:.2f}];"
        for box in picture.boxes
        if box.parent >= 0
    ]
    return "\n".join([*head, *nodes, *edges, "}"])


def _attributes(box: Box, picture: Picture) -> str:
    if not box.is_leaf:
        return f"label={_quote(f'{box.title}?  {box.price}', box.below)}"
    first = f"{box.title}  {box.certainty}" if box.certainty else box.title
    colour = picture.colours[box.decision]
    return (
        f"label={_quote(first, box.below)}, "
        f'fillcolor="{blend(colour, "#ffffff", 0.16)}", color="{colour}"'
    )


def _quote(*lines: str) -> str:
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(escaped) + '"'
