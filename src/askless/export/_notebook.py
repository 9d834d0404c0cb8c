"""Show a policy in a notebook: a picture of what most cases come through."""

from __future__ import annotations

from html import escape

from askless.export._labels import summary_line
from askless.export._picture import picture_of
from askless.export._svg import draw_svg
from askless.export._text import to_text
from askless.policy import Forest, Policy, Tree

__all__ = ["to_notebook"]

# Boxes that a cell shows.
FEW = 80


def to_notebook(policy: Policy) -> str:
    """Return HTML for a notebook's cell.

    A tree is drawn, as deep as there is room; a forest by its first tree; anything else
    as text.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["last bit"])
    >>> askless.solve(table).policy._repr_html_().startswith("<div")
    True
    """
    lines = [escape(summary_line(policy))]
    tree = policy.tree(0) if isinstance(policy, Forest) else policy
    if isinstance(tree, Tree):
        depth = _depth_for(tree)
        drawn = draw_svg(picture_of(tree, max_depth=depth))
        if isinstance(policy, Forest):
            lines.append("Here is the first tree.")
        if depth < tree.depth:
            lines.append(
                "For the whole, open what show(policy, &quot;html&quot;) writes."
            )
    else:
        drawn = f"<pre>{escape(to_text(policy))}</pre>"
    return f'<div style="overflow:auto"><p>{" ".join(lines)}</p>{drawn}</div>'


def _depth_for(tree: Tree) -> int:
    """Return how deep a tree can be drawn with few boxes; one level at least."""
    depth = tree.depth
    while depth > 1 and (tree.node_depth <= depth).sum() > FEW:
        depth -= 1
    return depth
