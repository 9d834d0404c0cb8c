"""Draw a policy as one HTML page: boxes that fold, a search, and paper.

The page is a single file that asks nothing of any network. Its style and script are
``page.css`` and ``page.js`` beside this module; what it shows comes from the same
description as every other picture.
"""

from __future__ import annotations

import json
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

import numpy as np

from askless.export._colours import REST
from askless.export._fold import MOST_NODES, check_nodes
from askless.export._labels import summary_line, trees_of
from askless.export._picture import Box, Picture, order_classes, picture_of
from askless.export._text import to_text
from askless.policy import Forest, Policy

__all__ = ["to_html"]

# Lines of text for a reader without scripts.
TEXT_LINES = 400
# Nodes of a tree of a forest that are drawn, however many trees there are.
LEAST_NODES = 30


def to_html(
    policy: Policy,
    *,
    title: str | None = None,
    budget: float | None = None,
    max_nodes: int | None = MOST_NODES,
) -> str:
    """Return a page that draws a policy.

    Parameters
    ----------
    policy : Policy
        What to draw; a tree or a forest.
    title : str, optional
        What to write above it.
    budget : float, optional
        What a case may spend. Boxes beyond it are marked.
    max_nodes : int, default=10_000
        Draw only so many nodes, those that most cases pass, shared out among the trees
        of a forest; None for all.

    Notes
    -----
    The page is one file without any reference outside. Boxes fold by a click or by the
    keys of a tree: up and down, right to open, left to close, home, end; "/" searches.
    Large trees open where most cases go. On a narrow screen and on paper, boxes stand
    one below the other.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["last bit"])
    >>> page = to_html(askless.solve(table).policy, title="Even or odd?")
    >>> "<title>Even or odd?</title>" in page
    True
    """
    check_nodes(max_nodes)
    trees = trees_of(policy, "HTML")
    order = order_classes(trees)
    if max_nodes is not None and sum(tree.n_nodes for tree in trees) > max_nodes:
        most: int | None = max(max_nodes // len(trees), LEAST_NODES)
    else:
        most = None
    pictures = [
        picture_of(tree, title=title, max_nodes=most, budget=budget, order=order)
        for tree in trees
    ]
    first = pictures[0]
    facts = _forest_facts(policy) if isinstance(policy, Forest) else []
    data = {
        "classes": first.classes,
        "colours": first.colours,
        "rest": REST,
        "legend": _legend(pictures, order),
        "trees": [
            {"facts": [*facts, *p.facts], "nodes": [_row(box) for box in p.boxes]}
            for p in pictures
        ],
    }
    folder = files("askless.export")
    page = Template(folder.joinpath("page.html").read_text("utf-8"))
    return page.substitute(
        title=escape(first.title),
        style=folder.joinpath("page.css").read_text("utf-8"),
        script=folder.joinpath("page.js").read_text("utf-8"),
        text=escape(_plain_text(policy)),
        data=_embed(data),
    )


def _row(box: Box) -> list[Any]:
    return [
        box.parent,
        box.label,
        box.title,
        box.price,
        box.certainty,
        box.spent,
        _short(box.share),
        [[label, _short(share)] for label, share in box.mix],
        box.decision,
        box.is_leaf,
        box.is_over,
        ", ".join(box.notes),
    ]


def _short(share: float) -> float:
    return float(f"{share:.6g}")


def _legend(pictures: list[Picture], order: list[int]) -> list[tuple[int, float]]:
    decided = np.zeros(len(order))
    for picture in pictures:
        for label, _, share in picture.legend:
            decided[picture.classes.index(label)] += share / len(pictures)
    return [(c, _short(decided[c])) for c in order if decided[c] > 0]


def _forest_facts(forest: Forest) -> list[tuple[str, str]]:
    return [("trees", f"{forest.n_trees:,}, their {forest.voting} decide")]


def _plain_text(policy: Policy) -> str:
    n_nodes = getattr(policy, "n_nodes", 0)
    most = TEXT_LINES if n_nodes > MOST_NODES else None
    lines = [summary_line(policy), "", *to_text(policy, max_nodes=most).splitlines()]
    more = len(lines) - TEXT_LINES
    kept = lines[:TEXT_LINES]
    return "\n".join([*kept, f"... {more:,} lines more"] if more > 0 else kept)


def _embed(data: Any) -> str:
    """Return JSON that cannot end the script it stands in."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return (
        text.replace("<", "\\u003c")
        .replace("\u2028", "\\u2028")
        .replace("\u2029", "\\u2029")
    )
