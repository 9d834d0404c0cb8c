"""Write a tree as a flowchart of Mermaid, which many sites draw inside Markdown."""

from __future__ import annotations

from askless.export._colours import blend
from askless.export._picture import Box, draw_one
from askless.policy import Policy

__all__ = ["to_mermaid"]

# What Mermaid draws unless its host allows more.
MOST_EDGES = 500


def to_mermaid(
    policy: Policy,
    *,
    max_depth: int | None = None,
    budget: float | None = None,
    tree: int | None = None,
) -> str:
    """Return a tree as a Mermaid flowchart.

    Parameters
    ----------
    policy : Policy
        What to draw; a tree, or a forest of which one tree is chosen.
    max_depth, budget, tree
        As for SVG: see :func:`askless.show`.

    Notes
    -----
    Mermaid draws at most 500 edges unless it is told otherwise; for larger trees choose
    ``max_depth``.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["last bit"])
    >>> print(to_mermaid(askless.solve(table).policy))
    flowchart LR
      n0["last bit? 1<br/>spent 0 · 100 %"]
      n1(["even<br/>spent 1 · 50 %"]):::c0
      n2(["odd<br/>spent 1 · 50 %"]):::c1
      n0 -->|"0"| n1
      n0 -->|"1"| n2
      classDef c0 fill:#d6e8f3,stroke:#0072b2,color:#1b1f24
      classDef c1 fill:#fbf0d6,stroke:#e69f00,color:#1b1f24
    """
    picture = draw_one(policy, "Mermaid", tree, max_depth=max_depth, budget=budget)
    lines = ["flowchart LR"]
    if len(picture.boxes) - 1 > MOST_EDGES:
        lines.append(
            f"  %% {len(picture.boxes) - 1} edges; Mermaid draws {MOST_EDGES} unless "
            "it is told otherwise. Choose max_depth."
        )
    lines += [f"  {_node(box)}" for box in picture.boxes]
    lines += [
        f"  n{picture.boxes[box.parent].node} -->|{_quote(box.label)}| n{box.node}"
        for box in picture.boxes
        if box.parent >= 0
    ]
    used = sorted({box.decision for box in picture.boxes if box.is_leaf})
    lines += [
        f"  classDef c{c} fill:{blend(picture.colours[c], '#ffffff', 0.16)},"
        f"stroke:{picture.colours[c]},color:#1b1f24"
        for c in used
    ]
    return "\n".join(lines)


def _node(box: Box) -> str:
    if not box.is_leaf:
        return f"n{box.node}[{_quote(f'{box.title}? {box.price}', box.below)}]"
    first = f"{box.title} {box.certainty}" if box.certainty else box.title
    return f"n{box.node}([{_quote(first, box.below)}]):::c{box.decision}"


def _quote(*lines: str) -> str:
    # Inside quotes Mermaid reads entities, Markdown after a backtick, and HTML.
    escaped = ("".join(map(_entity, line)) for line in lines)
    return '"' + "<br/>".join(escaped) + '"'


def _entity(character: str) -> str:
    return f"#{ord(character)};" if character in '"#<>&`\\;' else character
