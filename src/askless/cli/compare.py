"""``askless compare``: where two policies differ on the same rows, and what it costs.

It must not know how costs are charged: that is the library's.
"""

from __future__ import annotations

from pathlib import Path

import click

from askless.cli._options import (
    data_argument,
    edited_option,
    json_option,
    target_option,
)
from askless.cli._output import print_json, print_note, say, working
from askless.cli._reading import check_roles, read_data
from askless.evaluate import compare, diagnose
from askless.policy import load
from askless.problem._frames import Columns

__all__ = ["compare_command"]


@click.command("compare", short_help="Compare two policies on the same rows.")
@data_argument("first")
@data_argument("second")
@data_argument("data")
@target_option(required=False)
@edited_option
@json_option
def compare_command(
    first: Path,
    second: Path,
    data: Path,
    target: str | None,
    edited: bool,
    as_json: bool,
) -> None:
    """Compare the policies in the files FIRST and SECOND on the rows of DATA.

    Also says where the rows no longer look like what a policy was made from.
    """
    policies = [load(path, edited=edited) for path in (first, second)]
    with working(f"Comparing {first} and {second} on {data}"):
        columns = read_data(data)
        check_roles(columns, data, target=target)
        truth = None if target is None else columns[target]
        rows = Columns((k, v) for k, v in columns.items() if k != target)
        found = compare(policies[0], policies[1], rows, truth)
        notes = {
            str(path): diagnose(policy, rows)
            for path, policy in zip((first, second), policies, strict=True)
        }
    if as_json:
        print_json({**found.to_dict(), "notes": notes})
        return
    for path, lines in notes.items():
        for line in lines:
            print_note(f"{path}: {line}")
    say(*str(found).split("\n"))
