"""Answers to programs: plain data as JSON, and what went wrong in two sentences.

No stack trace leaves the service. It must not know what any request does.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import numpy as np
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from askless.exceptions import AsklessError, UnknownNameError
from askless.serve._guard import Refused
from askless.serve.kept._sessions import StaleStep, TooManySessions
from askless.serve.kept._store import StoreError

__all__ = [
    "Busy",
    "explain_error",
    "guarded",
    "tell_failure",
    "tell_http_error",
    "tell_refused",
    "to_response",
]

Handle = Callable[[Request], Awaitable[Any]]
Endpoint = Callable[[Request], Awaitable[Response]]
SAID = {
    400: ("The request must be well formed.", "Correct it."),
    404: ("There is nothing at this address.", "See /openapi.json."),
    405: ("This address must be asked in another way.", "See /openapi.json."),
}


class Busy(Exception):
    """The service cannot do this now, or not in time."""


def to_response(content: Any, status: int = 200) -> Response:
    """Return plain data as a response."""
    body = msgspec.json.encode(content, enc_hook=_plain)
    return Response(body, status, media_type="application/json")


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def explain_error(error: Exception) -> tuple[int, dict[str, str]]:
    """Return the status of an error, and what is said of it.

    Examples
    --------
    >>> explain_error(AsklessError("A must hold. Got B. Do C."))
    (422, {'error': 'A must hold. Got B.', 'hint': 'Do C.'})
    """
    if isinstance(error, StaleStep):
        hint = "Ask where the session stands, then answer that."
        return 409, {"error": f"Conflict: {error}.", "hint": hint}
    if isinstance(error, TooManySessions):
        said = "The service keeps as many sessions as it may."
        return 503, {"error": said, "hint": "Tell whoever runs it."}
    if isinstance(error, Busy):
        return 503, {"error": str(error), "hint": "Try again later, or ask for less."}
    if isinstance(error, StoreError):
        # Whoever asks can do nothing about it, and need not know where the file is.
        said = "The service could not use its file of sessions."
        return 500, {"error": said, "hint": "Tell whoever runs it."}
    # The last sentence of an error says what to do.
    said, _, hint = str(error).strip().rstrip(".").rpartition(". ")
    status = 404 if isinstance(error, UnknownNameError) else 422
    if not said:
        return status, {"error": str(error), "hint": ""}
    return status, {"error": f"{said}.", "hint": f"{hint}."}


EXPLAINED = (AsklessError, StaleStep, TooManySessions, Busy)


def guarded(handle: Handle) -> Endpoint:
    """Return an endpoint that gives plain data, or an error, as JSON."""

    async def endpoint(request: Request) -> Response:
        try:
            result = await handle(request)
        except EXPLAINED as error:
            status, said = explain_error(error)
            return to_response(said, status)
        return result if isinstance(result, Response) else to_response(result)

    return endpoint


async def tell_refused(request: Request, error: Exception) -> Response:
    """Return why a body was not read to its end."""
    assert isinstance(error, Refused)
    content = {"error": error.error, "hint": error.hint}
    response = to_response(content, error.status)
    # The rest of the body is not waited for.
    response.headers["connection"] = "close"
    return response


async def tell_failure(request: Request, error: Exception) -> Response:
    """Return that something failed, and nothing of what."""
    said = "The service could not answer."
    hint = "Try again; if it stays, tell whoever runs it."
    return to_response({"error": said, "hint": hint}, 500)


async def tell_http_error(request: Request, error: Exception) -> Response:
    """Return what the router has against a request, as JSON."""
    assert isinstance(error, HTTPException)
    said, hint = SAID.get(error.status_code, SAID[400])
    response = to_response({"error": said, "hint": hint}, error.status_code)
    response.headers.update(error.headers or {})
    return response
