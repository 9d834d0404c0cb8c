"""Search for the cheapest policy of a known table, and prove that it is.

One engine, two ways: *restricted* to the few best-scored tests of each state it finds
good policies fast; over all tests it proves lower bounds. Here it is decided which
search runs when, and for how long; the searching itself is compiled.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless._core.search._cover import Cover, bound_cases
from askless._core.search._search import Search
from askless.policy import Tree
from askless.solve._task import Limits, MethodResult, Point, Task
from askless.solve.greedy._greedy import grow_greedy_tree
from askless.solve.search._expand import Cases, Choice, expand_rule
from askless.solve.search._integers import IntegerTable, state_in_integers
from askless.solve.search._race import (
    FOREVER,
    MOST_BYTES,
    Pace,
    Race,
    Switches,
    limit_breadth,
)
from askless.solve.search._worst_proof import WorstProof

__all__ = ["KnownRace", "search_exactly", "search_restricted"]

# (value, worst cost, first test) of a state; a bound and twice -1 if it is not solved.
Result = tuple[int, int, int]

TOO_DEAR = 2**59
NO_LIMIT = 2**60
# From so many cases on, all of them are certified by sets of up to so many tests.
DEEPEN_FROM = 1500
DEEPEST = 4
DEEPEN_SECONDS = 60.0
# First tests of the worst case that are unrolled there.
MOST_UNROLLED = 2
# Comparisons of two cases by 64 tests that building a cover does in a second.
COVER_RATE = 1e8


def search_exactly(
    task: Task,
    limits: Limits,
    *,
    max_memory: int = MOST_BYTES,
    cover_depth: int = 3,
    use_certificate: bool = True,
    use_entropy: bool = True,
    use_children: bool = True,
    use_additivity: bool = True,
) -> MethodResult:
    """Find a cheapest policy and prove it; stopped early, the best one and a bound.

    Parameters
    ----------
    task : Task
        What to solve; no delayed tests.
    limits : Limits
        Time, threads and progress.
    max_memory : int, default=2147483648
        Bytes that remembering states may take; forgetting costs time only.
    cover_depth : int, default=3
        How many tests of a certificate are searched exactly; two on a large table.
    use_certificate, use_entropy, use_children, use_additivity : bool, default=True
        Switches of the bounds; they change time, never the answer. Tables with unknown
        outcomes have no use for the last one, nor for `cover_depth`.
    """
    switches = {
        "use_certificate": use_certificate,
        "use_entropy": use_entropy,
        "use_children": use_children,
        "use_additivity": use_additivity,
    }
    race = KnownRace(task, limits, max_memory, cover_depth, switches)
    found = race.run_both()
    return race.trade_offs() if task.objective == "both" else found


def search_restricted(
    task: Task,
    limits: Limits,
    *,
    max_breadth: int | None = None,
    max_memory: int = MOST_BYTES,
    cover_depth: int = 3,
) -> MethodResult:
    """Search the K best-scored tests of each state, K = 1, 2, 3, ... as time allows.

    Parameters
    ----------
    task, limits, max_memory, cover_depth
        See :func:`search_exactly`.
    max_breadth : int, optional
        The largest K; up to all tests by default.
    """
    limits = limit_breadth(limits, max_breadth)
    race = KnownRace(task, limits, max_memory, cover_depth, {})
    return race.run_restricted(max_breadth)


class KnownRace(Race[int, Search]):
    """Two searches over one table: one lowers the best cost, one raises the bound."""

    def __init__(
        self,
        task: Task,
        limits: Limits,
        max_memory: int,
        cover_depth: int,
        switches: Switches,
    ) -> None:
        self.table: IntegerTable = state_in_integers(task)
        super().__init__(task, limits, max_memory, grow_greedy_tree(task), TOO_DEAR)
        self.switches = switches
        self.cases = np.arange(self.table.n_cases, dtype=np.uint16)
        self.cover = self._make_cover(cover_depth)
        self.prover: Search | None = None

    def _make_cover(self, depth: int) -> Cover | None:
        n, m = self.table.n_cases, len(self.table.codes)
        size = n * n * 8 * (2 + m // 64)
        seconds = n * n * (1 + m // 64) / COVER_RATE
        is_too_large = size > self.max_memory // 2 or seconds > self.limits.left() / 3
        if is_too_large or not self.switches.get("use_certificate", True):
            return None
        # A large table hardly leaves its root; there cheap certificates come first, and
        # deeper ones as time allows.
        depth = min(depth, 2) if n >= DEEPEN_FROM else depth
        return Cover(
            self.table.codes, self.table.class_id, self.table.case_prices, max(1, depth)
        )

    def _engine(self, **options: Any) -> Search:
        engine = Search(
            self.table.kernel,
            is_worst=self.is_worst,
            cover=self.cover,
            max_bytes=self.engine_bytes,
            **self.switches,
            **options,
        )
        self._register(engine)
        return engine

    def _breadths(self, *, first_twice: bool = False) -> Iterator[tuple[int, bool]]:
        return super()._breadths(first_twice=first_twice)

    def _restricted_engine(self, breadth: int, *, by_bits: bool) -> Search:
        return self._engine(breadth=breadth, rank_by_entropy=by_bits)

    def _run(self, engine: Search, theta: int, seconds: float) -> Result | None:
        return engine.run(self.cases, theta, seconds)

    def _take_policy(self, engine: Search, result: Result, breadth: int) -> None:
        if result[0] < self.best:
            self._offer(result[0], self._extract(engine))
        if breadth >= self.n_tests:
            # Nothing was left out, so nothing is cheaper.
            self._raise_lower(self.best)

    def prove(self) -> None:
        """Raise the threshold until the bound meets the best cost."""
        self.prover = self._engine()
        self._deepen_certificates()
        self._raise_by(self.prover, Pace(0.04, 0.02, 0.3, growth=2.0, quick=0.2))

    def _take_proof(self, engine: Search, theta: int, result: Result) -> bool:
        if result[0] < theta:
            self._offer(result[0], self._extract(engine))
        self._raise_lower(result[0])
        return False

    def _proved(self, engine: Search) -> int:
        return engine.lower_bound(self.cases)

    def _next_threshold(self, share: float) -> int:
        unit, best, lower = self._unit, self.best, self.lower
        gap = (best - lower) if best < TOO_DEAR else 4 * max(lower, unit)
        step = max(unit, int(share * gap))
        if self.is_worst:
            step = max(unit, min(step, 4 * unit) // unit * unit)
        return min(best, lower + step)

    @cached_property
    def _unit(self) -> int:
        """By how much two values differ at least."""
        return self._price_unit if self.is_worst else 1

    @cached_property
    def _price_unit(self) -> int:
        prices = [*self.table.full.ravel(), *self.table.discounted]
        return max(1, int(np.gcd.reduce(prices)))

    def _deepen_certificates(self) -> None:
        """Certify all cases by larger sets of tests, on a large table only.

        There the search itself hardly leaves its first state, and this raises the
        bound; small tables are proved sooner without it.
        """
        if self.cover is None or self.table.n_cases < DEEPEN_FROM:
            return
        bounds = np.zeros(self.table.n_cases, dtype=np.int64)
        deepest = self.cover.depth if self.is_worst else DEEPEST
        for depth in range(self.cover.depth, deepest + 1):
            if self._is_over():
                return
            seconds = min(self.limits.left() / 2, DEEPEN_SECONDS)
            deeper = bound_cases(self.cover, self.cases, depth, seconds)
            bounds = np.maximum(bounds, deeper)
            value = bounds.max() if self.is_worst else bounds @ self.table.weight
            self._raise_lower(int(value))
        if self.is_worst:
            self._prove_worst(self.cover, bounds)

    def _prove_worst(self, cover: Cover, bounds: NDArray[np.int64]) -> None:
        """Raise the bound of the worst case as far as a few cases prove it."""
        proof = WorstProof(self.table, cover, self.limits.left)
        proof.rank(bounds)
        self._register(proof.hitting)
        while not self._is_over():
            if not any(
                proof.is_above(self.cases, self.lower, level)
                for level in range(MOST_UNROLLED + 1)
            ):
                return
            self._raise_lower(self.lower + self._unit)

    def _cost(self, value: int) -> float:
        return self.table.true_cost(value, is_worst=self.is_worst)

    def _best_cost(self) -> float | None:
        return None if self.best >= TOO_DEAR else self._cost(self.best)

    def find_result(self) -> MethodResult:
        """Return the best policy and the bound."""
        return MethodResult(self.tree, self._cost(self.lower), "search")

    def _extract(self, engine: Search, limit: int = NO_LIMIT) -> Tree:
        """Write the policy that a search has found out as a tree."""
        table = self.table

        def choose(cases: Cases, note: tuple[int, int] | None) -> Choice:
            is_open, left = note or (0, limit)
            state = np.unique(table.merged[cases]).astype(np.uint16)
            result = engine.run(state, TOO_DEAR, FOREVER, is_open, left)
            test = -1 if result is None else result[2]
            if test < 0:
                return -1, None
            group = int(table.group[test])
            is_discounted = group >= 0 and is_open >> group & 1
            after = is_open | (1 << group) if group >= 0 else is_open

            def note_of(part: Cases) -> tuple[int, int]:
                code = table.codes[test, table.merged[part[0]]]
                price = (
                    table.discounted[test] if is_discounted else table.full[test, code]
                )
                return after, left if left >= NO_LIMIT else left - int(price)

            return test, note_of

        with self._reading(engine):
            return expand_rule(self.task, choose)

    # Both objectives.

    def trade_offs(self) -> MethodResult:
        """Return every trade-off of worst and expected cost that nothing beats.

        From the least expected cost on, the limit on the worst case is lowered step by
        step until nothing keeps to it; each time the least expected cost within the
        limit is searched.
        """
        engine = self.prover
        if engine is None or self.lower < self.best:
            return self.find_result()
        limit = NO_LIMIT
        points: list[tuple[int, int, Tree]] = []
        while self.limits.left() > 0:
            engine.resume()
            result = engine.run(self.cases, TOO_DEAR, self.limits.left(), 0, limit)
            if result is None or result[0] >= TOO_DEAR:
                break
            value, worst, _ = result
            if points and points[-1][1] == value:
                points.pop()
            points.append((worst, value, self._extract(engine, limit)))
            limit = worst - self._price_unit
            if limit < 0:
                break
        pareto = tuple(
            Point(tree.worst_cost, tree.expected_cost, tree)
            for _, _, tree in points[::-1]
        )
        return MethodResult(
            points[0][2] if points else self.tree,
            self._cost(self.lower),
            "search",
            pareto=pareto,
        )
