"""Choose one of several boosters, and the threshold at which it stops.

Every pair of a booster and a threshold is a candidate, measured on the rows to choose
on. This module must not know how boosters are grown.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askless.learn._validation import ValidationPoint, summarise_rows
from askless.learn.boost._boosters import BoosterPlan
from askless.learn.boost._calibrate import Stops, smooth
from askless.policy import Ensemble

__all__ = ["BoostPoint", "Candidates"]


@dataclass(frozen=True, kw_only=True)
class BoostPoint(ValidationPoint):
    """A booster and when it stops, measured on validation rows.

    Attributes
    ----------
    tradeoff : float
        How much costs counted while it was grown.
    threshold : float
        When it stops; infinite if only when it is settled.
    is_bagged : bool
        Whether each tree of the booster saw half of the rows.
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
    is_bagged: bool = False


@dataclass(frozen=True)
class Candidates:
    """Boosters, traced on the rows to choose on.

    Attributes
    ----------
    plans : list of BoosterPlan
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
    """

    plans: list[BoosterPlan]
    models: list[Ensemble]
    thresholds: list[NDArray[np.float64]]
    stops: list[Stops]
    true: NDArray[np.float64]
    weights: NDArray[np.float64] | None = None

    def points(self) -> list[tuple[int, BoostPoint]]:
        """Return the number of the booster, and what it does, of each candidate."""
        return [
            (model, self._point(model, float(threshold)))
            for model, thresholds in enumerate(self.thresholds)
            for threshold in thresholds
        ]

    def _point(self, model: int, threshold: float) -> BoostPoint:
        cost, predicted = self.stops[model].at(threshold)
        return BoostPoint(
            tradeoff=self.plans[model].tradeoff,
            threshold=threshold,
            is_bagged=self.plans[model].is_bagged,
            **summarise_rows(cost, predicted != self.true, self.weights),
        )

    def pareto_front(self) -> list[BoostPoint]:
        """Return the points that no other one beats in cost and error, by cost."""
        front: list[BoostPoint] = []
        points = [point for _, point in self.points()]
        for point in sorted(points, key=lambda p: (p.cost, p.error)):
            if not front or point.error < front[-1].error:
                front.append(point)
        return front

    def choose(self, budget: float | None) -> tuple[Ensemble, BoostPoint]:
        """Return the candidate of least error within a budget.

        An error counts as the mean of those of the neighbouring thresholds, if that is
        larger: the best of many overfits the rows that it is chosen on.
        """
        found = self.points()
        errors = np.array([point.error for _, point in found])
        ends = np.cumsum([len(thresholds) for thresholds in self.thresholds])
        around = [smooth(block) for block in np.split(errors, ends[:-1])]
        cautious = np.maximum(errors, np.concatenate(around)).tolist()
        limit = np.inf if budget is None else budget
        within = [
            (error, point.cost, model, point)
            for error, (model, point) in zip(cautious, found, strict=True)
            if point.cost <= limit
        ]
        _, _, model, point = min(within, key=lambda candidate: candidate[:3])
        stop = None if point.threshold == np.inf else point.threshold
        return self.models[model].with_stop(threshold=stop), point

    def cheapest_price(self) -> float:
        """Return the full price of the cheapest feature that some booster may buy."""
        used = sorted({test for model in self.models for test in model.used_tests})
        full = self.models[0].prices.full[used]
        return float(full.min()) if len(full) else 0.0
