"""Choose one of several boosters, and the threshold at which it stops.

Every pair of a booster and a threshold is a candidate, measured on the rows to choose
on. This module must not know how boosters are grown.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.learn._validation import ValidationPoint, summarise_rows
from askless.learn.boost._calibrate import Bound, Stops, fall, fill_budget
from askless.learn.boost._families import Plan
from askless.policy import Ensemble

__all__ = ["BoostPoint", "Candidates", "Goal"]


@dataclass(frozen=True, kw_only=True)
class BoostPoint(ValidationPoint):
    """A booster and when it stops, measured on validation rows.

    Attributes
    ----------
    tradeoff : float
        How much costs counted while it was grown.
    threshold : float
        When it stops; infinite if only when it is settled.
    varies_together : bool
        Whether what is open was taken to vary all at once.
    is_bagged : bool
        Whether each tree of the booster saw some of the rows.
    family : str
        What was chosen: "boost", "bagged", "few columns", "forest", "bayes", or
        "blend": half a booster and half naive Bayes.
    n_leaves : int
        The most leaves of a tree.
    max_cost : float
        What every row may cost; infinite for no limit.
    loss : float
        What is least among the candidates: the error, or if mistakes have costs, what
        they cost on average, without a budget together with the tests; or the log loss.
    log_loss, brier : float or None
        Of the probabilities, if these were to be good: the mean log loss, and the mean
        Brier score, added over classes. Both are of the booster's own log-odds, before
        a factor is fitted to where rows stop.
    cost, cost_spread, cost_stderr, error, n_rows
        See :class:`ValidationPoint`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from askless import BudgetBoostClassifier
    >>> boost = BudgetBoostClassifier(budget=2, n_estimators=9, random_state=0)
    >>> point = boost.fit(*load_breast_cancer(return_X_y=True)).point_
    >>> bool(0 < point.cost <= 2)
    True
    """

    tradeoff: float
    threshold: float
    varies_together: bool = False
    is_bagged: bool = False
    family: str = "boost"
    n_leaves: int = 0
    max_cost: float = float("inf")
    loss: float = float("nan")
    log_loss: float | None = None
    brier: float | None = None


@dataclass(frozen=True)
class Goal:
    """What the choice of a candidate is for.

    Attributes
    ----------
    budget : float or None
        What a row may cost on average.
    confidence : float or None
        How surely that must hold for new rows; None for the rows to choose on alone.
    max_cost : float
        What every row may cost.
    mistakes : ndarray of shape (n_classes, n_classes) or None
        What mistakes cost, ``mistakes[true][decision]``.
    """

    budget: float | None = None
    confidence: float | None = None
    max_cost: float = float("inf")
    mistakes: NDArray[np.float64] | None = None

    @property
    def adds_cost(self) -> bool:
        """Whether what is bought counts beside what mistakes cost."""
        return self.mistakes is not None and self.budget is None

    @property
    def n_deviations(self) -> float:
        """How many standard errors a mean cost must be below the budget."""
        if self.confidence is None:
            return 0.0
        return NormalDist().inv_cdf(self.confidence)


@dataclass(frozen=True)
class Candidates:
    """Boosters, traced on the rows to choose on.

    Attributes
    ----------
    plans : list of BoosterPlan, ForestPlan or BayesPlan
        How each booster was grown.
    models : list of Ensemble
        The boosters as policies.
    thresholds : list of ndarray
        The thresholds to choose from, for each booster.
    stops : list of Stops
        Where the rows to choose on stop, for each booster.
    true : ndarray of shape (n_rows,)
        The class of each of these rows; -1 for one that no booster knows.
    weights : ndarray of shape (n_rows,) or None
        The weight of each of these rows.
    groups : ndarray of shape (n_rows,) or None
        Which of several boosters, grown alike on other rows, has run each row,
        ascending.
    """

    plans: list[Plan]
    models: list[Ensemble]
    thresholds: list[NDArray[np.float64]]
    stops: list[Stops]
    true: NDArray[np.float64]
    weights: NDArray[np.float64] | None = None
    groups: NDArray[np.int64] | None = None
    _known: dict[Any, list[tuple[int, BoostPoint]]] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    def points(self, goal: Goal | None = None) -> list[tuple[int, BoostPoint]]:
        """Return the number of the booster, and what it does, of each candidate."""
        goal = goal or Goal()
        # The same for all budgets, of which many are asked for.
        costs = None if goal.mistakes is None else goal.mistakes.tobytes()
        key = (goal.max_cost, goal.adds_cost, costs)
        if key not in self._known:
            self._known[key] = [
                (model, self._point(model, float(threshold), goal))
                for model, thresholds in enumerate(self.thresholds)
                for threshold in thresholds
            ]
        return list(self._known[key])

    def _point(
        self, model: int, threshold: float, goal: Goal, limit: float = float("inf")
    ) -> BoostPoint:
        most = min(limit, goal.max_cost)
        stops = self.stops[model].limit(most)
        step = stops.step_at(threshold)
        rows = np.arange(stops.n_rows)
        cost, predicted = stops.cost[rows, step], stops.predicted[rows, step]
        found = summarise_rows(cost, self._errors(predicted), self.weights)
        found["cost"], found["cost_stderr"] = self._expect(cost, found)
        if stops.losses is not None:
            found |= stops.losses.mean(step, self.weights)
        plan = self.plans[model]
        return BoostPoint(
            tradeoff=plan.tradeoff,
            threshold=threshold,
            varies_together=self.models[model].varies_together,
            is_bagged=plan.is_bagged,
            family=plan.family,
            n_leaves=plan.n_leaves,
            max_cost=most,
            loss=self._loss(found, predicted, goal),
            **found,
        )

    def _errors(self, predicted: NDArray[np.float64]) -> NDArray[Any]:
        """Return how wrong each row is: whether, or for numbers how much."""
        return np.asarray(predicted != self.true)

    def _loss(self, found: dict[str, Any], predicted: Any, goal: Goal) -> float:
        """Return what is to be least."""
        if goal.mistakes is None:
            return float(found["error"])
        wrong = goal.mistakes[self.true.astype(int), predicted.astype(int)]
        # A class that no booster knows is the worst mistake.
        wrong = np.where(self.true < 0, goal.mistakes.max(), wrong)
        mean = float(np.average(wrong, weights=self.weights))
        return mean + (float(found["cost"]) if goal.adds_cost else 0.0)

    def _differ(self, cost: NDArray[np.float64]) -> float:
        """Return how much mean costs differ from booster to booster, beyond chance."""
        if self.groups is None:
            return 0.0
        starts, sizes = self._group_rows
        means = np.add.reduceat(cost, starts) / sizes
        squares = np.add.reduceat((cost - np.repeat(means, sizes)) ** 2, starts)
        chance = np.mean(squares / sizes / np.maximum(sizes - 1, 1))
        return float(max(means.var(ddof=1) - chance, 0.0) ** 0.5)

    @cached_property
    def _group_rows(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where the rows of each group start, and how many there are."""
        assert self.groups is not None
        sizes = np.bincount(self.groups)
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        return starts, sizes

    def _expect(
        self, cost: NDArray[np.float64], found: dict[str, Any]
    ) -> tuple[float, float]:
        """Return the mean cost to expect of the booster that is kept, and its error.

        Of several boosters grown alike, it is the one that has run the first group: its
        own rows say what it costs, and the others what boosters like it cost.
        """
        mean, stderr = float(found["cost"]), float(found["cost_stderr"])
        if self.groups is None or mean <= 0.0:
            return mean, stderr
        # In units of the mean: squares of prices next to zero would be nothing.
        cost = cost / mean
        own = cost[self.groups == 0]
        own_variance = float(own.var()) / max(len(own) - 1, 1)
        like_variance = self._differ(cost) ** 2 + (_finite(stderr) / mean) ** 2
        if own_variance == 0.0:
            return mean * float(own.mean()), 0.0
        share = like_variance / (like_variance + own_variance)
        kept = share * float(own.mean()) + 1.0 - share
        return mean * kept, mean * float(np.sqrt(share * own_variance))

    def pareto_front(self) -> list[BoostPoint]:
        """Return the points that no other one beats in cost and error, by cost."""
        front: list[BoostPoint] = []
        points = [point for _, point in self.points()]
        for point in sorted(points, key=lambda p: (p.cost, self._compared(p))):
            if not front or self._compared(point) < self._compared(front[-1]):
                front.append(point)
        return front

    def _compared(self, point: BoostPoint) -> float:
        """Return what a point is worse by, beside its cost."""
        return point.error

    def choose(self, goal: Goal | float | None) -> tuple[Ensemble, BoostPoint]:
        """Return the candidate of least loss within a budget.

        Whoever buys more knows more: the loss of a booster is taken to fall with the
        threshold, and where the rows say otherwise, to be the mean of what they say
        (:func:`fall`). So no threshold is chosen by a few lucky rows. Of candidates
        alike, with a budget the dearest is taken, else the cheapest.

        Parameters
        ----------
        goal : Goal, float or None
            What is wanted; a number is a budget for the rows to choose on.
        """
        goal = goal if isinstance(goal, Goal) else Goal(goal)
        found = self.points(goal)
        blocks = self._falling([point for _, point in found], goal)
        losses = np.concatenate(blocks).tolist()
        if goal.budget is not None:
            filled = self._fill(goal)
            for model, point in filled:
                # Between thresholds: no better and no worse than its neighbours.
                above = int(np.searchsorted(self.thresholds[model], point.threshold))
                worst, best = blocks[model][[max(above - 1, 0), above]]
                found.append((model, point))
                losses.append(float(np.clip(point.loss, best, worst)))
            for model, point in self._limit_rows(goal, filled):
                found.append((model, point))
                losses.append(point.loss)
        limit = np.inf if goal.budget is None else goal.budget
        sign = 1.0 if goal.budget is None else -1.0
        within = [
            (loss, sign * point.cost, model, point)
            for loss, (model, point) in zip(losses, found, strict=True)
            if self._is_within(model, point, goal, limit)
        ]
        _, _, model, point = min(within, key=lambda candidate: candidate[:3])
        return self.policy_at(model, point), point

    def curves(self, goal: Goal) -> list[tuple[NDArray[np.float64], Any]]:
        """Return, for each booster, costs and losses at each of its thresholds.

        Losses are taken to fall with the threshold, as :meth:`choose` takes them.
        """
        points = [point for _, point in self.points(goal)]
        losses = self._falling(points, goal)
        ends = np.cumsum([len(part) for part in losses])[:-1]
        costs = np.split(np.array([point.cost for point in points]), ends)
        return list(zip(costs, losses, strict=True))

    def _falling(
        self, points: list[BoostPoint], goal: Goal
    ) -> list[NDArray[np.float64]]:
        """Return the losses of each booster, which fall with the threshold."""
        losses = np.array([point.loss for point in points])
        if np.isnan(losses).any():
            losses = np.array([point.error for point in points])
        # What is spent is known, and does not fall.
        spent = np.array([point.cost for point in points]) * goal.adds_cost
        ends = np.cumsum([len(thresholds) for thresholds in self.thresholds])[:-1]
        parts = zip(np.split(losses - spent, ends), np.split(spent, ends), strict=True)
        return [fall(part) + known for part, known in parts]

    def _is_within(
        self, model: int, point: BoostPoint, goal: Goal, limit: float
    ) -> bool:
        if point.cost + goal.n_deviations * _finite(point.cost_stderr) > limit:
            return False
        if self.groups is None or limit == np.inf:
            return True
        # The booster that is kept has run the first group: it must keep to it alone.
        stops = self.stops[model].limit(point.max_cost)
        return bool(stops.at(point.threshold)[0][self.groups == 0].mean() <= limit)

    def _fill(self, goal: Goal) -> list[tuple[int, BoostPoint]]:
        """Return, for each booster, what uses the budget up."""
        assert goal.budget is not None
        filled = []
        for model, stops in enumerate(self.stops):
            limited = stops.limit(goal.max_cost)
            for threshold, most in fill_budget(limited, self._bound(goal), goal.budget):
                filled.append((model, self._point(model, threshold, goal, most)))
        return filled

    def _bound(self, goal: Goal) -> Bound:
        """Return what says how much new rows may cost on average."""

        def bound(cost: NDArray[np.float64], _: float) -> float:
            found = summarise_rows(cost, None, self.weights)
            mean, stderr = self._expect(cost, found)
            most = mean + goal.n_deviations * _finite(stderr)
            if self.groups is None:
                return most
            return max(most, float(cost[self.groups == 0].mean()))

        return bound

    def _limit_rows(
        self, goal: Goal, filled: list[tuple[int, BoostPoint]]
    ) -> list[tuple[int, BoostPoint]]:
        """Return more candidates, in which no row may cost much more than the budget.

        None where decisions count: a row that is not sure yet may cost what it must.
        """
        return []

    def policy_at(self, model: int, point: BoostPoint) -> Ensemble:
        """Return the policy of a point."""
        return self.models[model].with_stop(
            threshold=None if point.threshold == np.inf else point.threshold,
            max_cost=None if point.max_cost == np.inf else point.max_cost,
        )

    def cheapest_price(self) -> float:
        """Return the full price of the cheapest feature that some booster may buy."""
        used = sorted({test for model in self.models for test in model.used_tests})
        full = self.models[0].prices.full[used]
        return float(full.min()) if len(full) else 0.0


def _finite(stderr: float) -> float:
    """Return a standard error, or 0 for that of a single row, which says nothing."""
    return stderr if np.isfinite(stderr) else 0.0
