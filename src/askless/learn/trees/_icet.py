"""ICET: a genetic search for the costs by which EG2 grows the cheapest tree."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from askless._core.cost._genetic_trials import Trials, key_rows
from askless._progress import Reporter
from askless.learn._anytime import StopFlag, run_until
from askless.learn._base import PolicyClassifier
from askless.learn._checks import check_count, check_number, check_share
from askless.learn._examples import CodedExamples, Examples
from askless.learn._stages import StageLog, warn_interrupted
from askless.learn.trees._genetic import N_BITS, Genetic, decode_all, encode_value
from askless.learn.trees._induction import Induction
from askless.policy import Policy
from askless.problem import PriceList
from askless.problem._jobs import count_threads, starting_threads

__all__ = ["ICETClassifier"]

# Ranges of what is searched: costs, how much they matter, confidence in per cent.
COSTS = (1.0, 10_000.0)
WEIGHT = (0.0, 1.0)
CONFIDENCE = (1.0, 100.0)


class ICETClassifier(PolicyClassifier):
    """ICET: EG2 with costs that a genetic search has found to give cheap trees.

    An individual is an invented cost for every test, how much they matter, and how
    hard to prune. It is as fit as the tree that EG2 grows by it on a part of the rows
    is cheap on the others: in true costs of tests, groups and delays included, and of
    mistakes. The fittest one grows the tree that is kept, on all rows.

    Parameters
    ----------
    costs : Costs, mapping or sequence, default=None
        What each test costs, by name or by position; 1 each by default.
    mistakes : number, matrix or mapping, default=None
        Cost of a wrong decision, ``mistakes[true][decision]``. If neither this nor
        `costs` says, ten times what all tests cost together.
    trials : int, default=1000
        How many individuals are tried in all.
    population : int, default=50
        How many live at a time.
    train_share : float, default=0.5
        Part of the rows that a trial's tree is grown on, drawn anew for each trial.
    crossover : float, default=0.6
        The chance that two parents exchange a part of their bits.
    mutation : float, default=0.001
        The chance that a bit is drawn anew.
    seeded : bool, default=True
        Start with an individual that has the true costs among the random ones.
    gray_code : bool, default=False
        Code numbers so that neighbours differ in one bit.
    min_weight : float, default=2.0
        At least two branches of a split must have this weight of rows.
    time_limit : float, default=None
        Seconds, after which the fittest so far is used. So does Ctrl-C.
    max_cost : float, default=None
        The most that any row may cost, whatever its tests show: tests that alone cost
        more are left out, and a branch stops where the next test could cost more.
    class_weight : mapping or "balanced", default=None
        Factors of the weights of the rows of each class; "balanced" makes all classes
        weigh the same.
    random_state : int, RandomState or None, default=None
        The same seed gives the same tree, with any n_jobs, if time does not end it.
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
    bias_costs_ : ndarray of shape (n_tests,)
        The costs that the tree was grown by.
    cost_weight_, confidence_ : float
        The other two numbers of the fittest.
    fitness_ : float
        Its mean total cost on held-out rows.
    n_trials_ : int
        How many individuals were tried.
    stages_ : list of Progress
        The best so far, generation by generation.

    Notes
    -----
    Numbers are strings of 12 bits: costs from 1 to 10,000, the weight from 0 to 1, the
    confidence from 1 to 100 %. The search is that of the program GENESIS: two-point
    crossover, selection by the distance from the worst of five generations, the best
    always survives. The published description leaves open how rows are divided: about
    halves are our choice, and a parameter. Rows that are alike stay together, so that
    nothing held out was seen before, and a row of weight 2 is the same as two rows.

    References
    ----------
    .. [1] P. D. Turney, "Cost-Sensitive Classification: Empirical Evaluation of a
       Hybrid Genetic Decision Tree Induction Algorithm", JAIR 2, 1995.

    Examples
    --------
    >>> X = [[i, i % 7] for i in range(40)]
    >>> y = [i > 19 for i in range(40)]
    >>> tree = ICETClassifier([1, 5], mistakes=50, trials=100, random_state=0).fit(X, y)
    >>> tree.score(X, y)
    1.0
    """

    def __init__(
        self,
        costs: Any = None,
        mistakes: Any = None,
        *,
        trials: int = 1000,
        population: int = 50,
        train_share: float = 0.5,
        crossover: float = 0.6,
        mutation: float = 0.001,
        seeded: bool = True,
        gray_code: bool = False,
        min_weight: float = 2.0,
        time_limit: float | None = None,
        max_cost: float | None = None,
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.costs = costs
        self.mistakes = mistakes
        self.trials = trials
        self.population = population
        self.train_share = train_share
        self.crossover = crossover
        self.mutation = mutation
        self.seeded = seeded
        self.gray_code = gray_code
        self.min_weight = min_weight
        self.time_limit = time_limit
        self.max_cost = max_cost
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _grow(self, examples: Examples) -> Policy:
        self._check_parameters()
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        coded = examples.code()
        induction = Induction.of(coded, examples.classes, examples.costs)
        trainer = _Trainer(
            coded,
            induction,
            float(self.min_weight),
            seed,
            float(self.train_share),
            gray=bool(self.gray_code),
        )
        n_tests = len(coded.tests)
        rng = np.random.default_rng([seed, 1])
        bits = rng.integers(
            0, 2, (int(self.population), N_BITS * (n_tests + 2)), dtype=np.uint8
        )
        if self.seeded:
            bits[0] = trainer.encode(induction.prices.full, 1.0, 25.0)
        genetic = Genetic(bits, rng, float(self.crossover), float(self.mutation))
        self._search(genetic, trainer, examples.reporter)
        self.bias_costs_, self.cost_weight_, self.confidence_ = trainer.decode(
            genetic.best_bits
        )
        self.fitness_ = float(genetic.best_cost)
        return induction.tree(trainer.grow(genetic.best_bits))

    def _search(self, genetic: Genetic, trainer: _Trainer, reporter: Reporter) -> None:
        """Breed until all trials are used, time is over, or Ctrl-C."""
        flag = StopFlag()
        log = StageLog(reporter)
        self.stages_ = log.stages
        trials = int(self.trials)
        self.n_trials_ = 0

        def work() -> None:
            generation = 0
            n_jobs = count_threads(self.n_jobs)
            with starting_threads(), ThreadPoolExecutor(n_jobs) as pool:
                while True:
                    self.n_trials_ += genetic.assess(
                        trainer.assess(genetic.bits, generation, n_jobs, pool, flag),
                        trials - self.n_trials_,
                    )
                    wants_stop = log.add(
                        f"{self.n_trials_} trials",
                        genetic.least_cost,
                        float(genetic.best_cost),
                        self.n_trials_ / trials,
                    )
                    if flag or wants_stop or self.n_trials_ >= trials:
                        return
                    genetic.breed()
                    generation += 1
                    if generation > 20 * trials:
                        # All alike and nothing mutates: there is nothing left to try.
                        return

        if run_until(work, flag, self.time_limit) == "interrupt":
            warn_interrupted(
                f"Interrupted after {self.n_trials_} of {trials} trials: the fittest "
                "so far is used."
            )

    def _check_parameters(self) -> None:
        check_count("trials", self.trials, least=1)
        check_count("population", self.population, least=2)
        check_share("train_share", self.train_share)
        check_number("crossover", self.crossover, least=0.0)
        check_number("mutation", self.mutation, least=0.0)
        check_number("min_weight", self.min_weight, least=0.0)
        if self.time_limit is not None:
            check_number("time_limit", self.time_limit, least=0.0)


class _Trainer:
    """Grow a tree by an individual, and see what it costs rows that it has not met."""

    def __init__(
        self,
        examples: CodedExamples,
        induction: Induction,
        min_weight: float,
        seed: int,
        train_share: float,
        *,
        gray: bool,
    ) -> None:
        self.gray = gray
        self.induction = induction
        self.min_weight = min_weight
        self.seed = seed
        self.train_share = train_share
        ranges = np.array([COSTS] * len(examples.tests) + [WEIGHT, CONFIDENCE])
        self.low, self.high = ranges.T
        self.row_keys = key_rows(examples.codes, examples.class_ids)
        self.growers: list[Trials] = []

    def encode(
        self, costs: NDArray[np.float64], weight: float, confidence: float
    ) -> NDArray[np.uint8]:
        """Return the bits of an individual."""
        return np.concatenate(
            [
                encode_value(value, low, high, gray=self.gray)
                for value, low, high in zip(
                    [*costs.tolist(), weight, confidence],
                    self.low,
                    self.high,
                    strict=True,
                )
            ]
        )

    def decode(
        self, bits: NDArray[np.uint8]
    ) -> tuple[NDArray[np.float64], float, float]:
        """Return the costs, their weight and the confidence of an individual."""
        numbers = decode_all(bits, self.low, self.high, gray=self.gray)
        return numbers[:-2], float(numbers[-2]), float(numbers[-1]) / 100

    def grow(self, bits: NDArray[np.uint8]) -> dict[str, NDArray[Any]]:
        """Return the tree of an individual, grown on all rows."""
        costs, weight, confidence = self.decode(bits)
        inducer = self.induction.at_prices(PriceList.plain(costs)).inducer(
            "eg2",
            value="errors",
            judging={"w": weight, "least_part": self.min_weight, "needs_gain": True},
            confidence=confidence,
        )
        return inducer.grow()

    def assess(
        self,
        bits: NDArray[np.uint8],
        generation: int,
        n_jobs: int,
        pool: ThreadPoolExecutor,
        flag: StopFlag,
    ) -> Callable[[list[int]], list[float]]:
        """Return what tells the costs of some places of a generation.

        A trial divides the rows by a key of its own, so it does not matter which thread
        runs it.
        """
        numbers = decode_all(bits, self.low, self.high, gray=self.gray)
        while len(self.growers) < n_jobs:
            self.growers.append(
                Trials(self.induction.workspace, self.row_keys, self.min_weight)
            )

        def fitness(grower: Trials, place: int) -> float:
            if flag:
                return float("inf")
            source = np.random.default_rng([self.seed, 2, generation, place])
            *_, weight, confidence = numbers[place]
            return grower.fitness(
                numbers[place, :-2],
                weight,
                confidence / 100,
                int(source.integers(2**63)),
                self.train_share,
            )

        def share(thread: int, places: list[int]) -> list[float]:
            grower = self.growers[thread]
            return [fitness(grower, place) for place in places[thread::n_jobs]]

        def costs_of(places: list[int]) -> list[float]:
            if n_jobs == 1:
                return share(0, places)
            costs = [0.0] * len(places)
            work = [pool.submit(share, i, places) for i in range(n_jobs)]
            for i, done in enumerate(work):
                costs[i::n_jobs] = done.result()
            return costs

        return costs_of
