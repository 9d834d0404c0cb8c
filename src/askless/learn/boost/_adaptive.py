"""Run someone else's forest or booster as a policy that buys features one by one."""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from askless.exceptions import DegeneratePolicyWarning, InvalidOptionError
from askless.learn._base import _count_jobs
from askless.learn.boost._calibrate import (
    Stops,
    list_stops,
    rows_needed,
    threshold_for_cost,
    threshold_for_loss,
)
from askless.learn.sources import Source, read_model, read_policy
from askless.policy import Ensemble, Forest, Tree
from askless.problem import Costs
from askless.problem._frames import clean_column

__all__ = ["AdaptiveEnsemble", "compile_source"]


def compile_source(
    source: Source,
    costs: Any,
    *,
    names: list[str] | None = None,
    **options: Any,
) -> Ensemble:
    """Return a source model as a policy."""
    names = names or source.names or [f"x{i}" for i in range(source.n_features)]
    if len(names) != source.n_features:
        raise InvalidOptionError(
            f"There must be a name for each of the {source.n_features} features of the "
            f"model. Got {len(names)}. List them in the order of its columns."
        )
    tests, trees = source.assemble(names)
    if costs is None:
        costs = [1.0] * source.n_features
    costs = costs if isinstance(costs, Costs) else Costs(costs)
    return Ensemble(
        tests,
        source.classes,
        costs.price_list(tests),
        trees=trees,
        output=source.output,
        mistakes=costs.mistake_matrix(source.classes) if source.classes else None,
        **options,
    )


def compile_policy(policy: Tree | Forest, costs: Any, **options: Any) -> Ensemble:
    """Return a tree or forest of Askless as an ensemble, by default at its price."""
    trees, output = read_policy(policy)
    prices, mistakes = policy.prices, policy.mistakes
    if costs is not None:
        costs = costs if isinstance(costs, Costs) else Costs(costs)
        prices = costs.price_list(policy.tests)
        mistakes = costs.mistake_matrix(policy.classes)
    return Ensemble(
        policy.tests,
        policy.classes,
        prices,
        trees=trees,
        output=output,
        mistakes=mistakes,
        **options,
    )


class AdaptiveEnsemble(BaseEstimator):
    """Runs a fitted ensemble so that it buys features one by one.

    It buys what the open trees wait for most, for its price, and stops as soon as the
    answer is settled: **losslessly**, when no value of the features left could change
    it, so that every prediction equals the full model's; or **early**, by a rule that
    ``fit`` calibrates on validation rows.

    Parameters
    ----------
    model : estimator
        A fitted random forest, extra trees, gradient boosting or histogram boosting of
        scikit-learn, a LightGBM or XGBoost model, or a forest of Askless; for two
        classes, more, or numbers.
    costs : Costs, mapping or sequence, default=None
        What each feature costs, by name or by position; 1 each by default. Groups,
        delays and prices by outcome are charged as everywhere.
    max_disagreement : float, default=None
        Stop early, and let at most this share of answers differ from the full model's.
    max_error : float, default=None
        Stop early, and let at most this share of answers be wrong.
    budget : float, default=None
        Stop early, and spend at most this on average.
    stop : {"settled", "complete"}, default="settled"
        Without one of these three: stop when the answer is settled, or go on until
        every tree has ended, so that probabilities are the full model's too.
    tolerance : float, default=0.0
        For numbers: a prediction is settled when it is within this of the full model's
        (before the exponential, of a model of logarithms). With 0 every tree is run to
        its end.
    bounds : {"auto", "path", "deep", "joint", "vote"}, default="auto"
        How bounds are kept. All are valid; the deeper, the tighter and the slower.
        Ensembles of up to 50,000 values are bounded deeply: boosters that decide
        between classes jointly, so that trees which wait for the same feature agree on
        its value.
    feature_names : list of str, default=None
        Names of the features, for a model that knows none.
    n_jobs : int, default=None
        Threads; nothing depends on it.

    Attributes
    ----------
    policy_ : Ensemble
        The policy: ``save`` it, ``start`` a session on it.
    classes_ : ndarray
        The classes of the model, if it has any.
    n_features_in_ : int
    calibration_ : dict
        After calibration: ``threshold``, ``n_rows``, and on these rows the mean
        ``cost`` with its standard error, the ``disagreement`` with the full model, the
        ``error`` and the ``full_cost`` of a lossless run.

    Notes
    -----
    What is promised. Lossless: equality with the full model's answer, row by row, by
    bounds that allow for rounding. Early: if the validation rows are like the new rows
    and were not used for training, then the *expected* share of changed (or wrong)
    answers, or the expected cost, is at most the target; a single set of rows can lie
    above it by chance. That needs at least ``1 / target - 1`` validation rows; fewer
    are refused. The costs of mistakes are not used: the model decides as it always did.

    A feature that cannot be bought is skipped in a session; what depends on it is
    averaged over, and the answer is then no longer proved equal.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = RandomForestClassifier(30, random_state=0).fit(X[:300], y[:300])
    >>> adaptive = AdaptiveEnsemble(forest)
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
        max_disagreement: float | None = None,
        max_error: float | None = None,
        budget: float | None = None,
        stop: Literal["settled", "complete"] = "settled",
        tolerance: float = 0.0,
        bounds: Literal["auto", "path", "deep", "joint", "vote"] = "auto",
        feature_names: list[str] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.model = model
        self.costs = costs
        self.max_disagreement = max_disagreement
        self.max_error = max_error
        self.budget = budget
        self.stop = stop
        self.tolerance = tolerance
        self.bounds = bounds
        self.feature_names = feature_names
        self.n_jobs = n_jobs

    def fit(self, X: Any = None, y: Any = None) -> AdaptiveEnsemble:
        """Import the model, and calibrate when to stop.

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
        policy = self._compile()
        if target is not None:
            policy = self._calibrate(policy, target, X, y)
        self.__dict__["policy_"] = policy
        return self

    def _compile(self) -> Ensemble:
        if self.stop not in ("settled", "complete"):
            raise InvalidOptionError(
                f"stop must be 'settled' or 'complete'. Got {self.stop!r}. To stop "
                "early, give max_disagreement, max_error or budget."
            )
        options: dict[str, Any] = {
            "is_complete": self.stop == "complete",
            "tolerance": self.tolerance,
            "bounds": self.bounds,
        }
        own = getattr(self.model, "policy_", self.model)
        if isinstance(own, (Tree, Forest)):
            policy = compile_policy(own, self.costs, **options)
        else:
            source = read_model(self.model)
            policy = compile_source(
                source, self.costs, names=self.feature_names, **options
            )
        if policy.classes:
            self.classes_ = policy._class_array
        self.n_features_in_ = len(policy.tests)
        return policy

    def __getattr__(self, name: str) -> Any:
        # Running losslessly learns nothing, so it needs no call of fit.
        if name in ("policy_", "classes_", "n_features_in_"):
            if self._target() is None and "policy_" not in self.__dict__:
                self.fit()
                if name in self.__dict__:
                    return self.__dict__[name]
            elif name == "policy_":
                raise InvalidOptionError(
                    "To stop early, the rule must be calibrated. Got none. Call fit "
                    "with validation rows that the model was not trained on."
                )
        raise AttributeError(f"AdaptiveEnsemble has no attribute {name!r}")

    def _target(self) -> tuple[str, float] | None:
        given = [
            (name, self.__dict__[name])
            for name in ("max_disagreement", "max_error", "budget")
            if self.__dict__.get(name) is not None
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
        stops, final = trace_stops(policy, X, _count_jobs(self.n_jobs))
        needed = 1 if name == "budget" else rows_needed(value)
        if stops.n_rows < needed:
            raise InvalidOptionError(
                f"{name}={value:g} needs at least {needed} validation rows. Got "
                f"{stops.n_rows}. Give more rows, or a larger {name}."
            )
        true = None if y is None else _encode_truth(policy, y, stops.n_rows)
        threshold = self._threshold(policy, target, stops, final, true)
        self.calibration_ = summarise_stops(policy, stops, final, true, threshold)
        return policy.with_stop(threshold=None if threshold == np.inf else threshold)

    def _threshold(
        self,
        policy: Ensemble,
        target: tuple[str, float],
        stops: Stops,
        final: NDArray[np.float64],
        true: NDArray[np.float64] | None,
    ) -> float:
        name, value = target
        if name == "budget":
            threshold = threshold_for_cost(stops, value, policy.prices.cost_of_all())
            if stops.at(threshold)[0].max(initial=0.0) == 0 < value:
                _warn_of_prior(policy, value)
            return threshold
        wanted = final if name == "max_disagreement" else true
        assert wanted is not None
        is_loss = _differs(policy, stops.answer, wanted[:, None])
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
        policy: Ensemble = self.policy_
        return policy

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the answer for each row."""
        return self._policy.predict(X, n_jobs=_count_jobs(self.n_jobs))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class where each row stopped."""
        return self._policy.predict_proba(X, n_jobs=_count_jobs(self.n_jobs))

    def cost(self, X: Any) -> NDArray[np.float64]:
        """Return what each row pays."""
        return self._policy.cost(X, n_jobs=_count_jobs(self.n_jobs))

    def score(self, X: Any, y: Any) -> float:
        """Return the accuracy, or the coefficient of determination of numbers."""
        from sklearn.metrics import accuracy_score, r2_score

        measure = r2_score if self.policy_.answers_number else accuracy_score
        return float(measure(y, self.predict(X)))

    def start(self) -> Any:
        """Return a session: the next feature to buy, and a place to put its value."""
        return self.policy_.start()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.allow_nan = True
        tags.estimator_type = "regressor" if self._is_regressor() else "classifier"
        return tags

    def _is_regressor(self) -> bool:
        return bool(getattr(self.model, "_estimator_type", "") == "regressor")


def trace_stops(
    policy: Ensemble, X: Any, n_jobs: int
) -> tuple[Stops, NDArray[np.float64]]:
    """Trace rows; return their stops, and what each answers when it is settled."""
    trace = policy.trace(X, n_jobs=n_jobs)
    output = policy.output
    if output.is_number:
        scores = output.scores(trace.raw)[:, 0]
        trace = trace._replace(decision=output.scores(trace.decision))
        return list_stops(trace, scores), scores
    final = output.decide(trace.raw).astype(np.float64)
    return list_stops(trace, final), final


def summarise_stops(
    policy: Ensemble,
    stops: Stops,
    final: NDArray[np.float64],
    true: NDArray[np.float64] | None,
    threshold: float,
) -> dict[str, Any]:
    """Return what a threshold would have done on the rows that were traced."""
    cost, answer = stops.at(threshold)
    n = stops.n_rows
    return {
        "threshold": threshold,
        "n_rows": n,
        "cost": float(cost.mean()),
        "cost_stderr": float(cost.std(ddof=1) / np.sqrt(n)) if n > 1 else float("nan"),
        "full_cost": float(stops.at(np.inf)[0].mean()),
        "disagreement": float(np.mean(_differs(policy, answer, final))),
        "error": (
            None if true is None else float(np.mean(_differs(policy, answer, true)))
        ),
    }


def _differs(policy: Ensemble, a: Any, b: Any) -> NDArray[np.bool_]:
    """Return whether answers differ; numbers, by more than the tolerance."""
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
    index = {label: i for i, label in enumerate(policy.classes)}
    # A class that the model does not know is never answered.
    return np.array([index.get(label, -1) for label in values.tolist()], np.float64)


def _warn_of_prior(policy: Ensemble, budget: float) -> None:
    cheapest = min((policy.prices.full[i] for i in policy.used_tests), default=0.0)
    warnings.warn(
        f"A budget of {budget:g} buys nothing on average: the cheapest feature costs "
        f"{cheapest:g}. Every row gets the same answer, the one that is likeliest "
        "beforehand.",
        DegeneratePolicyWarning,
        stacklevel=4,
    )
