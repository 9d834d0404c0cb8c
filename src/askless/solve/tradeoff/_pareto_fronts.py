"""Trade-offs of wrong weight against cost that the prunings of a subtree offer.

This module must not know trees: a front is a list of points, and how each came about.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["Front"]

# Points that a front keeps; beyond, evenly spaced ones.
MOST_POINTS = 512
# Wrong weights are compared as multiples of this share of the total.
GRAIN = 1e-12

Ints = NDArray[np.int64]
Reals = NDArray[np.float64]


class Front:
    """Points of rising wrong weight and falling cost, none beaten by another.

    A point says how it came about: by stopping (no parts), or by one point of each
    child (their positions).

    Examples
    --------
    Two children that may each save 1 of cost for 1 more wrong:

    >>> child = Front.of_leaf(1.0, 0.0, 9.0).with_point(0.0, 1.0, 0, 9.0)
    >>> both = Front.of_leaf(3.0, 0.0, 9.0).with_sums([child, child], 9.0).thinned(9.0)
    >>> both.wrong, both.cost
    (array([0., 1., 2.]), array([2., 1., 0.]))
    >>> both.choices(0), both.choices(1)
    ([1, 1], [0, 1])
    """

    def __init__(self, wrong: Reals, cost: Reals, parts: Ints) -> None:
        self.wrong = wrong
        self.cost = cost
        # (n_points, n_parts); a row of -1 stands for stopping.
        self.parts = parts

    def __len__(self) -> int:
        return len(self.wrong)

    @classmethod
    def of_leaf(cls, wrong: float, cost: float, limit: float) -> Front:
        """Return the front of a leaf: a point, or none beyond the limit."""
        n = int(wrong <= limit)
        return cls(np.full(n, wrong), np.full(n, cost), np.full((n, 1), -1, np.int64))

    def with_point(self, wrong: float, cost: float, part: int, limit: float) -> Front:
        """Return the front with one more point, unless that is beyond the limit."""
        if wrong > limit:
            return self
        return Front(
            np.append(self.wrong, wrong),
            np.append(self.cost, cost),
            np.append(self.parts, [[part]], axis=0),
        )

    def with_sums(self, children: Sequence[Front], limit: float) -> Front:
        """Return the front with a point for each choice of a point of every child."""
        total = children[0]
        total = Front(total.wrong, total.cost, np.arange(len(total))[:, None])
        for child in children[1:]:
            total = total._add(child, limit)
        stops = np.full((len(self), len(children)), -1, dtype=np.int64)
        return Front(
            np.append(self.wrong, total.wrong),
            np.append(self.cost, total.cost),
            np.append(stops, total.parts, axis=0),
        )

    def _add(self, child: Front, limit: float) -> Front:
        wrong = (self.wrong[:, None] + child.wrong).ravel()
        cost = (self.cost[:, None] + child.cost).ravel()
        within = np.flatnonzero(wrong <= limit)
        wrong, cost = wrong[within], cost[within]
        mine, theirs = np.divmod(within, max(len(child), 1))
        parts = np.column_stack([self.parts[mine], theirs])
        # The limit stands in for the total: only the grain of comparison depends on it.
        return Front(wrong, cost, parts).thinned(limit)

    def thinned(self, total: float) -> Front:
        """Return the front without the points that others beat, and not too many."""
        if len(self) <= 1:
            return self
        # Sums of the same weights in another order must be the same.
        key = np.rint(self.wrong / (GRAIN * total)) if total > 0 else self.wrong
        order = np.lexsort((self.cost, key))
        cost = self.cost[order]
        before = np.append(np.inf, np.minimum.accumulate(cost)[:-1])
        # The first point is the least wrong one; a later one must be cheaper.
        order = order[cost < before]
        if len(order) > MOST_POINTS:
            chosen = np.linspace(0, len(order) - 1, MOST_POINTS).round().astype(int)
            order = order[chosen]
        return Front(self.wrong[order], self.cost[order], self.parts[order])

    def choices(self, point: int) -> list[int] | None:
        """Return the points of the children that a point adds up; None if it stops."""
        parts: list[int] = self.parts[point].tolist()
        return None if parts[0] < 0 else parts
