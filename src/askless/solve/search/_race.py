"""Two searches side by side: one lowers the best cost, one raises the lower bound.

Here is what both kinds of search share, over known tables and over tables with unknown
outcomes: the best policy so far, the bound, how fast it is raised, threads, limits,
Ctrl-C and progress. What a state is, and how it is searched, is not known here.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from askless._core.engine._stoppable import Stoppable
from askless.exceptions import InvalidOptionError
from askless.policy import Tree
from askless.problem._jobs import starting_threads
from askless.solve._task import Limits, MethodResult, Task

__all__ = ["FOREVER", "MOST_BYTES", "Pace", "Race", "Switches", "limit_breadth"]

Value = TypeVar("Value", int, float)
Engine = TypeVar("Engine", bound=Stoppable)
Switches = dict[str, bool]

MOST_BYTES = 2 * 1024**3
# How long a search over ever more tests runs if nobody says.
DEFAULT_SECONDS = 10.0
BREADTHS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
REPORT_SECONDS = 0.1
FIRST_PATIENCE, PATIENCE_GROWTH = 2.0, 1.5
FOREVER = 1e9


def limit_breadth(limits: Limits, max_breadth: int | None) -> Limits:
    """Return the limits of a search over the K best tests; check the largest K."""
    if max_breadth is not None and max_breadth < 1:
        raise InvalidOptionError(
            f"max_breadth must be at least 1. Got {max_breadth}. With 1 the search is "
            "greedy."
        )
    if limits.time_limit is None and max_breadth is None:
        return replace(limits, time_limit=DEFAULT_SECONDS)
    return limits


@dataclass
class Pace:
    """How far a threshold is raised at a time, and how long that may take.

    It rises by a share of the open interval: by small shares at first, by larger ones
    as long as they are quick, and by smaller ones again when one outlasts its patience,
    so that a hard table shows a rising bound. What a step that was given up has proved
    is remembered; patience grows, so that every step is finished in the end.

    Attributes
    ----------
    share, least, most : float
        The share at hand, the smallest and the largest.
    growth : float
        By how much it grows after a quick step.
    quick : float
        Seconds that a quick step takes at most.
    patience : float
        Seconds that a step may take.
    """

    share: float
    least: float
    most: float
    growth: float
    quick: float
    patience: float = FIRST_PATIENCE

    def give_up(self) -> None:
        """Take smaller and longer steps, after one that was not finished."""
        self.share = max(self.least, self.share / 2)
        self.patience *= PATIENCE_GROWTH

    def finish(self, seconds: float) -> None:
        """Take larger steps, if the one that was finished was quick."""
        if seconds < self.quick:
            self.share = min(self.most, self.growth * self.share)


class Race(Generic[Value, Engine]):
    """The best policy and the bound of two searches over one table.

    A kind of search says how an engine is made, run and read.

    Parameters
    ----------
    task : Task
        What to solve.
    limits : Limits
        Time, threads and progress.
    max_memory : int
        Bytes that remembering states may take.
    tree : Tree
        A policy to begin with: it is there from the start, whatever happens later.
    best : int or float
        Its value, or more than any policy has.
    """

    # In one thread, the search for policies goes so far before the proof begins.
    first_breadth = 4

    def __init__(
        self, task: Task, limits: Limits, max_memory: int, tree: Tree, best: Value
    ) -> None:
        self.task = task
        self.limits = limits
        self.max_memory = int(max_memory)
        self.tree = tree
        self.best: Value = best
        self.lower: Value = best - best
        self.n_tests = task.table.n_tests
        self.is_worst = task.objective == "worst"
        self.max_breadth: int | None = None
        self.is_stopped = False
        self.lock = threading.Lock()
        self.engines: list[Stoppable] = []

    # What a kind of search brings.

    def prove(self) -> None:
        """Raise the threshold until the bound meets the best cost."""
        raise NotImplementedError

    def find_result(self) -> MethodResult:
        """Return the best policy and the bound."""
        raise NotImplementedError

    def _restricted_engine(self, breadth: int, *, by_bits: bool) -> Engine:
        """Return an engine that looks at so many of the best-scored tests."""
        raise NotImplementedError

    def _run(self, engine: Engine, theta: Value, seconds: float) -> Any:
        """Search all cases up to a threshold; None if it was stopped."""
        raise NotImplementedError

    def _take_policy(self, engine: Engine, result: Any, breadth: int) -> None:
        """Keep the policy that a restricted engine has found, if it is better."""
        raise NotImplementedError

    def _take_proof(self, engine: Engine, theta: Value, result: Any) -> bool:
        """Keep what an engine has proved; return whether it is done."""
        raise NotImplementedError

    def _proved(self, engine: Engine) -> Value:
        """Return what is proved of all cases, though the engine was stopped."""
        raise NotImplementedError

    def _next_threshold(self, share: float) -> Value:
        """Return the next value to prove: the bound and a share of what is open."""
        raise NotImplementedError

    def _cost(self, value: Value) -> float:
        """Return a value as a cost."""
        raise NotImplementedError

    def _is_lost(self, engine: Engine) -> bool:
        """Return whether it is no use to go on with an engine that was stopped."""
        return False

    def _best_cost(self) -> float | None:
        """Return the best cost; None if no search has found a policy yet."""
        return self._cost(self.best)

    def _breadths(self, *, first_twice: bool = True) -> Iterator[tuple[int, bool]]:
        """Yield how many tests are searched in turn, and whether by bits of the class.

        The worst case has no second score, nor has a search over all tests, where every
        ranking is the same.
        """
        most = min(self.n_tests, self.max_breadth or self.n_tests)
        for breadth in sorted({min(step, most) for step in BREADTHS} | {most}):
            yield breadth, False
            is_ranked = breadth < self.n_tests and (first_twice or breadth > 1)
            if is_ranked and not self.is_worst:
                yield breadth, True

    # The two searches.

    def improve(self) -> None:
        """Search ever more tests of each state, and keep the best policy found."""
        for breadth, by_bits in self._breadths():
            if self._is_over():
                return
            engine = self._restricted_engine(breadth, by_bits=by_bits)
            result = self._run(engine, self.best, self.limits.left())
            if result is not None:
                self._take_policy(engine, result, breadth)
            self._forget(engine)

    def _raise_by(self, engine: Engine, pace: Pace, *, until: float = FOREVER) -> None:
        """Raise the bound by an engine, step by step, until it is done.

        Or until so many seconds of the whole race are over.
        """
        while not self._is_over() and (began := self.limits.elapsed) < until:
            theta = self._next_threshold(pace.share)
            patience = min(pace.patience, self.limits.left(), until - began)
            result = self._run(engine, theta, patience)
            if result is None and self._is_lost(engine):
                return
            if result is None:
                # What all cases are proved to cost counts all the same.
                self._raise_lower(self._proved(engine))
                pace.give_up()
                continue
            pace.finish(self.limits.elapsed - began)
            if self._take_proof(engine, theta, result):
                return

    # Bookkeeping.

    @property
    def engine_bytes(self) -> int:
        """What an engine may remember; there are two at a time."""
        return max(2**20, self.max_memory // 2)

    def _register(self, engine: Stoppable) -> None:
        """Have an engine stopped with the race."""
        with self.lock:
            self.engines.append(engine)
            if self.is_stopped:
                engine.stop()

    def _forget(self, engine: Stoppable) -> None:
        with self.lock:
            self.engines.remove(engine)

    @contextmanager
    def _reading(self, engine: Stoppable) -> Iterator[None]:
        """Let an engine run though the race is over, to read its policy."""
        engine.resume()
        yield
        if self.is_stopped:
            engine.stop()

    def _is_met(self) -> bool:
        """Return whether the bound has met the best cost."""
        return self.lower >= self.best

    def _is_settled(self) -> bool:
        return self.is_stopped or self._is_met()

    def _is_over(self) -> bool:
        return self._is_settled() or self.limits.left() == 0

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

    # Running.

    def run(self, *searches: Callable[[], None]) -> None:
        """Run the searches side by side until they end, time is out, or Ctrl-C."""
        if self.limits.n_jobs == 1 and len(searches) > 1:
            searches = (self._one_after_another,)
        running: list[Future[None]] = []
        with starting_threads(), ThreadPoolExecutor(len(searches)) as pool:
            try:
                running += (pool.submit(search) for search in searches)
                while wait(running, timeout=REPORT_SECONDS).not_done:
                    self._report()
                    if self._is_met() or _has_failed(running):
                        self.stop()
            except KeyboardInterrupt:
                self.stop()
                wait(running)
            except BaseException:
                # The pool waits for what it has begun.
                self.stop()
                raise
            self.is_stopped = True
        for future in running:
            future.result()
        self._report()

    def run_both(self) -> MethodResult:
        """Search for policies and for bounds, and return what was found."""
        self.run(self.improve, self.prove)
        return self.find_result()

    def run_restricted(self, max_breadth: int | None) -> MethodResult:
        """Search for policies only, up to so many tests of each state."""
        self.max_breadth = max_breadth
        self.run(self.improve)
        return self.find_result()

    def _one_after_another(self) -> None:
        """In one thread: a short improvement first, then the proof."""
        self.max_breadth = self.first_breadth
        self.improve()
        self.prove()

    def _report(self) -> None:
        reporter = self.limits.reporter
        if reporter is None:
            return
        bound = self._cost(self.lower)
        if reporter.tell(best=self._best_cost(), bound=bound):
            self.stop()


def _has_failed(running: list[Future[None]]) -> bool:
    """Return whether a search has raised; the others need not go on then."""
    return any(each.done() and each.exception() is not None for each in running)
