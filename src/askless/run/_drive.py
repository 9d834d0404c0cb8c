"""Fetch what a policy asks for: one case in a row, or by coroutines.

Tries, waits, times out and gives up. What is fetched and when to stop is decided by a
:class:`Purchase`.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Any

from askless.exceptions import InvalidOptionError
from askless.policy import Policy
from askless.run._fetching import (
    check_arrived,
    check_awaitable,
    explain_error,
    fetch_of_one,
)
from askless.run._purchase import CaseResult, Purchase, Purse, Terms

__all__ = [
    "AsyncFetch",
    "Fetch",
    "run_case",
    "run_case_async",
    "run_purchase",
    "run_purchase_async",
]

Fetch = Callable[[Any, str], Any]
AsyncFetch = Callable[[Any, str], Awaitable[Any]]


def run_case(policy: Policy, fetch: Fetch, case: Any, terms: Terms) -> CaseResult:
    """Run a policy on one case; see :meth:`Policy.run`."""
    fetch = fetch_of_one(fetch, method="run")
    return run_purchase(Purchase(policy, case, terms, Purse()), fetch)


async def run_case_async(
    policy: Policy, fetch: AsyncFetch, case: Any, terms: Terms
) -> CaseResult:
    """Run a policy on one case by coroutines; see :meth:`Policy.run_async`."""
    return await run_purchase_async(Purchase(policy, case, terms, Purse()), fetch)


def run_purchase(
    purchase: Purchase,
    fetch: Fetch,
    is_cancelled: threading.Event | None = None,
) -> CaseResult:
    """Fetch, one test after another, until the case has come to its end."""
    while orders := purchase.orders():
        for test in orders:
            if is_cancelled is not None and is_cancelled.is_set():
                purchase.stop("interrupted", "interrupted before the decision")
                break
            _try(purchase, fetch, test, is_cancelled)
    return purchase.result()


def _try(
    purchase: Purchase,
    fetch: Fetch,
    test: str,
    is_cancelled: threading.Event | None,
) -> None:
    terms = purchase.terms
    for attempt in range(1, terms.retries + 2):
        purchase.n_calls += 1
        try:
            if terms.timeout is None:
                outcome = fetch(purchase.case, test)
            else:
                outcome = _call_within(terms.timeout, fetch, purchase.case, test)
            purchase.check(test, check_arrived(outcome, method="run"))
        except Exception as error:
            if _is_tried_again(purchase, test, error, attempt):
                _sleep(terms.wait(attempt), is_cancelled)
                continue
        else:
            purchase.deliver(test, outcome)
        return


def _is_tried_again(
    purchase: Purchase, test: str, error: Exception, attempt: int
) -> bool:
    """Return whether to fetch once more; if not, the test has failed.

    Raises the error if it is a mistake in a program, or if failures are to be raised.
    """
    terms = purchase.terms
    _raise_unless_named(error, test, terms)
    if attempt <= terms.retries:
        return True
    if terms.on_failure == "raise":
        raise error
    purchase.fail(test, error, attempt)
    return False


def _raise_unless_named(error: Exception, test: str, terms: Terms) -> None:
    """Raise an error that is no failure of a test but a mistake in a program."""
    if isinstance(error, InvalidOptionError):
        raise error
    if not isinstance(error, terms.failures):
        explain_error(error, test)
        raise error


def _sleep(seconds: float, is_cancelled: threading.Event | None) -> None:
    if is_cancelled is not None:
        is_cancelled.wait(seconds)
    elif seconds:
        time.sleep(seconds)


def _call_within(seconds: float, fetch: Fetch, case: Any, test: str) -> Any:
    """Call in a thread of its own, and leave it behind if it takes too long.

    Nothing can end a thread from outside; a late outcome is dropped. The thread does
    not keep the program from ending.
    """
    box: list[tuple[bool, Any]] = []
    context = contextvars.copy_context()

    def call() -> None:
        try:
            box.append((True, context.run(fetch, case, test)))
        except BaseException as error:
            box.append((False, error))

    thread = threading.Thread(target=call, name=f"askless-{test}", daemon=True)
    thread.start()
    thread.join(seconds)
    if not box:
        raise TimeoutError(f"no outcome within {seconds:g} s")
    arrived, value = box[0]
    if not arrived:
        raise value
    return value


async def run_purchase_async(purchase: Purchase, fetch: AsyncFetch) -> CaseResult:
    """Fetch until the case has come to its end; what is ordered together, at once."""
    while orders := purchase.orders():
        if len(orders) == 1:
            await _try_async(purchase, fetch, orders[0])
        else:
            await asyncio.gather(*(_try_async(purchase, fetch, t) for t in orders))
    return purchase.result()


async def _try_async(purchase: Purchase, fetch: AsyncFetch, test: str) -> None:
    terms = purchase.terms
    for attempt in range(1, terms.retries + 2):
        purchase.n_calls += 1
        try:
            try:
                outcome = await asyncio.wait_for(
                    check_awaitable(fetch(purchase.case, test)), terms.timeout
                )
            except TimeoutError as error:
                # Also raised by fetch itself, with its own words.
                if terms.timeout is None or str(error):
                    raise
                text = f"no outcome within {terms.timeout:g} s"
                raise TimeoutError(text) from error
            purchase.check(test, outcome)
        except Exception as error:
            if _is_tried_again(purchase, test, error, attempt):
                await asyncio.sleep(terms.wait(attempt))
                continue
        else:
            purchase.deliver(test, outcome)
        return
