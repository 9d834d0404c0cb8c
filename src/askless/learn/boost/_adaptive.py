"""Run someone else's forest or booster as a policy that buys features one by one."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from askless.exceptions import DegeneratePolicyWarning, InvalidOptionError
from askless.learn._scoring import mistake_costs
from askless.learn._validation import ValidationPoint, summarise_rows
from askless.learn.boost._calibrate import (
    Stops,
    fill_budget,
    rows_needed,
    threshold_for_loss,
    trace_stops,
)
from askless.learn.boost._compile import compile_policy, compile_source
from askless.learn.boost._spelling import names_of, respell_names
from askless.learn.sources import read_model
from askless.policy import Ensemble, Forest, Tree
from askless.problem._column import clean_column
from askless.problem._jobs import count_threads

__all__ = ["AdaptiveEnsemble", "AdaptivePoint"]


@dataclass(frozen=True, kw_only=True)
class AdaptivePoint(ValidationPoint):
    """When a model stops early, and what it did on the rows that calibrated it.

    Attributes
    ----------
    threshold : float
        When it stops; infinite if only when it is settled.
    max_cost : float
        What every row may cost; infinite for no limit.
    full_cost : float
        Mean cost of a lossless run.
    disagreement : float
        Share of the predictions that differ from the full model's.
    cost, cost_spread, cost_stderr, error, n_rows
        See :class:`ValidationPoint`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = RandomForestClassifier(9, random_state=0).fit(X[:300], y[:300])
    >>> point = AdaptiveEnsemble(forest, budget=4).fit(X[300:], y[300:]).point_
    >>> bool(point.cost <= 4 < point.full_cost)
    True
    """

    threshold: float
    max_cost: float
    full_cost: float
    disagreement: float


class AdaptiveEnsemble(BaseEstimator):
    """Runs a fitted ensemble so that it buys features one by one.

    It buys what the open trees wait for most, for its price, and stops as soon as the
    prediction is settled: **losslessly**, when no value of the features left could
    change it, so that every prediction equals the full model's; or **early**, by a
    threshold that ``fit`` calibrates on validation rows.

    Parameters
    ----------
    model : estimator
        A fitted random forest, extra trees, gradient boosting or histogram boosting of
        scikit-learn, a LightGBM or XGBoost model, or a forest of Askless; for two
        classes, more, or numbers. Or a pipeline that ends in one: its raw columns are
        what is bought, so one-hot columns of one of them are one purchase. Scalers,
        `SimpleImputer`, `OneHotEncoder`, `OrdinalEncoder`, selectors and
        `ColumnTransformer` are known; values are read in double precision.
    costs : Costs, mapping or sequence, default=None
        What each feature costs, by name or by position; 1 each by default. Groups,
        delays and prices by outcome are charged as everywhere.
    mistakes : number, matrix or mapping, default=None
        Cost of a wrong decision, ``mistakes[true][decision]``, for ``total_cost`` and
        scorers; the model decides as it always did. Those of `costs` by default.
    max_disagreement : float, default=None
        Stop early, and let at most this share of predictions differ from the full
        model's.
    max_error : float, default=None
        Stop early, and let at most this share of predictions be wrong.
    budget : float, default=None
        Stop early, and spend at most this on average.
    max_cost : float, default=None
        The most that any row may cost: a row stops before it could pay more, and is
        then no longer sure to get the full model's prediction.
    stop : {"settled", "complete"}, default="settled"
        Without one of these three: stop when the prediction is settled, or go on until
        every tree has ended, so that probabilities are the full model's too.
    tolerance : float, default=0.0
        For numbers: a prediction is settled when it is within this of the full model's
        (before the exponential, of a model of logarithms). With 0 every tree is run to
        its end.
    bounds : {"auto", "path", "leaves", "deep", "joint", "vote"}, default="auto"
        How bounds are kept. All are valid; the deeper, the tighter and the slower.
        Ensembles of up to 50,000 values are bounded deeply: boosters that decide
        between classes jointly, so that trees which wait for the same feature agree on
        its value. Lossless runs of boosters with 9 to 64 leaves a tree, of any size up
        to 64 MiB of words, are bounded by the leaves that are left: jointly too, and
        much faster.
    feature_names : list of str, default=None
        Names of the features, for a model that knows none. LightGBM writes spaces as
        underscores; where `costs` or the rows of ``fit`` have the name with spaces, it
        is taken.
    n_jobs : int, default=None
        Threads; nothing depends on it.

    Attributes
    ----------
    policy_ : Ensemble
        The policy: ``save`` it, ``start`` a session on it.
    classes_ : ndarray
        The classes of the model, if it has any.
    n_features_in_ : int
    point_ : AdaptivePoint or None
        When it stops, and what it did on the validation rows; None if it was not
        calibrated.

    Notes
    -----
    What is guaranteed. Lossless: equality with the full model's prediction, row by row,
    by bounds that allow for rounding. Early: if the validation rows are like the new
    rows and were not used for training, then the *expected* share of changed (or wrong)
    predictions, or the expected cost, is at most the target (conformal risk control); a
    single set of rows can lie above it by chance. That needs at least ``1 / target -
    1`` validation rows; fewer are refused.

    A feature that cannot be bought is skipped in a session; what depends on it is
    averaged over, and the prediction is then no longer proved equal.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = RandomForestClassifier(30, random_state=0).fit(X[:300], y[:300])
    >>> adaptive = AdaptiveEnsemble(forest).fit()
    >>> bool((adaptive.predict(X) == forest.predict(X)).all())
    True
    >>> bool(adaptive.cost(X).mean() < 15)
    True
    """

    def __init__(
        self,
        model: Any,
        costs: Any = None,
        *,
        mistakes: Any = None,
        max_disagreement: float | None = None,
        max_error: float | None = None,
        budget: float | None = None,
        max_cost: float | None = None,
        stop: Literal["settled", "complete"] = "settled",
        tolerance: float = 0.0,
        bounds: Literal["auto", "path", "leaves", "deep", "joint", "vote"] = "auto",
        feature_names: list[str] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.model = model
        self.costs = costs
        self.mistakes = mistakes
        self.max_disagreement = max_disagreement
        self.max_error = max_error
        self.budget = budget
        self.max_cost = max_cost
        self.stop = stop
        self.tolerance = tolerance
        self.bounds = bounds
        self.feature_names = feature_names
        self.n_jobs = n_jobs

    def fit(self, X: Any = None, y: Any = None) -> AdaptiveEnsemble:
        """Import the model, and calibrate when it stops.

        Nothing is trained: the rows are validation rows.

        Parameters
        ----------
        X : frame or array-like of shape (n_rows, n_features), optional
            Validation rows, which the model was not trained on. Needed to stop early.
        y : array-like of shape (n_rows,), optional
            Their classes. Needed for ``max_error``.

        Returns
        -------
        self : AdaptiveEnsemble
            Ready to run.
        """
        target = self._target()
        policy = self._compile(X, stops_early=target is not None)
        self.point_: AdaptivePoint | None = None
        if target is not None:
            policy = self._calibrate(policy, target, X, y)
        self.policy_ = policy
        if policy.classes:
            self.classes_ = policy._class_array
        self.n_features_in_ = len(policy.tests)
        return self

    def _compile(self, X: Any, *, stops_early: bool) -> Ensemble:
        if self.stop not in ("settled", "complete"):
            raise InvalidOptionError(
                f"stop must be 'settled' or 'complete'. Got {self.stop!r}. To stop "
                "early, give max_disagreement, max_error or budget."
            )
        options: dict[str, Any] = {
            "is_complete": self.stop == "complete",
            "max_cost": self.max_cost,
            "tolerance": self.tolerance,
            "bounds": self.bounds,
        }
        own = getattr(self.model, "policy_", self.model)
        options["mistakes"] = self.mistakes
        if isinstance(own, (Tree, Forest)):
            return compile_policy(own, self.costs, **options)
        source = read_model(self.model)
        if self.mistakes is not None and not source.classes:
            raise InvalidOptionError(
                "mistakes must be between classes. Got mistakes for a model that "
                "predicts numbers. Leave them out."
            )
        names = self.feature_names
        if names is None:
            names = respell_names(source.names, names_of(self.costs, X))
        return compile_source(
            source, self.costs, names=names, stops_early=stops_early, **options
        )

    def _target(self) -> tuple[str, float] | None:
        given = [
            (name, getattr(self, name))
            for name in ("max_disagreement", "max_error", "budget")
            if getattr(self, name) is not None
        ]
        if not given:
            return None
        if len(given) > 1 or self.stop == "complete":
            raise InvalidOptionError(
                "One of max_disagreement, max_error and budget may be given, and only "
                f"with stop='settled'. Got {', '.join(n for n, _ in given)} and "
                f"stop={self.stop!r}. Choose one."
            )
        name, value = given[0]
        is_right = value >= 0 if name == "budget" else 0 < value < 1
        if not is_right:
            raise InvalidOptionError(
                f"{name} must be {'>= 0' if name == 'budget' else 'between 0 and 1'}. "
                f"Got {value!r}. Leave it out to run losslessly."
            )
        return name, float(value)

    def _calibrate(
        self, policy: Ensemble, target: tuple[str, float], X: Any, y: Any
    ) -> Ensemble:
        name, value = target
        if X is None or (name == "max_error" and y is None):
            raise InvalidOptionError(
                f"{name} must be calibrated on validation rows. Got "
                f"{'none' if X is None else 'no classes of them'}. Call fit(X, y) with "
                "rows that the model was not trained on."
            )
        stops, final = trace_stops(policy, X, count_threads(self.n_jobs))
        needed = 1 if name == "budget" else rows_needed(value)
        if stops.n_rows < needed:
            raise InvalidOptionError(
                f"{name}={value:g} needs at least {needed} validation rows. Got "
                f"{stops.n_rows}. Give more rows, or a larger {name}."
            )
        true = None if y is None else _encode_truth(policy, y, stops.n_rows)
        most = np.inf if self.max_cost is None else float(self.max_cost)
        full_cost = float(stops.at(np.inf)[0].mean())
        stops = stops.limit(most)
        if name == "budget":
            threshold, limit = self._fill(policy, value, stops, final)
            most = min(most, limit)
        else:
            threshold = self._threshold(policy, target, stops, final, true)
        self.point_ = AdaptivePoint(
            threshold=threshold,
            max_cost=most,
            full_cost=full_cost,
            **_measure(policy, stops.limit(most), final, true, threshold),
        )
        return policy.with_stop(
            threshold=None if threshold == np.inf else threshold,
            max_cost=None if most == np.inf else most,
        )

    def _fill(
        self, policy: Ensemble, budget: float, stops: Stops, final: NDArray[np.float64]
    ) -> tuple[float, float]:
        """Return the threshold, and the limit for every row, that use up a budget.

        Of those that do, what agrees most with the full model, then what spends more.
        """
        # No row can pay more than for all that the model asks.
        dearest = float(policy.prices.full[policy.used_tests].sum())

        def bound(cost: NDArray[np.float64], most: float) -> float:
            return float((cost.sum() + min(dearest, most)) / (stops.n_rows + 1))

        def differ(filled: tuple[float, float]) -> tuple[float, float]:
            threshold, most = filled
            cost, predicted = stops.limit(most).at(threshold)
            changed = float(np.mean(_differs(policy, predicted, final)))
            return changed, -float(cost.mean())

        threshold, most = min(fill_budget(stops, bound, budget), key=differ)
        if stops.limit(most).at(threshold)[0].max(initial=0.0) == 0 < budget:
            _warn_of_prior(policy, budget)
        return threshold, most

    def _threshold(
        self,
        policy: Ensemble,
        target: tuple[str, float],
        stops: Stops,
        final: NDArray[np.float64],
        true: NDArray[np.float64] | None,
    ) -> float:
        name, value = target
        wanted = final if name == "max_disagreement" else true
        assert wanted is not None
        is_loss = _differs(policy, stops.predicted, wanted[:, None])
        found = threshold_for_loss(stops.worst_threshold(is_loss), value)
        if found is None:
            wrong = float(np.mean(_differs(policy, final, wanted)))
            raise InvalidOptionError(
                f"{name} must be within reach of the full model. Got {value:g}, and it "
                f"errs on {wrong:.4g} of {stops.n_rows} validation rows. Allow more."
            )
        return found

    @property
    def _policy(self) -> Ensemble:
        check_is_fitted(self, "policy_")
        return self.policy_

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the prediction for each row."""
        return self._policy.predict(X, n_jobs=count_threads(self.n_jobs))

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """How much each feature moves what the model says; see Policy.importances."""
        return np.array(list(self._policy.importances().values()))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class where each row stopped.

        With ``stop="complete"`` these are the full model's own.
        """
        return self._policy.predict_proba(X, n_jobs=count_threads(self.n_jobs))

    def cost(self, X: Any) -> NDArray[np.float64]:
        """Return what each row pays."""
        return self._policy.cost(X, n_jobs=count_threads(self.n_jobs))

    def predict_and_cost(self, X: Any) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Return the prediction for each row and what it pays, in one run."""
        return self._policy.predict_and_cost(X, n_jobs=count_threads(self.n_jobs))

    def total_cost(self, X: Any, y: Any) -> NDArray[np.float64]:
        """Return what each row pays for features, and for a wrong decision.

        Parameters
        ----------
        X : frame or array-like of shape (n_rows, n_features)
            Raw values.
        y : array-like of shape (n_rows,)
            The true class of each row.
        """
        decided, paid = self.predict_and_cost(X)
        policy = self._policy
        return paid + mistake_costs(y, decided, policy.classes, policy.mistakes)

    def score(self, X: Any, y: Any) -> float:
        """Return the accuracy, or the coefficient of determination of numbers."""
        from sklearn.metrics import accuracy_score, r2_score

        measure = r2_score if self._policy.answers_number else accuracy_score
        return float(measure(y, self.predict(X)))

    def start(self) -> Any:
        """Return a session: the next feature to buy, and a place to put its value."""
        return self._policy.start()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.estimator_type = "regressor" if self._is_regressor() else "classifier"
        return tags

    def _is_regressor(self) -> bool:
        return bool(getattr(self.model, "_estimator_type", "") == "regressor")


def _measure(
    policy: Ensemble,
    stops: Stops,
    final: NDArray[np.float64],
    true: NDArray[np.float64] | None,
    threshold: float,
) -> dict[str, Any]:
    """Return what a threshold does on the rows that were traced."""
    cost, predicted = stops.at(threshold)
    is_wrong = None if true is None else _differs(policy, predicted, true)
    disagreement = float(np.mean(_differs(policy, predicted, final)))
    return {"disagreement": disagreement, **summarise_rows(cost, is_wrong)}


def _differs(policy: Ensemble, a: Any, b: Any) -> NDArray[np.bool_]:
    """Return whether predictions differ; numbers, by more than the tolerance."""
    if policy.answers_number:
        return np.asarray(np.abs(a - b) > policy.tolerance)
    return np.asarray(a != b)


def _encode_truth(policy: Ensemble, y: Any, n_rows: int) -> NDArray[np.float64]:
    values = clean_column(y, "y")
    if len(values) != n_rows:
        raise InvalidOptionError(
            f"There must be a class for each validation row. Got {len(values)} for "
            f"{n_rows} rows. Pass as many as there are rows."
        )
    if policy.answers_number:
        return values.astype(np.float64)
    place = {known: i for i, known in enumerate(policy.classes)}
    # A class that the model does not know is never predicted.
    return np.array([place.get(true, -1) for true in values.tolist()], np.float64)


def _warn_of_prior(policy: Ensemble, budget: float) -> None:
    cheapest = min((policy.prices.full[i] for i in policy.used_tests), default=0.0)
    warnings.warn(
        f"A budget of {budget:g} buys nothing on average: the cheapest feature costs "
        f"{cheapest:g}. Every row gets the same prediction, the one that is likeliest "
        "beforehand. Raise the budget.",
        DegeneratePolicyWarning,
        stacklevel=4,
    )
