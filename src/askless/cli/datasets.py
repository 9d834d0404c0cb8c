"""``askless datasets``: list the data sets, and write one as files to work on.

It writes what the library holds. It must not know what is in a data set.
"""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import numpy as np

from askless.cli._options import json_option
from askless.cli._output import (
    print_facts,
    print_heading,
    print_json,
    print_paragraph,
    print_table,
    say,
)
from askless.cli._working import working
from askless.cli.files._costs_toml import costs_to_toml
from askless.cli.files._files import write_whole
from askless.datasets import DatasetInfo, Examples, list_datasets, load_dataset
from askless.exceptions import DataFileError
from askless.problem import Table
from askless.problem._column import is_missing

__all__ = ["datasets_command", "to_files"]

# What a class is called in the file of a set; "class" elsewhere.
TARGETS = {"car": "repair", "clinic": "illness", "questions": "thing"}


@click.command("datasets", short_help="List data sets, or write one to files.")
@click.argument("name", required=False)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the set to this CSV file, and its costs to a TOML file beside it.",
)
@click.option("--force", is_flag=True, help="Write over files that are there.")
@click.option(
    "--download",
    is_flag=True,
    help="Fetch a public set that is not here, if scikit-learn can.",
)
@json_option
def datasets_command(
    name: str | None,
    output: Path | None,
    force: bool,
    download: bool,
    as_json: bool,
) -> None:
    """List the data sets, or write the set NAME as a CSV file with its costs.

    Public sets are read from the folder that ASKLESS_DATA names.
    """
    if output is not None and name is None:
        raise click.UsageError("-o needs the NAME of a data set.")
    if output is not None and output.suffix != ".csv":
        raise click.BadParameter(
            f"{str(output)!r} does not end in .csv.", param_hint="'-o'"
        )
    if name is None:
        _list(as_json)
    elif output is None:
        _print_one(name, as_json)
    else:
        _write(name, output, force=force, download=download, as_json=as_json)


def _list(as_json: bool) -> None:
    infos = list_datasets()
    if as_json:
        print_json({"datasets": [asdict(info) for info in infos]})
        return
    here = [info for info in infos if info.available]
    _print_sets("Tables to solve", [i for i in here if i.kind == "table"])
    _print_sets("Examples to learn from", [i for i in here if i.kind != "table"])
    absent = [info.name for info in infos if not info.available]
    if absent:
        print_heading("Public sets that are not here")
        print_paragraph(", ".join(absent))
        say()
        print_paragraph(
            "They are read from the folder that the environment variable ASKLESS_DATA "
            "names, a file NAME.csv.gz for each. Some can be fetched: askless datasets "
            "NAME -o FILE.csv --download."
        )
    say("", "To write one to files: askless datasets NAME -o FILE.csv")


def _print_sets(title: str, infos: list[DatasetInfo]) -> None:
    print_heading(title)
    sizes = ["cases", "tests", "classes"]
    rows = [
        [i.name, f"{i.n_cases:,}", f"{i.n_tests:,}", f"{i.n_classes:,}", i.description]
        for i in infos
    ]
    print_table(["name", *sizes, "about"], rows, numbers=sizes)


def _print_one(name: str, as_json: bool) -> None:
    found = [info for info in list_datasets() if info.name == name]
    if not found:
        # Raises the error of the library, or finds a file of this name.
        load_dataset(name)
    facts = asdict(found[0]) if found else {"name": name, "kind": "public"}
    if as_json:
        print_json(facts)
        return
    print_facts([(key.replace("n_", ""), str(value)) for key, value in facts.items()])
    say("", f"To work on it: askless datasets {name} -o {name}.csv")


def _write(
    name: str, output: Path, *, force: bool, download: bool, as_json: bool
) -> None:
    with working(f"Loading {name}"):
        data = load_dataset(name, download=download)
    target = _free_name(TARGETS.get(name, "class"), data.test_names)
    costs_path = output.with_suffix(".costs.toml")
    table_text, costs_text = to_files(data, target)
    contents = {output: table_text, costs_path: costs_text}
    if not force:
        _check_free(contents)
    write_whole(contents)
    command = ["askless", "solve", str(output), "--target", target]
    command += ["--costs", str(costs_path)]
    if isinstance(data, Examples):
        command += ["--missing", "outcome", "--thresholds"]
    if as_json:
        files = {"table": str(output), "costs": str(costs_path), "target": target}
        print_json({**files, "next": shlex.join(command)})
        return
    say(f"Wrote {output} and {costs_path}", "", f"Next: {shlex.join(command)}")


def _check_free(contents: Mapping[Path, str]) -> None:
    for path, text in contents.items():
        if path.exists() and path.read_bytes() != text.encode():
            raise DataFileError(
                f"A data set must be written to new files. Got {path}, which is there "
                "and holds something else. Choose another name, or pass --force."
            )


def to_files(data: Table | Examples, target: str) -> tuple[str, str]:
    """Return a data set as the content of a CSV file and of a TOML file of costs.

    Names of cases go into a column ``case`` and weights into ``prior``, unless they say
    nothing: numbered names, names that are the classes, equal weights. An unknown
    outcome is an empty cell.

    Examples
    --------
    >>> outcomes = {"lamp": ["on", "off"], "ohms": [None, 1]}
    >>> print(to_files(Table(outcomes, ["fuse", "bulb"]), "cause")[0])
    lamp,ohms,cause
    on,,fuse
    off,1,bulb
    <BLANKLINE>
    """
    columns: dict[str, list[Any]]
    if isinstance(data, Table):
        columns = _table_columns(data, target)
    else:
        columns = {name: column.tolist() for name, column in data.columns.items()}
        columns[target] = data.y.tolist()
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    for row in zip(*columns.values(), strict=True):
        writer.writerow([_cell(value) for value in row])
    return file.getvalue(), costs_to_toml(data.costs, list(data.test_names))


def _table_columns(table: Table, target: str) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {}
    classes = table.case_classes
    numbered = [f"case {i}" for i in range(table.n_cases)]
    if list(table.cases) not in (numbered, [str(one) for one in classes]):
        columns[_free_name("case", table.test_names)] = list(table.cases)
    columns |= table.rows()
    if not np.all(table.prior == table.prior[0]):
        columns[_free_name("prior", table.test_names)] = table.prior.tolist()
    columns[target] = list(classes)
    return columns


def _cell(value: Any) -> str:
    return "" if is_missing(value) else str(value)


def _free_name(name: str, taken: tuple[str, ...]) -> str:
    while name in taken:
        name += "_"
    return name
