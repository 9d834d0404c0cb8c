"""Cost-efficient boosting with a budget: LightGBM grows, the adaptive run spends."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, column_or_1d

from askless.exceptions import (
    DegeneratePolicyWarning,
    InvalidOptionError,
)
from askless.learn._base import PolicyClassifier, _count_jobs
from askless.learn._examples import CodedExamples
from askless.learn.boost._adaptive import compile_source, trace_stops
from askless.learn.boost._boosters import (
    BoosterPlan,
    apply_coding,
    code_columns,
    grow_booster,
    import_lightgbm,
    take_rows,
)
from askless.learn.boost._calibrate import join_stops, list_thresholds, smooth
from askless.policy import Ensemble, EnsembleTrees, Output, Policy
from askless.problem import Costs, Test

__all__ = ["BudgetBoostClassifier", "BudgetPoint"]

# With fewer validation rows, rows left out of growing are used to choose by as well.
FEW_ROWS, N_FOLDS = 500, 5


@dataclass(frozen=True)
class BudgetPoint:
    """A model and a rule to stop by, and what they did on the rows to choose by.

    Attributes
    ----------
    tradeoff : float
        How much the model was made to mind costs.
    threshold : float
        When it stops; infinite if only when it is settled.
    cost, cost_stderr : float
        Mean cost of these rows, and its standard error.
    error : float
        Share of wrong answers on them.
    is_bagged : bool
        Whether each tree of the model saw a part of the rows only.
    """

    tradeoff: float
    threshold: float
    cost: float
    cost_stderr: float
    error: float
    is_bagged: bool = False


class BudgetBoostClassifier(PolicyClassifier):
    """Boosted trees that keep an average budget, buying features one by one.

    A few boosters are grown with LightGBM's penalties for features that a row has not
    bought yet, from accurate to cheap. Each is traced on validation rows; then the
    model and the moment to stop that err least within the budget are taken. An error
    counts as that of the moments just before and after it, if theirs is larger: the
    best of many is often better by luck.

    Parameters
    ----------
    costs : Costs, mapping or sequence, default=None
        What each feature costs, by name or by position; 1 each by default.
    budget : float, default=None
        What a row may cost on average. None for the least error, whatever it costs.
    tradeoffs : tuple of float, default=(0.001, 0.01, 0.04, 0.15)
        How much the boosters mind costs, in units of the mean cost: one model each.
    bagged_tradeoffs : tuple of float, default=(0.001, 0.025, 0.3)
        The same of boosters that see half of the rows with each tree, learn more slowly
        and shrink their leaves: often more accurate where rows are few. May be empty.
    n_rounds : int, default=300
        The most rounds of boosting; fewer if the validation loss stops falling.
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
        to choose by as well: they are parted into so many folds, and each fold is run
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
    point_ : BudgetPoint
        What was chosen, and what it did on validation.

    Notes
    -----
    The budget is kept on the rows that are chosen by, on average: the validation rows,
    and with few of them the folds. ``point_`` tells of these rows, its ``cost_stderr``
    how far new rows may lie from the budget. Penalties count a feature at its full
    price; the run charges groups, delays and prices by outcome as they are.

    Needs LightGBM: ``pip install 'askless[boost]'``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> boost = BudgetBoostClassifier(budget=3, n_rounds=30, random_state=0)
    >>> boost = boost.fit(X[:400], y[:400])
    >>> bool(boost.point_.cost <= 3), bool(boost.score(X[400:], y[400:]) > 0.85)
    (True, True)
    """

    def __init__(
        self,
        costs: Any = None,
        budget: float | None = None,
        *,
        tradeoffs: tuple[float, ...] = (0.001, 0.01, 0.04, 0.15),
        bagged_tradeoffs: tuple[float, ...] = (0.001, 0.025, 0.3),
        n_rounds: int = 300,
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
        self.tradeoffs = tradeoffs
        self.bagged_tradeoffs = bagged_tradeoffs
        self.n_rounds = n_rounds
        self.n_leaves = n_leaves
        self.learning_rate = learning_rate
        self.l2 = l2
        self.validation_fraction = validation_fraction
        self.n_folds = n_folds
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _grow(self, examples: CodedExamples, costs: Costs) -> Policy:
        raise NotImplementedError  # fit needs raw values

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_valid: Any = None,
        y_valid: Any = None,
    ) -> BudgetBoostClassifier:
        """Grow boosters, and choose one and when it stops.

        Parameters
        ----------
        X : frame or array-like of shape (n_rows, n_features)
            Raw values; NaN and None are missing.
        y : array-like of shape (n_rows,)
            The class of each row.
        sample_weight : array-like of shape (n_rows,), optional
            The weight of each row.
        X_valid, y_valid : optional
            Rows to choose by; a share of X by default.

        Returns
        -------
        self : BudgetBoostClassifier
            The fitted estimator.
        """
        _check_options(self)
        values, names = self._check_rows(X, reset=True, y=y)
        labels = column_or_1d(y, warn=True)
        check_classification_targets(labels)
        self.classes_, class_ids = np.unique(labels, return_inverse=True)
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(
                sample_weight,
                X if isinstance(values, dict) else values,
                dtype=np.float64,
                ensure_non_negative=True,
            )
        tests, matrix = code_columns(values, names)
        prices = self._make_costs(len(names)).price_list(tests)
        if len(self.classes_) == 1:
            self.policy_ = _constant(tests, tuple(self.classes_.tolist()), prices)
            self.point_ = BudgetPoint(0.0, np.inf, 0.0, 0.0, 0.0)
            self.models_, self._stops, self._thresholds = [self.policy_], [], []
            return self
        fit_rows, train, valid, raw_valid, true = self._split(
            values, matrix, class_ids, weights, tests, X_valid, y_valid
        )
        jobs = _count_jobs(self.n_jobs)
        plans = self._list_plans(jobs)
        costs, classes = self._make_costs(len(names)), tuple(self.classes_.tolist())

        def grow(rows: Any) -> list[Ensemble]:
            sources = [
                grow_booster(plan, rows, valid, tests, prices.full, classes)
                for plan in plans
            ]
            return [compile_source(source, costs, names=names) for source in sources]

        self.models_ = grow(train)
        parts = [[trace_stops(m, raw_valid, jobs)[0]] for m in self.models_]
        true_parts = [true]
        for some, left in self._list_folds(train[1], len(true)):
            raw = take_rows(values, fit_rows[left])
            of_some = None if train[2] is None else train[2][some]
            alike = grow((train[0][some], train[1][some], of_some))
            for model, stops in zip(alike, parts, strict=True):
                stops.append(trace_stops(model, raw, jobs)[0])
            true_parts.append(train[1][left].astype(np.float64))
        self._plans = plans
        self._thresholds = [list_thresholds(stops[0]) for stops in parts]
        self._stops = [join_stops(stops) for stops in parts]
        self._true = np.concatenate(true_parts)
        self.policy_, self.point_ = self._choose(self.budget)
        return self

    def _list_plans(self, n_jobs: int) -> list[BoosterPlan]:
        plain = [(float(tradeoff), False) for tradeoff in self.tradeoffs]
        bagged = [(float(tradeoff), True) for tradeoff in self.bagged_tradeoffs]
        return [
            BoosterPlan(
                *kind, self.n_rounds, self.n_leaves, self.learning_rate, self.l2, n_jobs
            )
            for kind in plain + bagged
        ]

    def _list_folds(self, class_ids: NDArray[Any], n_valid: int) -> list[Any]:
        """Return rows to grow on and rows left out, if there are few to choose by."""
        n_folds = self.n_folds
        if n_folds is None:
            n_folds = N_FOLDS if len(self.classes_) == 2 else 0
        if not n_folds or n_valid >= FEW_ROWS:
            return []
        if np.bincount(class_ids).min() < n_folds:
            return []  # some class would be missing from what is grown
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=self.random_state)
        return list(folds.split(np.zeros(len(class_ids)), class_ids))

    def _split(
        self,
        values: Any,
        matrix: NDArray[np.float64],
        class_ids: NDArray[Any],
        weights: NDArray[np.float64] | None,
        tests: tuple[Test, ...],
        X_valid: Any,
        y_valid: Any,
    ) -> tuple[NDArray[Any], Any, Any, Any, NDArray[np.float64]]:
        if X_valid is not None:
            rows = self._check_rows(X_valid, reset=False)[0]
            index = {label: i for i, label in enumerate(self.classes_.tolist())}
            true = np.array([index.get(c, -1) for c in np.asarray(y_valid).tolist()])
            coded = apply_coding(rows, tests)
            known = true >= 0
            valid = (coded[known], true[known], None)
            train = (matrix, class_ids, weights)
            every = np.arange(len(matrix))
            return every, train, valid, rows, true.astype(np.float64)
        counts = np.bincount(class_ids)
        try:
            fit_rows, valid_rows = train_test_split(
                np.arange(len(matrix)),
                test_size=self.validation_fraction,
                random_state=self.random_state,
                stratify=class_ids if counts.min() > 1 else None,
            )
        except ValueError:
            # Too few rows to part: choose on the rows themselves.
            fit_rows = valid_rows = np.arange(len(matrix))
        # Every class must be among the rows that trees are grown on.
        if len(np.unique(class_ids[fit_rows])) < len(counts):
            fit_rows = np.arange(len(matrix))

        def part(rows: NDArray[Any]) -> Any:
            of_rows = None if weights is None else weights[rows]
            return matrix[rows], class_ids[rows], of_rows

        raw = take_rows(values, valid_rows)
        true = class_ids[valid_rows].astype(np.float64)
        return fit_rows, part(fit_rows), part(valid_rows), raw, true

    def path(self) -> list[BudgetPoint]:
        """Return the best points on validation of all models, from cheap to dear."""
        points = [point for _, point in self._candidates()]
        best: list[BudgetPoint] = []
        for point in sorted(points, key=lambda p: (p.cost, p.error)):
            if not best or point.error < best[-1].error:
                best.append(point)
        return best

    def policy_for(self, budget: float | None) -> Ensemble:
        """Return the policy for another budget, without growing anything again."""
        if not self._stops:
            return self.models_[0]  # one class: nothing is ever bought
        return self._choose(budget)[0]

    def at_budget(self, budget: float) -> Ensemble:
        """Return the policy for another budget; see :meth:`policy_for`."""
        return self.policy_for(budget)

    def _candidates(self) -> list[tuple[int, BudgetPoint]]:
        return [
            (i, self._point(i, threshold))
            for i, thresholds in enumerate(self._thresholds)
            for threshold in thresholds
        ]

    def _point(self, model: int, threshold: float) -> BudgetPoint:
        cost, answer = self._stops[model].at(threshold)
        n = len(cost)
        return BudgetPoint(
            tradeoff=self._plans[model].tradeoff,
            threshold=float(threshold),
            cost=float(cost.mean()),
            cost_stderr=float(cost.std(ddof=1) / np.sqrt(n)) if n > 1 else np.inf,
            error=float(np.mean(answer != self._true)),
            is_bagged=self._plans[model].is_bagged,
        )

    def _choose(self, budget: float | None) -> tuple[Ensemble, BudgetPoint]:
        limit = np.inf if budget is None else budget
        found = self._candidates()
        errors = np.array([point.error for _, point in found])
        ends = np.cumsum([len(thresholds) for thresholds in self._thresholds])
        around = [smooth(block) for block in np.split(errors, ends[:-1])]
        cautious = np.maximum(errors, np.concatenate(around)).tolist()
        kept = [(e, p.cost, i, p) for e, (i, p) in zip(cautious, found, strict=True)
                if p.cost <= limit]  # fmt: skip
        _, _, model, point = min(kept, key=lambda c: c[:3])
        if (
            point.cost == 0
            and budget is not None
            and self._used_prices().min() > budget
        ):
            warnings.warn(
                f"A budget of {budget:g} buys nothing on average: the cheapest feature "
                f"costs {self._used_prices().min():g}. Every row gets the same answer, "
                "the one that is likeliest beforehand.",
                DegeneratePolicyWarning,
                stacklevel=3,
            )
        stop = None if point.threshold == np.inf else point.threshold
        return self.models_[model].with_stop(threshold=stop), point

    def _used_prices(self) -> NDArray[np.float64]:
        """Return the full price of each feature that some model may buy."""
        used = sorted({test for m in self.models_ for test in m.used_tests})
        full = self.models_[0].prices.full[used]
        return full if len(full) else np.zeros(1)


def _check_options(model: BudgetBoostClassifier) -> None:
    if model.budget is not None and not model.budget >= 0:
        raise InvalidOptionError(
            f"budget must be >= 0, or None for no limit. Got {model.budget!r}. It is "
            "what a row may cost on average."
        )
    if not len(model.tradeoffs) or any(not t >= 0 for t in model.tradeoffs):
        raise InvalidOptionError(
            f"tradeoffs must be at least one number >= 0. Got {model.tradeoffs!r}. "
            "Leave it out for four models."
        )
    if any(not t >= 0 for t in model.bagged_tradeoffs):
        raise InvalidOptionError(
            f"bagged_tradeoffs must be numbers >= 0. Got {model.bagged_tradeoffs!r}. "
            "Leave it out for three models, or give () for none."
        )
    if model.n_folds not in (None, 0) and not model.n_folds >= 2:
        raise InvalidOptionError(
            f"n_folds must be at least 2, or 0 for none. Got {model.n_folds!r}. Leave "
            "it out for five with two classes."
        )
    if not 0 < model.validation_fraction < 1:
        raise InvalidOptionError(
            "validation_fraction must be between 0 and 1. Got "
            f"{model.validation_fraction!r}. Leave it out for a fifth of the rows."
        )
    import_lightgbm()


def _constant(
    tests: tuple[Test, ...], classes: tuple[Any, ...], prices: Any
) -> Ensemble:
    """Return the policy of a single class: it never buys anything."""
    zero = np.zeros(1, dtype=np.int32)
    trees = EnsembleTrees(
        test=zero - 1, cut=zero, right=zero, flags=zero,
        words=np.zeros(0, dtype=np.uint64), tree_start=np.array([0, 1]),
        output=zero, weight=np.ones(1), value=np.ones((1, 1)),
    )  # fmt: skip
    return Ensemble(tests, classes, prices, trees=trees, output=Output("share", (0.0,)))
