"""Cost-efficient boosting with a budget: LightGBM grows, the adaptive run spends."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, column_or_1d

from askless.exceptions import (
    DegeneratePolicyWarning,
    InvalidOptionError,
    MissingExtraError,
)
from askless.learn._adaptive import compile_source, trace_stops
from askless.learn._base import PolicyClassifier, _count_jobs
from askless.learn._calibrate import Stops
from askless.learn._examples import CodedExamples
from askless.learn.sources import read_lightgbm_text
from askless.policy import Answer, Ensemble, EnsembleTrees, Policy
from askless.problem import Costs, Test
from askless.problem._coding import category_test

__all__ = ["BudgetBoostClassifier", "BudgetPoint"]

# Thresholds tried for each model: as many quantiles of what was reached.
N_THRESHOLDS = 60


@dataclass(frozen=True)
class BudgetPoint:
    """A model and a rule to stop by, and what they did on the validation rows.

    Attributes
    ----------
    tradeoff : float
        How much the model was made to mind costs.
    threshold : float
        When it stops; infinite if only when it is settled.
    cost, cost_stderr : float
        Mean cost of the validation rows, and its standard error.
    error : float
        Share of wrong answers on them.
    """

    tradeoff: float
    threshold: float
    cost: float
    cost_stderr: float
    error: float


class BudgetBoostClassifier(PolicyClassifier):
    """Boosted trees that keep an average budget, buying features one by one.

    A few boosters are grown with LightGBM's penalties for features that a row has not
    bought yet, from accurate to cheap. Each is traced on validation rows; then the
    model and the moment to stop that err least within the budget are taken.

    Parameters
    ----------
    costs : Costs, mapping or sequence, default=None
        What each feature costs, by name or by position; 1 each by default.
    budget : float, default=None
        What a row may cost on average. None for the least error, whatever it costs.
    tradeoffs : tuple of float, default=(0.001, 0.01, 0.04, 0.15)
        How much the boosters mind costs, in units of the mean cost: one model each.
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
    random_state : int, default=None
        Chooses the validation rows.
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
    The budget is kept on the validation rows, on average; ``point_.cost_stderr`` says
    how far new rows may lie from it. Penalties count a feature at its full price; the
    run charges groups, delays and prices by outcome as they are.

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
        n_rounds: int = 300,
        n_leaves: int = 8,
        learning_rate: float = 0.1,
        l2: float | None = None,
        validation_fraction: float = 0.2,
        random_state: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.costs = costs
        self.budget = budget
        self.tradeoffs = tradeoffs
        self.n_rounds = n_rounds
        self.n_leaves = n_leaves
        self.learning_rate = learning_rate
        self.l2 = l2
        self.validation_fraction = validation_fraction
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
        tests, matrix = _code_columns(values, names)
        prices = self._make_costs(len(names)).price_list(tests)
        if len(self.classes_) == 1:
            self.policy_ = _constant(tests, tuple(self.classes_.tolist()), prices)
            self.point_ = BudgetPoint(0.0, np.inf, 0.0, 0.0, 0.0)
            self.models_, self._stops = [self.policy_], []
            return self
        train, valid, raw_valid, true = self._split(
            values, matrix, class_ids, weights, tests, X_valid, y_valid
        )
        self.models_ = [
            self._grow_model(t, train, valid, tests, prices.full)
            for t in self.tradeoffs
        ]
        jobs = _count_jobs(self.n_jobs)
        self._stops = [trace_stops(m, raw_valid, jobs)[0] for m in self.models_]
        self._true = true
        self.policy_, self.point_ = self._choose(self.budget)
        return self

    def _split(
        self,
        values: Any,
        matrix: NDArray[np.float64],
        class_ids: NDArray[Any],
        weights: NDArray[np.float64] | None,
        tests: tuple[Test, ...],
        X_valid: Any,
        y_valid: Any,
    ) -> tuple[Any, Any, Any, NDArray[np.float64]]:
        if X_valid is not None:
            rows = self._check_rows(X_valid, reset=False)[0]
            index = {label: i for i, label in enumerate(self.classes_.tolist())}
            true = np.array([index.get(c, -1) for c in np.asarray(y_valid).tolist()])
            coded = _apply_coding(rows, tests)
            known = true >= 0
            valid = (coded[known], true[known], None)
            return (matrix, class_ids, weights), valid, rows, true.astype(np.float64)
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

        raw = _take_rows(values, valid_rows)
        true = class_ids[valid_rows].astype(np.float64)
        return part(fit_rows), part(valid_rows), raw, true

    def _grow_model(
        self,
        tradeoff: float,
        train: Any,
        valid: Any,
        tests: tuple[Test, ...],
        prices: NDArray[np.float64],
    ) -> Ensemble:
        lightgbm = _import_lightgbm()
        n_classes = len(self.classes_)
        mean = float(prices.mean()) if prices.any() else 1.0
        categories = [i for i, test in enumerate(tests) if test.kind == "category"]
        l2 = (1.0 if n_classes > 2 else 0.0) if self.l2 is None else self.l2
        options = {
            "objective": "binary" if n_classes == 2 else "multiclass",
            "num_leaves": self.n_leaves,
            "learning_rate": self.learning_rate,
            "min_data_in_leaf": 5,
            "lambda_l2": l2,
            "cegb_tradeoff": tradeoff / mean,
            "cegb_penalty_feature_lazy": prices.tolist(),
            "num_threads": _count_jobs(self.n_jobs),
            # The same trees for any number of threads.
            "deterministic": True,
            "force_col_wise": True,
            "seed": 0,
            "verbose": -1,
        }
        if n_classes > 2:
            options["num_class"] = n_classes
        if not tradeoff or not prices.any():
            del options["cegb_tradeoff"], options["cegb_penalty_feature_lazy"]
        data = lightgbm.Dataset(
            train[0], train[1], weight=train[2], categorical_feature=categories,
            params={"verbose": -1},
        )  # fmt: skip
        held_out = data.create_valid(valid[0], valid[1], weight=valid[2])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            booster = lightgbm.train(
                options,
                data,
                self.n_rounds,
                valid_sets=[held_out],
                callbacks=[lightgbm.early_stopping(30, verbose=False)],
            )
        source = read_lightgbm_text(
            booster.model_to_string(),
            classes=tuple(self.classes_.tolist()),
            categories={i: tests[i].outcomes for i in categories},
        )
        names = [test.name for test in tests]
        return compile_source(source, self._make_costs(len(names)), names=names)

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
        found = []
        for i, stops in enumerate(self._stops):
            for threshold in _thresholds(stops):
                found.append((i, self._point(i, threshold)))
        return found

    def _point(self, model: int, threshold: float) -> BudgetPoint:
        cost, answer = self._stops[model].at(threshold)
        n = len(cost)
        return BudgetPoint(
            tradeoff=float(self.tradeoffs[model]),
            threshold=float(threshold),
            cost=float(cost.mean()),
            cost_stderr=float(cost.std(ddof=1) / np.sqrt(n)) if n > 1 else np.inf,
            error=float(np.mean(answer != self._true)),
        )

    def _choose(self, budget: float | None) -> tuple[Ensemble, BudgetPoint]:
        limit = np.inf if budget is None else budget
        kept = [(i, p) for i, p in self._candidates() if p.cost <= limit]
        model, point = min(kept, key=lambda c: (c[1].error, c[1].cost, c[0]))
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
    if not 0 < model.validation_fraction < 1:
        raise InvalidOptionError(
            "validation_fraction must be between 0 and 1. Got "
            f"{model.validation_fraction!r}. Leave it out for a fifth of the rows."
        )
    _import_lightgbm()


def _import_lightgbm() -> Any:
    try:
        import lightgbm
    except ImportError as error:
        raise MissingExtraError(
            "BudgetBoostClassifier needs LightGBM. Got none installed. Type: pip "
            "install 'askless[boost]'"
        ) from error
    return lightgbm


def _thresholds(stops: Stops) -> NDArray[np.float64]:
    """Return thresholds to try: never wait, wait until settled, and between."""
    finite = stops.reached[np.isfinite(stops.reached)]
    if not len(finite):
        return np.array([0.0, np.inf])
    shares = np.linspace(0, 1, N_THRESHOLDS)
    middle = np.nextafter(np.unique(np.quantile(finite, shares)), np.inf)
    return np.concatenate([[0.0], middle, [np.inf]])


def _code_columns(
    values: NDArray[Any] | Mapping[str, Any], names: list[str]
) -> tuple[tuple[Test, ...], NDArray[np.float64]]:
    """Return tests, numbers without cuts, and a matrix for LightGBM."""
    if isinstance(values, np.ndarray):
        tests = tuple(Test(name, "number") for name in names)
    else:
        tests = tuple(
            Test(name, "number")
            if values[name].dtype.kind in "if"
            else category_test(name, values[name])
            for name in names
        )
    return tests, _apply_coding(values, tests)


def _apply_coding(values: Any, tests: tuple[Test, ...]) -> NDArray[np.float64]:
    """Return numbers as they are and categories as their codes, NaN if missing."""
    if isinstance(values, np.ndarray):
        return values.astype(np.float64, copy=False)
    columns = []
    for test in tests:
        if test.kind == "number":
            columns.append(np.asarray(values[test.name], dtype=np.float64))
            continue
        codes = test.encode(values[test.name]).astype(np.float64)
        codes[codes >= test.missing_code] = np.nan
        columns.append(codes)
    return np.column_stack(columns)


def _take_rows(values: Any, rows: NDArray[Any]) -> Any:
    if isinstance(values, np.ndarray):
        return values[rows]
    return {name: column[rows] for name, column in values.items()}


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
    return Ensemble(tests, classes, prices, trees=trees, answer=Answer("share", (0.0,)))
