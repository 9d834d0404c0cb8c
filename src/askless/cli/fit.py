"""``askless fit``: from examples in a file to a policy in a file.

It reads, calls a learner and reports. It must not know how any learner works.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from askless.cli._fit_costs import fit_costs
from askless.cli._learners import find_learner, suit_learner
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
from askless.cli._output import print_json, print_note
from askless.cli._working import Tell, verbose_option, working
from askless.cli.files._files import check_policy_path
from askless.cli.files._reading import (
    check_roles,
    collect_notes,
    read_data,
    read_weights,
)
from askless.cli.files._stored_rows import StoredRows, wants_store
from askless.cli.reports._fit import Fit, describe_fit, print_fit
from askless.evaluate import Evaluation, evaluate
from askless.exceptions import (
    AsklessError,
    InvalidOptionError,
    InvalidTableError,
    suggest_name,
)
from askless.problem import Costs, read_costs
from askless.problem._column import is_missing
from askless.problem._files import FileColumns, read_names
from askless.problem._roles import Roles, find_roles, note_roles

if TYPE_CHECKING:
    from askless.learn import Learner

__all__ = ["fit_command"]

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
    metavar="NAME",
    help="A learner; see `askless methods`. By default cost-tree, or number-tree if "
    "the target has fractions.",
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
@click.option(
    "--store/--no-store",
    default=None,
    help="Code rows on disk, or in memory; by default as large as the file is.",
)
@click.option("--unknown", metavar="TEXT", help="A text that is read as an empty cell.")
@sheet_options
@free_options("A parameter of the learner.")
@verbose_option
@json_option
@quiet_option
def fit_command(
    data: Path,
    target: str,
    costs: Path | None,
    output: Path | None,
    method: str | None,
    prior: str | None,
    drop: tuple[str, ...] | None,
    verbose: bool,
    as_json: bool,
    quiet: bool,
    **settings: Any,
) -> None:
    """Learn a policy from the examples in DATA (CSV, Parquet, .xlsx or .ods).

    A row is an example, a column is a test. Ctrl-C and SIGTERM end a learner with the
    best policy so far, which is written as usual.
    """
    if output is not None:
        check_policy_path(output)
    notes: list[str] = []
    limit = settings["time_limit"]
    text = f"Learning from {data}"
    with working(text, time_limit=limit, verbose=verbose) as tell:
        learner = find_learner(method)
        reading = {name: settings.pop(name) for name in HOW_TO_READ}
        is_asked = settings.pop("store")
        prices = None if costs is None else read_costs(costs)
        asked = Asked(
            data, target, prior, drop, prices, learner, method, reading, settings
        )
        learn = _learn_stored if wants_store(is_asked, data, learner) else _learn
        asked, model, result, n_rows = learn(asked, notes, tell)
    if output is not None:
        model.policy_.save(output)
    fit = Fit(data, output, asked.learner.name, model, result, n_rows, notes)
    if as_json:
        print_json(describe_fit(fit))
        return
    for note in notes:
        print_note(note)
    print_fit(fit, quiet=quiet)


class Asked(NamedTuple):
    """What to learn from what, and how."""

    data: Path
    target: str
    prior: str | None
    drop: tuple[str, ...] | None
    prices: Costs | None
    learner: Learner
    method: str | None
    reading: dict[str, Any]
    settings: dict[str, Any]

    def find_roles(self, names: list[str]) -> Roles:
        """Return what each column is for."""
        costs = () if self.prices is None else map(str, self.prices.costs)
        taken = [self.target, *costs]
        return find_roles(names, prior=self.prior, case="", drop=self.drop, taken=taken)

    def make(self, tests: Iterable[str], drop: tuple[str, ...]) -> Any:
        """Return the estimator, given the tests and the columns that are none."""
        prices = self.prices
        if prices is not None:
            prices = fit_costs(prices, [*tests, *drop], drop)
        return _make(self.learner, prices, **self.settings)


Learned = tuple[Asked, Any, Evaluation, int]


def _learn(asked: Asked, notes: list[str], tell: Tell) -> Learned:
    """Learn from rows in memory; return the model, its figures and how many rows.

    With what was asked for, and the learner that suits the target.
    """
    columns = read_data(asked.data, **asked.reading)
    roles = asked.find_roles(list(columns))
    tests = [n for n in columns if n not in (*roles.drop, roles.prior)]
    notes += [*columns.all_remarks(tests), *note_roles(roles)]
    y, weights = _take_roles(columns, asked.data, asked.target, roles.prior, roles.drop)
    learner = suit_learner(asked.learner, asked.method, asked.target, y, notes)
    asked = asked._replace(learner=learner)
    estimator = asked.make(columns, roles.drop)
    tell(f"{len(y):,} rows, {len(columns):,} tests")
    model = _fit(estimator, notes, tell, columns, y, sample_weight=weights)
    result = evaluate(model.policy_, columns, y, sample_weight=weights)
    return asked, model, result, len(y)


def _learn_stored(asked: Asked, notes: list[str], tell: Tell) -> Learned:
    """Do the same with rows that are coded on disk, and figures of the first rows."""
    names = read_names(asked.data, separator=asked.reading["separator"])
    roles = asked.find_roles(names)
    if roles.prior is not None:
        raise InvalidOptionError(
            f"Rows that are coded on disk have no weights. Got {roles.prior!r}. Drop "
            "the column, or use --no-store."
        )
    notes += note_roles(roles)
    with StoredRows(asked.data, asked.target, roles.drop, asked.reading) as rows:
        estimator = asked.make(rows.store.names, roles.drop)
        tell(f"{rows.store.n_rows:,} rows, {len(rows.store.names):,} tests")
        model = _fit(estimator, notes, tell, rows.store)
        columns, y = rows.first_rows()
        if len(y) < rows.store.n_rows:
            notes.append(f"Figures are of the first {len(y):,} rows.")
        result = evaluate(model.policy_, columns, y)
        return asked, model, result, rows.store.n_rows


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


def _fit(estimator: Any, notes: list[str], tell: Tell, *rows: Any, **more: Any) -> Any:
    with collect_notes(notes):
        try:
            return estimator.fit(*rows, **more, callbacks=tell)
        except AsklessError:
            raise
        except (TypeError, ValueError) as error:
            raise InvalidOptionError(
                f"Examples and options must suit the learner. Got: {error} Check the "
                "file and what `askless methods` says of its options."
            ) from error
