"""What stands before every request: sizes, keys, headers, errors in plain words.

Pure ASGI, so that it costs little. It must not know what any request does.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any

from askless.serve._keys import Keys
from askless.serve._metrics import Metrics

__all__ = ["COOKIE", "Guard", "TooLarge"]

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

COOKIE = "askless_key"
# Let in without a key: whether it lives, and the door itself.
OPEN = ("/healthz", "/readyz", "/login", "/static/")
HEADERS = [
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; "
        b"img-src 'self' data:; connect-src 'self'; form-action 'self'; "
        b"base-uri 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
]
log = logging.getLogger("askless.serve")


class TooLarge(Exception):
    """A body is larger than it may be."""


class Guard:
    """Let requests through that are small enough and have a key, and answer the rest.

    Parameters
    ----------
    app : ASGI app
    keys : Keys or None
        Who is let in; anyone if None.
    metrics : Metrics
    max_body : int
        Bytes that a body may have.
    """

    def __init__(
        self, app: App, keys: Keys | None, metrics: Metrics, *, max_body: int
    ) -> None:
        self.app, self.keys, self.metrics = app, keys, metrics
        self.max_body = max_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = time.perf_counter()
        status = 500

        async def send_guarded(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", []), *HEADERS]
            await send(message)

        try:
            await self._let_in(scope, receive, send_guarded)
        except TooLarge:
            await _say(
                send_guarded, 413, f"A body must have at most {self.max_body} bytes.",
                "Send less at a time.",
            )  # fmt: skip
        except Exception:
            # The trace is for the one who runs the service, not for who asks it.
            log.exception("a request failed: %s %s", scope["method"], scope["path"])
            await _say(
                send_guarded, 500, "The service could not answer.",
                "Try again; if it stays, tell whoever runs it.",
            )  # fmt: skip
        finally:
            self.metrics.count_request(status, time.perf_counter() - started)

    async def _let_in(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        scope["askless_owner"] = ""
        if self.keys is not None and not scope["path"].startswith(OPEN):
            owner = self.keys.owner_of(_key_of(headers))
            if owner is None:
                await self._refuse(scope, send)
                return
            scope["askless_owner"] = owner
        if int(headers.get(b"content-length", b"0") or 0) > self.max_body:
            raise TooLarge
        n_bytes = 0

        async def receive_guarded() -> MutableMapping[str, Any]:
            nonlocal n_bytes
            message = await receive()
            n_bytes += len(message.get("body", b""))
            if n_bytes > self.max_body:
                raise TooLarge
            return message

        await self.app(scope, receive_guarded, send)

    async def _refuse(self, scope: Scope, send: Send) -> None:
        if scope["method"] == "GET" and not scope["path"].startswith(("/v1", "/fhir")):
            await send(
                {
                    "type": "http.response.start",
                    "status": 303,
                    "headers": [(b"location", b"/login")],
                }
            )
            await send({"type": "http.response.body", "body": b""})
            return
        await _say(
            send, 401, "Every request must bring a key. Got none or a wrong one.",
            "Send it as the header Authorization: Bearer KEY.",
        )  # fmt: skip


def _key_of(headers: dict[bytes, bytes]) -> str:
    given = headers.get(b"authorization", b"").decode("latin-1")
    if given.lower().startswith("bearer "):
        return given[7:].strip()
    try:
        cookies = SimpleCookie(headers.get(b"cookie", b"").decode("latin-1"))
    except CookieError:
        return ""
    return cookies[COOKIE].value if COOKIE in cookies else ""


async def _say(send: Send, status: int, error: str, hint: str) -> None:
    import msgspec

    body = msgspec.json.encode({"error": error, "hint": hint})
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [
                (b"content-type", b"application/json"),
                (b"content-length", str(len(body)).encode()),
            ],
        }
    )
    await send({"type": "http.response.body", "body": body})
