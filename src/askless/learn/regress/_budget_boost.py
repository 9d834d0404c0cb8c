"""Boosted trees of numbers with a budget: LightGBM grows, the adaptive run spends."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, train_test_split
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from askless.exceptions import InvalidOptionError
from askless.learn._checks import (
    check_budget,
    check_confidence,
    check_count,
    check_max_cost,
    check_number,
    check_share,
)
from askless.learn._examples import Examples
from askless.learn._stages import warn_interrupted
from askless.learn.boost._booster_rows import BoosterRows, choose_tests
from askless.learn.boost._boosters import BoosterPlan, import_lightgbm
from askless.learn.boost._calibrate import (
    join_stops,
    list_thresholds,
    trace_stops,
)
from askless.learn.boost._candidates import BoostPoint, Candidates, Goal
from askless.learn.boost._traced import join_weights
from askless.learn.regress._base import PolicyRegressor
from askless.learn.regress._boosters import grow_number_policy, rank_columns
from askless.learn.regress._losses import LOSSES, Loss, find_loss
from askless.policy import Ensemble
from askless.problem._sweep import run_tasks

__all__ = ["BudgetBoostRegressor", "NumberCandidates", "choose_columns"]

# With fewer validation rows, rows left out of growing are chosen on as well.
FEW_ROWS, N_FOLDS = 500, 5
# Validation rows that are traced, at most: more of them tell little more.
MOST_TRACED = 3_000
# With fewer rows, no booster sees only half of them.
LEAST_BAGGED = 4
# Of the price of everything, what the columns of a booster without penalties cost.
FEW_SHARES = (0.1, 0.25, 0.5)
# Leaves of the large booster, LightGBM's own default, and how much costs count there.
WIDE_LEAVES, WIDE_TRADEOFF = 31, 0.001


@dataclass(frozen=True)
class NumberCandidates(Candidates):
    """Boosters of numbers, traced on the rows to choose on.

    Attributes
    ----------
    loss : Loss
        How large an error is.
    plans, models, thresholds, stops, true, weights, groups
        See :class:`Candidates`; ``true`` are numbers.
    """

    loss: Loss = LOSSES["squared"]

    def _errors(self, predicted: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.loss.errors(predicted, self.true)

    def _loss(self, found: dict[str, Any], predicted: Any, goal: Goal) -> float:
        if goal.mistakes is None:
            return float(found["error"])
        mean = float(goal.mistakes[0, 0]) * float(found["error"])
        return mean if goal.budget is not None else mean + float(found["cost"])


class BudgetBoostRegressor(PolicyRegressor):
    """Boosted trees that say a number and keep an average budget.

    A few boosters are grown with LightGBM's penalties for features that a row has not
    bought yet, from accurate to cheap, and some without penalties on few columns. A row
    buys the feature whose open splits vary the sum most for its price, and stops when
    what is still open would hardly change the number. Which booster, and how little
    that must be, is chosen on validation rows: what errs least within the budget.

    Parameters
    ----------
    costs : Costs, mapping or sequence, default=None
        What each feature costs, by name or by position; 1 each by default.
    budget : float, default=None
        What a row may cost on average. None for the least error, whatever it costs.
    loss : {"squared", "absolute"}, default="squared"
        What an error counts.
    mistakes : float, default=None
        What an error of 1 costs, in the currency of the features; of the squared error
        if that is the `loss`. Without a budget, what features and errors cost together
        is then made least.
    budget_confidence : float, default=0.95
        How sure it must be that the mean cost of new rows is within the budget. None
        to keep the budget on the rows to choose on only, and spend more.
    max_cost : float, default=None
        The most that any row may cost: a row stops before it could pay more.
    tradeoffs : tuple of float, default=(0.001, 0.01, 0.04, 0.15)
        How much costs count, in units of the mean cost: one booster each.
    bagged_tradeoffs : tuple of float, default=(0.001, 0.025)
        The same of boosters that see some of the rows with each tree and some of the
        columns with each split, learn half as fast for twice as many rounds and shrink
        their leaves. May be empty.
    n_estimators : int, default=300
        The most trees; fewer if the validation error stops falling.
    n_leaves : int, default=8
        Leaves of a tree. One more booster has 31, as LightGBM by itself.
    learning_rate : float, default=0.1
        How much of each tree is added.
    l2 : float, default=None
        Shrinks leaves of little weight; 0 by default.
    validation_fraction : float, default=0.2
        The share of rows kept for validation, if ``fit`` is given none.
    n_folds : int, default=None
        With fewer than 500 validation rows, the rows that boosters grow on are used
        to choose on as well: they are divided into so many folds, and each fold is run
        by boosters grown without it. 5 by default, 0 for validation rows only.
    random_state : int, default=None
        Chooses the validation rows and the folds.
    n_jobs : int, default=None
        Threads; results do not depend on it.

    Attributes
    ----------
    policy_ : Ensemble
        The policy that was chosen.
    point_ : BoostPoint
        What was chosen, and what it did on the validation rows; its ``error`` is the
        mean of the `loss`.
    models_ : list of Ensemble
        The boosters, before one was chosen. A lossless run of one says what LightGBM
        says, to the last bit.

    Notes
    -----
    The budget is kept on average, not by each row; `max_cost` is kept by each row.
    Needs LightGBM: ``pip install 'askless[boost]'``.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> boost = BudgetBoostRegressor(budget=3, n_estimators=50, random_state=0)
    >>> boost = boost.fit(X[:350], y[:350])
    >>> bool(boost.point_.cost <= 3), bool(boost.score(X[350:], y[350:]) > 0.3)
    (True, True)
    """

    _draws_rows = True

    def __init__(
        self,
        costs: Any = None,
        budget: float | None = None,
        *,
        loss: str = "squared",
        mistakes: float | None = None,
        budget_confidence: float | None = 0.95,
        max_cost: float | None = None,
        tradeoffs: tuple[float, ...] = (0.001, 0.01, 0.04, 0.15),
        bagged_tradeoffs: tuple[float, ...] = (0.001, 0.025),
        n_estimators: int = 300,
        n_leaves: int = 8,
        learning_rate: float = 0.1,
        l2: float | None = None,
        validation_fraction: float = 0.2,
        n_folds: int | None = None,
        random_state: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.costs = costs
        self.budget = budget
        self.loss = loss
        self.mistakes = mistakes
        self.budget_confidence = budget_confidence
        self.max_cost = max_cost
        self.tradeoffs = tradeoffs
        self.bagged_tradeoffs = bagged_tradeoffs
        self.n_estimators = n_estimators
        self.n_leaves = n_leaves
        self.learning_rate = learning_rate
        self.l2 = l2
        self.validation_fraction = validation_fraction
        self.n_folds = n_folds
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _grow(self, examples: Examples) -> Ensemble:
        self._check_options()
        train, valid = self._split(examples)
        folds = self._list_folds(train, valid)
        grown_on = [train, *(train.take(some) for some, _ in folds)]
        left_out = [_take_some(valid, self.random_state)]
        left_out += [train.take(others) for _, others in folds]
        plans, grown = self._grow_all(grown_on, valid, examples)
        self.models_ = grown[0]
        # A fold counts if all boosters have run it.
        whole = [i for i, models in enumerate(grown) if len(models) == len(plans)]
        rows = [left_out[i].rows for i in whole]
        stops = [
            [
                trace_stops(grown[i][plan], left_out[i].rows.values, examples.n_threads)
                for i in whole
            ]
            for plan in range(len(plans))
        ]
        self._candidates = NumberCandidates(
            list(plans),
            self.models_,
            [list_thresholds(parts[0][0]) for parts in stops],
            [join_stops([part for part, _ in parts]) for parts in stops],
            np.concatenate([part.class_ids for part in rows]).astype(np.float64),
            join_weights(rows),
            np.repeat(whole, [part.n_rows for part in rows]) if len(rows) > 1 else None,
            find_loss(self.loss),
        )
        policy, self.point_ = self._candidates.choose(self._goal(self.budget))
        return policy

    def _check_options(self) -> None:
        check_budget(self.budget)
        check_max_cost(self.max_cost)
        check_confidence(self.budget_confidence)
        check_count("n_estimators", self.n_estimators, least=1)
        check_count("n_leaves", self.n_leaves, least=2)
        check_share("validation_fraction", self.validation_fraction, usual=0.2)
        if not len(self.tradeoffs):
            raise InvalidOptionError(
                "tradeoffs must be at least one number. Got none. Leave it out for "
                "four boosters."
            )
        for name in ("tradeoffs", "bagged_tradeoffs"):
            for tradeoff in getattr(self, name):
                check_number(name, tradeoff, least=0.0)
        if self.n_folds not in (None, 0):
            check_count("n_folds", self.n_folds, least=2)
        import_lightgbm()

    def _goal(self, budget: float | None) -> Goal:
        most = np.inf if self.max_cost is None else float(self.max_cost)
        priced = None if self.mistakes is None else np.array([[float(self.mistakes)]])
        return Goal(budget, self.budget_confidence, most, priced)

    def _split(self, examples: Examples) -> tuple[BoosterRows, BoosterRows]:
        """Return the rows to grow on and the validation rows, given or drawn."""
        tests = choose_tests(examples.rows.values, examples.names)
        every = BoosterRows.of(examples.rows, tests)
        if examples.valid is not None:
            return every, BoosterRows.of(examples.valid, tests)
        try:
            train, valid = train_test_split(
                np.arange(examples.n_rows),
                test_size=self.validation_fraction,
                random_state=self.random_state,
            )
        except ValueError:
            # Too few rows to divide: choose on the rows themselves.
            return every, every
        return every.take(train), every.take(valid)

    def _list_plans(self, n_rows: int, n_threads: int) -> list[BoosterPlan]:
        asked = [(tradeoff, False, self.n_leaves) for tradeoff in self.tradeoffs]
        # Half of a row is no row.
        bagged = self.bagged_tradeoffs if n_rows >= LEAST_BAGGED else ()
        asked += [(tradeoff, True, self.n_leaves) for tradeoff in bagged]
        asked.append((WIDE_TRADEOFF, False, max(WIDE_LEAVES, self.n_leaves)))
        return [
            BoosterPlan(
                float(tradeoff),
                is_bagged,
                self.n_estimators,
                n_leaves,
                self.learning_rate,
                self.l2,
                n_threads,
            )
            for tradeoff, is_bagged, n_leaves in asked
        ]

    def _list_few(
        self, plan: BoosterPlan, train: BoosterRows, examples: Examples
    ) -> list[BoosterPlan]:
        """Return boosters without penalties on the columns that some money can buy."""
        costs = examples.costs
        prices = costs.price_list(train.tests).full
        if len(prices) < 2 or not prices.any():
            return []
        gains = rank_columns(plan, find_loss(self.loss), train, costs)
        limits = [share * float(prices.sum()) for share in FEW_SHARES]
        limits += [] if self.budget is None else [float(self.budget)]
        found = {choose_columns(gains, prices, limit) for limit in limits}
        return [
            replace(plan, tradeoff=0.0, columns=columns)
            for columns in sorted(found - {()})
        ]

    def _list_folds(self, train: BoosterRows, valid: BoosterRows) -> list[Any]:
        """Return rows to grow on and rows left out, if validation rows are few."""
        n_folds = N_FOLDS if self.n_folds is None else self.n_folds
        n_rows = train.rows.n_rows
        if not n_folds or valid.rows.n_rows >= FEW_ROWS or n_rows < 2 * n_folds:
            return []
        folds = KFold(n_folds, shuffle=True, random_state=self.random_state)
        return list(folds.split(train.matrix))

    def _grow_all(
        self, grown_on: list[BoosterRows], valid: BoosterRows, examples: Examples
    ) -> tuple[list[BoosterPlan], list[list[Ensemble]]]:
        """Return the plans, and a booster for each of them on each set of rows.

        Fewer if someone asks to stop, or by Ctrl-C: the plans are those of the boosters
        grown on the first set.
        """
        loss = find_loss(self.loss)
        n_rows = min(rows.rows.n_rows for rows in grown_on)
        plans = self._list_plans(n_rows, examples.n_threads)
        plans += self._list_few(plans[0], grown_on[0], examples)
        facts = (examples.costs, examples.names)
        tasks = [(plan, loss, r, valid, *facts) for r in grown_on for plan in plans]
        grown: dict[int, Ensemble] = {}

        def add(i: int, model: Ensemble) -> bool:
            grown[i] = model
            name = f"booster {len(grown)} of {len(tasks)}"
            examples.reporter.tell(name, done=len(grown) / len(tasks))
            return examples.reporter.wants_stop and min(grown) < len(plans)

        try:
            run_tasks(grow_number_policy, tasks, on_done=add)
        except KeyboardInterrupt:
            if not grown or min(grown) >= len(plans):
                raise
            examples.reporter.wants_stop = True
            warn_interrupted("Interrupted: chosen from the boosters grown so far.")
        ready = [i for i in range(len(plans)) if i in grown]
        starts = range(0, len(tasks), len(plans))
        by_rows = [[grown[s + i] for i in ready if s + i in grown] for s in starts]
        return [plans[i] for i in ready], by_rows

    def _explain_degenerate(self, examples: Examples) -> str | None:
        reason = super()._explain_degenerate(examples)
        cheapest = self._candidates.cheapest_price()
        if reason is None or self.budget is None or cheapest <= self.budget:
            return reason
        return (
            f"A budget of {self.budget:g} buys nothing on average: the cheapest "
            f"feature costs {cheapest:g}. Every row gets the same number, the one that "
            "is expected beforehand. Raise the budget."
        )

    def path(self) -> list[BoostPoint]:
        """Return the Pareto front of all models and thresholds, from cheap to dear."""
        check_is_fitted(self)
        return self._candidates.pareto_front()

    def at_budget(self, budget: float | None) -> Ensemble:
        """Return the policy for another budget, without growing anything again."""
        check_is_fitted(self)
        return self._candidates.choose(self._goal(budget))[0]


def choose_columns(
    gains: NDArray[np.float64], prices: NDArray[np.float64], limit: float
) -> tuple[int, ...]:
    """Return the columns of most gain for their price that a limit can pay for.

    Examples
    --------
    >>> choose_columns(np.array([9.0, 8.0, 1.0]), np.array([5.0, 2.0, 1.0]), 3.0)
    (1, 2)
    """
    chosen: list[int] = []
    worth = gains / np.maximum(prices, 1e-9 * prices.max())
    for column in np.argsort(-worth, kind="stable").tolist():
        is_within = prices[[*chosen, column]].sum() <= limit
        if gains[column] > 0 and is_within:
            chosen.append(column)
    return tuple(sorted(chosen))


def _take_some(rows: BoosterRows, random_state: Any) -> BoosterRows:
    """Return so many rows as are worth tracing, drawn at random."""
    n_rows = rows.rows.n_rows
    if n_rows <= MOST_TRACED:
        return rows
    drawn = check_random_state(random_state).permutation(n_rows)[:MOST_TRACED]
    return rows.take(np.sort(drawn))
