"""``askless decide``: rows of data in, decisions out, as many rows as there are.

It reads, calls the library and writes, part by part. It must not know how a policy
decides.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO

import click
import numpy as np

from askless.cli._options import (
    FILE,
    data_argument,
    edited_option,
    policy_argument,
    sheet_options,
)
from askless.cli._output import format_number, print_note, say
from askless.cli._working import working
from askless.cli.files._files import open_whole
from askless.cli.files._row_writers import Part, check_output, make_writer
from askless.exceptions import InvalidOptionError, InvalidTableError, suggest_name
from askless.policy import Policy, load
from askless.problem._files import PARQUET, FileColumns, load_batches, read_names
from askless.problem._frames import Columns, list_some
from askless.problem._outcomes import blank_marked, find_marked
from askless.run import decide_rows
from askless.scale import score_batches

__all__ = ["decide_command"]

# Rows that are read, decided and written at a time.
BATCH = 20_000
# What is written of each row, besides its keys.
WRITTEN = ("decision", "cost", "bought", "leaf")


@click.command("decide", short_help="Decide rows of data: decisions, costs, tests.")
@policy_argument
@data_argument("data")
@click.option(
    "-o", "--output", type=FILE, help="Write to this .csv or .parquet; else to stdout."
)
@click.option(
    "--key",
    "keys",
    multiple=True,
    metavar="COLUMN",
    help="A column of DATA to write beside the decision; may be repeated.",
)
@click.option(
    "--no-bought",
    is_flag=True,
    help="Leave out which tests were bought: faster, except for a tree.",
)
@click.option("--unknown", metavar="TEXT", help="A text that is read as an empty cell.")
@sheet_options
@edited_option
def decide_command(
    policy: Path,
    data: Path,
    output: Path | None,
    keys: tuple[str, ...],
    no_bought: bool,
    unknown: str | None,
    edited: bool,
    **written: Any,
) -> None:
    """Decide the rows of DATA (CSV, Parquet, .xlsx or .ods) by the policy in POLICY.

    Of each row: the decision, what it cost, the tests that were bought and, of a tree,
    the leaf. Rows are read and written in parts, so that any number of them will do.
    The output is there whole or not at all.
    """
    check_output(output)
    for key in keys:
        if key in WRITTEN:
            raise click.UsageError(f"--key {key}: the output has such a column.")
    loaded = load(policy, edited=edited)
    n_rows, paid = 0, 0.0
    with working(f"Deciding {data}") as tell, _open(output) as file:
        writer = make_writer(output, file)
        for part, cost in _decide_file(
            loaded, data, keys, not no_bought, unknown=unknown, **written
        ):
            writer.write(part)
            n_rows, paid = n_rows + len(cost), paid + float(cost.sum())
            tell(f"{n_rows:,} rows")
        writer.close()
    if output is not None:
        mean = format_number(paid / n_rows) if n_rows else "nothing"
        say(f"Wrote {output}: {n_rows:,} rows, {mean} a row on average")


def _decide_file(
    policy: Policy,
    data: Path,
    keys: tuple[str, ...],
    with_bought: bool,
    *,
    unknown: str | None,
    **written: Any,
) -> Iterator[tuple[Part, Any]]:
    """Yield what becomes of the rows of a file, part by part, and what they cost."""
    is_parquet = data.suffix.lower() in PARQUET and data.is_file()
    if is_parquet and unknown is None and find_spec("pyarrow") is not None:
        yield from _score_parquet(policy, data, keys, with_bought)
        return
    only = {*policy.columns, *keys}
    batches = load_batches(data, BATCH, unknown=unknown, only=only, **written)
    for number, columns in enumerate(batches):
        if number == 0:
            _check_columns(policy, columns, columns.names, data, keys)
            for note in columns.all_remarks(policy.columns):
                print_note(note)
        yield _decide(policy, columns, keys, unknown, with_bought)


def _score_parquet(
    policy: Policy, data: Path, keys: tuple[str, ...], with_bought: bool
) -> Iterator[tuple[Part, Any]]:
    """Do the same as Arrow, in which no cell becomes a Python object."""
    from pyarrow import compute

    names = read_names(data)
    _check_columns(policy, names, names, data, keys)
    also = ["bought"] if with_bought else []
    also += ["leaf"] if policy.kind == "tree" else []
    n_rows = 0
    try:
        for batch in score_batches(policy, data, keep=keys, also=also):
            part = {name: batch.column(name) for name in batch.schema.names}
            if with_bought:
                part["bought"] = compute.binary_join(part["bought"], "; ")
            yield part, batch.column("cost").to_numpy()
            n_rows += batch.num_rows
    except InvalidTableError as error:
        if error.row is None:
            raise
        where = f"row {n_rows + error.row + 1}"
        raise InvalidTableError(f"{error} It is in {where}.") from error


def _decide(
    policy: Policy,
    columns: FileColumns,
    keys: tuple[str, ...],
    unknown: str | None,
    with_bought: bool,
) -> tuple[Part, Any]:
    rows = Columns(
        (name, blank_marked(columns[name], find_marked(columns[name], unknown), name))
        for name in policy.columns
    )
    if not rows:
        # Nothing is ever asked: as many rows as there are lines.
        rows = Columns({"": np.zeros(columns.n_rows)})
    try:
        found = decide_rows(policy, rows, with_bought=with_bought)
    except InvalidTableError as error:
        if error.row is None:
            raise
        where = columns.where(error.row)
        raise InvalidTableError(f"{error} It is in {where}.") from error
    part: dict[str, Any] = {key: columns[key].tolist() for key in keys}
    part["decision"] = found.decision.tolist()
    part["cost"] = found.cost.tolist()
    if found.bought is not None:
        part["bought"] = ["; ".join(tests) for tests in found.bought]
    if found.leaf is not None:
        part["leaf"] = found.leaf.tolist()
    return part, found.cost


def _check_columns(
    policy: Policy,
    columns: Collection[str],
    names: list[str],
    path: Path,
    keys: tuple[str, ...],
) -> None:
    absent = [name for name in policy.columns if name not in columns]
    if absent:
        hint = suggest_name(absent[0], names)
        raise InvalidTableError(
            f"The rows must have every test that the policy may ask for. Got no column "
            f"{list_some(absent)} in {path}. {hint}Add it; "
            "its cells may be empty."
        )
    for key in keys:
        if key not in columns:
            raise InvalidOptionError(
                f"A key must be a column of the data. Got {key!r}, which is not in "
                f"{path}. {suggest_name(key, names)}Name a column of the file."
            )


@contextmanager
def _open(output: Path | None) -> Iterator[BinaryIO]:
    if output is not None:
        with open_whole(output) as file:
            yield file
        return
    yield sys.stdout.buffer
    sys.stdout.flush()
