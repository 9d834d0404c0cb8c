"""What stands before every request: sizes, keys, headers, errors in plain words.

Pure ASGI, so that it costs little. It must not know what any request does.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from http.cookies import CookieError, SimpleCookie
from typing import Any

import msgspec

from askless.serve._limits import Limits
from askless.serve._metrics import Metrics
from askless.serve.kept._keys import Keys

__all__ = ["COOKIE", "Guard", "Refused"]

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

COOKIE = "askless_key"
# Let in without a key: whether it lives, and the door itself.
OPEN = ("/healthz", "/readyz", "/login", "/static/")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'self'"
)
HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
}
NOT_KEPT = (b"cache-control", b"no-store")
log = logging.getLogger("askless.serve")


class Refused(Exception):
    """A request is not let through: its status, and what is said."""

    def __init__(self, status: int, error: str, hint: str) -> None:
        self.status, self.error, self.hint = status, error, hint


class Guard:
    """Let requests through that are small enough and have a key, and answer the rest.

    Parameters
    ----------
    app : ASGI app
    keys : Keys or None
        Who is let in; anyone if None.
    metrics : Metrics
    limits : Limits
    embed : sequence of str
        Origins whose pages may show the pages of the service in a frame.
    hosts : sequence of str
        Names under which the service may be asked; any if there are none.
    """

    def __init__(
        self,
        app: App,
        keys: Keys | None,
        metrics: Metrics,
        limits: Limits,
        embed: Sequence[str] = (),
        hosts: Sequence[str] = (),
    ) -> None:
        self.app, self.keys, self.metrics, self.limits = app, keys, metrics, limits
        self.hosts, self.embed = frozenset(hosts), frozenset(embed)
        policy = " ".join([POLICY, *embed])
        self._headers = [
            (name.encode(), value.encode())
            for name, value in {**HEADERS, "content-security-policy": policy}.items()
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started, status = time.perf_counter(), 0
        is_static = scope["path"].startswith("/static/")
        headers = self._headers if is_static else [*self._headers, NOT_KEPT]

        async def send_guarded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", []), *headers]
            await send(message)

        try:
            await self._let_in(scope, receive, send_guarded)
        except Refused as refused:
            await _say(send_guarded, refused)
        except Exception:
            # The trace is for the one who runs the service, not for who asks it. The
            # app has already said what is said then.
            log.exception("a request failed: %s", scope["method"])
        finally:
            self.metrics.count_request(status, time.perf_counter() - started)

    async def _let_in(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        scope["askless_owner"] = ""
        if self.hosts and _host_of(headers) not in self.hosts:
            said = "The service must be asked by a name of its own. Got another."
            raise Refused(421, said, "Use the address that it was started with.")
        if scope["method"] == "POST" and not self._is_own(headers):
            said = "A page of another site must be let in to ask. Got one that is not."
            raise Refused(403, said, "Start the service with --cors ORIGIN.")
        is_asked_first = b"access-control-request-method" in headers
        is_open = scope["path"].startswith(OPEN) or (
            # A browser asks so, without a key, whether a page may ask at all.
            scope["method"] == "OPTIONS" and is_asked_first
        )
        if self.keys is not None and not is_open:
            owner = self.keys.owner_of(_key_of(headers))
            if owner is None:
                await self._refuse(headers, send)
                return
            scope["askless_owner"] = owner
        stated = headers.get(b"content-length", b"")
        if stated.isdigit() and int(stated) > self.limits.max_body:
            raise self._too_large()
        await self.app(scope, self._limit_body(receive), send)

    def _is_own(self, headers: dict[bytes, bytes]) -> bool:
        """Return whether no page of another site asks, or one that may."""
        origin = headers.get(b"origin", b"null").decode("latin-1")
        if origin == "null":
            # A browser that does not say; where keys are used, the cookie is same-site.
            site = headers.get(b"sec-fetch-site", b"same-origin")
            return site in (b"same-origin", b"none")
        own = headers.get(b"host", b"").decode("latin-1")
        return origin in self.embed or origin.split("://")[-1] == own

    def _limit_body(self, receive: Receive) -> Receive:
        n_bytes, is_whole = 0, False
        deadline = time.monotonic() + self.limits.body_seconds

        async def receive_guarded() -> Message:
            nonlocal n_bytes, is_whole
            if is_whole:
                # Only the end of the connection is waited for.
                return await receive()
            try:
                async with asyncio.timeout(deadline - time.monotonic()):
                    message = await receive()
            except TimeoutError as error:
                said = f"A body must come in {self.limits.body_seconds:g} seconds."
                raise Refused(408, said, "Send it faster, or less of it.") from error
            n_bytes += len(message.get("body", b""))
            if n_bytes > self.limits.max_body:
                raise self._too_large()
            is_whole = not message.get("more_body", False)
            return message

        return receive_guarded

    def _too_large(self) -> Refused:
        said = f"A body must have at most {self.limits.max_body} bytes."
        return Refused(413, said, "Send less at a time.")

    async def _refuse(self, headers: dict[bytes, bytes], send: Send) -> None:
        if b"text/html" not in headers.get(b"accept", b""):
            said = "Every request must bring a key. Got none or a wrong one."
            hint = "Send it as the header Authorization: Bearer KEY."
            raise Refused(401, said, hint)
        start = {"type": "http.response.start", "status": 303}
        await send({**start, "headers": [(b"location", b"/login")]})
        await send({"type": "http.response.body", "body": b""})


def _host_of(headers: dict[bytes, bytes]) -> str:
    """Return the host that was asked for, without its port."""
    host = headers.get(b"host", b"").decode("latin-1")
    name, sign, port = host.rpartition(":")
    return name if sign and port.isdigit() else host


def _key_of(headers: dict[bytes, bytes]) -> str:
    given = headers.get(b"authorization", b"").decode("latin-1")
    if given.lower().startswith("bearer "):
        return given[7:].strip()
    try:
        cookies = SimpleCookie(headers.get(b"cookie", b"").decode("latin-1"))
    except CookieError:
        return ""
    return cookies[COOKIE].value if COOKIE in cookies else ""


async def _say(send: Send, refused: Refused) -> None:
    body = msgspec.json.encode({"error": refused.error, "hint": refused.hint})
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
    ]
    if refused.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send(
        {
            "type": "http.response.start",
            "status": refused.status,
            "headers": headers,
        }
    )
    await send({"type": "http.response.body", "body": body})
