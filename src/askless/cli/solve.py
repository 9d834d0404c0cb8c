"""``askless solve``: from a table in a file to a policy in a file.

It reads, calls the library and reports. It must not know how a table is solved.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from askless.cli._fit_costs import fit_costs
from askless.cli._likelihood_options import likelihood_options
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
)
from askless.cli._output import print_json, print_note
from askless.cli._working import verbose_option, working
from askless.cli.files._files import check_policy_path
from askless.cli.files._own_method import find_method
from askless.cli.files._reading import collect_notes, read_names
from askless.cli.reports._sensitivity import (
    find_sensitivity,
    print_sensitivity,
    sensitivity_options,
    write_tornado,
)
from askless.cli.reports._solution import describe_solution, print_solution
from askless.exceptions import AsklessError, InvalidOptionError
from askless.problem import Table, read_costs, read_table
from askless.problem._roles import find_roles, note_roles
from askless.problem.likelihood import is_long
from askless.solve import Solution, solve

__all__ = ["solve_command"]

# The options that are the library's own; the others say how to read the table.
HOW_TO_SOLVE = ("method", "objective", "stop", "budget", "max_error", "time_limit")


@click.command("solve", short_help="Find a cheap policy for a known table.")
@data_argument("table")
@click.option(
    "--target",
    metavar="COLUMN",
    help="The column of classes; of likelihoods each case is a class by default.",
)
@costs_option(", which may say what mistakes cost as well")
@mistakes_option()
@output_option
@click.option(
    "--prior",
    metavar="COLUMN",
    help="The column of weights of the cases; 'prior' if there is one.",
)
@click.option(
    "--case",
    metavar="COLUMN",
    help="The column of names of the cases; 'case' if there is one.",
)
@drop_option
@click.option(
    "--method",
    default="auto",
    show_default=True,
    metavar="NAME",
    help="See `askless methods`; FILE.py:FUNCTION for one of your own.",
)
@click.option(
    "--objective",
    type=click.Choice(["expected", "worst", "both", "total", "tradeoff"]),
    default="expected",
    show_default=True,
    help="Which cost is to be small; both gives every trade-off, total counts tests "
    "and mistakes together, tradeoff says what a smaller error costs.",
)
@click.option("--budget", type=float, help="What no case may cost more than.")
@click.option("--max-error", type=float, help="The share that may be decided wrongly.")
@click.option("--time-limit", type=float, metavar="SECONDS", help="When to stop.")
@click.option(
    "--stop",
    type=click.Choice(["class", "case", "neighbourhood", "clique"]),
    default="class",
    show_default=True,
    help="What is to be found out.",
)
@click.option("--levels", type=int, help="Cut numbers into this many levels.")
@click.option("--thresholds", is_flag=True, help="Compare numbers with a threshold.")
@click.option(
    "--missing",
    type=click.Choice(["unknown", "outcome", "error"]),
    show_default="unknown; error for likelihoods",
    help="What an empty cell is: any outcome can be seen, or an outcome of its own.",
)
@click.option("--unknown", metavar="TEXT", help="A text that marks an unknown outcome.")
@likelihood_options
@click.option("--merge", is_flag=True, help="Merge cases that show the same.")
@sheet_options
@sensitivity_options
@free_options("An option of the method.")
@verbose_option
@json_option
@quiet_option
def solve_command(
    table: Path,
    output: Path | None,
    mistakes: str | None,
    merge: bool,
    sensitivity: bool,
    tornado: Path | None,
    options: dict[str, Any],
    verbose: bool,
    as_json: bool,
    quiet: bool,
    **others: Any,
) -> None:
    """Find a cheap policy for the known TABLE (CSV, Parquet, .xlsx or .ods).

    A row is a case, a column is a test, and a cell is what the test shows for the case,
    or, with --likelihoods, how likely it shows what.
    """
    if output is not None:
        check_policy_path(output)
    notes: list[str] = []
    how = {name: others.pop(name) for name in HOW_TO_SOLVE}
    how["method"] = find_method(how["method"])
    how = {name: value for name, value in how.items() if value is not None}
    limit = how.get("time_limit")
    with working(f"Solving {table}", time_limit=limit, verbose=verbose) as tell:
        problem = _read(table, notes, **others)
        problem = problem.merged() if merge else problem
        if mistakes is not None:
            costs = problem.costs.with_mistakes(parse_value(mistakes))
            problem = problem.with_costs(costs)
        how["callbacks"] = tell
        solution = _solve(problem, how, options, notes)
        found = None
        if sensitivity or tornado:
            tell("looking at what it hangs on")
            found = find_sensitivity(solution, how, options)
    if output is not None:
        solution.policy.save(output)
    if as_json:
        shown = describe_solution(table, output, problem, solution, notes)
        if found is not None:
            shown["sensitivity"] = found.to_dicts()
            if tornado is not None:
                write_tornado(found, tornado)
        print_json(shown)
        return
    for note in notes:
        print_note(note)
    print_solution(table, output, problem, solution, quiet=quiet)
    if found is not None:
        print_sensitivity(found, is_printed=sensitivity, path=tornado)


def _read(
    path: Path,
    notes: list[str],
    *,
    target: str | None,
    costs: Path | None,
    prior: str | None,
    case: str | None,
    drop: tuple[str, ...] | None,
    **options: Any,
) -> Table:
    # What was not asked for is left to the library, which refuses what does not go
    # with the kind of file.
    options = {
        name: value
        for name, value in options.items()
        if value is not None and value is not False and value != {}
    }
    names = read_names(path, separator=options.get("separator"))
    prices = None if costs is None else read_costs(costs)
    if options.get("likelihoods") or (target is None and is_long(names)):
        options |= {"prior": prior or None, "case": case or None, "drop": drop or ()}
        return read_table(path, target, costs=prices, **options)
    if target is None:
        raise click.MissingParameter(param_type="option", param_hint="'--target'")
    priced = set() if prices is None else {str(key) for key in prices.costs}
    taken = {target, *priced}
    roles = find_roles(names, prior=prior, case=case, drop=drop, taken=taken)
    notes += note_roles(roles)
    if prices is not None:
        tests = [n for n in names if n not in (target, roles.prior, roles.case)]
        prices = fit_costs(prices, tests, roles.drop)
    return read_table(
        path,
        target,
        costs=prices,
        prior=roles.prior or "",
        case=roles.case or "",
        drop=roles.drop,
        **options,
    )


def _solve(
    table: Table, how: dict[str, Any], options: dict[str, Any], notes: list[str]
) -> Solution:
    with collect_notes(notes):
        try:
            solution = solve(table, **how, **options)
        except AsklessError:
            raise
        except (TypeError, ValueError) as error:
            if not options:
                raise
            given = ", ".join(f"{name}={value!r}" for name, value in options.items())
            raise InvalidOptionError(
                f"An option must have a value of its kind. Got {given} ({error}). See "
                "`askless methods` for what each option means."
            ) from error
    # A warning may say what a note of the table says.
    notes += [note for note in dict.fromkeys(solution.notes) if note not in notes]
    return solution
