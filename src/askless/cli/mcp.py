"""``askless mcp``: policies as tools of a language model, over stdin and stdout.

It opens the policies and starts the server. It must not know what is asked.
"""

from __future__ import annotations

from pathlib import Path

import click

from askless.exceptions import MissingExtraError

__all__ = ["mcp_command"]


@click.command("mcp", short_help="Let a language model ask by policies.")
@click.argument(
    "policies",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, path_type=Path),
    metavar="POLICY...",
)
def mcp_command(policies: tuple[Path, ...]) -> None:
    """Serve policy files, or folders of them, as tools over stdin and stdout.

    For programs that speak the Model Context Protocol. Over HTTP, `askless serve` has
    the same tools at /mcp.
    """
    try:
        from askless.serve._mcp import create_mcp
    except ImportError as error:
        raise MissingExtraError(
            "Tools for language models must have the extra 'mcp'. Got an environment "
            "without it. Install it: pip install 'askless[mcp]'."
        ) from error
    from askless.serve._asker import Asker
    from askless.serve.kept._library import Library

    create_mcp(Asker(Library(policies))).run("stdio")
