"""``askless show``: a policy as text or JSON.

It must not know the formats: they are the library's.
"""

from __future__ import annotations

from pathlib import Path

import click

from askless.cli._files import write_whole
from askless.cli._output import flowchart, print_flowchart
from askless.cli._reading import edited_option, policy_argument
from askless.exceptions import DataFileError
from askless.export import FORMATS, show
from askless.policy import Policy, load

__all__ = ["show_command"]


@click.command("show", short_help="Show a policy as a flowchart or as JSON.")
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
@click.option("--max-depth", type=int, help="Text: show only so many levels of tests.")
@click.option("--ascii", is_flag=True, help="Text: draw with plain ASCII characters.")
@edited_option
def show_command(
    policy: Path,
    format: str,
    output: Path | None,
    max_depth: int | None,
    ascii: bool,
    edited: bool,
) -> None:
    """Show the policy in the file POLICY as a flowchart or in another format."""
    if format != "text" and (max_depth is not None or ascii):
        given = "--ascii" if ascii else "--max-depth"
        raise click.UsageError(f"{given} is for --as text. Leave it out of {format}.")
    loaded = load(policy, edited=edited)
    if output is not None:
        _write(loaded, policy, output, format, max_depth, ascii)
    elif format == "text":
        print_flowchart(flowchart(loaded, max_depth=max_depth, ascii=ascii))
    else:
        # In the bytes of its file, whatever the encoding of stdout.
        click.echo(show(loaded, format).encode(), nl=False)


def _write(
    policy: Policy,
    source: Path,
    output: Path,
    format: str,
    max_depth: int | None,
    ascii: bool,
) -> None:
    if output.exists() and output.samefile(source):
        raise DataFileError(
            "The output must be another file than the policy. Got the policy itself, "
            f"{output}. Choose another name."
        )
    options = {"max_depth": max_depth, "ascii": ascii} if format == "text" else {}
    text = show(policy, format, **options)
    write_whole({output: text if text.endswith("\n") else f"{text}\n"})
    click.echo(f"Wrote {output}")
