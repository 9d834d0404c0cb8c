"""Calibrate when an ensemble stops early, on rows that its model was not trained on.

A trace tells, for every threshold, where a row would have stopped, what it would have
paid, and what would have been predicted. Stopping early is calibrated by conformal risk
control (Angelopoulos and others, 2024): a row counts as lost at a threshold if stopping
there, or at any higher threshold, is a loss. So the loss of a row never falls when the
threshold does, and the mean over n rows, with one more row counted as lost, bounds the
expected loss of a new row that is like them.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.policy import Ensemble
from askless.policy.ensemble._ensemble import Trace

__all__ = [
    "Stops",
    "join_stops",
    "list_stops",
    "list_thresholds",
    "rows_needed",
    "smooth",
    "threshold_for_cost",
    "threshold_for_loss",
    "trace_stops",
]

# Thresholds tried for each model: as many quantiles of what was reached.
N_THRESHOLDS = 80
# Neighbours on each side over which the error of a threshold is averaged.
N_NEIGHBOURS = 4


@dataclass(frozen=True)
class Stops:
    """Where each row would have stopped, for every threshold.

    Attributes
    ----------
    reached : ndarray of shape (n_rows, n_steps)
        The largest z up to each step; a row stops at the first step where it is at
        least the threshold. Infinite where a row is settled.
    cost, predicted : ndarray of shape (n_rows, n_steps)
        What was spent, and would be predicted, at each step.
    last : ndarray of shape (n_rows,)
        The step where each row is settled.
    """

    reached: NDArray[np.float64]
    cost: NDArray[np.float64]
    predicted: NDArray[np.float64]
    last: NDArray[np.int64]

    @property
    def n_rows(self) -> int:
        """How many rows were traced."""
        return len(self.last)

    def at(self, threshold: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return what each row pays, and is predicted, with a threshold."""
        step = np.argmax(self.reached >= threshold, axis=1)
        rows = np.arange(self.n_rows)
        return self.cost[rows, step], self.predicted[rows, step]

    def worst_threshold(self, is_loss: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the highest threshold at which each row is lost; -inf if at none.

        Parameters
        ----------
        is_loss : ndarray of bool of shape (n_rows, n_steps)
            Whether stopping at a step is a loss.
        """
        before = np.column_stack([np.full(self.n_rows, -np.inf), self.reached[:, :-1]])
        stops_here = self.reached > before
        worst = np.where(is_loss & stops_here, self.reached, -np.inf)
        return np.asarray(worst.max(axis=1))


def trace_stops(
    policy: Ensemble, X: Any, n_jobs: int
) -> tuple[Stops, NDArray[np.float64]]:
    """Trace rows; return where they stop, and what is predicted once they are settled.

    Parameters
    ----------
    policy : Ensemble
        What to run.
    X : frame, mapping of columns, or array-like of shape (n_rows, n_features)
        Raw values.
    n_jobs : int
        Threads.
    """
    trace = policy.trace(X, n_jobs=n_jobs)
    output = policy.output
    if output.is_number:
        scores = output.scores(trace.raw)[:, 0]
        trace = trace._replace(decision=output.scores(trace.decision))
        return list_stops(trace, scores), scores
    final = output.decide(trace.raw).astype(np.float64)
    return list_stops(trace, final), final


def list_stops(trace: Trace, final: NDArray[np.float64]) -> Stops:
    """Return where each traced row would stop.

    Parameters
    ----------
    trace : Trace
        Every step of the rows.
    final : ndarray of shape (n_rows,)
        What is predicted for each row once it is settled.
    """
    n_rows, n_wide = trace.z.shape
    last = trace.n_steps.astype(np.int64) - 1
    steps = np.arange(n_wide)
    z = np.where(steps >= last[:, None], np.inf, trace.z)
    predicted = np.where(steps >= last[:, None], final[:, None], trace.decision)
    rows = np.arange(n_rows)
    cost = np.where(steps > last[:, None], trace.cost[rows, last][:, None], trace.cost)
    n_used = int(last.max(initial=0)) + 1
    return Stops(
        np.maximum.accumulate(z, axis=1)[:, :n_used],
        cost[:, :n_used],
        predicted[:, :n_used],
        last,
    )


def join_stops(parts: list[Stops]) -> Stops:
    """Return the stops of several groups of rows as those of one.

    Parameters
    ----------
    parts : list of Stops
        Of one model, or of models grown alike; at least one.
    """
    n_wide = max(part.reached.shape[1] for part in parts)

    def widen(steps: NDArray[np.float64]) -> NDArray[np.float64]:
        # A row stays as it was when it settled.
        return np.pad(steps, ((0, 0), (0, n_wide - steps.shape[1])), mode="edge")

    return Stops(
        np.vstack([widen(part.reached) for part in parts]),
        np.vstack([widen(part.cost) for part in parts]),
        np.vstack([widen(part.predicted) for part in parts]),
        np.concatenate([part.last for part in parts]),
    )


def list_thresholds(stops: Stops) -> NDArray[np.float64]:
    """Return thresholds to try: stop at once, stop when settled, and between."""
    finite = stops.reached[np.isfinite(stops.reached)]
    if not len(finite):
        return np.array([0.0, np.inf])
    shares = np.linspace(0, 1, N_THRESHOLDS)
    middle = np.nextafter(np.unique(np.quantile(finite, shares)), np.inf)
    return np.concatenate([[0.0], middle, [np.inf]])


def smooth(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of each value and its neighbours, fewer at the ends.

    The best of many thresholds overfits the rows that it is chosen on; a threshold
    whose neighbours do as well overfits them less.

    Examples
    --------
    >>> smooth(np.array([9.0, 0.0, 0.0, 0.0, 0.0, 0.0])).tolist()
    [1.8, 1.5, 1.5, 1.5, 1.5, 0.0]
    """
    total = np.concatenate([[0.0], np.cumsum(values)])
    where = np.arange(len(values))
    low = np.maximum(where - N_NEIGHBOURS, 0)
    high = np.minimum(where + N_NEIGHBOURS + 1, len(values))
    return np.asarray((total[high] - total[low]) / (high - low))


def rows_needed(target: float) -> int:
    """Return how many rows are needed to bound the expected share of losses.

    Examples
    --------
    >>> rows_needed(0.005)
    199
    """
    # (0 + 1) / (n + 1) <= target, but for the rounding of the division.
    return max(1, ceil(1.0 / target - 1.0 - 1e-9))


def threshold_for_loss(worst: NDArray[np.float64], target: float) -> float | None:
    """Return the least threshold whose bound on the loss is within the target.

    Parameters
    ----------
    worst : ndarray of shape (n_rows,)
        The highest threshold at which each row is lost.
    target : float
        The expected share of new rows that may be lost.

    Returns
    -------
    float or None
        Infinite if rows must go on until they are settled, None if even then too many
        are lost.
    """
    n = len(worst)
    allowed = int(np.floor(target * (n + 1) + 1e-9)) - 1
    if allowed < 0 or np.count_nonzero(worst == np.inf) > allowed:
        return None
    # With the threshold just above the next one, exactly `allowed` rows are lost.
    highest_first = np.sort(worst)[::-1]
    limit = float(highest_first[allowed]) if allowed < n else -np.inf
    return 0.0 if limit < 0 else float(np.nextafter(limit, np.inf))


def threshold_for_cost(stops: Stops, budget: float, largest: float) -> float:
    """Return the highest threshold whose bound on the mean cost is within a budget.

    Parameters
    ----------
    stops : Stops
        Where each row would stop.
    budget : float
        What a new row may be expected to pay.
    largest : float
        What a row may pay at most: one such row is counted in.
    """
    n = stops.n_rows

    def bound(threshold: float) -> float:
        return float((stops.at(threshold)[0].sum() + largest) / (n + 1))

    if bound(np.inf) <= budget:
        return float(np.inf)
    # Cost changes only where some row stops one step later, just above a value of z.
    values = np.unique(stops.reached[np.isfinite(stops.reached)])
    candidates = np.append(0.0, np.nextafter(values, np.inf))
    low, high = 0, len(candidates) - 1
    # Invariant: candidates up to `low` keep the budget, or `low` is 0.
    while low < high:
        middle = (low + high + 1) // 2
        if bound(float(candidates[middle])) <= budget:
            low = middle
        else:
            high = middle - 1
    return float(candidates[low])
