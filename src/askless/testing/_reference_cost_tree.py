"""Grow the tree of least total cost as plainly as can be.

The twin of the forest that smooths classes and of the look-ahead that prices splits; it
calls nothing compiled. Rows are numbers, a row has a weight for every class, and sets
of rows are lists.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from askless.testing._reference_costs import Prices

__all__ = ["PlainCostTree", "PlainForest", "plain_key", "plain_unit"]

MASK = (1 << 64) - 1
TIE = 1e-9


def plain_key(key: int, value: int) -> int:
    """Return the key of a step from a key.

    Examples
    --------
    >>> plain_key(0, 0) == plain_key(0, 1)
    False
    """
    z = (key + (value + 1) * 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def plain_unit(key: int) -> float:
    """Return the number of a key in [0, 1[.

    Examples
    --------
    >>> 0 <= plain_unit(5) < 1
    True
    """
    return (plain_key(key, 0) >> 11) / 9007199254740992.0


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
    """The forest of which each tree speaks of rows that it has not seen.

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
        n_parting = 0
        for i in range(len(order)):
            if n_parting == self.n_tried:
                break
            key = plain_key(key, i)
            swap = i + int(plain_unit(key) * (len(order) - i))
            order[i], order[swap] = order[swap], order[i]
            test = order[i]
            present = list(dict.fromkeys(self.codes[test][row] for row in rows))
            n_parting += len(present) > 1
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


@dataclass
class _Purse:
    """What the rows of a node have paid for, and the weight of what ordered it."""

    paid: set[int] = field(default_factory=set)
    order: float = 0.0

    def copy(self) -> _Purse:
        return _Purse(set(self.paid), self.order)


@dataclass
class PlainCostTree:
    """The look-ahead, split by split.

    Parameters
    ----------
    codes : sequence of sequence of int
        A list of codes for each test.
    n_levels, is_ordered : sequence
        Of each test.
    class_weights : sequence of sequence of float
        The weight of each class in each row.
    mistakes : sequence of sequence of float
        ``mistakes[true][decision]``.
    leaf_cost, exponent : float
        What a leaf costs beside its mistakes, and how EG2 shuns dear tests.
    prices : PriceList
        What tests charge.
    n_cuts : int
        How many cuts of a number are looked ahead from.
    seed : int
        Source of the random numbers.

    Examples
    --------
    >>> from askless.problem import PriceList
    >>> tree = PlainCostTree([[0, 1]], [2], [False], [[4, 0], [0, 4]],
    ...                      [[0, 1], [1, 0]], 0.0, 1.0, PriceList.plain([0.25]))
    >>> tree.grow("rollout")
    ({'test': 0, 'cut': -1, 'branches': {0: {}, 1: {}}}, 2.0)
    """

    codes: Sequence[Sequence[int]]
    n_levels: Sequence[int]
    is_ordered: Sequence[Any]
    class_weights: Sequence[Sequence[float]]
    mistakes: Sequence[Sequence[float]]
    leaf_cost: float
    exponent: float
    prices: Prices
    n_cuts: int = 2
    seed: int = 0

    def grow(self, criterion: str, n_samples: int = 0) -> tuple[dict[str, Any], float]:
        """Return a tree and its cost: "eg2", "dtmc", "two-step" or "rollout"."""
        every = list(range(len(self.class_weights)))
        tree = self._grow(every, _Purse(), criterion, n_samples, self.seed)
        cost = self._prune(tree, every, _Purse())
        return _strip(tree), cost

    # Costs.

    def _weights(self, rows: list[int]) -> list[float]:
        classes = range(len(self.mistakes))
        return [sum(self.class_weights[row][k] for row in rows) for k in classes]

    def _leaf(self, rows: list[int]) -> float:
        weights = self._weights(rows)
        classes = range(len(weights))
        return self.leaf_cost + min(
            sum(weights[true] * self.mistakes[true][decision] for true in classes)
            for decision in classes
        )

    def _price(self, purse: _Purse, test: int, code: int | None) -> float:
        if test in purse.paid:
            return 0.0
        by_outcome = self.prices.by_outcome.get(test, ())
        if code is not None and code < len(by_outcome):
            return float(by_outcome[code])
        group = self.prices.group[test]
        if group is not None and any(
            self.prices.group[other] == group for other in purse.paid
        ):
            return float(self.prices.discounted[test])
        return float(self.prices.full[test])

    def _charge(self, rows: list[int], purse: _Purse, test: int) -> float:
        if purse.order > 0:
            return self._price(purse, test, None) * purse.order
        return sum(
            sum(self.class_weights[row])
            * self._price(purse, test, self.codes[test][row])
            for row in rows
        )

    def _pay(self, purse: _Purse, test: int, rows: list[int]) -> None:
        is_new = test not in purse.paid
        if is_new and self.prices.delayed[test] and purse.order == 0:
            purse.order = sum(self._weights(rows))
        purse.paid.add(test)

    # Splits.

    def _parts(
        self, rows: list[int], test: int, cut: int, missing_right: bool
    ) -> dict[int, list[int]]:
        parts: dict[int, list[int]] = {}
        for row in rows:
            code = self.codes[test][row]
            if cut >= 0:
                is_missing = code == self.n_levels[test]
                code = int(missing_right if is_missing else code > cut)
            parts.setdefault(code, []).append(row)
        return dict(sorted(parts.items()))

    def _splits(self, rows: list[int], test: int) -> list[tuple[int, bool]]:
        """Return the splits of a test: (cut, where missing numbers go)."""
        present = sorted({self.codes[test][row] for row in rows})
        if len(present) < 2:
            return []
        if not self.is_ordered[test]:
            return [(-1, False)]
        missing = self.n_levels[test]
        known = [row for row in rows if self.codes[test][row] < missing]
        splits = []
        for code in present[:-1]:
            low = [row for row in known if self.codes[test][row] <= code]
            left = sum(self._weights(low))
            right = sum(self._weights(known)) - left
            if len(low) == len(known):
                splits.append((missing - 1, True))
            else:
                splits.append((code, right > left))
        return splits

    def _gain(self, rows: list[int], parts: dict[int, list[int]]) -> float:
        """Return the information that a split brings, times the weight."""

        def disorder(some: list[int]) -> float:
            weights = self._weights(some)
            bits = _xlog2(sum(weights))
            return bits - sum(_xlog2(w) for w in weights)

        return disorder(rows) - sum(disorder(part) for part in parts.values())

    def _pick(
        self, rows: list[int], purse: _Purse, criterion: str, key: int
    ) -> tuple[int, int, bool, float] | None:
        """Return what a criterion takes: test, cut, missing right, one-step cost.

        None if no split can pay.
        """
        leaf = self._leaf(rows)
        weight = sum(self._weights(rows))
        best: tuple[int, int, bool, float] | None = None
        best_value = -leaf * (1 - TIE) if criterion == "dtmc" else -math.inf
        drawn: list[tuple[float, tuple[int, int, bool, float]]] = []
        for test in range(len(self.codes)):
            charge = self._charge(rows, purse, test)
            if not charge + 2 * self.leaf_cost < leaf:
                continue
            of_test: tuple[int, int, bool, float] | None = None
            value = -math.inf
            slack = TIE * (leaf if criterion == "dtmc" else weight)
            for cut, missing_right in self._splits(rows, test):
                parts = self._parts(rows, test, cut, missing_right)
                after = sum(self._leaf(part) for part in parts.values())
                worth = -after if criterion == "dtmc" else self._gain(rows, parts)
                if worth > value + slack:
                    value = worth
                    of_test = (test, cut, missing_right, charge + after)
            if of_test is None:
                continue
            if criterion == "dtmc":
                value -= charge
            else:
                gain = max(value / weight, 1e-12)
                value = (2**gain - 1) / (charge / weight + 1) ** self.exponent
            if criterion == "seg2":
                drawn.append((value, of_test))
            elif value > best_value + TIE * (
                0 if math.isinf(best_value) else abs(best_value)
            ):
                best, best_value = of_test, value
        if criterion == "seg2" and drawn:
            left = plain_unit(key) * sum(value for value, _ in drawn)
            for value, of_test in drawn:
                best = of_test
                left -= value
                if left < 0:
                    break
        return best

    # Growing, pricing and forgetting.

    def _price_set(
        self, rows: list[int], purse: _Purse, criterion: str, key: int
    ) -> tuple[float, set[int]]:
        """Return what a pruned subtree costs, and what is paid for afterwards."""
        leaf = self._leaf(rows)
        split = (
            self._pick(rows, purse, criterion, key)
            if 2 * self.leaf_cost < leaf
            else None
        )
        if split is None:
            return leaf, set(purse.paid)
        test, cut, missing_right, _ = split
        total = self._charge(rows, purse, test)
        below = purse.copy()
        self._pay(below, test, rows)
        for at, part in enumerate(self._parts(rows, test, cut, missing_right).values()):
            cost, paid = self._price_set(part, below, criterion, plain_key(key, at))
            total += cost
            if below.order > 0:
                below.paid = paid
        if total >= leaf * (1 - TIE):
            return leaf, set(purse.paid)
        return total, below.paid if purse.order > 0 else set(purse.paid)

    def _look_ahead(
        self, rows: list[int], purse: _Purse, criterion: str, n_samples: int, key: int
    ) -> tuple[int, int, bool] | None:
        leaf = self._leaf(rows)
        found: list[tuple[float, tuple[int, int, bool]]] = []
        for test in range(len(self.codes)):
            charge = self._charge(rows, purse, test)
            if not charge + 2 * self.leaf_cost < leaf:
                continue
            splits = self._splits(rows, test)
            if criterion == "rollout" and len(splits) > self.n_cuts:
                splits = self._best_cuts(rows, test, splits)
            for cut, missing_right in splits:
                below = purse.copy()
                self._pay(below, test, rows)
                parts = self._parts(rows, test, cut, missing_right)
                own = plain_key(plain_key(key, test), cut + 1)
                cost = charge + self._price_parts(
                    list(parts.values()), below, criterion, n_samples, own
                )
                found.append((cost, (test, cut, missing_right)))
        least = min((cost for cost, _ in found), default=math.inf)
        if not least < leaf * (1 - TIE):
            return None
        return next(split for cost, split in found if cost <= least * (1 + TIE))

    def _best_cuts(
        self, rows: list[int], test: int, splits: list[tuple[int, bool]]
    ) -> list[tuple[int, bool]]:
        """Return the cuts of most gain, by code; of equal ones the first."""
        slack = TIE * sum(self._weights(rows))
        kept: list[tuple[float, tuple[int, bool]]] = []
        for split in splits:
            gain = self._gain(rows, self._parts(rows, test, *split))
            if len(kept) < self.n_cuts:
                kept.append((gain, split))
                continue
            least = min(g for g, _ in kept)
            worst = max(i for i, (g, _) in enumerate(kept) if g <= least + slack)
            if gain > kept[worst][0] + slack:
                del kept[worst]
                kept.append((gain, split))
        return [split for _, split in kept]

    def _price_parts(
        self,
        parts: list[list[int]],
        purse: _Purse,
        criterion: str,
        n_samples: int,
        key: int,
    ) -> float:
        if criterion == "two-step":
            total = 0.0
            for part in parts:
                leaf = self._leaf(part)
                split = None
                if 2 * self.leaf_cost < leaf:
                    split = self._pick(part, purse, "dtmc", 0)
                total += leaf if split is None else min(leaf, split[3])
            return total
        criteria = ["eg2", "dtmc"] + ["seg2"] * n_samples
        keys = [plain_key(key, at) for at in range(len(parts))]
        if purse.order == 0:
            return sum(
                min(
                    self._price_set(part, purse, name, plain_key(own, sample))[0]
                    for sample, name in enumerate(criteria)
                )
                for part, own in zip(parts, keys, strict=True)
            )
        totals = [sum(self._leaf(part) for part in parts)]
        for sample, name in enumerate(criteria):
            below, total = purse.copy(), 0.0
            for part, own in zip(parts, keys, strict=True):
                cost, below.paid = self._price_set(
                    part, below, name, plain_key(own, sample)
                )
                total += cost
            totals.append(total)
        return min(totals)

    # The tree itself.

    def _grow(
        self, rows: list[int], purse: _Purse, criterion: str, n_samples: int, key: int
    ) -> dict[str, Any]:
        node: dict[str, Any] = {"rows": rows}
        if criterion in ("eg2", "dtmc"):
            picked = self._pick(rows, purse, criterion, key)
            split = None if picked is None else picked[:3]
        else:
            split = self._look_ahead(rows, purse, criterion, n_samples, key)
        if split is None:
            return node
        test, cut, missing_right = split
        # Below a delayed test the purse is one for all; elsewhere each has its own.
        below = purse if purse.order > 0 else purse.copy()
        self._pay(below, test, rows)
        node |= {"test": test, "cut": cut, "branches": {}}
        key = plain_key(plain_key(key, test), cut + 1)
        parts = self._parts(rows, test, cut, missing_right)
        for at, (code, part) in enumerate(parts.items()):
            own = below if below.order > 0 else below.copy()
            node["branches"][code] = self._grow(
                part, own, criterion, n_samples, plain_key(key, at)
            )
        return node

    def _prune(self, node: dict[str, Any], rows: list[int], purse: _Purse) -> float:
        """Prune from the bottom up, and return what is left costs."""
        leaf = self._leaf(rows)
        if "test" not in node:
            return leaf
        test = node["test"]
        below = purse.copy()
        self._pay(below, test, rows)
        if below.order > 0:
            cost = self._prune_order(node, purse)
        else:
            cost = self._charge(rows, purse, test) + sum(
                self._prune(child, child["rows"], below)
                for child in node["branches"].values()
            )
        if leaf <= cost * (1 + TIE):
            _close(node)
            return leaf
        return cost

    def _prune_order(self, root: dict[str, Any], purse: _Purse) -> float:
        cost = self._bill(root, purse)
        for node in reversed(_preorder(root)[1:]):
            if "test" not in node:
                continue
            kept = dict(node)
            _close(node)
            pruned = self._bill(root, purse)
            if pruned <= cost * (1 + TIE):
                cost = pruned
            else:
                node.update(kept)
        return cost

    def _bill(self, root: dict[str, Any], purse: _Purse) -> float:
        below = purse.copy()
        below.order = sum(self._weights(root["rows"]))
        cost = 0.0
        for node in _preorder(root):
            if "test" in node:
                cost += self._charge(node["rows"], below, node["test"])
                below.paid.add(node["test"])
            else:
                cost += self._leaf(node["rows"])
        return cost


def _xlog2(x: float) -> float:
    return x * math.log2(x) if x > 0 else 0.0


def _preorder(node: dict[str, Any]) -> list[dict[str, Any]]:
    nodes = [node]
    for child in node.get("branches", {}).values():
        nodes += _preorder(child)
    return nodes


def _close(node: dict[str, Any]) -> None:
    for name in ("test", "cut", "branches"):
        node.pop(name, None)


def _strip(node: dict[str, Any]) -> dict[str, Any]:
    """Return the tree without its rows."""
    if "test" not in node:
        return {}
    branches = {code: _strip(child) for code, child in node["branches"].items()}
    return {"test": node["test"], "cut": node["cut"], "branches": branches}
