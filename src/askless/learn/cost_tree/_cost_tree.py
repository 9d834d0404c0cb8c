"""The recommended learner of one tree: least total cost, of tests and mistakes."""

from __future__ import annotations

from typing import Any

from sklearn.utils import check_random_state

from askless.exceptions import InvalidOptionError
from askless.learn._anytime import StopFlag, run_until
from askless.learn._base import PolicyClassifier
from askless.learn._checks import check_count, check_number
from askless.learn._examples import Examples
from askless.learn._mistakes import settle_mistakes, weigh_mistakes
from askless.learn._stages import warn_greedy_only, warn_interrupted
from askless.learn.cost_tree._grower import to_nodes
from askless.learn.cost_tree._search import CostTreeSearch
from askless.learn.cost_tree._soft_rows import merge_rows
from askless.learn.trees._row_weights import settle_examples
from askless.policy import Policy, Tree

__all__ = ["CostTreeClassifier"]

DEFAULT_SAMPLES = 1
# With a time limit: ever more samples, up to here.
MOST_SAMPLES = 80


class CostTreeClassifier(PolicyClassifier):
    """The tree of least total cost: what it pays for tests, and for its mistakes.

    Every row gets a share of each class, mostly from a forest that has not seen it, so
    that the tree follows what can be known and not what happened to happen. Each split
    is then priced by growing whole subtrees below it, pruned, and forgetting them.

    Parameters
    ----------
    costs : Costs, mapping or sequence, default=None
        What each test costs, by name or by position; 1 each by default. Groups, delays
        and prices by outcome are kept to.
    mistakes : number, matrix or mapping, default=None
        What a wrong decision costs, in the currency of the tests; see
        :class:`~askless.Costs`, whose own are taken by default. If neither is given, a
        mistake costs ten times all tests together.
    time_limit : float, default=None
        Seconds. The best tree so far is returned, at least a greedy one.
    samples : int, default=None
        How many subtrees price each branch of a candidate: two greedy ones, and all but
        the first of these drawn at random. 1 by default; with a `time_limit`, the most
        that are tried, 80 by default.
    max_cost : float, default=None
        The most that any row may cost, whatever its tests show: tests that alone cost
        more are left out, and a branch stops where the next test could cost more.
    class_weight : mapping or "balanced", default=None
        Factors of what mistakes on each class cost; "balanced" makes all classes count
        the same. The price of tests counts as before.
    smoothing : float, default=0.75
        How much of a row's class comes from the forest; less, down to two thirds of it,
        where the forest tells the classes of rows that it has not seen.
    n_estimators : int, default=100
        Trees of the forest; 0 leaves every row its own class alone.
    leaf_cost : float, default=0.6
        What a leaf costs, in mistakes of one row of average class: it takes so much to
        be worth a branch. Less where the forest leaves little noise in the classes.
    max_levels : int, default=32
        Cut numbers into at most so many levels.
    n_cuts : int, default=2
        How many cuts of a number are looked ahead from at each node.
    random_state : int, RandomState instance or None, default=0
        Seed of the forest and of the sampled subtrees.
    n_jobs : int, default=None
        Threads; the tree does not depend on it.

    Attributes
    ----------
    policy_ : Tree
        The policy that was learned.
    classes_ : ndarray
        The classes, ascending.
    point_ : ValidationPoint or None
        What it costs and how often it errs on the validation rows, if any were given.
    stages_ : list of Progress
        What was tried, when, and what it was worth.
    status_ : {"done", "time", "interrupt"}
        Why it ended.
    expected_cost_ : float
        Total cost of a row, by the estimate that the tree was grown by: the cost of
        leaves included.

    Notes
    -----
    The learner goes on from cheap to dear and keeps the tree of least cost by its own
    estimate: the cheaper of two greedy trees; a tree that looks exactly two steps
    ahead; one that looks ahead by growing subtrees; and, with time left, the same with
    ever more of them. Ctrl-C or the time limit end it at any point: what is not grown
    yet then follows the cheaper of two greedy criteria.

    Below a delayed test everything is bought together, for all rows that get there.

    A category that a node has not seen goes where most rows go.

    A row of whole weight w counts as w rows, up to a hundred million rows in all.
    Weights that are not whole, or larger, are scaled to one a row on average.

    Examples
    --------
    The second test is dear, but where the first one does not tell, mistakes cost more:

    >>> import numpy as np
    >>> X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 50)
    >>> y = np.where(X[:, 0] == 0, 0, X[:, 1])
    >>> tree = CostTreeClassifier([1, 20], mistakes=100).fit(X, y)
    >>> tree.cost([[0, 1], [1, 1]])
    array([ 1., 21.])
    >>> CostTreeClassifier([1, 20], mistakes=10).fit(X, y).cost([[0, 1], [1, 1]])
    array([1., 1.])
    """

    _prices_classes = True

    def __init__(
        self,
        costs: Any = None,
        mistakes: Any = None,
        time_limit: float | None = None,
        *,
        samples: int | None = None,
        max_cost: float | None = None,
        class_weight: Any = None,
        smoothing: float = 0.75,
        n_estimators: int = 100,
        leaf_cost: float = 0.6,
        max_levels: int = 32,
        n_cuts: int = 2,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.costs = costs
        self.mistakes = mistakes
        self.time_limit = time_limit
        self.samples = samples
        self.max_cost = max_cost
        self.class_weight = class_weight
        self.smoothing = smoothing
        self.n_estimators = n_estimators
        self.leaf_cost = leaf_cost
        self.max_levels = max_levels
        self.n_cuts = n_cuts
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _grow(self, examples: Examples) -> Policy:
        self._check_options()
        coded, classes = settle_examples(examples.code()), examples.classes
        prices = examples.costs.price_list(coded.tests)
        stated = examples.costs.mistake_matrix(classes)
        mistakes = weigh_mistakes(
            settle_mistakes(stated, prices, len(classes)),
            self.class_weight,
            classes,
            coded.class_totals,
        )
        flag = StopFlag()
        search = CostTreeSearch(
            merge_rows(coded, int(self.max_levels)),
            prices,
            mistakes,
            samples=self._list_samples(),
            smoothing=float(self.smoothing),
            n_trees=int(self.n_estimators),
            leaf_cost=float(self.leaf_cost),
            n_cuts=int(self.n_cuts),
            seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
            n_jobs=examples.n_threads,
            is_timed=self.time_limit is not None,
            flag=flag,
            reporter=examples.reporter,
        )
        self.status_ = run_until(search.run, flag, self.time_limit)
        self.stages_ = search.log.stages
        assert search.best is not None  # once it has run
        self.expected_cost_ = search.best.cost / search.total
        self._warn_if_stopped(search)
        return Tree(
            search.rows.tests,
            classes,
            prices,
            nodes=to_nodes(search.best),
            mistakes=mistakes,
        )

    def _list_samples(self) -> list[int]:
        """Return how many samples to try, one after another."""
        if self.time_limit is None:
            return [DEFAULT_SAMPLES if self.samples is None else int(self.samples)]
        most = MOST_SAMPLES if self.samples is None else int(self.samples)
        return sorted({min(most, n) for n in (1, 5, 20, most)})

    def _check_options(self) -> None:
        if self.samples is not None:
            check_count("samples", self.samples, least=1)
        check_count("n_estimators", self.n_estimators, least=0)
        check_count("n_cuts", self.n_cuts, least=1)
        check_number("leaf_cost", self.leaf_cost, least=0.0)
        if check_count("max_levels", self.max_levels, least=2) > 254:
            raise InvalidOptionError(
                f"max_levels must be at most 254. Got {self.max_levels!r}. More levels "
                "hardly change a tree."
            )
        if check_number("smoothing", self.smoothing, least=0.0) > 1:
            raise InvalidOptionError(
                f"smoothing must be at most 1. Got {self.smoothing!r}. With 0 every "
                "row has its own class alone."
            )
        if self.time_limit is not None:
            check_number("time_limit", self.time_limit, least=0.0)

    def _warn_if_stopped(self, search: CostTreeSearch) -> None:
        used = search.greedy_seconds
        if self.time_limit is not None and used >= self.time_limit:
            warn_greedy_only(self.time_limit, used)
        elif self.status_ == "interrupt":
            warn_interrupted()
