"""Grow a whole tree by looking ahead at every node, and prune it.

Which node is next, what a branch has paid for and what pruning saves is decided here;
splits are priced by compiled code. This module must not know where rows come from.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askless._core.soft._rollout import Rollouts, key_of_child
from askless._core.soft._splits import CRITERIA
from askless.learn.cost_tree._soft_rows import SoftRows
from askless.policy import Nodes, NodesBuilder
from askless.problem import PriceList

__all__ = ["Grower", "Node", "to_nodes"]

# Costs closer than this, relatively, tie.
TIE = 1e-9
# Where a node has many rows, splits are looked ahead from on some of them first, and on
# all only from those that cost least there.
SCREENED = 256
LEAST_SCREEN = 64
SCREEN_SHARE = 8
KEPT = 8


@dataclass(eq=False, slots=True)
class Node:
    """A node under construction: its rows, what they have paid, and what it became.

    `due` is 0, or below a delayed test the weight of that test's node: what comes below
    it is bought together with it, for all rows that get there.
    """

    rows: NDArray[np.int32]
    weights: NDArray[np.float64]
    leaf: float
    paid: NDArray[np.uint8]
    is_open: NDArray[np.uint8]
    due: float
    key: int
    criterion: str
    test: int = -1
    cut: int = -1
    missing_right: bool = False
    charge: float = 0.0
    cost: float = 0.0
    codes: Sequence[int] = ()
    children: Sequence[Node] = ()

    @property
    def weight(self) -> float:
        """The weight of the rows."""
        return float(self.weights.sum())

    def close(self) -> None:
        """Make it a leaf."""
        self.test, self.cut, self.charge = -1, -1, 0.0
        self.codes, self.children = (), ()
        self.cost = self.leaf


class Grower:
    """Grows trees on soft rows.

    Parameters
    ----------
    rows : SoftRows
        The examples.
    prices : PriceList
        What tests charge.
    rollouts : Rollouts
        The kernel that prices splits of these rows.
    n_levels : ndarray of int32
        How many levels each test has.
    seed : int
        Source of the random numbers.
    n_cuts : int
        How many cuts of a number are looked ahead from.
    stop : ndarray of int32 of shape (1,)
        Once it is set, what is not grown yet follows the cheaper greedy criterion.
    """

    def __init__(
        self,
        rows: SoftRows,
        prices: PriceList,
        rollouts: Rollouts,
        n_levels: NDArray[np.int32],
        *,
        seed: int,
        n_cuts: int,
        stop: NDArray[np.int32],
    ) -> None:
        self.rows = rows
        self.prices = prices
        self.rollouts = rollouts
        self.n_levels = n_levels
        self.seed = seed
        self.n_cuts = n_cuts
        self.stop = stop
        self._never = np.zeros(1, dtype=np.int32)
        self._group = {name: i for i, name in enumerate(prices.groups)}

    def grow(
        self,
        criterion: str,
        n_samples: int = 0,
        *,
        sign: Callable[[float], None] = lambda share: None,
    ) -> Node:
        """Return the root of a tree grown by a criterion, and pruned.

        `sign` is told, after each split, the share of the weight that is done with.

        The nodes whose leaf costs most come first, so that stopping early leaves the
        small ones to the greedy criteria. Nodes below a delayed test are grown in
        preorder, because what one of them buys is paid for in the next.
        """
        root = self._root(criterion)
        # What costs no more than this stays a leaf.
        hopeless = self.rollouts.least_to_split
        waiting = [(-root.leaf, 0, root)]
        due: list[Node] = []
        count, settled = 1, 0.0
        while waiting or due:
            node = due.pop() if due else heapq.heappop(waiting)[2]
            self._split(node, n_samples)
            settled += 0.0 if node.children else node.weight
            sign(settled / root.weight)
            if node.children and node.children[0].due > 0:
                due.extend(reversed(node.children))
                continue
            for child in node.children:
                if child.leaf > hopeless:
                    heapq.heappush(waiting, (-child.leaf, count, child))
                    count += 1
                else:
                    settled += child.weight
        self._prune(root)
        return root

    def greedy_criterion(self) -> tuple[str, float]:
        """Return EG2 or DTMC, whichever grows the cheaper tree, and its cost."""
        return self._greedy_criterion(self._root("dtmc"))

    def _root(self, criterion: str) -> Node:
        every = np.arange(self.rows.codes.shape[1], dtype=np.int32)
        weights, leaf = self.rollouts.count_classes(every)
        return Node(
            rows=every,
            weights=weights,
            leaf=leaf,
            paid=np.zeros(self.prices.n_tests + 1, dtype=np.uint8),
            is_open=np.zeros(len(self.prices.groups) + 1, dtype=np.uint8),
            due=0.0,
            key=self.seed,
            criterion=criterion,
        )

    def _split(self, node: Node, n_samples: int) -> None:
        chosen = self._choose(node, n_samples)
        if chosen[0] == -2:
            node.criterion, _ = self._greedy_criterion(node)
            chosen = self._choose(node, 0)
        if chosen[0] < 0:
            return
        node.test, node.cut, node.missing_right, node.charge = chosen
        self._divide(node)

    def _choose(self, node: Node, n_samples: int) -> tuple[int, int, bool, float]:
        choice: tuple[int, int, bool, float] = self.rollouts.choose(
            node.rows, node.paid, node.is_open, node.due, CRITERIA[node.criterion],
            n_samples, self.n_cuts, node.key,
            self._never if node.criterion in ("eg2", "dtmc") else self.stop,
            _screen(node.rows), KEPT,
        )  # fmt: skip
        return choice

    def _greedy_criterion(self, node: Node) -> tuple[str, float]:
        """Return the greedy criterion whose tree is cheaper here, and its cost."""
        where = (node.rows, node.paid, node.is_open, node.due)
        by_eg2 = self.rollouts.price(*where, CRITERIA["eg2"])
        by_dtmc = self.rollouts.price(*where, CRITERIA["dtmc"])
        return ("eg2", by_eg2) if by_eg2 < by_dtmc else ("dtmc", by_dtmc)

    def _divide(self, node: Node) -> None:
        node.codes, parts, weights, leaves = self.rollouts.divide_rows(
            node.rows, node.test, node.cut, node.missing_right
        )
        # What is bought together is one bill for all branches; elsewhere each child
        # copies it to pay.
        paid, is_open, due = self._pay(node)
        node.children = [
            Node(
                rows=rows,
                weights=weights[at],
                leaf=leaves[at],
                paid=paid,
                is_open=is_open,
                due=due,
                key=key_of_child(node.key, node.test, node.cut, at),
                criterion=node.criterion,
            )
            for at, rows in enumerate(parts)
        ]

    def _pay(self, node: Node) -> tuple[NDArray[np.uint8], NDArray[np.uint8], float]:
        """Return what is paid for below a node, and what is due there."""
        paid, is_open, due = node.paid, node.is_open, node.due
        if due == 0:
            paid, is_open = paid.copy(), is_open.copy()
            if self.prices.delayed[node.test] and not paid[node.test]:
                due = node.weight
        paid[node.test] = 1
        group = self.prices.group[node.test]
        if group is not None:
            is_open[self._group[group]] = 1
        return paid, is_open, due

    # Pruning.

    def _prune(self, root: Node) -> None:
        """Make a leaf of every node whose subtree does not pay, from the bottom up."""
        for node in reversed(_preorder(root)):
            if node.due > 0:
                # Left to the node of the delayed test.
                continue
            if node.children and node.children[0].due > 0:
                node.cost = self._prune_together(node)
            else:
                node.cost = node.charge + sum(child.cost for child in node.children)
            if not node.children or node.leaf <= node.cost * (1.0 + TIE):
                node.close()

    def _prune_together(self, root: Node) -> float:
        """Prune what is bought together, its bill made out anew each time."""
        cost = self._bill_together(root)
        for node in reversed(_preorder(root)[1:]):
            if not node.children:
                continue
            kept = (node.test, node.cut, node.codes, node.children)
            node.close()
            pruned = self._bill_together(root)
            if pruned <= cost * (1.0 + TIE):
                cost = pruned
            else:
                node.test, node.cut, node.codes, node.children = kept
        return self._bill_together(root)

    def _bill_together(self, root: Node) -> float:
        """Bill what is bought together, in preorder; return what all of it costs."""
        bill = self.prices.open_bill()
        for test in np.flatnonzero(root.paid[: self.prices.n_tests]):
            bill.charge(int(test))
        cost = 0.0
        for node in _preorder(root):
            node.charge = bill.charge(node.test) * root.weight if node.children else 0.0
            cost += node.charge if node.children else node.leaf
        return cost


def _screen(rows: NDArray[np.int32]) -> NDArray[np.int32] | None:
    """Return rows to screen splits on; they are sorted, so some of each kind."""
    if len(rows) < SCREENED:
        return None
    n = max(LEAST_SCREEN, len(rows) // SCREEN_SHARE)
    return np.ascontiguousarray(rows[np.linspace(0, len(rows) - 1, n).astype(int)])


def _preorder(root: Node) -> list[Node]:
    nodes, stack = [], [root]
    while stack:
        node = stack.pop()
        nodes.append(node)
        stack.extend(reversed(node.children))
    return nodes


def to_nodes(root: Node) -> Nodes:
    """Return the nodes of a :class:`~askless.policy.Tree`."""
    builder = NodesBuilder()
    for node in _preorder(root):
        present = np.flatnonzero(node.weights)
        amounts = node.weights[present].tolist()
        weights = dict(zip(present.tolist(), amounts, strict=True))
        if node.children:
            builder.add_test(
                node.test, node.codes, weights, default=_default(node), cut=node.cut
            )
        else:
            builder.add_leaf(weights)
    return builder.build()


def _default(node: Node) -> int:
    """Return the branch of what was never seen: where missing numbers, or most, go."""
    if node.cut >= 0:
        return int(node.missing_right)
    return int(np.argmax([child.weight for child in node.children]))
