"""``askless show``: a policy as a picture, as code or as data.

It must not know the formats: they are the library's.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from askless.cli._options import edited_option, policy_argument
from askless.cli._output import flowchart, print_flowchart, say
from askless.cli.files._files import write_whole
from askless.exceptions import DataFileError
from askless.export import FORMATS, options_of, show
from askless.policy import load

__all__ = ["show_command"]


@click.command("show", short_help="Show a policy as a picture, as code or as data.")
@policy_argument
@click.option(
    "--as",
    "format",
    type=click.Choice(sorted(FORMATS)),
    default="text",
    show_default=True,
    help="How to show it.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write to this file instead of stdout.",
)
@click.option("--max-depth", type=int, help="Show only this many levels of tests.")
@click.option(
    "--max-nodes",
    type=int,
    help="Show only this many nodes, those that most cases pass; 10,000 by default, "
    "400 of png and pdf.",
)
@click.option("--max-trees", type=int, help="Show only this many trees of a forest.")
@click.option("--ascii", is_flag=True, help="Draw with plain ASCII characters.")
@click.option("--title", help="What to write above a picture.")
@click.option("--budget", type=float, help="Mark what is beyond this cost.")
@click.option("--tree", type=int, help="Which tree of a forest, from 0.")
@click.option("--dialect", help="The engine that SQL is for: duckdb, sqlite ...")
@click.option("--table", help="The table that SQL reads.")
@click.option("--key", multiple=True, help="A column that SQL keeps; may be repeated.")
@click.option("--module", is_flag=True, help="Write JavaScript as an ES module.")
@edited_option
def show_command(
    policy: Path,
    format: str,
    output: Path | None,
    edited: bool,
    **given: Any,
) -> None:
    """Show the policy in the file POLICY as a picture, as code or as data.

    Pictures are text, svg, png, pdf, html, dot and mermaid; code is rules, python,
    javascript, c and sql; data are json and onnx. A tree has them all but c; a forest
    has html, the pictures of one tree (--tree), code but c, and data; an ensemble has
    text, code but rules, and data.
    """
    options = {name: value for name, value in given.items() if _is_given(value)}
    for name in options:
        _check_option(name, format)
    loaded = load(policy, edited=edited)
    if output is None and format == "text":
        print_flowchart(flowchart(loaded, **options))
        return
    shown = show(loaded, format, **options)
    if output is None:
        _print(shown)
        return
    content = shown if isinstance(shown, bytes) else shown.encode()
    # A policy that was edited by hand may take its own place.
    is_saving = edited and format == "json"
    if output.exists() and output.samefile(policy) and not is_saving:
        raise DataFileError(
            "The output must be another file than the policy. Got the policy itself, "
            f"{output}. Choose another name."
        )
    if isinstance(shown, str) and not content.endswith(b"\n"):
        content += b"\n"
    write_whole({output: content})
    say(f"Wrote {output}")


def _print(shown: str | bytes) -> None:
    """Print what was asked for; in a pipe, to the last byte."""
    if not sys.stdout.isatty():
        # In bytes, whatever the encoding of stdout.
        click.echo(shown if isinstance(shown, bytes) else shown.encode(), nl=False)
    elif isinstance(shown, str):
        say(*shown.removesuffix("\n").split("\n"))
    else:
        raise click.UsageError("This format is not text: write it to a file with -o.")


def _is_given(value: object) -> bool:
    """Return whether an option was given; 0 is a value."""
    return value is not None and value is not False and value != ()


def _check_option(name: str, format: str) -> None:
    if name in options_of(format):
        return
    option = "--" + name.replace("_", "-")
    formats = [other for other in sorted(FORMATS) if name in options_of(other)]
    raise click.UsageError(
        f"{option} is for --as {', '.join(formats)}. Leave it out of {format}."
    )
