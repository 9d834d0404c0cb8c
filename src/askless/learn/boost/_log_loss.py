"""Choose a booster, a threshold and a limit by how good probabilities are.

This module must not know how boosters are grown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from askless.learn.boost._calibrate import threshold_for_cost
from askless.learn.boost._candidates import BoostPoint, Candidates, Goal

__all__ = ["LIMITS", "LogLossCandidates"]

# A row stops early once its decision is sure, however little its probability is known,
# and what it saves goes to rows that stay in doubt. So limits for each row are tried as
# well: so many times the budget, with the boosters that are best without.
LIMITS, MOST_LIMITED = (1.0, 1.5, 2.0, 3.0), 16


@dataclass(frozen=True)
class LogLossCandidates(Candidates):
    """Boosters, traced with the probabilities of every step.

    The log loss is that of a booster's own log-odds. A factor for each candidate,
    fitted to the same rows, made worse choices on new ones.

    Attributes
    ----------
    plans, models, thresholds, stops, true, weights, groups
        See :class:`Candidates`; the stops know their losses.
    """

    def _loss(self, found: dict[str, Any], predicted: Any, goal: Goal) -> float:
        return float(found["log_loss"])

    def _compared(self, point: BoostPoint) -> float:
        return point.loss

    def _limit_rows(
        self, goal: Goal, filled: list[tuple[int, BoostPoint]]
    ) -> list[tuple[int, BoostPoint]]:
        assert goal.budget is not None
        best_first = sorted(filled, key=lambda candidate: candidate[1].loss)
        some = list(dict.fromkeys(model for model, _ in best_first))[:MOST_LIMITED]
        bound = self._bound(goal)
        limited = []
        for most in (share * goal.budget for share in LIMITS):
            if not 0 < most < goal.max_cost:
                continue
            for model in some:
                stops = self.stops[model].limit(most)
                threshold = threshold_for_cost(stops, bound, goal.budget)
                limited.append((model, self._point(model, threshold, goal, most)))
        return limited
