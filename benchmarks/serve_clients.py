"""Clients of a service: as little work as possible between two requests."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Callable
from typing import Any

__all__ = ["Client", "Choose", "run_clients"]

Choose = Callable[[dict[str, Any], random.Random], Any]


class Client:
    """One connection that stays open, and how long each step took.

    Attributes
    ----------
    seconds : list of float
        Of every step, from the first byte sent to the last received.
    failures : list of str
        What was answered by anything but success.
    """

    def __init__(self, port: int, policy: str, choose: Choose, seed: int = 0) -> None:
        self.port, self.policy, self.choose = port, policy, choose
        self.random = random.Random(seed)
        self.seconds: list[float] = []
        self.failures: list[str] = []
        self.begins: list[float] = []
        self.n_cases = 0

    async def connect(self) -> None:
        """Open the connection."""
        self._reader, self._writer = await asyncio.open_connection(
            "127.0.0.1", self.port
        )

    async def post(self, path: str, body: bytes) -> dict[str, Any]:
        """Send a request and return what comes back."""
        head = (
            f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: "
            f"application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        )
        self._writer.write(head.encode() + body)
        status = await self._reader.readline()
        n_bytes = 0
        while (line := await self._reader.readline()) != b"\r\n":
            if line.lower().startswith(b"content-length:"):
                n_bytes = int(line.split(b":")[1])
        content = await self._reader.readexactly(n_bytes)
        if status[9:10] != b"2":
            self.failures.append(f"{status!r} {content!r}")
        return json.loads(content)  # type: ignore[no-any-return]

    async def begin(self) -> dict[str, Any]:
        """Begin a session."""
        started = time.perf_counter()
        state = await self.post(
            "/v1/sessions", json.dumps({"policy": self.policy}).encode()
        )
        self.begins.append(time.perf_counter() - started)
        return state

    async def step(self, state: dict[str, Any]) -> dict[str, Any]:
        """Answer the next test."""
        outcome = self.choose(state["test"], self.random)
        body = json.dumps({"outcome": outcome, "step": state["step"]}).encode()
        started = time.perf_counter()
        after = await self.post(f"/v1/sessions/{state['session']}/answer", body)
        self.seconds.append(time.perf_counter() - started)
        return after

    async def run(self, until: float) -> None:
        """Decide one case after another, until a time."""
        await self.connect()
        while time.perf_counter() < until and not self.failures:
            state = await self.begin()
            while not state["done"]:
                state = await self.step(state)
            self.n_cases += 1
        self._writer.close()


def run_clients(clients: list[Client], seconds: float) -> None:
    """Let clients decide cases for some time, side by side."""

    async def run() -> None:
        until = time.perf_counter() + seconds
        await asyncio.gather(*[client.run(until) for client in clients])

    asyncio.run(run())
