"""Put the service together: policies, sessions, routes, and what guards them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from importlib.metadata import version
from pathlib import Path
from typing import Any

from askless.exceptions import MissingExtraError
from askless.serve._limits import Limits
from askless.serve.kept._library import Library, Source

__all__ = ["create_app"]

STATIC = Path(__file__).parent / "static"


def create_app(
    policies: Iterable[Source],
    *,
    db: str | Path | None = None,
    keys: str | Path | None = None,
    cors: Sequence[str] = (),
    hosts: Sequence[str] = (),
    durable: bool = False,
    limits: Limits | None = None,
) -> Any:
    """Return an ASGI app that asks by policies.

    Parameters
    ----------
    policies : iterable of str, Path or (str, Policy)
        Policy files, folders of them, or policies with a name.
    db : str or Path, optional
        A SQLite file that keeps sessions; in memory by default.
    keys : str or Path, optional
        A file of hashed keys; anyone is let in by default.
    cors : sequence of str
        Origins whose pages may call the service, and show its pages in a frame.
    hosts : sequence of str
        Names under which the service may be asked; any by default. Without keys, name
        them: else a page of anybody can ask a service on the reader's own machine, by
        a name that leads there.
    durable : bool, default=False
        Wait for the disk at every step, so that a power cut loses nothing.
    limits : Limits, optional
        What the service does at most.

    Returns
    -------
    ASGI app
        For uvicorn or any other server.

    Raises
    ------
    MissingExtraError
        If the extra ``serve`` is not installed.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["last bit"])
    >>> app = create_app([("parity", askless.solve(table).policy)])
    """
    try:
        import python_multipart  # noqa: F401 (what reads forms)
        import starlette  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(
            "Serving must have the extra 'serve'. Got an environment without it. "
            "Install it: pip install 'askless[serve]'."
        ) from error
    from askless.serve.kept._store import Store

    store = Store(db, durable=durable)
    library = Library(policies, store if db is not None else None)
    return _assemble(library, store, keys, cors, hosts, limits or Limits())


def _assemble(
    library: Library,
    store: Any,
    keys: str | Path | None,
    cors: Sequence[str],
    hosts: Sequence[str],
    limits: Limits,
) -> Any:
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.middleware import Middleware
    from starlette.middleware.cors import CORSMiddleware
    from starlette.routing import Mount
    from starlette.staticfiles import StaticFiles

    from askless.serve._api import Api
    from askless.serve._fhir_routes import make_fhir_routes
    from askless.serve._guard import Guard, Refused
    from askless.serve._metrics import Metrics
    from askless.serve._respond import tell_failure, tell_http_error, tell_refused
    from askless.serve.kept._keys import Keys
    from askless.serve.kept._sessions import Sessions
    from askless.serve.pages._pages import Pages
    from askless.serve.pages._studio import make_studio_routes

    let_in = None if keys is None else Keys.read(keys)
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
            *Pages(api, let_in).routes(),
            *make_fhir_routes(api),
            *make_studio_routes(api),
            *_routes_about(api, has_keys=let_in is not None),
            *tools,
            Mount("/static", StaticFiles(directory=STATIC)),
        ],
        middleware=[
            Middleware(
                CORSMiddleware,
                allow_origins=list(cors),
                allow_methods=["GET", "POST"],
                allow_headers=["authorization", "content-type", "idempotency-key"],
            )
        ]
        if cors
        else [],
        exception_handlers={
            HTTPException: tell_http_error,
            Refused: tell_refused,
            Exception: tell_failure,
        },
    )
    app.state.api = api
    return Guard(app, let_in, metrics, limits, embed=cors, hosts=hosts)


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
    from starlette.requests import Request
    from starlette.responses import PlainTextResponse, Response
    from starlette.routing import Route

    from askless.serve._openapi import describe_service
    from askless.serve._respond import to_response

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
