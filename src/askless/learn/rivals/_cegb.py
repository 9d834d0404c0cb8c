"""LightGBM's cost-efficient boosting as it comes: every tree is run to its leaf."""

from __future__ import annotations

from typing import Any

from askless.learn._base import PolicyClassifier
from askless.learn._checks import check_count, check_number, check_share
from askless.learn._examples import Examples
from askless.learn._validation import measure_rows
from askless.learn.boost._boosters import BoosterPlan, decide_at_once, grow_model
from askless.learn.boost._split import split_rows
from askless.policy import Ensemble

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
    mistakes : number, matrix or mapping, default=None
        Cost of a wrong decision, ``mistakes[true][decision]``, for ``total_cost`` and
        scorers. Those of `costs` by default.
    tradeoff : float, default=0.01
        How much costs count, in units of the mean cost.
    n_estimators, n_leaves, learning_rate, l2, validation_fraction
        See :class:`BudgetBoostClassifier`. The validation rows say when to stop adding
        trees.
    class_weight, random_state, n_jobs
        See :class:`BudgetBoostClassifier`.

    Attributes
    ----------
    policy_ : Ensemble
        The booster as a policy.
    classes_ : ndarray
        The classes, ascending.
    point_ : ValidationPoint
        What the booster costs and how often it is wrong on the validation rows.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = CEGBClassifier(tradeoff=0.1, n_estimators=30, random_state=0)
    >>> model = model.fit(X[:400], y[:400])
    >>> bool(0 < model.cost(X[400:]).mean() < 30)
    True
    """

    _draws_rows = True

    def __init__(
        self,
        costs: Any = None,
        mistakes: Any = None,
        *,
        tradeoff: float = 0.01,
        n_estimators: int = 300,
        n_leaves: int = 8,
        learning_rate: float = 0.1,
        l2: float | None = None,
        validation_fraction: float = 0.2,
        class_weight: Any = None,
        random_state: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.costs = costs
        self.mistakes = mistakes
        self.tradeoff = tradeoff
        self.n_estimators = n_estimators
        self.n_leaves = n_leaves
        self.learning_rate = learning_rate
        self.l2 = l2
        self.validation_fraction = validation_fraction
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _grow(self, examples: Examples) -> Ensemble:
        check_count("n_estimators", self.n_estimators, least=1)
        check_number("tradeoff", self.tradeoff, least=0.0)
        fraction = check_share(
            "validation_fraction", self.validation_fraction, usual=0.2
        )
        if len(examples.classes) == 1:
            return decide_at_once(examples)
        train, valid = split_rows(examples, fraction, self.random_state)
        plan = BoosterPlan(
            float(self.tradeoff),
            False,
            self.n_estimators,
            self.n_leaves,
            self.learning_rate,
            self.l2,
            examples.n_threads,
        )
        facts = (examples.classes, examples.costs, examples.names)
        policy = run_to_leaves(grow_model(plan, train, valid, *facts).policy)
        run = policy.predict_and_cost(valid.rows.values, n_jobs=self.n_jobs)
        self.point_ = measure_rows(valid.rows, *run, examples.classes)
        return policy
