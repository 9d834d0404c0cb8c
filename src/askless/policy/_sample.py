"""Sample what a policy costs on a table, where its states are too many to follow."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from askless.policy._base import Policy
from askless.problem import Table

__all__ = ["Runs", "Sample", "draw_runs", "sample_policy"]

# Two-sided, 99 %.
QUANTILE = 2.5758293035489004


class Sample(NamedTuple):
    """What drawn cases have cost.

    Attributes
    ----------
    expected_cost, worst_cost, error : float
        The mean and the largest cost, and the share decided wrongly.
    margin : float
        Half the width of the 99 % interval of the mean.
    n_runs : int
    """

    expected_cost: float
    worst_cost: float
    error: float
    margin: float
    n_runs: int


class Runs(NamedTuple):
    """Runs of a policy on drawn cases, one after another."""

    cases: NDArray[np.int64]
    costs: NDArray[np.float64]
    decisions: NDArray[np.int64]
    is_wrong: NDArray[np.bool_]

    @property
    def summary(self) -> Sample:
        """What the runs amount to."""
        n = len(self.costs)
        spread = float(self.costs.std(ddof=1)) if n > 1 else 0.0
        return Sample(
            float(self.costs.mean()),
            float(self.costs.max()),
            float(self.is_wrong.mean()),
            QUANTILE * spread / float(np.sqrt(n)),
            n,
        )


def sample_policy(
    policy: Policy, table: Table, labels: NDArray[np.int32], **options: Any
) -> Sample:
    """Return what a policy costs on drawn cases; see :func:`draw_runs`.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0, 0], [None, 1]], ["a", "b"], costs=[1, 2])
    >>> policy = askless.solve(table).policy
    >>> sample_policy(policy, table, table.class_ids, most_runs=20).expected_cost
    2.0
    """
    return draw_runs(policy, table, labels, **options).summary


def draw_runs(
    policy: Policy,
    table: Table,
    labels: NDArray[np.int32],
    *,
    most_runs: int = 1000,
    seconds: float = 2.0,
    least_runs: int = 10,
    random_state: int = 0,
) -> Runs:
    """Run a policy on cases drawn from the prior, unknown outcomes drawn once each.

    Parameters
    ----------
    policy : Policy
        Its tests must be those of the table, in order.
    table : Table
    labels : ndarray of int32 of shape (n_cases,)
        The right decision for each case.
    most_runs, least_runs : int
        How many cases to draw; at least the latter, however long it takes.
    seconds : float, default=2.0
        How long to go on.
    random_state : int, default=0
        Seed of the draws.
    """
    rng = np.random.default_rng(random_state)
    began = time.monotonic()
    drawn: list[tuple[int, float, int]] = []
    while len(drawn) < most_runs:
        if len(drawn) >= least_runs and time.monotonic() - began > seconds:
            break
        case = int(rng.choice(table.n_cases, p=table.prior))
        state, bill = policy.initial_state(), policy.prices.open_bill()
        shown: dict[int, int] = {}
        while (test := policy.next_test(state)) is not None:
            if test not in shown:
                shown[test] = table.possible.draw(test, case, rng)
            if policy.prices.delayed[test] and not bill.has_paid(test):
                bill.charge_together(policy.tests_ahead(state))
            else:
                bill.charge(test, shown[test])
            state = policy.advance(state, shown[test])
        drawn.append((case, bill.spent, policy.decision(state)))
    cases = np.array([case for case, _, _ in drawn])
    decisions = np.array([decision for _, _, decision in drawn])
    return Runs(
        cases,
        np.array([cost for _, cost, _ in drawn]),
        decisions,
        np.asarray(labels[cases] != decisions),
    )
