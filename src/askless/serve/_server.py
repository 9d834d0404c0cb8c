"""Run a service: uvicorn, and what it lacks against clients that are slow on purpose.

It must not know what is served.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import time
from collections.abc import Callable
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

__all__ = ["keep_pauses_short", "make_config", "run_server"]

# How long the head of a request may be on its way, and how large it may be.
HEAD_SECONDS = 15.0
MAX_HEAD = 64 * 1024
# One read may bring the end of a head and so much of a body.
LARGEST_READ = 256 * 1024
# Connections and requests at a time.
MAX_CONNECTIONS = 12_000
# A step in another thread gives way after so many seconds instead of 5 ms.
SWITCH_SECONDS = 0.0005
# Everybody waits for the collector of cycles: what takes it longer is left alone.
LONG_PAUSE = 0.003


class ImpatientProtocol(HttpToolsProtocol):
    """Close connections whose request does not come, or has no end."""

    _timer: asyncio.TimerHandle | None = None
    _n_head = 0

    def connection_made(self, transport: Any) -> None:
        """Wait for the first request."""
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read a part of a request."""
        if self._timer is not None:
            self._n_head += len(data)
            if self._n_head > MAX_HEAD + LARGEST_READ:
                self.send_400_response("The head of a request is too large.")
                return
        super().data_received(data)

    def on_message_begin(self) -> None:
        """Wait for the head of a request."""
        super().on_message_begin()
        if self._timer is None:
            self._wait()

    def on_headers_complete(self) -> None:
        """Go on with a request whose head is there."""
        self._stop_waiting()
        super().on_headers_complete()

    def _wait(self) -> None:
        self._n_head = 0
        self._timer = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        self._timer = None
        if not self.transport.is_closing():
            self.transport.close()


def make_config(app: Any, *, host: str, port: int) -> uvicorn.Config:
    """Return how an app is served."""
    # Requests are not logged: their addresses name sessions.
    return uvicorn.Config(
        app,
        host=host,
        port=port,
        http=ImpatientProtocol,
        ws="none",
        access_log=False,
        log_level="warning",
        server_header=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=5,
        limit_concurrency=MAX_CONNECTIONS,
    )


def run_server(app: Any, *, host: str, port: int) -> None:
    """Serve an app until Ctrl-C.

    Parameters
    ----------
    app : ASGI app
    host : str
    port : int
    """
    sys.setswitchinterval(SWITCH_SECONDS)
    keep_pauses_short()
    uvicorn.Server(make_config(app, host=host, port=port)).run()


def keep_pauses_short() -> Callable[[str, dict[str, int]], None]:
    """Keep the collector of cycles from looking at the same objects again and again.

    A large policy is some hundred thousand objects, and ten thousand sessions are as
    many: a full collection looks at all of them, a tenth of a second in which nobody is
    answered. What has outlived a long one is frozen. Sessions hold no cycles, so those
    that end are freed all the same.

    Returns
    -------
    callable
        What was added to ``gc.callbacks``.
    """
    gc.collect()
    gc.freeze()
    started = 0.0

    def watch(phase: str, info: dict[str, int]) -> None:
        nonlocal started
        if info["generation"] < 2:
            return
        # By its own work: a busy machine makes no heap large.
        if phase == "start":
            started = time.thread_time()
        elif time.thread_time() - started > LONG_PAUSE:
            gc.freeze()

    gc.callbacks.append(watch)
    return watch
