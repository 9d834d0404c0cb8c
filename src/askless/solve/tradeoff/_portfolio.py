"""The trees that a trade-off of error against cost is chosen from.

No impurity is best at every budget, so many trees are grown, each by its own criterion,
and the best pruning of any of them is taken. This module must not know how they are
pruned.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from askless._core.price._prices import price_nodes
from askless.exceptions import NoPolicyError
from askless.policy import Tree
from askless.solve._task import Task
from askless.solve.greedy._greedy import MAX_NODES as MOST_NODES
from askless.solve.greedy._greedy import grow_by_criterion
from askless.solve.greedy._impurities import make_criterion
from askless.solve.tradeoff._prunings import TOLERANCE

__all__ = ["Member", "grow_in_budget", "grow_members", "has_one_price", "list_members"]

# The thresholds of the two hinges, as shares of the weight of all cases.
GRID = (0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128)
# A member that grows beyond this is left out, where outcomes are unknown.
MAX_NODES = 200_000
# Trees that a member grows for one budget and those below it.
MOST_STEPS = 64


@dataclass(frozen=True)
class Member:
    """A way to grow a tree.

    Attributes
    ----------
    impurity, split, power
        See :func:`askless.solve.greedy._impurities.make_criterion`.
    share : float
        The threshold of a hinge, as a share of the weight of all cases.
    by_prior : bool
        Whether cases count by their weight, or each once.
    is_regrown : bool
        Whether it also grows trees from tests that fit into a budget.
    """

    impurity: str
    split: str = "minimax"
    power: int = 2
    share: float = 0.0
    by_prior: bool = False
    is_regrown: bool = False

    @property
    def name(self) -> str:
        """How the member is called.

        Examples
        --------
        >>> Member("powers", power=3, split="expected").name
        'powers(3), expected splits'
        """
        number = {"powers": f"({self.power})", "pairs": ""}
        words = [self.impurity + number.get(self.impurity, f"({self.share:g})")]
        if self.split == "expected":
            words.append("expected splits")
        if self.by_prior:
            words.append("by prior")
        return ", ".join(words)

    def grow(self, task: Task, *, budget: float = math.inf) -> Tree | None:
        """Return the member's tree, or None if it has too many nodes."""
        weight = 1.0 if self.by_prior else task.table.n_cases
        criterion = make_criterion(
            task.classes,
            impurity=self.impurity,
            split=self.split,
            power=self.power,
            alpha=self.share * weight,
        )
        try:
            return grow_by_criterion(
                task,
                criterion,
                by_prior=self.by_prior,
                budget=budget * (1 + TOLERANCE),
                max_nodes=MAX_NODES if task.table.has_unknown else MOST_NODES,
            )
        except NoPolicyError:
            return None


def list_members(task: Task, grid: Sequence[float] | None = None) -> list[Member]:
    """Return the ways that suit a table: by prior too, if the prior is not uniform."""
    shares = GRID if grid is None else tuple(grid)
    prior = task.table.prior
    # Regrowing all of them took ten times as long and was seldom better.
    members = [Member("pairs", is_regrown=True)]
    members += [Member("powers", power=p, is_regrown=p == 3) for p in (3, 4, 5)]
    members += [Member("hinged", share=s, is_regrown=s == shares[0]) for s in shares]
    members += [Member("product-hinge", share=s) for s in shares]
    return [
        replace(member, split=split, by_prior=by_prior)
        for by_prior in ((False,) if np.all(prior == prior[0]) else (False, True))
        for split in ("minimax", "expected")
        for member in members
    ]


def grow_members(task: Task, members: list[Member]) -> Iterator[tuple[str, Tree]]:
    """Yield the names and trees of the members that do not grow too large."""
    for member in members:
        tree = member.grow(task)
        if tree is not None:
            yield member.name, tree


def has_one_price(task: Task) -> bool:
    """Return whether a budget rules out all tests or none."""
    prices = task.table.prices
    is_plain = not prices.by_outcome and all(group is None for group in prices.group)
    return is_plain and bool(np.all(prices.full == prices.full[0]))


def grow_in_budget(task: Task, member: Member, budget: float) -> Iterator[Tree]:
    """Yield trees that leave out tests beyond a budget, for it and budgets below.

    A tree stays the same for all budgets from its own worst cost to the one that it was
    grown for. Going down from worst cost to worst cost meets the trees of all smaller
    budgets, so that a larger budget always has the trees of a smaller one to choose
    from. That ends after 64 steps.
    """
    for _ in range(MOST_STEPS):
        tree = member.grow(task, budget=budget)
        if tree is None or tree.n_nodes == 1:
            return
        yield tree
        cost = _path_cost(tree)
        if cost == 0:
            return
        budget = cost * (1 - 1e-9)


def _path_cost(tree: Tree) -> float:
    """Return the dearest path of a tree, delays left aside as in growing."""
    if not tree.prices.delayed.any():
        return tree.worst_cost
    at_once = np.zeros(tree.prices.n_tests, dtype=bool)
    spent = price_nodes(
        replace(tree.prices, delayed=at_once).engine,
        tree.test,
        tree.parent,
        tree.parent_code,
        tree.subtree_end,
    )
    return float(spent.max())
