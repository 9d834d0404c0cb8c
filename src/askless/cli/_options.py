"""Options that several commands share, and what the values of free options stand for.

This module must not know what a command does with them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

__all__ = [
    "FILE",
    "costs_option",
    "data_argument",
    "drop_option",
    "edited_option",
    "free_options",
    "json_option",
    "mistakes_option",
    "output_option",
    "parse_value",
    "policy_argument",
    "quiet_option",
    "sheet_options",
    "target_option",
]

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

FILE = click.Path(path_type=Path, dir_okay=False)


def data_argument(name: str) -> Decorator:
    """Return the argument for a file that is read."""
    return click.argument(name, type=FILE)


policy_argument = data_argument("policy")
edited_option: Decorator = click.option(
    "--edited",
    is_flag=True,
    help="Accept a policy file that was edited by hand; sums are worked out again.",
)
json_option: Decorator = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object and nothing else."
)
quiet_option: Decorator = click.option(
    "--quiet", "-q", is_flag=True, help="Leave out the flowchart."
)
output_option: Decorator = click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Write the policy to this file.",
)
drop_option: Decorator = click.option(
    "--drop",
    multiple=True,
    metavar="COLUMN",
    callback=lambda ctx, param, given: _list_dropped(given),
    help="A column that is no test; 'notes', 'remarks' and 'comments' by default.",
)


def _list_dropped(given: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the columns to drop; None if nothing was said, none for an empty text."""
    return tuple(name for name in given if name) if given else None


def target_option(*, required: bool) -> Decorator:
    """Return the option for the column of classes."""
    what = "classes" if required else "true classes"
    return click.option(
        "--target", required=required, metavar="COLUMN", help=f"The column of {what}."
    )


def costs_option(more: str = "") -> Decorator:
    """Return the option for a file of costs, with what else it may say."""
    return click.option(
        "--costs",
        type=FILE,
        help=f"What tests cost: CSV with the columns test,cost, or TOML{more}. 1 each "
        "by default.",
    )


def mistakes_option(more: str = "") -> Decorator:
    """Return the option for what a wrong decision costs."""
    return click.option(
        "--mistakes",
        metavar="COST",
        help=f"What a wrong decision costs{more}: a number, or a matrix by true class "
        "and decision, [[0, 5], [9, 0]].",
    )


_separator: Decorator = click.option(
    "--separator",
    metavar="SIGN",
    help="What stands between the cells of a CSV file: ',', ';', tab ...; found out by "
    "default.",
)
_decimal: Decorator = click.option(
    "--decimal",
    type=click.Choice([".", ","]),
    help="What fractions begin with in a CSV file; found out by default.",
)


def sheet_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say how a CSV file is written to a command."""
    return _separator(_decimal(command))


def free_options(text: str) -> Decorator:
    """Return the option for parameters that the library knows and the command not."""
    return click.option(
        "--option",
        "options",
        multiple=True,
        callback=_parse_options,
        metavar="NAME=VALUE",
        help=text,
    )


def _parse_options(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> dict[str, Any]:
    """Return free options by name."""
    options: dict[str, Any] = {}
    for value in values:
        name, sign, text = value.partition("=")
        if not sign or not name.strip():
            raise click.BadParameter(
                f"{value!r} is not of the form NAME=VALUE.", ctx, param
            )
        options[name.strip().replace("-", "_")] = parse_value(text.strip())
    return options


def parse_value(text: str) -> Any:
    """Return what a text stands for: a number, a truth value, None, a list, or itself.

    Examples
    --------
    >>> [parse_value(text) for text in ("3", "0.5", "true", "none", "[1, 2]", "prior")]
    [3, 0.5, True, None, [1, 2], 'prior']
    """
    words = {"true": True, "yes": True, "false": False, "no": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float, _parse_list):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _parse_list(text: str) -> list[Any]:
    if not text.startswith("["):
        raise ValueError(text)
    items: list[Any] = json.loads(text)
    return items
