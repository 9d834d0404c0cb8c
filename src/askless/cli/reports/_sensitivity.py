"""Options of ``askless solve`` that say what a solution hangs on, and what they print.

This module must not know how a table is solved.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from askless.cli._output import say
from askless.cli.files._files import write_whole
from askless.solve import Sensitivity, Solution

__all__ = [
    "find_sensitivity",
    "print_sensitivity",
    "sensitivity_options",
    "write_tornado",
]

PICTURES = (".png", ".svg", ".pdf")
# Options of solve that say how the table is solved again.
AGAIN = ("method", "budget")


def sensitivity_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for a sensitivity analysis to a command."""
    add_picture = click.option(
        "--tornado",
        type=click.Path(path_type=Path, dir_okay=False),
        callback=_check_picture,
        help="Draw what the solution hangs on to this file: .png, .svg or .pdf.",
    )
    add_flag = click.option(
        "--sensitivity",
        is_flag=True,
        help="Say which prices, priors and probabilities the solution hangs on, and "
        "how far they may move.",
    )
    return add_flag(add_picture(command))


def _check_picture(
    ctx: click.Context, param: click.Parameter, path: Path | None
) -> Path | None:
    if path is not None and path.suffix.lower() not in PICTURES:
        raise click.BadParameter(
            f"{path} must end in one of {', '.join(PICTURES)}.", ctx, param
        )
    return path


def find_sensitivity(
    solution: Solution, how: dict[str, Any], options: dict[str, Any]
) -> Sensitivity:
    """Return what a solution hangs on, solving again as it was solved.

    Parameters
    ----------
    solution : Solution
    how : dict
        The arguments of ``solve``.
    options : dict
        The options of the method.
    """
    again = {name: how[name] for name in AGAIN if name in how}
    if "time_limit" in how:
        again["time_limit"] = how["time_limit"]
    return solution.sensitivity(**again, **options)


def print_sensitivity(
    found: Sensitivity, *, is_printed: bool, path: Path | None
) -> None:
    """Print the rows if asked to, and write the picture if there is a path for it."""
    if is_printed:
        say("", *str(found).splitlines())
    if path is not None:
        write_tornado(found, path)
        say("", f"Wrote {path}")


def write_tornado(found: Sensitivity, path: Path) -> None:
    """Write the picture, whole or not at all."""
    picture = io.BytesIO()
    figure = found.plot().figure
    figure.savefig(picture, format=path.suffix.lower().lstrip("."), dpi=150)
    write_whole({path: picture.getvalue()})
