"""Buy tests for many cases at a time, in threads or by coroutines.

Nothing is lost: every case that was begun ends with a result, in the order of the
cases. It does not know what a case is, nor how a test is fetched.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

from askless.exceptions import InvalidOptionError
from askless.policy._base import Policy
from askless.problem._jobs import starting_threads
from askless.run._drive import AsyncFetch, Fetch, run_purchase, run_purchase_async
from askless.run._fetching import check_fetch
from askless.run._purchase import CaseResult, Purchase, Purse, Terms
from askless.run._report import RunReport

__all__ = ["run_cases", "run_cases_async"]

# Cases that wait for a worker, for each worker: enough that none has to wait for us.
WAITING = 4

OnResult = Callable[[CaseResult], object]


def _check_workers(max_workers: int) -> None:
    if not isinstance(max_workers, int) or max_workers < 1:
        raise InvalidOptionError(
            f"max_workers must be a whole number >= 1. Got {max_workers!r}. Pass how "
            "many cases may be under way at a time."
        )


def run_cases(
    policy: Policy,
    fetch: Fetch,
    cases: Iterable[Any],
    terms: Terms,
    *,
    max_workers: int,
    total_budget: float | None,
    on_result: OnResult | None,
) -> RunReport:
    """Run a policy on many cases; see :meth:`Policy.run_many`."""
    _check_workers(max_workers)
    fetch = check_fetch(fetch, method="run_many")
    crew = _Crew(policy, fetch, terms, Purse(total_budget), on_result)
    source = enumerate(cases)
    try:
        if max_workers == 1:
            for index, case in source:
                crew.take_in(index, crew.run(index, case))
        else:
            crew.run_in_threads(source, max_workers)
    except KeyboardInterrupt:
        crew.interrupt(source if isinstance(cases, Sized) else iter(()))
    return crew.report()


class _Crew:
    """Workers over the cases of one run, and what they have come to."""

    def __init__(
        self,
        policy: Policy,
        fetch: Fetch,
        terms: Terms,
        purse: Purse,
        on_result: OnResult | None,
    ) -> None:
        self.policy, self.fetch, self.terms, self.purse = policy, fetch, terms, purse
        self.on_result = on_result
        self.results: dict[int, CaseResult] = {}
        self.is_cancelled = threading.Event()
        self.is_interrupted = False

    def run(self, index: int, case: Any) -> CaseResult:
        purchase = Purchase(self.policy, case, self.terms, self.purse)
        try:
            return run_purchase(purchase, self.fetch, self.is_cancelled)
        except KeyboardInterrupt:
            # What was bought so far is told, then the run ends.
            purchase.stop("interrupted", "interrupted before the decision")
            self.results[index] = purchase.result()
            raise

    def take_in(self, index: int, result: CaseResult) -> None:
        self.results[index] = result
        if self.on_result is not None:
            self.on_result(result)

    def run_in_threads(
        self, source: Iterator[tuple[int, Any]], max_workers: int
    ) -> None:
        under_way: dict[Future[CaseResult], int] = {}
        pool = ThreadPoolExecutor(max_workers, thread_name_prefix="askless")
        try:
            for index, case in source:
                with starting_threads():
                    future = pool.submit(self.run, index, case)
                under_way[future] = index
                if len(under_way) >= WAITING * max_workers:
                    self._take_in_some(under_way)
            while under_way:
                self._take_in_some(under_way)
        except BaseException as error:
            self.is_cancelled.set()
            pool.shutdown(wait=True)
            if isinstance(error, KeyboardInterrupt):
                for future, index in under_way.items():
                    self.results[index] = future.result()
            raise
        finally:
            pool.shutdown(wait=True)

    def _take_in_some(self, under_way: dict[Future[CaseResult], int]) -> None:
        done, _ = wait(under_way, return_when=FIRST_COMPLETED)
        for future in done:
            self.take_in(under_way[future], future.result())
            del under_way[future]

    def interrupt(self, rest: Iterator[tuple[int, Any]]) -> None:
        """Name the failure of every case that was not begun."""
        self.is_interrupted = True
        for index, case in rest:
            purchase = Purchase(self.policy, case, self.terms, self.purse)
            purchase.stop("interrupted", "interrupted before it was begun")
            self.results[index] = purchase.result()

    def report(self) -> RunReport:
        return RunReport(
            [self.results[index] for index in sorted(self.results)],
            self.policy.prices.cost_of_all(),
            self.is_interrupted,
        )


async def run_cases_async(
    policy: Policy,
    fetch: AsyncFetch,
    cases: Iterable[Any],
    terms: Terms,
    *,
    max_workers: int,
    total_budget: float | None,
    on_result: OnResult | None,
) -> RunReport:
    """Run a policy on many cases at a time; see :meth:`Policy.run_many_async`."""
    _check_workers(max_workers)
    purse = Purse(total_budget)
    results: dict[int, CaseResult] = {}
    source = enumerate(cases)

    async def work() -> None:
        for index, case in source:
            purchase = Purchase(policy, case, terms, purse)
            results[index] = await run_purchase_async(purchase, fetch)
            if on_result is not None:
                on_result(results[index])

    workers = [asyncio.ensure_future(work()) for _ in range(max_workers)]
    try:
        await asyncio.gather(*workers)
    except BaseException:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
        raise
    return RunReport(
        [results[index] for index in sorted(results)], policy.prices.cost_of_all()
    )
