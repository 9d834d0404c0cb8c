"""LightGBM's cost-efficient boosting as it comes: every tree is run to its leaf."""

from __future__ import annotations

from typing import Any

from askless.learn._base import PolicyClassifier
from askless.learn._examples import CodedExamples
from askless.learn.boost._budget_boost import BudgetBoostClassifier
from askless.policy import Ensemble, Policy
from askless.problem import Costs

__all__ = ["CEGBClassifier", "run_to_leaves"]


def run_to_leaves(policy: Ensemble) -> Ensemble:
    """Return the same ensemble, which buys what is on the paths of its trees.

    Parameters
    ----------
    policy : Ensemble
        Any ensemble.
    """
    return Ensemble(
        policy.tests,
        policy.classes,
        policy.prices,
        trees=policy.trees,
        output=policy.output,
        is_complete=True,
        # Deep states may buy what no path comes to.
        bounds="path",
        mistakes=policy.mistakes,
    )


class CEGBClassifier(PolicyClassifier):
    """Cost-efficient gradient boosting of LightGBM, charged like any policy.

    The rival of :class:`BudgetBoostClassifier`: a booster grown with penalties for
    features that a row has not bought yet. Every row pays once for each feature on its
    paths through all trees. ``tradeoff`` is its only knob.

    Parameters
    ----------
    costs : Costs, mapping or sequence, default=None
        What each feature costs, by name or by position; 1 each by default.
    tradeoff : float, default=0.01
        How much the booster minds costs, in units of the mean cost.
    n_rounds, n_leaves, learning_rate, l2, validation_fraction, random_state, n_jobs
        See :class:`BudgetBoostClassifier`. The validation rows say when to stop adding
        trees.

    Attributes
    ----------
    policy_ : Ensemble
        The booster as a policy.
    classes_ : ndarray
        The classes, ascending.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = CEGBClassifier(tradeoff=0.1, n_rounds=30, random_state=0)
    >>> model = model.fit(X[:400], y[:400])
    >>> bool(0 < model.cost(X[400:]).mean() < 30)
    True
    """

    def __init__(
        self,
        costs: Any = None,
        *,
        tradeoff: float = 0.01,
        n_rounds: int = 300,
        n_leaves: int = 8,
        learning_rate: float = 0.1,
        l2: float | None = None,
        validation_fraction: float = 0.2,
        random_state: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.costs = costs
        self.tradeoff = tradeoff
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
    ) -> CEGBClassifier:
        """Grow a booster.

        Parameters
        ----------
        X, y, sample_weight, X_valid, y_valid
            See :meth:`BudgetBoostClassifier.fit`.

        Returns
        -------
        self : CEGBClassifier
            The fitted estimator.
        """
        options = self.get_params()
        boost = BudgetBoostClassifier(
            tradeoffs=(options.pop("tradeoff"),),
            bagged_tradeoffs=(),
            n_folds=0,
            **options,
        )
        boost.fit(X, y, sample_weight, X_valid=X_valid, y_valid=y_valid)
        self._check_rows(X, reset=True, y=y)
        self.classes_ = boost.classes_
        self.policy_ = run_to_leaves(boost.models_[0])
        return self
