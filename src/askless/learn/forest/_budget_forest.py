"""Forests that stay within a budget: a published algorithm as an estimator."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import (
    _check_sample_weight,
    check_is_fitted,
    column_or_1d,
)

from askless.exceptions import (
    DegeneratePolicyWarning,
    InvalidOptionError,
    InvalidTableError,
)
from askless.learn._base import (
    PolicyClassifier,
    _count_jobs,
    _drop_weightless,
    number_classes,
)
from askless.learn._examples import CodedExamples, code_examples
from askless.learn.forest._curve import ForestPoint, Judges, measure_path
from askless.learn.forest._forest_options import (
    ALPHA_GRID,
    alphas_of,
    check_forest_options,
    count_features,
)
from askless.learn.forest._grow import GrowthOptions, bag_of, grow_trees
from askless.policy import Forest, Nodes, NodesBuilder, Policy
from askless.problem import Costs, PriceList, Test

__all__ = ["ALPHA_GRID", "BudgetForestClassifier", "ForestPoint"]


class BudgetForestClassifier(PolicyClassifier):
    """A random forest whose mean cost for a case stays within a budget.

    Trees are grown on bootstrap samples by the price of parting pairs of different
    class, in the worst outcome of a test, so that rows rarely buy anything dear. Trees
    are added while the mean cost on validation rows is within the budget; a row pays
    for each test once over the whole forest.

    Parameters
    ----------
    costs : Costs, mapping or sequence, default=None
        What each test costs, by name or by position; 1 each by default.
    budget : float, default=None
        The most that a row may cost on average, kept on the validation rows. None for
        no limit.
    n_estimators : int, default=40
        The most trees.
    alpha : float or sequence of float, default=None
        How many rows of a class a leaf may hold before they count as mixed: larger ones
        give smaller, cheaper trees. Of several the best is chosen on the validation
        rows. By default 0 without a budget, and with one the paper's grid.
    split : {"minimax", "expected"}, default="minimax"
        Whether a test is judged by its worst outcome or on average.
    thresholds : {"all", "random"}, default="all"
        Try every threshold of a number, or as the paper does 80, 40 or 20 drawn at
        random in nodes of more than 2,000, more than 500 and fewer rows.
    max_features : int, float, "sqrt" or None, default=None
        Try only so many tests, or such a share of them, drawn at random at each node.
        Trees differ more, so a forest is more accurate and costs more.
    rule : {"votes", "counts"}, default="votes"
        Decide by the majority of the trees, or by the sum of the class counts of the
        leaves.
    max_depth : int, default=None
        Ask at most so many tests on any path of a tree.
    min_weight : float, default=0.0
        Do not split a set of less weight.
    free_reuse : bool, default=False
        Score a test that was already bought on the path as free.
    bootstrap : bool, default=True
        Grow each tree on as many rows drawn with replacement; else on all rows.
    validation : float or "oob", default=0.3
        Without validation rows given to ``fit``: the share of the rows that is set
        aside, or "oob" to grow on all rows and judge each by the trees that did not
        see it. Used only where something must be chosen.
    warm_start : bool, default=False
        Keep the trees of the last fit and grow only those that are missing. The rows
        must be the same.
    random_state : int, RandomState or None, default=None
        Draws samples, tests and thresholds.
    n_jobs : int, default=None
        Threads; results do not depend on it.

    Attributes
    ----------
    policy_ : Forest
        The policy that was learned.
    classes_ : ndarray
        The classes, ascending.
    alpha_ : float
        The alpha that was chosen.
    n_trees_ : int
        How many trees are within the budget.
    validation_ : ForestPoint or None
        Cost with its spread and error of the policy on the validation rows.

    Notes
    -----
    With "oob" the error of a row is judged by the trees that did not see it, and costs
    are averaged over all rows and trees: costs need no classes.

    Where no tree is within the budget the policy buys nothing, decides for the most
    frequent class, and a warning says so.

    Growing takes O(n_tests * n_rows) for each level of a tree and, beyond the codes and
    the trees, at most as much memory as the codes for each thread.

    Examples
    --------
    >>> from askless.datasets import make_clinic
    >>> clinic = make_clinic(2000, random_state=0)
    >>> forest = BudgetForestClassifier(clinic.costs, budget=60, random_state=0)
    >>> forest = forest.fit(clinic.to_frame(), clinic.y)
    >>> bool(forest.validation_.cost <= 60)
    True
    """

    def __init__(
        self,
        costs: Any = None,
        budget: float | None = None,
        *,
        n_estimators: int = 40,
        alpha: Any = None,
        split: str = "minimax",
        thresholds: str = "all",
        max_features: int | float | str | None = None,
        rule: str = "votes",
        max_depth: int | None = None,
        min_weight: float = 0.0,
        free_reuse: bool = False,
        bootstrap: bool = True,
        validation: float | str = 0.3,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.costs = costs
        self.budget = budget
        self.n_estimators = n_estimators
        self.alpha = alpha
        self.split = split
        self.thresholds = thresholds
        self.max_features = max_features
        self.rule = rule
        self.max_depth = max_depth
        self.min_weight = min_weight
        self.free_reuse = free_reuse
        self.bootstrap = bootstrap
        self.validation = validation
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_validation: Any = None,
        y_validation: Any = None,
    ) -> BudgetForestClassifier:
        """Grow a forest, and choose how much of it is within the budget.

        Parameters
        ----------
        X : frame or array-like of shape (n_rows, n_tests)
            Raw values. Numbers are compared with thresholds, everything else branches
            by value; NaN and None are missing.
        y : array-like of shape (n_rows,)
            The class of each row.
        sample_weight : array-like of shape (n_rows,), optional
            The weight of each row.
        X_validation, y_validation : optional
            Rows to choose on, and to keep the budget on.

        Returns
        -------
        self : BudgetForestClassifier
            The fitted estimator.
        """
        check_forest_options(self)
        again = self.warm_start and hasattr(self, "forests_")
        tests: tuple[Test, ...] | None = self.policy_.tests if again else None
        values, names = self._check_rows(X, reset=not again, y=y)
        labels = column_or_1d(y, warn=True)
        classes, class_ids = number_classes(labels)
        if again and classes.tolist() != self.classes_.tolist():
            raise InvalidOptionError(
                "A warm start must see the same rows. Got other classes. Set "
                "warm_start=False to start again."
            )
        self.classes_ = classes
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(
                sample_weight,
                X if isinstance(values, dict) else values,
                dtype=np.float64,
                ensure_non_negative=True,
            )
            values, class_ids, weights = _drop_weightless(values, class_ids, weights)
        if not again:
            self._seed = int(
                check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
            )
            self.forests_: dict[float, Forest] = {}
        given = self._check_validation(X_validation, y_validation)
        kept, judges = self._set_aside(values, class_ids, weights, given)
        if kept is not None:
            values, class_ids = _take(values, kept), class_ids[kept]
            weights = None if weights is None else weights[kept]
        n_jobs = _count_jobs(self.n_jobs)
        examples = code_examples(
            values,
            names,
            class_ids.astype(np.min_scalar_type(len(classes)), copy=False),
            len(classes),
            weights,
            n_jobs,
            tests=tests,
        )
        costs = self._make_costs(len(names))
        prices = costs.price_list(examples.tests)
        self._grow_forests(examples, prices, costs, n_jobs)
        self._nothing = _lone_leaf(examples, next(iter(self.forests_.values())))
        self._choose(judges, prices, n_jobs)
        return self

    def _grow(self, examples: CodedExamples, costs: Costs) -> Policy:
        raise NotImplementedError("a forest is grown by fit itself")

    # Growing.

    def _options(self, alpha: float) -> GrowthOptions:
        return GrowthOptions(
            alpha=alpha,
            split=self.split,
            thresholds=self.thresholds,
            max_features=count_features(self.max_features, self.n_features_in_),
            max_depth=self.max_depth,
            min_weight=float(self.min_weight),
            free_reuse=bool(self.free_reuse),
            bootstrap=bool(self.bootstrap),
            seed=self._seed,
        )

    def _grow_forests(
        self, examples: CodedExamples, prices: PriceList, costs: Costs, n_jobs: int
    ) -> None:
        """Grow the trees that are missing, for each alpha."""
        labels = tuple(self.classes_.tolist())
        mistakes = costs.mistake_matrix(labels)
        for alpha in alphas_of(self):
            old = self.forests_.get(alpha)
            n_old = 0 if old is None else old.n_trees
            if n_old >= self.n_estimators:
                continue
            nodes = grow_trees(
                examples,
                prices,
                self._options(alpha),
                range(n_old, self.n_estimators),
                n_jobs,
            )
            if mistakes is not None:
                # Decided again, by the costs of mistakes.
                nodes = replace(nodes, decision=None)
            if old is not None:
                nodes = Nodes.join([old.nodes, nodes])
            self.forests_[alpha] = Forest(
                examples.tests,
                labels,
                prices,
                nodes=nodes,
                voting=self.rule,  # type: ignore[arg-type]
                mistakes=mistakes,
                is_checked=True,
            )

    # Choosing.

    def _is_choice(self) -> bool:
        """Return whether anything has to be chosen on validation rows."""
        return self.budget is not None or len(alphas_of(self)) > 1

    def _check_validation(self, X: Any, y: Any) -> tuple[Any, Any] | None:
        if (X is None) != (y is None):
            raise InvalidOptionError(
                "X_validation and y_validation must be given together. Got one of "
                "them. Give both, or neither."
            )
        if X is None:
            return None
        rows = self._check_rows(X, reset=False)[0]
        labels = column_or_1d(y, warn=True)
        where = {label: i for i, label in enumerate(self.classes_.tolist())}
        # A class that was never seen is always decided wrongly.
        ids = np.array([where.get(label, -1) for label in labels.tolist()])
        if len(ids) != _n_rows(rows) or len(ids) == 0:
            raise InvalidTableError(
                "Validation rows must have a class each, and there must be some. Got "
                f"{_n_rows(rows)} rows and {len(ids)} classes. Check y_validation."
            )
        return rows, ids

    def _set_aside(
        self, values: Any, class_ids: Any, weights: Any, given: Any
    ) -> tuple[NDArray[np.intp] | None, Judges | None]:
        """Return the rows to grow on, None for all, and the rows to judge by."""
        if given is not None:
            rows, ids = given
            return None, Judges(lambda part: _take(rows, part), ids)
        if not self._is_choice():
            return None, None
        if self.validation == "oob":
            # Growing sorts rows by class, and samples are drawn in that order.
            order = np.argsort(class_ids, kind="stable")
            sorted_rows = _take(values, order)
            sample = self._options(0.0)

            def left_out(tree: int) -> NDArray[np.bool_]:
                counts = bag_of(sample, tree, len(order))
                if counts is None:
                    return np.ones(len(order), dtype=bool)
                return np.asarray(counts == 0)

            return None, Judges(
                lambda part: _take(sorted_rows, part),
                class_ids[order],
                None if weights is None else weights[order],
                left_out,
            )
        aside = _draw_aside(class_ids, float(self.validation), self._seed)
        kept = np.flatnonzero(~aside)
        held = np.flatnonzero(aside)
        held_rows = _take(values, held)
        return kept, Judges(
            lambda part: _take(held_rows, part),
            class_ids[held],
            None if weights is None else weights[held],
        )

    def _choose(self, judges: Judges | None, prices: PriceList, n_jobs: int) -> None:
        """Keep, of each forest, what the budget allows, and of these the best."""
        self.path_: list[ForestPoint] = []
        self.validation_: ForestPoint | None = None
        alphas = alphas_of(self)
        if judges is not None:
            for alpha in alphas:
                forest = self._first(alpha, self.n_estimators)
                self.path_ += measure_path(forest, judges, alpha, n_jobs)
        if judges is None or not self._is_choice():
            self.alpha_, self.n_trees_ = alphas[0], self.n_estimators
            self.policy_ = self._first(self.alpha_, self.n_trees_)
            self.validation_ = self.path_[-1] if self.path_ else None
            return
        budget = np.inf if self.budget is None else self.budget
        within = [_last_within(self.path_, alpha, budget) for alpha in alphas]
        fitting = [point for point in within if point is not None]
        if fitting:
            best = min(fitting, key=lambda point: (point.error, point.cost))
            self.alpha_, self.n_trees_ = best.alpha, best.n_trees
            self.policy_ = self._first(best.alpha, best.n_trees)
            self.validation_ = best
            return
        self._buy_nothing(prices)

    def _buy_nothing(self, prices: PriceList) -> None:
        cheapest = float(prices.full.min())
        reason = (
            f"is below the price of the cheapest test, {cheapest:g}"
            if self.budget is not None and self.budget < cheapest
            else "is below the cost of any tree"
        )
        warnings.warn(
            f"The budget of {self.budget:g} {reason}: the policy buys nothing and "
            "always decides for the most frequent class. Raise the budget.",
            DegeneratePolicyWarning,
            stacklevel=4,
        )
        self.alpha_, self.n_trees_ = np.inf, 0
        self.policy_ = self._nothing

    def _first(self, alpha: float, n_trees: int) -> Forest:
        forest = self.forests_[alpha]
        return forest if n_trees == forest.n_trees else forest.first_trees(n_trees)

    # Using.

    def path(self) -> list[ForestPoint]:
        """Return the error and cost of every forest that one fit gives.

        For each alpha, the first tree, the first two, and so on, measured on the
        validation rows. See :meth:`policy_at`.
        """
        check_is_fitted(self)
        if not self.path_:
            raise InvalidOptionError(
                "A path needs validation rows. Got a forest that was grown without "
                "any. Give a budget, several alphas, or X_validation and y_validation."
            )
        return list(self.path_)

    def at_budget(self, budget: float) -> Forest:
        """Return the policy that would have been learned for another budget.

        Chosen from the path of the last fit, in no time. One that buys nothing is
        returned where no forest is within the budget.
        """
        self.path()
        alphas = sorted({point.alpha for point in self.path_})
        within = [_last_within(self.path_, alpha, budget) for alpha in alphas]
        fitting = [point for point in within if point is not None]
        if not fitting:
            return self._nothing
        return self.policy_at(min(fitting, key=lambda p: (p.error, p.cost)))

    def policy_at(self, point: ForestPoint) -> Forest:
        """Return the policy of a point of the path."""
        check_is_fitted(self)
        return self._first(point.alpha, point.n_trees)

    def predict_and_cost(self, X: Any) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Return the decision and the cost of each row, in one walk."""
        decided, paid = self._forest.predict_and_cost(
            self._rows(X), n_jobs=_count_jobs(self.n_jobs)
        )
        return decided.astype(self.classes_.dtype, copy=False), paid

    def confidence(self, X: Any) -> NDArray[np.float64]:
        """Return the share of each class in the leaves of each row, all trees together.

        The counts of the leaves are added up before they are divided, so that large
        leaves say more: what the paper ranks documents by.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Rows add up to 1.
        """
        counts = self._forest.count_leaves(
            self._rows(X), n_jobs=_count_jobs(self.n_jobs)
        )
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))

    @property
    def _forest(self) -> Forest:
        check_is_fitted(self)
        assert isinstance(self.policy_, Forest)
        return self.policy_


def _n_rows(values: Any) -> int:
    return len(next(iter(values.values()))) if isinstance(values, dict) else len(values)


def _take(values: Any, rows: Any) -> Any:
    """Return some rows of a matrix, or of columns."""
    if isinstance(values, dict):
        return {name: column[rows] for name, column in values.items()}
    return values[rows]


def _draw_aside(class_ids: Any, share: float, seed: int) -> NDArray[np.bool_]:
    """Draw the rows to set aside, a share of each class, at least one row in all."""
    rng = np.random.default_rng([seed, 1])
    aside = np.zeros(len(class_ids), dtype=bool)
    for label in np.unique(class_ids):
        rows = rng.permutation(np.flatnonzero(class_ids == label))
        aside[rows[: int(share * len(rows))]] = True
    if not aside.any():
        rows = np.flatnonzero(class_ids == np.bincount(class_ids).argmax())
        if len(rows) < 2:
            raise InvalidTableError(
                "There must be enough rows to set some aside for validation. Got "
                f"{len(class_ids)}. Use validation='oob', or give validation rows."
            )
        aside[rng.choice(rows)] = True
    return aside


def _last_within(
    path: list[ForestPoint], alpha: float, budget: float
) -> ForestPoint | None:
    """Return the largest forest whose cost, and that of all smaller ones, is within."""
    last = None
    for point in path:
        if point.alpha == alpha:
            if point.cost > budget:
                break
            last = point
    return last


def _lone_leaf(examples: CodedExamples, like: Forest) -> Forest:
    """Return a forest of one leaf that holds all rows."""
    class_of_row = np.repeat(np.arange(len(examples.class_rows)), examples.class_rows)
    counts = np.bincount(
        class_of_row, examples.weights, minlength=len(examples.class_rows)
    ).astype(np.float64)
    builder = NodesBuilder()
    builder.add_leaf({int(k): float(counts[k]) for k in np.flatnonzero(counts > 0)})
    return Forest(
        like.tests,
        like.classes,
        like.prices,
        nodes=builder.build(),
        voting=like.voting,
        mistakes=like.mistakes,
    )
