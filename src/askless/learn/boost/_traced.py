"""Trace boosters on the rows to choose on: as they come, and in a learned order.

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
from askless.learn.boost._order import OrderedRun, learn_eagerness
from askless.policy import Ensemble

__all__ = ["WAYS_TO_STOP", "TracedRows", "join_weights", "trace_candidates"]

# Whether what is open is taken to vary all at once: each booster is tried both ways.
WAYS_TO_STOP = (False, True)
# The order is learned with the small booster next to this tradeoff, which buys neither
# everything nor nearly nothing, and on so many rows at most.
MIDDLE_TRADEOFF, MOST_ORDERED = 0.004, 1_000

Eagerness = tuple[float, ...] | None


@dataclass(frozen=True)
class TracedRows:
    """Boosters, one for each plan, and rows that they were not grown on."""

    models: list[Ensemble]
    rows: BoosterRows


def trace_candidates(
    plans: list[Plan],
    runs: list[TracedRows],
    seed: int | None,
    n_jobs: int,
    *,
    by_log_loss: bool = False,
) -> Candidates:
    """Return all boosters as they come, then those in a learned order, both ways.

    Parameters
    ----------
    plans : list of BoosterPlan, ForestPlan or BayesPlan
        How the boosters were grown.
    runs : list of TracedRows
        The boosters, and then those of each fold.
    seed : int or None
        For the learned order; None to learn none.
    n_jobs : int
        Threads.
    by_log_loss : bool, default=False
        Whether they are judged by their probabilities, and not by their decisions.
    """
    # Of each entry: the booster, and in which order it buys.
    entries: list[tuple[int, Eagerness]] = [(i, None) for i in range(len(plans))]
    eagerness = None
    if seed is not None:
        eagerness = _learn_order(plans, runs, seed, n_jobs, by_log_loss)
    if eagerness is not None:
        # Factors of boosters do not suit a forest, which waits for other tests.
        ordered = [i for i, plan in enumerate(plans) if plan.family != "forest"]
        entries += [(i, eagerness) for i in ordered]
    stops = [
        part
        for entry in entries
        for part in _trace_both(*entry, runs, n_jobs, by_log_loss)
    ]
    rows = [run.rows.rows for run in runs]
    kind = LogLossCandidates if by_log_loss else Candidates
    return kind(
        [plans[i] for i, _ in entries for _ in WAYS_TO_STOP],
        [
            runs[0].models[i].with_eagerness(eager).with_stop(varies_together=together)
            for i, eager in entries
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


def _learn_order(
    plans: list[Plan],
    runs: list[TracedRows],
    seed: int,
    n_jobs: int,
    by_log_loss: bool,
) -> Eagerness:
    """Return factors by which a booster in the middle of the range errs less."""
    small = [i for i, plan in enumerate(plans) if plan.family == "boost"]
    if not small:
        return None
    leaves = min(plans[i].n_leaves for i in small)
    middle = min(
        (i for i in small if plans[i].n_leaves == leaves),
        key=lambda i: abs(plans[i].tradeoff - MIDDLE_TRADEOFF),
    )
    ordered = []
    for run in runs:
        rows = run.rows.take(slice(0, MOST_ORDERED))
        known = rows.rows.class_ids
        ordered.append(
            OrderedRun(run.models[middle], rows.raw_rows.values, known, by_log_loss)
        )
    return learn_eagerness(ordered, seed, n_jobs)


def _trace_both(
    booster: int,
    eagerness: Eagerness,
    runs: list[TracedRows],
    n_jobs: int,
    by_log_loss: bool,
) -> tuple[list[Stops], list[Stops]]:
    """Return where rows stop: both ways, each as a list with an entry for each run."""
    pairs = [
        trace_both(
            run.models[booster].with_eagerness(eagerness),
            run.rows.raw_rows.values,
            n_jobs,
            run.rows.rows.class_ids if by_log_loss else None,
        )
        for run in runs
    ]
    return [apart for apart, _ in pairs], [together for _, together in pairs]


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
