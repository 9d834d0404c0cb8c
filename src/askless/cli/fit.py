"""``askless fit``: from examples in a file to a policy in a file.

It reads, calls a learner and reports. It must not know how any learner works.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np

from askless.cli._files import check_policy_path
from askless.cli._fit_costs import fit_costs
from askless.cli._fit_report import Fit, describe_fit, print_fit
from askless.cli._output import format_number, print_json, print_note, working
from askless.cli._reading import find_role, json_option
from askless.cli.solve import parse_options, parse_value
from askless.evaluate import evaluate
from askless.exceptions import (
    AsklessError,
    AsklessWarning,
    InvalidOptionError,
    InvalidTableError,
    UnknownNameError,
    suggest_name,
)
from askless.learn import LEARNERS, Learner, Stage
from askless.problem import Costs, read_costs
from askless.problem._files import load_columns

__all__ = ["fit_command"]

Columns = dict[str, Any]


@click.command("fit", short_help="Learn a policy from examples.")
@click.argument("data", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--target", required=True, metavar="COLUMN", help="The column of classes."
)
@click.option(
    "--costs",
    type=click.Path(path_type=Path, dir_okay=False),
    help="What tests cost: CSV with the columns test,cost, or TOML, which may say what "
    "mistakes cost as well. 1 each by default.",
)
@click.option(
    "--mistakes",
    metavar="COST",
    help="What a wrong decision costs: a number, or a matrix by true class and "
    "decision, [[0, 5], [9, 0]].",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Write the policy to this file.",
)
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
@click.option(
    "--drop", multiple=True, metavar="COLUMN", help="A column that is no test."
)
@click.option(
    "--time-limit",
    type=float,
    metavar="SECONDS",
    help="When to stop, with the best policy so far.",
)
@click.option("--jobs", type=int, metavar="N", help="Threads; -1 for one on each core.")
@click.option("--unknown", metavar="TEXT", help="A text that is read as an empty cell.")
@click.option(
    "--option",
    "options",
    multiple=True,
    callback=parse_options,
    metavar="NAME=VALUE",
    help="A parameter of the learner.",
)
@json_option
@click.option("--quiet", "-q", is_flag=True, help="Leave out the flowchart.")
def fit_command(
    data: Path,
    target: str,
    costs: Path | None,
    output: Path | None,
    method: str,
    prior: str | None,
    drop: tuple[str, ...],
    unknown: str | None,
    as_json: bool,
    quiet: bool,
    **settings: Any,
) -> None:
    """Learn a policy from the examples in DATA (CSV, CSV.gz or Parquet).

    A row is an example, a column is a test. Ctrl-C ends an anytime learner with the
    best policy so far, which is written as usual.
    """
    if output is not None:
        check_policy_path(output)
    learner = _find(method)
    notes: list[str] = []
    with working(f"Learning from {data}") as tell:
        columns = load_columns(data, unknown=unknown)
        prior = find_role("prior", prior, columns, [target, *drop], notes)
        y, weights = _take_roles(columns, data, target, prior, drop)
        prices = None if costs is None else read_costs(costs)
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
    columns: Columns, path: Path, target: str, prior: str | None, drop: tuple[str, ...]
) -> tuple[Any, Any]:
    """Take the classes, the weights and what is dropped out of the columns."""
    for role, name in (
        ("target", target),
        ("prior", prior),
        *(("drop", d) for d in drop),
    ):
        if name is not None and name not in columns:
            raise InvalidTableError(
                f"The {role} must be a column of the data. Got {name!r}, which is not "
                f"in {path}. {suggest_name(name, columns)}Name a column of the file."
            )
    y = columns.pop(target)
    weights = None if prior is None else np.asarray(columns.pop(prior), dtype=float)
    for name in drop:
        columns.pop(name)
    if not columns or len(y) == 0:
        raise InvalidTableError(
            "There must be an example and a test at least. Got "
            f"{len(y)} rows and {len(columns)} tests in {path}. Check the file."
        )
    empty = [i for i, v in enumerate(y.tolist()) if v is None or v != v]
    if empty:
        raise InvalidTableError(
            f"Every example must have a class. Got none in {len(empty)} rows of "
            f"{target!r}, the first is row {empty[0] + 1}. Leave such rows out."
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
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", AsklessWarning)
        try:
            model = estimator.fit(columns, y, sample_weight=weights)
        except AsklessError:
            raise
        except (TypeError, ValueError) as error:
            raise InvalidOptionError(
                f"Examples and options must suit the learner. Got: {error} Check the "
                "file and what `askless methods` says of its options."
            ) from error
    notes += dict.fromkeys(str(warning.message) for warning in caught)
    return model
