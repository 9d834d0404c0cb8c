"""``askless compare``: where two policies differ on the same rows, and what it costs.

It must not know how costs are charged: that is the library's.
"""

from __future__ import annotations

from pathlib import Path

import click

from askless.cli._output import print_json, print_note, working
from askless.cli._reading import edited_option, json_option
from askless.evaluate import compare, diagnose
from askless.exceptions import InvalidTableError, suggest_name
from askless.policy import load
from askless.problem._files import load_columns

__all__ = ["compare_command"]

policy_file = click.Path(path_type=Path, dir_okay=False)


@click.command("compare", short_help="Compare two policies on the same rows.")
@click.argument("first", type=policy_file)
@click.argument("second", type=policy_file)
@click.argument("data", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--target", metavar="COLUMN", help="The column of true classes.")
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
        columns = load_columns(data)
        if target is not None and target not in columns:
            raise InvalidTableError(
                f"The target must be a column of the data. Got {target!r}, which is "
                f"not in {data}. {suggest_name(target, columns)}Name a column of the "
                "file."
            )
        truth = None if target is None else columns[target]
        rows = {name: column for name, column in columns.items() if name != target}
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
    click.echo(str(found))
