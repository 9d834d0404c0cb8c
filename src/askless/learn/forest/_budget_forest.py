"""Forests that stay within a budget: a published algorithm as an estimator."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from askless._core.greedy._options import GrowthLimits
from askless.exceptions import InvalidOptionError, UnusedBudgetWarning
from askless.learn._base import PolicyClassifier
from askless.learn._checks import (
    check_budget,
    check_choice,
    check_count,
    check_max_cost,
    check_max_depth,
    check_number,
    check_share,
    count_features,
    list_alphas,
)
from askless.learn._examples import CodedExamples, Examples
from askless.learn._max_cost import limit_policy
from askless.learn._stages import count_frames, warn_interrupted
from askless.learn.forest._curve import (
    CodedRows,
    ForestPoint,
    best_within,
    measure_path,
)
from askless.learn.forest._grow import GrowthOptions, TreesToGrow, grow_trees
from askless.learn.forest._lone_leaf import make_lone_leaf
from askless.learn.forest._set_aside import (
    code_out_of_bag,
    code_validation_rows,
    set_aside,
    take_aside,
)
from askless.policy import Forest, Nodes, Policy

__all__ = ["BudgetForestClassifier"]

# Less than this share of a budget is little, and this share of wrong rows is no matter.
USED, FEW_ERRORS = 0.5, 0.02


class BudgetForestClassifier(PolicyClassifier):
    """A random forest whose mean cost for a case stays within a budget.

    Trees are grown on bootstrap samples. A split is scored by its price for each pair
    of rows of different class that it separates, in the worst outcome of the test, so
    that rows rarely buy an expensive test. Trees are added while the mean cost on
    validation rows is within the budget; a row pays for each test once in the whole
    forest.

    Parameters
    ----------
    costs : Costs, mapping or sequence, default=None
        What each test costs, by name or by position; 1 each by default.
    budget : float, default=None
        The most that a row may cost on average, kept on the validation rows. None for
        no limit.
    mistakes : number, matrix or mapping, default=None
        Cost of a wrong decision, ``mistakes[true][decision]``. Leaves, or sums of
        leaves, decide by it; growing trees does not use it. That of `costs` by default.
    n_estimators : int, default=40
        The largest number of trees.
    alpha : float or sequence of float, default=None
        How many rows of a class a leaf may hold before it counts as mixed: larger
        values give smaller, cheaper trees. Of several values the best is chosen on the
        validation rows. The default is 0 without a budget, and the grid of the paper
        with one.
    split : {"minimax", "expected"}, default="minimax"
        Whether a test is judged by its worst outcome or on average.
    thresholds : {"all", "random"}, default="all"
        Try every threshold of a number, or as the paper does 80, 40 or 20 drawn at
        random in nodes of more than 2,000, more than 500 and fewer rows.
    max_features : int, float, "sqrt" or None, default=None
        Try only so many tests, or such a share of them, drawn at random at each node.
        Trees differ more, so a forest is more accurate and costs more.
    voting : {"votes", "counts"}, default="votes"
        Decide by the majority of the trees, or by the sum of the class counts of the
        leaves.
    max_depth : int, default=None
        Ask at most so many tests on any path of a tree.
    max_cost : float, default=None
        The most that any row may cost. The chosen forest is then run as an ensemble: a
        row buys the test that its unfinished trees need most, and stops before it could
        pay more. Tests that alone cost more are left out.
    min_weight : float, default=0.0
        Do not split a set of less weight.
    free_reuse : bool, default=False
        Whether a test that was already bought on the path is scored as free.
    bootstrap : bool, default=True
        Grow each tree on about as many rows drawn with replacement: each row counts
        by a Poisson draw of mean 1, keyed by its number; else on all rows.
    validation_fraction : float, default=0.3
        The share of the rows that is set aside for validation, if ``fit`` is given no
        validation rows and something must be chosen.
    out_of_bag : bool, default=False
        Set nothing aside: grow on all rows, and judge each of them by the trees that
        did not see it.
    warm_start : bool, default=False
        Keep the trees of the last fit and grow only those that are missing. The rows
        must be the same.
    class_weight : mapping or "balanced", default=None
        Factors of the weights of the rows of each class; "balanced" makes all classes
        weigh the same.
    random_state : int, RandomState or None, default=None
        Draws samples, tests and thresholds.
    n_jobs : int, default=None
        Threads; results do not depend on it.

    Attributes
    ----------
    policy_ : Forest or Ensemble
        The policy that was learned; an ensemble with a `max_cost`.
    classes_ : ndarray
        The classes, ascending.
    alpha_ : float
        The alpha that was chosen.
    n_estimators_ : int
        How many trees are within the budget.
    point_ : ForestPoint or None
        What the policy costs and how often it is wrong on the validation rows; with a
        `max_cost`, what the forest does without it.

    Notes
    -----
    Out of bag, the error of a row is judged by the trees that did not see it, and costs
    are averaged over all rows and trees: costs need no classes.

    Where no tree is within the budget the policy buys nothing, decides for the most
    frequent class, and a warning says so. Where less than half of the budget is spent
    and rows are still wrong, a warning says why and which learner spends more.

    Growing takes O(n_tests * n_rows) for each level of a tree and, beyond the codes and
    the trees, at most as much memory as the codes for each thread.

    Examples
    --------
    >>> from askless.datasets import make_clinic
    >>> clinic = make_clinic(2000, random_state=0)
    >>> forest = BudgetForestClassifier(
    ...     clinic.costs, budget=60, max_features="sqrt", random_state=0)
    >>> forest = forest.fit(clinic.to_frame(), clinic.y)
    >>> bool(forest.point_.cost <= 60)
    True
    """

    _nothing: Forest  # what buys nothing, of the same tests and classes

    _draws_rows = True
    _reads_codes = True

    def __init__(
        self,
        costs: Any = None,
        budget: float | None = None,
        *,
        mistakes: Any = None,
        n_estimators: int = 40,
        alpha: Any = None,
        split: str = "minimax",
        thresholds: str = "all",
        max_features: int | float | str | None = None,
        voting: str = "votes",
        max_depth: int | None = None,
        max_cost: float | None = None,
        min_weight: float = 0.0,
        free_reuse: bool = False,
        bootstrap: bool = True,
        validation_fraction: float = 0.3,
        out_of_bag: bool = False,
        warm_start: bool = False,
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.costs = costs
        self.budget = budget
        self.mistakes = mistakes
        self.n_estimators = n_estimators
        self.alpha = alpha
        self.split = split
        self.thresholds = thresholds
        self.max_features = max_features
        self.voting = voting
        self.max_depth = max_depth
        self.max_cost = max_cost
        self.min_weight = min_weight
        self.free_reuse = free_reuse
        self.bootstrap = bootstrap
        self.validation_fraction = validation_fraction
        self.out_of_bag = out_of_bag
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _grow(self, examples: Examples) -> Forest:
        alphas = self._check_options()
        self._aside = 0.0
        is_choice = self.budget is not None or len(alphas) > 1
        is_warm = self._start(examples)
        coded = examples.code(self._nothing.tests if is_warm else None)
        judged = None
        if examples.valid is not None:
            judged = code_validation_rows(
                examples.valid, coded.tests, examples.n_threads
            )
        elif is_choice and not self.out_of_bag:
            fraction = float(self.validation_fraction)
            is_aside = set_aside(coded.class_rows, fraction, self._seed)
            coded = replace(coded, is_kept=~is_aside)
            self._aside = fraction
            judged = take_aside(coded)
        elif is_choice:
            judged = code_out_of_bag(coded, self._options(0.0), self.n_estimators)
        self._nothing = make_lone_leaf(coded, examples, self.voting)
        alphas = self._add_all(alphas, coded, examples)
        self.path_ = self._measure_path(alphas, judged, examples.n_threads)
        if judged is not None and is_choice:
            return self._choose(judged, examples.n_threads)
        self.alpha_, self.n_estimators_ = alphas[0], self.n_estimators
        self.point_ = self.path_[-1] if self.path_ else None
        return self._first(self.alpha_, self.n_estimators_)

    def _check_options(self) -> list[float]:
        """Check the options, and return the alphas to choose from."""
        check_choice("split", self.split, ("minimax", "expected"))
        check_choice("thresholds", self.thresholds, ("all", "random"))
        check_choice("voting", self.voting, ("votes", "counts"))
        check_count("n_estimators", self.n_estimators, least=1)
        check_number("min_weight", self.min_weight, least=0.0)
        check_max_depth(self.max_depth)
        check_share("validation_fraction", self.validation_fraction, usual=0.3)
        if self.out_of_bag and not self.bootstrap:
            raise InvalidOptionError(
                "out_of_bag=True must have trees that do not see all rows. Got "
                "bootstrap=False. Set rows aside instead: out_of_bag=False."
            )
        return list_alphas(self.alpha, check_budget(self.budget))

    # Growing.

    def _start(self, examples: Examples) -> bool:
        """Start again, unless trees of the last fit are to be kept; return whether."""
        if not self.warm_start or not getattr(self, "forests_", None):
            source = check_random_state(self.random_state)
            self._seed = int(source.randint(np.iinfo(np.int32).max))
            self.forests_: dict[float, Forest] = {}
            return False
        if self._nothing.classes != examples.classes:
            raise InvalidOptionError(
                "A warm start must see the same rows. Got other classes. Set "
                "warm_start=False to start again."
            )
        return True

    def _options(self, alpha: float) -> GrowthOptions:
        return GrowthOptions(
            alpha=alpha,
            split=self.split,
            thresholds=self.thresholds,
            max_features=count_features(self.max_features, self.n_features_in_),
            limits=GrowthLimits(
                max_depth=self.max_depth, min_weight=float(self.min_weight)
            ),
            free_reuse=bool(self.free_reuse),
            bootstrap=bool(self.bootstrap),
            seed=self._seed,
            aside=self._aside,
        )

    def _add_all(
        self, alphas: list[float], coded: CodedExamples, examples: Examples
    ) -> list[float]:
        """Grow the trees of alphas; return those that are grown when it is to stop."""
        reporter = examples.reporter
        n_done = 0
        try:
            for alpha in alphas:
                self._add_trees(alpha, coded, examples.n_threads)
                n_done += 1
                what = f"alpha {alpha:g}, {self.n_estimators} trees"
                if reporter.tell(what, done=n_done / len(alphas)):
                    break
        except KeyboardInterrupt:
            if n_done == 0:
                raise
            warn_interrupted("Interrupted: chosen from the forests grown so far.")
        return alphas[:n_done]

    def _add_trees(self, alpha: float, coded: CodedExamples, n_threads: int) -> None:
        """Grow the trees of an alpha that are missing."""
        old, like = self.forests_.get(alpha), self._nothing
        n_old = 0 if old is None else old.n_trees
        if n_old >= self.n_estimators:
            return
        missing = range(n_old, self.n_estimators)
        nodes = self._grow_trees(
            TreesToGrow(coded, like.prices, self._options(alpha), missing, n_threads)
        )
        if like.mistakes is not None:
            # Decided again, by the costs of mistakes.
            nodes = replace(nodes, decision=None)
        if old is not None:
            nodes = Nodes.join([old.nodes, nodes])
        self.forests_[alpha] = Forest(
            like.tests,
            like.classes,
            like.prices,
            nodes=nodes,
            voting=like.voting,
            mistakes=like.mistakes,
            is_checked=True,
        )

    # How trees are grown; an engine does it elsewhere, with the same result.
    _grow_trees = staticmethod(grow_trees)

    # Choosing.

    def _measure_path(
        self, alphas: list[float], judged: CodedRows | None, n_threads: int
    ) -> list[ForestPoint]:
        if judged is None:
            return []
        path = []
        for alpha in alphas:
            forest = self._first(alpha, self.n_estimators)
            path += measure_path(forest, judged, alpha, n_threads)
        return path

    def _choose(self, judged: CodedRows, n_threads: int) -> Forest:
        """Keep, of each forest, what the budget allows, and of these the best."""
        best = best_within(self.path_, self.budget)
        if best is None:
            every = replace(judged, is_out_of_bag=None)
            (point,) = measure_path(self._nothing, every, np.inf, n_threads)
            best = replace(point, n_estimators=0)
        self.alpha_, self.n_estimators_ = best.alpha, best.n_estimators
        self.point_ = best
        return self._forest_at(best)

    def _first(self, alpha: float, n_estimators: int) -> Forest:
        forest = self.forests_[alpha]
        if n_estimators == forest.n_trees:
            return forest
        return forest.first_trees(n_estimators)

    def _explain_degenerate(self) -> str | None:
        if self.n_estimators_ > 0:
            return super()._explain_degenerate()
        cheapest = float(self._nothing.prices.full.min())
        reason = "is below the cost of any tree"
        if self.budget is not None and self.budget < cheapest:
            reason = f"is below the price of the cheapest test, {cheapest:g}"
        return (
            f"The budget of {self.budget:g} {reason}: the policy buys nothing and "
            "always decides for the most frequent class. Raise the budget."
        )

    def _learn(self, examples: Examples) -> None:
        super()._learn(examples)
        reason = self._explain_unused()
        if reason is not None:
            warnings.warn(reason, UnusedBudgetWarning, stacklevel=count_frames())

    def _explain_unused(self) -> str | None:
        """Return why most of the budget is not spent, though some rows are wrong."""
        budget, point = self.budget, self.point_
        if budget is None or point is None or self.n_estimators_ == 0:
            return None
        if point.cost >= USED * budget or point.error <= FEW_ERRORS:
            return None
        return (
            f"Of a budget of {budget:g} only {point.cost:.4g} is spent, and "
            f"{100 * point.error:.3g} % of the rows are wrong: trees prefer cheap "
            "tests, and more of them err no less. Use BudgetBoostClassifier, which "
            "spends what lowers the error; or try a smaller alpha, more n_estimators "
            "or max_features='sqrt'."
        )

    # Using.

    def path(self) -> list[ForestPoint]:
        """Return the error and cost of every forest that one fit gives.

        For each alpha, the first tree, the first two, and so on, measured on the
        validation rows. See :meth:`policy_at`.
        """
        check_is_fitted(self)
        if not self.path_:
            raise InvalidOptionError(
                "A path must have validation rows. Got a forest that was grown without "
                "any. Give a budget, several alphas, or X_valid and y_valid."
            )
        return list(self.path_)

    def at_budget(self, budget: float | None) -> Policy:
        """Return the policy that would have been learned for another budget.

        Chosen from the path of the last fit, in no time. One that buys nothing is
        returned where no forest is within the budget.
        """
        best = best_within(self.path(), budget)
        return self._nothing if best is None else self.policy_at(best)

    def policy_at(self, point: ForestPoint) -> Policy:
        """Return the policy of a point of the path."""
        check_is_fitted(self)
        forest = self._forest_at(point)
        most = check_max_cost(self.max_cost)
        return forest if most is None else limit_policy(forest, most)

    def _forest_at(self, point: ForestPoint) -> Forest:
        if point.n_estimators == 0:
            return self._nothing
        return self._first(point.alpha, point.n_estimators)

    def confidence(self, X: Any) -> NDArray[np.float64]:
        """Return the share of each class in the leaves of each row, all trees together.

        The counts of the leaves are added up before they are divided, so that large
        leaves say more: what the paper ranks documents by.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Rows add up to 1.
        """
        forest = self._policy
        if not isinstance(forest, Forest):
            raise InvalidOptionError(
                "confidence must have every leaf of a row. Got a forest with a "
                "max_cost, which stops before. Leave max_cost out."
            )
        counts = forest.count_leaves(self._rows(X), n_jobs=self.n_jobs)
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))
