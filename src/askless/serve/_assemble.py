"""Put the service together: policies, sessions, routes, and what guards them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from importlib.metadata import version
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from askless.serve._api import Api
from askless.serve._fhir_routes import make_fhir_routes
from askless.serve._guard import Guard, Refused
from askless.serve._limits import Limits
from askless.serve._metrics import Metrics
from askless.serve._openapi import describe_service
from askless.serve._respond import (
    tell_failure,
    tell_http_error,
    tell_refused,
    to_response,
)
from askless.serve.kept._keys import Keys
from askless.serve.kept._library import Library
from askless.serve.kept._sessions import Sessions
from askless.serve.kept._store import Store
from askless.serve.pages._pages import Pages
from askless.serve.pages._say import to_page
from askless.serve.pages._studio import make_studio_routes

__all__ = ["assemble"]

STATIC = Path(__file__).parent / "static"


def assemble(
    library: Library,
    store: Store,
    keys: Keys | None,
    *,
    cors: Sequence[str],
    hosts: Sequence[str],
    limits: Limits,
) -> Guard:
    """Return the app; see :func:`askless.serve.create_app`."""
    metrics = Metrics()
    sessions = Sessions(library, store, max_sessions=limits.max_sessions)
    api = Api(library, sessions, metrics, limits)
    tools, running_tools = _make_tools(api)

    @asynccontextmanager
    async def lifespan(app: object) -> AsyncIterator[None]:
        async with running_tools():
            yield
        store.close()

    app = Starlette(
        lifespan=lifespan,
        routes=[
            *api.routes(),
            *Pages(api, keys).routes(),
            *make_fhir_routes(api),
            *make_studio_routes(api),
            *_routes_about(api, has_keys=keys is not None),
            *tools,
            Mount("/static", StaticFiles(directory=STATIC)),
        ],
        middleware=[_let_pages_call(cors)] if cors else [],
        exception_handlers={
            HTTPException: to_page(tell_http_error, "not found"),
            Refused: tell_refused,
            Exception: to_page(tell_failure, "failed"),
        },
    )
    app.state.api = api
    return Guard(app, keys, metrics, limits, embed=cors, hosts=hosts)


def _let_pages_call(origins: Sequence[str]) -> Middleware:
    return Middleware(
        CORSMiddleware,
        allow_origins=list(origins),
        allow_methods=["GET", "POST"],
        allow_headers=["authorization", "content-type", "idempotency-key"],
    )


def _make_tools(
    api: Any,
) -> tuple[list[Any], Callable[[], AbstractAsyncContextManager[None]]]:
    """Return the route of the tools for language models, and what must run for them.

    Nothing, if the extra ``mcp`` is not installed.
    """
    try:
        from mcp.server.transport_security import TransportSecuritySettings

        from askless.serve._mcp import create_mcp
    except ImportError:
        return [], nullcontext
    server = create_mcp(api.asker)
    # The guard has looked at host, key and size.
    security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    routes = server.streamable_http_app(
        stateless_http=True, json_response=True, transport_security=security
    ).routes
    return list(routes), lambda: server.session_manager.run()


def _routes_about(api: Any, *, has_keys: bool) -> list[Any]:
    """Return the routes about the service itself."""

    async def health(request: Request) -> Response:
        return to_response({"status": "alive"})

    async def ready(request: Request) -> Response:
        api.library.refresh()
        is_ready = bool(api.library.names())
        content = {"status": "ready" if is_ready else "no policy"}
        return to_response(content, 200 if is_ready else 503)

    async def numbers(request: Request) -> Response:
        return PlainTextResponse(api.metrics.to_text())

    async def described(request: Request) -> Response:
        about = describe_service(
            version("askless"), has_keys=has_keys, names=api.library.names()[:20]
        )
        return to_response(about)

    return [
        Route("/healthz", health),
        Route("/readyz", ready),
        Route("/metrics", numbers),
        Route("/openapi.json", described),
    ]
