"""Grow a tree that charges rows, and derive the log loss, as plainly as can be.

The twin of the compiled booster, to check it: each leaf is worked out from its rows,
and nothing compiled is called.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from askless.testing._reference_keys import plain_key

__all__ = [
    "PlainBoostColumn",
    "PlainBoostSplit",
    "PlainBoostTree",
    "plain_charged_tree",
    "plain_charges",
    "plain_derivatives",
    "plain_drawn_columns",
    "plain_log_loss",
]

# What a split must gain beyond its charge, and what a leaf must have of second
# derivatives.
LEAST_GAIN, LEAST_SECOND = 1e-9, 1e-3
# With more levels, a category shrinks the leaves that it is judged by.
FEW_LEVELS, CATEGORY_L2 = 4, 10.0
TINY = 1e-12
# Splits that are worth the same but for rounding.
TIE = 1e-9

Rows = list[int]


@dataclass(frozen=True)
class PlainBoostColumn:
    """A column by its codes: its levels, then "missing", then "unknown".

    Attributes
    ----------
    codes : sequence of int
        The code of each row.
    n_levels : int
    is_category : bool
        Whether its levels have no order.
    price : float
        What a row is charged that buys it.
    may_ask : bool
        Whether the tree may ask for it.

    Examples
    --------
    >>> PlainBoostColumn([0, 1, 2], n_levels=2, is_category=False, price=3.0).may_ask
    True
    """

    codes: Sequence[int]
    n_levels: int
    is_category: bool
    price: float
    may_ask: bool = True


@dataclass(frozen=True)
class PlainBoostSplit:
    """A split of a leaf.

    Attributes
    ----------
    node : int
        The leaf; the root is 0, and both sides of a split get the next two numbers.
    column : int
    goes_left : frozenset of int
        The codes that go left.
    gain : float
        How much it lowers the loss, times two.
    charge : float
        What the rows pay for it.

    Examples
    --------
    >>> PlainBoostSplit(0, 2, frozenset({0, 1}), gain=5.0, charge=1.5).net
    3.5
    """

    node: int
    column: int
    goes_left: frozenset[int]
    gain: float = 0.0
    charge: float = 0.0

    @property
    def net(self) -> float:
        """What it gains beyond its charge."""
        return self.gain - self.charge

    @property
    def place(self) -> tuple[int, int, frozenset[int]]:
        """What is split, and how."""
        return self.node, self.column, self.goes_left


@dataclass(frozen=True)
class PlainBoostTree:
    """A tree as its rows see it.

    Attributes
    ----------
    splits : list of PlainBoostSplit
        In the order in which they were made.
    values : list of list of float
        What it says of each row, in each output.
    bought : list of list of bool
        Which columns each row has bought once it has walked the tree.

    Examples
    --------
    >>> PlainBoostTree([], [[0.5]], [[False]]).net_gain
    0.0
    """

    splits: list[PlainBoostSplit]
    values: list[list[float]]
    bought: list[list[bool]]

    @property
    def net_gain(self) -> float:
        """What all splits gain beyond what they charge."""
        return float(sum(split.net for split in self.splits))


def plain_charged_tree(
    columns: Sequence[PlainBoostColumn],
    derivatives: Sequence[Sequence[float]],
    charged: Sequence[float],
    bought: Sequence[Sequence[bool]],
    rows: Sequence[int],
    *,
    n_leaves: int,
    l2: float = 0.0,
    least_rows: int = 1,
    n_drawn: int = 0,
    seed: int = 0,
    like: Sequence[PlainBoostSplit] = (),
) -> PlainBoostTree:
    """Grow a tree, best split first, each charged to the rows that have not bought.

    Parameters
    ----------
    columns : sequence of PlainBoostColumn
        What can be asked.
    derivatives : sequence of sequence of float
        First and then second derivatives of each row by each output.
    charged : sequence of float
        What each row counts when it is charged.
    bought : sequence of sequence of bool
        Which columns each row has bought before.
    rows : sequence of int
        The rows to grow on; the others only walk the tree.
    n_leaves, l2, least_rows
        Leaves, at most; what shrinks them; rows of a leaf, at least.
    n_drawn, seed : int
        See :func:`plain_drawn_columns`.
    like : sequence of PlainBoostSplit, optional
        The splits of another tree, which are made where none is better.

    Examples
    --------
    The first column tells all, and each of the four rows is charged for it; a second
    tree could ask for it again at no charge:

    >>> dear = PlainBoostColumn([0, 0, 1, 1], n_levels=2, is_category=False, price=0.5)
    >>> poor = PlainBoostColumn([0, 1, 1, 1], n_levels=2, is_category=False, price=0.0)
    >>> derivatives = [(-1, 1), (-1, 1), (1, 1), (1, 1)]
    >>> tree = plain_charged_tree(
    ...     [dear, poor], derivatives, [1] * 4, [[False] * 2] * 4, range(4), n_leaves=2)
    >>> [(split.column, split.charge) for split in tree.splits]
    [(0, 2.0)]
    >>> [round(value, 6) for value, in tree.values], round(tree.net_gain, 6)
    ([1.0, 1.0, -1.0, -1.0], 2.0)
    >>> tree.bought[0]
    [True, False]
    """
    grower = _Grower(columns, derivatives, charged, bought, l2, least_rows)
    grower.n_drawn, grower.seed = n_drawn, seed
    every = list(range(len(derivatives)))
    # By their numbers, which rise, so that the first of equal leaves is met first.
    leaves = {0: grower.open(0, list(rows), every)}
    splits: list[PlainBoostSplit] = []
    while len(leaves) < n_leaves:
        options = [split for leaf in leaves.values() for split in leaf.options]
        split = _choose(options, like[len(splits) : len(splits) + 1])
        if split is None:
            break
        leaf = leaves.pop(split.node)
        grower.buy(leaf.walkers, split.column)
        grown = grower.part(leaf.rows, split.column, split.goes_left)
        walked = grower.part(leaf.walkers, split.column, split.goes_left)
        for side in (0, 1):
            node = 2 * len(splits) + 1 + side
            leaves[node] = grower.open(node, grown[side], walked[side])
        splits.append(split)
    values: list[list[float]] = [[] for _ in every]
    for leaf in leaves.values():
        told = grower.leaf_values(leaf.rows)
        for row in leaf.walkers:
            values[row] = told
    return PlainBoostTree(splits, values, grower.bought)


def plain_drawn_columns(
    may_ask: Sequence[int], n_drawn: int, seed: int, node: int
) -> list[int]:
    """Return the columns that the split of a leaf may ask for.

    Parameters
    ----------
    may_ask : sequence of int
        Those that the tree may ask for.
    n_drawn : int
        How many of them are drawn; 0 for all.
    seed, node : int
        What they are drawn by: the seed of the tree, and the number of the leaf.

    Examples
    --------
    >>> plain_drawn_columns([4, 7, 9], 0, seed=1, node=0)
    [4, 7, 9]
    >>> len(set(plain_drawn_columns([4, 7, 9], 2, seed=1, node=0)))
    2
    """
    if not 0 < n_drawn < len(may_ask):
        return list(may_ask)
    deck, key, drawn = list(may_ask), plain_key(seed, node), []
    for i in range(n_drawn):
        place = i + ((plain_key(key, i) >> 32) * (len(deck) - i) >> 32)
        deck[i], deck[place] = deck[place], deck[i]
        drawn.append(deck[i])
    return drawn


def _choose(
    options: list[PlainBoostSplit], like: Sequence[PlainBoostSplit]
) -> PlainBoostSplit | None:
    """Return the first best split, or one that another tree made and is as good."""
    best = max(options, key=lambda split: split.net, default=None)
    if best is None or best.net <= LEAST_GAIN:
        return None
    places = [split.place for split in like]
    for split in options:
        if split.place in places and split.net >= best.net - TIE * (1 + best.net):
            return split
    return best


@dataclass(frozen=True)
class _Leaf:
    """The rows that it is grown on, all that get there, and how it could be split."""

    rows: Rows
    walkers: Rows
    options: list[PlainBoostSplit]


class _Grower:
    """What all leaves share."""

    def __init__(
        self,
        columns: Sequence[PlainBoostColumn],
        derivatives: Sequence[Sequence[float]],
        charged: Sequence[float],
        bought: Sequence[Sequence[bool]],
        l2: float,
        least_rows: int,
    ) -> None:
        self.columns = columns
        self.derivatives = derivatives
        self.charged = charged
        self.bought = [[bool(has) for has in row] for row in bought]
        self.l2 = l2
        self.least_rows = least_rows
        self.outputs = range(len(derivatives[0]) // 2)
        self.n_drawn = self.seed = 0

    def open(self, node: int, rows: Rows, walkers: Rows) -> _Leaf:
        """Return a new leaf with every split that it allows."""
        may_ask = [i for i, asked in enumerate(self.columns) if asked.may_ask]
        drawn = plain_drawn_columns(may_ask, self.n_drawn, self.seed, node)
        options = [
            split
            for column in sorted(drawn)
            for split in self.list_splits(node, rows, column)
        ]
        return _Leaf(rows, walkers, options)

    def list_splits(
        self, node: int, rows: Rows, column: int
    ) -> Iterator[PlainBoostSplit]:
        """Yield the splits of a leaf by one column."""
        asked, l2 = self.columns[column], self.l2
        if asked.is_category:
            cuts = self.list_sets(rows, asked)
            l2 += CATEGORY_L2 if len(cuts) + 1 > FEW_LEVELS else 0.0
        else:
            cuts = self.list_cuts(rows, asked)
        payers = [row for row in rows if not self.bought[row][column]]
        charge = asked.price * sum(self.charged[row] for row in payers)
        for goes_left in cuts:
            left, right = self.part(rows, column, goes_left)
            if self.is_allowed(left) and self.is_allowed(right):
                gain = self.score(left, l2) + self.score(right, l2)
                gain -= self.score(rows, l2)
                yield PlainBoostSplit(node, column, goes_left, gain, charge)

    def list_cuts(self, rows: Rows, asked: PlainBoostColumn) -> list[frozenset[int]]:
        """Return the sets of codes of a number that may go left."""
        shown = sorted({asked.codes[row] for row in rows})
        levels = [code for code in shown if code < asked.n_levels]
        below = [frozenset(range(level + 1)) for level in levels]
        beyond = {asked.n_levels, asked.n_levels + 1}
        if len(levels) < len(shown):
            # Some value is missing: it may go right, and it may go left.
            return [*below, *(codes | beyond for codes in below)]

        def has_most(codes: frozenset[int]) -> bool:
            return 2 * sum(asked.codes[row] in codes for row in rows) >= len(rows)

        # None is missing: it would go with most rows.
        return [codes | beyond if has_most(codes) else codes for codes in below]

    def list_sets(self, rows: Rows, asked: PlainBoostColumn) -> list[frozenset[int]]:
        """Return the sets of levels of a category that may go left.

        Levels are put in order by what their leading output tells. A missing value is
        a level, an unknown one is not.
        """
        found = [
            (code, [row for row in rows if asked.codes[row] == code])
            for code in range(asked.n_levels + 1)
        ]
        shown = {code: part for code, part in found if part}

        def told_by(output: int) -> float:
            sums = [self.add_up(part, output) for part in shown.values()]
            return sum(g * g / (h + CATEGORY_L2) for g, h in sums)

        lead = max(self.outputs, key=told_by)

        def ratio(code: int) -> float:
            first, second = self.add_up(shown[code], lead)
            return first / (second + CATEGORY_L2)

        order = sorted(shown, key=lambda code: (ratio(code), code))
        return [frozenset(order[:n]) for n in range(1, len(order))]

    def add_up(self, rows: Rows, output: int) -> tuple[float, float]:
        """Return the sums of the first and second derivatives of rows."""
        second = len(self.outputs) + output
        return (
            float(sum(self.derivatives[row][output] for row in rows)),
            float(sum(self.derivatives[row][second] for row in rows)),
        )

    def is_allowed(self, rows: Rows) -> bool:
        """Return whether rows may be a leaf."""
        seconds = sum(self.add_up(rows, output)[1] for output in self.outputs)
        return len(rows) >= self.least_rows and seconds >= LEAST_SECOND

    def score(self, rows: Rows, l2: float) -> float:
        """Return how much a leaf lowers the loss, times two."""
        sums = [self.add_up(rows, output) for output in self.outputs]
        return float(sum(g * g / (h + l2 + TINY) for g, h in sums))

    def leaf_values(self, rows: Rows) -> list[float]:
        """Return what a leaf says in each output."""
        sums = [self.add_up(rows, output) for output in self.outputs]
        return [-g / (h + self.l2 + TINY) for g, h in sums]

    def part(
        self, rows: Rows, column: int, goes_left: frozenset[int]
    ) -> tuple[Rows, Rows]:
        """Return the rows that go left, and the others."""
        codes = self.columns[column].codes
        left = [row for row in rows if codes[row] in goes_left]
        return left, [row for row in rows if codes[row] not in goes_left]

    def buy(self, rows: Rows, column: int) -> None:
        """Note that rows have bought a column."""
        for row in rows:
            self.bought[row][column] = True


# The log loss. One sum is the log-odds of the second of two classes.


def _list_shares(sums: Sequence[float]) -> list[float]:
    """Return the probability of each class."""
    logs = [0.0, *sums] if len(sums) == 1 else list(sums)
    parts = [math.exp(log - max(logs)) for log in logs]
    return [part / sum(parts) for part in parts]


def plain_log_loss(
    sums: Sequence[Sequence[float]],
    class_ids: Sequence[int],
    weights: Sequence[float],
) -> float:
    """Return the mean log loss of rows, by their weights.

    Parameters
    ----------
    sums : sequence of sequence of float
        Of each row: the log-odds of the second of two classes, or one sum per class.
    class_ids : sequence of int
    weights : sequence of float

    Examples
    --------
    >>> round(plain_log_loss([[0.0], [0.0]], [0, 1], [1.0, 3.0]), 6)  # the log of 2
    0.693147
    """
    total = 0.0
    for row, class_id, weight in zip(sums, class_ids, weights, strict=True):
        logs = [0.0, *row] if len(row) == 1 else list(row)
        most = max(logs)
        total += weight * (most - logs[class_id])
        total += weight * math.log(sum(math.exp(log - most) for log in logs))
    return total / sum(weights) if sum(weights) > 0 else 0.0


def plain_derivatives(
    sums: Sequence[Sequence[float]],
    class_ids: Sequence[int],
    weights: Sequence[float],
) -> list[list[float]]:
    """Return the first and then the second derivatives of each row's loss by each sum.

    The second ones of several classes are multiplied by K / (K - 1).

    Parameters
    ----------
    sums, class_ids, weights
        As for :func:`plain_log_loss`.

    Examples
    --------
    >>> plain_derivatives([[0.0]], [1], [2.0])
    [[-1.0, 0.5]]
    >>> plain_derivatives([[0.0, 0.0]], [1], [2.0])
    [[1.0, -1.0, 1.0, 1.0]]
    """
    found = []
    for row, class_id, weight in zip(sums, class_ids, weights, strict=True):
        shares = _list_shares(row)
        told = [1] if len(row) == 1 else range(len(row))
        factor = 1.0 if len(row) == 1 else len(row) / (len(row) - 1)
        first = [weight * (shares[k] - (class_id == k)) for k in told]
        second = [weight * factor * shares[k] * (1 - shares[k]) for k in told]
        found.append([*first, *second])
    return found


def plain_charges(
    sums: Sequence[Sequence[float]], weights: Sequence[float]
) -> list[float]:
    """Return what each row counts when it is charged: the less, the surer it is.

    Parameters
    ----------
    sums, weights
        As for :func:`plain_log_loss`.

    Examples
    --------
    >>> plain_charges([[0.0, 0.0, 0.0], [0.0, -99.0, -99.0]], [2.0, 2.0])
    [2.0, 0.0]
    """
    found = []
    for row, weight in zip(sums, weights, strict=True):
        shares = _list_shares(row)
        most = 1 - 1 / len(shares)
        openness = (1 - sum(share * share for share in shares)) / most
        found.append(weight * math.sqrt(max(openness, 0.0)))
    return found
