"""Policies that choose test by test from the posterior, when to stop calibrated.

Which test comes next does not depend on the factor; only when to stop does. So one run
of a drawn case, on to where the largest factor stops, says what it costs at each of
them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidOptionError
from askless.policy import Policy, Posterior
from askless.policy._sample import QUANTILE, draw_runs
from askless.problem import Table
from askless.solve._task import MethodResult, Priced, Task
from askless.solve.total._rules import grow_information_total, grow_value_total

__all__ = [
    "calibrate_factor",
    "solve_information_total",
    "solve_online",
    "solve_value_total",
]

# What is tried: from a test that must save four times its price, to one that may be
# estimated to save a sixteenth of it. 1 first, so that it wins a tie.
FACTORS = (1.0, *(2.0 ** (k / 2) for k in range(-4, 9) if k))
# Cases are drawn for so many chances in all, at least and at most so often.
MOST_CHANCES = 200_000_000
LEAST_RUNS, MOST_RUNS = 20, 1000
# Seeds: what a policy costs is drawn from other cases than its factor.
CALIBRATES, PRICES = 1, 0
PRICE_SECONDS = 5.0


def solve_information_total(
    task: Task, *, budget: float | None = None, online: bool = False
) -> Policy | MethodResult:
    """Choose by bits about the class for the price: a tree, or test by test.

    Parameters
    ----------
    task : Task
        What to solve, with mistakes.
    budget : float, optional
        No path spends more; for trees only.
    online : bool, default=False
        Return the policy that chooses test by test, instead of a tree.
    """
    if online:
        return solve_online(task, "information", budget)
    return grow_information_total(task, budget=budget)


def solve_value_total(
    task: Task, *, budget: float | None = None, online: bool = False
) -> Policy | MethodResult:
    """Choose by what a test takes off the cost of mistakes, for the price.

    Parameters
    ----------
    task, budget, online
        See :func:`solve_information_total`.
    """
    if online:
        return solve_online(task, "value", budget)
    return grow_value_total(task, budget=budget)


def solve_online(task: Task, criterion: str, budget: float | None) -> MethodResult:
    """Return the policy that chooses by a criterion, and what it costs on drawn cases.

    Parameters
    ----------
    task : Task
        What to solve, with mistakes.
    criterion : {"information", "value"}
    budget : float or None
        Must be None.
    """
    if budget is not None:
        raise InvalidOptionError(
            "A policy that chooses test by test knows no worst cost, so online=True "
            f"takes no budget. Got {budget:g}. Leave one of them out."
        )
    policy = Posterior.from_table(task.table, criterion)
    policy = policy.with_factor(calibrate_factor(policy, task.table))
    return MethodResult(policy, priced=_price(task, policy))


def calibrate_factor(policy: Posterior, table: Table) -> float:
    """Return the factor of the least mean total cost on drawn cases.

    Parameters
    ----------
    policy : Posterior
        Its own factor does not matter.
    table : Table
        The table that it was made from.
    """
    rng = np.random.default_rng(CALIBRATES)
    n_runs = MOST_CHANCES // policy.model.chance.size
    n_runs = min(max(n_runs, LEAST_RUNS), MOST_RUNS)
    patient = policy.with_factor(max(FACTORS))
    totals = np.zeros(len(FACTORS))
    for case in rng.choice(table.n_cases, n_runs, p=table.prior).tolist():
        totals += _run(patient, table, case, rng)
    return float(FACTORS[int(np.argmin(totals))])


def _run(
    policy: Posterior, table: Table, case: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return what a case pays and is expected to lose at each factor."""
    factors = np.array(FACTORS)
    total = np.full(len(factors), np.nan)
    state, bill = policy.initial_state(), policy.prices.open_bill()
    while True:
        look = policy.look(state)
        stops = np.isnan(total) & ~(look.rate * factors > 1.0)
        total[stops] = bill.spent + look.loss
        test = policy.next_test(state)
        if test is None:
            return total
        code = table.possible.draw(test, case, rng)
        bill.charge(test, code)
        state = policy.advance(state, code)


def _price(task: Task, policy: Posterior) -> Priced:
    """Return what a policy costs on drawn cases; the margin is of the total cost."""
    runs = draw_runs(
        policy, task.table, task.class_ids, random_state=PRICES, seconds=PRICE_SECONDS
    )
    assert task.mistakes is not None
    lost = task.mistakes[task.class_ids[runs.cases], runs.decisions]
    spread = float((runs.costs + lost).std(ddof=1)) if len(lost) > 1 else 0.0
    sample = runs.summary
    return Priced(
        sample.expected_cost,
        sample.worst_cost,
        sample.error,
        is_exact=False,
        margin=QUANTILE * spread / float(np.sqrt(len(lost))),
        mistake_cost=float(lost.mean()),
    )
