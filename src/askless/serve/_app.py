"""Put the service together: policies, sessions, routes, and what guards them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from askless.exceptions import MissingExtraError
from askless.policy import Policy
from askless.serve._guard import Guard
from askless.serve._keys import Keys
from askless.serve._library import Library
from askless.serve._metrics import Metrics
from askless.serve._store import Store

__all__ = ["create_app"]

STATIC = Path(__file__).parent / "static"
MAX_BODY = 8 * 1024 * 1024


def create_app(
    policies: Iterable[str | Path | tuple[str, Policy]],
    *,
    db: str | Path | None = None,
    keys: str | Path | None = None,
    cors: Sequence[str] = (),
    durable: bool = False,
    max_body: int = MAX_BODY,
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
        Origins whose pages may call the service.
    durable : bool, default=False
        Wait for the disk at every step, so that a power cut loses nothing.
    max_body : int, default=8388608
        Bytes that the body of a request may have.

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
        from starlette.applications import Starlette
        from starlette.middleware import Middleware
        from starlette.middleware.cors import CORSMiddleware
        from starlette.requests import Request
        from starlette.responses import PlainTextResponse, Response
        from starlette.routing import Mount, Route
        from starlette.staticfiles import StaticFiles
    except ImportError as error:
        raise MissingExtraError(
            "Serving must have the extra 'serve'. Got an environment without it. "
            "Install it: pip install 'askless[serve]'."
        ) from error
    from askless.serve._api import Api, to_response
    from askless.serve._openapi import describe_service
    from askless.serve._pages import Pages
    from askless.serve._sessions import Sessions

    library, store, metrics = Library(policies), Store(db, durable=durable), Metrics()
    let_in = None if keys is None else Keys.read(keys)
    api = Api(library, Sessions(library, store), metrics)

    async def health(request: Request) -> Response:
        return to_response({"status": "alive"})

    async def ready(request: Request) -> Response:
        library.refresh()
        is_ready = bool(library.names())
        content = {"status": "ready" if is_ready else "no policy"}
        return to_response(content, 200 if is_ready else 503)

    async def numbers(request: Request) -> Response:
        return PlainTextResponse(metrics.to_text())

    async def described(request: Request) -> Response:
        about = describe_service(version("askless"), has_keys=let_in is not None)
        return to_response(about)

    app = Starlette(
        routes=[
            *api.routes(),
            *Pages(api, let_in).routes(),
            Route("/healthz", health),
            Route("/readyz", ready),
            Route("/metrics", numbers),
            Route("/openapi.json", described),
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
    )
    app.state.library, app.state.store, app.state.metrics = library, store, metrics
    return Guard(app, let_in, metrics, max_body=max_body)
