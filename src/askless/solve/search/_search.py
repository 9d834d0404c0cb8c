"""Search for the cheapest policy of a known table, and prove that it is.

One engine, two ways: *restricted* to the few best-scored tests of each state it finds
good policies fast; over all tests it proves lower bounds. Here it is decided which
search runs when, and for how long; the searching itself is compiled.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless._core.search._cover import Cover, bound_cases
from askless._core.search._search import Search
from askless.policy import Tree
from askless.solve._answer import Answer, Limits, Point
from askless.solve._task import Task
from askless.solve.greedy._greedy import grow_greedy_tree
from askless.solve.search._expand import Cases, Choice, expand_rule
from askless.solve.search._integers import IntegerTable, state_in_integers
from askless.solve.search._race import MOST_BYTES, Race, limit_breadth
from askless.solve.search._worst_proof import WorstProof

__all__ = ["search_exactly", "search_restricted"]

TOO_DEAR = 2**59
NO_LIMIT = 2**60
FOREVER = 1e9
# From so many cases on, the root is certified by sets of up to so many tests.
DEEPEN_FROM = 1500
DEEPEST = 4
DEEPEN_SECONDS = 60.0
# First tests of the worst case that are unrolled there.
MOST_UNROLLED = 2
# A threshold rises by a share of the open interval each time: small steps at first,
# larger ones as long as they are quick, and smaller ones again when one outlasts its
# patience, so that a hard table shows a rising bound. What a step that was given up has
# proved is remembered; patience grows, so that every step is finished in the end.
FIRST_STEP, LEAST_STEP, LAST_STEP = 0.04, 0.02, 0.3
QUICK_SECONDS = 0.2
FIRST_PATIENCE, PATIENCE_GROWTH = 2.0, 1.5
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
    race.run(race.improve, race.prove)
    if task.objective == "both":
        return race.trade_offs()
    return race.answer()


def search_restricted(
    task: Task,
    limits: Limits,
    *,
    max_breadth: int | None = None,
    max_memory: int = MOST_BYTES,
    cover_depth: int = 3,
) -> Answer:
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
    race.max_breadth = max_breadth
    race.run(race.improve)
    return race.answer()


class KnownRace(Race[int]):
    """Two searches over one table: one lowers the best cost, one raises the bound."""

    def __init__(
        self,
        task: Task,
        limits: Limits,
        max_memory: int,
        cover_depth: int,
        switches: dict[str, bool],
    ) -> None:
        self.task = task
        self.table: IntegerTable = state_in_integers(task)
        super().__init__(
            limits,
            grow_greedy_tree(task),
            TOO_DEAR,
            len(self.table.codes),
            is_worst=task.objective == "worst",
        )
        self.max_memory = int(max_memory)
        self.switches = switches
        self.cases = np.arange(self.table.n_cases, dtype=np.uint16)
        self.cover = self._make_cover(cover_depth, switches)
        self.prover: Search | None = None

    def _make_cover(self, depth: int, switches: dict[str, bool]) -> Cover | None:
        n, m = self.table.n_cases, len(self.table.codes)
        size = n * n * 8 * (2 + m // 64)
        seconds = n * n * (1 + m // 64) / COVER_RATE
        is_too_large = size > self.max_memory // 2 or seconds > self.limits.left() / 3
        if is_too_large or not switches.get("use_certificate", True):
            return None
        # A large table hardly leaves its root; there cheap certificates come first, and
        # deeper ones as time allows.
        depth = min(depth, 2) if n >= DEEPEN_FROM else depth
        return Cover(
            self.table.codes, self.table.class_id, self.table.case_prices, max(1, depth)
        )

    def _engine(self, **options: Any) -> Search:
        table = self.table
        engine = Search(
            table.kernel,
            is_worst=self.is_worst,
            cover=self.cover,
            max_bytes=max(2**20, self.max_memory // 2),
            **self.switches,
            **options,
        )
        self._register(engine)
        return engine

    # The two searches.

    def improve(self) -> None:
        """Search ever more tests of each state, and keep the best policy found."""
        for breadth, by_entropy in self._breadths(first_twice=False):
            if self._is_settled() or self.limits.left() == 0:
                return
            engine = self._engine(breadth=breadth, rank_by_entropy=by_entropy)
            result = engine.run(self.cases, self.best, self.limits.left())
            if result is not None and result[0] < self.best:
                self._offer(result[0], self._extract(engine))
            if result is not None and breadth >= self.n_tests:
                # Nothing was left out, so nothing is cheaper.
                self._raise_lower(self.best)
            self._forget(engine)

    def prove(self) -> None:
        """Raise the threshold until the bound meets the best cost."""
        self.prover = engine = self._engine()
        self._deepen_certificates()
        unit = self._unit()
        share, patience = FIRST_STEP, FIRST_PATIENCE
        while not self._is_settled() and self.limits.left() > 0:
            began = self.limits.elapsed
            theta = self._next_threshold(share, unit)
            seconds = min(patience, self.limits.left())
            result = engine.run(self.cases, theta, seconds)
            if result is None:
                # What the root is proved to cost counts all the same.
                self._raise_lower(engine.lower_bound(self.cases))
                share = max(LEAST_STEP, share / 2)
                patience *= PATIENCE_GROWTH
                continue
            if self.limits.elapsed - began < QUICK_SECONDS:
                share = min(LAST_STEP, 2 * share)
            if result[0] < theta:
                self._offer(result[0], self._extract(engine))
            self._raise_lower(result[0])

    def _next_threshold(self, share: float, unit: int) -> int:
        """Return the next value to prove: the bound and a share of what is open."""
        best, lower = self.best, self.lower
        gap = (best - lower) if best < TOO_DEAR else 4 * max(lower, unit)
        step = max(unit, int(share * gap))
        if self.is_worst:
            step = max(unit, min(step, 4 * unit) // unit * unit)
        return min(best, lower + step)

    def _unit(self) -> int:
        """Return by how much two values differ at least."""
        return self._price_unit() if self.is_worst else 1

    def _price_unit(self) -> int:
        prices = [*self.table.full.ravel(), *self.table.discounted]
        return max(1, int(np.gcd.reduce(prices)))

    def _deepen_certificates(self) -> None:
        """Certify the root by larger sets of tests, on a large table only.

        There the search itself hardly leaves the root, and this raises the bound; small
        tables are proved sooner without it.
        """
        if self.cover is None or self.table.n_cases < DEEPEN_FROM:
            return
        bounds = np.zeros(self.table.n_cases, dtype=np.int64)
        deepest = self.cover.depth if self.is_worst else DEEPEST
        for depth in range(self.cover.depth, deepest + 1):
            if self._is_settled() or self.limits.left() == 0:
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
        unit = self._unit()
        while not self._is_settled() and self.limits.left() > 0:
            if not any(
                proof.is_above(self.cases, self.lower, level)
                for level in range(MOST_UNROLLED + 1)
            ):
                return
            self._raise_lower(self.lower + unit)

    def _cost(self, value: int) -> float:
        return self.table.true_cost(value, is_worst=self.is_worst)

    def _best_cost(self) -> float | None:
        return None if self.best >= TOO_DEAR else self._cost(self.best)

    def answer(self) -> Answer:
        """Return the best policy and the bound."""
        return Answer(self.tree, self._cost(self.lower), "search")

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

        engine.resume()
        tree = expand_rule(self.task, choose)
        if self.is_stopped:
            engine.stop()
        return tree

    # Both objectives.

    def trade_offs(self) -> Answer:
        """Return every trade-off of worst and expected cost that nothing beats.

        From the least expected cost on, the limit on the worst case is lowered step by
        step until nothing keeps to it; each time the least expected cost within the
        limit is searched.
        """
        engine = self.prover
        if engine is None or self.lower < self.best:
            return self.answer()
        unit = self._price_unit()
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
            limit = worst - unit
            if limit < 0:
                break
        pareto = tuple(
            Point(tree.worst_cost, tree.expected_cost, tree)
            for _, _, tree in points[::-1]
        )
        return Answer(
            points[0][2] if points else self.tree,
            self._cost(self.lower),
            "search",
            pareto=pareto,
        )
