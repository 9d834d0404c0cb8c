"""Check what is to fetch outcomes, and what it hands over.

A mistake in a program must not look like a test that cannot be had. It does not know
what is fetched, nor when.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from askless.exceptions import InvalidAnswerError, InvalidOptionError

__all__ = [
    "check_arrived",
    "check_awaitable",
    "check_fetch",
    "explain_error",
    "fetch_of_one",
]


def fetch_of_one(fetch: Any, *, method: str) -> Callable[[Any, str], Any]:
    """Return the fetch of one case, which may be given as its outcomes by test.

    Examples
    --------
    >>> fetch_of_one({"lamp": "dim"}, method="run")(None, "lamp")
    'dim'
    """
    if not isinstance(fetch, Mapping):
        return check_fetch(fetch, method=method)

    def look_up(case: Any, test: str) -> Any:
        if test not in fetch:
            raise InvalidAnswerError(
                "Outcomes of one case must have every test that the policy asks for. "
                f"Got none for {test!r}. Add it, or askless.SKIP if it cannot be run."
            )
        return fetch[test]

    return look_up


def check_fetch(fetch: Any, *, method: str) -> Callable[[Any, str], Any]:
    """Return a fetch that can be called and need not be awaited."""
    if not callable(fetch):
        raise InvalidOptionError(
            f"fetch must be a function of a case and a test. Got "
            f"{type(fetch).__name__}. Pass for example: lambda case, test: case[test]"
        )
    if _is_coroutine_function(fetch):
        raise _must_be_awaited(method)
    return fetch  # type: ignore[no-any-return]


def check_arrived(outcome: Any, *, method: str) -> Any:
    """Return an outcome; raise InvalidOptionError if it is still to be awaited."""
    if inspect.isawaitable(outcome):
        if inspect.iscoroutine(outcome):
            # Else Python warns that nobody has awaited it.
            outcome.close()
        raise _must_be_awaited(method)
    return outcome


def check_awaitable(outcome: Any) -> Any:
    """Return what a coroutine function returned; raise if it cannot be awaited."""
    if not inspect.isawaitable(outcome):
        raise InvalidOptionError(
            "fetch must be a function to be awaited (async def). Got one that returned "
            f"{type(outcome).__name__}. Use run or run_many for it."
        )
    return outcome


def explain_error(error: BaseException, test: str) -> None:
    """Add to an error where it came from, and how to go on in spite of such errors."""
    name = type(error).__name__
    error.add_note(
        f"Raised by fetch for the test {test!r}. If it only says that the test cannot "
        f"be had now, pass errors={name} to retry or skip it."
    )


def _is_coroutine_function(fetch: Any) -> bool:
    return inspect.iscoroutinefunction(fetch) or inspect.iscoroutinefunction(
        getattr(fetch, "__call__", None)  # noqa: B004
    )


def _must_be_awaited(method: str) -> InvalidOptionError:
    return InvalidOptionError(
        f"fetch must return an outcome. Got one that is to be awaited (async def). Use "
        f"await policy.{method}_async(...) for it."
    )
