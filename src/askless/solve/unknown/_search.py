"""Search for the cheapest policy of a table with unknown outcomes, and prove it.

Two searches run side by side. One lowers the best cost: it looks at the K best-scored
tests of each state and buys only tests that are sure to tell something, so that what it
finds is a policy. The other raises the bound: it looks at all tests, and throws a fresh
coin whenever an unknown outcome is asked for. Its best policy is the best in truth if
it repeats no test on any path, which is checked when it is written out; should one be
repeated, the search goes on with the tests that were done as a part of the state.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless._core.unknown._problem import UnknownProblem
from askless._core.unknown._search import UnknownSearch
from askless.exceptions import InvalidOptionError
from askless.policy import Tree
from askless.problem import PriceList
from askless.solve._answer import Answer, Limits
from askless.solve._task import Task
from askless.solve.search._bounds import least_prices
from askless.solve.search._race import MOST_BYTES, Race, limit_breadth
from askless.solve.unknown._expand import Choice, expand_noisy
from askless.solve.unknown._rules import check_task, grow_tree
from askless.solve.unknown._table import NoisyTask, state_noisy

__all__ = ["can_search", "is_noisy", "search_noisy", "search_noisy_restricted"]

SURE, RELAXED, TRACKED = 0, 1, 2
# The words of a state count its cases in two bytes, with up to four words of noise.
MOST_CASES = 12_000
FOREVER = 1e9
TOO_DEAR = 1e290
# What rounding may have added to a bound, relatively.
ROUNDING = 1e-9
# A threshold rises by a share of the open interval each time: larger shares while
# they are quick, smaller ones when one outlasts its patience. What a step that was
# given up has proved is remembered; patience grows, so that every step ends some day.
FIRST_SHARE, LEAST_SHARE, LAST_SHARE = 0.12, 0.02, 0.3
QUICK_SECONDS = 0.5
FIRST_PATIENCE, PATIENCE_GROWTH = 2.0, 1.5
# The least step of a threshold, as a share of the bound.
LEAST_STEP = 1e-4


def is_noisy(task: Task) -> bool:
    """Return whether a task needs states that carry noise."""
    return task.table.has_unknown or task.stop in ("neighbourhood", "clique")


def can_search(task: Task) -> bool:
    """Return whether the noisy search carries a task."""
    try:
        _check(task)
    except InvalidOptionError:
        return False
    return True


def search_noisy(
    task: Task,
    limits: Limits,
    *,
    max_memory: int = MOST_BYTES,
    use_certificate: bool = True,
    use_entropy: bool = True,
    use_huffman: bool = True,
    use_children: bool = True,
    use_shares: bool = True,
) -> Answer:
    """Find a cheapest policy and prove it; stopped early, the best one and a bound.

    Parameters
    ----------
    task : Task
        What to solve; no delayed tests.
    limits : Limits
        Time, threads and progress.
    max_memory : int, default=2147483648
        Bytes that remembering states may take; forgetting costs time only.
    use_certificate, use_entropy, use_huffman, use_children : bool, default=True
        Switches of the bounds; they change time, never the answer.
    use_shares : bool, default=True
        Raise the bounds of all that a test may leave together, instead of one after
        another; it changes time, never the answer.
    """
    switches = {
        "use_entropy": use_entropy,
        "use_huffman": use_huffman,
        "use_children": use_children,
        "use_shares": use_shares,
    }
    race = NoisyRace(task, limits, max_memory, switches)
    race.use_certificate = use_certificate
    race.run(race.improve, race.prove)
    return race.answer()


def search_noisy_restricted(
    task: Task,
    limits: Limits,
    *,
    max_breadth: int | None = None,
    max_memory: int = MOST_BYTES,
) -> Answer:
    """Search the K best-scored tests of each state, K = 1, 2, 3, ... as time allows.

    Parameters
    ----------
    task, limits, max_memory
        See :func:`search_noisy`.
    max_breadth : int, optional
        The largest K; up to all tests by default.
    """
    limits = limit_breadth(limits, max_breadth)
    race = NoisyRace(task, limits, max_memory, {})
    race.max_breadth = max_breadth
    race.run(race.improve)
    return race.answer()


def _check(task: Task) -> None:
    table = task.table
    check_task(task)
    if task.objective == "both":
        raise InvalidOptionError(
            "objective='both' needs every outcome to be known: it counts in whole "
            "numbers what a state may still spend, and what unknown outcomes cost is a "
            f"real number. Got {int(table.is_unknown.sum())} unknown outcomes. Search "
            "for the expected and the worst cost one at a time."
        )
    if table.prices.delayed.any():
        name = table.test_names[int(np.flatnonzero(table.prices.delayed)[0])]
        raise InvalidOptionError(
            "The search of tables with unknown outcomes chooses every test by what was "
            f"seen before, and takes no delays. Got {name!r}, whose result comes too "
            "late to choose by. Use a rule such as 'elimination'."
        )
    if table.n_cases > MOST_CASES:
        raise InvalidOptionError(
            f"The search of tables with unknown outcomes takes at most {MOST_CASES:,} "
            f"cases. Got {table.n_cases:,}. Use a rule such as 'elimination'."
        )


class NoisyRace(Race[float]):
    """Two searches over one table: one lowers the best cost, one raises the bound."""

    first_breadth = 3

    def __init__(
        self,
        task: Task,
        limits: Limits,
        max_memory: int,
        switches: dict[str, bool],
    ) -> None:
        _check(task)
        self.task = task
        self.stated: NoisyTask = state_noisy(task)
        stated, prices = self.stated, task.table.prices
        self.problem = UnknownProblem(
            stated.kernel,
            least_prices(task.table),
            is_worst=task.objective == "worst",
            prices=None if _is_flat(prices) else prices.engine,
            near=stated.near,
            stops_near=task.stop == "neighbourhood",
            block=stated.blocks,
            pair_price=stated.prices,
            rules=stated.rules,
        )
        self.is_worst = task.objective == "worst"
        tree = grow_tree(task, "elimination")
        super().__init__(
            limits,
            tree,
            self._value_of(tree),
            task.table.n_tests,
            is_worst=self.is_worst,
        )
        self.max_memory = int(max_memory)
        self.switches = switches
        self.use_certificate = True
        self.quiet = np.zeros(len(self.stated.cases), dtype=np.int64)

    def _value_of(self, tree: Tree) -> float:
        cost = tree.worst_cost if self.is_worst else tree.expected_cost
        return cost if self.is_worst else cost * self.stated.weight_scale

    def _engine(self, mode: int, **options: Any) -> UnknownSearch:
        engine = UnknownSearch(
            self.problem,
            mode=mode,
            use_certificate=mode != SURE and self.use_certificate,
            max_bytes=max(2**20, self.max_memory // 2),
            **self.switches,
            **options,
        )
        self._register(engine)
        return engine

    # The two searches.

    def improve(self) -> None:
        """Search ever more tests of each state, and keep the best policy found."""
        for breadth, by_information in self._breadths():
            if self._is_settled() or self.limits.left() == 0:
                return
            engine = self._engine(SURE, breadth=breadth, by_information=by_information)
            result = engine.run(
                self.stated.cases, self.quiet, self.best, self.limits.left()
            )
            if result is not None and result[1] and result[0] < self.best:
                self._offer_tree(self._extract(engine))
            self._forget(engine)

    def prove(self) -> None:
        """Raise the threshold until the bound meets the best cost."""
        full = self.task.table.prices.full
        # Where prices differ, a relaxed search throws cheap coins again and again.
        is_even = full.min() > 0 and full.max() == full.min()
        is_even = is_even and _is_flat(self.task.table.prices)
        for mode in (RELAXED, TRACKED) if is_even else (TRACKED,):
            if self._prove_by(mode):
                return

    def _prove_by(self, mode: int) -> bool:
        """Raise the bound by one engine; False if its answer is not a policy."""
        engine = self._engine(mode)
        share, patience = FIRST_SHARE, FIRST_PATIENCE
        while not self._is_settled() and self.limits.left() > 0:
            best, began = self.best, self.limits.elapsed
            gap = best - self.lower
            theta = min(
                best, self.lower + max(share * gap, LEAST_STEP * max(self.lower, gap))
            )
            seconds = min(patience, self.limits.left())
            result = engine.run(self.stated.cases, self.quiet, theta, seconds)
            if result is None and engine.is_too_deep:
                return False
            if result is None:
                # What the root is proved to cost counts all the same.
                self._raise_lower(engine.lower_bound(self.stated.cases, self.quiet))
                share = max(LEAST_SHARE, share / 2)
                patience *= PATIENCE_GROWTH
                continue
            if self.limits.elapsed - began < QUICK_SECONDS:
                share = min(LAST_SHARE, 1.5 * share)
            value, is_exact, _ = result
            self._raise_lower(value)
            if is_exact:
                tree = self._extract(engine)
                if not _repeats(tree):
                    self._offer_tree(tree)
                    self._raise_lower(self.best)
                    return True
                return mode == TRACKED
        return True

    def _is_met(self) -> bool:
        return self.lower >= self.best * (1 - ROUNDING)

    def _offer_tree(self, tree: Tree) -> None:
        self._offer(self._value_of(tree), tree)

    def _cost(self, value: float) -> float:
        return value if self.is_worst else value / self.stated.weight_scale

    def answer(self) -> Answer:
        """Return the best policy and the bound."""
        lower = self.lower * (1 - ROUNDING)
        if lower == 0 < self.best:
            return Answer(self.tree)
        return Answer(self.tree, self._cost(lower), "search")

    def _extract(self, engine: UnknownSearch) -> Tree:
        """Write the policy that a search has found out as a tree."""

        def choose(
            cases: NDArray[np.int32], noise: NDArray[np.int64], done: tuple[int, ...]
        ) -> Choice:
            result = engine.run(cases, noise, TOO_DEAR, FOREVER, done)
            if result is None or not result[1]:
                raise AssertionError("a search that was not stopped has an answer")
            return result[2]

        engine.resume()
        tree = expand_noisy(self.task, self.stated, choose)
        if self.is_stopped:
            engine.stop()
        return tree


def _is_flat(prices: PriceList) -> bool:
    """Return whether every test has one price, whatever it shows and goes with."""
    return not prices.by_outcome and all(group is None for group in prices.group)


def _repeats(tree: Tree) -> bool:
    """Return whether some path asks a test again."""
    above: dict[int, frozenset[int]] = {-1: frozenset()}
    for node in range(tree.n_nodes):
        asked = above[int(tree.parent[node])]
        test = int(tree.test[node])
        if test >= 0 and test in asked:
            return True
        above[node] = asked | {test}
    return False
