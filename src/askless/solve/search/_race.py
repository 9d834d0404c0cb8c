"""Two searches side by side: one lowers the best cost, one raises the lower bound.

Here is what both kinds of search share, over known tables and over tables with unknown
outcomes: the best policy so far, the bound, threads, limits, Ctrl-C and progress. What
a state is, and how it is searched, is not known here.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Generic, Protocol, TypeVar

from askless.exceptions import InvalidOptionError
from askless.policy import Tree
from askless.solve._answer import Limits, Progress

__all__ = ["MOST_BYTES", "Race", "limit_breadth"]

Value = TypeVar("Value", int, float)

MOST_BYTES = 2 * 1024**3
# How long a search over ever more tests runs if nobody says.
DEFAULT_SECONDS = 10.0
BREADTHS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
REPORT_SECONDS = 0.1


class Engine(Protocol):
    """What is searching: it can be told to stop."""

    def stop(self) -> None: ...


def limit_breadth(limits: Limits, max_breadth: int | None) -> Limits:
    """Return the limits of a search over the K best tests; check the largest K."""
    if max_breadth is not None and max_breadth < 1:
        raise InvalidOptionError(
            f"max_breadth must be at least 1. Got {max_breadth}. With 1 the search is "
            "greedy."
        )
    if limits.time_limit is None and max_breadth is None:
        return Limits(DEFAULT_SECONDS, limits.progress, limits.n_jobs, limits.started)
    return limits


class Race(Generic[Value]):
    """The best policy and the bound of two searches over one table.

    A kind of search brings :meth:`improve`, :meth:`prove` and :meth:`_cost`.

    Parameters
    ----------
    limits : Limits
        Time, threads and progress.
    tree : Tree
        A policy to begin with: it is there from the start, whatever happens later.
    best : int or float
        Its value, or more than any policy has.
    n_tests : int
        How many tests there are.
    is_worst : bool
        Whether values are of the worst case.
    """

    # In one thread, the search for policies goes so far before the proof begins.
    first_breadth = 4

    def __init__(
        self, limits: Limits, tree: Tree, best: Value, n_tests: int, *, is_worst: bool
    ) -> None:
        self.limits = limits
        self.tree = tree
        self.best: Value = best
        self.lower: Value = best - best
        self.n_tests = n_tests
        self.is_worst = is_worst
        self.max_breadth: int | None = None
        self.is_stopped = False
        self.lock = threading.Lock()
        self.engines: list[Engine] = []

    def improve(self) -> None:
        """Search ever more tests of each state, and keep the best policy found."""
        raise NotImplementedError

    def prove(self) -> None:
        """Raise the threshold until the bound meets the best cost."""
        raise NotImplementedError

    def _cost(self, value: Value) -> float:
        """Return a value as a cost."""
        raise NotImplementedError

    def _best_cost(self) -> float | None:
        """Return the best cost; None if no search has found a policy yet."""
        return self._cost(self.best)

    def _breadths(self, *, first_twice: bool = True) -> Iterator[tuple[int, bool]]:
        """Yield how many tests are searched in turn, and whether by the second score.

        The worst case has no second score, nor has a search over all tests, where every
        ranking is the same.
        """
        most = min(self.n_tests, self.max_breadth or self.n_tests)
        for breadth in sorted({min(step, most) for step in BREADTHS} | {most}):
            yield breadth, False
            is_ranked = breadth < self.n_tests and (first_twice or breadth > 1)
            if is_ranked and not self.is_worst:
                yield breadth, True

    # Bookkeeping.

    def _register(self, engine: Engine) -> None:
        """Have an engine stopped with the race."""
        with self.lock:
            self.engines.append(engine)
            if self.is_stopped:
                engine.stop()

    def _forget(self, engine: Engine) -> None:
        with self.lock:
            self.engines.remove(engine)

    def _is_met(self) -> bool:
        """Return whether the bound has met the best cost."""
        return self.lower >= self.best

    def _is_settled(self) -> bool:
        return self.is_stopped or self._is_met()

    def _offer(self, value: Value, tree: Tree) -> None:
        with self.lock:
            if value < self.best:
                self.best, self.tree = value, tree

    def _raise_lower(self, value: Value) -> None:
        with self.lock:
            self.lower = max(self.lower, min(value, self.best))
            if self._is_met():
                for engine in self.engines:
                    engine.stop()

    def stop(self) -> None:
        """Make both searches return; the best policy and bound so far are kept."""
        with self.lock:
            self.is_stopped = True
            for engine in self.engines:
                engine.stop()

    def run(self, *searches: Callable[[], None]) -> None:
        """Run the searches side by side until they end, time is out, or Ctrl-C."""
        if self.limits.n_jobs == 1 and len(searches) > 1:
            searches = (self._one_after_another,)
        with ThreadPoolExecutor(len(searches)) as pool:
            running = [pool.submit(search) for search in searches]
            try:
                while wait(running, timeout=REPORT_SECONDS).not_done:
                    self._report()
                    if self._is_met():
                        self.stop()
            except KeyboardInterrupt:
                self.stop()
                wait(running)
            self.is_stopped = True
        for future in running:
            future.result()
        self._report()

    def _one_after_another(self) -> None:
        """In one thread: a short improvement first, then the proof."""
        self.max_breadth = self.first_breadth
        self.improve()
        self.prove()

    def _report(self) -> None:
        if self.limits.progress is not None:
            bound = self._cost(self.lower)
            self.limits.progress(
                Progress(self.limits.elapsed, self._best_cost(), bound)
            )
