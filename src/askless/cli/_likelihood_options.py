"""Options that say how a table of tests that can err is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from askless.cli._options import FILE

__all__ = ["likelihood_options"]


def likelihood_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of tables of likelihoods to a command."""
    for add in reversed(_OPTIONS):
        command = add(command)
    return command


def _parse_repeats(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> dict[str, int]:
    """Return how often each test can be run."""
    times: dict[str, int] = {}
    for value in values:
        name, sign, number = value.rpartition("=")
        if not sign or not name.strip() or not number.strip().isdecimal():
            raise click.BadParameter(
                f"{value!r} is not of the form TEST=TIMES, such as swab=2.", ctx, param
            )
        times[name.strip()] = int(number)
    return times


_OPTIONS = (
    click.option(
        "--likelihoods",
        type=click.Choice(["long", "wide", "accuracy"]),
        help="Cells are probabilities: a line for each outcome (known by its columns), "
        "a column for each test, or sensitivity and specificity.",
    ),
    click.option(
        "--cases", type=FILE, help="Of likelihoods: CSV with case[,prior][,class]."
    ),
    click.option(
        "--legend",
        type=FILE,
        help="Of likelihoods: TOML with a probability for each word, as often = 0.7.",
    ),
    click.option(
        "--repeatable",
        multiple=True,
        callback=_parse_repeats,
        metavar="TEST=TIMES",
        help="Of likelihoods: a test that can be run so often, with fresh noise.",
    ),
)
