"""Ask one last test where a tree is cut: the one after which the least is wrong.

An impurity looks ahead to tests that are still to come. Where a budget lets no more of
them come, the best test is the one that decides best by itself.

This module must not know what decides how much may be spent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.policy import NodesBuilder, Tree
from askless.policy._decide import decide_classes
from askless.solve._task import Task
from askless.solve.tradeoff._delayed_prunings import open_bill
from askless.solve.tradeoff._prune import is_kept, prune_tree

__all__ = ["Known", "LastTest", "LastTests", "graft_tests"]

# Cells that are weighed at a time.
MOST_CELLS = 4_000_000
# A test of more outcomes than this is not asked last: it would fit the cases by heart.
MOST_CODES = 256

Ints = NDArray[Any]
Reals = NDArray[np.float64]
# By set of cases: what is wrong after each test, and its best cut.
Known = dict[bytes, tuple[Reals, Ints]]


@dataclass(frozen=True)
class LastTest:
    """A test to ask at a node, and then decide.

    Attributes
    ----------
    test, cut : int
        The test, and at which of its cuts; -1 if every outcome has a branch.
    wrong : float
        The weight that is decided wrongly after it.
    cost : float
        What it adds to the cost, times weight.
    """

    test: int
    cut: int
    wrong: float
    cost: float


class LastTests:
    """The best last test of any node of a tree that was grown from a table.

    Parameters
    ----------
    task : Task
        Its table has no unknown outcomes.
    tree : Tree
    known : dict, optional
        What was found out about sets of cases, to share between trees of one task.
    """

    def __init__(self, task: Task, tree: Tree, known: Known | None = None) -> None:
        self.task = task
        self.tree = tree
        self._known: Known = {} if known is None else known
        leaf = tree.apply_codes(task.table.codes)
        # Nodes are in preorder, so the cases of any node stand side by side.
        self._order = np.argsort(leaf, kind="stable")
        self._leaf = leaf[self._order]
        self._n_codes = np.array([t.n_levels + 1 for t in task.table.tests])
        # Tests of about as many outcomes are weighed together.
        size = np.ceil(np.log2(self._n_codes)).astype(int)
        size[self._n_codes > MOST_CODES] = -1
        is_ordered = task.table.is_ordered
        self._batches = [
            (np.flatnonzero((size == s) & (is_ordered == ordered)), ordered)
            for s in np.unique(size[size >= 0])
            for ordered in (False, True)
        ]

    def find(self, node: int, room: float, least: float) -> LastTest | None:
        """Return the test that leaves least wrong, of those of at most this price.

        Of tests that differ by no more than `least`, the cheapest wins, then the first.
        """
        cases = self.list_cases(node)
        key = cases.tobytes()
        if key not in self._known:
            self._known[key] = self._weigh(cases)
        wrong, cut = self._known[key]
        dearest, cost = self._price(node, cases)
        wrong = np.where(dearest <= room, wrong, np.inf)
        best = wrong.min(initial=np.inf)
        if best == np.inf:
            return None
        tied = np.flatnonzero(wrong <= best + least)
        test = int(tied[np.argmin(cost[tied])])
        return LastTest(test, int(cut[test]), float(wrong[test]), float(cost[test]))

    def list_cases(self, node: int) -> Ints:
        """Return the cases that get to a node, ascending."""
        ends = [node, int(self.tree.subtree_end[node])]
        start, end = np.searchsorted(self._leaf, ends)
        return np.sort(self._order[start:end])

    def split(self, node: int, last: LastTest) -> dict[int, Ints]:
        """Return the cases of each branch of a last test, by code, ascending."""
        cases = self.list_cases(node)
        codes = self.task.table.codes[last.test, cases].astype(np.int64)
        if last.cut >= 0:
            codes = (codes > last.cut).astype(np.int64)
        return {int(code): cases[codes == code] for code in np.unique(codes)}

    def _weigh(self, cases: Ints) -> tuple[Reals, Ints]:
        """Return what is wrong after each test and its best cut; inf for no split."""
        table = self.task.table
        wrong = np.full(table.n_tests, np.inf)
        cut = np.full(table.n_tests, -1, dtype=np.int64)
        present, classes = np.unique(self.task.class_ids[cases], return_inverse=True)
        for tests, is_ordered in self._batches:
            n_codes = int(self._n_codes[tests].max(initial=1))
            step = max(1, MOST_CELLS // (n_codes * max(len(present), len(cases), 1)))
            for start in range(0, len(tests), step):
                some = tests[start : start + step]
                weights, counts = self._count(some, cases, classes, n_codes)
                if is_ordered:
                    wrong[some], cut[some] = self._cut(weights, counts, present)
                else:
                    can_split = np.count_nonzero(counts, axis=1) > 1
                    left = self._wrong(weights, present).sum(axis=1)
                    wrong[some] = np.where(can_split, left, np.inf)
        return wrong, cut

    def _count(
        self, tests: Ints, cases: Ints, classes: Ints, n_codes: int
    ) -> tuple[Reals, Ints]:
        """Return weights by test, code and class, and cases by test and code."""
        table = self.task.table
        n_classes = int(classes.max(initial=0)) + 1
        slot = np.arange(len(tests))[:, None] * n_codes + table.codes[
            np.ix_(tests, cases)
        ].astype(np.int64)
        n_slots = len(tests) * n_codes
        weights = np.bincount(
            (slot * n_classes + classes).ravel(),
            weights=np.tile(table.prior[cases], len(tests)),
            minlength=n_slots * n_classes,
        )
        counts = np.bincount(slot.ravel(), minlength=n_slots)
        shape = (len(tests), n_codes)
        by_class = np.asarray(weights, dtype=np.float64)
        return by_class.reshape(*shape, n_classes), counts.reshape(shape)

    def _cut(self, weights: Reals, counts: Ints, present: Ints) -> tuple[Reals, Ints]:
        """Return what is wrong after the best cut of each ordered test, and the cut."""
        below = weights.cumsum(axis=1)[:, :-1]
        above = weights.sum(axis=1, keepdims=True) - below
        n_below = counts.cumsum(axis=1)[:, :-1]
        # A cut is a code that occurs, with something above it.
        is_cut = (counts[:, :-1] > 0) & (n_below < counts.sum(axis=1, keepdims=True))
        left = self._wrong(below, present) + self._wrong(above, present)
        left = np.where(is_cut, left, np.inf)
        best = left.argmin(axis=1)
        return left[np.arange(len(left)), best], best

    def _wrong(self, weights: Reals, present: Ints) -> Reals:
        """Return what is decided wrongly, given weights of the classes present."""
        mistakes = self.task.mistakes
        total = weights.sum(axis=-1)
        if mistakes is None:
            return np.asarray(np.maximum(0.0, total - weights.max(axis=-1)))
        every = np.zeros((total.size, len(mistakes)))
        every[:, present] = weights.reshape(total.size, -1)
        decided = decide_classes(every, mistakes)
        right = every[np.arange(len(every)), decided].reshape(total.shape)
        return np.asarray(np.maximum(0.0, total - right))

    def _price(self, node: int, cases: Ints) -> tuple[Reals, Reals]:
        """Return what each test charges at a node: at most, and times weight."""
        table = self.task.table
        bill = open_bill(self.tree, node)
        dearest = np.array([bill.price(test) for test in range(table.n_tests)])
        cost = dearest * table.prior[cases].sum()
        for test, by_outcome in table.prices.by_outcome.items():
            if bill.has_paid(test):
                continue
            prices = np.full(self._n_codes[test], dearest[test])
            prices[: len(by_outcome)] = by_outcome
            charged = prices[table.codes[test, cases]]
            dearest[test] = charged.max()
            cost[test] = charged @ table.prior[cases]
        return dearest, cost


def graft_tests(
    last_tests: LastTests, is_cut: NDArray[np.bool_], chosen: dict[int, LastTest]
) -> Tree:
    """Return the tree, pruned, with last tests at some of its new leaves.

    Parameters
    ----------
    last_tests : LastTests
        Of the tree.
    is_cut : ndarray of bool of shape (n_nodes,)
        Which nodes become leaves; those with a last test are among them.
    chosen : dict of int to LastTest
        By node.
    """
    tree = prune_tree(last_tests.tree, is_cut)
    if not chosen:
        return tree
    number = np.cumsum(is_kept(last_tests.tree, is_cut)) - 1
    parts = {int(number[v]): last_tests.split(v, last) for v, last in chosen.items()}
    chosen = {int(number[v]): last for v, last in chosen.items()}
    task, builder = last_tests.task, NodesBuilder()
    for node in range(tree.n_nodes):
        if node in parts:
            _add_last_test(builder, tree, node, chosen[node], parts[node], task)
        else:
            _copy_node(builder, tree, node)
    return Tree(
        tree.tests,
        tree.classes,
        tree.prices,
        nodes=builder.build(),
        mistakes=tree.mistakes,
    )


def _copy_node(builder: NodesBuilder, tree: Tree, node: int) -> None:
    weights = _weights_at(tree, node)
    if tree.test[node] < 0:
        builder.add_leaf(weights)
        return
    start, end = tree.branch_start[node], tree.branch_start[node + 1]
    builder.add_test(
        tree.test[node],
        tree.branch_code[start:end],
        weights,
        default=tree.default_branch[node],
        cut=tree.cut[node],
    )


def _weights_at(tree: Tree, node: int) -> dict[int, float]:
    classes, weights = tree.nodes.weights_at(node)
    return dict(zip(classes.tolist(), weights.tolist(), strict=True))


def _add_last_test(
    builder: NodesBuilder,
    tree: Tree,
    node: int,
    last: LastTest,
    parts: dict[int, Ints],
    task: Task,
) -> None:
    """Copy a leaf, let it ask a last test, and add a leaf for each outcome."""
    prior = task.table.prior
    part_weights = [float(prior[cases].sum()) for cases in parts.values()]
    default = int(np.argmax(part_weights))
    if last.cut >= 0:
        codes = task.table.codes[last.test, np.concatenate(list(parts.values()))]
        if np.any(codes == task.table.tests[last.test].missing_code):
            # A missing value is above every cut.
            default = 1
    builder.add_test(
        last.test, parts, _weights_at(tree, node), default=default, cut=last.cut
    )
    for cases in parts.values():
        classes, where = np.unique(task.class_ids[cases], return_inverse=True)
        weights = np.bincount(where, weights=prior[cases])
        builder.add_leaf(dict(zip(classes.tolist(), weights.tolist(), strict=True)))
