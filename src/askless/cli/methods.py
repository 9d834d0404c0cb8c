"""``askless methods``: the ways to solve a table, and what is proved about them.

It prints the registry. It must not know any method.
"""

from __future__ import annotations

import click

from askless.cli._output import print_heading, print_json, print_paragraph, print_table
from askless.cli._reading import json_option
from askless.solve import METHODS, Method

__all__ = ["methods_command"]


@click.command("methods", short_help="List the methods of solve.")
@json_option
def methods_command(as_json: bool) -> None:
    """List the methods of solve, with their guarantees and options."""
    if as_json:
        print_json({"methods": [_describe(method) for method in METHODS.values()]})
        return
    for method in METHODS.values():
        print_heading(method.name)
        print_paragraph(method.summary)
        print_paragraph(f"Guarantee: {method.guarantee}")
        if method.options:
            click.echo()
            print_table(["option", "meaning"], method.options.items(), indent=2)
    click.echo("\nOptions are given as: askless solve ... --option NAME=VALUE")


def _describe(method: Method) -> dict[str, object]:
    return {
        "name": method.name,
        "summary": method.summary,
        "guarantee": method.guarantee,
        "options": dict(method.options),
    }
