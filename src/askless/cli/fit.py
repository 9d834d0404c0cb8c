"""``askless fit``: from examples in a file to a policy in a file.

It reads, calls a learner and reports. It must not know how any learner works.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from askless.cli._fit_costs import fit_costs
from askless.cli._options import (
    costs_option,
    data_argument,
    drop_option,
    free_options,
    json_option,
    mistakes_option,
    output_option,
    parse_value,
    quiet_option,
    sheet_options,
    target_option,
)
from askless.cli._output import format_number, print_json, print_note, working
from askless.cli.files._files import check_policy_path
from askless.cli.files._reading import (
    check_roles,
    collect_notes,
    read_data,
    read_weights,
)
from askless.cli.reports._fit import Fit, describe_fit, print_fit
from askless.evaluate import evaluate
from askless.exceptions import (
    AsklessError,
    InvalidOptionError,
    InvalidTableError,
    UnknownNameError,
    suggest_name,
)
from askless.learn import LEARNERS, Learner, Stage
from askless.problem import Costs, read_costs
from askless.problem._column import is_missing
from askless.problem._files import FileColumns
from askless.problem._roles import find_roles, note_roles

__all__ = ["fit_command"]

Columns = dict[str, Any]

# The options that say how the file is read; the others are the learner's.
HOW_TO_READ = ("unknown", "separator", "decimal")


@click.command("fit", short_help="Learn a policy from examples.")
@data_argument("data")
@target_option(required=True)
@costs_option(", which may say what mistakes cost as well")
@mistakes_option()
@output_option
@click.option(
    "--method",
    default="cost-tree",
    show_default=True,
    metavar="NAME",
    help="A learner; see `askless methods`.",
)
@click.option(
    "--prior", metavar="COLUMN", help="The column of weights; 'prior' if there is one."
)
@drop_option
@click.option(
    "--time-limit",
    type=float,
    metavar="SECONDS",
    help="When to stop, with the best policy so far.",
)
@click.option("--jobs", type=int, metavar="N", help="Threads; -1 for one on each core.")
@click.option("--unknown", metavar="TEXT", help="A text that is read as an empty cell.")
@sheet_options
@free_options("A parameter of the learner.")
@json_option
@quiet_option
def fit_command(
    data: Path,
    target: str,
    costs: Path | None,
    output: Path | None,
    method: str,
    prior: str | None,
    drop: tuple[str, ...] | None,
    as_json: bool,
    quiet: bool,
    **settings: Any,
) -> None:
    """Learn a policy from the examples in DATA (CSV, Parquet, .xlsx or .ods).

    A row is an example, a column is a test. Ctrl-C ends an anytime learner with the
    best policy so far, which is written as usual.
    """
    if output is not None:
        check_policy_path(output)
    learner = _find(method)
    notes: list[str] = []
    with working(f"Learning from {data}") as tell:
        reading = {name: settings.pop(name) for name in HOW_TO_READ}
        columns = read_data(data, **reading)
        prices = None if costs is None else read_costs(costs)
        taken = [target, *([] if prices is None else map(str, prices.costs))]
        roles = find_roles(list(columns), prior=prior, case="", drop=drop, taken=taken)
        drop = roles.drop
        tests = [n for n in columns if n not in (*drop, roles.prior)]
        notes += [*columns.all_remarks(tests), *note_roles(roles)]
        y, weights = _take_roles(columns, data, target, roles.prior, drop)
        if prices is not None:
            prices = fit_costs(prices, [*columns, *drop], drop)
        estimator = _make(learner, prices, **settings)
        listen(estimator, tell, settings["time_limit"])
        model = _fit(estimator, columns, y, weights, notes)
        result = evaluate(model.policy_, columns, y, sample_weight=weights)
    if output is not None:
        model.policy_.save(output)
    fit = Fit(data, output, learner.name, model, result, len(y), notes)
    if as_json:
        print_json(describe_fit(fit))
        return
    for note in notes:
        print_note(note)
    print_fit(fit, quiet=quiet)


def _find(name: str) -> Learner:
    if name not in LEARNERS:
        raise UnknownNameError(
            f"A learner must be one of {', '.join(LEARNERS)}. Got {name!r}. "
            f"{suggest_name(name, LEARNERS)}See `askless methods`."
        )
    return LEARNERS[name]


def _take_roles(
    columns: FileColumns,
    path: Path,
    target: str,
    prior: str | None,
    drop: tuple[str, ...],
) -> tuple[Any, Any]:
    """Take the classes, the weights and what is dropped out of the columns."""
    check_roles(columns, path, target=target, prior=prior)
    for name in drop:
        check_roles(columns, path, drop=name)
    y = columns.pop(target)
    weights = read_weights(columns, prior, path)
    for name in (*drop, *([] if prior is None else [prior])):
        columns.pop(name)
    if not columns or len(y) == 0:
        raise InvalidTableError(
            "There must be an example and a test at least. Got "
            f"{len(y)} rows and {len(columns)} tests in {path}. Check the file."
        )
    empty = [i for i, v in enumerate(y.tolist()) if is_missing(v)]
    if empty:
        raise InvalidTableError(
            f"Every example must have a class. Got none in {len(empty)} rows of "
            f"{target!r}, the first in {columns.where(empty[0])} of {path}. Leave such "
            "rows out."
        )
    return y, weights


def _make(
    learner: Learner,
    prices: Costs | None,
    *,
    mistakes: str | None,
    time_limit: float | None,
    jobs: int | None,
    options: dict[str, Any],
) -> Any:
    """Return the estimator with its parameters."""
    estimator = learner.estimator()
    known = estimator.get_params()
    asked = {
        "costs": prices,
        "mistakes": None if mistakes is None else parse_value(mistakes),
        "time_limit": time_limit,
        "n_jobs": jobs,
    }
    chosen = {name: value for name, value in asked.items() if value is not None}
    for name in [*chosen, *options]:
        if name not in known:
            raise InvalidOptionError(
                f"An option must be a parameter of {learner.name!r}. Got {name!r}, "
                f"which is none of {', '.join(known)}. {suggest_name(name, known)}See "
                "`askless methods`."
            )
    return estimator.set_params(**chosen, **options)


def listen(
    estimator: Any, tell: Callable[[str], None], time_limit: float | None
) -> None:
    """Let an anytime learner say how far it is, how long it has, and what it found."""

    def hear(stage: Stage) -> None:
        parts = [stage.name, f"best {format_number(stage.best)} a row"]
        if time_limit is not None:
            parts.append(f"{max(0.0, time_limit - stage.seconds):.0f} s left")
        elif stage.done:
            parts.append(f"{100 * stage.done:.0f} % done")
        tell(", ".join(parts))

    if hasattr(type(estimator), "_listener"):
        estimator._listener = hear


def _fit(
    estimator: Any, columns: Columns, y: Any, weights: Any, notes: list[str]
) -> Any:
    with collect_notes(notes):
        try:
            return estimator.fit(columns, y, sample_weight=weights)
        except AsklessError:
            raise
        except (TypeError, ValueError) as error:
            raise InvalidOptionError(
                f"Examples and options must suit the learner. Got: {error} Check the "
                "file and what `askless methods` says of its options."
            ) from error
