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
from askless.cli._options import (
    FILE,
    costs_option,
    data_argument,
    json_option,
    sheet_options,
    target_option,
)
from askless.cli._output import (
    format_number,
    format_share,
    print_json,
    print_note,
    print_table,
    say,
)
from askless.cli._working import verbose_option, working
from askless.cli.files._reading import check_roles, read_data
from askless.evaluate import Frontier, frontier
from askless.exceptions import InvalidTableError
from askless.problem import read_costs
from askless.problem._column import is_missing, is_number
from askless.problem._frames import Columns, take_rows
from askless.problem._roles import find_roles, note_roles

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
@data_argument("data")
@target_option(required=True)
@costs_option()
@click.option(
    "-o", "--output", type=FILE, help="Write a page (.html) or a table (.csv)."
)
@click.option("--csv", "csv_file", type=FILE, help="Write the points as CSV too.")
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
@click.option(
    "--jobs", type=int, metavar="N", help="Fits at once; -1 for one on each core."
)
@click.option(
    "--kept",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep results in this folder: a run that was stopped goes on where it was.",
)
@sheet_options
@verbose_option
@json_option
def frontier_command(
    data: Path,
    target: str,
    costs: Path | None,
    output: Path | None,
    csv_file: Path | None,
    chosen: tuple[str, ...],
    folds: int,
    budgets: int,
    budget: float | None,
    seed: int,
    as_json: bool,
    **others: Any,
) -> None:
    """Measure error against cost on the rows of DATA (CSV or Parquet).

    Models are fitted on the same folds; the page shows every point with its interval.
    """
    _check_output(output)
    notes: list[str] = []
    trees: int = others.pop("trees")
    verbose: bool = others.pop("verbose")
    jobs, kept = others.pop("jobs"), others.pop("kept")
    columns = read_data(data, **others)
    check_roles(columns, data, target=target)
    priced = None if costs is None else read_costs(costs)
    taken = [target, *([] if priced is None else map(str, priced.costs))]
    roles = find_roles(list(columns), prior="", case="", taken=taken)
    for name in roles.drop:
        del columns[name]
    notes += [*columns.all_remarks(list(columns)), *note_roles(roles)]
    classes, rows = _drop_without_class(columns, target, notes)
    prices = None
    if priced is not None:
        prices = fit_costs(priced, list(rows), drop=())
    with working(f"Measuring models on {data}", verbose=verbose) as report:
        models = _make_models(rows, chosen, trees, seed, notes)
        found = frontier(
            models,
            rows,
            classes,
            prices,
            cv=folds,
            budgets=budgets,
            random_state=seed,
            n_jobs=jobs,
            kept=kept,
            callbacks=report,
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
            say(f"Wrote {path}")


def _check_output(output: Path | None) -> None:
    if output is not None and output.suffix.lower() not in (".html", ".htm", ".csv"):
        raise click.UsageError(
            f"-o must end in .html or .csv, not {output.suffix or 'nothing'!r}."
        )


def _drop_without_class(
    columns: Columns, target: str, notes: list[str]
) -> tuple[Any, Columns]:
    """Return the classes and the other columns, without rows of unknown class."""
    values = columns[target].tolist()
    known = np.array([not is_missing(v) for v in values], dtype=bool)
    if not known.all():
        notes.append(f"{(~known).sum()} rows without a class were left out.")
    classes = np.array([v for v, keep in zip(values, known, strict=True) if keep])
    rows: Columns = take_rows(columns, known)
    del rows[target]
    if not rows:
        raise InvalidTableError(
            f"There must be a test beside the target. Got the column {target!r} alone. "
            "Add columns."
        )
    return classes, rows


def _make_models(
    rows: Columns,
    chosen: tuple[str, ...],
    trees: int,
    seed: int,
    notes: list[str],
) -> dict[str, Any]:
    # Only now, so that something is shown before scikit-learn is there.
    from askless.learn import (
        ASTCClassifier,
        BudgetBoostClassifier,
        BudgetForestClassifier,
        CEGBClassifier,
        GreedyTreeClassifier,
        PlainForestClassifier,
    )

    wanted = list(chosen or MODELS)
    if not chosen and find_spec("lightgbm") is None:
        wanted = [name for name in wanted if name not in NEEDS_BOOST]
        notes.append(
            f"{' and '.join(NEEDS_BOOST)} need LightGBM, and were left out: pip "
            "install 'askless[boost]'"
        )
    if not all(map(is_number, rows.values())):
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
        say(
            "",
            f"Within {format_number(budget)}: {best.model} {best.setting}, "
            f"error {format_share(best.error)} at {format_number(best.cost)}.",
        )
    say()
