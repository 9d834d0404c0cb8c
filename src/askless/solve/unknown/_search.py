"""Search for the cheapest policy of a table with unknown outcomes, and prove it.

Two searches run side by side. One lowers the best cost: it looks at the K best-scored
tests of each state and buys only tests that are sure to tell something, so that what it
finds is a policy. The other raises the bound: it looks at all tests, and draws an
unknown outcome afresh whenever it is asked for. Its best policy is the best in truth if
it repeats no test on any path, which is checked when it is written out; should one be
repeated, the search goes on with the tests that were done as a part of the state.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless._core.unknown_search._problem import Mode
from askless._core.unknown_search._search import UnknownSearch
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
from askless.solve.unknown._expand import Choice, expand_unknown
from askless.solve.unknown._rules import check_task, grow_tree
from askless.solve.unknown._table import has_flat_prices, state_unknown

__all__ = [
    "UnknownRace",
    "can_search",
    "search_unknown",
    "search_unknown_restricted",
]

# (value, whether it is one, first test) of a state; a bound and -1 if it is not solved.
Result = tuple[float, bool, int]

# The words of a state count its cases in two bytes, with up to four words for the
# surprisal of each.
MOST_CASES = 12_000
TOO_DEAR = 1e290
# What rounding may have added to a bound, relatively.
ROUNDING = 1e-9
# The least step of a threshold, as a share of the bound.
LEAST_STEP = 1e-4


def can_search(task: Task) -> bool:
    """Return whether the search of unknown outcomes carries a task."""
    try:
        _check(task)
    except InvalidOptionError:
        return False
    return True


def search_unknown(
    task: Task,
    limits: Limits,
    *,
    max_memory: int = MOST_BYTES,
    use_certificate: bool = True,
    use_entropy: bool = True,
    use_huffman: bool = True,
    use_children: bool = True,
    use_shares: bool = True,
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
    use_certificate, use_entropy, use_huffman, use_children : bool, default=True
        Switches of the bounds; they change time, never the answer.
    use_shares : bool, default=True
        Raise the bounds of all that a test may leave together, instead of one after
        another; it changes time, never the answer.
    """
    switches = {
        "use_certificate": use_certificate,
        "use_entropy": use_entropy,
        "use_huffman": use_huffman,
        "use_children": use_children,
        "use_shares": use_shares,
    }
    return UnknownRace(task, limits, max_memory, switches).run_both()


def search_unknown_restricted(
    task: Task,
    limits: Limits,
    *,
    max_breadth: int | None = None,
    max_memory: int = MOST_BYTES,
) -> MethodResult:
    """Search the K best-scored tests of each state, K = 1, 2, 3, ... as time allows.

    Parameters
    ----------
    task, limits, max_memory
        See :func:`search_unknown`.
    max_breadth : int, optional
        The largest K; up to all tests by default.
    """
    limits = limit_breadth(limits, max_breadth)
    race = UnknownRace(task, limits, max_memory, {})
    return race.run_restricted(max_breadth)


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


class UnknownRace(Race[float, UnknownSearch]):
    """Two searches over one table: one lowers the best cost, one raises the bound."""

    first_breadth = 3

    def __init__(
        self, task: Task, limits: Limits, max_memory: int, switches: Switches
    ) -> None:
        _check(task)
        self.stated = state_unknown(task)
        self.scale = 1.0 if task.objective == "worst" else self.stated.weight_scale
        tree = grow_tree(task, "elimination")
        super().__init__(task, limits, max_memory, tree, 0.0)
        self.best = self._value_of(tree)
        self.switches = switches
        # Nothing is drawn yet.
        self.surprisal = np.zeros(len(self.stated.cases), dtype=np.int64)
        self.is_proved = False

    def _value_of(self, tree: Tree) -> float:
        return self.scale * (tree.worst_cost if self.is_worst else tree.expected_cost)

    def _cost(self, value: float) -> float:
        return value / self.scale

    def _engine(self, mode: int, **options: Any) -> UnknownSearch:
        engine = UnknownSearch(
            self.stated.problem,
            mode=mode,
            max_bytes=self.engine_bytes,
            **(self.switches | options),
        )
        self._register(engine)
        return engine

    def _restricted_engine(self, breadth: int, *, by_bits: bool) -> UnknownSearch:
        # Certificates are for proofs.
        return self._engine(
            Mode.SURE_ONLY,
            breadth=breadth,
            by_information=by_bits,
            use_certificate=False,
        )

    def _run(
        self, engine: UnknownSearch, theta: float, seconds: float
    ) -> Result | None:
        return engine.run(self.stated.cases, self.surprisal, theta, seconds)

    def _take_policy(self, engine: UnknownSearch, result: Result, breadth: int) -> None:
        if result[1] and result[0] < self.best:
            self._offer_tree(self._extract(engine))

    def prove(self) -> None:
        """Raise the threshold until the bound meets the best cost."""
        full = self.task.table.prices.full
        # Where prices differ, fresh draws of cheap tests are bought again and again.
        is_even = full.min() > 0 and full.max() == full.min()
        is_even = is_even and has_flat_prices(self.task.table.prices)
        for mode in (Mode.FRESH_DRAWS, Mode.TRACKED) if is_even else (Mode.TRACKED,):
            self._prove_by(mode)
            if self.is_proved or self._is_over():
                return

    def _prove_by(self, mode: int) -> None:
        """Raise the bound by one engine; its best policy may turn out to be none."""
        pace = Pace(0.12, 0.02, 0.3, growth=1.5, quick=0.5)
        self._raise_by(self._engine(mode), pace)

    def _take_proof(self, engine: UnknownSearch, theta: float, result: Result) -> bool:
        value, is_exact, _ = result
        self._raise_lower(value)
        if is_exact:
            tree = self._extract(engine)
            if not _repeats(tree):
                self._offer_tree(tree)
                self._raise_lower(self.best)
                self.is_proved = True
        return is_exact

    def _proved(self, engine: UnknownSearch) -> float:
        return engine.lower_bound(self.stated.cases, self.surprisal)

    def _is_lost(self, engine: UnknownSearch) -> bool:
        return engine.is_too_deep

    def _next_threshold(self, share: float) -> float:
        best, lower = self.best, self.lower
        gap = best - lower
        return min(best, lower + max(share * gap, LEAST_STEP * max(lower, gap)))

    def _is_met(self) -> bool:
        return self.lower >= self.best * (1 - ROUNDING)

    def _offer_tree(self, tree: Tree) -> None:
        self._offer(self._value_of(tree), tree)

    def find_result(self) -> MethodResult:
        """Return the best policy and the bound."""
        lower = self.lower * (1 - ROUNDING)
        if lower == 0 < self.best:
            return MethodResult(self.tree)
        return MethodResult(self.tree, self._cost(lower), "search")

    def _extract(self, engine: UnknownSearch) -> Tree:
        """Write the policy that a search has found out as a tree."""

        def choose(
            cases: NDArray[np.int32],
            surprisal: NDArray[np.int64],
            done: tuple[int, ...],
        ) -> Choice:
            result = engine.run(cases, surprisal, TOO_DEAR, FOREVER, done)
            if result is None or not result[1]:
                raise AssertionError("a search that was not stopped has a policy")
            return result[2]

        with self._reading(engine):
            return expand_unknown(self.task, self.stated, choose)


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
