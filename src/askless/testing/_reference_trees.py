"""Grow learned trees as plainly as can be: the twin of the compiled growers.

Rows are lists, contexts are sets, every number is worked out where it is needed. It
follows the rules word by word, choice by choice, and must not import anything compiled.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from scipy.stats import beta

from askless.testing._reference_keys import plain_child_key, plain_key, plain_unit

__all__ = ["PlainGrower", "plain_errors", "plain_errors_c45", "plain_trial"]

GRAIN = 2.0**-36
TIE = 1e-9
# Confidence and deviation, as in the program of C4.5.
DEVIATIONS = [
    (0, 4), (0.001, 3.09), (0.005, 2.58), (0.01, 2.33), (0.05, 1.65), (0.1, 1.28),
    (0.2, 0.84), (0.4, 0.25), (1, 0),
]  # fmt: skip

Rows = list[int]
# Tests that were paid for, in order, and groups that are open.
Context = tuple[tuple[int, ...], frozenset[Any]]
NOTHING_PAID: Context = ((), frozenset())


def plain_errors(m: float, s: float, confidence: float) -> float:
    """Return the errors to expect of m rows of which s were wrong, exactly.

    Examples
    --------
    >>> round(plain_errors(100, 5, 0.25), 6)
    7.332684
    """
    if m <= 0:
        return 0.0
    if s >= m:
        return float(m)
    return float(m * beta.ppf(1 - confidence, s + 1, m - s))


def plain_errors_c45(m: float, s: float, confidence: float) -> float:
    """Return the errors to expect as the program of C4.5 does.

    Examples
    --------
    >>> round(plain_errors_c45(16, 1, 0.25), 4)
    2.5069
    """
    if m <= 0:
        return 0.0
    none = m * (1 - confidence ** (1 / m))
    if s < 1e-6:
        return float(none)
    if s < 0.9999:
        return float(none + s * (plain_errors_c45(m, 1, confidence) - none))
    if s + 0.5 >= m:
        return s + 0.67 * (m - s)
    for (low, z_low), (high, z_high) in pairwise(DEVIATIONS):
        if confidence <= high:
            z = z_low + (z_high - z_low) * (confidence - low) / (high - low)
            break
    c = z * z
    s += 0.5
    return float(m * (s + c / 2 + math.sqrt(c * (s * (1 - s / m) + c / 4))) / (m + c))


def bits_of(weights: Sequence[float]) -> float:
    """Return the entropy of a set times its weight."""
    total = sum(weights)
    return sum(w * math.log2(total / w) for w in weights if w > 0)


@dataclass
class Split:
    """A test, where it is cut, and what is to be said for it."""

    test: int
    cut: int
    gain: float
    spread: float
    mistakes: float
    price: float
    fits: bool
    score: float = 0.0


@dataclass
class PlainGrower:
    """The compiled ``Inducer``, plainly; see there for the options.

    Examples
    --------
    >>> from askless.problem import PriceList
    >>> grower = PlainGrower(
    ...     [[0, 0, 1, 1], [0, 1, 0, 1]], [2, 2], [False, False], [0, 1, 1, 0],
    ...     [2.0] * 4, [[0, 100], [100, 0]], PriceList.plain([1, 1]), criterion="eg2",
    ...     n_samples=1)
    >>> tree, value = grower.grow()
    >>> tree["test"], [leaf["test"] for leaf in tree["branches"].values()]
    (0, [1, 1])
    """

    codes: Sequence[Sequence[int]]
    n_levels: Sequence[int]
    is_ordered: Sequence[bool]
    classes: Sequence[int]
    weights: Sequence[float]
    mistakes: Sequence[Sequence[float]]
    prices: Any
    criterion: str = "eg2"
    w: float = 1.0
    least_part: float = 0.0
    with_penalty: bool = False
    needs_gain: bool = False
    value: str = "cost"
    confidence: float = 0.25
    prunes: bool = True
    n_samples: int = 0
    sample_value: str = "cost"
    greedy_first: bool = True
    prunes_samples: bool = False
    seed: int = 0
    sampling: bool = field(default=False, init=False)

    # What a node is worth.

    def totals(self, rows: Rows) -> list[float]:
        """Return the weight of each class."""
        totals = [0.0] * len(self.mistakes)
        for row in rows:
            totals[self.classes[row]] += self.weights[row]
        return totals

    def least_mistakes(self, totals: Sequence[float]) -> tuple[float, int]:
        """Return the cost of the best decision, and that decision."""
        costs = [
            sum(t * self.mistakes[k][c] for k, t in enumerate(totals))
            for c in range(len(totals))
        ]
        least = min(costs)
        return least, next(
            c for c, cost in enumerate(costs) if cost <= least * (1 + 1e-12)
        )

    def leaf(self, rows: Rows, value: str) -> float:
        """Return what a leaf of these rows is worth."""
        totals = self.totals(rows)
        m = sum(totals)
        if value == "leaves":
            return 1.0
        if value == "errors":
            return plain_errors_c45(m, m - max(totals), self.confidence)
        decision = self.least_mistakes(totals)[1]
        wrong = m - totals[decision]
        others = wrong + len(totals) - 1
        if others <= 0:
            return 0.0
        dear = sum(
            (total + 1) * self.mistakes[k][decision]
            for k, total in enumerate(totals)
            if k != decision
        )
        return plain_errors(m, wrong, self.confidence) * dear / others

    # What a test charges.

    def price(self, rows: Rows, test: int, due: float, context: Context) -> float:
        """Return what a test charges all rows of a node."""
        paid, is_open = context
        if test in paid:
            return 0.0
        by_outcome = self.prices.by_outcome.get(test)
        if by_outcome is not None:
            total = 0.0
            for row in rows:
                code = self.codes[test][row]
                known = code < len(by_outcome)
                each = by_outcome[code] if known else self.prices.full[test]
                total += self.weights[row] * each
            return total
        group = self.prices.group[test]
        is_cheap = group is not None and group in is_open
        each = self.prices.discounted[test] if is_cheap else self.prices.full[test]
        if due <= 0:
            due = sum(self.weights[row] for row in rows)
        return float(each * due)

    def buy(self, test: int, context: Context) -> Context:
        """Return the context after a test is bought."""
        paid, is_open = context
        if test in paid:
            return context
        group = self.prices.group[test]
        return (*paid, test), is_open if group is None else is_open | {group}

    def is_bought_together(self, test: int, due: float, context: Context) -> bool:
        """Return whether everything below the test is bought together with it."""
        return due <= 0 and self.prices.delayed[test] and test not in context[0]

    # How a test is scored.

    def parts(self, rows: Rows, test: int, cut: int) -> list[tuple[int, Rows]]:
        """Return the code and the rows of each branch."""
        found: dict[int, Rows] = {}
        for row in rows:
            code = self.codes[test][row]
            found.setdefault(int(code > cut) if cut >= 0 else code, []).append(row)
        return sorted(found.items())

    def score_split(
        self, rows: Rows, test: int, cut: int, penalty: float, price: float
    ) -> Split:
        """Score one split."""
        whole = self.totals(rows)
        weight = sum(whole)
        parts = [self.totals(part) for _, part in self.parts(rows, test, cut)]
        bits = bits_of(whole) - sum(map(bits_of, parts)) - penalty
        gain = round(bits / weight / GRAIN) * GRAIN
        sizes = [sum(part) for part in parts]
        large = sum(size >= self.part_limit for size in sizes)
        split = Split(
            test,
            cut,
            max(gain, 0.0),
            bits_of(sizes) / weight,
            sum(self.least_mistakes(part)[0] for part in parts),
            price,
            large == 2 if cut >= 0 else large >= 2,
        )
        split.score = self.score(split, weight)
        return split

    @property
    def part_limit(self) -> float:
        """The weight that two parts must have; any part will do for a sample."""
        return 0.0 if self.sampling else self.least_part

    def score(self, split: Split, weight: float) -> float:
        """Return how good a split is; larger is better."""
        price, gain = split.price / weight, split.gain
        if self.criterion == "gain":
            return gain
        if self.criterion == "gain-ratio":
            return gain / split.spread if split.spread > 0 else 0.0
        if self.criterion == "eg2":
            return float((2.0**gain - 1) / (price + 1) ** self.w)
        if self.criterion == "dtmc":
            return -(split.price + split.mistakes)
        if gain <= 0:
            return 0.0
        if price <= 0:
            return math.inf
        return gain / price if self.criterion == "idx" else gain * gain / price

    def cuts(self, rows: Rows, test: int, due: float, context: Context) -> list[Split]:
        """Return the cuts of a number that fit, the best first."""
        met = sorted({self.codes[test][row] for row in rows})
        penalty = math.log2(len(met) - 1) if self.with_penalty and met[1:] else 0.0
        price = self.price(rows, test, due, context)
        scored = [self.score_split(rows, test, cut, penalty, price) for cut in met[:-1]]
        fitting = [split for split in scored if split.fits]
        if self.criterion == "dtmc":
            return sorted(fitting, key=lambda s: s.mistakes)
        return sorted(fitting, key=lambda s: -s.gain)

    def is_constant(self, rows: Rows, test: int) -> bool:
        """Return whether all rows show one code."""
        return len({self.codes[test][row] for row in rows}) < 2

    def candidates(
        self,
        rows: Rows,
        active: list[int],
        most: int,
        due: float,
        context: Context,
    ) -> tuple[list[Split], list[int]]:
        """Return the splits of each test, a few cuts of a number, and who can split."""
        splits: list[Split] = []
        kept = []
        for test in active:
            if self.is_constant(rows, test):
                continue
            kept.append(test)
            if self.is_ordered[test]:
                splits += self.cuts(rows, test, due, context)[:most]
            else:
                price = self.price(rows, test, due, context)
                splits.append(self.score_split(rows, test, -1, 0.0, price))
        return splits, kept

    # How a test is chosen.

    def choose(
        self, rows: Rows, active: list[int], due: float, context: Context
    ) -> tuple[Split | None, list[int]]:
        """Return the best split by the criterion."""
        splits, kept = self.candidates(rows, active, 1, due, context)
        if not self.sampling:
            splits = [s for s in splits if s.fits]
        told = [s.gain for s in splits if s.gain > 0]
        if self.needs_gain and not self.sampling:
            splits = [s for s in splits if s.gain > 0]
        if self.criterion == "gain-ratio" and told:
            splits = [s for s in splits if s.gain >= sum(told) / len(told) - GRAIN]
        best: Split | None = None
        for split in splits:
            if best is None or _beats(split, best):
                best = split
        if best is not None and self.criterion == "dtmc":
            least = self.least_mistakes(self.totals(rows))[0]
            if best.price + best.mistakes >= least * (1 - TIE):
                best = None
        return best, kept

    def draw_split(
        self, rows: Rows, active: list[int], due: float, context: Context, key: int
    ) -> tuple[Split | None, list[int]]:
        """Return a split drawn with a chance that follows its score."""
        splits, kept = self.candidates(rows, active, 1, due, context)
        if not splits:
            return None, kept
        totals = self.totals(rows)
        if self.criterion == "gain":
            for split in splits:
                if split.gain >= bits_of(totals) / sum(totals) - GRAIN:
                    return split, kept
        whole = sum(split.score for split in splits)
        if whole <= 0:
            return splits[
                min(len(splits) - 1, int(plain_unit(key) * len(splits)))
            ], kept
        target, reached = plain_unit(key) * whole, 0.0
        for split in splits:
            reached += split.score
            if reached > target:
                return split, kept
        return splits[-1], kept

    # Samples.

    def price_sample(
        self,
        rows: Rows,
        active: list[int],
        key: int,
        due: float,
        context: Context,
        *,
        is_random: bool,
    ) -> tuple[float, Context]:
        """Return what a sampled tree costs, and what is paid for after it."""
        leaf = self.leaf(rows, self.sample_value)
        if len([t for t in self.totals(rows) if t > 0]) < 2:
            return leaf, context
        split, kept = (
            self.draw_split(rows, active, due, context, key)
            if is_random
            else self.choose(rows, active, due, context)
        )
        if split is None:
            return leaf, context
        total, below, inside = self.enter(rows, split, due, context)
        for j, (_, part) in enumerate(self.parts(rows, split.test, split.cut)):
            cost, after = self.price_sample(
                part, kept, plain_child_key(key, split.test, split.cut, j), below,
                inside, is_random=is_random,
            )  # fmt: skip
            total += cost
            inside = after if below > 0 else inside
        if self.prunes_samples and total >= leaf:
            return leaf, context
        return total, inside if due > 0 else context

    def enter(
        self, rows: Rows, split: Split, due: float, context: Context
    ) -> tuple[float, float, Context]:
        """Return the price of a split, what is due below it, and what is paid there."""
        total = split.price if self.sample_value == "cost" else 0.0
        below = due
        if self.is_bought_together(split.test, due, context):
            below = sum(self.totals(rows))
        return total, below, self.buy(split.test, context)

    def price_split(
        self,
        rows: Rows,
        active: list[int],
        key: int,
        due: float,
        context: Context,
        split: Split,
    ) -> float:
        """Return what a split costs with the best samples after it."""
        total, below, inside = self.enter(rows, split, due, context)
        for j, (_, part) in enumerate(self.parts(rows, split.test, split.cut)):
            branch_key = plain_child_key(key, split.test, split.cut, j)
            samples = [
                self.price_sample(
                    part, active, plain_key(branch_key, s), below, inside,
                    is_random=s > 0 or not self.greedy_first,
                )
                for s in range(1 if split.cut >= 0 else self.n_samples)
            ]  # fmt: skip
            best, after = min(samples, key=lambda sample: sample[0])
            total += best
            inside = after if below > 0 else inside
        return total

    def price_tests(self) -> list[tuple[int, int, float]]:
        """Return (test, cut, total) of every candidate for the root."""
        rows = list(range(len(self.classes)))
        active = list(range(len(self.codes)))
        splits, kept = self.candidates(rows, active, self.n_samples, 0.0, NOTHING_PAID)
        key = plain_key(self.seed, 0)
        self.sampling = True
        totals = [
            self.price_split(rows, kept, key, 0.0, NOTHING_PAID, s) for s in splits
        ]
        self.sampling = False
        return [(s.test, s.cut, t) for s, t in zip(splits, totals, strict=True)]

    def look_ahead(
        self, rows: Rows, active: list[int], key: int, due: float, context: Context
    ) -> tuple[Split | None, list[int]]:
        """Return the split whose samples cost least."""
        splits, kept = self.candidates(rows, active, self.n_samples, due, context)
        if not splits:
            return None, kept
        self.sampling = True
        totals = [self.price_split(rows, kept, key, due, context, s) for s in splits]
        self.sampling = False
        least = min(totals)
        best = next(i for i, t in enumerate(totals) if t <= least * (1 + TIE))
        return splits[best], kept

    # The tree that is kept.

    def grow(self) -> tuple[dict[str, Any], float]:
        """Return the tree as nested mappings, and what it is worth."""
        rows = list(range(len(self.classes)))
        active = list(range(len(self.codes)))
        tree, value, _ = self.grow_node(
            rows, active, plain_key(self.seed, 0), 0.0, NOTHING_PAID
        )
        return tree, value

    def grow_node(
        self, rows: Rows, active: list[int], key: int, due: float, context: Context
    ) -> tuple[dict[str, Any], float, Context]:
        """Return a subtree, what it is worth, and what is paid for after it."""
        totals = self.totals(rows)
        leaf = self.leaf(rows, self.value)
        as_leaf = {"test": -1, "cut": -1, "branches": {}, "weights": totals}
        if len([t for t in totals if t > 0]) < 2:
            return as_leaf, leaf, context
        split, kept = (
            self.look_ahead(rows, active, key, due, context)
            if self.n_samples
            else self.choose(rows, active, due, context)
        )
        if split is None:
            return as_leaf, leaf, context
        value = split.price if self.value == "cost" else 0.0
        below = due
        if self.is_bought_together(split.test, due, context):
            below = sum(totals)
        inside = self.buy(split.test, context)
        branches = {}
        for j, (code, part) in enumerate(self.parts(rows, split.test, split.cut)):
            branches[code], worth, after = self.grow_node(
                part,
                kept,
                plain_child_key(key, split.test, split.cut, j),
                below,
                inside,
            )
            value += worth
            inside = after if below > 0 else inside
        slack = 0.1 if self.value == "errors" else 1e-12 * value
        if self.prunes and leaf <= value + slack:
            return as_leaf, leaf, context
        tree = {
            "test": split.test,
            "cut": split.cut,
            "branches": branches,
            "weights": totals,
        }
        return tree, value, inside if due > 0 else context


def _beats(split: Split, best: Split) -> bool:
    if split.score == math.inf and best.score == math.inf:
        return split.gain > best.gain
    return split.score > best.score * (1 + math.copysign(TIE, best.score))


def plain_trial(
    grower: PlainGrower, invented: Sequence[float], is_train: Sequence[bool]
) -> float:
    """Return what a tree grown by invented prices truly costs the rows held out.

    Parameters
    ----------
    grower : PlainGrower
        The examples, at their true prices, and how to grow.
    invented : sequence of float
        Prices to grow by.
    is_train : sequence of bool
        The rows to grow on; if they are all or none, all rows are in both sets.

    Examples
    --------
    >>> from askless.problem import PriceList
    >>> grower = PlainGrower(
    ...     [[0, 1] * 4], [2], [False], [0, 1] * 4, [1.0] * 8, [[0, 9], [9, 0]],
    ...     PriceList.plain([3]), value="errors")
    >>> plain_trial(grower, [1.0], [True] * 4 + [False] * 4)
    3.0
    """
    train = [row for row, is_in in enumerate(is_train) if is_in]
    held = [row for row, is_in in enumerate(is_train) if not is_in]
    if not train or not held:
        train = held = list(range(len(is_train)))
    prices = grower.prices
    grower.prices = type(prices).plain(invented)
    tree, _, _ = grower.grow_node(
        train,
        list(range(len(grower.codes))),
        plain_key(grower.seed, 0),
        0.0,
        NOTHING_PAID,
    )
    grower.prices = prices
    weight = sum(grower.weights[row] for row in held)
    return sum(_row_cost(grower, tree, train, row) for row in held) / weight


def _row_cost(
    grower: PlainGrower, tree: dict[str, Any], train: Rows, row: int
) -> float:
    """Return what a row pays for tests and mistakes, times its weight."""
    node, context, total = tree, NOTHING_PAID, 0.0
    is_ordered = False
    while node["test"] >= 0:
        test, code = node["test"], grower.codes[node["test"]][row]
        if is_ordered:
            pass  # paid in advance
        elif grower.is_bought_together(test, 0.0, context):
            is_ordered = True
            for below in walk_nodes(node):
                if below["test"] >= 0:
                    total += grower.price([row], below["test"], 0.0, context)
                    context = grower.buy(below["test"], context)
        else:
            total += grower.price([row], test, 0.0, context)
            context = grower.buy(test, context)
        parts = dict(grower.parts(train, test, node["cut"]))
        is_missing = code >= grower.n_levels[test]
        if node["cut"] >= 0:
            met_missing = any(
                grower.codes[test][r] == grower.n_levels[test] for r in train
            )
            code = int(code > node["cut"]) if met_missing or not is_missing else -1
        if code not in parts:
            # Where the most weight of rows went.
            code = max(parts, key=lambda c: sum(grower.weights[r] for r in parts[c]))
        node, train = node["branches"][code], parts[code]
    decision = grower.least_mistakes(node["weights"])[1]
    wrong = grower.mistakes[grower.classes[row]][decision]
    return total + grower.weights[row] * wrong


def walk_nodes(tree: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the nodes of a nested tree in preorder."""
    yield tree
    for child in tree["branches"].values():
        yield from walk_nodes(child)
