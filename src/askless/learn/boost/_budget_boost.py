"""Cost-efficient boosting with a budget: LightGBM grows, the adaptive run spends."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.validation import check_is_fitted

from askless.exceptions import InvalidOptionError
from askless.learn._base import PolicyClassifier
from askless.learn._checks import check_budget, check_count, check_share
from askless.learn._examples import Examples, KnownRows
from askless.learn._validation import summarise_rows
from askless.learn.boost._booster_rows import BoosterRows, split_rows
from askless.learn.boost._boosters import (
    BoosterPlan,
    decide_at_once,
    grow_policy,
    import_lightgbm,
)
from askless.learn.boost._calibrate import (
    Stops,
    join_stops,
    list_thresholds,
    trace_stops,
)
from askless.learn.boost._candidates import BoostPoint, Candidates
from askless.policy import Ensemble

__all__ = ["BudgetBoostClassifier"]

# With fewer validation rows, rows left out of growing are chosen on as well.
FEW_ROWS, N_FOLDS = 500, 5


class BudgetBoostClassifier(PolicyClassifier):
    """Boosted trees that keep an average budget, buying features one by one.

    A few boosters are grown with LightGBM's penalties for features that a row has not
    bought yet, from accurate to cheap. Each is traced on validation rows; then the
    model and the threshold to stop at that err least within the budget are taken. An
    error counts as the mean of those of the neighbouring thresholds, if that is larger:
    the best of many overfits the rows that it is chosen on.

    Parameters
    ----------
    costs : Costs, mapping or sequence, default=None
        What each feature costs, by name or by position; 1 each by default.
    budget : float, default=None
        What a row may cost on average. None for the least error, whatever it costs.
    mistakes : number, matrix or mapping, default=None
        Cost of a wrong decision, ``mistakes[true][decision]``, for ``total_cost`` and
        scorers; boosters are grown and decide without. Those of `costs` by default.
    tradeoffs : tuple of float, default=(0.001, 0.01, 0.04, 0.15)
        How much costs count, in units of the mean cost: one model each.
    bagged_tradeoffs : tuple of float, default=(0.001, 0.025, 0.3)
        The same of boosters that see half of the rows with each tree, learn more slowly
        and shrink their leaves: often more accurate where rows are few. May be empty.
    n_estimators : int, default=300
        The most rounds of boosting, each of which adds a tree, or one for each class;
        fewer if the validation loss stops falling.
    n_leaves : int, default=8
        Leaves of a tree.
    learning_rate : float, default=0.1
        How much of each tree is added.
    l2 : float, default=None
        Shrinks leaves of little weight; 1 by default for more than two classes, where
        single leaves would otherwise grow without bound, and 0 for two.
    validation_fraction : float, default=0.2
        The share of rows kept for validation, if ``fit`` is given none.
    n_folds : int, default=None
        With fewer than 500 validation rows, the rows that boosters grow on are used
        to choose on as well: they are divided into so many folds, and each fold is run
        by boosters grown without it. 0 for validation rows only. By default 5 for two
        classes, and 0 for more, where growing so many boosters takes long.
    random_state : int, default=None
        Chooses the validation rows and the folds.
    n_jobs : int, default=None
        Threads; results do not depend on it.

    Attributes
    ----------
    policy_ : Ensemble
        The policy that was chosen.
    classes_ : ndarray
        The classes, ascending.
    point_ : BoostPoint
        What was chosen, and what it did on the validation rows.
    models_ : list of Ensemble
        The boosters, before one was chosen.

    Notes
    -----
    The budget is kept on the rows to choose on, on average: the validation rows,
    and with few of them the folds. ``point_`` tells of these rows, its ``cost_stderr``
    how far new rows may lie from the budget. Penalties count a feature at its full
    price; the run charges groups, delays and prices by outcome as they are.

    Needs LightGBM: ``pip install 'askless[boost]'``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> boost = BudgetBoostClassifier(budget=3, n_estimators=30, random_state=0)
    >>> boost = boost.fit(X[:400], y[:400])
    >>> bool(boost.point_.cost <= 3), bool(boost.score(X[400:], y[400:]) > 0.85)
    (True, True)
    """

    _draws_rows = True

    def __init__(
        self,
        costs: Any = None,
        budget: float | None = None,
        *,
        mistakes: Any = None,
        tradeoffs: tuple[float, ...] = (0.001, 0.01, 0.04, 0.15),
        bagged_tradeoffs: tuple[float, ...] = (0.001, 0.025, 0.3),
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
        self.mistakes = mistakes
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
        if len(examples.classes) == 1:
            return self._buy_nothing(examples)
        train, valid = split_rows(examples, self.validation_fraction, self.random_state)
        plans = self._list_plans(examples.n_threads)
        self.models_ = _grow_all(plans, train, valid, examples)
        stops = [[_trace(model, valid, examples)] for model in self.models_]
        chosen_on = [valid.rows]
        for some, left_out in self._list_folds(train, valid):
            rows = train.take(left_out)
            grown = _grow_all(plans, train.take(some), valid, examples)
            for parts, model in zip(stops, grown, strict=True):
                parts.append(_trace(model, rows, examples))
            chosen_on.append(rows.rows)
        self._candidates: Candidates | None = Candidates(
            plans,
            self.models_,
            [list_thresholds(parts[0]) for parts in stops],
            [join_stops(parts) for parts in stops],
            np.concatenate([rows.class_ids for rows in chosen_on]).astype(np.float64),
            _join_weights(chosen_on),
        )
        policy, point = self._candidates.choose(self.budget)
        self.point_ = point
        return policy

    def _check_options(self) -> None:
        check_budget(self.budget)
        check_count("n_estimators", self.n_estimators, least=1)
        check_share("validation_fraction", self.validation_fraction, usual=0.2)
        if not len(self.tradeoffs) or any(not t >= 0 for t in self.tradeoffs):
            raise InvalidOptionError(
                f"tradeoffs must be at least one number >= 0. Got {self.tradeoffs!r}. "
                "Leave it out for four models."
            )
        if any(not t >= 0 for t in self.bagged_tradeoffs):
            raise InvalidOptionError(
                "bagged_tradeoffs must be numbers >= 0. Got "
                f"{self.bagged_tradeoffs!r}. Leave it out for three models, or give () "
                "for none."
            )
        if self.n_folds not in (None, 0) and not self.n_folds >= 2:
            raise InvalidOptionError(
                f"n_folds must be at least 2, or 0 for none. Got {self.n_folds!r}. "
                "Leave it out for five with two classes."
            )
        import_lightgbm()

    def _list_plans(self, n_jobs: int) -> list[BoosterPlan]:
        plain = [(float(tradeoff), False) for tradeoff in self.tradeoffs]
        bagged = [(float(tradeoff), True) for tradeoff in self.bagged_tradeoffs]
        return [
            BoosterPlan(
                tradeoff,
                is_bagged,
                self.n_estimators,
                self.n_leaves,
                self.learning_rate,
                self.l2,
                n_jobs,
            )
            for tradeoff, is_bagged in plain + bagged
        ]

    def _list_folds(self, train: BoosterRows, valid: BoosterRows) -> list[Any]:
        """Return rows to grow on and rows left out, if validation rows are few."""
        counts = np.bincount(train.rows.class_ids)
        n_folds = self.n_folds
        if n_folds is None:
            n_folds = N_FOLDS if len(counts) == 2 else 0
        if not n_folds or valid.rows.n_rows >= FEW_ROWS:
            return []
        if counts.min() < n_folds:
            return []  # some class would be missing from what is grown
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=self.random_state)
        return list(folds.split(train.matrix, train.rows.class_ids))

    def _buy_nothing(self, examples: Examples) -> Ensemble:
        policy = decide_at_once(examples)
        self.models_, self._candidates = [policy], None
        free, is_wrong = np.zeros((2, examples.n_rows))
        self.point_ = BoostPoint(
            tradeoff=0.0, threshold=np.inf, **summarise_rows(free, is_wrong > 0)
        )
        return policy

    def _explain_degenerate(self) -> str | None:
        if self._candidates is None or self.budget is None or self.point_ is None:
            return super()._explain_degenerate()
        cheapest = self._candidates.cheapest_price()
        if self.point_.cost > 0 or cheapest <= self.budget:
            return super()._explain_degenerate()
        return (
            f"A budget of {self.budget:g} buys nothing on average: the cheapest "
            f"feature costs {cheapest:g}. Every row gets the same decision, the one "
            "that is likeliest beforehand. Raise the budget."
        )

    def path(self) -> list[BoostPoint]:
        """Return the Pareto front of all models and thresholds, from cheap to dear."""
        check_is_fitted(self)
        return [] if self._candidates is None else self._candidates.pareto_front()

    def at_budget(self, budget: float | None) -> Ensemble:
        """Return the policy for another budget, without growing anything again."""
        check_is_fitted(self)
        if self._candidates is None:
            return self.models_[0]  # one class: nothing is ever bought
        return self._candidates.choose(budget)[0]


def _grow_all(
    plans: list[BoosterPlan],
    train: BoosterRows,
    valid: BoosterRows,
    examples: Examples,
) -> list[Ensemble]:
    return [grow_policy(plan, train, valid, examples) for plan in plans]


def _trace(model: Ensemble, rows: BoosterRows, examples: Examples) -> Stops:
    return trace_stops(model, rows.rows.values, examples.n_threads)[0]


def _join_weights(parts: list[KnownRows]) -> NDArray[np.float64] | None:
    """Return the weights of several sets of rows; None if all are 1."""
    if all(rows.weights is None for rows in parts):
        return None
    return np.concatenate(
        [
            np.ones(rows.n_rows) if rows.weights is None else rows.weights
            for rows in parts
        ]
    )
