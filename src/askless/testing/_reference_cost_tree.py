"""Grow the tree of least total cost as plainly as can be.

The twin of the look-ahead that prices splits; it calls nothing compiled. Rows are
numbers, a row has a weight for every class, and sets of rows are lists.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from askless.testing._reference_costs import Prices
from askless.testing._reference_keys import plain_key, plain_unit

__all__ = ["PlainCostTree"]

TIE = 1e-9


@dataclass
class _Purse:
    """What the rows of a node have paid for, and the weight of a delayed test above."""

    paid: set[int] = field(default_factory=set)
    due: float = 0.0

    def copy(self) -> _Purse:
        return _Purse(set(self.paid), self.due)


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
        if purse.due > 0:
            return self._price(purse, test, None) * purse.due
        return sum(
            sum(self.class_weights[row])
            * self._price(purse, test, self.codes[test][row])
            for row in rows
        )

    def _pay(self, purse: _Purse, test: int, rows: list[int]) -> None:
        is_new = test not in purse.paid
        if is_new and self.prices.delayed[test] and purse.due == 0:
            purse.due = sum(self._weights(rows))
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
            if below.due > 0:
                below.paid = paid
        if total >= leaf * (1 - TIE):
            return leaf, set(purse.paid)
        return total, below.paid if purse.due > 0 else set(purse.paid)

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
        if purse.due == 0:
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
        below = purse if purse.due > 0 else purse.copy()
        self._pay(below, test, rows)
        node |= {"test": test, "cut": cut, "branches": {}}
        key = plain_key(plain_key(key, test), cut + 1)
        parts = self._parts(rows, test, cut, missing_right)
        for at, (code, part) in enumerate(parts.items()):
            own = below if below.due > 0 else below.copy()
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
        if below.due > 0:
            cost = self._prune_together(node, purse)
        else:
            cost = self._charge(rows, purse, test) + sum(
                self._prune(child, child["rows"], below)
                for child in node["branches"].values()
            )
        if leaf <= cost * (1 + TIE):
            _close(node)
            return leaf
        return cost

    def _prune_together(self, root: dict[str, Any], purse: _Purse) -> float:
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
        below.due = sum(self._weights(root["rows"]))
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
