"""``askless compare``: where two policies differ on the same rows, and what it costs.

It must not know how costs are charged: that is the library's.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from askless.cli._options import (
    data_argument,
    edited_option,
    json_option,
    target_option,
)
from askless.cli._output import print_json, print_note, say
from askless.cli._working import working
from askless.cli.files._rows import read_priced_rows, row_options
from askless.evaluate import compare, diagnose
from askless.policy import load

__all__ = ["compare_command"]


@click.command("compare", short_help="Compare two policies on the same rows.")
@data_argument("first")
@data_argument("second")
@data_argument("data")
@target_option(required=False)
@row_options
@edited_option
@json_option
def compare_command(
    first: Path,
    second: Path,
    data: Path,
    target: str | None,
    edited: bool,
    as_json: bool,
    **reading: Any,
) -> None:
    """Compare the policies in the files FIRST and SECOND on the rows of DATA.

    Also says where the rows no longer look like what a policy was made from.
    """
    remarks: list[str] = []
    policies = [load(path, edited=edited) for path in (first, second)]
    with working(f"Comparing {first} and {second} on {data}"):
        rows = read_priced_rows(data, policies, remarks, target=target, **reading)
        found = compare(
            policies[0],
            policies[1],
            rows.data,
            rows.classes,
            sample_weight=rows.weights,
            costs=rows.costs,
        )
        remarks += found.notes
        if rows.costs is None and found.notes:
            remarks.append("--costs prices both as a file says.")
        notes = {
            str(path): diagnose(policy, rows.columns, sample_weight=rows.weights)
            for path, policy in zip((first, second), policies, strict=True)
        }
    if as_json:
        print_json({**found.to_dict(), "notes": notes, "remarks": remarks})
        return
    for remark in remarks:
        print_note(remark)
    for path, lines in notes.items():
        for line in lines:
            print_note(f"{path}: {line}")
    say(*str(found).split("\n"))
