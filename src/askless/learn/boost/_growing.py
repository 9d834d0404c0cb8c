"""Grow the boosters of several plans as tasks, and tell how many there are.

This module must not know budgets, nor which of the boosters is taken.
"""

from __future__ import annotations

from dataclasses import replace

from askless._progress import Reporter
from askless.learn._examples import Examples
from askless.learn._stages import warn_interrupted
from askless.learn.boost._booster_rows import BoosterRows
from askless.learn.boost._boosters import BoosterPlan, Grown, grow_model
from askless.learn.boost._families import Plan
from askless.problem._sweep import run_tasks

__all__ = ["Telling", "fix_rounds", "grow_all"]


def fix_rounds(plan: Plan, grown: Grown) -> Plan:
    """Return the plan of a booster of as many rounds as another.

    So boosters of folds are like the one that is kept, and none of their rounds is
    grown only to see that it tells validation rows no better.
    """
    if not isinstance(plan, BoosterPlan):
        return plan
    return replace(plan, n_fixed=grown.n_rounds)


def grow_all(
    plans: list[Plan],
    grown_on: list[BoosterRows],
    valid: BoosterRows,
    examples: Examples,
    telling: Telling,
    *,
    needs_one: bool = False,
) -> list[dict[int, Grown]]:
    """Return, for each set of rows, a booster for each plan by the plan's number.

    Fewer if someone asks to stop, or by Ctrl-C, but one if one is needed. They are
    tasks of joblib: one after another, unless ``joblib.parallel_config`` says that
    several run at once.

    Parameters
    ----------
    plans : list of plans
        What to grow.
    grown_on : list of BoosterRows
        Sets of rows to grow on.
    valid : BoosterRows
        Validation rows.
    examples : Examples
        What classes, costs and names come from, and who is told.
    telling : Telling
        Counts the boosters.
    needs_one : bool
        Whether Ctrl-C is passed on while there is none.
    """
    facts = (examples.classes, examples.costs, examples.names)
    tasks = [(plan, rows, valid, *facts) for rows in grown_on for plan in plans]
    grown: list[dict[int, Grown]] = [{} for _ in grown_on]
    reporter = examples.reporter

    def add(i: int, model: Grown) -> bool:
        grown[i // len(plans)][i % len(plans)] = model
        telling.tell_one()
        return reporter.wants_stop

    try:
        run_tasks(grow_model, tasks, on_done=add)
    except KeyboardInterrupt:
        if needs_one and not any(grown):
            raise
        reporter.wants_stop = True
        warn_interrupted("Interrupted: chosen from the boosters grown so far.")
    return grown


class Telling:
    """Counts the boosters that are grown, and tells how many there are."""

    def __init__(self, reporter: Reporter, n_boosters: int) -> None:
        self.reporter = reporter
        self.n_boosters = n_boosters
        self.n_grown = 0

    def tell_one(self) -> None:
        """Tell that one more booster is there."""
        self.n_grown += 1
        self.reporter.tell(
            f"booster {self.n_grown} of {self.n_boosters}",
            done=self.n_grown / self.n_boosters,
        )
