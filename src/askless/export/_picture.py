"""What a picture of a tree says: a box for each node, a legend, the figures.

Every drawn format shows these and nothing else, so that they agree. This module does
not know where a box stands or how it is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askless._text import escape_unprintable
from askless.exceptions import InvalidOptionError
from askless.export._colours import colours_of
from askless.export._fold import find_folded
from askless.export._kinds import Kinds, kinds_of
from askless.export._labels import (
    branch_label,
    charge_text,
    decision_text,
    node_shares,
    number_text,
    one_tree,
    percent_text,
)
from askless.policy import Policy, Tree

__all__ = ["Box", "Picture", "draw_one", "order_classes", "picture_of"]

# Classes of a mix that are told apart; the others are drawn together.
MOST_MIXED = 8


@dataclass(frozen=True)
class Box:
    """A node as it is drawn."""

    node: int
    parent: int  # the place of the parent's box, -1 for the root
    depth: int
    label: str  # what was seen at the parent
    title: str  # the test, or the decision
    price: str  # of a test
    certainty: str  # of a decision; nothing if it is certain
    spent: str
    share: float
    mix: tuple[tuple[int, float], ...]  # classes and their shares, -1 for the rest
    decision: int
    is_leaf: bool
    n_hidden: int  # nodes below that are not drawn
    is_over: bool  # spent more than the budget
    is_delayed: bool
    group: str

    @property
    def below(self) -> str:
        """The second line: what is spent, how many get here, how much is not drawn."""
        text = f"spent {self.spent} · {percent_text(self.share)}"
        return f"{text} · {self.n_hidden:,} more" if self.n_hidden else text

    @property
    def notes(self) -> list[str]:
        """What is worth saying: the group, what comes with it, what is not drawn."""
        notes = [f"group {self.group}"] if self.group else []
        if self.is_delayed:
            notes.append("delayed: the rest is bought together with it")
        if self.n_hidden:
            notes.append(f"{self.n_hidden:,} nodes below are not drawn")
        return notes


@dataclass(frozen=True)
class Picture:
    """A whole tree as it is drawn."""

    title: str
    boxes: tuple[Box, ...]
    facts: tuple[tuple[str, str], ...]
    # Class or band of numbers, colour, share of the cases that it is decided for.
    legend: tuple[tuple[str, str, float], ...]
    colours: tuple[str, ...]
    classes: tuple[str, ...]
    n_nodes: int

    @property
    def share_texts(self) -> list[str]:
        """The share of each box, in percent."""
        return [percent_text(box.share) for box in self.boxes]


def draw_one(
    policy: Policy,
    what: str,
    tree: int | None,
    *,
    title: str | None = None,
    max_depth: int | None = None,
    max_nodes: int | None = None,
    budget: float | None = None,
) -> Picture:
    """Return the picture of a tree, or of one tree of a forest, for a format."""
    drawn = one_tree(policy, what, tree)
    return picture_of(
        drawn, title=title, max_depth=max_depth, max_nodes=max_nodes, budget=budget
    )


def picture_of(
    tree: Tree,
    *,
    title: str | None = None,
    max_depth: int | None = None,
    max_nodes: int | None = None,
    budget: float | None = None,
    order: list[int] | None = None,
) -> Picture:
    """Return what a picture of a tree says.

    Parameters
    ----------
    tree : Tree
        What to draw.
    title : str, optional
        What to call it.
    max_depth : int, optional
        Draw only so many levels of tests.
    max_nodes : int, optional
        Draw only so many nodes, those that most cases pass.
    budget : float, optional
        What a case may spend; boxes beyond it are marked.
    order : list of int, optional
        The classes, the most common first, which settles their colours; of this tree
        by default.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["last bit"])
    >>> [box.title for box in picture_of(askless.solve(table).policy).boxes]
    ['last bit', 'even', 'odd']
    """
    if budget is not None and not budget >= 0:
        raise InvalidOptionError(
            f"The budget must be >= 0. Got {budget}. Leave it out if there is none."
        )
    shares, kinds = node_shares(tree), kinds_of(tree)
    folded = find_folded(tree, shares, max_depth=max_depth, max_nodes=max_nodes)
    place_of: dict[int, int] = {}
    boxes: list[Box] = []
    node = 0
    while node < tree.n_nodes:
        place_of[node] = len(boxes)
        parent = place_of.get(int(tree.parent[node]), -1)
        is_folded = folded is not None and bool(folded[node])
        boxes.append(_box(tree, kinds, node, parent, shares[node], is_folded, budget))
        node = int(tree.subtree_end[node]) if is_folded else node + 1
    order = order_classes([tree]) if order is None else order
    leaves = np.flatnonzero(tree.test < 0)
    classes = kinds.labels
    decided = np.zeros(len(classes))
    np.add.at(decided, kinds.of_node[leaves], shares[leaves])
    colours = kinds.colours or colours_of(order, len(classes))
    used = set(kinds.of_node[leaves].tolist())
    return Picture(
        title=escape_unprintable(title or "What to ask, and what to decide"),
        boxes=tuple(boxes),
        facts=(
            *_facts(tree, shares, budget),
            *_fold_facts(tree, len(boxes), max_nodes),
        ),
        legend=tuple(
            (classes[c], colours[c], float(decided[c])) for c in order if c in used
        ),
        colours=colours,
        classes=classes,
        n_nodes=tree.n_nodes,
    )


def order_classes(trees: Sequence[Tree]) -> list[int]:
    """Return the classes, the one decided most often first; bands as they are."""
    if trees[0].answers_number:
        return list(range(len(kinds_of(trees[0]).labels)))
    decided = np.zeros(len(trees[0].classes))
    present = np.zeros(len(trees[0].classes))
    for tree in trees:
        leaves = np.flatnonzero(tree.test < 0)
        np.add.at(decided, tree.node_decision[leaves], node_shares(tree)[leaves])
        present += tree.class_shares(0)
    order: list[int] = np.lexsort((-present, -decided)).tolist()
    return order


def _box(
    tree: Tree,
    kinds: Kinds,
    node: int,
    parent: int,
    share: float,
    is_folded: bool,
    budget: float | None,
) -> Box:
    is_leaf = bool(tree.test[node] < 0)
    decided, certainty = decision_text(tree, node)
    group = "" if is_leaf else tree.prices.group[tree.test[node]] or ""
    # Rounding alone does not break a budget.
    is_over = budget is not None and tree.spent[node] > budget + 1e-9 * max(1, budget)
    return Box(
        node=node,
        parent=parent,
        depth=int(tree.node_depth[node]),
        label=branch_label(tree, node).replace("<=", "≤") if node else "",
        title=decided
        if is_leaf
        else escape_unprintable(tree.tests[tree.test[node]].name),
        price="" if is_leaf else charge_text(tree, node),
        certainty=certainty if is_leaf else "",
        spent=number_text(tree.spent[node]),
        share=float(share),
        mix=_mix(kinds.shares_at(node)),
        decision=int(kinds.of_node[node]),
        is_leaf=is_leaf,
        n_hidden=int(tree.subtree_end[node] - node - 1) if is_folded else 0,
        is_over=bool(is_over),
        is_delayed=not is_leaf and bool(tree.prices.delayed[tree.test[node]]),
        group=escape_unprintable(group),
    )


def _mix(shares: NDArray[np.float64]) -> tuple[tuple[int, float], ...]:
    order = np.argsort(-shares, kind="stable")
    order = order[shares[order] > 0]
    shown = [(int(c), float(shares[c])) for c in order[:MOST_MIXED]]
    rest = float(shares[order[MOST_MIXED:]].sum())
    # In the order of the classes, so that neighbours can be compared.
    return tuple(sorted(shown)) + (((-1, rest),) if rest > 1e-9 else ())


def _fold_facts(
    tree: Tree, n_drawn: int, max_nodes: int | None
) -> list[tuple[str, str]]:
    if max_nodes is None or tree.n_nodes <= max_nodes:
        return []
    return [("drawn", f"{n_drawn:,} nodes, those that most cases pass")]


def _facts(
    tree: Tree, shares: NDArray[np.float64], budget: float | None
) -> tuple[tuple[str, str], ...]:
    facts = [
        ("expected cost", f"{tree.expected_cost:.4g}"),
        ("at worst", f"{tree.worst_cost:.4g}"),
        ("every test", number_text(tree.prices.cost_of_all())),
        ("tests asked at most", str(tree.depth)),
        ("decisions", f"{tree.n_leaves:,} of {tree.n_nodes:,} nodes"),
    ]
    if budget is not None:
        leaves = tree.test < 0
        over = leaves & (tree.spent > budget + 1e-9 * max(1, budget))
        kept = "kept" if not over.any() else f"{percent_text(shares[over].sum())} over"
        facts.insert(2, ("budget", f"{number_text(budget)}, {kept}"))
    return tuple(facts)
