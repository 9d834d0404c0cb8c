"""The studio: a table is solved while someone watches, and can change their mind.

It is the same :func:`askless.solve.solve` as everywhere, with its progress sent as it
comes. Nothing is kept unless it is saved. This module must not know how pages look.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from askless.exceptions import AsklessError, InvalidOptionError
from askless.export import show
from askless.policy._file import dump, parse
from askless.problem import Table
from askless.serve._api import Api
from askless.serve._bodies import read_body
from askless.serve._respond import Busy, explain_error, guarded, to_response
from askless.serve.pages._sheet import describe_sheet, read_sheet
from askless.solve import Progress, Solution, solve

__all__ = ["make_studio_routes"]

# A picture of more boxes helps nobody.
MOST_DRAWN = 400
# Policies that are saved from the studio and not in a folder.
MAX_SAVED = 100

Text = Annotated[str, Meta(max_length=2_000_000)]
Amount = Annotated[float, Meta(ge=0, le=1e12)]
Name = Annotated[str, Meta(max_length=2_000)]


class SheetBody(msgspec.Struct, forbid_unknown_fields=True):
    """A table and its prices, as text."""

    table: Text
    costs: Text = ""
    target: Name | None = None


class SolveBody(SheetBody, forbid_unknown_fields=True):
    """A table to solve, with prices and weights as the sliders say."""

    prices: dict[Name, Amount] = {}
    weights: dict[Name, Amount] = {}
    objective: Annotated[str, Meta(pattern="^(expected|worst)$")] = "expected"
    seconds: Annotated[float, Meta(gt=0, le=3600)] = 20.0


class SaveBody(msgspec.Struct, forbid_unknown_fields=True):
    """A policy to serve under a name: the content of its file."""

    name: Annotated[str, Meta(max_length=100)]
    policy: str


def make_studio_routes(api: Api) -> list[Route]:
    """Return what the studio page calls."""
    studio = _Studio(api)
    return [
        Route("/studio/check", guarded(studio.check), methods=["POST"]),
        Route("/studio/solve", guarded(studio.solve), methods=["POST"]),
        Route("/studio/save", guarded(studio.save), methods=["POST"]),
    ]


class _Studio:
    def __init__(self, api: Api) -> None:
        self.api = api
        self._n_running = 0
        self._saved: set[str] = set()

    async def check(self, request: Request) -> Any:
        """Tell what is in a table, and what is wrong with it."""
        body = read_body(await request.body(), SheetBody)
        return await self.api.workers.run(
            lambda: describe_sheet(read_sheet(body.table, body.costs, body.target))
        )

    async def solve(self, request: Request) -> Any:
        """Solve a table; tell how it goes as server-sent events."""
        body = read_body(await request.body(), SolveBody)
        table = await self.api.workers.run(lambda: _to_table(body))
        if self._n_running >= self.api.limits.n_searches:
            raise Busy("As many searches run as may.")
        seconds = min(body.seconds, self.api.limits.solve_seconds)
        events = self._search(table, body.objective, seconds)
        return StreamingResponse(events, media_type="text/event-stream")

    async def _search(
        self, table: Table, objective: str, seconds: float
    ) -> AsyncIterator[bytes]:
        """Run a search in a thread of its own, and pass on what it tells.

        When the page goes away, the iterator is closed and the search stops.
        """
        self._n_running += 1
        loop = asyncio.get_running_loop()
        told: asyncio.Queue[bytes | None] = asyncio.Queue()
        is_left = threading.Event()

        def tell(event: str, content: Any) -> None:
            if is_left.is_set():
                # What Ctrl-C does to a search: it stops, and nobody waits for it.
                raise KeyboardInterrupt
            loop.call_soon_threadsafe(told.put_nowait, _to_event(event, content))

        def run() -> None:
            try:
                _solve_twice(table, objective, seconds, tell)
            except KeyboardInterrupt:
                pass
            except AsklessError as error:
                tell("problem", explain_error(error)[1])
            finally:
                loop.call_soon_threadsafe(self._end, told)

        threading.Thread(target=run, daemon=True).start()
        try:
            while (event := await told.get()) is not None:
                yield event
        finally:
            is_left.set()

    def _end(self, told: asyncio.Queue[bytes | None]) -> None:
        self._n_running -= 1
        told.put_nowait(None)

    async def save(self, request: Request) -> Response:
        """Serve a policy under a new name."""
        body = read_body(await request.body(), SaveBody)
        if len(self._saved) >= MAX_SAVED:
            raise InvalidOptionError(
                f"At most {MAX_SAVED} policies may be saved from the studio. Got one "
                "more. Put files into the folder that is served."
            )

        def work() -> str:
            policy = parse(body.policy.encode("utf-8", "replace"))
            offer = self.api.library.save(body.name, policy)
            return offer.digest

        digest = await self.api.workers.run(work)
        self._saved.add(body.name)
        content = {"name": body.name, "version": digest, "ask": f"/ask/{body.name}"}
        return to_response(content, 201)


def _to_table(body: SolveBody) -> Table:
    sheet = read_sheet(body.table, body.costs, body.target)
    return sheet.to_table(body.prices, body.weights)


def _solve_twice(
    table: Table,
    objective: str,
    seconds: float,
    tell: Callable[[str, Any], None],
) -> None:
    """Tell a greedy policy at once, then how the search goes, then what it found."""
    greedy = solve(table, objective=objective, method="greedy", n_jobs=1)
    # With its file: whoever stops the search may keep this one.
    tell("first", describe_solution(greedy) | {"policy": dump(greedy.policy).decode()})

    def report(progress: Progress) -> None:
        # What was proved or found before the search still holds.
        bound = max(progress.bound or 0.0, greedy.lower_bound)
        best = greedy.cost if progress.best is None else progress.best
        told = {"best": min(best, greedy.cost), "bound": bound}
        tell("progress", {"seconds": progress.seconds, **told})

    found = solve(
        table,
        objective=objective,
        time_limit=seconds,
        n_jobs=1,
        callbacks=report,
    )
    content = describe_solution(found)
    content["policy"] = dump(found.policy).decode()
    tell("done", content)


def describe_solution(solution: Solution) -> dict[str, Any]:
    """Return what a page shows of a solution."""
    policy = solution.policy
    n_nodes = getattr(policy, "n_nodes", MOST_DRAWN + 1)
    picture = show(policy, "svg") if n_nodes <= MOST_DRAWN else None
    return {
        "method": solution.method,
        "expected": solution.expected_cost,
        "worst": solution.worst_cost,
        "error": solution.error,
        "best": solution.cost,
        "bound": solution.lower_bound,
        "status": solution.status,
        "notes": list(solution.notes),
        "picture": picture,
        "text": show(policy, "text") if n_nodes <= MOST_DRAWN else None,
    }


def _to_event(event: str, content: Any) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (event.encode(), msgspec.json.encode(content))
