"""Search for the policy of least total cost, and prove it.

Two searches run side by side. One lowers the best cost: it looks at the K most
promising tests of each state. The other raises the bound: it looks at all of them, and
at pairs of cases first where that takes long.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np

from askless._core.total._search import TotalSearch
from askless.exceptions import InvalidOptionError
from askless.policy import Tree
from askless.solve._task import Limits, MethodResult, Task
from askless.solve.search._race import (
    FOREVER,
    MOST_BYTES,
    Pace,
    Race,
    Switches,
    limit_breadth,
)
from askless.solve.total._arrays import make_problem, state_total
from askless.solve.total._pairs import raise_by_pairs
from askless.solve.total._rules import score_information
from askless.solve.total._tree import Place, expand_total, mistake_cost, root_of

__all__ = ["TotalRace", "search_total", "search_total_restricted"]

Result = tuple[float, bool, int]

TOO_DEAR = 1e290
ROUNDING = 1e-9
LEAST_STEP = 1e-4
UNLIMITED = 1e300
MOST_ROUNDS = 12
# Parts of a state that a bound of the proof looks at, where tests tell little more
# together than has to be known: what two of them both tell matters there.
N_LEAVES = 16
FEW_BITS = 1.5
# A proof that takes longer than this begins with the pairs of cases.
QUICK_SECONDS = 3.0


def search_total(
    task: Task,
    limits: Limits,
    *,
    budget: float | None = None,
    cost_weight: float = 1.0,
    max_memory: int = MOST_BYTES,
    use_information: bool = True,
    use_shares: bool = True,
) -> MethodResult:
    """Find a policy of least total cost and prove it; else the best one and a bound.

    Parameters
    ----------
    task : Task
        What to solve.
    limits : Limits
        Time, threads and progress.
    budget : float, optional
        No path spends more.
    cost_weight : float, default=1.0
        What a unit of price counts beside mistakes.
    max_memory : int, default=2147483648
        Bytes that remembering states may take; forgetting costs time only.
    use_information, use_shares : bool, default=True
        Switches of the search; they change time, never the answer.
    """
    switches = {"use_information": use_information, "use_shares": use_shares}
    race = TotalRace(task, limits, max_memory, switches, budget, cost_weight)
    return race.run_both()


def search_total_restricted(
    task: Task,
    limits: Limits,
    *,
    budget: float | None = None,
    max_breadth: int | None = None,
    max_memory: int = MOST_BYTES,
) -> MethodResult:
    """Search the K most promising tests of each state, K = 1, 2, 3, ... as time allows.

    Parameters
    ----------
    task, limits, budget, max_memory
        See :func:`search_total`.
    max_breadth : int, optional
        The largest K; up to all tests by default.
    """
    limits = limit_breadth(limits, max_breadth)
    race = TotalRace(task, limits, max_memory, {}, budget)
    return race.run_restricted(max_breadth)


def _check(task: Task) -> None:
    if task.mistakes is None:
        raise InvalidOptionError(
            "The total cost counts tests and mistakes, so mistakes must have a price. "
            "Got costs without mistakes. Give Costs(..., mistakes=...)."
        )


def _rounds(most: int) -> Iterator[tuple[int, float]]:
    """Yield how many tests of a state are searched, and how rare a state may be.

    Each round has one search that goes deep and one that goes broad. The last one
    leaves nothing out.
    """
    yield 1, 0.01
    for step in range(1, MOST_ROUNDS):
        # By tens: where a tree is large, the next ten takes five times as long.
        yield 1, 0.1 ** (step + 2)
        if 1 < step <= most:
            yield step, 0.1 ** (step + 1)
    yield most, 0.0


def needs_all_bits(task: Task) -> bool:
    """Return whether all tests together tell little more than has to be known."""
    arrays = state_total(task)
    told = float(score_information(arrays, root_of(arrays)).sum())
    shares = np.bincount(arrays.class_id, weights=arrays.prior)
    shares = shares[shares > 0] / shares.sum()
    return told < FEW_BITS * float(-(shares * np.log2(shares)).sum())


class TotalRace(Race[float, TotalSearch]):
    """Two searches over one problem: one lowers the best cost, one raises the bound."""

    first_breadth = 3

    def __init__(
        self,
        task: Task,
        limits: Limits,
        max_memory: int,
        switches: Switches,
        budget: float | None = None,
        cost_weight: float = 1.0,
    ) -> None:
        _check(task)
        self.problem = make_problem(task, cost_weight=cost_weight)
        self.cost_weight = cost_weight
        self.budget = math.inf if budget is None else float(budget)
        self.root = root_of(state_total(task))
        is_plain = cost_weight == 1.0 and budget is None
        self._objective: Literal["total"] | None = "total" if is_plain else None
        tree = expand_total(task, lambda place: (), objective=self._objective)
        super().__init__(task, limits, max_memory, tree, 0.0)
        self.best = self._value_of(tree)
        self.switches = switches

    def _value_of(self, tree: Tree) -> float:
        assert self.task.mistakes is not None
        lost = mistake_cost(tree, self.task.mistakes)
        return self.cost_weight * tree.expected_cost + lost

    def _cost(self, value: float) -> float:
        return value

    def _left(self, place: Place) -> float:
        # What cannot run out need not be told apart.
        if self.budget >= self.task.table.prices.cost_of_all():
            return UNLIMITED
        return max(0.0, self.budget - place.spent)

    def _engine(self, **options: Any) -> TotalSearch:
        engine = TotalSearch(
            self.problem, max_bytes=self.engine_bytes, **(self.switches | options)
        )
        self._register(engine)
        return engine

    def improve(self) -> None:
        """Search ever more tests of ever rarer states, and keep the best policy."""
        most = min(self.n_tests, self.max_breadth or self.n_tests)
        for breadth, least_share in _rounds(most):
            if self._is_over():
                return
            engine = self._engine(
                breadth=breadth, by_bits=True, least_share=least_share
            )
            result = self._run(engine, self.best, self.limits.left())
            if result is not None and result[1] and result[0] < self.best:
                self._offer_tree(self._extract(engine))
            self._forget(engine)

    def _run(self, engine: TotalSearch, theta: float, seconds: float) -> Result | None:
        root = self.root
        return engine.run(root.cases, root.surprisal, self._left(root), theta, seconds)

    def prove(self) -> None:
        """Raise the threshold until the bound meets the best cost."""
        pace = Pace(0.12, 0.02, 0.3, growth=1.5, quick=0.5)
        n_leaves = N_LEAVES if needs_all_bits(self.task) else 1
        engine = self._engine(n_leaves=n_leaves)
        self._raise_by(engine, pace, until=QUICK_SECONDS)
        for bound in raise_by_pairs(self.task, self.cost_weight, self._is_over):
            self._raise_lower(bound)
        self._raise_by(engine, pace)

    def _take_proof(self, engine: TotalSearch, theta: float, result: Result) -> bool:
        value, is_exact, _ = result
        self._raise_lower(value)
        if is_exact:
            self._offer_tree(self._extract(engine))
            self._raise_lower(self.best)
        return is_exact

    def _proved(self, engine: TotalSearch) -> float:
        root = self.root
        return engine.lower_bound(root.cases, root.surprisal, self._left(root))

    def _next_threshold(self, share: float) -> float:
        best, lower = self.best, self.lower
        gap = best - lower
        return min(
            best * (1 + ROUNDING),
            lower + max(share * gap, LEAST_STEP * max(lower, gap)),
        )

    def _is_met(self) -> bool:
        return self.lower >= self.best * (1 - ROUNDING)

    def _offer_tree(self, tree: Tree) -> None:
        self._offer(self._value_of(tree), tree)

    def find_result(self) -> MethodResult:
        """Return the best policy and the bound."""
        return MethodResult(self.tree, self.lower * (1 - ROUNDING), "search")

    def _extract(self, engine: TotalSearch) -> Tree:
        """Write the policy that a search has found out as a tree."""
        delayed = self.task.table.prices.delayed

        def choose(place: Place) -> Sequence[int]:
            state = place.cases, place.surprisal, self._left(place)
            result = engine.run(*state, TOO_DEAR, FOREVER, place.done)
            # A state that was forgotten, of a race that is over, is decided at once.
            test = result[2] if result is not None and result[1] else -1
            if test < 0:
                return ()
            return engine.batch(*state, place.done) if delayed[test] else (test,)

        with self._reading(engine):
            return expand_total(self.task, choose, objective=self._objective)
