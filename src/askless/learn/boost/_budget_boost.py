"""Cost-efficient boosting with a budget: boosters that buy, run until they are sure."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from askless.exceptions import InvalidOptionError
from askless.learn._base import PolicyClassifier
from askless.learn._checks import (
    check_budget,
    check_choice,
    check_confidence,
    check_count,
    check_max_cost,
    check_share,
)
from askless.learn._examples import Examples
from askless.learn._validation import summarise_rows
from askless.learn.boost._booster_rows import BoosterRows
from askless.learn.boost._boosters import (
    BoosterPlan,
    decide_at_once,
    import_lightgbm,
)
from askless.learn.boost._calibrate import calibrate
from askless.learn.boost._candidates import BoostPoint, Candidates, Goal
from askless.learn.boost._families import FAMILIES, Plan, Wanted, list_plans
from askless.learn.boost._growing import Telling, fix_rounds, grow_all
from askless.learn.boost._shortlist import list_best
from askless.learn.boost._split import split_rows
from askless.learn.boost._traced import (
    WAYS_TO_STOP,
    TracedRows,
    join_runs,
    trace_rows,
)
from askless.policy import Ensemble
from askless.problem._jobs import count_threads

__all__ = ["BudgetBoostClassifier"]

# With fewer validation rows, rows left out of growing are chosen on as well.
FEW_ROWS = 500
# Folds, with so many rows to grow on or fewer, and with more: what is grown on two
# thirds of these is as good as on four fifths. Of several classes there are fewer
# folds, and none where boosters have very many trees.
FOLDED_ROWS, N_FOLDS, FEWER_FOLDS, MOST_FOLDED = 600, 5, 3, 12
# Boosters that are grown on folds: of two classes, and of more. With 8 of two classes,
# which takes a fifth less time, 2 of 128 points of rivals are missed on problems that
# choices are made on, with these none, and what is paid at the error of cost-efficient
# boosting is 8 % more.
MOST_KEPT_OF_TWO, MOST_KEPT_OF_MORE = 12, 10
# Validation rows that are traced, at most: more of them tell little more.
MOST_TRACED = 3_000
# Where probabilities count, fewer if there were more sums of steps, of four bytes each.
MOST_SUMS = 20_000_000
# Of these, rows that are kept for the probabilities of other budgets.
MOST_KEPT = 600


# What may be made least.
LOSSES = ("error", "log_loss")


class BudgetBoostClassifier(PolicyClassifier):
    """Boosted trees that keep an average budget, buying features one by one.

    Boosters are grown with penalties for features that a row has not bought yet, from
    accurate to cheap: some by LightGBM, some by Askless, with more than three classes
    so that all classes share the trees and what they buy. Each is traced on validation
    rows; then the model and the threshold to stop at that err least within the budget
    are taken. The error of a model is taken to fall with what it buys: the best of many
    thresholds overfits the rows that it is chosen on. How sure a row must be is counted
    in deviations of what is open, which add up as if trees varied independently, or all
    at once: what errs less is taken.

    Parameters
    ----------
    costs : Costs, mapping or sequence, default=None
        What each feature costs, by name or by position; 1 each by default.
    budget : float, default=None
        What a row may cost on average. None for the least error, whatever it costs.
    loss : {"error", "log_loss"}, default="error"
        What is made least: the share of wrong decisions, or the log loss of the
        probabilities, for those who rank rows, or who choose what a class is worth
        later. Decisions of rare classes say little; probabilities say more. Then rows
        may also stop at a limit of one to three times the budget.
    mistakes : number, matrix or mapping, default=None
        Cost of a wrong decision, ``mistakes[true][decision]``. What mistakes cost on
        average is then made least, instead of the error: within the budget, or without
        one together with what tests cost, so that a row stops when the next test is
        not worth its price. Boosters are grown and decide without. Those of `costs` by
        default. Not with ``loss="log_loss"``.
    budget_confidence : float, default=0.95
        How sure it must be that the mean cost of new rows is within the budget. None
        to keep the budget on the rows to choose on only, and spend more.
    max_cost : float, default=None
        The most that any row may cost: a row stops before it could pay more.
    family : {"auto", "boost", "forest"}, default="auto"
        What to choose from. "boost": small and bagged boosters only. "auto": also
        boosters as large as LightGBM's default (31 leaves), boosters of our own beside
        those of LightGBM or the other way round, and some without penalties on the
        columns that tell most; with up to 1,500 rows, or 5,000 of more than three
        classes, naive Bayes and its blends with boosters. A random forest with up to
        1,500 rows of two classes, and two with up to 5,000 rows of more, of which one
        draws its cuts. "forest": small and bagged boosters and a random forest.
    tradeoffs : tuple of float, default=None
        How much costs count, in units of the mean cost: one small booster each. By
        default twelve from 0 to 0.5 with up to 1,500 rows of two classes, and five to
        seven with more rows or classes, three with more than 5,000 rows of three
        classes. They are LightGBM's, but ours with more than three classes, with up to
        1,500 rows of three, and with more than 5,000 of two.
    bagged_tradeoffs : tuple of float, default=None
        The same of boosters of our own that see some of the rows with each tree and
        some of the columns with each split, learn half as fast for twice as many
        rounds, have twice as many leaves and shrink them: often more accurate. By
        default one to three from 0 to 0.03, and none with more than 5,000 rows. May be
        empty.
    n_estimators : int, default=300
        The most rounds of boosting, each of which adds a tree, or one for each class;
        fewer if the validation loss stops falling. Where all classes share the trees,
        half as many again, but no more than 4,000 trees of single classes, nor fewer
        than 150 rounds.
    n_leaves : int, default=8
        Leaves of a tree; bagged boosters and most of our own have twice as many, with
        more than 5,000 rows of several classes ours have sixteen times as many.
    learning_rate : float, default=0.1
        How much of each tree is added; twice as much where all classes share it.
    l2 : float, default=None
        Shrinks leaves of little weight; 1 by default for more than two classes, where
        single leaves would otherwise grow without bound, and 0 for two.
    validation_fraction : float, default=0.2
        The share of rows kept for validation, if ``fit`` is given none.
    n_folds : int, default=None
        With fewer than 500 validation rows, the rows that boosters grow on are used
        to choose on as well: they are divided into so many folds, and each fold is run
        by boosters grown without it, the twelve that are best at some budget, ten of
        several classes. 0 for validation rows only. By default 5 with up to 600 rows of
        two classes to grow on, else 3, and 0 for more than 12 classes, where growing
        takes long.
    class_weight : mapping or "balanced", default=None
        Factors of the weights of the rows of each class; "balanced" makes all classes
        weigh the same.
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
        The boosters, before one was chosen; with folds, those that were grown on them.

    Notes
    -----
    The budget is kept on average, not by each row. ``point_`` tells of the rows that it
    was chosen on: the validation rows, and with few of them the folds; its
    ``cost_stderr`` how far new rows may lie from them. Where one threshold costs too
    little and the next too much, a limit for every row fills the budget. Probabilities
    are fitted to where validation rows stop, by a factor of the log-odds. Penalties
    count a feature at its full
    price; the run charges groups, delays and prices by outcome as they are.

    ``fit`` takes a :class:`~askless.learn.CodeStore` in place of rows. Boosters then
    grow on the codes of the store instead of bins of their own, and their thresholds
    become the cuts between the same levels, so that the policy decides on raw values as
    the boosters do on codes. It is not the policy of a fit in memory, whose bins
    differ, but errs about as often. Rows to grow on and validation rows are held as
    codes of four bytes a cell.

    Needs LightGBM: ``pip install 'askless[boost]'``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> boost = BudgetBoostClassifier(budget=3, n_estimators=30, random_state=0)
    >>> boost = boost.fit(X[:400], y[:400])
    >>> bool(boost.point_.cost <= 3), bool(boost.score(X[400:], y[400:]) > 0.85)
    (True, True)

    Good probabilities instead of good decisions:

    >>> boost = boost.set_params(loss="log_loss").fit(X[:400], y[:400])
    >>> bool(boost.point_.log_loss < 0.3)
    True
    """

    _draws_rows = True
    _reads_codes = True
    _keeps_max_cost = True

    def __init__(
        self,
        costs: Any = None,
        budget: float | None = None,
        *,
        loss: str = "error",
        mistakes: Any = None,
        budget_confidence: float | None = 0.95,
        max_cost: float | None = None,
        family: str = "auto",
        tradeoffs: tuple[float, ...] | None = None,
        bagged_tradeoffs: tuple[float, ...] | None = None,
        n_estimators: int = 300,
        n_leaves: int = 8,
        learning_rate: float = 0.1,
        l2: float | None = None,
        validation_fraction: float = 0.2,
        n_folds: int | None = None,
        class_weight: Any = None,
        random_state: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.costs = costs
        self.budget = budget
        self.loss = loss
        self.mistakes = mistakes
        self.budget_confidence = budget_confidence
        self.max_cost = max_cost
        self.family = family
        self.tradeoffs = tradeoffs
        self.bagged_tradeoffs = bagged_tradeoffs
        self.n_estimators = n_estimators
        self.n_leaves = n_leaves
        self.learning_rate = learning_rate
        self.l2 = l2
        self.validation_fraction = validation_fraction
        self.n_folds = n_folds
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _grow(self, examples: Examples) -> Ensemble:
        self._check_options()
        if self._by_log_loss and examples.costs.mistakes is not None:
            raise InvalidOptionError(
                "loss='log_loss' must have no mistakes: probabilities count then, and "
                "not decisions. Got both. Leave out mistakes, also of costs, or loss."
            )
        if len(examples.classes) == 1:
            return self._buy_nothing(examples)
        train, valid = split_rows(examples, self.validation_fraction, self.random_state)
        self._mistakes = examples.costs.mistake_matrix(examples.classes)
        traced = _take_some(valid, self.random_state, self._most_traced(examples))
        plans = self._list_plans(train, examples)
        folds = self._list_folds(train, valid)
        n_kept = MOST_KEPT_OF_TWO if len(examples.classes) == 2 else MOST_KEPT_OF_MORE
        n_folded = min(n_kept, len(plans)) * len(folds)
        telling = Telling(examples.reporter, len(plans) + n_folded)
        grown = grow_all(plans, [train], valid, examples, telling, needs_one=True)[0]
        plans = [plans[i] for i in sorted(grown)]
        first = [grown[i] for i in sorted(grown)]
        models = [one.policy for one in first]
        runs = [self._trace(models, traced, examples)]
        candidates = join_runs(plans, runs, by_log_loss=self._by_log_loss)
        if folds and not examples.reporter.wants_stop:
            kept = list_best(candidates, self._goal(None), n_kept, len(WAYS_TO_STOP))
            plans, runs = [plans[i] for i in kept], [runs[0].keep(kept)]
            alike = [fix_rounds(plans[i], first[k]) for i, k in enumerate(kept)]
            grown_on = [train.take(some) for some, _ in folds]
            by_fold = grow_all(alike, grown_on, valid, examples, telling)
            for (_, left_out), grown in zip(folds, by_fold, strict=True):
                if len(grown) == len(plans):  # a fold counts if all have run it
                    models = [grown[i].policy for i in range(len(plans))]
                    runs.append(self._trace(models, train.take(left_out), examples))
            candidates = join_runs(plans, runs, by_log_loss=self._by_log_loss)
        self.models_ = runs[0].models
        self._candidates: Candidates | None = candidates
        self._calibrated_on = traced.take(slice(0, MOST_KEPT)).raw_rows
        policy, point = self._candidates.choose(self._goal(self.budget))
        self.point_ = point
        return calibrate(policy, self._calibrated_on, examples.n_threads)

    def _check_options(self) -> None:
        check_budget(self.budget)
        check_choice("family", self.family, FAMILIES)
        check_choice("loss", self.loss, LOSSES)
        check_max_cost(self.max_cost)
        check_confidence(self.budget_confidence)
        check_count("n_estimators", self.n_estimators, least=1)
        check_share("validation_fraction", self.validation_fraction, usual=0.2)
        tradeoffs = self.tradeoffs
        if tradeoffs is not None and (
            not len(tradeoffs) or any(not t >= 0 for t in tradeoffs)
        ):
            raise InvalidOptionError(
                f"tradeoffs must be at least one number >= 0. Got {tradeoffs!r}. "
                "Leave it out for those that suit the number of rows."
            )
        bagged = self.bagged_tradeoffs
        if bagged is not None and any(not t >= 0 for t in bagged):
            raise InvalidOptionError(
                f"bagged_tradeoffs must be numbers >= 0. Got {bagged!r}. Leave it out "
                "for those that suit the number of rows, or give () for none."
            )
        if self.n_folds not in (None, 0) and not self.n_folds >= 2:
            raise InvalidOptionError(
                f"n_folds must be at least 2, or 0 for none. Got {self.n_folds!r}. "
                "Leave it out for five with two classes."
            )
        import_lightgbm()

    @property
    def _by_log_loss(self) -> bool:
        return self.loss == "log_loss"

    def _most_traced(self, examples: Examples) -> int:
        """Return how many validation rows are traced, at most."""
        if not self._by_log_loss:
            return MOST_TRACED
        n_sums = (len(examples.names) + 1) * len(examples.classes)
        return min(MOST_TRACED, max(FEW_ROWS, MOST_SUMS // n_sums))

    def _goal(self, budget: float | None) -> Goal:
        most = np.inf if self.max_cost is None else float(self.max_cost)
        return Goal(budget, self.budget_confidence, most, self._mistakes)

    def _list_plans(self, train: BoosterRows, examples: Examples) -> list[Plan]:
        plain = BoosterPlan(
            0.0,
            False,
            self.n_estimators,
            self.n_leaves,
            self.learning_rate,
            self.l2,
            examples.n_threads,
        )
        wanted = Wanted(
            plain, self.family, self.tradeoffs, self.bagged_tradeoffs, self._seed
        )
        prices = examples.costs.price_list(train.tests)
        return list_plans(wanted, train, prices, len(examples.classes))

    def _trace(
        self, models: list[Ensemble], rows: BoosterRows, examples: Examples
    ) -> TracedRows:
        return trace_rows(
            models, rows, examples.n_threads, by_log_loss=self._by_log_loss
        )

    @property
    def _seed(self) -> int:
        return 0 if self.random_state is None else int(self.random_state)

    def _list_folds(self, train: BoosterRows, valid: BoosterRows) -> list[Any]:
        """Return rows to grow on and rows left out, if validation rows are few."""
        counts = np.bincount(train.rows.class_ids)
        n_folds = self.n_folds
        if n_folds is None:
            is_little = len(counts) == 2 and train.rows.n_rows <= FOLDED_ROWS
            n_folds = N_FOLDS if is_little else FEWER_FOLDS
            n_folds = n_folds if len(counts) <= MOST_FOLDED else 0
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
        nothing = 0.0 if self._by_log_loss else None
        self.point_ = BoostPoint(
            tradeoff=0.0,
            threshold=np.inf,
            log_loss=nothing,
            brier=nothing,
            **summarise_rows(free, is_wrong > 0),
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
        policy = self._candidates.choose(self._goal(budget))[0]
        return calibrate(policy, self._calibrated_on, count_threads(self.n_jobs))


def _take_some(rows: BoosterRows, random_state: Any, most: int) -> BoosterRows:
    """Return so many rows as are worth tracing, drawn at random."""
    n_rows = rows.rows.n_rows
    if n_rows <= most:
        return rows
    drawn = check_random_state(random_state).permutation(n_rows)[:most]
    return rows.take(np.sort(drawn))
