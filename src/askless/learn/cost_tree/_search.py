"""One run of the cost tree: from the first greedy tree to the best one found.

It can be stopped at any moment; the flag is looked at between trees of the forest,
between splits and inside the compiled look-ahead. This module must not know estimators.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from askless._core.cost._workspace import Workspace
from askless._core.soft._rollout import Rollouts
from askless._progress import Reporter
from askless.learn._anytime import StopFlag
from askless.learn._mistakes import average_mistake
from askless.learn._stages import StageLog
from askless.learn.cost_tree._class_noise import (
    measure_noise,
    scale_classes,
    sharpen_shares,
)
from askless.learn.cost_tree._grower import Grower, Node, to_nodes
from askless.learn.cost_tree._guard import choose_guard, list_guards
from askless.learn.cost_tree._soft_rows import (
    MergedRows,
    SoftRows,
    estimate_shares,
    soften,
    take_rows,
)
from askless.learn.trees._look_ahead import act_settings
from askless.policy import Tree
from askless.problem import PriceList

__all__ = ["CostTreeSearch", "typical_mistake"]

Floats = NDArray[np.float64]

# Of the forest; nothing else was better on several sets at once.
MIN_LEAF = 3.0
TRIED = 0.5
# Of the smoothing that was asked for: it is never less, however well the forest tells
# the classes.
LEAST_SMOOTHING = 2.0 / 3.0
# Rows times splits above which two steps are left out if no time limit asks for more:
# sampled subtrees find trees as good there in the same time.
MOST_SPLITS = 3_000_000
# How often the growing of one tree is told of.
SIGN_SECONDS = 0.2


class CostTreeSearch:
    """Trees that look further and further ahead, and the best of them.

    Parameters
    ----------
    rows : MergedRows
        The examples.
    prices : PriceList
        What tests charge.
    mistakes : ndarray of shape (n_classes, n_classes)
        ``mistakes[true][decision]``.
    samples : list of int
        How many samples to try, one after another.
    smoothing, n_trees, leaf_cost, n_cuts
        As the estimator has them.
    seed : int
        Source of the random numbers.
    n_jobs : int
        Threads.
    is_timed : bool
        Whether time may run out.
    flag : StopFlag
        When to end.
    reporter : Reporter
        Told about every stage, and given signs of life in between.
    """

    def __init__(
        self,
        rows: MergedRows,
        prices: PriceList,
        mistakes: NDArray[np.float64],
        *,
        samples: list[int],
        smoothing: float,
        n_trees: int,
        leaf_cost: float,
        n_cuts: int,
        seed: int,
        n_jobs: int,
        is_timed: bool,
        flag: StopFlag,
        reporter: Reporter,
    ) -> None:
        self.rows = rows
        self.prices = prices
        self.mistakes = mistakes
        self.samples = samples
        self.smoothing = smoothing
        self.n_trees = n_trees
        self.leaf_cost = leaf_cost
        self.n_cuts = n_cuts
        self.seed = seed
        self.n_jobs = n_jobs
        self.is_timed = is_timed
        self.flag = flag
        self.log = StageLog(reporter)
        self.greedy_seconds = 0.0
        self.total = float(rows.weights.sum())
        self.best: Node | None = None
        self.best_cost = float("inf")

    def run(self) -> None:
        """Grow trees until all are done or the flag is up; keep the best."""
        grower = self._prepare()
        criterion, cost = grower.greedy_criterion()
        # The greedy tree is put down only if nothing beats it. With delays, its price
        # is only an estimate; and if time is short, it is what there will be.
        is_later = not (self.flag or self.is_timed or self.prices.delayed.any())
        greedy = None if is_later else grower.grow(criterion)
        self._keep("greedy", cost if greedy is None else greedy.cost, greedy)
        self.greedy_seconds = self.log.seconds
        if not self.flag and (self.is_timed or self._n_splits() <= MOST_SPLITS):
            tree = grower.grow("two-step", sign=self._signing("two steps"))
            self._keep("two steps", tree.cost, tree)
        for n in self.samples:
            if self.flag:
                break
            name = f"{n} sample{'s' if n > 1 else ''}"
            tree = grower.grow("rollout", n - 1, sign=self._signing(name))
            self._keep(name, tree.cost, tree)
        if self.best is None:
            self.best = grower.grow(criterion)

    def _n_splits(self) -> int:
        """Return the rows times the splits that two steps would look at."""
        return int(self.rows.n_levels.sum()) * len(self.rows.pattern_start)

    def _prepare(self) -> Grower:
        """Smooth the classes, and set up the kernel.

        Where the forest tells classes well, rows keep more of their own class, and a
        leaf costs less: there is less noise to guard against, unless rows that a tree
        has not seen say that it needs more.
        """
        shares, guard = None, 1.0
        rows = self.rows
        if self.n_trees and self.smoothing > 0:
            shares = estimate_shares(
                rows,
                scale_classes(self.mistakes),
                n_trees=self.n_trees,
                min_leaf=MIN_LEAF,
                tried=TRIED,
                seed=self.seed,
                n_jobs=self.n_jobs,
                is_over=self._watch_forest,
            )
            shares = sharpen_shares(shares, rows.class_ids, rows.weights)
            noise = measure_noise(shares, rows.class_ids, rows.weights, self.mistakes)
            guard = self._choose_guard(shares, noise)
        return self._grower(rows, shares, guard)

    def _choose_guard(self, shares: Floats, noise: float) -> float:
        def price_held_out(guard: float, part: NDArray[np.bool_]) -> Floats:
            if self.flag:
                return np.zeros(int((~part).sum()))
            grower = self._grower(take_rows(self.rows, part), shares[part], guard)
            tree = grower.grow(grower.greedy_criterion()[0])
            return self._price_rows(tree, ~part)

        return choose_guard(self.rows, list_guards(noise), self.seed, price_held_out)

    def _price_rows(self, tree: Node, part: NDArray[np.bool_]) -> Floats:
        """Return what rows cost in a tree, tests and mistakes."""
        policy = Tree(
            self.rows.tests,
            tuple(range(self.rows.n_classes)),
            self.prices,
            nodes=to_nodes(tree),
            mistakes=self.mistakes,
        )
        codes = np.ascontiguousarray(self.rows.codes[:, part])
        leaves = policy.apply_codes(codes)
        found, where = np.unique(leaves, return_inverse=True)
        decided = np.array([policy.decision(int(leaf)) for leaf in found])[where]
        mistakes = self.mistakes[self.rows.class_ids[part], decided]
        costs: Floats = policy.charge_codes(codes) + mistakes
        return costs

    def _grower(self, rows: MergedRows, shares: Floats | None, guard: float) -> Grower:
        smoothing = self.smoothing * max(guard**0.5, LEAST_SMOOTHING)
        soft = soften(rows, shares, min(smoothing, 1.0))
        return Grower(
            soft,
            self.prices,
            self._rollouts(soft, guard * self.leaf_cost),
            rows.n_levels,
            seed=self.seed,
            n_cuts=self.n_cuts,
            stop=self.flag.array,
        )

    def _rollouts(self, soft: SoftRows, leaf_cost: float) -> Rollouts:
        totals = np.bincount(
            soft.entry_class, weights=soft.entry_weight, minlength=len(self.mistakes)
        ).astype(np.float64)
        # EG2 shuns dear tests as ACT lets it.
        exponent, _ = act_settings(
            average_mistake(self.mistakes), self.prices.cost_of_all()
        )
        workspace = Workspace(
            soft.codes,
            self.rows.n_levels,
            self.rows.is_ordered,
            soft.entry_start,
            soft.entry_class,
            soft.entry_weight,
            self.mistakes,
            self.prices.engine,
        )
        leaf_cost *= typical_mistake(self.mistakes, totals)
        return Rollouts(workspace, leaf_cost, exponent, self.n_jobs)

    def _keep(self, name: str, cost: float, tree: Node | None) -> None:
        """Keep the cheaper tree, the older one on a tie."""
        if cost < self.best_cost * (1.0 - 1e-9):
            self.best, self.best_cost = tree, cost
        best, done = self.best_cost / self.total, self._done(1.0)
        if self.log.add(name, cost / self.total, best, done):
            self.flag.raise_it()

    # Telling how it goes.

    def _done(self, share: float) -> float:
        """Return the share of all stages that is done, with some of the current one.

        The forest comes before the first stage and counts as one.
        """
        return (1 + len(self.log.stages) + share) / (3 + len(self.samples))

    def _watch_forest(self, n_grown: int) -> bool:
        """Tell how many trees of the forest there are; return whether to stop."""
        share = n_grown / self.n_trees
        if self.log.sign(f"forest, {n_grown} trees", self._done(share - 1.0)):
            self.flag.raise_it()
        return bool(self.flag)

    def _signing(self, name: str) -> Callable[[float], None]:
        """Return what tells the share of a tree that is grown, now and then."""
        last = self.log.seconds

        def sign(share: float) -> None:
            nonlocal last
            if self.log.seconds - last < SIGN_SECONDS:
                return
            last = self.log.seconds
            if self.log.sign(name, self._done(share)):
                self.flag.raise_it()

        return sign


def typical_mistake(
    mistakes: NDArray[np.float64], class_totals: NDArray[np.float64]
) -> float:
    """Return what a mistake on a row costs, on average over rows and wrong decisions.

    Classes count by their weight: where rare classes are the dear ones, a plain mean
    would be far above what most mistakes cost.

    Examples
    --------
    >>> typical_mistake(np.array([[0.0, 1.0], [9.0, 0.0]]), np.array([3.0, 1.0]))
    3.0
    """
    n = len(mistakes)
    if n < 2:
        return 0.0
    by_class = mistakes.sum(axis=1) / (n - 1)
    return float(class_totals @ by_class / class_totals.sum())
