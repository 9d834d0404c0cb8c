"""Grow a bootstrap forest as plainly as can be, and ask it about rows it has not seen.

The twin of the compiled forest; it calls nothing compiled.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from askless.testing._reference_keys import MASK, plain_key, plain_unit

__all__ = ["PlainForest"]

TIE = 1e-9


def _poisson(mean: float, key: int) -> int:
    n = 0
    while mean > 0:
        part = min(mean, 16.0)
        mean -= part
        key = plain_key(key, 0)
        left = plain_unit(key)
        chance, step = math.exp(-part), 0
        while left >= chance and step < 200:
            left -= chance
            step += 1
            chance *= part / step
        n += step
    return n


@dataclass
class PlainForest:
    """The forest of which each tree decides about rows that it has not seen.

    Parameters
    ----------
    codes : sequence of sequence of int
        A list of codes for each test.
    is_ordered : sequence of bool
        Whether the codes of a test are compared or matched.
    class_ids, weights : sequence
        Of each row.
    class_scale, min_leaf, n_tried, seed
        As the compiled forest has them.

    Examples
    --------
    >>> forest = PlainForest([[0, 0, 1, 1]], [True], [0, 0, 1, 1], [1, 1, 1, 1],
    ...                      [1.0, 1.0], 1, 1, seed=0)
    >>> [round(sum(row), 9) for row in forest.shares(8)]
    [1.0, 1.0, 1.0, 1.0]
    """

    codes: Sequence[Sequence[int]]
    is_ordered: Sequence[Any]
    class_ids: Sequence[int]
    weights: Sequence[float]
    class_scale: Sequence[float]
    min_leaf: float
    n_tried: int
    seed: int

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.class_scale)

    def shares(self, n_trees: int) -> list[list[float]]:
        """Return the shares of the classes of each row."""
        sums = [[0.0] * self.n_classes for _ in self.class_ids]
        votes = [0.0] * len(self.class_ids)
        for number in range(n_trees):
            key = plain_key(self.seed, number)
            drawn = [_poisson(w, plain_key(key, i)) for i, w in enumerate(self.weights)]
            tree = self._grow(drawn, key)
            for row, weight in enumerate(self.weights):
                outside = float(drawn[row] == 0)
                if drawn[row] and weight > 1:
                    outside = (1 - 1 / weight) ** drawn[row]
                if outside > 0:
                    said = self._walk(tree, row)
                    sums[row] = [
                        s + outside * p for s, p in zip(sums[row], said, strict=True)
                    ]
                    votes[row] += outside
        for row, vote in enumerate(votes):
            if vote > 0:
                sums[row] = [s / vote for s in sums[row]]
            else:
                sums[row][self.class_ids[row]] = 1.0
        return sums

    def _goes_left(self, test: int, code: int, row: int) -> bool:
        if self.is_ordered[test]:
            return self.codes[test][row] <= code
        return self.codes[test][row] == code

    def _walk(self, tree: dict[str, Any], row: int) -> list[float]:
        while "test" in tree:
            is_left = self._goes_left(tree["test"], tree["code"], row)
            tree = tree["left" if is_left else "right"]
        shares: list[float] = tree["shares"]
        return shares

    def _grow(self, drawn: list[int], key: int) -> dict[str, Any]:
        # Nodes are numbered as they are made, two at a time, the right one first done.
        root: dict[str, Any] = {}
        stack = [(root, 0, [row for row, n in enumerate(drawn) if n])]
        n_nodes = 1
        while stack:
            node, number, rows = stack.pop()
            counts = [0.0] * self.n_classes
            for row in rows:
                counts[self.class_ids[row]] += drawn[row]
            cut = self._find_cut(rows, drawn, counts, plain_key(key ^ MASK, number))
            if cut is None:
                total = sum(counts)
                node["shares"] = [
                    c / total if total else 1 / self.n_classes for c in counts
                ]
                continue
            node["test"], node["code"] = cut
            node["left"], node["right"] = {}, {}
            left = [row for row in rows if self._goes_left(*cut, row)]
            right = [row for row in rows if not self._goes_left(*cut, row)]
            stack.append((node["left"], n_nodes, left))
            stack.append((node["right"], n_nodes + 1, right))
            n_nodes += 2
        return root

    def _find_cut(
        self, rows: list[int], drawn: list[int], counts: list[float], key: int
    ) -> tuple[int, int] | None:
        total = sum(counts)
        if max(counts) == total or total < 2 * self.min_leaf:
            return None
        best = self._purity(counts) * (1 + TIE)
        chosen = None
        order = list(range(len(self.codes)))
        n_splitting = 0
        for i in range(len(order)):
            if n_splitting == self.n_tried:
                break
            key = plain_key(key, i)
            swap = i + int(plain_unit(key) * (len(order) - i))
            order[i], order[swap] = order[swap], order[i]
            test = order[i]
            present = list(dict.fromkeys(self.codes[test][row] for row in rows))
            n_splitting += len(present) > 1
            for code in sorted(present) if self.is_ordered[test] else present:
                left = [0.0] * self.n_classes
                for row in rows:
                    if self._goes_left(test, code, row):
                        left[self.class_ids[row]] += drawn[row]
                n_left = sum(left)
                if min(n_left, total - n_left) < self.min_leaf or n_left == total:
                    continue
                right = [c - in_left for c, in_left in zip(counts, left, strict=True)]
                score = self._purity(left) + self._purity(right)
                if score > best:
                    best, chosen = score * (1 + TIE), (test, code)
        return chosen

    def _purity(self, counts: list[float]) -> float:
        scaled = [c * s for c, s in zip(counts, self.class_scale, strict=True)]
        total = sum(scaled)
        return sum(c * c for c in scaled) / total if total > 0 else 0.0
