"""The service as an ASGI app. It needs no extra before it is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from askless.exceptions import MissingExtraError
from askless.serve._limits import Limits
from askless.serve.kept._library import Library, Source

__all__ = ["create_app"]


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
    from askless.serve._assemble import assemble
    from askless.serve.kept._keys import Keys
    from askless.serve.kept._store import Store

    let_in = None if keys is None else Keys.read(keys)
    store = Store(db, durable=durable)
    library = Library(policies, store if db is not None else None)
    return assemble(
        library, store, let_in, cors=cors, hosts=hosts, limits=limits or Limits()
    )
