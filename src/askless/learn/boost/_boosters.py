"""Grow one booster, forest or naive Bayes, and make a policy of it.

This module must not know budgets, nor which of several boosters is taken.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from threading import get_ident
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from askless.exceptions import MissingExtraError
from askless.learn._examples import Examples
from askless.learn.boost._bayes import MOST_LEVELS, blend, read_bayes
from askless.learn.boost._booster_rows import BoosterRows
from askless.learn.boost._compile import compile_source
from askless.learn.boost._priced import grow_source
from askless.learn.boost._rounds import PATIENCE, PricedPlan
from askless.learn.boost._split import tests_of
from askless.learn.sources import Source, read_lightgbm_text, read_model
from askless.policy import Ensemble, EnsembleTrees, Output
from askless.problem import Costs, Outcome, Test

__all__ = [
    "BayesPlan",
    "BoosterPlan",
    "ForestPlan",
    "Grown",
    "decide_at_once",
    "grow_model",
    "import_lightgbm",
    "rank_columns",
]

# Rows and rounds that columns are ranked by.
RANKED_ROWS, RANKED_ROUNDS = 10_000, 30
# Of bagged boosters: the share of rows that a tree sees, and of columns that a split
# sees, how much slower they learn, for how many times as many rounds, and how much more
# their leaves are shrunk.
BAGGING, COLUMNS, SLOWER, LONGER, BAGGED_L2 = 0.7, 0.4, 0.5, 2, 3.0
# Of ours, the splits see more of the columns.
OWN_COLUMNS = 0.7
# Of our boosters of several classes, which add one tree a round for all of them: how
# much faster they learn, and for how many times as many rounds, but so many trees that
# the policy has a few thousand, counted for each class.
FASTER, MORE_ROUNDS, LEAST_ROUNDS, MOST_TREES = 2.0, 1.5, 150, 4_000


@dataclass(frozen=True)
class BoosterPlan:
    """How one booster is grown.

    Attributes
    ----------
    tradeoff : float
        How much costs count, in units of the mean cost.
    is_bagged : bool
        Whether each tree sees some of the rows, and each split some of the columns;
        such a booster learns half as fast, for twice as many rounds, and shrinks its
        leaves.
    n_estimators, n_leaves, learning_rate, l2, n_jobs
        As ``BudgetBoostClassifier`` has them.
    columns : tuple of int or None
        The only columns that it may use; None for all.
    bayes_share : float
        How much of the log-odds naive Bayes says, once the booster is grown.
    is_own : bool
        Whether Askless grows it itself, not LightGBM.
    is_apart : bool
        Whether a round of ours adds a tree for each of several classes, as LightGBM's
        do, and not one for all of them.
    n_fixed : int or None
        How many rounds there are, whatever validation rows say; None if these end it.
    """

    tradeoff: float
    is_bagged: bool
    n_estimators: int
    n_leaves: int
    learning_rate: float
    l2: float | None
    n_jobs: int
    columns: tuple[int, ...] | None = None
    bayes_share: float = 0.0
    is_own: bool = False
    is_apart: bool = False
    n_fixed: int | None = None

    @property
    def family(self) -> str:
        """What kind of model this is, in a word or two."""
        if self.bayes_share:
            return "blend"
        if self.columns is not None:
            return "few columns"
        return "bagged" if self.is_bagged else "boost"

    @property
    def n_rounds(self) -> int:
        """The most rounds of boosting."""
        if self.n_fixed is not None:
            return self.n_fixed
        return self.n_estimators * (LONGER if self.is_bagged else 1)

    @property
    def rate(self) -> float:
        """How much of each tree is added."""
        return self.learning_rate * (SLOWER if self.is_bagged else 1.0)

    def shrinkage(self, n_classes: int) -> float:
        """Return what leaves of little weight are shrunk by."""
        if self.l2 is not None:
            return self.l2
        if self.is_bagged:
            return BAGGED_L2
        return 1.0 if n_classes > 2 else 0.0

    def own(self, n_classes: int) -> PricedPlan:
        """Return how Askless grows it."""
        n_rounds, rate = self.n_rounds, self.rate
        if n_classes > 2 and not self.is_apart:
            rate = FASTER * rate
            if self.n_fixed is None:
                within = max(LEAST_ROUNDS, MOST_TREES // n_classes)
                n_rounds = min(round(MORE_ROUNDS * n_rounds), within)
        return PricedPlan(
            self.tradeoff,
            n_rounds,
            self.n_leaves,
            rate,
            self.shrinkage(n_classes),
            self.columns,
            self.n_jobs,
            is_apart=self.is_apart,
            row_share=BAGGING if self.is_bagged else 1.0,
            column_share=OWN_COLUMNS if self.is_bagged else 1.0,
            patience=self._patience,
        )

    @property
    def _patience(self) -> int | None:
        if self.n_fixed is not None:
            return None
        return PATIENCE * (LONGER if self.is_bagged else 1)

    def options(self, prices: NDArray[np.float64], n_classes: int) -> dict[str, Any]:
        """Return the parameters of LightGBM for prices and a number of classes."""
        found = {
            "objective": "binary" if n_classes == 2 else "multiclass",
            "num_leaves": self.n_leaves,
            "learning_rate": self.rate,
            "min_data_in_leaf": 5,
            "lambda_l2": self.shrinkage(n_classes),
            "num_threads": self.n_jobs,
            # The same trees for any number of threads.
            "deterministic": True,
            "force_col_wise": True,
            "seed": 0,
            "verbose": -1,
        }
        if n_classes > 2:
            found["num_class"] = n_classes
        if self.is_bagged:
            found |= {"bagging_fraction": BAGGING, "bagging_freq": 1}
            found["feature_fraction_bynode"] = COLUMNS
        if self.tradeoff and prices.any():
            prices = _in_range(prices)
            found["cegb_tradeoff"] = self.tradeoff / float(prices.mean())
            found["cegb_penalty_feature_lazy"] = prices.tolist()
        return found


def _in_range(prices: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return prices that LightGBM can read: it stumbles over numbers next to zero.

    Only how large they are beside each other matters.
    """
    largest = float(prices.max())
    if not 1e-100 < largest < 1e100:
        prices = prices / largest
    return np.where(prices < 1e-100, 0.0, prices)


@dataclass(frozen=True)
class ForestPlan:
    """How a random forest is grown, which knows nothing of prices.

    Attributes
    ----------
    n_trees : int
        How many trees.
    most_leaves : int
        Leaves of a tree, at most.
    seed : int
        Draws rows and columns.
    n_jobs : int
        Threads.
    has_random_cuts : bool
        Whether a split takes the best of random cuts, on all rows, not the best cut on
        rows drawn with replacement.
    """

    n_trees: int
    most_leaves: int
    seed: int
    n_jobs: int
    has_random_cuts: bool = False
    tradeoff: float = 0.0
    is_bagged: bool = False
    family: str = "forest"

    @property
    def n_leaves(self) -> int:
        """The most leaves of a tree."""
        return self.most_leaves

    def grow(
        self,
        train: BoosterRows,
        classes: tuple[Outcome, ...],
        costs: Costs,
        names: list[str],
    ) -> Ensemble:
        """Return the forest as a policy; columns must be numbers."""
        kind = ExtraTreesClassifier if self.has_random_cuts else RandomForestClassifier
        model = kind(
            self.n_trees,
            max_leaf_nodes=self.most_leaves,
            random_state=self.seed,
            n_jobs=self.n_jobs,
        ).fit(train.matrix, train.rows.class_ids, train.rows.weights)
        source = replace(read_model(model), classes=classes)
        return compile_source(
            train.to_raw(source), costs, names=names, stops_early=True
        )


@dataclass(frozen=True)
class BayesPlan:
    """Naive Bayes, which knows nothing of prices.

    Every class has a tree for each column, with a leaf for each level of it.
    """

    tradeoff: float = 0.0
    is_bagged: bool = False
    family: str = "bayes"
    n_leaves: int = MOST_LEVELS

    def grow(
        self,
        train: BoosterRows,
        classes: tuple[Outcome, ...],
        costs: Costs,
        names: list[str],
    ) -> Ensemble:
        """Return naive Bayes as a policy."""
        source = train.to_raw(read_bayes(train, classes))
        return compile_source(source, costs, names=names, stops_early=True)


class Grown(NamedTuple):
    """A model, and how many rounds it has.

    Attributes
    ----------
    policy : Ensemble
        The model as a policy that stops when it is settled.
    n_rounds : int or None
        The rounds of a booster that were kept; None of what has none.
    """

    policy: Ensemble
    n_rounds: int | None = None


def grow_model(
    plan: BoosterPlan | ForestPlan | BayesPlan,
    train: BoosterRows,
    valid: BoosterRows,
    classes: tuple[Outcome, ...],
    costs: Costs,
    names: list[str],
) -> Grown:
    """Return a booster, a forest or naive Bayes as a policy, and its rounds.

    Parameters
    ----------
    plan : BoosterPlan, ForestPlan or BayesPlan
        How to grow it.
    train, valid : BoosterRows
        Rows to grow on, and validation rows that say when to stop adding trees.
    classes, costs, names
        Those of the examples.
    """
    if not isinstance(plan, BoosterPlan):
        return Grown(plan.grow(train, classes, costs, names))
    alone = replace(plan, bayes_share=0.0)
    # The same booster is asked for alone and together with naive Bayes.
    source, n_rounds = train.keep(
        (alone, id(valid)), lambda: _boost(alone, train, valid, classes, costs)
    )
    if plan.bayes_share:
        bayes = train.keep("bayes", lambda: read_bayes(train, classes))
        source = blend(source, bayes, plan.bayes_share)
    policy = compile_source(train.to_raw(source), costs, names=names, stops_early=True)
    return Grown(policy, n_rounds)


def _boost(
    plan: BoosterPlan,
    train: BoosterRows,
    valid: BoosterRows,
    classes: tuple[Outcome, ...],
    costs: Costs,
) -> tuple[Source, int]:
    """Return the trees of a booster, and how many rounds they are of."""
    if plan.is_own:
        prices = costs.price_list(train.tests).full
        return grow_source(plan.own(len(classes)), train, valid, classes, prices)
    lightgbm, tests = import_lightgbm(), train.tests
    # Of each thread its own: LightGBM writes on what it grows on.
    key = (get_ident(), plan.columns, id(valid))
    data, held_out = train.keep(key, lambda: _bin(plan, train, valid, len(classes)))
    ends: dict[str, Any] = {}
    if plan.n_fixed is None:
        stop = lightgbm.early_stopping(30, verbose=False)
        ends = {"valid_sets": [held_out], "callbacks": [stop]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        booster = lightgbm.train(
            plan.options(costs.price_list(tests).full, len(classes)),
            data,
            plan.n_rounds,
            # Without, it would be written as text and read once more.
            keep_training_booster=True,
            **ends,
        )
    source = read_lightgbm_text(
        booster.model_to_string(),
        classes=classes,
        categories={i: tests[i].outcomes for i in _list_categories(tests)},
    )
    return source, booster.best_iteration or booster.current_iteration()


def _list_categories(tests: tuple[Test, ...]) -> list[int]:
    return [i for i, test in enumerate(tests) if test.kind == "category"]


def _bin(
    plan: BoosterPlan, train: BoosterRows, valid: BoosterRows, n_classes: int
) -> tuple[Any, Any]:
    """Return rows to grow on and validation rows as LightGBM bins them.

    The bins are the same for all plans of the same columns, and made once.
    """
    lightgbm = import_lightgbm()
    data = lightgbm.Dataset(
        _blank(train.matrix, plan.columns), train.rows.class_ids,
        weight=train.rows.weights, categorical_feature=_list_categories(train.tests),
        params=plan.options(np.zeros(0), n_classes),
    )  # fmt: skip
    # LightGBM knows no class but those that it learns.
    is_known = valid.rows.class_ids >= 0
    known = valid if is_known.all() else valid.take(is_known)
    held_out = data.create_valid(
        _blank(known.matrix, plan.columns),
        known.rows.class_ids,
        weight=known.rows.weights,
    )
    return data, held_out


def _blank(matrix: NDArray[Any], columns: tuple[int, ...] | None) -> NDArray[Any]:
    """Return a matrix in which all other columns say nothing."""
    if columns is None:
        return matrix
    kept = np.zeros_like(matrix)
    kept[:, columns] = matrix[:, columns]
    return kept


def rank_columns(
    train: BoosterRows,
    n_classes: int,
    n_jobs: int,
    columns: tuple[int, ...] | None = None,
) -> NDArray[np.float64]:
    """Return how much each column tells: the gain of a short booster without prices.

    Parameters
    ----------
    train : BoosterRows
        Rows to grow on; of many, the first ones are taken.
    n_classes : int
        How many classes there are.
    n_jobs : int
        Threads.
    columns : tuple of int, optional
        The only columns that it may use.
    """
    lightgbm = import_lightgbm()
    plan = BoosterPlan(0.0, False, RANKED_ROUNDS, 31, 0.1, None, n_jobs)
    some = slice(0, RANKED_ROWS)
    data = lightgbm.Dataset(
        _blank(train.matrix[some], columns), train.rows.class_ids[some],
        categorical_feature=_list_categories(train.tests), params={"verbose": -1},
    )  # fmt: skip
    options = plan.options(np.zeros(0), n_classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        booster = lightgbm.train(options, data, RANKED_ROUNDS)
    return np.asarray(booster.feature_importance("gain"), dtype=np.float64)


def decide_at_once(examples: Examples) -> Ensemble:
    """Return the policy of a single class, which never buys anything."""
    zero = np.zeros(1, dtype=np.int32)
    tests = tests_of(examples)
    trees = EnsembleTrees(
        test=zero - 1, cut=zero, right=zero, flags=zero,
        words=np.zeros(0, dtype=np.uint64), tree_start=np.array([0, 1]),
        output=zero, weight=np.ones(1), value=np.ones((1, 1)),
    )  # fmt: skip
    return Ensemble(
        tests,
        examples.classes,
        examples.costs.price_list(tests),
        trees=trees,
        output=Output("share", (0.0,)),
    )


def import_lightgbm() -> Any:
    """Return LightGBM, or say how to get it."""
    try:
        import lightgbm
    except ImportError as error:
        raise MissingExtraError(
            "BudgetBoostClassifier needs LightGBM. Got none installed. Type: pip "
            "install 'askless[boost]'"
        ) from error
    return lightgbm
