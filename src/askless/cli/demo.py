"""``askless demo``: a tour that solves, interviews and learns, in a few seconds.

Every number is worked out as it is shown. The tour must not know how: it calls what a
user would call.
"""

from __future__ import annotations

import shlex
from pathlib import Path

import click
from rich.panel import Panel
from rich.text import Text

from askless.cli._output import open_console, print_heading, print_line, say
from askless.cli.demos._car import tour_car
from askless.cli.demos._clinic import tour_clinic

__all__ = ["demo_command"]


@click.command("demo", short_help="Take the tour: solve, ask, learn.")
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    help="Where to save the policy; the current folder by default.",
)
def demo_command(folder: Path) -> None:
    """Take the tour: a car that does not start, and patients to learn from."""
    _print_title()
    folder.mkdir(parents=True, exist_ok=True)
    saved = tour_car(folder)
    tour_clinic()
    _print_next(saved)


def _print_title() -> None:
    console = open_console()
    name = Text("Askless: ask less, decide right.", style="bold")
    what = Text("Which test to buy next, when to stop, and what to decide.")
    if console.is_terminal:
        console.print(Panel(Text("\n").join([name, what]), border_style="cyan"))
    else:
        say(name.plain, what.plain)


def _print_next(saved: Path) -> None:
    print_heading("3. Your turn")
    policy = shlex.quote(str(saved))
    for command, what in (
        (f"askless show {policy}", "the flowchart again, from its file"),
        ("askless datasets car -o car.csv", "the table of the car and its costs"),
        (
            "askless solve car.csv --target repair --costs car.costs.toml",
            "solve it yourself; then change a cost, or bring a table of your own",
        ),
        ("askless methods", "what else can be asked of solve"),
    ):
        print_line(f"  {command}", style="bold green")
        print_line(f"      {what}", style="dim")
