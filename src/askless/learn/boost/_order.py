"""Learn which tests to buy earlier than what waits for them says.

What waits for a test is counted tree by tree, as if tests told of the class
independently of each other. So of tests that tell the same, all look worth their price
until one is bought. Factors of the scores, tried on rows, make up for some of that.
This module must not know how boosters are grown, nor which one is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.learn._stages import warn_interrupted
from askless.learn.boost._calibrate import (
    Stops,
    join_stops,
    list_thresholds,
    trace_both,
)
from askless.policy import Ensemble

__all__ = ["OrderedRun", "learn_eagerness"]

# How many changes of the factors are tried, the share of tests that each changes, and
# the deviation of the logarithm of a factor.
N_TRIES, CHANGED, STEP = 60, 0.3, 0.4
# Of what a row costs once it is settled: where errors are compared.
SHARES = (0.1, 0.2, 0.3, 0.45, 0.6, 0.8)
# With fewer tests there is little to order.
LEAST_TESTS = 3


@dataclass(frozen=True)
class OrderedRun:
    """A booster, and rows that it was not grown on.

    Attributes
    ----------
    model : Ensemble
        The booster.
    values : frame, mapping of columns or ndarray
        Raw values of the rows.
    class_ids : ndarray of shape (n_rows,)
        The class of each row.
    by_log_loss : bool
        Whether probabilities count, and not decisions.
    """

    model: Ensemble
    values: Any
    class_ids: NDArray[np.int64]
    by_log_loss: bool = False

    def trace(self, eagerness: Sequence[float] | None, n_jobs: int) -> Stops:
        """Return where rows stop if tests are bought in another order."""
        model = self.model.with_eagerness(eagerness)
        judged = self.class_ids if self.by_log_loss else None
        return trace_both(model, self.values, n_jobs, judged)[0]


def learn_eagerness(
    runs: list[OrderedRun], seed: int, n_jobs: int
) -> tuple[float, ...] | None:
    """Return factors by which rows err less at the same cost; None if none are found.

    Factors are changed at random, a few tests at a time, and a change is kept if the
    mean error over several costs falls, or the mean log loss.

    Parameters
    ----------
    runs : list of OrderedRun
        Boosters grown alike, with rows of their own; all have the same tests.
    seed : int
        Draws the changes.
    n_jobs : int
        Threads; the factors do not depend on it.
    """
    n_tests = len(runs[0].model.tests)
    if len(runs[0].model.used_tests) < LEAST_TESTS:
        return None
    true = np.concatenate([run.class_ids for run in runs])

    def trace(logs: NDArray[np.float64]) -> Stops:
        factors = np.exp(logs).tolist()
        return join_stops([run.trace(factors, n_jobs) for run in runs])

    start = np.zeros(n_tests)
    plain = trace(start)
    spent = np.array(SHARES) * plain.at(np.inf)[0].mean()
    best, logs = mean_error(plain, true, spent), start
    rng = np.random.default_rng(seed)
    try:
        for _ in range(N_TRIES):
            change = STEP * rng.normal(size=n_tests) * (rng.random(n_tests) < CHANGED)
            error = mean_error(trace(logs + change), true, spent)
            if error < best:
                best, logs = error, logs + change
    except KeyboardInterrupt:
        warn_interrupted("Interrupted: the order of purchases learned so far is used.")
    return None if logs is start else tuple(np.exp(logs).tolist())


def mean_error(
    stops: Stops, true: NDArray[np.int64], spent: NDArray[np.float64]
) -> float:
    """Return the mean of the errors at several mean costs, between thresholds too.

    Where probabilities were judged, of their log losses.
    """
    costs, errors = [], []
    for threshold in list_thresholds(stops):
        if stops.losses is None:
            cost, predicted = stops.at(float(threshold))
            errors.append(np.mean(predicted != true))
        else:
            step = stops.step_at(float(threshold))
            cost = stops.cost[np.arange(stops.n_rows), step]
            errors.append(stops.losses.mean(step)["log_loss"])
        costs.append(cost.mean())
    order = np.argsort(costs, kind="stable")
    found = np.interp(spent, np.array(costs)[order], np.array(errors)[order])
    return float(found.mean())
