"""Trace boosters on the rows to choose on.

This module must not know how boosters are grown, nor which one is taken.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askless.learn._examples import KnownRows
from askless.learn.boost._booster_rows import BoosterRows
from askless.learn.boost._calibrate import (
    Stops,
    join_stops,
    list_thresholds,
    trace_both,
)
from askless.learn.boost._candidates import Candidates
from askless.learn.boost._families import Plan
from askless.learn.boost._log_loss import LogLossCandidates
from askless.policy import Ensemble

__all__ = [
    "WAYS_TO_STOP", "TracedRows", "join_runs", "join_weights", "trace_rows",
]  # fmt: skip

# Whether what is open is taken to vary all at once: each booster is tried both ways.
WAYS_TO_STOP = (False, True)


@dataclass(frozen=True)
class TracedRows:
    """Rows, and where they stop by boosters that were not grown on them.

    Attributes
    ----------
    models : list of Ensemble
        The boosters, one for each plan.
    rows : BoosterRows
        The rows.
    stops : list of tuple of Stops
        Where they stop, by each booster, both ways.
    """

    models: list[Ensemble]
    rows: BoosterRows
    stops: list[tuple[Stops, Stops]]

    def keep(self, boosters: list[int]) -> TracedRows:
        """Return the same of some of the boosters."""
        return TracedRows(
            [self.models[i] for i in boosters],
            self.rows,
            [self.stops[i] for i in boosters],
        )


def trace_rows(
    models: list[Ensemble], rows: BoosterRows, n_jobs: int, *, by_log_loss: bool = False
) -> TracedRows:
    """Run boosters on rows, both ways.

    Parameters
    ----------
    models : list of Ensemble
        The boosters.
    rows : BoosterRows
        Rows that they were not grown on.
    n_jobs : int
        Threads.
    by_log_loss : bool, default=False
        Whether they are judged by their probabilities, and not by their decisions.
    """
    class_ids = rows.rows.class_ids if by_log_loss else None
    values = rows.raw_rows.values
    stops = [trace_both(model, values, n_jobs, class_ids) for model in models]
    return TracedRows(models, rows, stops)


def join_runs(
    plans: list[Plan], runs: list[TracedRows], *, by_log_loss: bool = False
) -> Candidates:
    """Return all boosters, each both ways.

    Parameters
    ----------
    plans : list of BoosterPlan, ForestPlan or BayesPlan
        How the boosters were grown.
    runs : list of TracedRows
        The boosters, and then those of each fold.
    by_log_loss : bool, default=False
        Whether they are judged by their probabilities, and not by their decisions.
    """
    stops = [
        [run.stops[booster][way] for run in runs]
        for booster in range(len(plans))
        for way in range(len(WAYS_TO_STOP))
    ]
    rows = [run.rows.rows for run in runs]
    kind = LogLossCandidates if by_log_loss else Candidates
    return kind(
        [plan for plan in plans for _ in WAYS_TO_STOP],
        [
            model.with_stop(varies_together=together)
            for model in runs[0].models
            for together in WAYS_TO_STOP
        ],
        [list_thresholds(parts[0]) for parts in stops],
        [join_stops(parts) for parts in stops],
        np.concatenate([part.class_ids for part in rows]).astype(np.float64),
        join_weights(rows),
        np.repeat(np.arange(len(rows)), [part.n_rows for part in rows])
        if len(rows) > 1
        else None,
    )


def join_weights(parts: list[KnownRows]) -> NDArray[np.float64] | None:
    """Return the weights of several sets of rows; None if all are 1."""
    if all(rows.weights is None for rows in parts):
        return None
    return np.concatenate(
        [
            np.ones(rows.n_rows) if rows.weights is None else rows.weights
            for rows in parts
        ]
    )
