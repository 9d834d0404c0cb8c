"""``askless frontier``: error against cost for several models, as a page and as CSV.

It reads, calls the library and reports. It must not know how models are measured.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
import numpy as np

from askless.cli._fit_costs import fit_costs
from askless.cli._output import (
    format_number,
    format_share,
    print_json,
    print_note,
    print_table,
    working,
)
from askless.cli._reading import json_option
from askless.evaluate import Frontier, frontier
from askless.exceptions import InvalidTableError, suggest_name
from askless.learn import (
    ASTCClassifier,
    BudgetBoostClassifier,
    BudgetForestClassifier,
    CEGBClassifier,
    GreedyTreeClassifier,
    PlainForestClassifier,
)
from askless.problem import read_costs
from askless.problem._files import load_columns

__all__ = ["frontier_command"]

# The models that can be compared, each with the knob that its curve turns.
MODELS = {
    "boost": "boosters that buy feature by feature, by budget",
    "cegb": "cost-efficient boosting as it comes, by trade-off",
    "forest": "budgeted forest, by budget",
    "tree": "greedy tree, by depth",
    "plain-forest": "scikit-learn's random forest, by number of trees",
    "astc": "tree of linear models, by budget and depth",
}
# What needs LightGBM.
NEEDS_BOOST = ("boost", "cegb")
# What takes numbers only.
NUMBERS_ONLY = ("plain-forest", "astc")


@click.command("frontier", short_help="Compare models: error against cost, as a page.")
@click.argument("data", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--target", metavar="COLUMN", required=True, help="The column of classes."
)
@click.option(
    "--costs",
    "cost_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="What tests cost (CSV or TOML); 1 each without it.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write a page (.html) or a table (.csv).",
)
@click.option(
    "--csv",
    "csv_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the points as CSV too.",
)
@click.option(
    "--model",
    "chosen",
    multiple=True,
    type=click.Choice(list(MODELS)),
    help="A model to compare; repeat it for several. All that can read the data by "
    "default.",
)
@click.option("--folds", type=int, default=5, show_default=True, help="How many folds.")
@click.option(
    "--budgets", type=int, default=8, show_default=True, help="How many budgets."
)
@click.option(
    "--trees", type=int, default=20, show_default=True, help="The most trees."
)
@click.option("--budget", type=float, help="Name the best model within this mean cost.")
@click.option("--seed", type=int, default=0, show_default=True, help="Random seed.")
@json_option
def frontier_command(
    data: Path,
    target: str,
    cost_file: Path | None,
    output: Path | None,
    csv_file: Path | None,
    chosen: tuple[str, ...],
    folds: int,
    budgets: int,
    trees: int,
    budget: float | None,
    seed: int,
    as_json: bool,
) -> None:
    """Measure error against cost on the rows of DATA (CSV or Parquet).

    Models are fitted on the same folds; the page shows every point with its interval.
    """
    _check_output(output)
    notes: list[str] = []
    columns = load_columns(data)
    if target not in columns:
        raise InvalidTableError(
            f"The target must be a column of the data. Got {target!r}, which is not in "
            f"{data}. {suggest_name(target, columns)}Name a column of the file."
        )
    labels, rows = _drop_unlabelled(columns, target, notes)
    costs = None
    if cost_file is not None:
        costs = fit_costs(read_costs(cost_file), list(rows), drop=())
    models = _make_models(rows, chosen, trees, seed, notes)
    with working(f"Measuring models on {data}") as report:
        found = frontier(
            models,
            rows,
            labels,
            costs,
            cv=folds,
            budgets=budgets,
            random_state=seed,
            on_progress=report,
        )
    _write(found, output, csv_file, f"{data.name}: error against cost")
    if as_json:
        best = None if budget is None else found.best(budget)._asdict()
        print_json({"points": found.to_dicts(), "best": best, "notes": notes})
        return
    for note in notes:
        print_note(note)
    _print(found, budget)
    for path in (output, csv_file):
        if path is not None:
            click.echo(f"Wrote {path}")


def _check_output(output: Path | None) -> None:
    if output is not None and output.suffix.lower() not in (".html", ".htm", ".csv"):
        raise click.UsageError(
            f"-o must end in .html or .csv, not {output.suffix or 'nothing'!r}."
        )


def _drop_unlabelled(
    columns: dict[str, Any], target: str, notes: list[str]
) -> tuple[Any, dict[str, Any]]:
    """Return the classes and the other columns, without rows of unknown class."""
    labels = columns[target]
    values = labels.tolist()
    known = np.array([v is not None and v == v for v in values], dtype=bool)
    if not known.all():
        notes.append(f"{(~known).sum()} rows without a class were left out.")
    labels = np.array([v for v, keep in zip(values, known, strict=True) if keep])
    rows = {k: v[known] for k, v in columns.items() if k != target}
    if not rows:
        raise InvalidTableError(
            f"There must be a test beside the target. Got the column {target!r} alone. "
            "Add columns."
        )
    return labels, rows


def _is_numeric(rows: dict[str, Any]) -> bool:
    return all(column.dtype.kind in "iuf" for column in rows.values())


def _make_models(
    rows: dict[str, Any],
    chosen: tuple[str, ...],
    trees: int,
    seed: int,
    notes: list[str],
) -> dict[str, Any]:
    wanted = list(chosen or MODELS)
    if not chosen and find_spec("lightgbm") is None:
        wanted = [name for name in wanted if name not in NEEDS_BOOST]
        notes.append(
            f"{' and '.join(NEEDS_BOOST)} need LightGBM, and were left out: pip "
            "install 'askless[boost]'"
        )
    if not _is_numeric(rows):
        left_out = [name for name in wanted if name in NUMBERS_ONLY]
        wanted = [name for name in wanted if name not in NUMBERS_ONLY]
        if left_out:
            notes.append(
                f"{' and '.join(left_out)} read numbers only, and were left out."
            )
        if not wanted:
            raise click.UsageError("None of these models reads columns of text.")
    counts = [n for n in (1, 2, 5, 10, 20, 40, 80) if n < trees] + [trees]
    models: dict[str, Any] = {
        "boost": BudgetBoostClassifier(random_state=seed),
        "cegb": [
            CEGBClassifier(tradeoff=t, random_state=seed)
            for t in (0.0, 0.003, 0.01, 0.03, 0.1, 0.3)
        ],
        "forest": BudgetForestClassifier(n_estimators=trees, random_state=seed),
        "tree": [GreedyTreeClassifier(max_depth=d) for d in (1, 2, 3, 4, 6, 8)],
        "plain-forest": [
            PlainForestClassifier(n_estimators=n, random_state=seed) for n in counts
        ],
        "astc": [
            ASTCClassifier(node_budget=b, max_depth=d)
            for b, d in ((1, 0), (2, 1), (4, 1), (4, 2), (8, 2))
        ],
    }
    return {MODELS[name]: models[name] for name in wanted}


def _write(
    found: Frontier, output: Path | None, csv_file: Path | None, title: str
) -> None:
    if output is not None and output.suffix.lower() == ".csv":
        found.to_csv(output)
    elif output is not None:
        found.to_html(output, title=title)
    if csv_file is not None:
        found.to_csv(csv_file)


def _print(found: Frontier, budget: float | None) -> None:
    on_hull = set(found.hull())
    print_table(
        ["model", "setting", "mean cost", "error", "interval", ""],
        [
            [
                point.model,
                point.setting,
                format_number(point.cost),
                format_share(point.error),
                f"{format_share(point.error_low)} to {format_share(point.error_high)}",
                "hull" if point in on_hull else "",
            ]
            for points in found.curves().values()
            for point in points
        ],
        numbers=["mean cost", "error", "interval"],
    )
    if budget is not None:
        best = found.best(budget)
        click.echo(
            f"\nWithin {format_number(budget)}: {best.model} {best.setting}, "
            f"error {format_share(best.error)} at {format_number(best.cost)}."
        )
    click.echo()
