"""What commands that price policies on rows share: weights, empty cells, new prices.

This module must not know what is done with the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from askless.cli._options import FILE, sheet_options
from askless.cli.files._reading import check_roles, read_data, read_weights
from askless.policy import Policy
from askless.problem import Costs, Table, read_costs
from askless.problem._column import is_missing
from askless.problem._frames import Columns
from askless.problem._roles import find_roles, note_roles

__all__ = ["PricedRows", "read_priced_rows", "row_options"]

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

OPTIONS: tuple[Decorator, ...] = (
    click.option(
        "--prior",
        metavar="COLUMN",
        help="The column of weights of the rows; 'prior' if there is one.",
    ),
    click.option(
        "--missing",
        type=click.Choice(["outcome", "unknown"]),
        default="outcome",
        show_default=True,
        help="Whether an empty cell is an outcome of its own, or can be any outcome "
        "that its column shows: then all of them are followed.",
    ),
    click.option(
        "--unknown", metavar="TEXT", help="A text that is read as an empty cell."
    ),
    click.option(
        "--costs",
        type=FILE,
        help="What tests cost now, instead of what the policy says: CSV with the "
        "columns test,cost, or TOML.",
    ),
)


def row_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for rows, their weights and their prices to a command."""
    command = sheet_options(command)
    for option in reversed(OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True)
class PricedRows:
    """Rows of a file, ready to be decided and priced.

    Attributes
    ----------
    data : Table or Columns
        A table, if empty cells can be any outcome.
    classes, weights : column or None
        Not of a table, which has its own.
    columns : Columns
        All columns of the file.
    prior : str or None
        The column of weights.
    costs : Costs or None
        What the tests cost now.
    """

    data: Any
    classes: Any
    weights: Any
    columns: Columns
    prior: str | None
    costs: Costs | None


def read_priced_rows(
    path: Path,
    policies: Collection[Policy],
    notes: list[str],
    *,
    target: str | None,
    prior: str | None,
    missing: str,
    unknown: str | None,
    costs: Path | None,
    **written: str | None,
) -> PricedRows:
    """Read rows for some policies; notes get what was found out or may surprise."""
    tests = list(dict.fromkeys(name for p in policies for name in p.test_names))
    columns = read_data(path, unknown, **written)
    roles = find_roles(
        list(columns), prior=prior, case="", drop=(), taken=[str(target), *tests]
    )
    asked = [name for p in policies for name in p.columns]
    notes += [*columns.all_remarks(list(dict.fromkeys(asked))), *note_roles(roles)]
    prior = roles.prior
    check_roles(columns, path, target=target, prior=prior)
    weights = read_weights(columns, prior, path)
    rows = Columns((k, v) for k, v in columns.items() if k not in (target, prior))
    prices = None if costs is None else read_costs(costs)
    if missing == "unknown":
        if target is None:
            raise click.UsageError("--missing unknown needs --target.")
        known = Columns((k, rows[k]) for k in tests if k in rows)
        table = Table(known, columns[target], prior=weights)
        return PricedRows(table, None, None, columns, prior, prices)
    n_empty = sum(_count_empty(rows[name]) for name in tests if name in rows)
    if n_empty:
        notes.append(
            f"{n_empty} empty cells were taken for missing outcomes. With --missing "
            "unknown, every outcome that they may be is followed."
        )
    truth = None if target is None else columns[target]
    return PricedRows(rows, truth, weights, columns, prior, prices)


def _count_empty(column: Any) -> int:
    return sum(map(is_missing, column.tolist()))
