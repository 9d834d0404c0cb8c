"""Calibrate when an ensemble stops early, on rows that its model was not trained on.

A trace tells, for every threshold, where a row would have stopped, what it would have
paid, and what would have been predicted. Stopping early is calibrated by conformal risk
control (Angelopoulos and others, 2024): a row counts as lost at a threshold if stopping
there, or at any higher threshold, is a loss. So the loss of a row never falls when the
threshold does, and the mean over n rows, with one more row counted as lost, bounds the
expected loss of a new row that is like them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.isotonic import isotonic_regression

from askless.learn._examples import KnownRows
from askless.learn.boost._step_losses import StepLosses, join_losses, judge_steps
from askless.policy import Ensemble
from askless.policy.ensemble._ensemble import Trace

__all__ = [
    "Bound",
    "Stops",
    "calibrate",
    "fall",
    "fill_budget",
    "fit_slope",
    "join_stops",
    "list_stops",
    "list_thresholds",
    "rows_needed",
    "smooth",
    "threshold_for_cost",
    "threshold_for_loss",
    "trace_both",
    "trace_stops",
]

# Thresholds tried for each model: as many quantiles of what was reached.
N_THRESHOLDS = 80
# Thresholds among which one that uses up a budget is sought, at most.
MOST_CHANGES = 20_000
# Rows that probabilities are fitted on, at least and at most.
FEWEST_ROWS, MOST_CALIBRATED = 50, 500
# The least and the largest factor of log-odds.
SLOPES = (0.05, 5.0)
# Neighbours on each side over which the error of a threshold is averaged.
N_NEIGHBOURS = 4

# What a new row may be expected to pay, given what each row pays, and at most may pay.
Bound = Callable[[NDArray[np.float64], float], float]


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
    losses : StepLosses or None
        How good the probabilities of each step are, if someone wants to know.
    """

    reached: NDArray[np.float64]
    cost: NDArray[np.float64]
    predicted: NDArray[np.float64]
    last: NDArray[np.int64]
    losses: StepLosses | None = None

    @property
    def n_rows(self) -> int:
        """How many rows were traced."""
        return len(self.last)

    def step_at(self, threshold: float) -> NDArray[np.int64]:
        """Return the step where each row stops with a threshold."""
        return np.asarray(np.argmax(self.reached >= threshold, axis=1))

    def at(self, threshold: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return what each row pays, and is predicted, with a threshold."""
        step = self.step_at(threshold)
        rows = np.arange(self.n_rows)
        return self.cost[rows, step], self.predicted[rows, step]

    def limit(self, most: float) -> Stops:
        """Return where rows stop that may pay at most so much each."""
        if most == np.inf:
            return self
        n_within = np.count_nonzero(self.cost <= most, axis=1)
        last = np.minimum(self.last, np.maximum(n_within - 1, 0))
        is_over = np.arange(self.cost.shape[1]) >= last[:, None]
        return replace(self, reached=np.where(is_over, np.inf, self.reached), last=last)

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
    if policy.varies_together:
        trace = trace._replace(z=trace.z_together)
    return list_stops(trace, final), final


def trace_both(
    policy: Ensemble, X: Any, n_jobs: int, class_ids: NDArray[np.int64] | None = None
) -> tuple[Stops, Stops]:
    """Trace rows; return where they stop by each way in which deviations add up.

    Parameters
    ----------
    policy, X, n_jobs
        See :func:`trace_stops`; of classes.
    class_ids : ndarray of shape (n_rows,), optional
        The class of each row, to judge the probabilities of each step by.

    Returns
    -------
    independent, together : Stops
        See ``varies_together`` of :class:`~askless.policy.Ensemble`.
    """
    trace = policy.trace(X, n_jobs=n_jobs, with_sums=class_ids is not None)
    final = policy.output.decide(trace.raw).astype(np.float64)
    together = trace._replace(z=trace.z_together)
    both = list_stops(trace, final), list_stops(together, final)
    if class_ids is None:
        return both
    losses = judge_steps(trace, policy.output, class_ids)
    return replace(both[0], losses=losses), replace(both[1], losses=losses)


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

    Before the first purchase, a model is equally sure of every row. Models grown alike
    differ a little there, and a threshold between them would be judged by what only
    some of them buy. So all are taken to be as sure as the first one.

    Parameters
    ----------
    parts : list of Stops
        Of one model, or of models grown alike; at least one.
    """
    n_wide = max(part.reached.shape[1] for part in parts)

    def widen(steps: NDArray[np.float64]) -> NDArray[np.float64]:
        # A row stays as it was when it settled.
        return np.pad(steps, ((0, 0), (0, n_wide - steps.shape[1])), mode="edge")

    reached = np.vstack([widen(part.reached) for part in parts])
    is_open = np.isfinite(reached[:, 0])
    reached[is_open, 0] = parts[0].reached[0, 0]
    return Stops(
        np.maximum.accumulate(reached, axis=1),
        np.vstack([widen(part.cost) for part in parts]),
        np.vstack([widen(part.predicted) for part in parts]),
        np.concatenate([part.last for part in parts]),
        join_losses([part.losses for part in parts]),
    )


def list_thresholds(stops: Stops) -> NDArray[np.float64]:
    """Return thresholds to try: stop at once, stop when settled, and between."""
    finite = stops.reached[np.isfinite(stops.reached)]
    if not len(finite):
        return np.array([0.0, np.inf])
    shares = np.linspace(0, 1, N_THRESHOLDS)
    middle = np.nextafter(np.unique(np.quantile(finite, shares)), np.inf)
    return np.concatenate([[0.0], middle, [np.inf]])


def fall(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values nearest to some that never rise: means where they would.

    Examples
    --------
    >>> fall(np.array([9.0, 3.0, 5.0, 4.0, 1.0])).tolist()
    [9.0, 4.0, 4.0, 4.0, 1.0]
    """
    return np.asarray(isotonic_regression(values, increasing=False), dtype=np.float64)


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


def threshold_for_cost(stops: Stops, bound: Bound, budget: float) -> float:
    """Return the highest threshold whose bound on the mean cost is within a budget.

    Parameters
    ----------
    stops : Stops
        Where each row would stop.
    bound : callable
        Takes what each row pays, and what it may pay at most, and returns what a new
        row may be expected to pay.
    budget : float
        What that may be.
    """
    if bound(stops.at(np.inf)[0], np.inf) <= budget:
        return float(np.inf)
    candidates = _list_changes(stops)
    return _last_within(candidates, lambda t: bound(stops.at(t)[0], np.inf), budget)


def fill_budget(stops: Stops, bound: Bound, budget: float) -> list[tuple[float, float]]:
    """Return the thresholds, and the most that a row may pay, that use up a budget.

    The first is the highest threshold within the budget, without a limit for rows. From
    one threshold to the next, the cost can jump: by a first test that every row buys,
    or where rows grow less sure before they grow surer. Then the second is the next
    threshold, with the highest limit for every row that is within the budget.

    Parameters
    ----------
    stops, bound, budget
        See :func:`threshold_for_cost`.
    """
    threshold = threshold_for_cost(stops, bound, budget)
    found = [(threshold, float(np.inf))]
    if threshold == np.inf:
        return found
    changes = _list_changes(stops)
    above = np.searchsorted(changes, threshold, side="right")
    higher = float(changes[above]) if above < len(changes) else float(np.inf)
    limits = np.unique(stops.cost)
    limit = _last_within(
        limits, lambda most: bound(stops.limit(most).at(higher)[0], most), budget
    )
    if limit > 0:
        found.append((higher, float(limit)))
    return found


def _list_changes(stops: Stops) -> NDArray[np.float64]:
    """Return 0 and every threshold where some row stops one step later than before."""
    values = np.unique(stops.reached[np.isfinite(stops.reached)])
    if len(values) > MOST_CHANGES:
        values = values[np.linspace(0, len(values) - 1, MOST_CHANGES).astype(int)]
    return np.append(0.0, np.nextafter(values, np.inf))


def _last_within(
    candidates: NDArray[np.float64], value: Callable[[float], float], most: float
) -> float:
    """Return the last candidate of a value within a limit; the first if none is."""
    low, high = 0, len(candidates) - 1
    # Invariant: candidates up to `low` are within, or `low` is 0.
    while low < high:
        middle = (low + high + 1) // 2
        if value(float(candidates[middle])) <= most:
            low = middle
        else:
            high = middle - 1
    return float(candidates[low])


def calibrate(policy: Ensemble, rows: KnownRows, n_jobs: int) -> Ensemble:
    """Return a policy whose probabilities fit rows, where it stops on them.

    Decisions stay as they are. Shares of trees, and too few rows, are left alone.

    Parameters
    ----------
    policy : Ensemble
        A policy that decides between classes.
    rows : KnownRows
        Rows that it was not trained on; the first ones are taken.
    n_jobs : int
        Threads.
    """
    rows = rows.take(np.flatnonzero(rows.class_ids >= 0)[:MOST_CALIBRATED])
    if policy.output.link not in ("logit", "softmax") or rows.n_rows < FEWEST_ROWS:
        return policy
    scores = policy.output.scores(policy.run_rows(rows.values, n_jobs=n_jobs)[0])
    if scores.shape[1] == 1:
        scores = np.column_stack([np.zeros(len(scores)), scores])
    slope = policy.output.slope
    found = fit_slope(slope * scores, rows.class_ids, rows.weights)
    return policy.with_slope(slope * found)


def fit_slope(
    scores: NDArray[np.float64],
    class_ids: NDArray[np.int64],
    weights: NDArray[np.float64] | None = None,
) -> float:
    """Return the factor of log-odds that makes them tell the classes of rows best.

    Rows that stop early are surer than they should be, or less sure; no factor above 0
    changes a decision.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_classes)
        Log-odds of each class, at any common level.
    class_ids : ndarray of shape (n_rows,)
        The class of each row.
    weights : ndarray of shape (n_rows,), optional
        The weight of each row.

    Examples
    --------
    >>> scores = np.array([[0.0, 4.0]] * 3 + [[0.0, -4.0]] * 3)
    >>> round(fit_slope(scores, np.array([1, 1, 0, 0, 0, 1])), 2)
    0.17
    """
    rows = np.arange(len(scores))

    def loss(slope: float) -> float:
        scaled = slope * scores
        lost = logsumexp(scaled, axis=1) - scaled[rows, class_ids]
        return float(np.average(lost, weights=weights))

    low, high = np.log(SLOPES[0]), np.log(SLOPES[1])
    golden = (5**0.5 - 1) / 2
    for _ in range(30):
        left, right = high - golden * (high - low), low + golden * (high - low)
        if loss(float(np.exp(left))) <= loss(float(np.exp(right))):
            high = right
        else:
            low = left
    return float(np.exp((low + high) / 2))
