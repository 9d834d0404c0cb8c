"""How good the probabilities of traced rows are, had they stopped at each step.

This module must not know when rows stop, nor what is chosen by it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.policy.ensemble._ensemble import Trace
from askless.policy.ensemble._output import Output

__all__ = ["LEAST_SHARE", "StepLosses", "join_losses", "judge_steps"]

# No probability is taken for less: one row that a forest rules out is not everything.
LEAST_SHARE = 1e-6


@dataclass(frozen=True)
class StepLosses:
    """How good the probabilities of each step are.

    Two numbers of single precision a step are kept, however many classes there are.

    Attributes
    ----------
    log_loss : ndarray of shape (n_rows, n_steps)
        The logarithm of the probability of the true class, with its sign changed.
    brier : ndarray of shape (n_rows, n_steps)
        The squared distance of the probabilities from the truth, added over classes.
    """

    log_loss: NDArray[np.float32]
    brier: NDArray[np.float32]

    def mean(
        self, step: NDArray[np.int64], weights: NDArray[np.float64] | None = None
    ) -> dict[str, float]:
        """Return the mean of both over rows that stop at some steps.

        Parameters
        ----------
        step : ndarray of shape (n_rows,)
            Where each row stops.
        weights : ndarray of shape (n_rows,), optional
            The weight of each row.

        Examples
        --------
        >>> losses = StepLosses(np.array([[0.5, 0.25]]), np.array([[1.0, 0.5]]))
        >>> losses.mean(np.array([1]))
        {'log_loss': 0.25, 'brier': 0.5}
        """
        rows = np.arange(len(step))
        return {
            name: float(np.average(values[rows, step].astype(float), weights=weights))
            for name, values in (("log_loss", self.log_loss), ("brier", self.brier))
        }


def judge_steps(
    trace: Trace, output: Output, class_ids: NDArray[np.int64]
) -> StepLosses:
    """Return how good the probabilities of each step of a trace are.

    A row stays as it was when it ended. Step by step, so that there are never more
    probabilities at once than rows times classes.

    Parameters
    ----------
    trace : Trace
        Every step of the rows, with sums.
    output : Output
        How sums become probabilities.
    class_ids : ndarray of shape (n_rows,)
        The class of each row; -1 for one that the model does not know.
    """
    assert trace.sums is not None
    n_wide = int(trace.n_steps.max(initial=1))
    shape = (len(class_ids), n_wide)
    log_loss, brier = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    for step in range(n_wide):
        if step:
            log_loss[:, step] = log_loss[:, step - 1]
            brier[:, step] = brier[:, step - 1]
        here = np.flatnonzero(trace.n_steps > step)
        sums = trace.sums[here, step].astype(np.float64)
        found = _judge(output.probabilities(sums), class_ids[here])
        log_loss[here, step], brier[here, step] = found
    return StepLosses(log_loss, brier)


def _judge(shares: NDArray[np.float64], class_ids: NDArray[np.int64]) -> Any:
    """Return the log loss and the Brier score of each row."""
    is_known = class_ids >= 0
    told = shares[np.arange(len(shares)), np.maximum(class_ids, 0)] * is_known
    # (p - 1)^2 for the true class and p^2 for each other one.
    distance = (shares**2).sum(axis=1) - 2 * told + 1
    return -np.log(np.maximum(told, LEAST_SHARE)), distance


def join_losses(parts: list[StepLosses | None]) -> StepLosses | None:
    """Return the losses of several groups of rows as those of one.

    Parameters
    ----------
    parts : list of StepLosses or None
        Of all groups, or None for each.
    """
    known = [part for part in parts if part is not None]
    if not known:
        return None
    n_wide = max(part.brier.shape[1] for part in known)

    def join(steps: list[NDArray[np.float32]]) -> NDArray[np.float32]:
        # A row stays as it was when it settled.
        wide = [((0, 0), (0, n_wide - part.shape[1])) for part in steps]
        padded = zip(steps, wide, strict=True)
        return np.vstack([np.pad(part, width, mode="edge") for part, width in padded])

    return StepLosses(
        join([part.log_loss for part in known]), join([part.brier for part in known])
    )
