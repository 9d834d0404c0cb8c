"""LSID3 and ACT: before a test is chosen, the trees that may follow it are sampled."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any

from sklearn.utils import check_random_state

from askless._core.cost._samples import Sampling
from askless._progress import Reporter
from askless.exceptions import InvalidOptionError
from askless.learn._anytime import StopFlag, run_until
from askless.learn._base import PolicyClassifier
from askless.learn._checks import check_count, check_number, check_share
from askless.learn._examples import Examples
from askless.learn._mistakes import average_mistake
from askless.learn._stages import StageLog, warn_greedy_only, warn_interrupted
from askless.learn.trees._induction import Induction
from askless.policy import Policy

__all__ = ["ACTClassifier", "LSID3Classifier", "act_settings"]

# Samples of each branch when neither they nor a time limit is given.
DEFAULT_SAMPLES = 5
# With a time limit, samples are doubled up to here.
MOST_SAMPLES = 4096


def act_settings(average: float, all_tests: float) -> tuple[float, float]:
    """Return how much prices matter and the confidence of errors, from the costs.

    Parameters
    ----------
    average : float
        Mean cost of a mistake.
    all_tests : float
        What all tests cost together.

    Returns
    -------
    w, confidence : float
        ``0.5 + exp(-x)`` and ``0.2 + 0.05 (1 + (x - 1) / (x + 1))`` with x the average
        mistake over all tests: dear mistakes make prices matter less, and prune less.

    Examples
    --------
    >>> w, confidence = act_settings(50.0, 50.0)
    >>> round(w, 6), confidence
    (0.867879, 0.25)
    """
    if all_tests <= 0:
        return 0.5, 0.3
    x = average / all_tests
    return 0.5 + math.exp(-x), 0.2 + 0.05 * (1 + (x - 1) / (x + 1))


class _SampledTreeClassifier(PolicyClassifier):
    """What ACT and LSID3 share: two ways to spend time, one tree for any n_jobs."""

    costs: Any
    mistakes: Any
    samples: int | None
    time_limit: float | None
    random_state: Any

    def _prepare(self, examples: Examples) -> None:
        """Check settings, and tune those that are to be tuned."""

    @abstractmethod
    def _growth(self, induction: Induction) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the options of every tree, and of the samples."""

    def _grow(self, examples: Examples) -> Policy:
        self._prepare(examples)
        if self.samples is not None:
            check_count("samples", self.samples, least=0)
        if self.time_limit is not None:
            check_number("time_limit", self.time_limit, least=0.0)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        induction = Induction.of(examples.code(), examples.classes, examples.costs)
        options, sampling = self._growth(induction)
        sampling = {**sampling, "seed": seed, "n_threads": examples.n_threads}
        search = _Search(induction, options, sampling, examples.reporter)
        if self.time_limit is None:
            samples = DEFAULT_SAMPLES if self.samples is None else int(self.samples)
            search.run_contract(samples)
        else:
            search.run_for(float(self.time_limit), self.samples)
        self.stages_ = search.log.stages
        self.n_samples_ = search.best_samples
        self.expected_cost_ = search.best_value
        return induction.tree(search.best)


class _Search:
    """Trees with more and more samples, and the best of them."""

    def __init__(
        self,
        induction: Induction,
        options: dict[str, Any],
        sampling: dict[str, Any],
        reporter: Reporter,
    ) -> None:
        self.induction = induction
        self.options = options
        self.sampling = sampling
        self.log = StageLog(reporter)
        self.flag = StopFlag()
        self.best: dict[str, Any] = {}
        self.best_value = math.inf
        self.best_samples = 0

    def try_samples(self, samples: int, *, stoppable: bool = True) -> None:
        """Grow a tree and keep it if it is expected to cost less."""
        inducer = self.induction.inducer(
            sampling=Sampling(samples, **self.sampling),
            stop=self.flag.array if stoppable else None,
            **self.options,
        )
        arrays = inducer.grow()
        value = inducer.value / self.induction.weight
        # The last one may have been cut short, but even so it is a whole tree.
        if value < self.best_value * (1 - 1e-12) or not self.best:
            self.best, self.best_value, self.best_samples = arrays, value, samples
        name = f"{samples} samples" if samples else "greedy"
        if self.log.add(name, value, self.best_value):
            self.flag.raise_it()

    def run_contract(self, samples: int) -> None:
        """Grow one tree with so many samples; Ctrl-C makes the rest of it greedy."""
        if samples == 0:
            self.try_samples(0, stoppable=False)
            return
        if run_until(lambda: self.try_samples(samples), self.flag, None) == "interrupt":
            warn_interrupted(
                "Interrupted: nodes that were not reached yet were chosen greedily."
            )

    def run_for(self, time_limit: float, most: int | None) -> None:
        """Double the samples until the time is over."""
        self.try_samples(0, stoppable=False)
        used = self.log.seconds
        if used >= time_limit:
            warn_greedy_only(time_limit, used)
            return
        most = MOST_SAMPLES if most is None else int(most)

        def work() -> None:
            samples = 1
            while samples <= most and not self.flag:
                self.try_samples(samples)
                samples = most if samples < most < 2 * samples else 2 * samples

        if run_until(work, self.flag, time_limit - used) == "interrupt":
            warn_interrupted()


class LSID3Classifier(_SampledTreeClassifier):
    """LSID3: the test after which the smallest sampled trees follow; blind to costs.

    For every test, each branch is given `samples` random trees, which draw tests with
    chances that follow their gain. The test whose branches need the fewest leaves is
    chosen. Prunes as C4.5 does.

    Parameters
    ----------
    costs : Costs, mapping or sequence, default=None
        What each test costs, by name or by position; 1 each by default. Costs do not
        change the tree, only what it is said to charge.
    mistakes : number, matrix or mapping, default=None
        Cost of a wrong decision, ``mistakes[true][decision]``. Leaves decide by it; the
        tree is grown without.
    samples : int, default=None
        Trees for each branch; 0 is ID3. 5 by default. With a time limit, the most that
        are tried.
    time_limit : float, default=None
        Seconds. Trees with 1, 2, 4, ... samples are grown until then, and the one with
        the fewest expected errors is returned.
    confidence : float, default=0.25
        Of the pessimistic error by which the tree is pruned; less prunes more.
    prune : bool, default=True
        Replace a subtree by a leaf that is expected to err no more.
    max_cost : float, default=None
        The most that any row may cost, whatever its tests show: tests that alone cost
        more are left out, and a branch stops where the next test could cost more.
    class_weight : mapping or "balanced", default=None
        Factors of the weights of the rows of each class; "balanced" makes all classes
        weigh the same.
    random_state : int, RandomState or None, default=None
        The same seed gives the same tree, with any n_jobs.
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
    n_samples_ : int
        How many samples the tree was grown with.
    expected_cost_ : float
        Expected errors of a row, as C4.5 reckons them.
    stages_ : list of Progress
        What was tried, when, and what it was worth.

    Notes
    -----
    A number is tried at its `samples` cuts of highest gain, with one sample for each
    side. A test that settles a sample's node is taken at once.

    References
    ----------
    .. [1] S. Esmeir, S. Markovitch, "Anytime Learning of Decision Trees", JMLR 8, 2007.

    Examples
    --------
    Neither bit of a parity tells anything alone; C4.5 finds no first test.

    >>> X = [[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)] * 4
    >>> y = [a ^ b for a, b, c in X]
    >>> LSID3Classifier(random_state=0).fit(X, y).score(X, y)
    1.0
    """

    def __init__(
        self,
        costs: Any = None,
        mistakes: Any = None,
        *,
        samples: int | None = None,
        time_limit: float | None = None,
        confidence: float = 0.25,
        prune: bool = True,
        max_cost: float | None = None,
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.costs = costs
        self.mistakes = mistakes
        self.samples = samples
        self.time_limit = time_limit
        self.confidence = confidence
        self.prune = prune
        self.max_cost = max_cost
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _growth(self, induction: Induction) -> tuple[dict[str, Any], dict[str, Any]]:
        options = {
            "criterion": "gain",
            "value": "errors",
            "confidence": check_share("confidence", self.confidence),
            "prunes": bool(self.prune),
        }
        return options, {"value": "leaves", "greedy_first": False}


class ACTClassifier(_SampledTreeClassifier):
    """ACT: the test after which sampled trees cost least, in tests and mistakes.

    For every test, each branch is given one greedy tree (EG2) and ``samples - 1``
    random ones (SEG2, which draws tests with chances that follow EG2's score). A tree
    is priced by what its rows pay on their way and by the mistakes to expect in its
    leaves; the cheapest of a branch counts. Subtrees that cost more than a leaf are
    pruned. More samples, better trees: it is worth giving it time.

    Parameters
    ----------
    costs : Costs, mapping or sequence, default=None
        What each test costs, by name or by position; 1 each by default.
    mistakes : number, matrix or mapping, default=None
        Cost of a wrong decision, ``mistakes[true][decision]``. If neither this nor
        `costs` says, ten times what all tests cost together.
    samples : int, default=None
        Trees for each branch; 0 chooses as EG2 does. 5 by default. With a time limit,
        the most that are tried.
    time_limit : float, default=None
        Seconds. Trees with 1, 2, 4, ... samples are grown until then, and the one of
        least expected cost is returned. So does Ctrl-C, at any time.
    cost_weight : float or {"auto", "tuned"}, default="auto"
        How much prices matter to EG2. From the costs, or the best of three by
        cross-validation.
    confidence : float or {"auto", "tuned"}, default="auto"
        Of the upper limit of a leaf's error rate. From the costs, or the best of three
        by cross-validation.
    prune : bool, default=True
        Replace a subtree by a leaf that is expected to cost no more.
    prune_samples : bool, default=False
        Price samples as if they were pruned too.
    max_cost : float, default=None
        The most that any row may cost, whatever its tests show: tests that alone cost
        more are left out, and a branch stops where the next test could cost more.
    class_weight : mapping or "balanced", default=None
        Factors of the weights of the rows of each class; "balanced" makes all classes
        weigh the same.
    random_state : int, RandomState or None, default=None
        The same seed gives the same tree, with any n_jobs.
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
    n_samples_ : int
        How many samples the tree was grown with.
    expected_cost_ : float
        Expected total cost of a row, by the estimate that the tree was grown by.
    cost_weight_, confidence_ : float
        The settings that were used.
    stages_ : list of Progress
        What was tried, when, and what it was worth.

    Notes
    -----
    A number is tried at its `samples` cuts of highest gain, with one greedy tree for
    each side. Expected errors are the exact upper limit of the binomial proportion.
    Delayed tests, which the paper leaves out: below one, a test is charged to every row
    that reached the delayed test, once, whichever branch asks for it first; branches
    are priced one after another, each with what the best samples of those before it
    have bought.

    References
    ----------
    .. [1] S. Esmeir, S. Markovitch, "Anytime Induction of Low-cost, Low-error
       Classifiers: a Sampling-based Approach", JAIR 33, 2008.

    Examples
    --------
    Neither bit of a parity tells anything alone; a mistake costs 100, a test 1.

    >>> X = [[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    >>> y = [a ^ b for a, b, c in X]
    >>> tree = ACTClassifier([1, 1, 1], mistakes=100, confidence=0.25).fit(X, y)
    >>> tree.score(X, y), tree.cost(X).mean().item(), tree.expected_cost_
    (1.0, 2.0, 52.0)
    """

    def __init__(
        self,
        costs: Any = None,
        mistakes: Any = None,
        *,
        samples: int | None = None,
        time_limit: float | None = None,
        cost_weight: float | str = "auto",
        confidence: float | str = "auto",
        prune: bool = True,
        prune_samples: bool = False,
        max_cost: float | None = None,
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.costs = costs
        self.mistakes = mistakes
        self.samples = samples
        self.time_limit = time_limit
        self.cost_weight = cost_weight
        self.confidence = confidence
        self.prune = prune
        self.prune_samples = prune_samples
        self.max_cost = max_cost
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _prepare(self, examples: Examples) -> None:
        self._check_settings()
        self._tuned: dict[str, float] = {}
        if "tuned" in (self.cost_weight, self.confidence):
            from askless.learn.trees._act_tuning import tune_act

            self._tuned = tune_act(self, examples)

    def _check_settings(self) -> None:
        for name in ("cost_weight", "confidence"):
            value = getattr(self, name)
            if not isinstance(value, str):
                check = check_share if name == "confidence" else _check_weight
                check(name, value)
            elif value not in ("auto", "tuned"):
                raise InvalidOptionError(
                    f"{name} must be a number, 'auto' or 'tuned'. Got {value!r}. Leave "
                    "it out to set it from the costs."
                )

    def _growth(self, induction: Induction) -> tuple[dict[str, Any], dict[str, Any]]:
        w, confidence = act_settings(
            average_mistake(induction.mistakes), induction.prices.cost_of_all()
        )
        tuned = self._tuned
        self.cost_weight_ = _settle(self.cost_weight, w, tuned.get("cost_weight"))
        self.confidence_ = _settle(self.confidence, confidence, tuned.get("confidence"))
        options = {
            "criterion": "eg2",
            "value": "cost",
            "judging": {"w": self.cost_weight_},
            "confidence": self.confidence_,
            "prunes": bool(self.prune),
        }
        return options, {"prunes": bool(self.prune_samples)}


def _check_weight(name: str, value: object) -> float:
    return check_number(name, value, least=0.0)


def _settle(given: float | str, from_costs: float, tuned: float | None) -> float:
    if isinstance(given, str):
        return from_costs if given == "auto" or tuned is None else tuned
    return float(given)
