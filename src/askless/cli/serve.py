"""``askless serve``: interviews in a browser, and the next test over HTTP.

It opens the policies and starts a server. It must not know what is asked.
"""

from __future__ import annotations

import ipaddress
import logging
from pathlib import Path

import click

from askless._extras import import_extra
from askless.cli._output import say
from askless.serve import create_app, make_key

__all__ = ["serve_command"]

# What this machine is called by itself.
LOCAL = ("localhost", "127.0.0.1", "[::1]")


@click.command("serve", short_help="Ask in a browser, and over HTTP for programs.")
@click.argument(
    "policies",
    nargs=-1,
    type=click.Path(exists=True, path_type=Path),
    metavar="POLICY...",
)
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Address to listen on."
)
@click.option("--port", default=8000, show_default=True, type=click.IntRange(0, 65535))
@click.option(
    "--db",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Keep sessions in this SQLite file; in memory by default.",
)
@click.option(
    "--durable",
    is_flag=True,
    help="Wait for the disk at every step, so that a power cut loses nothing either.",
)
@click.option(
    "--keys",
    type=click.Path(exists=True, path_type=Path, dir_okay=False),
    help="Let in only who has a key of this file. Needed to listen beyond localhost.",
)
@click.option(
    "--cors",
    multiple=True,
    metavar="ORIGIN",
    help="A site whose pages may call, and show interviews in a frame.",
)
@click.option(
    "--known-as",
    multiple=True,
    metavar="HOST",
    help="Another name under which it is asked, if there are no keys.",
)
@click.option("--new-key", is_flag=True, help="Print a new key and its line, and stop.")
def serve_command(
    policies: tuple[Path, ...],
    host: str,
    port: int,
    db: Path | None,
    durable: bool,
    keys: Path | None,
    cors: tuple[str, ...],
    known_as: tuple[str, ...],
    new_key: bool,
) -> None:
    """Serve policy files, or folders of them, until Ctrl-C.

    A folder is looked at again while the service runs: a new file takes the place of
    the old one, and sessions that were begun stay with theirs.
    """
    if new_key:
        key, line = make_key()
        say(f"Key, to be kept secret: {key}", f"Line for the file of keys: {line}")
        return
    if not policies:
        raise click.UsageError("Name a policy file or a folder of them.")
    if keys is None and not _is_local(host):
        raise click.UsageError(
            f"Listening on {host!r} lets others in, so --keys must name a file of "
            "keys. Make one with --new-key, or leave --host out."
        )
    names = () if keys is not None else (*LOCAL, host, *known_as)
    app = create_app(
        policies, db=db, keys=keys, cors=cors, hosts=names, durable=durable
    )
    run_server = import_extra("askless.serve._server", "serve", "Serving").run_server
    logging.getLogger("askless.serve").addHandler(logging.StreamHandler())
    say(f"Askless on http://{host}:{port} (Ctrl-C to stop)", err=True)
    run_server(app, host=host, port=port)


def _is_local(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
